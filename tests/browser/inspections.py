# SPDX-License-Identifier: MIT
"""The page of an inspection: classes over time, the live heap, call sites and mappings."""
import re

HOSTILE = ('300', '5', '60', '7')
LARGE = ('2000', '20', '300', '0')
UNITS = {'B': 1, 'KiB': 1024, 'MiB': 2 ** 20, 'GiB': 2 ** 30}


def _open(page, *numbers, fragment=''):
    path, heaps, said = page.places.inspection(*numbers)
    page.open_file(path, fragment)
    assert page.browser.js_async('window.buildbeat.ready.then(arguments[0])') is True
    page.settle()
    return heaps, said


def _state(page):
    return page.browser.js('return window.buildbeat.state()')


def _sum(page, function):
    return page.browser.js('return window.buildbeat.sum(arguments[0])', function)


def _heap(heap, function):
    return sum(n for stack, n in heap if function in stack)


def _slide(page, snapshot):
    page.browser.js('''const s = document.querySelector('#snapshot'); s.value = arguments[0];
        s.dispatchEvent(new Event('input'))''', snapshot)
    page.settle()


def _press(page, text):
    """A button of the page by its text."""
    assert page.browser.js('''const b = [...document.querySelectorAll('button')].find(b =>
        b.textContent === arguments[0] || b.textContent.startsWith(arguments[0] + ' ')); if (b) b.click(); return !!b''', text), text
    page.settle()


def _type(page, selector, text):
    page.browser.js('''const s = document.querySelector(arguments[0]); s.value = arguments[1];
        s.dispatchEvent(new Event('input'))''', selector, text)
    page.browser.js_async('setTimeout(arguments[0], 150)')
    page.settle()


def _text(page, selector):
    return page.browser.js('return document.querySelector(arguments[0]).textContent', selector)


def _rows(page, table):
    return page.browser.js('return window.buildbeat.rows(arguments[0])', table)


def _bytes(text):
    n, unit = re.search(r'([\d.]+) ([KMG]?i?B)', text).groups()
    return float(n) * UNITS[unit]


def the_slider_changes_everything(page):
    heaps, _ = _open(page)
    for snapshot in (0, 3, 5):
        _slide(page, snapshot)
        assert _state(page)['snapshot'] == snapshot
        for function in ('main', 'make_node', 'alloc_page', 'xmalloc', 'rtx_alloc'):
            assert _sum(page, function) == _heap(heaps[snapshot], function), (snapshot, function)
        assert 'snapshot %d of 6' % (snapshot + 1) in _text(page, '.times .moment')
        shown = _bytes(_text(page, '#sites .rule'))
        assert abs(shown / sum(n for _, n in heaps[snapshot]) - 1) < .05, shown
    _press(page, 'largest heap')
    assert _sum(page, 'make_node') == 112 << 20 and 'when the heap was largest' in _text(page, '.times .moment')


def sums_do_not_depend_on_the_direction(page):
    heaps, _ = _open(page, *LARGE)
    _slide(page, 11)
    names = sorted({name for stack, _ in heaps[11] for name in stack})[::90]
    down = [_sum(page, name) for name in names]
    _press(page, 'bottom-up')
    assert _state(page)['up'] is True
    assert abs(_sum(page, names[0]) - down[0]) <= 1
    boxes = page.browser.js('return window.buildbeat.boxes()')
    total = sum(n for _, n in heaps[11])
    assert boxes[0] == ['all', total, 0], (boxes[0], total)
    # boxes narrower than two pixels are not drawn
    assert .3 * total < sum(n for name, n, depth in boxes if depth == 1) <= total


def classes_open_and_close(page):
    _, said = _open(page)
    bands = page.browser.js('return window.buildbeat.bands()')
    assert bands[0][0] == 'garbage-collected memory', bands
    total = sum(n for _, n in bands)
    assert total == 267528 * 1024, total
    _press(page, 'malloc heap')
    assert _state(page)['class'] == 'malloc heap', _state(page)
    inside = page.browser.js('return window.buildbeat.bands()')
    assert sum(n for _, n in inside) == dict(map(tuple, bands))['malloc heap'], inside
    _press(page, 'all')
    assert page.browser.js('return window.buildbeat.bands()') == bands
    page.browser.js('''const s = document.querySelector('select[aria-label=Metric]'); s.value = 'private_dirty';
        s.dispatchEvent(new Event('change'))''')
    page.settle()
    dirty = sum(n for _, n in page.browser.js('return window.buildbeat.bands()'))
    assert _state(page)['metric'] == 'private_dirty' and 0 < dirty <= total
    _press(page, 'heap')
    assert sum(n for _, n in page.browser.js('return window.buildbeat.bands()')) == _sum(page, 'main')


def a_click_on_an_area_opens_its_class(page):
    _open(page)
    x, y = page.browser.js('''const b = [...document.querySelectorAll('.band')].map(p => p.getBoundingClientRect()),
        s = document.querySelector('.areas svg').getBoundingClientRect();
        return [s.left + s.width * .8, b[1].top + 9]''')
    page.browser.click(int(x), int(y))
    page.settle()
    assert _state(page)['class'] == 'malloc heap', _state(page)


def wheel_drag_and_keys_zoom_times(page):
    _open(page)
    left, top, width = page.browser.js('''const r = document.querySelector('.areas').getBoundingClientRect();
        return [r.left, r.top, r.width]''')
    page.browser.wheel(int(left + width / 2), int(top + 100), -400)
    page.settle()
    first, last = _state(page)['times']
    assert 0 < first < last < 1, (first, last)
    page.browser.drag([(int(left + width / 2), int(top + 100)), (int(left + width / 2 + 80), int(top + 100))])
    page.settle()
    moved = _state(page)['times']
    assert moved[0] < first and abs((moved[1] - moved[0]) - (last - first)) < 1e-9, moved
    page.browser.js('document.querySelector(".areas").focus()')
    page.press('0')
    page.settle()
    assert _state(page)['times'] == [0, 1]
    page.press('+')
    page.settle()
    assert _state(page)['times'] == [.25, .75]


def the_icicle_zooms_to_a_function(page):
    _open(page)
    _slide(page, 4)
    x, y = page.browser.js('''const b = [...document.querySelectorAll('.box')].find(b => b.textContent === 'copy_node')
        .getBoundingClientRect(); return [b.left + b.width / 2, b.top + 8]''')
    page.browser.click(int(x), int(y))
    page.settle()
    assert _state(page)['node'] == 'copy_node' and '64 MiB' in _text(page, '.detail'), _text(page, '.detail')
    assert '\u00b1' in _text(page, '.detail')
    page.browser.js('document.querySelector(".icicle").focus()')
    page.press('Enter')
    page.settle()
    first, last = _state(page)['range']
    assert abs((last - first) - 64 / 210.25) < .001, (first, last)
    page.press('Escape')
    page.settle()
    assert _state(page)['range'] == [0, 1] and _state(page)['node'] == ''


def keys_walk_through_the_tree(page):
    _open(page)
    page.browser.js('document.querySelector(".icicle").focus()')
    for key in ('ArrowDown',) * 6:
        page.press(key)
    page.settle()
    assert _state(page)['node'] == 'cp_parser_declaration', _state(page)
    page.press('ArrowRight')
    page.settle()
    assert _state(page)['node'] == 'cp_lexer_new_main', _state(page)
    page.press(' ')
    page.press('ArrowRight')
    page.press(' ')
    page.settle()
    assert _state(page)['selected'] == ['cp_lexer_new_main', '_cpp_lex_direct'], _state(page)
    assert _text(page, '.sum').startswith('2 functions selected: 32 MiB, 15 % of the heap'), _text(page, '.sum')
    page.press('ArrowUp')
    page.settle()
    assert _state(page)['node'] == 'c_common_parse_file'


def search_sums_nested_calls_once(page):
    heaps, _ = _open(page)
    _slide(page, 5)
    _type(page, '#heap input[type=search]', 'main|alloc_page')
    found = _text(page, '.sum')
    assert '6 calls found: 180 MiB, 100 % of the heap' in found, found
    assert sum(n for _, n in heaps[5]) >> 20 == 180
    assert page.browser.js('return document.querySelectorAll(".box.dim").length') > 3
    _type(page, '#heap input[type=search]', '(')
    assert '0 calls found' in _text(page, '.sum')


def tables_sort_filter_and_add_up(page):
    _open(page)
    _slide(page, 4)
    assert len(_rows(page, 'sites')) == 6
    # alloc_page() and others allocate for those that are named
    assert _text(page, '#sites .entry:not(.head) .name') == 'make_node'
    assert _text(page, '#heap .keys li:nth-child(2)') == 'make_node', _text(page, '#heap .keys')
    _type(page, '#find-sites', 'copy_node')
    assert len(_rows(page, 'sites')) == 1 and '64 MiB, 30 % of the heap' in _text(page, '#sites .rule')
    _type(page, '#find-sites', '')
    assert len(_rows(page, 'maps')) == 7
    _type(page, '#find-mode', '^r-x')
    assert len(_rows(page, 'maps')) == 2 and 'RSS 17 MiB' in _text(page, '#maps .rule'), _text(page, '#maps .rule')
    _type(page, '#find-mode', '')
    _type(page, '#find-file', 'anonymous')
    assert len(_rows(page, 'maps')) == 1
    _type(page, '#find-file', '')
    _type(page, '#find-address', '0x400123')
    assert '0x400123 is 0x123 bytes into 0x400000 /usr/lib/gcc' in _text(page, '#maps .rule'), _text(page, '#maps .rule')
    before = _rows(page, 'maps')
    page.browser.js('document.querySelector("#maps .cell.address button").click()')
    page.settle()
    after = _rows(page, 'maps')
    assert sorted(before) == sorted(after) and before != after
    page.browser.js('''for (const i of [0, 1])
        document.querySelectorAll('#maps .entry:not(.head)')[i].dispatchEvent(new MouseEvent('click', {bubbles: true, ctrlKey: i > 0}))''')
    page.settle()
    assert '2 selected' in _text(page, '#maps .rule'), _text(page, '#maps .rule')


def state_in_the_address(page):
    _open(page, fragment='snapshot=2&kind=heap&up=1&q=node')
    state = _state(page)
    assert (state['snapshot'], state['kind'], state['up'], state['q']) == (2, 'heap', True, 'node'), state
    _slide(page, 1)
    assert 'snapshot=1' in page.browser.url() and 'q=node' in page.browser.url()
    for wrong in ('snapshot=99', 'snapshot=x', 'class=77', 'kind=no&metric=no'):
        _open(page, fragment=wrong)
        assert 0 <= _state(page)['snapshot'] <= 6


def hostile_names_are_text(page):
    _open(page, *HOSTILE)
    assert page.browser.js('return document.querySelectorAll("main img, main script").length') == 0
    _press(page, 'bottom-up')
    assert page.browser.js('return document.querySelectorAll(".box").length') > 20


def without_a_heap(page):
    _open(page, '0', '4', '30', '0')
    assert 'The heap was not counted' in _text(page, '#inspection')
    assert page.browser.js('return document.querySelector("#heap")') is None
    _slide(page, 1)
    assert len(_rows(page, 'maps')) > 5


def small_screens_and_dark(page):
    for width in (380, 800, 1400):
        page.browser.resize(width, 800)
        page.browser.media(scheme='dark' if width == 800 else 'light')
        _open(page, *LARGE)
        wide = page.browser.js('return [document.documentElement.scrollWidth, window.innerWidth]')
        assert wide[0] <= wide[1], wide
        outside = page.browser.js('''const i = document.querySelector('.icicle').getBoundingClientRect();
            return [...document.querySelectorAll('.box')].filter(b => b.getBoundingClientRect().right > i.right + 2).length''')
        assert not outside, outside


def two_fingers_zoom_the_icicle(page):
    _open(page)
    x, y, width = page.browser.js('''document.querySelector('.icicle').scrollIntoView();
        const r = document.querySelector('.icicle').getBoundingClientRect(); return [r.left, r.top, r.width]''')
    middle = x + width / 2
    page.browser.pinch([(int(middle - 50), int(y + 50)), (int(middle - 150), int(y + 50))],
                       [(int(middle + 50), int(y + 50)), (int(middle + 150), int(y + 50))])
    page.settle()
    first, last = _state(page)['range']
    assert .2 < last - first < .5 and abs((first + last) / 2 - .5) < .1, (first, last)
