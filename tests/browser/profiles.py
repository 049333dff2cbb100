# SPDX-License-Identifier: MIT
"""The page of a profile: groups, sorting, the filter, columns, limits, snapshots."""
import collections
import os

TASKS = 2000
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../data')


def _open(page, fragment='', *options):
    recording = page.places.generated(TASKS, 60)
    page.open_file(page.places.profile(*(options or ('-b', 'none', '--at', '20s', '--at', '40s')), recording), fragment)
    assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
    page.settle()
    return recording


def _state(page):
    return page.browser.js('return window.buildbeat.state()')


def _cells(page, column, table=0):
    """Of the rows of a table, without its sum: the texts of a column."""
    return page.browser.js('''const t = document.querySelectorAll('#tables table')[arguments[1]];
        const at = [...t.querySelectorAll('th button')].findIndex(b => b.dataset.column === arguments[0]);
        return [...t.querySelectorAll('tbody tr:not(.sum)')].map(r => r.cells[at].textContent)''',
                           column, table)


def _click(page, selector, *modifiers):
    page.browser.js('''document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('click',
        {bubbles: true, cancelable: true, altKey: arguments[1]}))''', selector, 'Alt' in modifiers)
    page.settle()


def _choose(page, label, value):
    page.browser.js('''const s = document.querySelector('select[aria-label="' + arguments[0] + '"]');
        s.value = arguments[1]; s.dispatchEvent(new Event('change'))''', label, value)
    page.settle()


def _search(page, text):
    page.browser.js('''const s = document.querySelector('#search'); s.value = arguments[0];
        s.dispatchEvent(new Event('input'))''', text)
    page.browser.wait('window.buildbeat.state().q === %r' % text)
    page.settle()


def totals_are_those_of_the_json(page):
    recording = _open(page)
    rows = page.places.profile_rows(recording)
    _, count, run = page.browser.js('return window.buildbeat.rows()')
    assert count == sum(r['death_data']['count'] for r in rows) > TASKS / 2
    assert abs(run - sum(r['death_data']['run'] for r in rows)) <= len(rows), run


def groups_by_several_columns(page):
    recording = _open(page)
    _choose(page, 'Group by, level 1', '2')
    _choose(page, 'Group by, level 2', '6')
    assert _state(page)['group'] == ['kind', 'born'], _state(page)
    titles = page.browser.js('return [...document.querySelectorAll("#tables h2, #tables h3")].map(h => h.textContent)')
    kinds = collections.Counter()
    for row in page.places.profile_rows(recording):
        kinds[row['kind']] += row['death_data']['count']
    assert any(t == 'kind = compile' for t in titles), titles
    assert any(t.startswith('kind = compile and born = make') for t in titles), titles
    sums = page.browser.js('''return [...document.querySelectorAll('#tables > .group')].map(g =>
        [g.querySelector('h2').textContent, g.querySelector('tr.sum').cells[1].textContent])''')
    assert {t: n for t, n in sums} == {'kind = ' + k: '{:,}'.format(n) for k, n in kinds.items()}, (sums, kinds)
    rows = page.browser.js('''return Math.max(...[...document.querySelectorAll('#tables table')].map(t =>
        t.querySelectorAll('tbody tr:not(.sum)').length))''')
    assert rows == 10, rows


def columns_of_groups_are_below_each_other(page):
    _open(page)
    _choose(page, 'Group by, level 1', '2')
    tables = page.browser.js('''return [...document.querySelectorAll('#tables table')].map(t =>
        [[...t.tHead.rows[0].cells].map(c => c.getBoundingClientRect().right),
         [...t.tBodies[0].rows].filter(r => r.checkVisibility()).map(r => r.textContent)])''')
    assert len(tables) > 1, tables
    for rights, rows in tables:
        assert all(abs(a - b) < 1 for a, b in zip(rights, tables[0][0])), (rights, tables[0][0])
        assert len(rows) == 11, rows


def one_row_is_its_sum(page):
    _open(page)
    _search(page, 'core/device_socket_114.o')
    rows = page.browser.js('''return [...document.querySelector('#tables tbody').rows].filter(r => r.checkVisibility()).length''')
    assert rows == 1, rows


def sorts_by_two_keys(page):
    _open(page)
    assert _state(page)['sort'] == ['-run', '-count']
    _click(page, '[data-column=name]')
    assert _cells(page, 'name') == sorted(_cells(page, 'name')), _cells(page, 'name')
    _click(page, '[data-column=name]')
    assert _state(page)['sort'][0] == '-name'
    _click(page, '[data-column=count]')
    _click(page, '[data-column=name]', 'Alt')
    assert _state(page)['sort'] == ['-count', 'name'], _state(page)
    counts, names = [int(n) for n in _cells(page, 'count')], _cells(page, 'name')
    pairs = list(zip((-n for n in counts), names))
    assert pairs == sorted(pairs), pairs
    _choose(page, 'Sort by, key 1', '-max')
    assert _state(page)['sort'][0] == '-max'


def filters_while_typing(page):
    _open(page)
    for text, fits in (('queue_', lambda n: 'queue_' in n), ('/^net.*[0-4]\\.o$/', lambda n: n.startswith('net'))):
        page.browser.js('document.activeElement.blur()')
        page.press('/')
        page.browser.js('document.activeElement.value = ""')
        page.type(text)
        page.browser.wait('window.buildbeat.state().q === %s' % repr(text).replace('\\\\', '\\\\'))
        page.settle()
        names = _cells(page, 'name')
        assert names and all(fits(n) for n in names), (text, names)
    _search(page, '/(/')
    assert 'not a regular' in page.browser.js('return document.querySelector("#count").textContent')
    assert page.browser.js('return window.buildbeat.rows()')[0] == 0


def columns_and_merging(page):
    _open(page)
    before = page.browser.js('return window.buildbeat.rows()')
    _click(page, 'input[data-shown=memory]')
    assert 'memory' not in _state(page)['shown']
    assert page.browser.js('return document.querySelectorAll("[data-column=memory]").length') == 0
    _click(page, 'input[data-merged=name]')
    after = page.browser.js('return window.buildbeat.rows()')
    assert after[0] < before[0] and after[1] == before[1], (before, after)
    assert any('unique' in n for n in _cells(page, 'name'))
    _click(page, 'input[data-merged=name]')
    assert all(d in ('worker-*', 'host', 'Still_Alive') for d in _cells(page, 'died')), _cells(page, 'died')
    _click(page, '#similar')
    apart = page.browser.js('return window.buildbeat.rows()')
    assert apart[0] > before[0] and apart[1] == before[1], (before, apart)


def limits_of_rows(page):
    _open(page)
    shown = lambda: len(_cells(page, 'name'))
    press = lambda text: (page.browser.js('''[...document.querySelectorAll('.limits button')]
        .find(b => b.textContent === arguments[0]).click()''', text), page.settle())
    total = page.browser.js('return window.buildbeat.rows()')[0]
    assert shown() == 30
    assert '(%s hidden)' % '{:,}'.format(total - 30) in page.browser.js('return document.querySelector(".limits").textContent')
    for button, n in (('show more', 60), ('less', 30), ('none', 0), ('show more', 30), ('all', total)):
        press(button)
        assert shown() == n, (button, shown(), n)


def snapshots_and_their_difference(page):
    recording = _open(page)
    boxes = page.browser.js('return document.querySelectorAll(".snapshots input").length')
    assert boxes == 3
    counts = []
    for i in range(3):
        page.browser.js('document.querySelectorAll(".snapshots input")[arguments[0]].click()', i)
        page.settle()
        for other in range(3):
            if other != i and other in _state(page)['snapshots']:
                page.browser.js('document.querySelectorAll(".snapshots input")[arguments[0]].click()', other)
                page.settle()
        assert _state(page)['snapshots'] == [i], _state(page)
        counts.append(page.browser.js('return window.buildbeat.rows()'))
    assert counts[0][1] < counts[1][1] < counts[2][1], counts
    page.browser.js('document.querySelectorAll(".snapshots input")[1].click()')
    page.settle()
    assert _state(page)['snapshots'] == [1, 2]
    rows = page.browser.js('return window.buildbeat.rows()')
    assert rows[1] == counts[2][1] - counts[1][1], (rows, counts)
    later = page.places.profile_rows('--since', '40s', recording)
    assert rows[1] == sum(r['death_data']['count'] for r in later)
    assert set(_cells(page, 'max')) == {'-'}, _cells(page, 'max')


def state_in_the_address(page):
    _open(page, 'q=net&group=kind&sort=-max,name&columns=name,max,worker&merge=pid,born&threads=1&show=0')
    state = _state(page)
    assert state == {'q': 'net', 'group': ['kind'], 'sort': ['-max', 'name'], 'snapshots': [0], 'similar': False,
                     'merged': ['pid', 'born'], 'shown': ['name', 'max', 'worker']}, state
    _click(page, '[data-column=worker]')
    assert 'sort=-worker' in page.browser.url() and 'group=kind' in page.browser.url()


def small_screens_and_dark(page):
    for width in (380, 800, 1400):
        page.browser.resize(width, 800)
        _open(page, 'group=kind', '-b', 'kind')
        wide = page.browser.js('return [document.documentElement.scrollWidth, window.innerWidth]')
        assert wide[0] <= wide[1], wide


TALLIES = ('buildbeat tally 1\nat\t5000000\tn\nhost\t11\t-1\t\twall\tns\nlocation\t1\t\tquick\tf.c\nthread\t1\tmain\n'
           'row\t1\t1\t1\t1000\t0\t24300\t24300\t61\t23\t\t\t\t\t\t4:,1000\n'
           'at\t5000000\tl\n%srow\t1\t1\t1\t100\t0\t500000000000\t500000000000\n'
           'at\t5000000\tb\t3\nhost\t12\t-1\t\thost\tbytes\tfaults\tfaults\n'
           'location\t1\t\tallocates\tf.c\nthread\t1\tmain\nrow\t1\t1\t1\t100\t0\t4950\t4950\t99\t42\t\t\t\t1700\t20\n'
           % 'location\t1\t\tlong\tf.c\nthread\t1\tmain\n')


def units_are_those_of_the_clocks(page):
    recording = page.places.path('tallied')
    os.mkdir(recording)
    with open(os.path.join(recording, 'build'), 'w') as f:
        f.write('buildbeat build 1\nstart: 2026-11-20T10:00:00.000000000Z\ncommand: host\nend_us: 2000000\nstatus: 0\n')
    with open(os.path.join(recording, 'tasks.log'), 'w') as f:
        f.write('buildbeat tasks 1\n')
    with open(os.path.join(recording, 'tally.log'), 'w') as f:
        f.write(TALLIES)
    page.open_file(page.places.profile(recording),
                   'columns=name,count,run,mean,max,sample,p50,cpu,amount,amount-max&sort=name')
    assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
    page.settle()
    expected = {'name': ['allocates', 'long', 'quick'], 'run': ['4.8 KiB', '8m 20s', '24 us'],
                'mean': ['50 B', '5.00 s', '24 ns'], 'max': ['99 B', '-', '61 ns'], 'sample': ['42 B', '0 s', '23 ns'],
                'p50': ['-', '-', '24 ns'], 'cpu': ['-', '-', '-'], 'amount': ['1,700 faults', '-', '-'],
                'amount-max': ['20 faults', '-', '-']}
    cells = {c: _cells(page, c) for c in expected}
    assert cells == expected, cells
    said = page.browser.js('return document.querySelector("#count").textContent')
    assert '3 runs lost' in said, said
    page.open_file(page.places.profile(recording))
    assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
    assert 'amount' in _state(page)['shown'] and 'living' not in _state(page)['shown'], _state(page)


def lower_bounds_are_marked(page):
    recording, columns = os.path.join(DATA, 'recordings/nested'), 'columns=name,cpu,read,written,memory'
    page.open_file(page.places.profile('-b', 'none', '-F', 'shell', '--at', '5s', recording), columns + '&sort=name')
    assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
    page.settle()
    expected = {'name': ['lib.a', 'slow'], 'cpu': ['200 ms', '>30 ms'], 'read': ['0 B', '0 B'],
                'written': ['0 B', '>64 KiB'], 'memory': ['4.9 MiB', '1.0 MiB']}
    cells = {c: _cells(page, c) for c in expected}
    assert cells == expected, cells
    said = 'return document.querySelector("#count").textContent'
    assert page.browser.js(said).endswith('; CPU time and storage are at least as shown: of 1 task, they are the last '
                                          'sample'), page.browser.js(said)
    sums = page.browser.js('return [...document.querySelectorAll("tr.sum td.number")].map(c => c.textContent)')
    assert sums[0] == '>230 ms', sums
    page.browser.js('location.hash = arguments[0]', columns + '&sort=name&show=0,1')
    page.browser.wait('window.buildbeat.state().snapshots.length === 2')
    page.settle()
    assert '30 ms' in _cells(page, 'cpu') and '>30 ms' not in _cells(page, 'cpu'), _cells(page, 'cpu')
    assert 'CPU time and storage are not exact' in page.browser.js(said), page.browser.js(said)


def files_are_links_to_sources(page):
    recording = page.places.path('placed')
    os.mkdir(recording)
    with open(os.path.join(recording, 'build'), 'w') as f:
        f.write('buildbeat build 1\nstart: 2026-11-20T10:00:00.000000000Z\ncwd: /src/a#b\n'
                'command: make\nend_us: 2000000\nstatus: 0\n')
    with open(os.path.join(recording, 'tasks.log'), 'w') as f:
        f.write('buildbeat tasks 1\nopen\t0\tm\t10\t0\t10\tmake\t4.3\t/src/a#b\tmake\n')
        for i, place in enumerate(('sub dir/Makefile', '/usr/share/rules?.mk', 'javascript:alert(1)'), 1):
            f.write('start\t1000\tm.%d\t\t\t\tt%d\t\tcc\nplace\t1000\tm.%d\t%s\t%d\ndone\t9000\tm.%d\n'
                    % (i, i, i, place, i + 6, i))
    page.open_file(page.places.profile(recording), 'columns=name,file,line&sort=line')
    assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
    page.settle()
    assert _cells(page, 'line') == ['7', '8', '9'], _cells(page, 'line')
    links = page.browser.js('return [...document.querySelectorAll("#tables td a")].map(a => a.getAttribute("href"))')
    assert links == ['file:///src/a%23b/sub%20dir/Makefile', 'file:///usr/share/rules%3F.mk',
                     'file:///src/a%23b/javascript:alert(1)'], links
