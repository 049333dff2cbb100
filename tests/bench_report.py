#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a report costs: of a year of 10,000 tasks the time and the size, and how fast it opens
in headless Chromium, beside a page with nothing in it in the same run. Also the size of a
report of 100,000 tasks. Run from the build directory.
"""
import os
import resource
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'browser'))
import chart                    # noqa: E402
import opened                   # noqa: E402
import webdriver                # noqa: E402

TASKS, NIGHTS = 10000, 365
ARCHIVE = ('--tasks', str(TASKS), '--builds', str(NIGHTS), '--step', '0-19/240/0.3',
           '--step', '20-29/360/0.25', '--spikes', '0.01', '--host', '0.02')
MANY = ('--tasks', '100000', '--builds', '60', '--step', '3-20/30/0.2', '--noise', '0.03',
        '--step', '1000-1400/50/-0.4', '--spikes', '0.01', '--host', '0.02')
RUNS = 3
LOADS = 5
EMPTY = '<!DOCTYPE html><html lang="en"><title>x</title><body>x</body></html>'

# When the table was there, and when the first frame after that was done, in ms since the
# navigation began.
WATCH = '''
const look = () => {
    const b = window.buildbeat, end = () => {
        const ready = performance.now();
        requestAnimationFrame(() => requestAnimationFrame(() => {
            window.opened = [ready, performance.now()];
        }));
    };
    if (document.readyState !== 'complete')
        return setTimeout(look, 1);
    b ? b.ready.then(end) : end();
};
look();
'''


def spend(command):
    """Wall and CPU seconds."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return (wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def opening(places, page):
    empty = places.write('empty.html', EMPTY)
    took = {empty: [], page: []}
    with webdriver.Browser() as browser:
        for _ in range(LOADS):
            for path in took:
                took[path].append(opened.load(browser, path, WATCH))
    ready, painted = (statistics.median(t[i] for t in took[page]) for i in (0, 1))
    nothing = statistics.median(t[1] for t in took[empty])
    print('  opens: ready %.0f ms, painted %.0f ms (bar: 1000), x%.1f of an empty page'
          % (ready, painted, painted / nothing))


def many_tasks(places):
    page = places.report(*MANY)
    print('report of 100000 tasks, 60 builds: %.2f MB (bar: 6)' % (os.path.getsize(page) / 1e6))
    if not webdriver.missing():
        opening(places, page)


def bench(places):
    print('report of %d tasks, %d nights' % (TASKS, NIGHTS))
    page = places.report(*ARCHIVE)
    repo = places.path('repo-0')
    runs = [spend(['./buildbeat', 'report', '--repo', repo, '-o', places.path('again')])
            for _ in range(RUNS)]
    checks = [spend(['sh', '-c', './buildbeat check --repo %s || test $? = 1' % repo])
              for _ in range(RUNS)]
    wall, cpu = (min(r[i] for r in runs) for i in (0, 1))
    print('  written: %.2f s CPU, x%.1f of check; %.2f s wall (bar: 3); %.2f MB (bar: 5)'
          % (cpu, cpu / min(c[1] for c in checks), wall, os.path.getsize(page) / 1e6))
    why = webdriver.missing()
    if why:
        print('  opens: not measured: ' + why)
    else:
        opening(places, page)
    many_tasks(places)


if __name__ == '__main__':
    chart.in_places(bench)
