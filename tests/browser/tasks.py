# SPDX-License-Identifier: MIT
"""The line about the task below the pointer, the crosshair, and the path."""
import re


def _near(said, real, what, precision=0.02):
    assert abs(said - real) <= precision * abs(real), (what, said, real)


def _hovered(page, name):
    task = page.places.task(page.recording, name)
    page.hover(task)
    return page.status(), task


def hover_is_one_line(page):
    """Below everything: it hides no lane. It goes with the pointer."""
    page.open('known')
    for name in ('config.h', 'obj/part07.o', 'libparts.a', 'app', 'test-one'):
        text, task = _hovered(page, name)
        assert text.startswith(name.split('/')[-1] + ' '), text
        _near(float(re.search(r' ([\d.]+) s', text).group(1)),
              (task['end_us'] - task['start_us']) / 1e6, text)
        assert task['kind'] in text and '\n' not in text, text
        box = page.box('#bb-status')
        assert box['bottom'] <= 1000 and box['height'] < 32 and box['top'] > 900, box
    assert 'failed' in text, text
    page.browser.move(page.x_of_plot(0.5), 5)
    page.settle()
    assert page.status() == ''
    assert page.state()['task'] == -1 and page.detail() == ''


def hover_of_many(page):
    """Tasks of one pixel are counted, and the longest is named."""
    page.open('short')
    page.browser.move(page.x(300), page.y(1))
    page.settle()
    text = page.status()
    assert re.match(r't\d{5}\.o ', text), text
    assert int(re.search(r'and ([\d,]+) shorter', text).group(1).replace(',', '')) > 0, text


def chosen_task_stays(page):
    """While the pointer is at another one."""
    page.open('known')
    task = page.places.task(page.recording, 'app')
    page.click(task)
    assert page.detail().startswith('app'), page.detail()
    text, _ = _hovered(page, 'config.h')
    assert text.startswith('config.h') and page.detail().startswith('app'), text
    page.press('Escape')
    assert page.detail() == ''


def crosshair(page):
    """At 25.5 s: a moment, and what the panels had then."""
    page.open('known')
    page.browser.move(page.x(25.5), page.y(0))
    page.settle()
    moment = page.texts('#bb-axis .moment')
    assert len(moment) == 1, moment
    _near(float(re.match(r'([\d.]+) s', moment[0]).group(1)), 25.5, 'moment', 0.01)
    line = page.box('#bb-cross')
    assert abs(line['x'] - page.x(25.5)) < 1.5, (line, page.x(25.5))
    said = ' '.join(page.texts('.panel .now'))
    assert re.search(r'running tasks 4\b', said), said
    # The disk's bytes of the sample at 26 s.
    assert 'read 500 KiB/s' in said and re.search(r'written (1\.0 MiB|102\d KiB)/s', said), said


def path_comes_and_goes(page):
    page.open('known')
    assert page.box('#bb-path svg')['height'] > 10
    bars = """return [...document.querySelectorAll('#bb-path path.bar')]
        .reduce((n, p) => n + ((p.getAttribute('d') || '').match(/M/g) || []).length, 0)"""
    assert page.browser.js(bars) >= 4
    button = page.browser.js("""return [...document.querySelectorAll('#bb-tools button')]
        .find(b => b.textContent === 'path').getBoundingClientRect().toJSON()""")
    page.browser.click(button['x'] + button['width'] / 2, button['y'] + button['height'] / 2)
    page.settle()
    assert page.box('#bb-path svg')['height'] == 0 and not page.state()['path']
    page.focus('#bb-lanes')
    page.press('c')
    assert page.box('#bb-path svg')['height'] > 10 and page.state()['path']


def chain_on_hover(page):
    """app waited for libparts.a, that for a part, that for its worker: a dashed line through them."""
    page.open('known')
    _hovered(page, 'app')
    near = """const [x, y] = arguments, p = document.querySelector('#bb-lanes path.link');
        const at = new DOMPoint(x, y).matrixTransform(p.getScreenCTM().inverse()), n = p.getTotalLength();
        let best = 1e9;
        for (let k = 0; k <= 2000; k++) {
            const q = p.getPointAtLength(n * k / 2000);
            best = Math.min(best, Math.hypot(q.x - at.x, q.y - at.y));
        }
        return best"""
    for name, there in (('libparts.a', True), ('obj/part36.o', True), ('obj/part05.o', False)):
        task = page.places.task(page.recording, name)
        distance = page.browser.js(near, page.x(task['end_us'] / 1e6), page.y(task['slot']))
        assert (distance < 20) == there, (name, distance)
