#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast a chart opens, zooms, answers the pointer and selects in headless Chromium, beside
an SVG with nothing in it in the same run, and how large it is. Run from the build directory.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'browser'))
import opened                   # noqa: E402
import webdriver                # noqa: E402

SAMPLES = 36000
SIZES = [(1000, 1.2), (10000, 1.5), (100000, 2.8)]      # tasks, bar in MB
LOADS = 5
STEPS = 12
EMPTY = '<svg xmlns="http://www.w3.org/2000/svg" width="1400" height="900"><title>x</title></svg>'

# In every document before anything of it: when its data was ready, and when the first
# frame after that was done, in ms since the navigation began.
WATCH = '''
const look = async () => {
    const bb = document.querySelector('#bb');
    if (!(bb ? bb.buildbeat : document.readyState === 'complete'))
        return setTimeout(look, 1);
    if (bb)
        await bb.buildbeat.ready;
    const ready = performance.now();
    requestAnimationFrame(() => requestAnimationFrame(() => {
        window.opened = [ready, performance.now()];
    }));
};
look();
'''

# What is done until it is painted, and how long the page's own code took of it.
UNTIL_PAINTED = '''
const done = arguments[arguments.length - 1], begin = performance.now();
let own = 0;
const timed = f => { const from = performance.now(); f(); own += performance.now() - from; };
const ask = window.requestAnimationFrame;
window.requestAnimationFrame = f => ask(t => timed(() => f(t)));
timed(() => { %s });
window.requestAnimationFrame = ask;
ask(() => ask(() => done([performance.now() - begin, own])));
'''
LANES = "const target = document.querySelector('#bb-lanes svg.plot') || document.documentElement;"

# A step of the wheel, a move of the pointer, a selected range, a chosen task.
ZOOM = UNTIL_PAINTED % (LANES + '''
    const [share, delta] = arguments, b = target.getBoundingClientRect();
    target.dispatchEvent(new WheelEvent('wheel', {deltaY: delta, clientX: b.left + share * b.width,
        clientY: b.top + 20, bubbles: true, cancelable: true}));''')
HOVER = UNTIL_PAINTED % (LANES + '''
    const [share, row] = arguments, b = target.getBoundingClientRect();
    target.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + share * b.width,
        clientY: b.top + row * b.height, bubbles: true, cancelable: true, pointerId: 1}));''')
SELECT = UNTIL_PAINTED % '''
    const [from, until] = arguments, bb = document.querySelector('#bb');
    if (bb) bb.buildbeat.select(from, until);'''
CHOOSE = UNTIL_PAINTED % '''
    const bb = document.querySelector('#bb');
    if (bb) bb.buildbeat.choose(arguments[0]);'''


def act(browser):
    """Medians of a step of the wheel, a move, a range and a task: until painted, own time."""
    wheel = [(.4, -120)] * (STEPS // 2) + [(.6, 120)] * (STEPS // 4) + [(.2, -120)] * (STEPS // 4)
    took = {
        'zoom step': [browser.js_async(ZOOM, share, delta) for share, delta in wheel],
        'hover': [browser.js_async(HOVER, .07 * i, i / STEPS) for i in range(STEPS)],
        'range': [browser.js_async(SELECT, 100 * i, 3000 * (i + 1)) for i in range(STEPS)],
        'choose': [browser.js_async(CHOOSE, 70 * i) for i in range(STEPS)],
    }
    return {name: [statistics.median(one[i] for one in list_) for i in (0, 1)]
            for name, list_ in took.items()}


def measure(browser, paths):
    """Median load, frame and acts of each file, loads in turns."""
    loads = {path: [] for path in paths}
    acts = {}
    for _ in range(LOADS):
        for path in paths:
            loads[path].append(opened.load(browser, path, WATCH))
            if len(loads[path]) == LOADS:
                acts[path] = act(browser)
    return {path: (statistics.median(ready for ready, _ in loads[path]),
                   statistics.median(frame for _, frame in loads[path]),
                   acts[path]) for path in paths}


def bench(places):
    print('charts in Chromium, %d samples' % SAMPLES)
    empty = places.write('empty.svg', EMPTY)
    charts = [places.draw(places.generated(tasks, SAMPLES)) for tasks, _ in SIZES]
    with webdriver.Browser() as browser:
        took = measure(browser, [empty] + charts)
    nothing = took[empty]
    print('  %-14s ready %4.0f ms, painted %4.0f ms' % (('nothing',) + nothing[:2]))
    for (tasks, bar_mb), path in zip(SIZES, charts):
        ready, painted, acts = took[path]
        print('  %6d tasks:  ready %4.0f ms, painted %4.0f ms (x%.1f), %.2f MB (bar: %.1f)' % (
            tasks, ready, painted, painted / nothing[1], os.path.getsize(path) / 1e6, bar_mb))
        for name, (whole, own) in acts.items():
            print('    %-10s %4.0f ms until painted (x%.1f of a page without chart), %5.1f ms of them '
                  'its own' % (name, whole, whole / nothing[2][name][0], own))
    print('  bars at 100000 tasks: ready 700 ms, zoom step 60 ms, hover 16 ms, range 100 ms'
          ', choose 16 ms')


if __name__ == '__main__':
    opened.main('charts', bench)
