# SPDX-License-Identifier: MIT
"""The live pages: each opens everywhere; names are text; the keyboard; many tasks; a build that runs."""
import os
import shutil
import subprocess
import time

import recordings
from live_server import SIZES, check_page, running_build, served

TASKS = 20000
TRACE = os.path.normpath(os.path.join(os.path.dirname(__file__), '..', 'data', 'convert', 'chrome', 'startup.json'))
RESULTS = os.path.normpath(os.path.join(os.path.dirname(__file__), '..', 'data', 'results', 'make'))


def _pages(server, task):
    """Paths of all pages, from the navigation and from a task. Those of commands are in live_site."""
    paths = server.page.browser.js('''return [...document.querySelectorAll('#pages a')].map(a =>
        new URL(a.href).pathname)''')
    assert len(paths) >= 8, paths
    return [(path, {}) for path in paths if path != '/profile'] + [('/task', {'task': task})]


def _open_all(page, scheme):
    page.browser.media('', scheme)
    with served(page, page.places.recording('known')) as server:
        for path, parameters in _pages(server, 'top.1'):
            for width, height, mobile in SIZES:
                page.browser.resize(width, height, mobile)
                server.open(path, **parameters)
                page.browser.js_async('setTimeout(arguments[0], 50)')
                check_page(server, '%s at %d, %s' % (path, width, scheme))
                wrong = page.browser.console_errors()
                assert not wrong, (path, width, wrong)


def every_page_opens_in_light(page):
    _open_all(page, 'light')


def every_page_opens_in_dark(page):
    _open_all(page, 'dark')


def the_machine(page):
    """A bar for each core, memory that adds up, and lines that grow."""
    with served(page, page.places.recording('known')) as server:
        first = server.get('/api/v1/stats')['pressure']
        assert all(share is None or 0 <= share <= 100 for share in first.values()), first
        server.open('/machine')
        cores = page.browser.js("""return [...document.querySelectorAll('.machine-cores .machine-bar')].map(bar =>
            [...bar.querySelectorAll('rect')].reduce((sum, r) => sum + Number(r.getAttribute('width')), 0))""")
        assert len(cores) == len([c for c in server.get('/api/v1/stats')['cpus'] if c['cpu'] is not None]), cores
        assert all(95 < whole < 105 for whole in cores), cores
        page.browser.wait("""document.querySelector('.overview-sparks').previousSibling.textContent.includes('readings')""")
        wrong = page.browser.js("""return [...document.querySelectorAll('td')].filter(e => /-/.test(e.textContent))
            .map(e => e.textContent)""")
        assert not wrong, wrong


def names_are_text(page):
    """Of the build, in the list of tasks, and on the page of each task."""
    with served(page, page.places.recording('hostile')) as server:
        for path, parameters in [('/', {}), ('/table', {'sort': 'name'})] + [
                ('/task', {'task': 'top.%d' % (i + 1)}) for i in range(len(recordings.HOSTILE))]:
            server.open(path, **parameters)
            assert page.browser.js('return typeof window.pwned') == 'undefined', path
            assert page.browser.js('return document.querySelectorAll("script:not([type])").length') == 1
            assert page.browser.js('''return document.querySelectorAll('img, iframe, object').length''') == 0
            strange = page.browser.js(r'''return [...document.querySelectorAll('*')].flatMap(e =>
                [...e.attributes].filter(a => /^on/.test(a.name)).map(a => a.name))''')
            assert not strange, (path, strange)
            turned = page.browser.js(r'''return /[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent)''')
            assert not turned, path
        server.open('/table', sort='name')
        shown = page.browser.js('''return [...document.querySelectorAll('.entry a')].map(a => a.textContent)''')
        assert recordings.HOSTILE[0] in shown, shown


def files_and_cache_of_a_task(page):
    """As show has them; a task without a result of the cache has no row for it."""
    tasks = {t['name']: t for t in page.places.show(RESULTS)['tasks']}
    with served(page, RESULTS) as server:
        for name in ('main.o', 'util.o', 'parse.c'):
            server.open('/task', task=tasks[name]['task'])
            rows = dict(page.browser.js("""return [...document.querySelectorAll('dt')].map(e =>
                [e.textContent, e.nextElementSibling.textContent])"""))
            for file in tasks[name]['files']:
                assert file['path'] in rows['Files'], (name, rows)
            assert bool(tasks[name]['cache']) == ('Compiler cache' in rows), (name, rows)
            assert (tasks[name]['cache'] or '') in rows.get('Compiler cache', ''), (name, rows)


def values_of_a_task(page):
    """A fact for each value that is known of it, except those with facts of their own."""
    recording = page.places.recording('known')
    task = next(t for t in page.places.show(recording)['tasks'] if t['self']['io_bytes'] is not None)
    with served(page, recording) as server:
        values = [v for v in server.get('/api/v1/')['values'] if v['joined'] == 'sum' and
                  v['word'] not in ('wall', 'queue', 'files')]
        server.open('/task', task=task['task'])
        facts = page.browser.js("return [...document.querySelectorAll('dt')].map(e => e.textContent)")
        wanted = [v['name'][0].upper() + v['name'][1:] for v in values if task['self'].get(v['key']) is not None]
        assert 'Bytes read' in wanted and set(wanted) <= set(facts), (wanted, facts)


def menu_of_pages(page):
    """Five pages in one line, and the others below "More", which closes by Escape and when it is left."""
    browser = page.browser
    with served(page, page.places.recording('known')) as server:
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            server.open('/graph')
            shown = browser.js("""return [...document.querySelectorAll('#pages>a, #pages summary')].map(e => e.textContent)""")
            assert shown == ['Overview', 'Chart', 'Output', 'Tasks', 'Compare', 'More'], shown
            assert browser.js("return document.querySelector('#pages').offsetHeight") < 40, width
            assert not browser.js("return document.querySelector('#more a').checkVisibility()")
            browser.js("document.querySelector('#more summary').click()")
            assert browser.js("""return [...document.querySelectorAll('#more a')].every(a => a.checkVisibility() &&
                a.getBoundingClientRect().left >= 0 && a.getBoundingClientRect().right <= innerWidth)"""), width
            assert browser.js("return document.querySelector('#more [aria-current]').textContent") == 'Graph'
            check_page(server, 'the menu at %d' % width)
            browser.js("document.querySelector('#more a').focus()")
            browser.press('Escape')
            assert browser.js("return !document.querySelector('#more').open && document.activeElement.textContent") == 'More'
            browser.js("document.querySelector('#more summary').click(); document.querySelector('main').click()")
            assert not browser.js("return document.querySelector('#more').open")


def deleted_recording_is_told(page):
    """The overview of an ended build that is deleted says so; another one can be chosen."""
    directory = page.places.path('deleted')
    for name in ('a', 'b'):
        shutil.copytree(page.places.recording('known'), os.path.join(directory, name))
    with served(page, directory) as server:
        server.open('/', rec='a')
        assert page.browser.js('return document.querySelector("#unreachable").hidden') is True
        shutil.rmtree(os.path.join(directory, 'a'))
        page.browser.wait("""document.dispatchEvent(new Event('visibilitychange')) &&
            /This recording was deleted/.test(document.querySelector('#unreachable:not([hidden])').textContent)""")
        assert page.browser.js('return document.querySelector("#recording").disabled') is False
        page.browser.console_errors()


def help_has_every_page(page):
    with served(page, page.places.recording('known')) as server:
        server.open('/help')
        missing = page.browser.js('''const known = [...document.querySelectorAll('main dl a')].map(a => new URL(a.href).pathname);
            return [...document.querySelectorAll('#pages a')].map(a => new URL(a.href).pathname)
                .filter(p => p !== '/help' && !known.includes(p))''')
        assert not missing, missing
        assert page.browser.js('return performance.getEntriesByType("resource").every(r => r.name.startsWith(location.origin))')


def keyboard_alone(page):
    """Skip link, filter, a row of the table and its task, and the pages, without a pointer."""
    browser = page.browser
    with served(page, page.places.recording('known')) as server:
        server.open('/table')
        browser.press('Tab')
        assert browser.js('return document.activeElement.className') == 'skip'
        browser.press('Enter')
        assert browser.js('return document.activeElement.id') == 'main'
        browser.press('/')
        assert browser.js('return document.activeElement.type') == 'search'
        browser.press(*'libparts')
        browser.wait('document.querySelectorAll("#tasks-table .space .entry").length === 1')
        browser.press('Tab', 'Tab')
        while browser.js('return document.activeElement.id') != 'tasks-table':
            before = browser.js('return document.activeElement.outerHTML')
            browser.press('Tab')
            assert browser.js('return document.activeElement.outerHTML') != before, before
        browser.press('ArrowDown', 'Enter')
        browser.wait('location.pathname === "/task" && window.buildbeat')
        server.ready()
        assert 'libparts.a' in browser.js('return document.title')
        browser.press('?')
        browser.wait('location.pathname === "/help" && window.buildbeat')
        server.ready()
        browser.press('g', 'o')
        browser.wait('location.pathname === "/" && window.buildbeat')
        server.ready()


def links_of_a_task_expand(page):
    """What it waited for opens in place, and again closes; nothing is shown twice."""
    browser = page.browser
    with served(page, page.places.recording('known')) as server:
        last = max((t for t in page.places.show(page.places.recording('known'))['tasks'] if t['end_us']),
                   key=lambda t: t['end_us'])
        server.open('/task', task=last['task'])
        for _ in range(4):
            opened = browser.js('''const b = document.querySelector('#task-needs .task-open[aria-expanded=false]');
                if (b) { b.focus(); b.click(); } return Boolean(b)''')
            if not opened:
                break
            browser.wait('[...document.querySelectorAll("#task-needs .task-open[aria-expanded=true]")]'
                         '.every(b => b.parentElement.querySelector("ul > li"))')
        shown = browser.js('''return [...document.querySelectorAll('#task-needs li')]
            .filter(li => li.querySelector(':scope > .task-open')).map(li =>
                new URL(li.querySelector('a').href).searchParams.get('task'))''')
        assert shown and len(shown) == len(set(shown)) and last['task'] not in shown, shown
        closed = browser.js('''const b = document.querySelector('#task-needs .task-open[aria-expanded=true]');
            b.click(); return b.parentElement.querySelector('ul').checkVisibility()''')
        assert closed is False


def many_tasks_are_a_table(page):
    """Sorting, filter and the last row are the server's; few rows are in the document."""
    browser, recording = page.browser, page.places.generated(TASKS, 60)
    tasks = page.places.show(recording)['tasks']
    with served(page, recording) as server:
        server.open('/table')
        rows = '[...document.querySelectorAll("#tasks-table .space .entry")]'
        browser.wait('document.querySelector("#tasks-table").ariaRowCount === "%d"' % (len(tasks) + 1))
        assert 10 < browser.js('return %s.length' % rows) < 100
        longest = max(t['self']['wall_us'] or 0 for t in tasks)
        first = server.get('/api/v1/table?sort=-wall&count=1')['tasks'][0]
        assert first['wall_us'] == longest, (first, longest)
        browser.js('document.querySelector("#tasks-table").focus()')
        values = {v['word']: v['title'] for v in server.get('/api/v1/')['values']}
        shown = browser.js('''return [...document.querySelectorAll("#tasks-table [role=columnheader]")].map(
            e => e.textContent.toLowerCase())''')
        known = [values[word].lower() for word in server.get('/api/v1/table?count=0')['known']]
        assert shown == ['task', 'kind', 'state', *known] and 'waited' in known, (shown, known)
        browser.press('End')
        browser.wait('%s.some(e => e.ariaRowIndex === "%d" && !/\\u2026/.test(e.textContent))' % (rows, len(tasks) + 1))
        browser.press('Home')
        browser.wait('%s.some(e => e.ariaRowIndex === "2")' % rows)
        browser.js('''const s = document.querySelector('#search'); s.value = '99';
            s.dispatchEvent(new Event('input'))''')
        some = server.get('/api/v1/table?filter=99&count=0')["n_tasks"]
        browser.wait('document.querySelector("#tasks-table").ariaRowCount === "%d"' % (some + 1))
        assert 0 < some < len(tasks)
        # the address shows the same again
        browser.reload()
        server.ready()
        browser.wait('document.querySelector("#tasks-table").ariaRowCount === "%d"' % (some + 1))


MAKEFILE = '''.PHONY: all a.o b.o
all: a.o b.o
a.o b.o:
	while ! test -f go-$@; do sleep 0.02; done; test $@ != b.o || { echo "b.c:7: error: <b>no</b>"; exit 3; }
'''


def overview_grows(page):
    """Counts, running tasks and a failure appear in the page as it is, during a real build."""
    browser = page.browser
    with running_build(page, 'grows', MAKEFILE, '-k', '-j2') as (recording, go, build), \
            served(page, recording) as server:
        server.open('/')
        text = 'document.querySelector("#main").innerText'
        browser.wait('/^Running$/.test(document.querySelector(".overview-state strong").textContent)')
        browser.wait('/a\\.o/.test({0}) && /b\\.o/.test({0})'.format(text))
        # the same document, with what has the focus and where it was scrolled
        browser.js('''window.same = true; scrollTo(0, 40);
            document.querySelector('#overview-running tbody a').focus()''')
        at = browser.js('return [scrollY, document.activeElement.textContent]')
        go('a.o')
        browser.wait('![...document.querySelectorAll("#overview-running tbody th")].some(e => /a\\.o/.test(e.textContent))')
        assert browser.js('return window.same') is True
        assert browser.js('return scrollY') == at[0]
        go('b.o')
        build.wait()
        browser.wait('/Failed/.test(document.querySelector(".overview-state strong").textContent)')
        browser.wait('/exit status 3/.test(document.querySelector("#overview-failed").innerText)')
        browser.wait('/b\\.c:7: error: <b>no<\\/b>/.test(document.querySelector("#overview-failed").innerText)')
        assert browser.js('return window.same') is True
        check_page(server, 'a failed build')
        # opened after the build, without its events
        server.open('/')
        browser.wait('/b\\.c:7: error: <b>no<\\/b>/.test(document.querySelector("#overview-failed").innerText)')


def overview_asks_for_one_reply(page):
    """While a build runs, the page asks for the overview only, after messages of the stream, and not often."""
    browser = page.browser
    asked = 'asked.filter(([path]) => path === "/api/v1/overview")'
    with running_build(page, 'asks', MAKEFILE, '-k', '-j2') as (recording, go, build), \
            served(page, recording) as server:
        # The timer for a build without messages never fires. All pages ask whether the server is there (beat()).
        script = browser.cdp('Page.addScriptToEvaluateOnNewDocument', source='''
            const later = setTimeout, ask = fetch;
            window.asked = [];
            window.setTimeout = (f, ms, ...more) => ms === 10000 ? 0 : later(f, ms, ...more);
            window.fetch = (path, ...more) => {
                if (!/\\bbeat\\b/.test(new Error().stack))
                    asked.push([path.split('?')[0], performance.now()]);
                return ask(path, ...more);
            }''')
        server.open('/')
        browser.wait('document.querySelector("#overview-running tbody th")')
        browser.wait('/there are no earlier recordings/.test(document.querySelector(".overview-state").innerText)')
        browser.js('asked.length = 0')
        go('a.o')
        browser.wait('/1\\s*done/.test(document.querySelector(".overview-counts").innerText)')
        browser.wait(asked + '.length >= 3')
        assert {path for path, _ in browser.js('return asked')} == {'/api/v1/overview'}, browser.js('return asked')
        times = [at for _, at in browser.js('return asked')]
        assert all(b - a >= 1990 for a, b in zip(times, times[1:])), times
        go('b.o')
        build.wait()
        browser.wait('/Failed/.test(document.querySelector(".overview-state strong").textContent)')
        browser.cdp('Page.removeScriptToEvaluateOnNewDocument', identifier=script['identifier'])


def many_windows_share_a_stream(page):
    """Twenty windows opened at once all load and are updated: the server has one stream, and none after them."""
    browser = page.browser
    done = '/1\\s*done/.test(document.querySelector(".overview-counts").innerText)'
    with running_build(page, 'shared', MAKEFILE, '-k', '-j2') as (recording, go, _), \
            served(page, recording) as server:
        first, opened = browser.call('GET', '/window'), browser.call('GET', '/window/handles')
        for _ in range(20):
            browser.cdp('Target.createTarget', url=server.url + '/', newWindow=True)
        windows = [w for w in browser.call('GET', '/window/handles') if w not in opened]
        assert len(windows) == 20, windows
        for window in windows:
            browser.call('POST', '/window', {'handle': window})
            browser.wait('document.querySelector("#overview-running tbody th")')
        assert server.get('/api/v1/server')['streams'] == 1, server.get('/api/v1/server')
        go('a.o')
        for window in windows:
            browser.call('POST', '/window', {'handle': window})
            browser.wait(done)
            assert not browser.console_errors()
        assert server.get('/api/v1/server')['streams'] == 1
        for window in windows:
            browser.call('POST', '/window', {'handle': window})
            browser.call('DELETE', '/window')
        browser.call('POST', '/window', {'handle': first})
        server.open('/help')
        page.browser.js("""window.streams = -1;
            setInterval(() => fetch('/api/v1/server').then(r => r.json()).then(o => { streams = o.streams; }), 100)""")
        browser.wait('streams === 0')


def stream_without_a_shared_worker(page):
    """A browser that has no such workers: each page has a stream of its own."""
    browser = page.browser
    with running_build(page, 'alone', MAKEFILE, '-k', '-j2') as (recording, go, _), served(page, recording) as server:
        script = browser.cdp('Page.addScriptToEvaluateOnNewDocument', source='delete window.SharedWorker')
        server.open('/')
        browser.wait('document.querySelector("#overview-running tbody th")')
        go('a.o')
        browser.wait('/1\\s*done/.test(document.querySelector(".overview-counts").innerText)')
        assert server.get('/api/v1/server')['streams'] == 1
        browser.cdp('Page.removeScriptToEvaluateOnNewDocument', identifier=script['identifier'])


def server_that_ends_is_told(page):
    """The banner says that nothing is updated any longer."""
    browser = page.browser
    with running_build(page, 'ends', MAKEFILE, '-j2') as (recording, _, _), served(page, recording) as server:
        server.open('/')
        assert browser.js('return document.querySelector("#unreachable").hidden') is True
        server.process.kill()
        browser.wait('/is unreachable/.test(document.querySelector("#unreachable:not([hidden])").textContent)')
        browser.wait('/buildbeat serve \\S+ on its machine/.test(document.querySelector("#unreachable").textContent)')
        check_page(server, 'without a server')
        browser.open('about:blank')
        browser.console_errors()


ICON = 'decodeURIComponent(document.querySelector("link[rel=icon]").href)'


def page_of_an_ended_server(page):
    """It keeps what it has, without links; a build whose end was seen has no alarm."""
    browser = page.browser
    with running_build(page, "it's over", MAKEFILE, '-k', '-j2') as (recording, go, build), \
            served(page, recording) as server:
        server.open('/')
        browser.wait('/^running - make.* - buildbeat$/.test(document.title)')
        running = browser.js('return ' + ICON)
        go('a.o')
        go('b.o')
        build.wait()
        browser.wait('/^failed - make.* - buildbeat$/.test(document.title)')
        browser.wait('/b\\.c:7: error/.test(document.querySelector("#overview-failed").innerText)')
        failed = browser.js('return ' + ICON)
        assert [icon.split("path d='")[1].split("'")[0] for icon in (running, failed)] == \
            ['M4 2l10 6-10 6z', 'M3 3l10 10M13 3L3 13'], (running, failed)
        server.process.kill()
        browser.wait('document.querySelector("#unreachable.calm")')
        said = browser.js('return document.querySelector("#unreachable").textContent')
        assert said == "The server has ended. buildbeat serve '%s' shows this build again." % \
            recording.replace("'", "'\\''"), said
        links = browser.js('return [...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href"))')
        assert links == ['#main'], links
        assert 'b.c:7: error' in browser.js('return document.querySelector("#overview-failed").innerText')
        browser.press('g', 'c')
        assert browser.js('return location.pathname') == '/'
        check_page(server, 'after the server')
        browser.open('about:blank')
        browser.console_errors()


def notified_at_the_end(page):
    """A person who asked for it gets one notification with the error."""
    browser = page.browser
    button = '[...document.querySelectorAll("button")].find(b => b.textContent === "Notify me at the end")'

    with running_build(page, 'notified', MAKEFILE, '-k', '-j2') as (recording, go, build), \
            served(page, recording) as server:
        server.open('/')
        browser.wait(button)
        browser.js('''window.said = [];
            window.Notification = class { constructor(title, o) { said.push([title, o.body, o.silent]); }
                static async requestPermission() { return "granted"; } };''' + button + '.click()')
        browser.wait('/will say/.test(document.querySelector(".overview-links button").textContent)')
        go('a.o')
        go('b.o')
        build.wait()
        browser.wait('said.length')
        assert browser.js('return said') == [['failed: make -k -j2', '<b>no</b>', True]], browser.js('return said')
        assert browser.js('return document.querySelector(".overview-links button").hidden') is True
        check_page(server, 'after the notification')


def task_and_process_are_linked(page):
    """A running task says for how long, and leads to its process and back."""
    browser = page.browser
    with running_build(page, 'linked', MAKEFILE, '-j2') as (recording, go, build), served(page, recording) as server:
        server.open('/')
        browser.wait('document.querySelector("#overview-running tbody a")')
        task = next(t for t in server.get('/api/v1/now')['running'] if t['name'] == 'a.o')
        server.open('/task', task=task['task'])
        fact = '[...document.querySelectorAll("dt")].find(e => e.textContent === "%s").nextSibling'
        browser.wait('/ m?s$|^[0-9]+m/.test(%s.textContent)' % fact % 'Runs for')
        browser.js('%s.firstChild.click()' % fact % 'Process')
        browser.wait('location.pathname === "/process" && [...document.querySelectorAll("dt")].some(e => e.textContent === "Task")')
        server.ready()
        check_page(server, 'the process of a task')
        browser.js('%s.firstChild.click()' % fact % 'Task')
        browser.wait('location.pathname === "/task" && new URLSearchParams(location.search).get("task") === "%s"' % task['task'])
        server.ready()
        assert not browser.console_errors()


def _scan(page, *names):
    """Builds of one command: the name says which of them fail. Returns their directory."""
    directory = page.places.path('scan')
    os.makedirs(directory)
    with open(os.path.join(directory, 'Makefile'), 'w', encoding='utf-8') as f:
        f.write('all: a.o b.o\na.o:\n\t@echo compiled a.o\nb.o: a.o\n'
                '\t@test ! -e bad || { echo "b.c:7: error: <b>no</b>" >&2; exit 3; }\n')
    for name in names:
        if name == 'failed':
            open(os.path.join(directory, 'bad'), 'w', encoding='utf-8').close()
        subprocess.run((os.path.join(page.places.builddir, 'buildbeat'), 'record', '--no-git', '--log', '--quiet', '-o',
                        os.path.join(directory, 'stats'), '-n', name, '--', 'make', '-f', 'Makefile'), cwd=directory,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=name != 'failed')
    return os.path.join(directory, 'stats')


PARTS = '''return Object.fromEntries([...document.querySelectorAll(".ended-part")].map(e =>
    [e.id.slice(6), e.innerText.split("\\n").slice(1).join("\\n").trim()]))'''


def ended_overview(page):
    """A build that has ended, opened cold: no part is empty, of a first, a good, a failed and an imported build."""
    browser = page.browser
    with served(page, _scan(page, 'first', 'second', 'failed')) as server:
        def opened(name, size=SIZES[0]):
            browser.resize(*size)
            server.open('/', rec=name)
            check_page(server, 'the overview of %s at %d' % (name, size[0]))
            parts = browser.js(PARTS)
            assert set(parts) == {'curves', 'slowest', 'before', 'trend', 'output'} and all(parts.values()), parts
            assert not browser.console_errors(), name
            return parts

        parts = opened('first')
        assert 'first build of this command' in parts['before'] and 'only build' in parts['trend'], parts
        assert 'compiled a.o' in parts['output'] and 'a.o' in parts['slowest'], parts
        parts = opened('second')
        assert ' before.' in parts['before'] and 'none failed' in parts['trend'], parts
        parts = opened('failed', SIZES[1])
        assert 'may have skipped tasks' in parts['before'] and '1 failed' in parts['trend'], parts
        assert 'b.c:7: error: <b>no</b>' in parts['output'], parts
        assert 'b.c:7: error: <b>no</b>' in browser.js('return document.querySelector("#overview-failed").innerText')
        assert browser.js('return document.querySelectorAll("#ended-trend .failed").length') == 1
        assert browser.js('return document.querySelector("#ended-trend [aria-current]").closest("li").className') == 'failed'
        opened('failed')
    with served(page, TRACE):
        parts = browser.js(PARTS)
        assert all(parts.values()) and 'not known' in parts['slowest'] and 'not recorded' in parts['output'], parts
        assert 'CPU time' not in browser.js('return document.querySelector(".overview-facts").innerText')
        assert browser.js('return document.querySelector("#title").textContent') != 'Build'


def build_that_hangs(page):
    """By its samples, for an hour; its process is real. The overview links the task and the process."""
    browser, directory = page.browser, page.places.path('hangs')
    os.makedirs(directory)
    sleeper = subprocess.Popen(('sleep', '1000'))
    with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as f:
        boot = f.read()
    own = os.getpid()
    files = {
        'build': 'buildbeat build 1\nstart_wall_ns: %d\nstart_mono_ns: %d\ncommand: make\nhost: %s\nboot_id: %ssampler_pid: %d\n'
                 'buildbeat: 1\n' % (time.time_ns(), time.monotonic_ns(), os.uname().nodename, boot, own),
        'tasks.log': 'buildbeat tasks 1\nopen\t0\tm\t%d\t0\t%d\tmake\t4.3\t/src\tmake\nstart\t1\tm.1\t%d\t\t\thang\n' % (
            own, own, sleeper.pid),
        'proc_tasks.log': 'buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c pss:1MiB:g processes:1:g\n@1000 0=m.1:4,1,,1\n',
        'proc_stat.log': 'buildbeat proc_stat 1 1000 user:10ms:c\n@0 \n@3601000 1\n',
    }
    for name, text in files.items():
        with open(os.path.join(directory, name), 'w', encoding='utf-8') as f:
            f.write(text)
    try:
        with served(page, directory) as server:
            browser.wait('/Idle for 1h 00m: task hang uses no CPU time.*sleep /.test(document.querySelector(".overview-state .alarm").innerText)')
            check_page(server, 'a build that hangs')
            browser.js('[...document.querySelectorAll(".overview-state .alarm a")].pop().click()')
            browser.wait('location.pathname === "/process" && /sleep/.test(document.querySelector("#title").textContent)')
            server.ready()
            assert not browser.console_errors()
    finally:
        sleeper.kill()
        sleeper.wait()


def builds_on_a_wall(page):
    """/?wall has running builds with their earlier ones, and then the newest one with its error."""
    browser, program = page.browser, os.path.join(page.places.builddir, 'buildbeat')
    line = 'document.querySelector(".wall-list").innerText'

    with running_build(page, 'wall', MAKEFILE, '-k', '-j2') as (recording, go, build):
        directory, other = os.path.dirname(recording), page.places.path('wall-before')
        os.makedirs(other)
        for name, recipe in (('one', 'true'), ('two', 'false')):
            with open(other + '/Makefile', 'w', encoding='utf-8') as f:
                f.write('all: ; @%s\n' % recipe)
            subprocess.run((program, 'record', '--no-git', '-o', directory, '-n', name, '--', 'make', '-k', '-j2'),
                           cwd=other, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with served(page, directory) as server:
            server.open('/', wall='1')
            browser.wait('/^Running make -k -j2/.test(%s)' % line)
            assert browser.js('return [...document.querySelectorAll(".wall-squares li")].map(e => e.className)') == \
                ['finished', 'failed']
            assert browser.js('return document.querySelector("header.bar").getBoundingClientRect().top > 300'), 'the bar'
            assert browser.js('return document.documentElement.scrollWidth <= innerWidth')
            check_page(server, 'a running build on the wall')
            go('a.o')
            go('b.o')
            build.wait()
            browser.wait('/^Failed make -k -j2/.test(%s)' % line)
            check_page(server, 'a failed build on the wall')


def newest_build_is_followed(page):
    """By / and /chart, but not by a page of a certain recording."""
    browser, program = page.browser, os.path.join(page.places.builddir, 'buildbeat')

    def record(directory, name):
        subprocess.run((program, 'record', '--no-git', '-o', directory, '-n', name, '--', 'sh', '-c', 'exit 0'),
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    with running_build(page, 'followed', MAKEFILE, '-k', '-j2') as (recording, go, build):
        directory = os.path.dirname(recording)
        go('a.o')
        go('b.o')
        build.wait()
        with served(page, directory) as server:
            shown = 'document.querySelector("#recording").value === "%s"'
            for path, name in (('/', 'second'), ('/chart', 'third')):
                server.open(path)
                browser.js('window.old = true')
                record(directory, name)
                browser.wait_over_load('!window.old && window.buildbeat && ' + shown % name)
                server.ready()
            server.open('/', rec='rec')
            browser.js('window.old = true')
            record(directory, 'fourth')
            browser.wait('[...document.querySelectorAll("#overview-builds th")].some(e => e.textContent === "fourth")')
            assert browser.js('return window.old && ' + shown % 'rec')
            assert browser.js('return document.title').startswith('failed - make')
