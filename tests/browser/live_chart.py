# SPDX-License-Identifier: MIT
"""The bootchart in a page of a server, while a real build runs and when it has ended."""
import os
import shutil
import subprocess

from live_server import SIZES, kill_build, kill_unnoticed, running_build, served
from updates import KEPT, _see_all

MAKEFILE = '''all: one.o two.o three.o bad four.o
one.o two.o three.o four.o:
\t@until test -e go-$@; do sleep 0.02; done; echo made $@
bad:
\t@until test -e go-$@; do sleep 0.02; done; exit 3
four.o: one.o
'''
SHOWN = '''const path = name => [...document.querySelectorAll('#bb-lanes path.' + name)]
        .map(p => p.getAttribute('d')).join('');
    return {running: path('running'), cross: path('cross'), unfinished: path('unfinished'),
            bars: (path('bar').match(/M/g) || []).length,
            names: [...document.querySelectorAll('#bb-lanes text.name')]
                .filter(e => e.checkVisibility()).map(e => e.textContent.split(' ')[0]),
            head: document.querySelector('#bb-head').innerText,
            marks: document.querySelector('#bb-marks').innerText}'''
STATE = 'document.querySelector("#bb").buildbeat.state()'


def _shown(page):
    return page.browser.js(SHOWN)


def _wait(page, condition):
    """state: what the chart says of itself; shown: what is seen."""
    return page.browser.wait('(() => { const state = %s, shown = (() => {%s})(); return %s })()'
                             % (STATE, SHOWN, condition))


def _open(server):
    server.page.browser.console_errors()        # of the page before
    server.open('/chart')
    server.page.ready()


def late_comers_see_the_history_and_what_follows(page):
    with running_build(page, 'late', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        go('one.o')
        _open(server)
        _wait(page, 'state.tasks >= 4 && shown.names.includes("two") && shown.names.includes("one")')
        assert 'running' in _shown(page)['marks']
        assert 'running for' in _shown(page)['head'] and 'unfinished' not in _shown(page)['head']
        # Running bars grow with the clock, without any message.
        before = page.state()
        assert before['from'] == 0
        _wait(page, 'state.until > %r' % (before['until'] + 0.3))
        grown = _shown(page)
        assert grown['running'] and grown['running'].count('z') == 0, grown['running']
        go('bad')
        _wait(page, 'shown.cross')
        go('two.o')
        go('three.o')
        go('four.o')
        build.wait()
        _wait(page, '!shown.running && /failed with exit status/.test(shown.head)')
        assert not _shown(page)['unfinished']
        until = page.view()
        page.browser.frames(20)
        assert page.view() == until


def the_end_is_the_picture(page):
    """When the build has ended, everything is as in bootchart.svg of its recording."""
    with running_build(page, 'end', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        _open(server)
        for target in ('one.o', 'bad', 'three.o'):
            go(target)
            _wait(page, 'shown.names.length >= 1')
        for target in ('two.o', 'four.o'):
            go(target)
        build.wait()
        _wait(page, '/failed with exit status/.test(shown.head) && state.tasks === 5')
        part = KEPT.replace("'#bb-app'", "'#bb-chart'")
        _see_all(page)
        live, state = page.browser.js(part), page.state()
        page.open(path)
        _see_all(page)
        assert page.state() == state, (page.state(), state)
        wanted = page.browser.js(part)
        differ = [(a, b) for a, b in zip(wanted.split('\n'), live.split('\n')) if a != b]
        assert wanted == live, (len(wanted), len(live), differ[:4])


def zoom_stays_until_it_follows(page):
    with running_build(page, 'zoomed', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        _open(server)
        _wait(page, 'state.until > 0.5')
        page.zoom_to(0.1, 0.3)
        page.browser.js('document.querySelector("#bb").buildbeat.choose(1)')
        page.focus('#bb-search')
        page.type('.o')
        go('one.o')
        _wait(page, 'state.q === ".o" && state.tasks >= 4')
        go('bad')
        page.browser.wait('document.querySelector("#bb-head").innerText.includes("1 failed")')
        start, end = page.view()
        assert abs(start - 0.1) < 1e-3 and abs(end - 0.3) < 1e-3, (start, end)
        assert page.state()['task'] == 1 and page.browser.js('return document.activeElement.id') == 'bb-search'
        assert page.browser.js('return [...document.querySelectorAll("#bb-tools button")].find(b => b.textContent === "follow").getAttribute("aria-pressed")') == 'false'
        page.press('Escape', 'f')
        _wait(page, 'state.until > %r && state.from > 0.1' % (end + 0.5))
        start, end = page.view()
        assert abs(end - start - 0.2) < 0.01, (start, end)
        page.press('0')
        _wait(page, 'state.from === 0 && state.until > %r' % (end + 0.1))


def a_task_leads_to_its_page_and_its_lines(page):
    with running_build(page, 'lines', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        go('one.o')
        _open(server)
        _wait(page, 'state.tasks >= 4')
        page.focus('#bb-lanes')
        page.press('ArrowRight')
        assert page.state()['task'] >= 0
        page.browser.wait('document.querySelector("#bb-detail").innerText.includes("all about this task")')
        for i in range(4):
            page.browser.js('document.querySelector("#bb").buildbeat.choose(arguments[0])', i)
            page.settle()
            if 'one.o' in page.detail():
                break
        page.browser.wait('document.querySelector("#bb-detail").innerText.includes("made one.o")')
        address = page.browser.js('return document.querySelector("#bb-detail a").getAttribute("href")')
        assert address.startswith('/task?') and 'task=' in address, address


def messages_are_drawn_before_the_data_have_them(page):
    """A task that failed, and one that took its worker, as messages say while the data do not."""
    with running_build(page, 'messages', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        _open(server)
        _wait(page, 'state.tasks === 4 && shown.running')
        with open(os.path.join(path, 'tasks.log'), encoding='utf-8') as f:
            task = next(l.split('\t')[2] for l in f if l.startswith('start\t'))
        end_us = int(page.view()[1] * 1e6)
        page.browser.js('''const [task, end] = arguments;
            document.querySelector('#bb').buildbeat.hear({task: task + '77', directory: '.', name: 'later.o', kind: 'compile',
                state: 'running', hosting: false, start_us: end + 1, end_us: null})''', task, end_us)
        start_us = page.browser.js_async('''const done = arguments[0];
            fetch('/api/v1/now').then(r => r.json()).then(o => done(o.running ? o.running.map(t => [t.task, t.start_us]) : []))''')
        start_us = dict(start_us)[task]
        page.browser.js('''const [id, start_us, end_us] = arguments;
            document.querySelector('#bb').buildbeat.hear({task: id, directory: '.', name: 'x', state: 'failed', start_us, end_us, exit_status: 2})''',
                        task, start_us, end_us)
        _wait(page, 'shown.cross && state.tasks === 5 && shown.names.some(n => n.startsWith("later"))')
        # The next data still have it running: what is known stays.
        seen = page.state()['until']
        _wait(page, 'state.until > %r && shown.cross && state.tasks === 5' % (seen + 2.5))


def a_killed_build_is_unfinished(page):
    with running_build(page, 'killed', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        _open(server)
        _wait(page, 'shown.running')
        kill_build(path, build)
        _wait(page, 'shown.unfinished && !shown.running && /unfinished/.test(shown.head)')
        assert page.state()['tasks'] >= 3


def the_end_is_asked_for_until_it_is_known(page):
    """The stream has ended, but the server still takes the build for a running one: its files are new."""
    with running_build(page, 'late-end', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        _open(server)
        _wait(page, 'shown.running')
        grow_old = kill_unnoticed(page, path, build)
        before = page.state()['tasks']
        with open(os.path.join(path, 'tasks.log'), 'a', encoding='utf-8') as f:
            f.write('open\t0\tlate\t99999999\t0\t99999999\tmake\t4.3\t/\tmake\n'
                    'start\t1\tlate.1\t99999998\t0\tcompile\tlate.o\t\tcc -c late.c\n')
        _wait(page, 'shown.running && state.tasks > %d' % before)
        grow_old()
        _wait(page, 'shown.unfinished && !shown.running && /unfinished/.test(shown.head)')


def a_deleted_recording_leaves_its_chart(page):
    with running_build(page, 'deleted-chart', MAKEFILE, '-k', '-j5') as (path, go, build):
        root = os.path.dirname(path)
        with served(page, root) as server:
            _open(server)
            _wait(page, 'shown.running')
            shutil.rmtree(path)
            for target in ('one.o', 'two.o', 'three.o', 'four.o', 'bad'):
                go(target)
            build.wait()
            _wait(page, '/was deleted/.test(shown.head)')
            assert page.state()['tasks'] >= 3
            page.browser.console_errors()


def an_interruption_is_told_and_ends(page):
    with running_build(page, 'cut', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        _open(server)
        _wait(page, 'shown.running')
        conditions = {'latency': 0, 'downloadThroughput': -1, 'uploadThroughput': -1}
        page.browser.cdp('Network.enable')
        page.browser.cdp('Network.emulateNetworkConditions', offline=True, **conditions)
        page.browser.js('dispatchEvent(new Event("reachable"))')
        _wait(page, '/server is unreachable/.test(shown.head)')
        go('bad')
        page.browser.cdp('Network.emulateNetworkConditions', offline=False, **conditions)
        _wait(page, '!/unreachable/.test(shown.head) && shown.cross')
        page.browser.console_errors()


def another_server_goes_on(page):
    """At the same address, when the page has its token."""
    with running_build(page, 'restart', MAKEFILE, '-k', '-j5') as (path, go, build):
        with served(page, path) as server:
            _open(server)
            _wait(page, 'shown.running')
            server.process.terminate()
            server.process.wait()
            _wait(page, '/server is unreachable/.test(shown.head)')
            until = page.view()[1]
            page.browser.frames(20)
            assert page.view()[1] == until
            go('bad')
            address = server.url.split('//')[1]
            again = subprocess.Popen((os.path.join(page.places.builddir, 'buildbeat'), 'serve', '--listen', address, path),
                                     stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                     env=dict(os.environ, XDG_RUNTIME_DIR=page.places.tmp))
            try:
                entry = again.stdout.readline().strip()
                _wait(page, '/needs the token/.test(shown.head)')
                page.browser.js('fetch(arguments[0])', entry)
                _wait(page, '!/token|unreachable/.test(shown.head) && shown.cross && state.until > %r' % until)
            finally:
                page.browser.open('about:blank')
                again.terminate()
                again.wait()
                again.stdout.close()
            page.browser.console_errors()


def every_window(page):
    with running_build(page, 'windows', MAKEFILE, '-k', '-j5') as (path, go, build), served(page, path) as server:
        go('bad')
        for scheme in ('light', 'dark'):
            page.browser.media('', scheme)
            for width, height, mobile in SIZES:
                page.browser.resize(width, height, mobile)
                _open(server)
                _wait(page, 'shown.cross && shown.running')
                said = page.browser.js('''const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
                    return [document.documentElement.scrollWidth - document.documentElement.clientWidth,
                            document.querySelectorAll('h1').length, document.querySelectorAll('main').length,
                            ids.filter((id, i) => ids.indexOf(id) !== i).length]''')
                assert said == [0, 1, 1, 0], (width, scheme, said)


def wrong_addresses_say_what_is_wrong(page):
    with served(page, page.places.recording('known')) as server:
        for query, said in (('rec=none', 'none'), ('with=none', "no recording 'none'"), ('with=..%2f..', 'no recording')):
            page.browser.open(server.url + '/chart?' + query)
            page.browser.wait('document.querySelector(".failed")')
            text = page.browser.js('return document.querySelector(".failed").innerText')
            assert said in text or 'no such' in text, (query, text)
            page.browser.console_errors()


def one_build_against_another(page):
    both = page.places.path('both')
    os.makedirs(both)
    for name in ('known', 'second_build'):
        shutil.copytree(page.places.recording(name), os.path.join(both, name))
    with served(page, both) as server:
        page.browser.console_errors()
        server.open('/chart', rec='second_build', **{'with': 'known'})
        page.ready()
        assert page.texts('#bb-compare h2 .fold') == ['The other build']
        assert page.state()['colour'] == 'difference'
