# SPDX-License-Identifier: MIT
"""The description of the task under the pointer, and of a moment."""
import re

SECONDS = {'us': 1e-6, 'ms': 1e-3, 's': 1.0}
KIB = {'B': 1 / 1024, 'KiB': 1.0, 'MiB': 1024.0, 'GiB': 1024.0 ** 2}


def _seconds(text, before):
    value, unit = re.search(before + r' ([\d.]+) (us|ms|s)\b', text).groups()
    return float(value) * SECONDS[unit]


def _kib(text, before):
    value, unit = re.search(before + r' ([\d.]+) (B|KiB|MiB|GiB)\b', text).groups()
    return float(value) * KIB[unit]


def _near(said, real, what, precision=0.02):
    assert abs(said - real) <= precision * abs(real), (what, said, real)


def _description(page, name):
    """The tooltip of a task, in one text, and what `buildbeat show` says of it."""
    task = page.places.task(page.recording, name)
    page.hover(task)
    lines = page.tip()
    assert lines and lines[0] == name, lines
    return '\n'.join(lines), task


def tooltip_is_what_show_says(page):
    page.open('known')
    for name in ('config.h', 'obj/part07.o', 'libparts.a', 'app'):
        text, task = _description(page, name)
        _near(_seconds(text, 'took'), (task['end_us'] - task['start_us']) / 1e6, 'wall')
        _near(_seconds(text, 'CPU'), task['self']['cpu_us'] / 1e6, 'cpu')
        _near(_seconds(text, 'user'), task['self']['cpu_user_us'] / 1e6, 'user', 0.05)
        _near(_kib(text, 'memory'), task['self']['memory_kb'], 'memory')
        assert task['kind'] + ', done' in text, text
        assert task['command'] in text, text
        sum_of_all = task['self']['memory_of'] == 'all processes'
        assert ('all its processes' in text) == sum_of_all, text
    text, task = _description(page, 'obj/part07.o')
    _near(_kib(text, 'read'), task['disk_read_bytes'] / 1024, 'read')
    _near(_kib(text, 'written'), task['disk_written_bytes'] / 1024, 'written')


def tooltip_of_what_went_wrong(page):
    page.open('known')
    assert 'failed: exit status 2' in _description(page, 'test-one')[0]
    assert 'killed by signal 9' in _description(page, 'test-two')[0]
    assert 'unfinished' in _description(page, 'test-three')[0]


def memory_over_the_life(page):
    """It rose for half of its time, then it fell."""
    page.open('known')
    _description(page, 'config.h')
    assert page.browser.js('return document.querySelector("#tip .spark")') is None
    _description(page, 'libparts.a')
    tops = page.browser.js(r'''
        const path = document.querySelector('#tip .spark path'), length = path.getTotalLength();
        const box = path.getBBox(), tops = [];
        for (let k = 1; k < 8; k++) {
            let y = box.y;
            while (y < box.y + box.height && !path.isPointInFill(new DOMPoint(box.width * k / 8, y)))
                y += .25;
            tops.push(y);
        }
        return tops''')
    assert tops[0] > tops[2] > tops[3] and tops[6] > tops[4], tops


def tooltip_of_many(page):
    """Tasks of one pixel are counted, and the longest is named."""
    page.open('short')
    page.browser.move(page.x(300), page.y(1))
    page.settle()
    lines = page.tip()
    count = int(re.match(r'([\d,]+) tasks', lines[0]).group(1).replace(',', ''))
    assert count > 1 and any(re.search(r'd\d+/t\d{5}\.o', line) for line in lines[1:]), lines


def tooltip_goes_and_stays(page):
    page.open('known')
    _, task = _description(page, 'app')
    page.browser.move(page.x_of_plot(0.5), 5)
    page.settle()
    assert not page.tip()
    page.browser.click(*page.middle(task))
    page.browser.move(page.x(30), page.y(0))
    page.settle()
    assert page.tip()[0] == 'app', page.tip()
    page.press('Escape')
    assert not page.tip() or page.tip()[0] != 'app'


def tooltip_stays_in_the_window(page):
    page.open('known')
    for name in ('config.h', 'test-three', 'obj/part39.o'):
        _description(page, name)
        tip, picture = page.browser.js('''return ['#tip .tip', '#bb'].map(selector => {
            const b = document.querySelector(selector).getBoundingClientRect();
            return [b.left, b.top, b.right, b.bottom]; })''')
        assert tip[0] >= 0 and tip[1] >= 0, (name, tip)
        assert tip[2] <= picture[2] and tip[3] <= min(picture[3], 1000), (name, tip, picture)


def crosshair(page):
    """At 25.5 s: a moment, and what the panels had then."""
    page.open('known')
    page.browser.move(page.x(25.5), page.y(0))
    page.settle()
    moment = page.texts('#cross text.moment')
    assert len(moment) == 1, moment
    _near(float(re.match(r'([\d.]+) s', moment[0]).group(1)), 25.5, 'moment', 0.01)
    said = page.texts('#cross text.readout')
    # The sample at 26 s: user and system of 400 jiffies, 4 tasks, the disk's bytes.
    cpu = re.search(r'user ([\d.]+) %.*system ([\d.]+) %', said[0])
    _near(float(cpu.group(1)), (100 + 26 % 7 * 20) / 4, 'user', 0.05)
    _near(float(cpu.group(2)), (20 + 26 % 3 * 10) / 4, 'system', 0.05)
    assert re.search(r'running tasks 4\b', said[1]), said
    disk = next(text for text in said if 'written' in text)
    assert 'read 500 KiB/s' in disk and re.search(r'written (1\.0 MiB|102\d KiB)/s', disk), disk
    line = page.browser.js('return document.querySelector("#cross path").getBoundingClientRect().x')
    assert abs(line - page.x(25.5)) < 1.5, (line, page.x(25.5))


def critical_path(page):
    page.open('known')
    drawn = '''return document.querySelector('#lanes path.critical').getAttribute('d')'''
    path = page.browser.js(drawn)
    assert path.count('M') >= 4, path
    text, _ = _description(page, 'app')
    assert 'on the critical path' in text, text
    button = page.browser.js('''return [...document.querySelectorAll('#tools button')]
        .find(b => b.textContent === 'critical path').getBoundingClientRect().toJSON()''')
    page.browser.click(button['x'] + button['width'] / 2, button['y'] + button['height'] / 2)
    page.settle()
    assert page.browser.js(drawn) == '' and not page.state()['critical']
    page.press('c')
    assert page.browser.js(drawn) == path


def chain_on_hover(page):
    """app waited for libparts.a, that for a part, that for its worker; the first for config.h."""
    page.open('known')
    text, _ = _description(page, 'app')
    chain = re.search(r'waited for its target: (.*)', text).group(1)
    assert re.match('libparts.a \u2190 obj/part36.o \u2190 obj/part32.o \u2190 ', chain), chain
    hit = '''const [x, y] = arguments, p = document.querySelector('#lanes path.chain');
        return p.isPointInFill(new DOMPoint(x, y).matrixTransform(p.getScreenCTM().inverse()))'''
    for name, there in (('app', True), ('libparts.a', True), ('config.h', True),
                        ('obj/part05.o', False)):
        at = page.middle(page.places.task(page.recording, name))
        assert page.browser.js(hit, *at) is there, name


def other_build(page):
    """--compare: values of both builds, task by task."""
    other = page.places.recording('second_build')
    page.open('known', '--compare', other)
    ghosts = page.browser.js('''return document.querySelector('#lanes path.ghost')
        .getAttribute('d').match(/M/g).length''')
    assert ghosts >= 40, ghosts
    text, _ = _description(page, 'libparts.a')
    said = re.search(r'in the other build (.*), here (.*?) \((.*)\)', text).groups()
    assert said == ('20.0 s', '10.0 s', '\u221250 %'), said
    text, _ = _description(page, 'obj/part39.o')
    assert 'other build' not in text, text
