#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The chart of 100,000 tasks in a page of a server that was just started, beside bootchart.svg and
an empty page in the same run; what a reply with its data costs; and the page while the last tenth of
these tasks runs at the speed of a real build. Run from the build directory.
"""
import contextlib
import glob
import http.client
import os
import shutil
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'browser'))
import opened                   # noqa: E402
import webdriver                # noqa: E402

TASKS = 100000
LOADS = 5
REPLIES = 40
GROWS_S = 20
SHARE = 0.9             # of the tasks that the page has at first
BAR_MS = 1000
REPLY_BAR_MS = 10
EMPTY = '''<!DOCTYPE html><title>x</title><body><svg id="bb"></svg>
<script>document.querySelector('#bb').buildbeat = {ready: Promise.resolve()}</script>'''

# In every document: when the chart was ready, and the first frame after that done.
WATCH = '''
const look = () => {
    const e = document.querySelector('#bb');
    if (!e || !e.buildbeat)
        return setTimeout(look, 1);
    e.buildbeat.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => {
        window.opened = performance.now();
    })));
};
look();
'''
FRAMES = '''
window.gaps = [];
window.long = [];
let last = performance.now();
const next = t => {
    gaps.push(t - last);
    last = t;
    requestAnimationFrame(next);
};
requestAnimationFrame(next);
new PerformanceObserver(l => l.getEntries().forEach(e => long.push(e.duration))).observe({type: 'longtask'});
'''


class Server:
    def __init__(self, places, path):
        self.process = subprocess.Popen(
            (os.path.join(places.builddir, 'buildbeat'), 'serve', path), stdout=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True, env=dict(os.environ, XDG_RUNTIME_DIR=places.tmp))
        self.entry = self.process.stdout.readline().strip()
        self.url, self.token = self.entry.split('/?token=')

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def cpu_s(self):
        """Of the server and its readers."""
        ticks = 0
        for pid in [str(self.process.pid)] + ' '.join(
                open(f, encoding='ascii').read()
                for f in glob.glob('/proc/%d/task/*/children' % self.process.pid)).split():
            with contextlib.suppress(OSError), open('/proc/%s/stat' % pid, encoding='ascii') as f:
                values = f.read().rsplit(')', 1)[1].split()
                ticks += int(values[11]) + int(values[12])
        return ticks / os.sysconf('SC_CLK_TCK')

    def replies(self, path):
        """The least time of a reply in ms, its size, and the CPU time of one in ms."""
        c = http.client.HTTPConnection(self.url.split('/')[2])
        took, before = [], self.cpu_s()
        for _ in range(REPLIES):
            begin = time.perf_counter()
            c.request('GET', path, headers={'Authorization': 'Bearer ' + self.token})
            body = c.getresponse().read()
            took.append((time.perf_counter() - begin) * 1e3)
        return min(took), body, (self.cpu_s() - before) * 1e3 / REPLIES


def first_picture(places, recording):
    svg, empty = places.draw(recording), places.write('empty.html', EMPTY)
    took = {'page': [], 'file': [], 'empty': []}
    with webdriver.Browser() as browser:
        for _ in range(LOADS):
            took['empty'].append(opened.load(browser, empty, WATCH))
            took['file'].append(opened.load(browser, svg, WATCH))
            server = Server(places, recording)
            took['page'].append(opened.load(browser, server.entry.replace('/?', '/chart?'), WATCH))
            browser.open('about:blank')
            server.close()
    page, file, empty = (statistics.median(took[what]) for what in ('page', 'file', 'empty'))
    print('chart of %d tasks from a server just started, in Chromium: %.0f ms (bar: %d), least %.0f ms; '
          'bootchart.svg %.0f ms (x%.2f); an empty page %.0f ms' % (
              TASKS, page, BAR_MS, min(took['page']), file, page / file, empty))


def replies(places, recording):
    server = Server(places, recording)
    begin = time.perf_counter()
    c = http.client.HTTPConnection(server.url.split('/')[2])
    c.request('GET', '/api/v1/chart', headers={'Authorization': 'Bearer ' + server.token})
    c.getresponse().read()
    cold, cold_cpu = time.perf_counter() - begin, server.cpu_s()
    least, body, cpu = server.replies('/api/v1/chart')
    have = body.split(b'"data":')[1].split(b',')[0].decode()
    same, _, same_cpu = server.replies('/api/v1/chart?have=' + have)
    server.close()
    print('/api/v1/chart of %d tasks, %.1f MB: first reply %.0f ms (CPU %.0f ms); again at least %.1f ms '
          '(CPU %.1f ms; bar: %d); unchanged %.2f ms (CPU %.2f ms)' % (
              TASKS, len(body) / 1e6, cold * 1e3, cold_cpu * 1e3, least, cpu, REPLY_BAR_MS, same, same_cpu))


class Growing:
    """A recording of another machine that grows as one that has ended did."""

    def __init__(self, whole, path):
        with open(os.path.join(whole, 'tasks.log'), 'rb') as f:
            self.lines = f.read().splitlines(True)
        self.n = int(len(self.lines) * SHARE)
        self.from_us = self.time_us(self.n - 1)
        self.begin_ns, self.ended = time.monotonic_ns(), False
        os.makedirs(path)
        for name in os.listdir(whole):
            if name.startswith('proc_'):
                shutil.copy(os.path.join(whole, name), path)
        starts = {'start_wall_ns': time.time_ns(), 'start_mono_ns': self.begin_ns}
        with open(os.path.join(whole, 'build'), encoding='utf-8') as f, \
                open(os.path.join(path, 'build'), 'w', encoding='utf-8') as out:
            for line in f:
                key = line.split(':')[0]
                if key in starts:
                    line = '%s: %d\n' % (key, starts[key] - self.from_us * 1000)
                if key == 'host':
                    line = 'host: elsewhere\n'
                if key not in ('end_us', 'status', 'tasks'):
                    out.write(line)
        self.out = open(os.path.join(path, 'tasks.log'), 'wb', buffering=0)
        self.out.write(b''.join(self.lines[:self.n]))
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def time_us(self, i):
        fields = self.lines[i].split(b'\t')
        return int(fields[1]) if len(fields) > 1 else 0

    def run(self):
        while not self.ended and self.n < len(self.lines):
            now_us, k = self.from_us + (time.monotonic_ns() - self.begin_ns) // 1000, self.n
            while k < len(self.lines) and self.time_us(k) <= now_us:
                k += 1
            self.out.write(b''.join(self.lines[self.n:k]))
            self.n = k
            time.sleep(.01)

    def close(self):
        self.ended = True
        self.thread.join()
        self.out.close()


def growth(places, recording):
    path = places.path('growing')
    growing, server = Growing(recording, path), Server(places, path)
    try:
        with webdriver.Browser() as browser:
            opened.load(browser, server.entry.replace('/?', '/chart?'), WATCH)
            browser.cdp('Performance.enable')
            browser.js(FRAMES)
            values = lambda: {m['name']: m['value'] for m in browser.cdp('Performance.getMetrics')['metrics']}
            before, cpu_s, begin, n = values(), server.cpu_s(), time.monotonic(), growing.n
            time.sleep(GROWS_S)
            took_s = time.monotonic() - begin
            busy = (values()['TaskDuration'] - before['TaskDuration']) / took_s
            cpu = (server.cpu_s() - cpu_s) / took_s
            gaps, long = sorted(browser.js('return gaps')), browser.js('return long')
            print('chart of %d tasks that grows by %.0f lines a second: frames %.1f ms, 99 %% of them %.0f ms, '
                  'the longest %.0f ms; %d tasks above 50 ms in %.0f s, the longest %.0f ms; page %.0f %% of a core, '
                  'server %.1f %%' % (TASKS, (growing.n - n) / took_s, statistics.median(gaps),
                                      gaps[int(len(gaps) * .99)], gaps[-1], len(long), took_s, max(long, default=0),
                                      100 * busy, 100 * cpu))
    finally:
        server.close()
        growing.close()


def bench(places):
    recording = places.generated(TASKS, 1000)
    first_picture(places, recording)
    replies(places, recording)
    growth(places, recording)


if __name__ == '__main__':
    opened.main('chart of a server', bench)
