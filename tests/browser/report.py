# SPDX-License-Identifier: MIT
"""The report of an archive: the verdict, the table of tasks, trends, bootcharts."""

ARCHIVE = ('--tasks', '60', '--builds', '50', '--step', '0-9/44/0.4', '--step', '20-29/20/-0.3')

MANY = ('--tasks', '3000', '--builds', '90', '--step', '0-9/44/0.4')


def _open(page, fragment='', ready=True):
    page.open_file(page.places.report(*ARCHIVE), fragment)
    if ready:
        assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
        page.settle()


def _state(page):
    return page.browser.js('return window.buildbeat.state()')


def _rows(page, column='task'):
    """Of the rows drawn, from top to bottom."""
    return page.browser.js('''return [...document.querySelectorAll('.space .entry')]
        .sort((a, b) => a.dataset.at - b.dataset.at)
        .map(line => line.querySelector('.' + arguments[0]).textContent)''', column)


def _click(page, selector):
    """With the mouse, in the middle of it."""
    x, y = page.browser.js('''const e = document.querySelector(arguments[0]);
        e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();
        return [b.left + b.width / 2, b.top + b.height / 2]''', selector)
    page.browser.click(x, y)
    page.settle()


def verdict_comes_first(page):
    _open(page)
    said = page.browser.js('''const h = document.querySelector('h1'), b = h.getBoundingClientRect();
        return {text: h.textContent, top: b.top, below: b.bottom,
                findings: document.querySelectorAll('table.findings tbody tr').length,
                events: [...document.querySelectorAll('.event h3')].map(e => e.textContent)}''')
    assert 'confirmed' in said['text'] and 0 < said['top'] < 100, said
    assert said['findings'] > 0 and said['events'], said
    assert any('2026-02-14' in e for e in said['events']), said['events']


def sorts_by_any_column(page):
    _open(page)
    names = page.browser.js('return [...document.querySelectorAll(".head button")].map(b => b.textContent)')
    for i, name in enumerate(names):
        _click(page, '.head .cell:nth-child(%d) button' % (i + 1))
        state, first = _state(page), _rows(page, name)
        _click(page, '.head .cell:nth-child(%d) button' % (i + 1))
        assert _state(page)['sort'] == state['sort'] == name, (name, state)
        assert _state(page)['down'] != state['down']
        if name in ('task', 'newest', 'change'):
            assert _rows(page, name) != first, name
    _click(page, '.head .task button')
    rows = _rows(page)
    assert rows == sorted(rows) and len(rows) > 5, rows


def searches_by_name(page):
    _open(page)
    for text, fits in (('do_fetch', lambda n: 'do_fetch' in n), ('recipe-00001*', lambda n: n.startswith('recipe-00001')),
                       ('/^recipe-0000[12]: do_c/', lambda n: n[:13] in ('recipe-00001:', 'recipe-00002:') and 'do_c' in n)):
        page.browser.js('window.scrollTo(0, 0); document.activeElement.blur()')
        page.press('/')
        page.browser.js('document.activeElement.value = ""')
        page.type(text)
        page.browser.wait('window.buildbeat.state().q === %r' % text)
        rows = _rows(page)
        assert rows and all(fits(name) for name in rows), (text, rows)
    page.browser.js('document.activeElement.value = ""')
    page.type('/(/')
    page.browser.wait('document.querySelector("#count").textContent.includes("not a regular")')
    assert _state(page)['rows'] == 0


def trend_of_a_task(page):
    _open(page)
    _click(page, 'table.findings a.task')
    state = _state(page)
    link = page.browser.js('''const a = document.querySelector('table.findings a.task');
        return [a.textContent, a.dataset.metric]''')
    assert [state['task'], state['metric']] == link, (state, link)
    points = page.browser.js('return window.buildbeat.points(arguments[0])', link[1])
    before = [v for night, v in points if night < 44]
    after = [v for night, v in points if night >= 44]
    assert len(points) == 50 and min(after) > max(before) * 1.05, points
    shown = page.browser.js('''return {plots: document.querySelectorAll('#trend svg').length,
        marks: document.querySelectorAll('#trend .mark.up').length,
        level: document.querySelector('#trend .level').getAttribute('d')}''')
    assert shown['plots'] == 4 and shown['marks'] > 0 and 'NaN' not in shown['level'], shown


def builds_one_by_one(page):
    """The pointer and the arrow keys show date, value and revision of each build."""
    _open(page)
    words = 'return document.querySelector("#trend .words").textContent'
    summary = page.browser.js(words)
    page.browser.js('document.querySelector("#trend svg").focus()')
    page.press('End')
    assert page.browser.js(words).startswith('2026-02-19: '), page.browser.js(words)
    assert 'revision' in page.browser.js(words)
    page.press('ArrowLeft')
    assert page.browser.js(words).startswith('2026-02-18: '), page.browser.js(words)
    page.browser.js('document.activeElement.blur()')
    assert page.browser.js(words) == summary
    box = page.browser.js('''const e = document.querySelector('#trend svg'); e.scrollIntoView({block: 'center'});
        const b = e.getBoundingClientRect(); return [b.left, b.top, b.width, b.height]''')
    page.browser.move(box[0] + 70, box[1] + box[3] / 2)
    page.settle()
    assert page.browser.js(words).startswith('2026-01-0'), page.browser.js(words)


def values_of_many_tasks(page):
    """Those of tasks without a change are rounded, and the picture shows so."""
    page.open_file(page.places.report(*MANY), 'q=do_compile&sort=task')
    assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
    rows = _rows(page)
    assert len(rows) > 10 and all('do_compile' in r for r in rows) and rows == sorted(rows), rows
    for row in (3, 7):
        page.browser.js('document.querySelectorAll(".space .entry")[arguments[0]].click()', row)
        page.settle()
        said = page.browser.js('return document.querySelector("#trend .words").textContent')
        newest, usual = (float(part.split()[1]) for part in said.split(', ')[:2])
        points = page.browser.js('return window.buildbeat.points("wall")')
        values = sorted(v for _, v in points)
        unit = values[len(values) // 2] / usual
        assert len(points) == 90 and 0.98 < points[-1][1] / newest / unit < 1.02, (said, points)
        assert values[-1] / values[0] < 3, values
        page.browser.js('document.querySelector("#trend svg").focus()')
        page.press('End')
        last = page.browser.js('return document.querySelector("#trend .words").textContent')
        assert ': about ' in last, last


def keyboard_alone(page):
    _open(page)
    page.browser.js('document.querySelector(".sheet").focus()')
    page.press('Home')
    first = _state(page)['task']
    page.press('ArrowDown')
    second = _state(page)['task']
    page.press('End')
    last = _state(page)['task']
    assert len({first, second, last}) == 3
    assert page.browser.js('return document.querySelector("[aria-selected=true]").textContent').startswith(last)
    page.press('Enter')
    assert page.browser.js('return document.activeElement.textContent') == last


def state_in_the_address(page):
    _open(page, 'q=do_fetch&metric=memory&sort=newest&task=recipe-00001%3A+do_fetch')
    state = _state(page)
    assert (state['q'], state['metric'], state['sort'], state['down']) == ('do_fetch', 'memory', 'newest', False)
    assert state['task'] == 'recipe-00001: do_fetch', state
    _click(page, '.metrics button')
    assert 'metric=wall' in page.browser.url() or 'metric=' not in page.browser.url()
    assert 'q=do_fetch' in page.browser.url()


def rows_in_view_alone(page):
    """However many tasks there are, few are in the document."""
    page.open_file(page.places.report('--tasks', '3000', '--builds', '12'))
    assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
    count = 'return document.querySelectorAll(".space .entry").length'
    assert _state(page)['rows'] == 3001
    assert 10 < page.browser.js(count) < 100
    page.browser.js('document.querySelector(".sheet").scrollTop = 40000')
    page.settle()
    assert 10 < page.browser.js(count) < 100
    assert page.browser.js('return Number(document.querySelector(".space .entry").dataset.at)') > 1400


def bootcharts_beside_each_other(page):
    _open(page)
    assert page.browser.js('return document.querySelectorAll("iframe").length') == 0
    page.browser.js('document.querySelector("#charts").scrollIntoView()')
    page.browser.wait('document.querySelectorAll("#charts iframe").length === 2')
    boxes = 'return [...document.querySelectorAll("#charts .stage")].map(e => e.getBoundingClientRect().toJSON())'
    left, right = page.browser.js(boxes)
    assert abs(left['top'] - right['top']) < 2 and left['right'] <= right['left'], (left, right)
    until = []
    for i in range(2):
        page.browser.call('POST', '/frame', {'id': i})
        page.browser.wait('document.querySelector("#bb").buildbeat.state().tasks === 60')
        until.append(page.browser.js('return document.querySelector("#bb").buildbeat.state().until'))
        page.browser.call('POST', '/frame', {'id': None})
    assert until[0] == until[1] > 0, until    # one time scale
    _click(page, '#charts .tools button')
    upper, lower = page.browser.js(boxes)
    assert upper['bottom'] <= lower['top'] and upper['width'] > 1.8 * left['width'], (upper, lower)


def bootchart_leads_to_a_trend(page):
    """The panel of a task in the bootchart shows its row."""
    _open(page)
    page.browser.js('document.querySelector("#charts").scrollIntoView()')
    page.browser.wait('document.querySelectorAll("#charts iframe").length === 2')
    page.browser.call('POST', '/frame', {'id': 1})
    page.browser.wait('document.querySelector("#bb").buildbeat.state().tasks === 60')
    page.browser.js('document.querySelector("#bb").buildbeat.choose(17)')
    page.browser.wait('document.querySelector("#bb-detail .link")')
    target = page.browser.js('return document.querySelector("#bb-detail h2").textContent')
    page.browser.js('document.querySelector("#bb-detail .link").click()')
    page.browser.call('POST', '/frame', {'id': None})
    page.browser.wait('window.buildbeat.state().task.endsWith(arguments[0])', target)
    top = page.browser.js('return document.querySelector("#tasks").getBoundingClientRect().top')
    assert -5 < top < 300, top


def without_script(page):
    _open(page)
    page.browser.cdp('Emulation.setScriptExecutionDisabled', value=True)
    page.browser.reload()
    text = page.browser.js('return document.body.innerText')
    assert 'confirmed' in text and 'git log' in text and 'need JavaScript' in text, text[:300]


def dark_and_print(page):
    _open(page)
    ground = 'return getComputedStyle(document.body).backgroundColor'
    light = page.browser.js(ground)
    page.browser.cdp('Emulation.setEmulatedMedia', media='',
                     features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
    assert page.browser.js(ground) != light == 'rgb(255, 255, 255)'
    page.browser.cdp('Emulation.setEmulatedMedia', media='print',
                     features=[{'name': 'prefers-color-scheme', 'value': 'dark'}])
    assert page.browser.js(ground) == light
    assert page.texts('.tools *') == []


def narrow(page):
    page.browser.resize(420, 900)
    _open(page)
    assert page.browser.js('return document.documentElement.scrollWidth') <= 420


def phone_keeps_the_change(page):
    """At 390 pixels nothing scrolls sideways to show a task and by how much it changed."""
    page.browser.cdp('Emulation.setDeviceMetricsOverride', width=390, height=844, deviceScaleFactor=1,
                     mobile=True)
    _open(page)
    off = page.browser.js('''return [document.documentElement.scrollWidth,
        [...document.querySelectorAll('th.name, td.change, td.before, .space .cell')].filter(e => {
            const b = e.getBoundingClientRect();
            return b.width && (b.left < 0 || b.right > innerWidth); }).map(e => e.textContent)]''')
    assert off == [390, []], off
    shown = page.browser.js('''return ['.findings .change', '.changes .change', '.space .change', '.space .trend']
        .map(s => [...document.querySelectorAll(s)].filter(e => e.getBoundingClientRect().width).length)''')
    assert all(shown), shown


def trends_have_one_rule(page):
    """The line of a task is as high as its values differ, measured by its usual value."""
    _open(page)
    lines = page.browser.js('''return [...document.querySelectorAll('.space .entry')].map(line => {
        const y = [...line.querySelector('.spark').getAttribute('d').matchAll(/[ML][\\d.]+ ([\\d.]+)/g)].map(m => +m[1]);
        return {change: line.querySelector('.change').textContent, marks: line.querySelectorAll('.mark').length,
                height: (Math.max(...y) - Math.min(...y)) / 16}; })''')
    noise = sorted(l['height'] for l in lines if not l['marks'] and len(l['change']) < 7)
    steps = [l['height'] for l in lines if l['marks']]
    assert noise and noise[len(noise) // 2] < .5, lines
    assert steps and max(steps) > .8, lines
    assert '40 %' in page.browser.js('return document.querySelector("#tasks .rule").textContent')
