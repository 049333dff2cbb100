#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long the page of a chart needs to search, colour, select a range and sort its table,
beside drawing it as it is. Of each operation the script, style and layout, without painting.
Run from the build directory.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'browser'))
import chart                    # noqa: E402
import opened                   # noqa: E402
import webdriver                # noqa: E402

SIZES = [1000, 10000, 100000]
SAMPLES = 36000
BAR_MS = 100

# [name, ms of each time] of every operation.
MEASURE = '''
const page = document.querySelector('#bb').buildbeat, end = page.state().until, results = [];
const measure = (name, act) => {
    const list = [];
    for (let i = 0; i < 9; i++) {
        const begin = performance.now();
        act(i);
        page.redraw();
        document.body.getBoundingClientRect();
        list.push(performance.now() - begin);
    }
    results.push([name, list]);
};
const search = document.querySelector('#bb-search'), colour = document.querySelector('#bb-colour');
const key = name => search.dispatchEvent(new KeyboardEvent('keydown', {key: name, bubbles: true}));
const fold = document.querySelector('#bb-table .fold');
fold.click();
measure('draw', () => {});
measure('range', i => page.select(end * .1, end * (.5 + i / 100)));
page.select(0, 0);
measure('search', i => { search.value = 'o' + i; key('Enter'); });
key('Escape');
for (const option of [...colour.options].map(o => o.value))
    measure('colour ' + option, () => {
        colour.value = option;
        colour.dispatchEvent(new Event('change'));
    });
fold.click();
for (const head of document.querySelectorAll('#bb-tasks [role=columnheader] button'))
    measure('sort ' + head.textContent, () => head.click());
return results;
'''


def bench(places):
    print('the page of a chart in Chromium, %d samples, ms: least, median' % SAMPLES)
    with webdriver.Browser() as browser:
        for tasks in SIZES:
            page = chart.Page(browser, places)
            browser.resize(1280, 800)
            page.open(places.generated(tasks, SAMPLES))
            browser.js('scrollTo(0, 1e6)')
            browser.wait('document.querySelector("#bb-tasks").getAttribute("aria-rowcount")')
            took = browser.js(MEASURE)
            base = min(took[0][1])
            print('  %d tasks:' % tasks)
            for name, times in took:
                print('    %-14s %5.1f %5.1f  x%.1f%s' % (
                    name, min(times), statistics.median(times), min(times) / base,
                    '  misses %d ms' % BAR_MS if min(times) > BAR_MS else ''))


if __name__ == '__main__':
    opened.main('the page of a chart', bench)
