#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Live pages of a build of 100,000 tasks: when the first one can be used, from a server that was just
started and again, beside an empty page in the same run; and what replies with parts of the table
cost. Run from the build directory.
"""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'browser'))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bench_live_chart         # noqa: E402
import opened                   # noqa: E402
import webdriver                # noqa: E402

TASKS = 100000
LOADS = 5
BAR_MS = 1000
REPLY_BAR_MS = 10
EMPTY = '<!DOCTYPE html><title>x</title><body><script>window.buildbeat = {ready: Promise.resolve()}</script>'

# When the script of the page had made it, and the frame after that was painted.
WATCH = '''
const look = () => window.buildbeat ? window.buildbeat.ready.then(() =>
    requestAnimationFrame(() => requestAnimationFrame(() => { window.opened = performance.now(); }))) : setTimeout(look, 1);
look();
'''


def pages(places, recording):
    took = {}

    def note(name, ms):
        took.setdefault(name, []).append(ms)

    with webdriver.Browser() as browser:
        for _ in range(LOADS):
            note('an empty page', opened.load(browser, places.write('empty.html', EMPTY), WATCH, 1280, 800))
            for path in ('/', '/table'):
                server = bench_live_chart.Server(places, recording)
                note(path + ' of a new server', opened.load(browser, server.entry.replace('/?', path + '?'), WATCH, 1280, 800))
                note(path + ' again', opened.load(browser, server.url + path, WATCH, 1280, 800))
                server.close()
    for name, ms in sorted(took.items()):
        bar = '' if 'new' not in name else ', bar %d ms: %s' % (BAR_MS, 'reached' if min(ms) <= BAR_MS else 'missed')
        print('%-24s %6.0f ms, median %6.0f ms%s' % (name, min(ms), statistics.median(ms), bar))


def replies(places, recording):
    server = bench_live_chart.Server(places, recording)
    try:
        for path in ('/api/v1/overview', '/api/v1/table?sort=-wall', '/api/v1/table?sort=name&from=50000',
                     '/api/v1/table?sort=-cpu&filter=9&count=1000', '/api/v1/show'):
            first, body, _ = server.replies(path)
            print('%-40s %6.2f ms, %7d bytes, bar %d ms: %s' % (
                path, first, len(body), REPLY_BAR_MS, 'reached' if first <= REPLY_BAR_MS else 'missed'))
    finally:
        server.close()


def work(places):
    recording = places.generated(TASKS, 600)
    print('live pages of %d tasks' % TASKS)
    replies(places, recording)
    pages(places, recording)


if __name__ == '__main__':
    opened.main('live pages', work)
