# SPDX-License-Identifier: MIT
"""Two builds: the chart with --compare, and the page of diff."""

_TOP = '''return [...document.querySelectorAll('#bb-compare tbody tr')].map(tr => {
    const bar = tr.querySelector('.bar').getBBox(), line = tr.querySelector('.tick-line').getBBox();
    return {cells: [...tr.cells].slice(0, 4).map(c => c.textContent), right: bar.x + .1 > line.x,
            width: bar.width}; })'''


def _compare(page, first='known', second='second_build', fragment=''):
    page.open(first, '--compare', page.places.recording(second), fragment=fragment)


def differences_are_the_colours(page):
    _compare(page)
    assert page.state()['colour'] == 'difference'
    keys = page.texts('#bb-legend .key')
    assert any(k.startswith('faster by 2 s or more') for k in keys), keys
    assert any(k.startswith('in one build only') for k in keys), keys
    assert [k.split()[0] for k in keys] == ['faster', 'differs', 'in'], keys
    top = page.browser.js(_TOP)
    assert top[0]['cells'] == ['libparts.a', '20.0 s', '10.0 s', '\u221210.0 s'], top[0]
    assert not top[0]['right'] and top[0]['width'] == max(t['width'] for t in top), top
    new = [t for t in top if t['cells'][1] == 'new']
    assert [t['cells'][0] for t in new] == ['test-three', 'part39.o', 'test-two', 'test-one'], new
    assert all(t['right'] for t in new), new


def pair_is_marked_in_both_builds(page):
    _compare(page)
    page.browser.js('document.querySelector("#bb-compare tbody button").click()')
    page.settle()
    marks = page.browser.js('''return ['#bb-lanes', '#bb-theirs'].map(s =>
        document.querySelector(s + ' .over .chosen').getBBox().width)''')
    assert marks[0] > 3 and abs(marks[1] / marks[0] - 2) < .1, marks     # 20 s there, 10 s here


def click_there_chooses_here(page):
    _compare(page)
    name = page.browser.js('''const t = [...document.querySelectorAll('#bb-theirs text')]
        .find(e => e.style.display !== 'none' && e.textContent.startsWith('libparts'));
        t.scrollIntoView({block: 'center'}); const b = t.getBoundingClientRect();
        return [b.left + 5, b.top + b.height / 2]''')
    page.browser.click(*name)
    page.settle()
    assert page.state()['task'] >= 0
    assert 'libparts.a' in page.browser.js('return document.querySelector("#bb-detail").textContent')


def names_of_tasks_that_ran_there_only(page):
    _compare(page, 'second_build', 'known')
    gone = [t for t in page.browser.js(_TOP) if t['cells'][2] == 'gone']
    assert [t['cells'][0] for t in gone] == ['test-three', 'part39.o', 'test-two', 'test-one'], gone
    assert not any(t['right'] for t in gone), gone


def other_colours_stay_in_the_address(page):
    _compare(page, fragment='colour=kind')
    assert page.state()['colour'] == 'kind'
    page.browser.js('''const s = document.querySelector('#bb-colour'); s.value = 'difference';
        s.dispatchEvent(new Event('change'))''')
    page.settle()
    assert page.state()['colour'] == 'difference'


def panel_has_the_colours_of_the_legend(page):
    _compare(page)
    page.choose('libparts.a')
    colours = """return [...document.querySelectorAll('#bb-detail .swatch rect')]
        .map(e => getComputedStyle(e).fill)"""
    before = page.browser.js(colours)
    page.browser.js('''const s = document.querySelector('#bb-colour'); s.value = 'kind';
        s.dispatchEvent(new Event('change'))''')
    page.settle()
    after = page.browser.js(colours)
    assert before and len(before) == len(after) and before != after, (before, after)


def builds_of_different_things_are_warned_of(page):
    page.open('known', '--compare', page.places.recording('linked'))
    said = page.browser.js('return document.querySelector("#bb-compare .alarm").textContent')
    assert 'builds of different things' in said, said


def phone(page):
    page.browser.cdp('Emulation.setDeviceMetricsOverride', width=390, height=844, deviceScaleFactor=1,
                     mobile=True)
    _compare(page)
    wide = page.browser.js('''return [document.documentElement.scrollWidth,
        ...[...document.querySelectorAll('#bb-compare td')].map(e => e.getBoundingClientRect().right)]''')
    assert max(wide) <= 390, wide
    page.browser.js('document.querySelector("#bb-table").scrollIntoView()')
    page.settle()
    cut = page.browser.js("""return [...document.querySelectorAll('#bb-tasks .head button')]
        .filter(b => { const r = new Range(); r.selectNodeContents(b);
            return r.getBoundingClientRect().width > b.clientWidth ||
                b.getBoundingClientRect().right > innerWidth; })
        .map(b => b.textContent)""")
    assert not cut, cut


def page_of_diff(page):
    """Names first; headings sort with the keyboard; on a phone nothing scrolls sideways."""
    page.open_file(page.places.diff('known', 'second_build'))
    first = page.browser.js('''return [...document.querySelectorAll('table.sort tbody tr')]
        .every(tr => tr.cells[0].tagName === 'TH')''')
    assert first
    page.browser.js('document.querySelector("table.sort th:nth-child(2) button").focus()')
    for words in ('descending', 'ascending'):
        page.press('Enter')
        values = page.browser.js('''const t = document.querySelector('table.sort');
            return [t.querySelector('th:nth-child(2)').ariaSort,
                    [...t.tBodies[0].rows].map(r => +r.cells[1].dataset.n)]''')
        assert values[0] == words, values
        assert values[1] == sorted(values[1], reverse=words == 'descending'), values
    for media in ('light', 'dark'):
        page.browser.cdp('Emulation.setEmulatedMedia', media='',
                         features=[{'name': 'prefers-color-scheme', 'value': media}])
        for width in (2560, 1280, 390):
            page.browser.cdp('Emulation.setDeviceMetricsOverride', width=width, height=844,
                             deviceScaleFactor=1, mobile=width < 500)
            page.browser.frames(2)
            out = page.browser.js('''return [...document.querySelectorAll('.ranked *, .lanes figcaption, .keys li')]
                .filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.textContent)''')
            assert not out, (width, out)


def long_tables_of_diff_are_folded(page):
    """The first rows in the order that the table has now, and all with a button."""
    path = page.places.diff('known', 'second_build')
    rows = ''.join('<tr><th scope="row">t%d</th><td class="number" data-n="%d">%d</td></tr>' % (i, i, i)
                   for i in range(500))
    with open(path) as f:
        whole = f.read()
    long = page.places.path('diff-long.html')
    with open(long, 'w') as f:
        f.write(whole.replace('</main>', '<div class="scroll"><table class="sort"><thead><tr><th>task</th>'
                              '<th>n</th></tr></thead><tbody>%s</tbody></table></div></main>' % rows))
    page.open_file(long)
    shown = """const t = [...document.querySelectorAll('table')].pop();
        return [[...t.rows].slice(1).filter(r => r.offsetHeight).map(r => r.cells[0].textContent),
                t.nextSibling.textContent, t.nextSibling.ariaExpanded]"""
    first = page.browser.js(shown)
    assert first == [['t%d' % i for i in range(20)], 'all 500 rows', 'false'], first
    page.browser.js('[...document.querySelectorAll("table.sort th:nth-child(2) button")].pop().click()')
    names = page.browser.js(shown)[0]
    assert names == ['t%d' % i for i in range(499, 479, -1)], names
    page.browser.js('[...document.querySelectorAll("table + button")].pop().click()')
    opened = page.browser.js(shown)
    assert len(opened[0]) == 500 and opened[1:] == ['first 20 rows', 'true'], opened[1:]
