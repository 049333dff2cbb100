# SPDX-License-Identifier: MIT
"""What search, slider and buttons say and do; counts are those of tasks.log."""
import re


def _tasks(page):
    """Names in the recording's own file."""
    with open(page.recording + '/tasks.log', encoding='utf-8') as f:
        return [line.split('\t')[6] for line in f if line.startswith('start\t')]


def _search(page, text):
    page.browser.js('''const e = document.querySelector('#bb-search'); e.focus(); e.select()''')
    page.browser.press('Delete')
    page.type(text)
    page.browser.wait('document.querySelector("#bb").buildbeat.state().q === arguments[0]', text)
    page.settle()


def _said(page):
    return ''.join(page.texts('#bb-count'))


def _found(page):
    """How many match."""
    said = re.match(r'(?:[\d,]+ of )?([\d,]+) tasks?\b|no task', _said(page))
    assert said, _said(page)
    return int((said.group(1) or '0').replace(',', ''))


def substring(page):
    page.open('known')
    names = _tasks(page)
    for text in ('part', 'part1', 'libparts.a', 'no such task'):
        _search(page, text)
        assert _found(page) == sum(text in n for n in names), (text, _said(page))


def pattern(page):
    page.open('known')
    names = _tasks(page)
    for text in (r'^obj/part\d[02468]\.o$', r'app|lib', r'(one|two)$', r'\[', r'.'):
        _search(page, '/' + text + '/')
        assert _found(page) == sum(bool(re.search(text, n)) for n in names), \
            (text, _said(page))


def kind(page):
    page.open('known')
    _search(page, 'compile')
    shown = [t for t in page.places.show(page.recording)['tasks'] if t['kind'] == 'compile']
    assert _found(page) == len(shown) == 40, _said(page)


def wrong_pattern(page):
    page.open('known')
    _search(page, '/(/')
    assert 'not a pattern' in _said(page), _said(page)
    assert page.browser.js('return document.querySelector("#bb-search")'
                           '.getAttribute("aria-invalid")') == 'true'
    _search(page, 'app')
    assert _found(page) == 1 and page.browser.js(
        'return document.querySelector("#bb-search").getAttribute("aria-invalid")') == 'false'


def others_are_faint(page):
    page.open('known')
    dim = '''return [...document.querySelectorAll('#bb-lanes path.bar.dim')]
        .reduce((n, p) => n + ((p.getAttribute('d') || '').match(/M/g) || []).length, 0)'''
    assert page.browser.js(dim) == 0
    bars = page.bars()
    _search(page, 'part1')
    assert page.bars() == bars and page.browser.js(dim) == bars - 10
    opacity = page.browser.js('''const o = s => { const c = getComputedStyle(
        document.querySelector(s)); return c.opacity * c.fillOpacity; };
        return [o('#bb-lanes path.bar.dim'), o('#bb-lanes path.bar:not(.dim)')]''')
    assert opacity[0] < opacity[1], opacity


def from_match_to_match(page):
    """Each match is scrolled into view, described, and announced to screen readers."""
    page.open('short')
    _search(page, 'needle')
    assert _found(page) == 1
    page.browser.js('document.querySelector("#bb-search").blur()')
    page.press('n')
    assert page.detail().startswith('needle.o') and 'd70' in page.detail(), page.detail()
    assert 'd70/needle.o' in page.texts('#bb-live')[0]
    task, view = page.places.task(page.recording, 'd70/needle.o'), page.view()
    assert view[0] <= task['start_us'] / 1e6 and task['end_us'] / 1e6 <= view[1], view
    assert page.x(task['end_us'] / 1e6) - page.x(task['start_us'] / 1e6) > 3


def enter_and_escape(page):
    """Enter walks the matches round, Shift+Enter back; Esc is as if there had been no search."""
    page.open('known')
    names = _tasks(page)
    page.zoom_to(10, 60)
    page.choose('app')
    page.browser.js('scrollTo(0, 40)')
    page.settle()
    before, top = page.state(), page.browser.js('return scrollY')
    _search(page, 'part1')
    assert 'Enter' in ''.join(page.texts('#bb-hint'))
    matches = [n for n in names if 'part1' in n]
    assert _found(page) == len(matches) == 10
    seen = []
    for nth in list(range(1, 11)) + [1]:
        page.press('Enter')
        assert _said(page).startswith('%d of 10 tasks' % nth), _said(page)
        seen.append(page.state()['task'])
        start, end = page.view()
        assert start < end and page.browser.js('return document.activeElement.id') == 'bb-search'
    assert len(set(seen)) == 10 and seen[0] == seen[10]
    page.press('Enter', hold=('Shift',))
    assert page.state()['task'] == seen[9] and _said(page).startswith('10 of 10'), _said(page)
    page.press('Escape')
    assert page.state() == before and page.browser.js('return scrollY') == top
    assert page.browser.js('return document.querySelector("#bb-search").value') == ''
    assert _said(page) == '' and page.texts('#bb-hint') == []


def enter_does_not_wait(page):
    """What was typed is searched at once; the text stays while others type on."""
    page.open('known')
    page.focus('#bb-search')
    page.browser.press(*'libparts', 'Enter')
    page.settle()
    assert page.state()['q'] == 'libparts' and 'libparts.a' in page.detail()
    page.browser.press(*'.zip')
    page.browser.wait('document.querySelector("#bb").buildbeat.state().q === "libparts.zip"')
    page.settle()
    assert _said(page) == 'no task', _said(page)


def longer_than_in_words(page):
    page.open('known')
    label = ''.join(page.texts('label:has(#bb-min)'))
    assert label.startswith('longer than') and label.endswith(' 0 s'), label
    _slide(page, 40)
    words = ''.join(page.texts('#bb-tools output'))
    assert re.fullmatch(r'[\d.]+ m?s', words), words
    assert page.browser.js('return document.querySelector("#bb-min").ariaValueText') in \
        (words, None) or page.browser.js(
            'return document.querySelector("#bb-min").getAttribute("aria-valuetext")') == words


def _slide(page, steps):
    page.focus('#bb-min')
    page.press(*['ArrowRight' if steps > 0 else 'ArrowLeft'] * abs(steps))


def _busy_pixels(page):
    """How much of the lanes' middle line is covered, in 0.5 pixels, with the gaps between bars."""
    return page.browser.js('''
        const paths = [...document.querySelectorAll('#bb-lanes path.bar, #bb-lanes path.busy')];
        const rowY = [...document.querySelectorAll('#bb-lanes .label')].map(e => {
            const b = e.getBoundingClientRect(); return (b.top + b.bottom) / 2; });
        return rowY.map(y => {
            const {e, a} = paths[0].getScreenCTM(); let n = 0;
            for (let x = 0; x < 400; x += .5) {
                const at = [x, x - 2].map(v => new DOMPoint(e + a * v, y)
                    .matrixTransform(paths[0].getScreenCTM().inverse()));
                n += paths.some(p => at.some(point => p.isPointInFill(point)));
            }
            return n; })''')


def slider_merges_and_drops_nothing(page):
    page.open('known')
    walls = [((t['end_us'] or 120e6) - t['start_us']) / 1e6
             for t in page.places.show(page.recording)['tasks']]
    bars, busy = page.bars(), _busy_pixels(page)
    _slide(page, 78)
    least = page.state()['min']
    hidden = sum(wall < least for wall in walls)
    assert 0 < hidden < len(walls), (least, hidden)
    assert '%d shorter in grey' % hidden in _said(page), (_said(page), least, hidden)
    assert page.state()['hidden'] == hidden and page.bars() == bars - hidden
    now = _busy_pixels(page)
    assert all(abs(a - b) <= 20 for a, b in zip(now, busy)), (now, busy)
    _slide(page, -78)
    assert page.bars() == bars and page.state()['hidden'] == 0
