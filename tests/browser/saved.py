# SPDX-License-Identifier: MIT
"""A build saved as one file: it needs no server, loads nothing, and has errors, chart, tasks and output."""
import os
import re
import subprocess

from live_server import CONTRAST, SIZES, served

MAKEFILE = '''all: good bad%s
good: ; @sleep 0.1; printf '\\033[33mbe careful\\033[0m\\n'
bad: good ; echo 'bad.c:7:1: error: <script>window.pwned=1</script><img src=x onerror=pwned=1>'; exit 3
t%%: ; @sleep 0.01
'''


def _recording(page):
    directory = page.places.path('saved')
    if os.path.exists(directory):
        return os.path.join(directory, 'stats')
    os.makedirs(directory)
    with open(os.path.join(directory, 'Makefile'), 'w', encoding='utf-8') as f:
        f.write(MAKEFILE % ''.join(' t%d' % i for i in range(20)))
    environ = {key: value for key, value in os.environ.items() if key not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
    subprocess.run((os.path.join(page.places.builddir, 'buildbeat'), 'record', '--no-git', '--log', '-o', 'stats',
                    '-n', 'a', '--', 'make', '-k', '-O', '-j2'), cwd=directory, stdin=subprocess.DEVNULL, env=environ,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return os.path.join(directory, 'stats')


def _saved(page):
    """The file of the command."""
    path = os.path.join(_recording(page), '..', 'saved.html')
    subprocess.run((os.path.join(page.places.builddir, 'buildbeat'), 'show', '--html', path,
                    os.path.join(_recording(page), 'a')), check=True, stdout=subprocess.DEVNULL)
    return os.path.realpath(path)


def _open(page):
    page.open_file(_saved(page))
    page.browser.wait("document.querySelector('#bb-lanes')")
    page.settle()


def first_screen_has_the_error(page):
    """In every window and scheme, without an error in the console and without any request."""
    browser = page.browser
    for width, height, mobile in SIZES:
        for scheme in ('light', 'dark'):
            browser.resize(width, height, mobile)
            browser.media('', scheme)
            _open(page)
            where = '%d, %s' % (width, scheme)
            box = browser.js('''const e = [...document.querySelectorAll('pre')].find(
                e => e.textContent.startsWith('bad.c:7:1: error: <script>window.pwned=1</script>'));
                return e.getBoundingClientRect().toJSON()''')
            assert 0 <= box['top'] and box['bottom'] <= height, (where, box)
            assert browser.js('return typeof window.pwned') == 'undefined', where
            assert not browser.js("return document.querySelectorAll('img, iframe, link').length"), where
            wide = browser.js('return document.documentElement.scrollWidth - innerWidth')
            assert wide <= 0, (where, wide)
            assert browser.js("return document.querySelectorAll('main').length") == 1, where
            faint = browser.js(CONTRAST)
            assert not faint, (where, faint[:5])
            assert not browser.console_errors(), where
    others = [url for url in browser.requested() if not re.match('file:///.*/saved.html|data:|about:', url)]
    assert not others, others


def lines_and_bars_lead_to_each_other(page):
    browser = page.browser
    _open(page)
    browser.js("""[...document.querySelectorAll('.log .who a')].find(a => a.textContent === 'bad').click()""")
    browser.wait("/bad/.test(document.querySelector('#bb-detail').textContent)")
    browser.wait('''document.querySelector('#bb-detail a[href^="#t"]')''')
    browser.js('''document.querySelector('#bb-detail a[href^="#t"]').click()''')
    browser.wait("document.querySelector('.log section.on')")
    top = browser.js("return document.querySelector('.log section.on').getBoundingClientRect().top")
    assert 0 <= top < browser.js('return innerHeight'), top
    assert 'bad.c:7:1' in browser.js("return document.querySelector('.log section.on').textContent"), 'its lines'
    browser.js("document.querySelector('#bb-table').scrollIntoView({block: 'end'})")
    browser.wait("Number(document.querySelector('#bb-tasks').getAttribute('aria-rowcount')) > 20")


def live_pages_save_the_same(page):
    """Each page has the link; the server sends what the command writes, and no browser opens it there."""
    browser = page.browser
    with open(_saved(page), encoding='utf-8') as f:
        wanted = f.read()
    with served(page, _recording(page)) as server:
        for path in ('/', '/chart', '/output', '/task', '/table'):
            server.open(path, rec='a', **({'task': 'bad'} if path == '/task' else {}))
            link = browser.js('''const a = document.querySelector('#save');
                return [a.pathname + a.search, a.download, a.getAttribute('title')]''')
            assert link[:2] == ['/build.html?rec=a', 'build.html'] and 'one HTML file' in link[2], (path, link)
        kind, text = browser.js_async('''const done = arguments[0];
            fetch('/build.html?rec=a').then(async r => done([r.headers.get('content-type'), await r.text()]))''')
        assert kind == 'application/octet-stream', kind
        nonce = '"?nonce[-=]"?[0-9a-f]{32}'
        assert re.sub(nonce, '', text) == re.sub(nonce, '', wanted)
        assert re.findall(nonce, text) != re.findall(nonce, wanted)
