# SPDX-License-Identifier: MIT
"""A small W3C WebDriver client: one headless Chromium through one chromedriver.

Everything they write goes to one temporary directory; close() ends every process
that was started and removes it. Each request has a limit of time.
"""
import base64
import ctypes
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

REQUEST_S = 600         # the longest a request may take
SCRIPT_S = 300          # the longest a condition is waited for
ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'
PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWUSER = 0x10000000
SANDBOX = '/usr/lib/chromium/chrome-sandbox'

ARGUMENTS = [
    '--headless', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--disable-default-apps', '--disable-extensions', '--disable-dev-shm-usage',
    '--disable-background-timer-throttling', '--disable-renderer-backgrounding',
    '--disable-backgrounding-occluded-windows', '--metrics-recording-only',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1', '--no-proxy-server',
    '--force-device-scale-factor=1', '--hide-scrollbars', '--lang=en-US',
    '--touch-events=enabled', '--window-size=1400,1000',
    '--remote-debugging-pipe',  # it ends when chromedriver does, however that ends
]

KEYS = {
    'Tab': '\ue004', 'Enter': '\ue007', 'Shift': '\ue008', 'Control': '\ue009',
    'Escape': '\ue00c', 'Space': ' ', 'PageUp': '\ue00e', 'PageDown': '\ue00f',
    'End': '\ue010', 'Home': '\ue011', 'ArrowLeft': '\ue012', 'ArrowUp': '\ue013',
    'ArrowRight': '\ue014', 'ArrowDown': '\ue015', 'Backspace': '\ue003',
    'Delete': '\ue017',
}


class DriverError(Exception):
    """What chromedriver answered instead of a value, or that it did not."""


def find():
    """Paths of chromium and chromedriver; None where they are not installed."""
    return (shutil.which('chromium'), shutil.which('chromedriver'))


def missing():
    """Why there can be no browser here; None: there can."""
    for name, path in zip(('chromium', 'chromedriver'), find()):
        if not path:
            return name + ' is not installed'
    if os.geteuid() != 0 and not os.path.exists(SANDBOX) and not _may_make_namespaces():
        return 'chromium has no sandbox: no user namespaces'
    return None


def _may_make_namespaces():
    pid = os.fork()
    if pid == 0:
        os._exit(ctypes.CDLL(None).unshare(CLONE_NEWUSER) != 0)
    return os.waitpid(pid, 0)[1] == 0


def _prctl(option, value):
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _children():
    """Children of this process, also those that came to it as orphans."""
    found = []
    for name in os.listdir('/proc'):
        if not name.isdigit():
            continue
        try:
            with open('/proc/%s/stat' % name, 'rb') as stat:
                fields = stat.read().rsplit(b')', 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            found.append(int(name))
    return found


def _reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _end_children():
    """Orphans come to us as their parents end: until nobody is left."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        children = _children()
        if not children:
            return
        for pid in children:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        _reap()
        time.sleep(0.01)


class Browser:
    def __init__(self):
        self.port = None
        self.session = None
        self.driver = None
        self.tmp = tempfile.mkdtemp(prefix='buildbeat-browser-')
        try:
            self._start()
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _start(self):
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        chromium, chromedriver = find()
        environ = dict(os.environ, HOME=self.tmp, TMPDIR=self.tmp, TZ='UTC', LC_ALL='C.UTF-8',
                       XDG_CONFIG_HOME=self.tmp, XDG_CACHE_HOME=self.tmp,
                       XDG_RUNTIME_DIR=self.tmp, DBUS_SESSION_BUS_ADDRESS='disabled:')
        environ.pop('DISPLAY', None)
        with open(os.path.join(self.tmp, 'chromedriver.err'), 'wb') as err:
            self.driver = subprocess.Popen(
                [chromedriver, '--port=0'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=err, env=environ, cwd=self.tmp,
                preexec_fn=lambda: _prctl(PR_SET_PDEATHSIG, signal.SIGKILL))
        for line in self.driver.stdout:
            said = re.search(rb'started successfully on port (\d+)', line)
            if said:
                self.port = int(said.group(1))
                break
        if not self.port:
            raise DriverError('chromedriver did not start')
        self._open_session(chromium)

    def _open_session(self, chromium):
        arguments = ARGUMENTS + ['--user-data-dir=' + os.path.join(self.tmp, 'profile')]
        if os.geteuid() == 0:
            arguments.append('--no-sandbox')
        answer = self._request('POST', '/session', {'capabilities': {'alwaysMatch': {
            'browserName': 'chrome',
            'goog:chromeOptions': {'binary': chromium, 'args': arguments},
            'goog:loggingPrefs': {'browser': 'ALL', 'performance': 'ALL'},
            'timeouts': {'script': SCRIPT_S * 1000, 'pageLoad': SCRIPT_S * 1000, 'implicit': 0},
        }}})
        self.session = answer['sessionId']

    def close(self):
        if self.driver:
            self.driver.kill()
            self.driver.stdout.close()
            _end_children()
            self.driver.returncode = 0
            self.driver = None
        shutil.rmtree(self.tmp, ignore_errors=True)

    def _request(self, method, path, body=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=REQUEST_S)
        try:
            data = json.dumps(body).encode() if body is not None else None
            connection.request(method, path, data, {'Content-Type': 'application/json'})
            value = json.loads(connection.getresponse().read())['value']
        finally:
            connection.close()
        if isinstance(value, dict) and 'error' in value:
            raise DriverError('%s %s: %s: %s' % (method, path, value['error'], value['message']))
        return value

    def call(self, method, path, body=None):
        if method == 'POST' and body is None:
            body = {}
        return self._request(method, '/session/%s%s' % (self.session, path), body)

    # Windows and documents

    def new_window(self):
        """A fresh window, and the one before is closed: nothing set in it stays."""
        fresh = self.cdp('Target.createTarget', url='about:blank')['targetId']
        self.call('DELETE', '/window')
        self.call('POST', '/window', {'handle': fresh})

    def resize(self, width, height, mobile=False):
        """The size that documents see; mobile: as a phone, which obeys a page's viewport."""
        self.cdp('Emulation.setDeviceMetricsOverride', width=width, height=height,
                 deviceScaleFactor=1, mobile=mobile)
        self.cdp('Emulation.setTouchEmulationEnabled', enabled=mobile, maxTouchPoints=5)

    def media(self, media='', scheme='light'):
        """What style sheets ask for: 'print' or ''; 'light' or 'dark'."""
        self.cdp('Emulation.setEmulatedMedia', media=media,
                 features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.frames()

    def open(self, url):
        self.call('POST', '/url', {'url': url})

    def url(self):
        return self.call('GET', '/url')

    def reload(self):
        self.call('POST', '/refresh')

    def screenshot(self):
        """PNG bytes."""
        return base64.b64decode(self.call('GET', '/screenshot'))

    # Script

    def js(self, body, *args):
        """What the function with this body returns; it has `arguments`."""
        return self.call('POST', '/execute/sync', {'script': body, 'args': list(args)})

    def js_async(self, body, *args):
        """Its last argument is the function to call with the result."""
        return self.call('POST', '/execute/async', {'script': body, 'args': list(args)})

    def wait(self, expression, *args, limit_s=SCRIPT_S - 5):
        """Until the expression is true; its value. AssertionError when that never is."""
        value = self.js_async('''
            const args = arguments, done = args[args.length - 1];
            const until = performance.now() + args[args.length - 2];
            const look = () => {
                let value;
                try { value = (function () { return (%s); }).apply(null, args); }
                catch (e) { value = undefined; }
                if (value) done(value);
                else if (performance.now() > until) done(null);
                else setTimeout(look, 5);
            };
            look();''' % expression, *args, limit_s * 1000)
        assert value is not None, 'never true: ' + expression
        return value

    def wait_over_load(self, expression):
        """As wait(); the page may be loaded anew meanwhile, which ends the script as if its time were over."""
        until = time.monotonic() + SCRIPT_S
        while True:
            try:
                return self.wait(expression)
            except DriverError:
                if time.monotonic() > until:
                    raise

    def frames(self, n=2):
        """Until what was asked for is painted."""
        self.js_async('''
            let n = arguments[0]; const done = arguments[1];
            const next = () => n-- ? requestAnimationFrame(next) : done(1); next();''', n)

    def cdp(self, command, **params):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': params})

    # Input

    def actions(self, *sources):
        self.call('POST', '/actions', {'actions': list(sources)})

    def press(self, *keys, hold=()):
        """Press and release keys one after the other while others are held."""
        steps = [{'type': 'keyDown', 'value': KEYS.get(k, k)} for k in hold]
        for key in keys:
            steps += [{'type': kind, 'value': KEYS.get(key, key)} for kind in ('keyDown', 'keyUp')]
        steps += [{'type': 'keyUp', 'value': KEYS.get(k, k)} for k in reversed(hold)]
        self.actions({'type': 'key', 'id': 'keyboard', 'actions': steps})

    def move(self, x, y):
        self.actions({'type': 'pointer', 'id': 'mouse', 'parameters': {'pointerType': 'mouse'},
                      'actions': [_move(x, y)]})

    def click(self, x, y):
        self.drag([(x, y)])

    def drag(self, points, kind='mouse', hold=()):
        """Down at the first point, over the others, up at the last, while keys are held."""
        for key in hold:
            self._hold('keyDown', key)
        self.actions({'type': 'pointer', 'id': kind, 'parameters': {'pointerType': kind},
                      'actions': _stroke(points)})
        for key in hold:
            self._hold('keyUp', key)

    def pinch(self, one, other):
        """Two fingers, each down at its first point and over its others."""
        self.actions(*[{'type': 'pointer', 'id': 'finger%d' % i,
                        'parameters': {'pointerType': 'touch'}, 'actions': _stroke(points)}
                       for i, points in enumerate((one, other))])

    def wheel(self, x, y, delta_y, delta_x=0, hold=()):
        for key in hold:
            self._hold('keyDown', key)
        self.actions({'type': 'wheel', 'id': 'wheel', 'actions': [
            {'type': 'scroll', 'x': round(x), 'y': round(y), 'deltaX': delta_x,
             'deltaY': delta_y, 'duration': 0, 'origin': 'viewport'}]})
        for key in hold:
            self._hold('keyUp', key)

    def _hold(self, kind, key):
        self.actions({'type': 'key', 'id': 'keyboard',
                      'actions': [{'type': kind, 'value': KEYS.get(key, key)}]})

    def release(self):
        self.call('DELETE', '/actions')

    # What happened

    def log(self, kind):
        """Entries of the log since the last call: 'browser' or 'performance'."""
        return self.call('POST', '/se/log', {'type': kind})

    def console_errors(self):
        return [entry['message'] for entry in self.log('browser')
                if entry['level'] in ('SEVERE', 'WARNING')]

    def requested(self):
        """URLs that any document asked for since the last call."""
        urls = []
        for entry in self.log('performance'):
            message = json.loads(entry['message'])['message']
            if message['method'] == 'Network.requestWillBeSent':
                urls.append(message['params']['request']['url'])
            elif message['method'] == 'Network.webSocketCreated':
                urls.append(message['params']['url'])
        return urls


def _move(x, y):
    return {'type': 'pointerMove', 'duration': 0, 'origin': 'viewport', 'x': round(x), 'y': round(y)}


def _stroke(points):
    steps = [_move(*points[0]), {'type': 'pointerDown', 'button': 0}]
    steps += [_move(*point) for point in points[1:]]
    return steps + [{'type': 'pointerUp', 'button': 0}]
