#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast the page of a profile of 100,000 tasks opens, filters and groups in headless
Chromium, beside an empty page in the same run. Run from the build directory.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'browser'))
import opened                   # noqa: E402
import webdriver                # noqa: E402

TASKS = 100000
LOADS = 7
BAR_MS = 700
EMPTY = '<!DOCTYPE html><title>x</title><script>window.buildbeat = {ready: Promise.resolve()}</script>'

# In every document before anything of it: when the table was ready, and when the first frame
# after that was done, in ms since the navigation began.
WATCH = '''
const look = () => {
    if (!window.buildbeat)
        return setTimeout(look, 1);
    window.buildbeat.ready.then(() => {
        const ready = performance.now();
        requestAnimationFrame(() => requestAnimationFrame(() => {
            window.opened = [ready, performance.now()];
        }));
    });
};
look();
'''

# Until the table is painted: the first waits for no further key.
STEP = '''
const [what, done] = arguments, begin = performance.now();
const painted = () => requestAnimationFrame(() => requestAnimationFrame(() =>
    done(performance.now() - begin)));
if (what === 'sort') {
    document.querySelector('[data-column=p95]').click();
    painted();
} else if (what === 'group') {
    const s = document.querySelector('select[aria-label="Group by, level 1"]');
    s.value = '2';
    s.dispatchEvent(new Event('change'));
    painted();
} else {
    const s = document.querySelector('#search');
    s.value = 'queue';
    s.dispatchEvent(new Event('input'));
    const wait = () => window.buildbeat.state().q === 'queue' ? painted() : setTimeout(wait, 1);
    wait();
}
'''


def bench(places):
    paths = [places.write('empty.html', EMPTY), places.profile(places.generated(TASKS, 1000))]
    took = {path: [] for path in paths}
    with webdriver.Browser() as browser:
        for _ in range(LOADS):
            for path in paths:
                took[path].append(opened.load(browser, path, WATCH))
        steps = {what: browser.js_async(STEP, what) for what in ('sort', 'filter', 'group')}
    ready, painted = ([statistics.median(times[i] for times in took[path]) for path in paths]
                      for i in (0, 1))
    print('page of a profile of %d tasks in Chromium: usable after %.0f ms, painted %.0f ms '
          '(bar: %d), least %.0f ms; an empty page %.0f ms (x%.1f); %.1f MB' % (
              TASKS, ready[1], painted[1], BAR_MS, min(times[1] for times in took[paths[1]]),
              painted[0], painted[1] / painted[0], os.path.getsize(paths[1]) / 1e6))
    print('  ' + ', '.join('%s %.0f ms' % step for step in steps.items()))


if __name__ == '__main__':
    opened.main('page of a profile', bench)
