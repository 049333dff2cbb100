# SPDX-License-Identifier: MIT
"""The page of a build's output: any number of lines in few elements, by task, searched, live, and hostile."""
import os
import subprocess

from live_server import SIZES, check_page, running_build, served

TASKS, LINES = 60, 1000
NODES = 1200            # of a document, with however many lines
MAKEFILE = '''all: many %s last
many:
	@sleep 0.02; seq -f 'first %%g' 3000
t%%:
	@sleep 0.02; seq -f 'line %%g of t$*' %d; [ $* != 30 ] || { echo 'a.c:7:1: error: <b>no</b>'; exit 1; }
last:
	@sleep 0.02; echo the last line
'''
HOSTILE = '''import sys
w = sys.stdout.buffer.write
w(b'<script>window.pwned=1</script><img src=x onerror="window.pwned=1">\\n')
w(b'nul \\0 bell \\a back \\b vertical \\v escape \\033]0;title\\a \\033[2Jcleared\\n')
w(b'not UTF-8: \\xff\\xfe \\xc3( \\xed\\xa0\\x80\\n')
w('turned \\u202e round \\u2066 x \\u200b y\\n'.encode())
w(b'\\033[1;31mbold red\\033[0m, \\033[38;5;2mgreen\\033[39m, \\033[48;2;1;2;3mplain\\033[m, \\033[99999999999999999999m\\n')
w(b'progress 1\\rprogress 2\\rprogress 3\\n')
w(b'x' * 300000 + b'\\n')
w('\\u0301'.encode() * 50000 + b'\\n')
w(b'\\033[31m' * 20000 + b'colour\\n')
w(b'&amp; &lt; \\t tab\\n')
'''


def _record(page, name, makefile, *options, **files):
    """A build with its output, made once; its directory of recordings."""
    directory = page.places.path(name)
    if os.path.exists(directory):
        return os.path.join(directory, 'stats')
    os.makedirs(directory)
    for file, text in {'Makefile': makefile, **files}.items():
        with open(os.path.join(directory, file), 'w', encoding='utf-8') as f:
            f.write(text)
    environ = {key: value for key, value in os.environ.items() if key not in ('MAKEFLAGS', 'MFLAGS', 'MAKELEVEL')}
    subprocess.run((os.path.join(page.places.builddir, 'buildbeat'), 'record', '--no-git', '--log', '-o', 'stats',
                    '-n', 'a', '--', 'make', *options), cwd=directory, stdin=subprocess.DEVNULL, env=environ,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return os.path.join(directory, 'stats')


def _many(page):
    return _record(page, 'output', MAKEFILE % (' '.join('t%d' % i for i in range(TASKS)), LINES), '-k')


SEEN = '''const box = document.querySelector('.output-box').getBoundingClientRect();
    return [...document.querySelectorAll('.output-row')].filter(r => {
        const b = r.getBoundingClientRect();
        return b.bottom > box.top + 1 && b.top < box.bottom - 1;
    }).map(r => ({line: Number(r.dataset.line), text: (r.querySelector('.output-text') || r).textContent,
        kind: r.className, top: r.getBoundingClientRect().top - box.top, height: r.offsetHeight}))'''


def _seen(page):
    """The rows in view, all loaded, without a gap between them."""
    page.browser.wait('''[...document.querySelectorAll('.output-row')].length &&
        !document.querySelector('.output-wait')''')
    page.browser.frames()
    rows = page.browser.js(SEEN)
    for one, other in zip(rows, rows[1:]):
        assert abs(one['top'] + one['height'] - other['top']) < 1.5, (one, other)
    height = page.browser.js("return document.querySelector('.output-box').clientHeight")
    end = rows[-1]['top'] + rows[-1]['height']
    assert rows[0]['top'] < 2 and (end > height - 2 or len(rows) == page.browser.js(
        "return Number(document.querySelector('.output-box').getAttribute('aria-rowcount'))")), (rows[0], rows[-1], height)
    return rows


def _scroll(page, to):
    page.browser.js("document.querySelector('.output-box').scrollTop = arguments[0]", to)
    page.browser.js_async('setTimeout(arguments[0], 200)')     # the scroll bar is put right after a rest


def few_elements_for_many_lines(page):
    """At the top, at the end and anywhere, in both windows; each step of the wheel moves by its pixels."""
    browser = page.browser
    with served(page, _many(page)) as server:
        n = server.get('/api/v1/log?count=1')['n_lines']
        assert n > TASKS * LINES
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            server.open('/output')
            assert _seen(page)[0]['line'] == 1
            for share in (.1, .5, .83, .999):
                _scroll(page, share * browser.js("return document.querySelector('.output-box').scrollHeight"))
                rows = _seen(page)
                assert [r['line'] for r in rows] == list(range(rows[0]['line'], rows[0]['line'] + len(rows))), rows
                assert abs(rows[0]['line'] / n - share) < .02, (share, rows[0])
                nodes = browser.js("return document.querySelectorAll('*').length")
                assert nodes < NODES, (share, nodes)
            _scroll(page, 1e9)
            rows = _seen(page)
            assert rows[-1]['line'] == n, rows[-1]
            _scroll(page, 0)
            assert _seen(page)[0]['line'] == 1
        before = _seen(page)
        browser.js("document.querySelector('.output-box').scrollTop += 130")
        after = {r['line']: r['top'] for r in _seen(page)}
        moved = [r['top'] - after[r['line']] for r in before if r['line'] in after]
        assert moved and all(abs(by - 130) < 1.5 for by in moved), moved


def first_error_is_a_key_away(page):
    """It is on top of the page, marked, and shown by a click or by e; its task's lines are folded, the first of all."""
    browser = page.browser
    with served(page, _many(page)) as server:
        server.open('/output')
        _seen(page)
        assert browser.js("return document.querySelector('.output-error').textContent") == \
            'First error: a.c:7:1: error: <b>no</b>'
        browser.press('e')
        browser.wait("document.querySelector('.output-row.first[aria-selected=true]')")
        row = next(r for r in _seen(page) if 'first' in r['kind'])
        assert row['text'] == 'a.c:7:1: error: <b>no</b>' and 'error' in row['kind'], row
        assert not browser.js("return document.querySelectorAll('.output-box b').length")
        browser.wait("/t30/.test(document.querySelector('.output-detail').textContent)")
        line = server.get('/api/v1/log/tasks')['error_lines'][0]
        assert 'line=%d' % line in browser.url(), browser.url()
        browser.press('b')
        first = _seen(page)[0]
        assert 't30' in first['text'] and 'failed with exit status 1' in first['text'] and 'bad' in first['kind'], first
        assert 'of t30' in _seen(page)[1]['text'], _seen(page)[1]


def folded_by_task(page):
    """Each line is below its task or below that of no known task; the keyboard opens and closes."""
    browser = page.browser
    with served(page, _many(page)) as server:
        server.open('/output', by='task')
        tasks = server.get('/api/v1/log/tasks')
        _seen(page)
        browser.js("document.querySelector('.output-box').focus()")
        browser.press('Home')
        browser.press('Enter')          # the failed one is open at first
        rows = _seen(page)
        assert all('error' not in r['kind'] for r in rows) and 't30' in rows[0]['text'], rows[:3]
        count = browser.js("return Number(document.querySelector('.output-box').getAttribute('aria-rowcount'))")
        assert count == tasks['n_tasks'] + 1, (count, tasks['n_tasks'])
        browser.press('ArrowDown', 'ArrowRight')
        rows = _seen(page)
        assert rows[1]['text'].startswith('+') is False and rows[2]['line'] == tasks['tasks'][1]['first_line'], rows[:4]
        assert browser.js("return document.querySelector('.output-box').getAttribute('role')") == 'treegrid'
        browser.press('End')
        assert 'no known task' in _seen(page)[-1]['text'], _seen(page)[-1]
        browser.press('Enter', 'End')
        rows = _seen(page)
        for _ in range(20):     # its lines may come after the key
            if rows[-1]['line']:
                break
            browser.press('End')
            rows = _seen(page)
        assert rows[-1]['line'], rows[-3:]
        opened = browser.js("return Number(document.querySelector('.output-box').getAttribute('aria-rowcount'))")
        assert opened > count + tasks['n_lines'] - tasks['n_with_task'] - 1, (opened, count, tasks)


def end_is_the_last_line(page):
    """Lines of several rows, whose heights are not known when the key is pressed: in order and by task."""
    browser = page.browser
    makefile = 'T := $(shell seq 40)\nall: $(T)\n$(T):\n\t@for i in 1 2 3 4 5 6 7 8 9; do printf "%02000d\\n" $$i; done\n'
    with served(page, _record(page, 'long', makefile)) as server:
        n = server.get('/api/v1/log?count=1')['n_lines']
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            for by in ('', 'task'):
                server.open('/output', by=by) if by else server.open('/output')
                _seen(page)
                browser.js("document.querySelector('.output-box').focus()")
                if by:
                    browser.press('End', 'ArrowRight')
                    _seen(page)
                browser.press('End')
                last = _seen(page)[-1]
                inside = browser.js("return document.querySelector('.output-box').clientHeight")
                assert last['line'] == n and last['top'] + last['height'] < inside + 2, (by, last, inside, n)


def search_goes_from_match_to_match(page):
    browser = page.browser
    with served(page, _many(page)) as server:
        server.open('/output', q='LINE 999 of')
        said = "document.querySelector('.output-tools [role=status]').textContent"
        browser.wait(said + " === '%d lines'" % TASKS)
        for i, key in ((1, 'n'), (2, 'n'), (1, 'N'), (TASKS, 'N')):
            browser.press(key)
            browser.wait(said + " === '%d of %d lines'" % (i, TASKS))
            browser.wait("""(document.querySelector('[aria-selected=true] mark') || {}).textContent === 'line 999 of'""")
        server.open('/output', q='in no line')
        browser.wait(said + " === 'no line'")


def lines_and_bars_lead_to_each_other(page):
    browser = page.browser
    with served(page, _many(page)) as server:
        server.open('/output')
        browser.press('e')
        browser.wait("document.querySelector('[aria-selected=true] .output-who a')")
        browser.js("document.querySelector('[aria-selected=true] .output-who a').click()")
        browser.wait('location.pathname === "/chart" && window.buildbeat && document.querySelector("#bb-detail").textContent')
        assert 't30' in page.detail(), page.detail()
        browser.wait('''document.querySelector('#bb-detail a[href^="/output"]')''')
        browser.js('''document.querySelector('#bb-detail a[href^="/output"]').click()''')
        browser.wait('location.pathname === "/output" && window.buildbeat')
        server.ready()
        rows = _seen(page)
        own = [r for r in rows if ' on' in r['kind']]
        assert own and all('of t30' in r['text'] for r in own), rows
        task = server.get('/api/v1/log/tasks')['tasks'][0]['task']
        server.open('/task', task=task)
        browser.wait('''document.querySelector('#task-log a[href^="/output"]')''')


def it_grows_with_the_build(page):
    """The page stays at the end until somebody scrolls; an error that comes is shown above the lines."""
    makefile = '''all: one two
one: ; @seq -f 'one %g' 500; until [ -e go-one ]; do sleep 0.01; done; seq -f 'more %g' 500
two: one ; @until [ -e go-two ]; do sleep 0.01; done; echo 'two.c:1: error: two'; exit 1
'''
    browser = page.browser
    with running_build(page, 'output-live', makefile) as (path, go, build), served(page, path) as server:
        server.open('/output')
        browser.wait("[...document.querySelectorAll('.output-text')].some(e => e.textContent === 'one 500')")
        assert browser.js("return document.querySelector('[title^=Stay]').getAttribute('aria-pressed')") == 'true'
        go('one')
        browser.wait("[...document.querySelectorAll('.output-text')].some(e => e.textContent === 'more 500')")
        browser.js("document.querySelector('.output-box').focus()")
        browser.press('Home')
        assert _seen(page)[0]['text'] == 'one 1'
        go('two')
        build.wait()
        browser.wait("/two.c:1: error: two/.test(document.querySelector('.output-error').textContent)")
        assert _seen(page)[0]['text'] == 'one 1'
        browser.press('e')
        browser.wait("document.querySelector('.output-row.first[aria-selected=true]')")
        assert browser.js("return document.querySelector('[title^=Stay]').hidden")


def hostile_output_is_text(page):
    browser = page.browser
    stats = _record(page, 'output-hostile', 'all:\n\t@python3 ./hostile.py; exit 1\n', **{'hostile.py': HOSTILE})
    with served(page, stats) as server:
        for width, height, mobile in SIZES:
            for scheme in ('light', 'dark'):
                browser.resize(width, height, mobile)
                browser.media('', scheme)
                server.open('/output')
                rows = _seen(page)
                check_page(server, 'hostile output at %d, %s' % (width, scheme))
                assert rows[0]['text'].startswith('<script>window.pwned=1</script><img'), rows[0]
                assert browser.js('return typeof window.pwned') == 'undefined'
                assert browser.js("return document.querySelectorAll('img, .output-box script').length") == 0
        browser.resize(1280, 800)
        server.open('/output')
        text = '\n'.join(r['text'] for r in _seen(page))
        assert 'progress 3' in text and 'progress 1' not in text, text[:2000]
        assert not any(c in text for c in '\0\a\b\v\x1b\u202e\u2066'), repr(text[:2000])
        assert 'not UTF-8' in text and '&amp; &lt; \t tab' in text, text[:3000]
        styles = browser.js('''return [...document.querySelectorAll('.output-text span[class]')].map(e =>
            [e.className, e.textContent])''')
        assert ['k1 s', 'bold red'] in styles and ['k2', 'green'] in styles, styles
        wide = browser.js('''const b = document.querySelector('.output-box');
            return b.scrollWidth - b.clientWidth''')
        assert wide <= 0, wide
        longest = max(len(r['text']) for r in page.browser.js(SEEN))
        assert longest < 1100, longest


def without_output(page):
    """The page says so, and how to have it."""
    with served(page, page.places.recording('known')) as server:
        server.open('/output')
        assert 'record --log' in page.browser.js("return document.querySelector('main').innerText")
