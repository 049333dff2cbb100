# SPDX-License-Identifier: MIT
"""The state is in the address; all can be done without a mouse."""
import urllib.parse

import chart


def _address(page, part):
    """Until it is in the address."""
    return page.browser.wait('location.hash.includes(arguments[0]) && location.href', part)


def _set_all(page):
    page.open('known')
    page.zoom_to(20, 70)
    page.focus('#bb-search')
    page.type('part1')
    page.browser.wait('document.querySelector("#bb").buildbeat.state().q === "part1"')
    page.focus('#bb-min')
    page.press(*['ArrowRight'] * 30)
    page.browser.js('document.activeElement.blur()')
    page.press('c')
    page.choose('obj/part17.o')
    page.browser.js("document.querySelector('#bb').buildbeat.select(30, 50)")
    address = _address(page, 'range=')
    state = page.state()
    assert state['q'] == 'part1' and state['task'] >= 0 and state['min'] > 0
    assert not state['path'] and state['range'] == [30, 50], state
    return address, state


def _same(one, other):
    assert {k: v for k, v in one.items() if not isinstance(v, float)} == \
        {k: v for k, v in other.items() if not isinstance(v, float)}, (one, other)
    for key, value in one.items():
        if isinstance(value, float):
            assert abs(value - other[key]) < 0.01 * abs(value) + 1e-3, (key, value, other[key])


def reload_keeps_the_view(page):
    address, state = _set_all(page)
    page.browser.reload()
    page.ready()
    assert page.browser.url() == address
    _same(state, page.state())
    assert page.browser.js('return document.querySelector("#bb-search").value') == 'part1'


def shared_address_opens_the_view(page):
    address, state = _set_all(page)
    page.browser.new_window()
    other = chart.Page(page.browser, page.places)
    other.open('known', fragment=address.split('#')[1])
    _same(state, other.state())
    other.check_quiet()


def another_fragment_changes_the_view(page):
    page.open('known')
    page.browser.js('location.hash = "t=10-30&q=" + encodeURIComponent("/part0[12]/")')
    page.browser.wait('document.querySelector("#bb").buildbeat.state().matches === 2')
    view = page.view()
    assert abs(view[0] - 10) < 0.01 and abs(view[1] - 30) < 0.01, view


def nonsense_in_the_address(page):
    for fragment in ('t=abc', 't=9e99-1', 't=-5--1&min=NaN&task=999999999', 't=50-50',
                     'q=' + urllib.parse.quote('/(/'), '%', '&&==&', 'min=1e300'):
        page.open('known', fragment=fragment)
        start, end = page.view()
        assert 0 <= start < end <= 120.5, (fragment, start, end)
        page.browser.open('about:blank')


# Everything that takes the focus, in the order of Tab, where it is and how it looks.
STOPS = '''
    return [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex]')]
        .filter(e => e.tabIndex >= 0 && !e.disabled && !e.closest('[inert]') &&
                e.checkVisibility({visibilityProperty: true}))
        .map(e => {
            const b = e.getBoundingClientRect(), labels = [...e.labels || []];
            const sheet = e.closest('#bb-detail');
            // The sheet of a small window is below everything else.
            const down = scrollY + (sheet && getComputedStyle(sheet).position === 'fixed' ? 1e5 : 0);
            return {id: e.id || e.role && e.ariaLabel || e.textContent.trim(), left: b.left, right: b.right,
                top: b.top + down, bottom: b.bottom + down,
                name: e.getAttribute('aria-label') || e.title || e.textContent.trim() ||
                    labels.map(l => l.textContent).join('')};
        })'''


def tab_order_is_as_drawn(page):
    """What comes next is below or, in the same line, to the right; in every window."""
    for width, height, mobile in chart.SIZES:
        page.browser.resize(width, height, mobile)
        page.open('known')
        page.choose('obj/part17.o')
        stops = page.browser.js('scrollTo(0, 0);' + STOPS)
        assert len(stops) >= 10 and all(s['name'] for s in stops), [s for s in stops if not s['name']]
        for one, other in zip(stops, stops[1:]):
            inside = other['top'] >= one['top'] - 1 and other['bottom'] <= one['bottom'] + 1
            assert inside or other['top'] >= one['bottom'] - 1 or other['left'] >= one['right'] - 1 or \
                (other['top'] > one['top'] and other['left'] > one['left']), (width, one, other)


def all_of_it_by_keyboard(page):
    """Tab comes to everything, and what has the focus is seen, beside what is over the page."""
    page.open('known')
    _walk(page)
    page.browser.resize(360, 640, mobile=True)
    for task in ('obj/part17.o', None):
        page.browser.js("document.querySelector('#bb').buildbeat.select(30, 50)")
        if task:
            page.choose(task)
        page.settle()
        _walk(page)
        page.press('Escape')


def _walk(page):
    page.scroll_to('#bb-icicle')        # it is drawn when it is seen
    page.browser.js('document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)')
    stops, seen = page.browser.js(STOPS), []
    for _ in range(len(stops) + 5):
        page.press('Tab')
        at = page.browser.js('''const e = document.activeElement;
            if (!e || e === document.body || e === document.documentElement) return null;
            const s = getComputedStyle(e), b = e.getBoundingClientRect();
            const x = (Math.max(b.left, 0) + Math.min(b.right, innerWidth)) / 2;
            const y = [Math.max(b.top, 0), Math.min(b.bottom, innerHeight)];
            const at = [.1, .5, .9].map(part => document.elementFromPoint(x, y[0] + part * (y[1] - y[0])));
            return {id: e.id || e.role && e.ariaLabel || e.textContent.trim(),
                ring: s.outlineStyle !== 'none' || s.boxShadow !== 'none',
                seen: b.width > 0 && b.height > 0 && b.bottom > 0 && b.top < innerHeight &&
                    at.some(top => top && (e.contains(top) || top.contains(e)))}''')
        if at is None or (seen and at['id'] == seen[0]['id']):
            break
        seen.append(at)
    ids = [e['id'] for e in seen]
    assert ids == [s['id'] for s in stops][:len(ids)] and len(ids) >= len(stops) - 1, (ids, stops)
    assert {'bb-search', 'bb-min', 'bb-lanes'} <= set(ids), ids
    assert all(e['ring'] and e['seen'] for e in seen), [e for e in seen if not (e['ring'] and e['seen'])]


def arrows_walk_the_tasks(page):
    """With the focus on the lanes; Enter zooms to the chosen task, Escape lets it go."""
    page.open('known')
    page.focus('#bb-lanes')
    for key, name in (('ArrowRight', 'config.h'), ('ArrowRight', 'obj/part00.o'),
                      ('ArrowDown', 'obj/part01.o')):
        page.press(key)
        assert name in page.detail(), (key, page.detail())
    said = page.texts('#bb-live')[0]
    assert 'obj/part01.o' in said and 'compile' in said, said
    before = page.view()
    page.press('Enter')
    after = page.view()
    assert after[1] - after[0] < before[1] - before[0], after
    page.press('Escape')
    assert not page.detail() and page.state()['task'] == -1
