# SPDX-License-Identifier: MIT
"""The panel of the chosen task."""
import os
import re
import urllib.parse

SECONDS = {'us': 1e-6, 'ms': 1e-3, 's': 1.0}
KIB = {'B': 1 / 1024, 'KiB': 1.0, 'MiB': 1024.0, 'GiB': 1024.0 ** 2}
OE = os.path.join(os.path.dirname(__file__), '..', 'data', 'oe', 'genuine')
RESULTS = os.path.join(os.path.dirname(__file__), '..', 'data', 'results', 'make')
INSPECTED = os.path.join(os.path.dirname(__file__), '..', 'data', 'inspected', 'make')


def _amount(text, before, units):
    value, unit = re.search(before + r'\s+([\d.]+) (%s)\b' % '|'.join(units), text).groups()
    return float(value) * units[unit]


def _near(said, real, what, precision=0.02):
    assert abs(said - real) <= precision * abs(real), (what, said, real)


def _chosen(page, name):
    task = page.choose(name)
    return page.detail(), task


def _press_button(page, text, within='#bb-detail'):
    """Click the first button there that begins with a text."""
    box = page.browser.js("""const b = [...document.querySelectorAll(arguments[0] + ' button')]
        .find(e => e.textContent.startsWith(arguments[1]));
        if (!b) return null;
        b.scrollIntoView({block: 'nearest'}); return b.getBoundingClientRect().toJSON()""", within, text)
    assert box, 'no button %s in %s' % (text, page.detail())
    page.browser.click(box['x'] + min(20, box['width'] / 2), box['y'] + box['height'] / 2)
    page.settle()


def _name_of_chosen(page):
    return page.browser.js("""const e = document.querySelector('#bb-detail h2');
        return e && e.checkVisibility() ? e.textContent : null""")


def values_are_what_show_says(page):
    page.open('known')
    for name in ('config.h', 'obj/part07.o', 'libparts.a', 'app'):
        text, task = _chosen(page, name)
        assert text.startswith(name.split('/')[-1]), text
        _near(_amount(text, 'took', SECONDS), (task['end_us'] - task['start_us']) / 1e6, 'wall')
        minutes, seconds = re.search(r'began\s+(?:(\d+):)?([\d.]+)', text).groups()
        _near(int(minutes or 0) * 60 + float(seconds), task['start_us'] / 1e6, 'start')
        _near(_amount(text, 'CPU', SECONDS), task['self']['cpu_us'] / 1e6, 'cpu')
        _near(_amount(text, 'user', SECONDS), task['self']['cpu_user_us'] / 1e6, 'user', 0.05)
        _near(_amount(text, 'memory', KIB), task['self']['memory_kb'], 'memory')
        assert task['kind'] in text and ', done' in text, text
        assert task['command'] in text, text
        assert ('all its processes' in text) == (task['self']['memory_of'] == 'all processes'), text
    text, task = _chosen(page, 'obj/part07.o')
    assert re.search(r'^in obj$', text, re.M), text
    _near(_amount(text, 'disk', KIB), task['disk_read_bytes'] / 1024, 'read')
    _near(_amount(text, 'read,', KIB), task['disk_written_bytes'] / 1024, 'written')


def states_in_words(page):
    page.open('known')
    assert 'failed with exit status 2' in _chosen(page, 'test-one')[0]
    assert 'killed by signal 9' in _chosen(page, 'test-two')[0]
    text, task = _chosen(page, 'test-three')
    assert 'unfinished' in text and bool(re.search('CPU\\s+at least', text)) == task.get('at_least', False), (text, task)


def memory_over_the_life(page):
    """It rose for half of its time, then it fell."""
    page.open('known')
    _chosen(page, 'config.h')
    assert page.browser.js('return document.querySelector("#bb-detail .flame")') is None
    _chosen(page, 'libparts.a')
    tops = page.browser.js(r"""
        const path = document.querySelector('#bb-detail .flame path.area'), box = path.getBBox(), tops = [];
        for (let k = 1; k < 8; k++) {
            let y = box.y;
            while (y < box.y + box.height && !path.isPointInFill(new DOMPoint(box.width * k / 8, y)))
                y += .25;
            tops.push(y);
        }
        return tops""")
    assert tops[0] > tops[2] > tops[3] and tops[6] > tops[4], tops


def waits_lead_both_ways(page):
    """What it waited for and what it unblocked are buttons that choose and show the task."""
    page.open('known')
    text, _ = _chosen(page, 'libparts.a')
    assert 'Waited for' in text and 'its prerequisites, the last first' in text, text
    assert re.search(r'Unblocked 1 task\s+needed by\s+app', text), text
    assert '35 more' in text or '36 more' in text, text
    _press_button(page, 'app')
    assert _name_of_chosen(page) == 'app', page.detail()
    assert page.browser.js('return document.activeElement.localName') == 'h2'
    _press_button(page, 'libparts.a')
    assert _name_of_chosen(page) == 'libparts.a', page.detail()
    text, _ = _chosen(page, 'obj/part36.o')
    assert 'a free worker, until the end of' in text, text
    assert re.search(r'before; waited for a free worker\s+CPU', text), text
    text, _ = _chosen(page, 'app')
    assert 'ready 0.50 s before; waited for make to start it' in text, text


def chain_to_the_start(page):
    """As a list, with the kind of each link; it is open again for the next task."""
    page.open('known')
    text, _ = _chosen(page, 'app')
    assert re.search(r'Back to the start: \d+ tasks, \d+ times for a free worker', text), text
    page.browser.js("document.querySelector('#bb-detail summary').click()")
    page.settle()
    names = page.texts('#bb-detail ol .name')
    assert names[:3] == ['libparts.a', 'part36.o', 'part32.o'] and names[-1] == 'config.h', names
    kinds = page.browser.js("""return [...document.querySelectorAll('#bb-detail ol li > svg path')]
        .map(e => e.getAttribute('class'))""")
    assert kinds[0] == kinds[1] == 'needed' and kinds[2] == 'worker', kinds
    assert len(kinds) == len(names) == int(re.search(r'start: (\d+) tasks', text).group(1)), names
    _chosen(page, 'libparts.a')
    assert page.texts('#bb-detail ol .name')[0] == 'part36.o'


def words_of_the_build_tool(page):
    """A recipe has tasks, not lines; ninja has inputs; make has prerequisites."""
    page.open('with_ninja')
    text, _ = _chosen(page, 'app')
    assert 'its input' in text and 'prerequisite' not in text, text
    page.open('linked')
    text, _ = _chosen(page, 'app')
    assert 'its prerequisite' in text and 'input' not in text, text
    page.open(os.path.normpath(OE))
    said = ''
    for i in range(0, page.state()['tasks'], 7):
        page.browser.js("document.querySelector('#bb').buildbeat.choose(arguments[0])", i)
        said += page.detail()
    assert 'the task of the recipe before it' in said, said[:1000]
    assert 'line before' not in said and 'prerequisite' not in said, said[:1000]


def no_false_precision(page):
    """OpenEmbedded's times are hundredths of a second."""
    page.open(os.path.normpath(OE))
    for i in range(0, page.state()['tasks'], 9):
        page.browser.js("document.querySelector('#bb').buildbeat.choose(arguments[0])", i)
        text = page.detail()
        for said in re.findall(r'(?:took|began|ready|about)\s+(< )?([\d.:]+) ?(\w+)', text):
            assert said[2] in ('s', 'm', 'h', 'ready', 'about', 'at'), (said, text)
            assert len(said[1].partition('.')[2]) <= 2, (said, text)


def closes(page):
    """By its button and by Escape; the focus goes to the lanes."""
    page.open('known')
    for close in (lambda: _press_button(page, '\u00d7'), lambda: page.press('Escape')):
        _chosen(page, 'app')
        page.browser.js("document.querySelector('#bb-detail .task').focus()")
        close()
        assert page.detail() == '' and page.state()['task'] == -1
        assert page.browser.js('return document.activeElement.id') == 'bb-lanes'


def sheet_on_a_phone(page):
    """It leaves the chosen bar in view, it scrolls, and it can be closed."""
    page.open('known')
    page.browser.cdp('Emulation.setDeviceMetricsOverride', width=390, height=844, deviceScaleFactor=1,
                     mobile=True)
    try:
        page.settle()
        for name in ('test-three', 'config.h', 'obj/part39.o'):
            _chosen(page, name)
            sheet, bar = page.browser.js("""return ['#bb-detail', '#bb-lanes path.chosen'].map(s =>
                document.querySelector(s).getBoundingClientRect().toJSON())""")
            top = page.box('#bb-top')
            assert bar['bottom'] <= sheet['top'] + 1 and bar['top'] >= top['bottom'] - 1, (name, bar, sheet)
            assert sheet['height'] <= 844 * .46 and sheet['width'] == 390, sheet
            wide = page.browser.js('return document.documentElement.scrollWidth')
            assert wide <= 390, wide
        _press_button(page, '\u00d7')
        assert page.detail() == ''
    finally:
        page.browser.cdp('Emulation.clearDeviceMetricsOverride')


def command_is_copied(page):
    """To the clipboard or, where that is forbidden, it is selected."""
    page.open('known')
    _, task = _chosen(page, 'app')
    for allowed in (True, False):
        if not allowed:
            page.browser.js("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
            _chosen(page, 'config.h')
            _, task = _chosen(page, 'app')
        _press_button(page, 'copy')
        page.browser.wait("""/copied|press/.test(document.querySelector('#bb-detail h3 button').textContent)""")
        said = page.texts('#bb-detail h3 button')[0]
        if not allowed:
            assert said.startswith('press') and page.browser.js(
                'return String(getSelection())').strip() == task['command'], said


def phases_within_a_task(page):
    """Nested below each other, named, and added up."""
    page.open('linked')
    text, _ = _chosen(page, 'lib/b.o')
    assert re.search(r'parse\s+12 s', text) and re.search(r'templates\s+8 s', text), text
    assert re.search(r'optimise\s+6 s', text), text
    y = {t: page.browser.js("""return [...document.querySelectorAll('#bb-detail .flame text')]
        .find(e => e.textContent === arguments[0]).getBoundingClientRect().y""", t)
         for t in ('parse', 'templates', 'optimise')}
    assert y['parse'] == y['optimise'] < y['templates'], y
    above = page.browser.js("""return [...document.querySelectorAll('#bb-detail .flame g > *')]
        .map(e => e.localName).join(' ')""")
    assert re.fullmatch('(path )+(text ?)+', above), above


def build_within_a_task(page):
    """The tasks of a link's own make: the longest by name, each in the picture."""
    page.open('linked')
    text, _ = _chosen(page, 'app')
    assert 'Inside it: 6 tasks' in text and 'ltrans0' in text, text
    bars = page.browser.js("""return [...document.querySelectorAll('#bb-detail .flame path.bar')]
        .reduce((n, p) => n + ((p.getAttribute('d') || '').match(/M/g) || []).length, 0)""")
    assert bars == 6, bars
    box = page.browser.js("""const e = document.querySelector('#bb-detail .flame');
        e.scrollIntoView({block: 'nearest'}); return e.getBoundingClientRect().toJSON()""")
    page.browser.click(box['x'] + box['width'] * 20 / 78, box['bottom'] - 25)
    page.settle()
    assert _name_of_chosen(page).startswith('ltrans'), page.detail()


def other_build(page):
    """--compare: how long the task took in the other build."""
    page.open('known', '--compare', page.places.recording('second_build'))
    text, _ = _chosen(page, 'libparts.a')
    said = re.search(r'other build\s+(.*?); here (.*?) \((.*)\)', text).groups()
    assert said == ('20.0 s', '\u221210.0 s', '\u221250 %'), said
    text, _ = _chosen(page, 'obj/part39.o')
    assert 'other build' not in text, text


def files_and_cache(page):
    """What results.log says of a task: nothing where it says nothing."""
    page.open(os.path.normpath(RESULTS))
    tasks = {t['name']: t for t in page.places.show(os.path.normpath(RESULTS))['tasks']}
    words = {'direct': 'hit (direct)', 'preprocessed': 'hit (preprocessed)'}
    for name in ('main.o', 'util.o', 'parse.c', 'parse.o'):
        text, _ = _chosen(page, name)
        _near(_amount(text, 'files', KIB), sum(f['bytes'] for f in tasks[name]['files']) / 1024, name)
        said = re.search(r'^cache\s+(.*)$', text, re.M)
        cache = tasks[name]['cache']
        assert (said and said.group(1)) == (cache and words.get(cache, cache)), (name, said, cache)
    page.open('known')
    text, _ = _chosen(page, 'config.h')
    assert not re.search(r'^(files|cache)\b', text, re.M), text


def inspected_process(page):
    """Processes with archives: a link to the directory, which is there."""
    page.open(os.path.normpath(INSPECTED))
    text, _ = _chosen(page, 'a.o')
    assert re.search(r'inspected\s+cc1plus 101, 4 snapshots', text), text
    text, _ = _chosen(page, 'app')
    assert re.search(r'inspected\s+ld 105$', text, re.M), text
    href = page.browser.js("return document.querySelector('#bb-detail dd a').href")
    path = urllib.parse.unquote(urllib.parse.urlparse(href).path)
    assert os.path.isfile(os.path.join(path, 'archive')), href
