#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast a chart opens and zooms in headless Chromium, beside an SVG with nothing
in it in the same run, and how large it is. Run from the build directory.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'browser'))
import chart                    # noqa: E402
import webdriver                # noqa: E402

SAMPLES = 36000
SIZES = [(1000, 1.2), (10000, 1.5), (100000, 2.8)]      # tasks, bar in MB
LOADS = 5
STEPS = 12
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="1400" height="900"><title>x</title></svg>'

# In every document before anything of it: when its data was ready, and when the first
# frame after that was done, in ms since the navigation began.
WATCH = '''
const look = () => {
    const root = document.documentElement, bb = root && root.buildbeat;
    if (!(bb ? bb.ready : document.readyState === 'complete' && !document.querySelector('script')))
        return setTimeout(look, 1);
    const ready = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => {
        window.opened = [ready, performance.now()];
    }));
};
look();
'''

# A step of the wheel over the middle of the lanes until it is painted.
ZOOM = '''
const [x, y, delta, done] = arguments, target = document.elementFromPoint(x, y);
const begin = performance.now();
target.dispatchEvent(new WheelEvent('wheel', {deltaY: delta, clientX: x, clientY: y,
                                              bubbles: true, cancelable: true}));
requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begin)));
'''


def load(browser, path):
    browser.new_window()
    browser.resize(1600, 1000)
    browser.cdp('Page.addScriptToEvaluateOnNewDocument', source=WATCH)
    browser.open(chart.url_of(path))
    return browser.wait('window.opened')


def zoom(browser):
    """ms of each step: in, then out again, then in elsewhere."""
    steps = [(700, -120)] * (STEPS // 2) + [(900, 120)] * (STEPS // 4) + [(500, -120)] * (STEPS // 4)
    return [browser.js_async(ZOOM, x, 800, delta) for x, delta in steps]


def measure(browser, paths):
    """Median load, frame and zoom of each file, loads in turns."""
    loads = {path: [] for path in paths}
    zooms = {path: [] for path in paths}
    for _ in range(LOADS):
        for path in paths:
            loads[path].append(load(browser, path))
            if len(loads[path]) == LOADS:
                zooms[path] = zoom(browser)
    return {path: (statistics.median(ready for ready, _ in loads[path]),
                   statistics.median(frame for _, frame in loads[path]),
                   statistics.median(zooms[path])) for path in paths}


def bench(places):
    print('charts in Chromium, %d samples' % SAMPLES)
    empty = places.write('empty.svg', EMPTY)
    charts = [places.draw(places.generated(tasks, SAMPLES)) for tasks, _ in SIZES]
    with webdriver.Browser() as browser:
        took = measure(browser, [empty] + charts)
    nothing = took[empty]
    print('  %-14s ready %4.0f ms, painted %4.0f ms, zoom step %3.0f ms' % (('nothing',) + nothing))
    for (tasks, bar_mb), path in zip(SIZES, charts):
        print('  %6d tasks:  ready %4.0f ms, painted %4.0f ms (x%.1f), zoom step %3.0f ms (x%.1f), '
              '%.2f MB (bar: %.1f)' % ((tasks,) + took[path][:2] + (
                  took[path][1] / nothing[1], took[path][2], took[path][2] / nothing[2],
                  os.path.getsize(path) / 1e6, bar_mb)))
    print('  bars at 100000 tasks: 700 ms, 110 ms; an OpenEmbedded chart of 1000 tasks: 3900 ms, 294 ms')


def main():
    why = webdriver.missing()
    if why:
        print('charts in Chromium: not measured: ' + why)
        return
    chart.in_places(bench)


if __name__ == '__main__':
    main()
