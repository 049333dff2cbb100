# SPDX-License-Identifier: MIT
"""A selected range of time: its values are those of `show`, and of a slow reference here."""
import re

import recordings

UNITS = {'us': 1e-6, 'ms': 1e-3, 's': 1, 'm': 60, 'h': 3600}


def _seconds(text):
    """Of "4m 05s", "12.3 s", "980 us"."""
    return sum(float(n) * UNITS[unit] for n, unit in re.findall(r'([\d.]+) ?(us|ms|s|m|h)\b', text))


def _facts(page):
    return dict(page.browser.js('''return [...document.querySelectorAll('#bb-range dl div')]
        .map(e => [e.querySelector('dt').textContent, e.querySelector('dd').textContent])'''))


def _select(page, start_s, end_s):
    page.browser.js("document.querySelector('#bb').buildbeat.select(arguments[0], arguments[1])",
                    start_s, end_s)
    page.settle()


def _core_seconds(facts, name):
    return float(re.match(r'([\d.,]+) core-seconds', facts[name]).group(1).replace(',', ''))


def _near(one, other, least=0.06):
    return abs(one - other) <= max(least, 0.006 * abs(other))


def whole_build_is_that_of_show(page):
    page.open('known')
    show = page.places.show(page.recording)
    _select(page, 0, page.state()['until'])
    facts = _facts(page)
    assert facts['running tasks'].startswith('%.1f on average, %d at most' % (
        show['parallelism']['mean'], show['parallelism']['max'])), facts
    host = show['host']
    busy = sum(_core_seconds(facts, name) for name in facts
               if name.startswith('CPU, ') and name != 'CPU, idle')
    assert _near(busy, (host['cpu_user_us'] + host['cpu_system_us']) / 1e6, 0.3), (facts, host)
    if 'CPU, this build' in facts:
        assert _near(_core_seconds(facts, 'CPU, this build'), show['totals']['cpu_us'] / 1e6, 0.3), \
            (facts, show['totals'])
    everything = sum(_core_seconds(facts, name) for name in facts if name.startswith('CPU, '))
    assert _near(everything, show['build']['cores'] * host['span_us'] / 1e6, 1), (facts, host)
    kinds = dict(page.browser.js('''return [...document.querySelectorAll('#bb-range ul li')]
        .map(e => [...e.querySelectorAll('span')].map(s => s.textContent))'''))
    said = {k['kind']: k['wall_us'] / 1e6 for k in show['kinds']}
    for kind, text in kinds.items():
        if kind in said:
            assert abs(_seconds(text) - said[kind]) <= 0.006 * said[kind] + 0.01, (kind, text, said)
    assert len(set(kinds) & set(said)) >= 3, (kinds, said)


def all_of_it_is_read_on_a_phone(page):
    page.browser.resize(390, 844, mobile=True)
    for recording in ('known', page.places.generated(1000, 300)):
        page.open(recording)
        _select(page, 0, page.state()['until'])
        wide = page.browser.js('''const box = document.querySelector('#bb-range');
            return [...box.querySelectorAll('dd, li, button, .columns')]
                .map(e => [e.textContent, e.getBoundingClientRect().right])
                .filter(([, right]) => right > box.getBoundingClientRect().right)''')
        assert not wide, wide[:3]


def part_is_that_of_a_slow_reference(page):
    """Time of each task in the range, from the recording's tasks alone."""
    page.open('known')
    for start, end in ((7.3, 31.9), (80, 115), (0, 5), (118, 119.5)):
        inside, running = {}, 0
        for t in page.places.show(page.recording)['tasks']:
            until = t['end_us'] / 1e6 if t['end_us'] else 120
            part = min(until, end) - max(t['start_us'] / 1e6, start)
            if part > 0:
                inside[t['name']] = part
                running += part
        _select(page, start, end)
        facts = _facts(page)
        assert facts.get('running tasks', '0.0 on average').startswith(
            '%.1f on average' % (running / (end - start))), (start, end, facts, running)
        assert not re.search(r'\b0\.0 core-seconds, \d*[1-9.]', ' '.join(facts.values())), facts
        longest = page.browser.js('''return [...document.querySelectorAll('#bb-range ol li')]
            .map(e => [e.querySelector('button').title, e.querySelector('.time').textContent])''')
        expected = sorted(inside.values(), reverse=True)[:len(longest)]
        assert len(longest) == min(7, len(inside)), (longest, inside)
        for (name, text), wall in zip(longest, expected):
            assert abs(_seconds(text) - wall) <= 0.01 * wall + 0.001, (name, text, wall)
            assert abs(inside[name] - wall) < 1e-3, (name, wall)


def by_mouse(page):
    """Shift-drag, a click on a task in the list, the buttons, Esc."""
    page.open('known')
    plot, y = page.plot(), page.y(1)
    before = page.view()
    page.browser.drag([(page.x_of_plot(0.25), y), (page.x_of_plot(0.3), y),
                       (page.x_of_plot(0.5), y)], hold=('Shift',))
    page.settle()
    start, end = page.state()['range']
    assert page.view() == before and abs(start - 30) < 0.2 and abs(end - 60) < 0.2, (start, end)
    brush = page.box('#bb-brush')
    assert abs(brush['left'] - plot['left'] - plot['width'] / 4) < 2 and \
        abs(brush['width'] - plot['width'] / 4) < 2, (brush, plot)
    panel = page.box('#bb-range')
    assert panel['top'] >= 0 and panel['bottom'] <= page.browser.js('return innerHeight') + 1, panel
    task = page.box('#bb-range ol button')
    page.browser.click(task['left'] + 20, task['top'] + 8)
    page.settle()
    assert page.state()['task'] >= 0 and page.state()['range'] == [start, end]
    buttons = page.browser.js('''return [...document.querySelectorAll('#bb-range h2 button')]
        .map(e => { const b = e.getBoundingClientRect(); return [b.left + 5, b.top + 5]; })''')
    page.browser.click(*buttons[0])
    page.settle()
    assert all(abs(a - b) < 0.1 for a, b in zip(page.view(), (start, end))), page.view()
    page.press('Escape')
    assert page.state()['range'] is None and page.box('#bb-range')['height'] == 0


def by_touch(page):
    """The button makes the next stroke a selection; the one after moves the view again."""
    page.browser.resize(390, 844, True)
    page.open('known')
    page.zoom_to(20, 80)
    page.browser.js('document.querySelector("#bb-tools [title*=drag]").scrollIntoView()')
    page.settle()
    button = page.box('#bb-tools [title*=drag]')
    page.browser.drag([(button['left'] + 10, button['top'] + 8)], 'touch')
    page.settle()
    assert page.browser.js('return document.querySelector("#bb-tools [title*=drag]").ariaPressed') == 'true'
    before = page.view()
    page.scroll_to('#bb-lanes')
    x, y = page.inside()
    page.browser.drag([(x, y), (x + 10, y), (x + 40, y), (x + 80, y)], 'touch')
    page.settle()
    state = page.state()
    assert state['range'] and page.view() == before, state
    assert page.browser.js('return document.querySelector("#bb-tools [title*=drag]").ariaPressed') == 'false'
    page.browser.drag([(x, y), (x + 10, y), (x + 40, y), (x + 80, y)], 'touch')
    page.settle()
    assert page.view() != before and page.state()['range'] == state['range']


def by_keyboard(page):
    page.open('known')
    page.zoom_to(20, 70)
    page.press('r')
    assert [round(v, 3) for v in page.state()['range']] == [20, 70]
    page.press('Escape')
    task = page.choose('obj/part17.o')
    page.press('r')
    assert [round(v * 1e6) for v in page.state()['range']] == [task['start_us'], task['end_us']]
    page.press('ArrowLeft', hold=('Shift',))
    start, end = page.state()['range']
    assert round(start * 1e6) == task['start_us'] and abs(end - task['end_us'] / 1e6 + 1) < 0.01
    assert 'selected' in page.texts('#bb-live')[0]
    page.press('Escape')
    page.press('ArrowRight', 'ArrowRight', hold=('Shift',))
    start, end = page.state()['range']
    assert abs(start - task['start_us'] / 1e6) < 0.01 or abs(start - 45) < 0.01, (start, end)
    assert 0.9 < end - start < 2.1, (start, end)


def shared_by_address(page):
    page.open('known', fragment='range=10-20.5')
    assert page.state()['range'] == [10, 20.5] and page.texts('#bb-range h2')[0].startswith('10.5 s')
    page.open('known', fragment='range=20-10')
    assert page.state()['range'] is None


def idle_is_that_of_the_verdict(page):
    """A task that ran alone: the range of its sentence has as many idle core-seconds."""
    build = recordings.Build(60, slots=4).samples()
    for i in range(8):
        build.task('part%d.o' % i, 1 + i // 4 * 4, 3.5, slot=i % 4, cpu_s=3)
    build.task('corpus.idx', 10, 40, command='indexer', cpu_s=38)
    build.task('app', 50.5, 8, cpu_s=7)
    path = page.places.path('rec-alone')
    build.write(path)
    page.open(path)
    said = [s for s in page.places.show(path)['answer'] if 'idle' in s['text']]
    assert said, page.places.show(path)['answer']
    for sentence in said:
        _select(page, sentence['from_us'] / 1e6, sentence['until_us'] / 1e6)
        idle = re.search(r'while ([\d.]+) core-seconds', sentence['text']).group(1)
        assert _near(_core_seconds(_facts(page), 'CPU, idle'), float(idle), 0.06 if '.' in idle else 0.6), \
            (sentence, _facts(page))
