# SPDX-License-Identifier: MIT
"""What search, slider and buttons say and do; counts are those of tasks.log."""
import re


def _tasks(page):
    """Names in the recording's own file."""
    with open(page.recording + '/tasks.log', encoding='utf-8') as f:
        return [line.split('\t')[6] for line in f if line.startswith('start\t')]


def _search(page, text):
    page.browser.js('''const e = document.querySelector('#bb-search'); e.focus(); e.select()''')
    page.browser.press('Delete')
    page.type(text)
    page.browser.wait('document.querySelector("#bb").buildbeat.state().q === arguments[0]', text)
    page.settle()


def _said(page):
    return ''.join(page.texts('#bb-count'))


def _found(page):
    said = re.match(r'([\d,]+) of ([\d,]+) tasks', _said(page))
    assert said, _said(page)
    return tuple(int(n.replace(',', '')) for n in said.groups())


def substring(page):
    page.open('known')
    names = _tasks(page)
    for text in ('part', 'part1', 'libparts.a', 'no such task'):
        _search(page, text)
        assert _found(page) == (sum(text in n for n in names), len(names)), (text, _said(page))


def pattern(page):
    page.open('known')
    names = _tasks(page)
    for text in (r'^obj/part\d[02468]\.o$', r'app|lib', r'(one|two)$', r'\[', r'.'):
        _search(page, '/' + text + '/')
        assert _found(page) == (sum(bool(re.search(text, n)) for n in names), len(names)), \
            (text, _said(page))


def kind(page):
    page.open('known')
    _search(page, 'compile')
    shown = [t for t in page.places.show(page.recording)['tasks'] if t['kind'] == 'compile']
    assert _found(page)[0] == len(shown) == 40, _said(page)


def wrong_pattern(page):
    page.open('known')
    _search(page, '/(/')
    assert 'not a pattern' in _said(page), _said(page)
    assert page.browser.js('return document.querySelector("#bb-search")'
                           '.getAttribute("aria-invalid")') == 'true'
    _search(page, 'app')
    assert _found(page)[0] == 1 and page.browser.js(
        'return document.querySelector("#bb-search").getAttribute("aria-invalid")') == 'false'


def others_are_faint(page):
    page.open('known')
    dim = '''return [...document.querySelectorAll('#bb-lanes path.bar.dim')]
        .reduce((n, p) => n + (p.getAttribute('d').match(/M/g) || []).length, 0)'''
    assert page.browser.js(dim) == 0
    bars = page.bars()
    _search(page, 'part1')
    assert page.bars() == bars and page.browser.js(dim) == bars - 10
    opacity = page.browser.js('''const o = s => { const c = getComputedStyle(
        document.querySelector(s)); return c.opacity * c.fillOpacity; };
        return [o('#bb-lanes path.bar.dim'), o('#bb-lanes path.bar:not(.dim)')]''')
    assert opacity[0] < opacity[1], opacity


def from_match_to_match(page):
    """Each match is scrolled into view, described, and announced to screen readers."""
    page.open('short')
    _search(page, 'needle')
    assert _found(page) == (1, 12000)
    page.browser.js('document.querySelector("#bb-search").blur()')
    page.press('n')
    assert 'd70/needle.o' in page.detail(), page.detail()
    assert 'd70/needle.o' in page.texts('#bb-live')[0]
    task, view = page.places.task(page.recording, 'd70/needle.o'), page.view()
    assert view[0] <= task['start_us'] / 1e6 and task['end_us'] / 1e6 <= view[1], view
    assert page.x(task['end_us'] / 1e6) - page.x(task['start_us'] / 1e6) > 3


def _slide(page, steps):
    page.focus('#bb-min')
    page.press(*['ArrowRight' if steps > 0 else 'ArrowLeft'] * abs(steps))


def _busy_pixels(page):
    """How much of the lanes' middle line is covered, in 0.5 pixels."""
    return page.browser.js('''
        const paths = [...document.querySelectorAll('#bb-lanes path.bar, #bb-lanes path.busy')];
        const rowY = [...document.querySelectorAll('#bb-lanes .label')].map(e => {
            const b = e.getBoundingClientRect(); return (b.top + b.bottom) / 2; });
        return rowY.map(y => {
            const {e, a} = paths[0].getScreenCTM(); let n = 0;
            for (let x = 0; x < 400; x += .5) {
                const at = new DOMPoint(e + a * x, y)
                    .matrixTransform(paths[0].getScreenCTM().inverse());
                n += paths.some(p => p.isPointInFill(at));
            }
            return n; })''')


def slider_merges_and_drops_nothing(page):
    page.open('known')
    walls = [((t['end_us'] or 120e6) - t['start_us']) / 1e6
             for t in page.places.show(page.recording)['tasks']]
    bars, busy = page.bars(), _busy_pixels(page)
    _slide(page, 78)
    least = page.state()['min']
    hidden = sum(wall < least for wall in walls)
    assert 0 < hidden < len(walls), (least, hidden)
    assert '%d shorter in grey' % hidden in _said(page), (_said(page), least, hidden)
    assert page.state()['hidden'] == hidden and page.bars() == bars - hidden
    assert page.texts('#bb-tools output') and all(
        abs(a - b) <= 4 for a, b in zip(_busy_pixels(page), busy))
    _slide(page, -78)
    assert page.bars() == bars and page.state()['hidden'] == 0
