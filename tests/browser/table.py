# SPDX-License-Identifier: MIT
"""The table of all tasks: its values are those of `show`, its order that of a slow sort here."""
import re

from range import _seconds

KEYS = {'time': lambda t: -(t['end'] - t['start']), 'start': lambda t: t['start'],
        'task': lambda t: t['name'].rsplit('/', 1)[-1], 'kind': lambda t: t['kind']}


def _open(page, recording='known'):
    page.open(recording)
    _down(page)


def _down(page):
    """Scroll to the table, which is filled when it is near the window."""
    page.browser.js('document.querySelector("#bb-table").scrollIntoView({block: "end"})')
    page.browser.wait('document.querySelector("#bb-tasks").getAttribute("aria-rowcount")')
    page.settle()


def _tasks(page):
    tasks = [dict(t, start=t['start_us'], end=120e6 if t['end_us'] is None else t['end_us'])
             for t in page.places.show(page.recording)['tasks'] if t['start_us'] is not None]
    return sorted(tasks, key=lambda t: t['start'])


def _rows(page):
    """Of those in the document, in their order: texts by the name of the column."""
    return page.browser.js('''
        const heads = [...document.querySelectorAll('#bb-tasks [role=columnheader]')]
            .map(e => e.textContent);
        return [...document.querySelectorAll('#bb-tasks .space [role=row]')].map(row => {
            const cells = [...row.children].map(e => e.textContent);
            const one = {index: Number(row.getAttribute('aria-rowindex')), id: Number(row.id.slice(4)),
                chosen: row.getAttribute('aria-selected') === 'true'};
            heads.forEach((h, i) => { one[h] = cells[i]; });
            return one;
        })''')


def _n_rows(page):
    return page.browser.js('return Number(document.querySelector("#bb-tasks").ariaRowCount) - 1')


def _sort(page, title):
    page.browser.js('''[...document.querySelectorAll('#bb-tasks [role=columnheader] button')]
        .find(b => b.textContent === arguments[0]).click()''', title)
    page.settle()


def values_are_those_of_show(page):
    _open(page)
    tasks = _tasks(page)
    assert _n_rows(page) == len(tasks)
    rows = _rows(page)
    assert len(rows) > 15
    for row in rows:
        t = tasks[row['id']]
        assert row['task'].startswith(t['name'].rsplit('/', 1)[-1]), (row, t)
        wall = (t['end'] - t['start']) / 1e6
        assert abs(_seconds(row['time']) - wall) <= 0.006 * wall + 1e-5, (row, t)
        assert row['kind'] == (t['kind'] or 'other') or t['kind'] in ('', 'other'), (row, t)
        if t['state'] == 'failed':
            assert 'exit status %d' % t['status'] in row['result'], (row, t)
        if t.get('cpu_user_us') is not None and t['end_us'] is not None:
            cpu = (t['cpu_user_us'] + t['cpu_system_us']) / 1e6
            assert abs(_seconds(row['CPU']) - cpu) <= 0.01 * cpu + wall / 256, (row, t)


def _time_text(us):
    """As text_add_time() of base/text.c."""
    for most, unit, decimals, word in ((1e3, 1, 0, ' us'), (9950, 1e3, 1, ' ms'), (999500, 1e3, 0, ' ms'),
                                       (9995000, 1e6, 2, ' s'), (59950000, 1e6, 1, ' s')):
        if us < most:
            return '%.*f%s' % (decimals, us / unit, word)
    return '%dm %02ds' % divmod(int(us / 1e6 + 0.5), 60)


def _size_text(n):
    """As text_add_bytes()."""
    unit = 0
    while n >= 999.5:
        n, unit = n / 1024, unit + 1
    word = ['B', 'KiB', 'MiB', 'GiB'][unit]
    return '%.1f %s' % (int(n * 10 + 0.5) / 10, word) if unit and n < 9.95 else '%d %s' % (n + 0.5, word)


def values_are_exact(page):
    """What a long task used is printed as `show` prints it, however little of its time it is."""
    _open(page, 'idle')
    tasks, seen = _tasks(page), 0
    for row in _rows(page):
        t = tasks[row['id']]
        assert row['CPU'] == _time_text(t['cpu_user_us'] + t['cpu_system_us']), (row, t)
        assert row['memory'] == _size_text(t['max_rss_kb'] * 1024), (row, t)
        seen += 1
    assert seen > 15, seen
    page.choose('wait07')
    t = page.places.task(page.recording, 'wait07')
    said = page.detail()
    for us in (t['cpu_user_us'] + t['cpu_system_us'], t['cpu_user_us'], t['cpu_system_us']):
        assert _time_text(us) in said, (us, said)


def every_column_sorts(page):
    """By pointer and keyboard, both ways; the marks say so; rows alike stay in order."""
    _open(page)
    tasks = _tasks(page)
    for title, key in KEYS.items():
        for _ in range(2):
            _sort(page, title)
            marks = dict(page.browser.js('''return [...document.querySelectorAll(
                '#bb-tasks [role=columnheader]')].map(e => [e.textContent, e.ariaSort])'''))
            assert {h: m for h, m in marks.items() if m != 'none'} in (
                {title: 'ascending'}, {title: 'descending'}), marks
            expected = sorted(range(len(tasks)), key=lambda i: key(tasks[i]))
            if (marks[title] == 'descending') != (title == 'time'):
                expected = sorted(range(len(tasks)), key=lambda i: key(tasks[i]), reverse=True)
            shown = _rows(page)
            values = [key(tasks[row['id']]) for row in shown]
            assert values == [key(tasks[i]) for i in expected[:len(shown)]], (title, marks, values)
    page.browser.js('''document.querySelector('#bb-tasks [role=columnheader] button').focus()''')
    page.press('Enter')
    assert page.state()['sort'] in ('name', '-name')
    assert 'sort=' in page.browser.wait('location.hash.includes("sort") && location.hash')
    for title in page.texts('#bb-tasks [role=columnheader]'):
        _sort(page, title)
        ids = [row['id'] for row in _rows(page)]
        assert len(ids) == len(set(ids)), title


def filters_are_those_of_the_chart(page):
    _open(page)
    tasks = _tasks(page)
    run = "document.querySelector('#bb').buildbeat."
    page.browser.js(run + 'select(10, 30)')
    inside = [t for t in tasks if t['start'] < 30e6 and t['end'] > 10e6]
    page.browser.wait('document.querySelector("#bb-tasks").ariaRowCount === String(arguments[0] + 1)',
                      len(inside))
    assert 'within the range' in ''.join(page.texts('#bb-table h2'))
    page.browser.js(run + 'select(0, 0)')
    page.browser.js('location.hash = "q=part1&min=7"')
    found = [t for t in tasks if 'part1' in t['name'] and t['end'] - t['start'] >= 7e6]
    page.browser.wait('document.querySelector("#bb-tasks").ariaRowCount === String(arguments[0] + 1)',
                      len(found))
    page.settle()
    said = ''.join(page.texts('#bb-table h2'))
    assert '%d of %d tasks' % (len(found), len(tasks)) in said and 'search' in said, said
    assert {tasks[row['id']]['name'] for row in _rows(page)} == {t['name'] for t in found}


def rows_and_bars_are_linked(page):
    _open(page)
    place = '''const e = document.querySelectorAll('#bb-tasks .space [role=row]')[3],
        b = e.getBoundingClientRect(); return {id: Number(e.id.slice(4)), x: b.left + 60, y: b.top + 9}'''
    row = page.browser.js(place)
    page.browser.click(row['x'], row['y'])
    page.settle()
    assert page.state()['task'] == row['id'] and page.detail(), page.state()
    now = page.browser.js(place)
    assert abs(now['y'] - row['y']) < 3, (row, now)
    # Once more, and the window goes to the bar.
    page.focus('#bb-tasks')
    page.press('Enter')
    task = _tasks(page)[row['id']]
    x, y = page.middle(task)
    assert 0 < y < page.browser.js('return innerHeight'), y
    # The other way: the last row of the table is not in the document yet.
    last = _tasks(page)[-1]
    page.choose(last['name'])
    assert [r for r in _rows(page) if r['chosen']] and \
        page.browser.js('return document.querySelector("#bb-tasks").getAttribute("aria-activedescendant")') \
        == 'row-%d' % (len(_tasks(page)) - 1)
    # Keys move from row to row and leave the window where it is.
    _down(page)
    page.focus('#bb-tasks')
    top = page.browser.js('return scrollY')
    page.press('Home')
    first = page.state()['task']
    page.press('ArrowDown', 'ArrowDown', 'ArrowUp')
    rows = _rows(page)
    assert rows[1]['chosen'] and rows[0]['id'] == first, rows[:3]
    assert abs(page.browser.js('return scrollY') - top) < 3
    page.press('End')
    assert _rows(page)[-1]['chosen'] and _rows(page)[-1]['index'] == _n_rows(page) + 1


def many_rows(page):
    """Few are in the document wherever it is scrolled; all columns sort what a slow sort does."""
    page.open(page.places.generated(20000, 100))
    _down(page)
    page.browser.wait('document.querySelectorAll("#bb-tasks .space [role=row]").length')
    assert _n_rows(page) == 20000 and len(_rows(page)) < 60
    page.browser.js('const e = document.querySelector("#bb-tasks"); e.scrollTop = e.scrollHeight / 2')
    page.settle()
    rows = _rows(page)
    assert len(rows) < 60 and 9900 < rows[0]['index'] < 10100, rows[0]
    walls = [_seconds(row['time']) for row in rows]
    assert all(a >= b * 0.99 for a, b in zip(walls, walls[1:])), walls
    page.press('Escape')


def few_columns_on_a_phone(page):
    page.browser.resize(390, 844, True)
    _open(page)
    heads = page.texts('#bb-tasks [role=columnheader]')
    assert 3 <= len(heads) <= 5 and heads[0] == 'task', heads
    wide = page.browser.js('const e = document.querySelector("#bb-tasks");'
                           'return [e.scrollWidth - e.clientWidth, document.documentElement.scrollWidth]')
    assert wide[0] <= 1 and wide[1] <= 390, wide
    names = [re.sub(r'\s.*', '', row['task']) for row in _rows(page)]
    assert 'app' in names, names
