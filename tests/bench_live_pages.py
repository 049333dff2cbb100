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
import chart                    # noqa: E402
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


def load(browser, url):
    browser.new_window()
    browser.resize(1280, 800)
    browser.cdp('Page.addScriptToEvaluateOnNewDocument', source=WATCH)
    browser.open(url)
    return browser.wait('window.opened')


def pages(places, recording):
    took = {}

    def note(name, ms):
        took.setdefault(name, []).append(ms)

    with webdriver.Browser() as browser:
        for _ in range(LOADS):
            note('an empty page', load(browser, chart.url_of(places.write('empty.html', EMPTY))))
            for path in ('/', '/table'):
                server = bench_live_chart.Server(places, recording)
                note(path + ' of a new server', load(browser, server.entry.replace('/?', path + '?')))
                note(path + ' again', load(browser, server.url + path))
                server.close()
    for name, ms in sorted(took.items()):
        bar = '' if 'new' not in name else ', bar %d ms: %s' % (BAR_MS, 'reached' if min(ms) <= BAR_MS else 'missed')
        print('%-24s %6.0f ms, median %6.0f ms%s' % (name, min(ms), statistics.median(ms), bar))


def replies(places, recording):
    server = bench_live_chart.Server(places, recording)
    try:
        for path in ('/api/overview', '/api/table?sort=-wall', '/api/table?sort=name&from=50000',
                     '/api/table?sort=-cpu&q=9&count=1000', '/api/show'):
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
    why = webdriver.missing()
    if why:
        print('skipped: ' + why)
        sys.exit(0)
    chart.in_places(work)
