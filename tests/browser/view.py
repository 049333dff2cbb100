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
    page.browser.js('document.querySelector("#bb-search").focus()')
    page.type('part1')
    page.browser.wait('document.querySelector("#bb").buildbeat.state().q === "part1"')
    page.browser.js('document.querySelector("#bb-min").focus()')
    page.press(*['ArrowRight'] * 30)
    page.browser.js('document.activeElement.blur()')
    page.press('c')
    page.browser.click(*page.middle(page.places.task(page.recording, 'obj/part17.o')))
    page.settle()
    address = _address(page, 'task=')
    state = page.state()
    assert state['q'] == 'part1' and state['task'] >= 0 and state['min'] > 0
    assert not state['critical']
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


def all_of_it_by_keyboard(page):
    """Tab comes to everything, what has the focus is seen, arrows walk the tasks."""
    page.open('known')
    seen = []
    for _ in range(30):
        page.press('Tab')
        at = page.browser.js('''const e = document.activeElement;
            if (!e || e === document.body || e === document.documentElement) return null;
            const s = getComputedStyle(e), t = e.querySelector('.title, .row');
            const b = e.getBoundingClientRect();
            return {id: e.id || e.textContent, name: e.getAttribute('aria-label') || e.title ||
                e.textContent, ring: s.outlineStyle !== 'none' || s.boxShadow !== 'none' ||
                !!t && getComputedStyle(t).textDecorationLine === 'underline',
                inside: b.width > 0 && b.height > 0}''')
        if at is None or (seen and at['id'] == seen[0]['id']):
            break
        seen.append(at)
    ids = [e['id'] for e in seen]
    assert {'bb-search', 'bb-min', 'lanes', 'p-cpu', 'critical path'} <= set(ids), ids
    assert all(e['name'] and e['ring'] and e['inside'] for e in seen), \
        [e for e in seen if not (e['name'] and e['ring'] and e['inside'])]
    page.browser.js('document.querySelector("#lanes").focus()')
    page.press('ArrowRight')
    assert page.tip()[0] == 'config.h', page.tip()
    page.press('ArrowRight')
    assert page.tip()[0] == 'obj/part00.o', page.tip()
    page.press('ArrowDown')
    assert page.tip()[0] == 'obj/part01.o' or 'obj' in page.tip()[0], page.tip()
    said = page.texts('#bb-live')[0]
    assert page.tip()[0] in said and 'compile' in said, said
    before = page.view()
    page.press('Enter')
    after = page.view()
    assert after[1] - after[0] < before[1] - before[0], after
    page.press('Escape')
    assert not page.tip()
