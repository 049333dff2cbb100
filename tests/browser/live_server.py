# SPDX-License-Identifier: MIT
"""What scenarios of the live pages share: a server, builds that run, and its pages in the browser."""
import contextlib
import json
import os
import signal
import subprocess
import time

import chart

START_S = 600
SIZES = [(1280, 800, False), (390, 844, True)]


class Server:
    """buildbeat serve of a path; url has no '/' at its end."""

    def __init__(self, page, path, *options):
        program = os.path.join(page.places.builddir, 'buildbeat')
        environ = dict(os.environ, XDG_RUNTIME_DIR=page.places.tmp, HOME=page.places.tmp)
        self.page = page
        self.process = subprocess.Popen((program, 'serve', *options, path), stdout=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, cwd=page.places.tmp, env=environ,
                                        text=True)
        self.entry = self.process.stdout.readline().strip()
        assert self.entry.startswith('http://127.0.0.1:'), self.entry
        self.url = self.entry.split('/?')[0]
        page.servers.append(self.url)
        page.browser.open(self.entry)
        self.ready()

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(START_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def ready(self):
        """Until the page is made; it must be."""
        wrong = self.page.browser.js_async('''const done = arguments[0];
            if (!window.buildbeat) done('no script');
            else window.buildbeat.ready.then(ok => done(ok ? '' :
                (document.querySelector('.failed') || document.body).textContent), e => done(String(e)))''')
        assert not wrong, '%s: %s' % (self.page.browser.url(), wrong)
        self.page.settle()

    def open(self, path, **parameters):
        query = '&'.join('%s=%s' % (key, chart.urllib.parse.quote(str(value), safe=''))
                         for key, value in parameters.items())
        self.page.browser.open(self.url + path + (query and '?' + query))
        self.ready()

    def get(self, path):
        """The JSON of a reply, as the page gets it."""
        return json.loads(self.page.browser.js_async('''const done = arguments[1];
            fetch(arguments[0]).then(r => r.text()).then(done)''', path))


@contextlib.contextmanager
def served(page, path, *options):
    server = Server(page, path, *options)
    try:
        yield server
    finally:
        # No stream shall complain that the server has gone.
        page.browser.open('about:blank')
        server.close()


@contextlib.contextmanager
def running_build(page, name, makefile, *arguments):
    """`buildbeat record` of a make; each target waits for the file go-TARGET that go() makes."""
    places, directory = page.places, page.places.path(name)
    os.makedirs(directory)
    with open(os.path.join(directory, 'Makefile'), 'w', encoding='utf-8') as f:
        f.write(makefile)
    program = os.path.join(places.builddir, 'buildbeat')
    # A make that runs the tests may be silent: then no command in the output shows its task.
    environ = {name: value for name, value in os.environ.items()
               if name not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
    build = subprocess.Popen((program, 'record', '--no-git', '--log', '-o', directory, '-n', 'rec', '--',
                              'make', *arguments), cwd=directory, env=environ, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    until, log = time.monotonic() + START_S, os.path.join(directory, 'rec', 'tasks.log')
    # a directory is a recording from its first line on
    while not os.path.exists(log) or not os.path.getsize(log):
        assert time.monotonic() < until and build.poll() is None, 'the build did not start'
        time.sleep(0.01)

    def go(target):
        with open(os.path.join(directory, 'go-' + target), 'w', encoding='utf-8'):
            pass

    try:
        yield os.path.join(directory, 'rec'), go, build
    finally:
        if build.poll() is None:
            os.killpg(build.pid, signal.SIGTERM)
        build.wait()


def kill_build(path, build):
    """The recorder and the outermost make, so that neither writes an end."""
    with open(os.path.join(path, 'tasks.log'), encoding='utf-8') as f:
        make = next(int(line.split('\t')[3]) for line in f if line.startswith('open\t'))
    for pid in (build.pid, make):
        os.kill(pid, signal.SIGKILL)
    build.wait()


def kill_unnoticed(page, path, build):
    """Until the stream has ended; but replies say that the build runs, as its files are new. Returns what ends that."""
    newest = os.path.join(path, 'build')
    times = os.stat(newest)
    os.utime(newest, (times.st_atime, times.st_mtime + 3600))
    page.browser.js('''new EventSource('/api/v1/events?history=0').addEventListener('end', e => {
            e.target.close();
            window.streamEnded = true;
        })''')
    kill_build(path, build)
    page.browser.wait('window.streamEnded')
    return lambda: os.utime(newest, (times.st_atime, times.st_mtime))


# Text, and its background, of which the contrast is too low (WCAG 2.2: 4.5, or 3 for large text).
CONTRAST = '''
    const number = c => (c.match(/[0-9.]+/g) || []).map(Number);
    const light = c => c.slice(0, 3).reduce((sum, v, i) => {
        v /= 255;
        return sum + [.2126, .7152, .0722][i] * (v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    }, 0);
    const over = (top, below) => {
        const a = top.length > 3 ? top[3] : 1;
        return [0, 1, 2].map(i => top[i] * a + below[i] * (1 - a));
    };
    const ground = e => {
        const c = number(getComputedStyle(e).backgroundColor), below = () =>
            e.parentElement ? ground(e.parentElement) : [255, 255, 255];
        return c.length === 4 && c[3] === 0 ? below() : c.length === 4 ? over(c, below()) : c;
    };
    const wrong = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let t; (t = walker.nextNode());) {
        const e = t.parentElement;
        if (!t.data.trim() || !e.checkVisibility({visibilityProperty: true, opacityProperty: true}) ||
            e.closest('option, svg, :disabled'))
            continue;
        const s = getComputedStyle(e), below = ground(e), text = over(number(s.color), below);
        const [a, b] = [light(text), light(below)].sort((x, y) => y - x);
        const large = parseFloat(s.fontSize) >= 24 || (parseFloat(s.fontSize) >= 18.6 && s.fontWeight >= 600);
        if ((a + .05) / (b + .05) < (large ? 3 : 4.5) - .01)
            wrong.push(t.data.trim().slice(0, 30) + ' ' + ((a + .05) / (b + .05)).toFixed(2));
    }
    return wrong'''

NAMED = {'button', 'link', 'searchbox', 'textbox', 'combobox', 'checkbox', 'slider', 'grid', 'table', 'region',
         'progressbar', 'img', 'navigation', 'columnheader', 'spinbutton', 'listbox', 'tab', 'radio'}


def check_page(server, where):
    """What holds for every page in every window."""
    browser = server.page.browser
    wide = browser.js('return document.documentElement.scrollWidth - document.documentElement.clientWidth')
    assert wide <= 0, (where, 'the page is %d pixels too wide' % wide)
    faint = browser.js(CONTRAST)
    assert not faint, (where, 'low contrast', faint[:5])
    nodes = [(n['role']['value'], n.get('name', {}).get('value', ''))
             for n in browser.cdp('Accessibility.getFullAXTree')['nodes'] if not n['ignored']]
    roles = {role for role, _ in nodes}
    assert {'main', 'navigation', 'heading'} <= roles, (where, roles)
    nameless = [role for role, name in nodes if role in NAMED and not name.strip()]
    assert not nameless, (where, 'without a name', nameless)
    twice = browser.js('''const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
        return ids.filter((id, i) => ids.indexOf(id) !== i)''')
    assert not twice, (where, 'two elements have the id', twice)
    titles = browser.js('return [...document.querySelectorAll("h1")].filter(e => e.checkVisibility()).length')
    assert titles == 1, (where, titles)
