# SPDX-License-Identifier: MIT
"""What scenarios share: recordings, their charts, and a chart open in the browser."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse

import recordings

DRAW_S = 1800


class Places:
    """Recordings and charts, each made once, in a directory removed at the end."""

    def __init__(self, builddir):
        self.builddir = os.path.abspath(builddir)
        self.tmp = tempfile.mkdtemp(prefix='buildbeat-browser-')
        self.made = {}

    def close(self):
        shutil.rmtree(self.tmp, ignore_errors=True)

    def _run(self, *command):
        done = subprocess.run(command, capture_output=True, timeout=DRAW_S, cwd=self.tmp,
                              stdin=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, '%s: %s' % (command[:2], done.stderr.decode(errors='replace'))
        return done.stdout

    def path(self, name):
        return os.path.join(self.tmp, name)

    def write(self, name, text):
        path = self.path(name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        return path

    def recording(self, name):
        """The directory of a build of recordings.py."""
        if name not in self.made:
            self.made[name] = self.path('rec-' + name)
            getattr(recordings, name)().write(self.made[name])
        return self.made[name]

    def generated(self, tasks, samples):
        name = 'generated-%d-%d' % (tasks, samples)
        if name not in self.made:
            self._run(os.path.join(self.builddir, 'tests', 'gen_recording'), self.path(name),
                      str(tasks), str(samples), '1')
            self.made[name] = self.path(name)
        return self.made[name]

    def logged(self, makefile):
        """A recording of `make -k -O`, which may fail, with its chart and its output."""
        key = 'logged ' + makefile
        if key not in self.made:
            path, program = self.path('logged'), os.path.join(self.builddir, 'buildbeat')
            self.write('Makefile', makefile)
            subprocess.run((program, 'record', '--no-git', '-o', self.tmp, '-n', 'logged', '--log', '--',
                            'make', '-k', '-O', '-j2'), capture_output=True, timeout=DRAW_S, cwd=self.tmp,
                           stdin=subprocess.DEVNULL, check=False)
            self._run(program, 'chart', '--only', 'bootchart', path)
            self.made[key] = path
        return self.made[key]

    def draw(self, recording, *options):
        """The bootchart of a recording's directory."""
        key = (recording,) + options
        if key not in self.made:
            path = self.path('chart-%d.svg' % len(self.made))
            self._run(os.path.join(self.builddir, 'buildbeat'), 'chart', '-o', path, *options,
                      recording)
            self.made[key] = path
        return self.made[key]

    def report(self, *archive):
        """The report of an archive that gen_archive makes of these options."""
        key = ('report',) + archive
        if key not in self.made:
            repo, out = (self.path('%s-%d' % (word, len(self.made))) for word in ('repo', 'report'))
            self._run(os.path.join(self.builddir, 'tests', 'gen_archive'), *archive, repo)
            self._run(os.path.join(self.builddir, 'buildbeat'), 'report', '--repo', repo, '-o', out)
            self.made[key] = os.path.join(out, 'index.html')
        return self.made[key]

    def diff(self, base, new):
        """The page of `buildbeat diff` for two builds of recordings.py."""
        key = ('diff', base, new)
        if key not in self.made:
            path = self.path('diff-%d.html' % len(self.made))
            self._run(os.path.join(self.builddir, 'buildbeat'), 'diff', '--html', path,
                      self.recording(base), self.recording(new))
            self.made[key] = path
        return self.made[key]

    def profile(self, *arguments):
        """The page of `buildbeat profile` with these options and recordings."""
        key = ('profile',) + arguments
        if key not in self.made:
            path = self.path('profile-%d.html' % len(self.made))
            self._run(os.path.join(self.builddir, 'buildbeat'), 'profile', '--html', path, *arguments)
            self.made[key] = path
        return self.made[key]

    def profile_rows(self, *arguments):
        """All rows as `buildbeat profile --json` prints them."""
        said = json.loads(self._run(os.path.join(self.builddir, 'buildbeat'), 'profile', '--json',
                                    *arguments))
        return [row for process in said['processes'] for row in process['list']]

    def inspection(self, *numbers):
        """The archive that gen_inspection makes of these numbers; its page, its live heap as
        [(functions from the outermost one, bytes)] of each snapshot, and its JSON."""
        key = ('inspection',) + numbers
        if key not in self.made:
            archive, program = self.path('inspection-%d' % len(self.made)), os.path.join(self.builddir, 'buildbeat')
            self._run(os.path.join(self.builddir, 'tests', 'gen_inspection'), archive, *numbers)
            show = (program, 'inspect', 'show', archive, '--format')
            self._run(*show, 'html', '-o', archive + '.html')
            said = json.loads(self._run(*show, 'json'))
            heaps = []
            for i in range(0 if numbers[:1] == ('0',) else int(numbers[1]) if numbers else 6):
                lines = self._run(*show, 'collapsed', '--snapshot', str(i + 1)).decode().splitlines()
                heaps.append([(l.rsplit(' ', 1)[0].split(';'), int(l.rsplit(' ', 1)[1])) for l in lines])
            self.made[key] = archive + '.html', heaps, said
        return self.made[key]

    def show(self, recording, *options):
        """What `buildbeat show` says of it, with every task."""
        key = ' '.join(('show', recording) + options)
        if key not in self.made:
            self.made[key] = json.loads(self._run(os.path.join(self.builddir, 'buildbeat'), 'show',
                                                  '--json', '--tasks', *options, recording))
        return self.made[key]

    def task(self, recording, name):
        found = [t for t in self.show(recording)['tasks'] if t['name'] == name]
        assert len(found) == 1, '%d tasks are named %s' % (len(found), name)
        return found[0]


def in_places(work):
    """work(places) with places that are removed afterwards."""
    places = Places(os.getcwd())
    try:
        work(places)
    finally:
        places.close()


def url_of(path, fragment=''):
    return 'file://' + urllib.parse.quote(path) + (fragment and '#' + fragment)


# The windows that a chart has to look well in: a laptop's, a large screen's, a phone's.
SIZES = [(1280, 800, False), (2560, 1440, False), (390, 844, True)]


class Page:
    """A fresh window of the browser."""

    def __init__(self, browser, places):
        self.browser = browser
        self.places = places
        self.opened = set()
        self.servers = []       # beginnings of URLs
        browser.console_errors()
        browser.requested()
        browser.resize(1400, 1000)

    def allow(self, path):
        """A link may lead to it."""
        self.opened.add(url_of(path))

    def open_file(self, path, fragment=''):
        self.allow(path)
        self.browser.open(url_of(path, fragment))

    def open(self, recording, *options, fragment=''):
        """The chart of a recording, a name in recordings.py or a directory."""
        if '/' not in recording:
            recording = self.places.recording(recording)
        self.recording = recording
        self.svg = self.places.draw(recording, *options)
        self.open_file(self.svg, fragment)
        self.ready()

    def open_inline(self, recording, before='', after=''):
        """The chart within a page of other things."""
        with open(self.places.draw(self.places.recording(recording)), encoding='utf-8') as f:
            text = re.sub(r'^<\?xml.*?\?>', '', f.read())
        self.open_file(self.places.write('inline.html', '<!DOCTYPE html><meta charset="utf-8">'
                                         '<title>report</title><body>%s%s%s</body>' % (
                                             before, text, after)))
        self.ready()

    def ready(self):
        """Until the script has read its data and drawn."""
        ready = self.browser.js_async('''const done = arguments[0];
            document.querySelector('#bb').buildbeat.ready.then(done)''')
        assert ready is True, 'the picture stays static'
        self.settle()

    def settle(self):
        """Until what was asked for is drawn."""
        self.browser.frames(2)

    def check_quiet(self):
        """Nothing but the documents was asked for, and nothing went wrong."""
        wrong = self.browser.console_errors()
        assert not wrong, wrong
        strange = [url for url in self.browser.requested()
                   if url.split('#')[0] not in self.opened and url != 'about:blank' and
                   not url.startswith(('blob:', *self.servers))]
        assert not strange, 'asked for %s' % strange[:3]

    # Where things are, in pixels of the window

    def box(self, selector):
        """Of the first element that matches: x, y, width, height ... or None."""
        return self.browser.js('''const e = document.querySelector(arguments[0]);
            return e && e.getBoundingClientRect().toJSON()''', selector)

    def plot(self):
        """The plot of the lanes."""
        return self.box('#bb-lanes svg.plot')

    def y(self, row):
        """The middle of a row."""
        return self.browser.js('''const b = document.querySelector('#bb-lanes .label[data-row="' +
            arguments[0] + '"]').getBoundingClientRect(); return (b.top + b.bottom) / 2''', row)

    def x(self, moment_s):
        plot, (start, end) = self.plot(), self.view()
        return plot['x'] + (moment_s - start) / (end - start) * plot['width']

    def x_of_plot(self, share):
        plot = self.plot()
        return plot['x'] + share * plot['width']

    def inside(self):
        """A place of the lanes that is in the window."""
        plot, height = self.plot(), self.browser.js('return innerHeight')
        return self.x_of_plot(0.5), (max(plot['top'], 0) + min(plot['bottom'], height)) / 2

    def middle(self, task):
        """Of the part of a task that is in view; its slot is its row."""
        start, end = self.view()
        if task['end_us'] is not None:
            end = min(task['end_us'] / 1e6, end)
        moment_s = (max(task['start_us'] / 1e6, start) + end) / 2
        return self.x(moment_s), self.y(task['slot'])

    # What it shows

    def state(self):
        return self.browser.js("return document.querySelector('#bb').buildbeat.state()")

    def view(self):
        """From, until, in seconds."""
        state = self.state()
        return state['from'], state['until']

    def bars(self):
        return self.browser.js('''return [...document.querySelectorAll('#bb-lanes path.bar')]
            .reduce((n, p) => n + ((p.getAttribute('d') || '').match(/M/g) || []).length, 0)''')

    def texts(self, selector):
        """Of those that are seen."""
        return self.browser.js('''return [...document.querySelectorAll(arguments[0])]
            .filter(e => e.checkVisibility({visibilityProperty: true})).map(e => e.textContent)''',
                               selector)

    def names(self):
        """In the bars."""
        return self.texts('#bb-lanes text.name')

    def status(self):
        """The line about what is below the pointer."""
        return ''.join(self.texts('#bb-status'))

    def detail(self):
        """The text of the panel of the chosen task, '' if there is none."""
        return self.browser.js('''const e = document.querySelector('#bb-detail');
            return e && e.checkVisibility() ? e.innerText : ""''')

    def scroll_to(self, selector):
        """Into the middle of the window."""
        self.browser.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})",
                        selector)
        self.settle()

    def focus(self, selector):
        self.browser.js('document.querySelector(arguments[0]).focus()', selector)

    # What a hand does

    def wheel(self, x, y, steps):
        """Steps of the wheel, towards the reader (out) or, below 0, away (in)."""
        for _ in range(abs(steps)):
            self.browser.wheel(x, y, 120 if steps > 0 else -120)
        self.settle()

    def zoom_to(self, start_s, end_s):
        self.browser.js("document.querySelector('#bb').buildbeat.zoom(arguments[0], arguments[1])",
                        start_s, end_s)
        self.settle()

    def hover(self, task):
        self.browser.move(*self.middle(task))
        self.settle()

    def click(self, task):
        self.browser.click(*self.middle(task))
        self.settle()

    def choose(self, name):
        """Choose the task with that name; its values, as `buildbeat show` prints them."""
        task = self.places.task(self.recording, name)
        ran = sorted((t for t in self.places.show(self.recording)['tasks']
                      if t['start_us'] is not None), key=lambda t: t['start_us'])
        self.browser.js("document.querySelector('#bb').buildbeat.choose(arguments[0])",
                        [t['name'] for t in ran].index(name))
        self.settle()
        return task

    def press(self, *keys, hold=()):
        self.browser.press(*keys, hold=hold)
        self.settle()

    def type(self, text):
        """Into what has the focus."""
        self.browser.press(*text)
