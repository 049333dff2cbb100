# SPDX-License-Identifier: MIT
"""Where the time went: boxes by directory, target, phase and program."""
import os
import re

OE = os.path.join(os.path.dirname(__file__), '..', 'data', 'oe', 'genuine')


def _look(page):
    page.scroll_to('#bb-icicle')
    page.browser.wait("document.querySelector('#bb-icicle .plot text')")
    page.settle()


def _boxes(page):
    """Of the drawn rectangles: x, y, width, height, class."""
    return page.browser.js(r"""const out = [];
        for (const p of document.querySelectorAll('#bb-icicle path.bar')) {
            for (const m of (p.getAttribute('d') || '').matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)/g))
                out.push([...m.slice(1).map(Number), p.getAttribute('class')]);
        }
        return out""")


def _texts(page):
    """Names with their places."""
    return page.browser.js("""return [...document.querySelectorAll('#bb-icicle .plot text')]
        .filter(e => e.style.display !== 'none').map(e => [e.textContent, Number(e.getAttribute('x')),
            Number(e.getAttribute('y')), e.getBoundingClientRect().width])""")


def _text(page, start):
    found = [t for t in _texts(page) if t[0].startswith(start)]
    assert found, (start, _texts(page))
    return found[0]


def _click(page, start):
    _, x, y, _ = _text(page, start)
    plot = page.box('#bb-icicle svg.plot')
    page.browser.click(plot['x'] + x + 4, plot['y'] + y - 4)
    page.settle()


def _share(text):
    return float(re.search(r'\(([\d.]+) %\)', text).group(1))


def boxes_are_the_tables_of_show(page):
    """A box of a directory has the sum of --by directory of it and all below it."""
    page.open('linked')
    _look(page)
    show = page.places.show(page.recording, '--by', 'directory', '-t', '1000')['by'][0]
    whole = show['total']['wall_us']
    sums = {}
    for row in show['largest']:
        words = row['name'].split('/') if row['name'] != '.' else []
        for n in range(1, len(words) + 1):
            sums['/'.join(words[:n])] = sums.get('/'.join(words[:n]), 0) + row['wall_us']
    assert set(sums) == {'src', 'lib'}, sums
    for name, us in sums.items():
        _, x, y, _ = _text(page, name)
        width = [b[2] for b in _boxes(page) if abs(b[0] + 4 - x) < 1 and 0 < y - b[1] < 22]
        all_of_it = max(b[2] for b in _boxes(page))
        assert len(width) == 1 and abs(width[0] / all_of_it - us / whole) < .005, (name, us, width, all_of_it)


def link_is_most_of_it(page):
    """Its own make is below it; what is wide enough has a name."""
    page.open('linked')
    _look(page)
    # 131 s of tasks below the link and 11 s of its own, 30 s of two objects, 1 s of a text.
    assert abs(_share(_text(page, 'app')[0]) - 100 * 131 / 162) < 9, _texts(page)
    app = _text(page, 'app')
    inside = [t for t in _texts(page) if t[0].startswith('ltrans')]
    assert len(inside) == 6 and all(t[2] > app[2] for t in inside), inside
    names = [t for t, _, _, _ in _texts(page)]
    assert any(t.startswith('lib') for t in names) and any(t.startswith('parse') for t in names), names
    for x, y, width, height, _ in _boxes(page):
        assert height >= 16, height
        mine = [t for t in _texts(page) if x <= t[1] <= x + width and y <= t[2] <= y + height]
        assert mine or width < 30, (x, y, width)
        assert all(t[1] + t[3] <= x + width + 1 for t in mine), (mine, x, width)


def children_are_within_their_parent(page):
    page.open('linked')
    _look(page)
    boxes = sorted(_boxes(page), key=lambda b: b[1])
    for x, y, width, _, _ in boxes:
        above = [b for b in boxes if 0 < y - b[1] < 25]
        assert not y or any(b[0] <= x + .2 and x + width <= b[0] + b[2] + 3 for b in above), (x, y, width)


def click_zooms_and_the_way_leads_back(page):
    page.open('linked')
    _look(page)
    _click(page, 'app')
    assert page.detail().startswith('app'), page.detail()
    assert _text(page, 'app')[1] < 10 and not [t for t in _texts(page) if t[0].startswith('lib')]
    page.browser.js("document.querySelector('#bb-icicle nav button').click()")
    page.settle()
    assert _text(page, 'lib'), _texts(page)


def search_and_range_change_it(page):
    page.open('linked')
    _look(page)
    note = "document.querySelector('#bb-icicle .note').textContent"
    page.browser.js("document.querySelector('#bb').buildbeat.select(0, 10)")
    page.browser.wait(note + ".includes('range')")
    assert not [t for t in _texts(page) if t[0].startswith('ltrans')], _texts(page)
    assert abs(_share(_text(page, 'lib')[0]) - 50) < 1, _texts(page)
    page.browser.js("document.querySelector('#bb').buildbeat.select(0, 0)")
    page.browser.wait("!%s.includes('range')" % note)
    page.focus('#bb-search')
    page.type('ltrans')
    page.browser.wait("document.querySelector('#bb').buildbeat.state().matches === 6")
    page.settle()
    assert not [t for t in _texts(page) if t[0].startswith('lib')], _texts(page)


def search_for_a_directory(page):
    page.open('linked')
    _look(page)
    _click(page, 'lib')
    box = page.browser.js("""return [...document.querySelectorAll('#bb-icicle nav button')]
        .find(b => b.textContent === 'search for these').getBoundingClientRect().toJSON()""")
    page.browser.click(box['x'] + 5, box['y'] + 5)
    page.settle()
    assert page.state()['matches'] == 1, page.state()


def cpu_time(page):
    page.open('known')
    _look(page)
    wall = _texts(page)[0][0]
    page.browser.js("""[...document.querySelectorAll('#bb-icicle button')]
        .find(b => b.textContent === 'CPU time').click()""")
    page.settle()
    cpu = _texts(page)[0][0]
    said = page.places.show(page.recording)
    seconds = sum(float(v) * {'m': 60, 's': 1}[unit]
                  for v, unit in re.findall(r'([\d.]+) ?([ms])\b', cpu.split('(')[0]))
    real = sum(t['self']['cpu_us'] or 0 for t in said['tasks'] if t['start_us'] is not None) / 1e6
    assert wall != cpu and abs(seconds - real) < real * .02 + 1, (wall, cpu, real)


def recipes(page):
    """Recipe, then task."""
    page.open(os.path.normpath(OE))
    _look(page)
    tops = [t for t in _texts(page) if 20 < t[2] < 44]
    below = [t for t in _texts(page) if 44 < t[2] < 66]
    assert any(re.match(r'lib\d\d\b', t[0]) for t in tops), tops
    assert any(t[0].startswith('compile') for t in below), below


def keyboard(page):
    """Down into a box, along its row, open, and back."""
    page.open('linked')
    _look(page)
    page.focus('#bb-icicle .plot-box')
    page.press('ArrowDown')
    page.press('Enter')
    first = page.texts('#bb-icicle nav')[0]
    assert 'app' in first, first
    page.press('Backspace')
    assert page.texts('#bb-icicle nav')[0].startswith('all'), page.texts('#bb-icicle nav')
    assert page.view() == (0, page.state()['until'])


def many_tasks(page):
    """Only boxes of a pixel and more, in a second for all of it."""
    page.open(page.places.generated(20000, 100))
    _look(page)
    boxes = _boxes(page)
    assert 10 < len(boxes) < 6000 and all(b[2] > .4 for b in boxes), len(boxes)
