#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How smoothly the page of a build's output scrolls a million lines in Chromium: milliseconds from one frame
to the next, beside those of a page that does not scroll, elements and memory. Run from the build directory.
"""
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'browser'))
import chart                    # noqa: E402
import live_server              # noqa: E402
import webdriver                # noqa: E402

MAKEFILE = '''all: %s
t%%:
	@seq -f 'line %%g of t$*, about as long as what build tools print of a file' 1000; sleep 0.001
''' % ' '.join('t%d' % i for i in range(1000))
STEPS = [0, 20, 100, 400, 3000]         # pixels a frame
FRAMES = 240

MEASURE = '''
const [by, n, done] = arguments, box = document.querySelector('.output-box'), times = [];
let last = 0, waited = 0;
const step = now => {
    if (last)
        times.push(now - last);
    last = now;
    if (times.length === n) {
        times.sort((a, b) => a - b);
        done([times[n >> 1], times[Math.floor(n * .95)], waited, document.querySelectorAll('*').length,
              performance.memory.usedJSHeapSize / 2 ** 20]);
        return;
    }
    box.scrollTop += by;
    waited += document.querySelectorAll('.output-wait').length > 0;
    requestAnimationFrame(step);
};
requestAnimationFrame(step);'''


def record(places):
    places.write('Makefile', MAKEFILE)
    subprocess.run((os.path.join(places.builddir, 'buildbeat'), 'record', '--no-git', '--log', '-o', 'stats', '-n', 'a',
                    '--', 'make'), cwd=places.tmp, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    return places.path('stats')


def bench(places):
    with webdriver.Browser() as browser:
        page = chart.Page(browser, places)
        with live_server.served(page, record(places)) as server:
            for width, height, mobile in live_server.SIZES:
                browser.resize(width, height, mobile)
                begin = time.monotonic()
                server.open('/output')
                browser.wait("document.querySelector('.output-text')")
                print('a million lines at %d pixels: first lines after %.2f s' % (width, time.monotonic() - begin))
                for by in STEPS:
                    median, late, waited, nodes, heap = browser.js_async(MEASURE, by, FRAMES)
                    print('%5d pixels a frame: median %.1f ms, 95 %% %.1f ms; %d of %d frames had a line that was not '
                          'loaded; %d elements, %.1f MiB' % (by, median, late, waited, FRAMES, nodes, heap))


def main():
    why = webdriver.missing()
    if why:
        print('skipped: ' + why)
        return
    places = chart.Places('.')
    try:
        bench(places)
    finally:
        places.close()


main()
