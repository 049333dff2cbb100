# SPDX-License-Identifier: MIT
"""Comparisons, and the history of an archive: charts, changes, notes with and without control."""
import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

from live_server import SIZES, check_page, served

TASK = 'recipe-00002: do_fetch'


def _archive(page, name):
    """30 tasks, of which one is slower from build 18 on; the first of its changes, as history has it."""
    places, repo = page.places, page.places.path(name)
    generator = os.path.join(places.builddir, 'tests', 'gen_archive')
    subprocess.run([generator, '--tasks', '30', '--builds', '25', '--noise', '3%', '--step', '20/18/80%', repo], check=True)
    return repo


def _refs(repo):
    return subprocess.run(['git', '-C', repo, 'for-each-ref'], stdout=subprocess.PIPE, check=True).stdout


def _row(what):
    return ('''[...document.querySelectorAll(".history-event tr")].find(r => r.textContent.includes(%s))''' %
            json.dumps(what))


def _click(page, what, button):
    page.browser.js('''[...%s.querySelectorAll("button")].find(b => b.textContent === %s).click()''' %
                    (_row(what), json.dumps(button)))


def changes_are_shown(page):
    """The change that was made is the newest one; the chart of its task has a mark there."""
    repo = _archive(page, 'shown.git')
    with served(page, repo) as server:
        server.open('/history')
        shown = page.browser.js('return document.querySelector(".history-event").textContent')
        assert TASK in shown and 'confirmed' in shown and 'Worse since 2026-01-19' in shown, shown
        server.open('/history', of=TASK)
        assert page.browser.js('return document.querySelectorAll(".history-worse").length') >= 1
        assert TASK in page.browser.js('return document.title')
        for width, height, mobile in SIZES:
            page.browser.resize(width, height, mobile)
            server.open('/history')
            check_page(server, '/history at %d' % width)


def builds_have_names(page):
    """A build of an archive is its date, branch, revision, command, host and result, never a bare id."""
    with served(page, _archive(page, 'named.git')) as server:
        builds = server.get('/api/v1/recordings')['recordings']
        assert all(b['branch'] and b['host'] and b['machine'] and b['revision'] for b in builds), builds[0]
        b = builds[-1]
        title = ', '.join(t for t in ('%s, %s, %s' % (b['start'][:19].replace('T', ' '), b['branch'], b['revision'][:8]),
                                      b['command'], b['host'], b['result']) if t)
        for path in '/', '/compare':
            server.open(path)
            page.browser.wait('document.querySelector("#recording").options.length === 25')
            options = page.browser.js('return [...document.querySelector("#recording").options].map(o => o.textContent)')
            assert options[0] == title, (options[0], title)
            page.browser.wait('!/[0-9a-f]{40}/.test(document.body.innerText)')
        server.open('/')
        page.browser.wait('document.querySelector("#overview-builds tbody a")')
        name = page.browser.js('return document.querySelector("#overview-builds tbody a").textContent')
        assert title.startswith(name) and name.startswith('20'), name


def read_only_without_control(page):
    """The page shows the command, which is what the button would do; nothing is written."""
    repo = _archive(page, 'read.git')
    before = _refs(repo)
    with served(page, repo) as server:
        server.open('/history')
        _click(page, TASK, 'Acknowledge')
        page.browser.js('''const i = document.querySelector(".history-form input"); i.value = "it's known";
            i.dispatchEvent(new Event("input"))''')
        command = page.browser.js('return document.querySelector(".history-form code").textContent')
        assert page.browser.js('return document.querySelectorAll(".history-form button").length') == 0
        request = urllib.request.Request(server.url + '/api/v1/tasks', method='POST', data=json.dumps(
            {'do': 'ack', 'total': True, 'metric': 'cpu', 'build': '00', 'reason': 'x'}).encode(), headers={
                'Authorization': 'Bearer ' + server.entry.split('token=')[1], 'Origin': server.url,
                'Content-Type': 'application/json'})
        try:
            status = urllib.request.urlopen(request, timeout=600).status
        except urllib.error.HTTPError as e:
            status = e.code
        assert status == 403, status
    assert _refs(repo) == before
    program = os.path.join(page.places.builddir, 'buildbeat')
    assert command.startswith('buildbeat accept --known '), command
    subprocess.run(['sh', '-c', program + command[len('buildbeat'):]], check=True, stdout=subprocess.DEVNULL,
                   cwd=page.places.tmp)
    notes = subprocess.run([program, 'accept', '--known', '--repo', repo, '--list'], stdout=subprocess.PIPE, check=True,
                           cwd=page.places.tmp).stdout.decode()
    assert TASK in notes and "it's known" in notes, notes


def states_are_shown(page):
    """Who handles a change, its bug report as a link, and what will fix it; other schemes are no link."""
    repo = _archive(page, 'states.git')
    accept = [os.path.join(page.places.builddir, 'buildbeat'), 'accept', '--repo', repo, '--known', TASK]
    subprocess.run(accept + ['slow', '--owner', 'Ann <b>', '--bug', 'https://bugs.example/1', '--fixed-by', '1a2b3c4d'],
                   check=True, stdout=subprocess.DEVNULL, cwd=page.places.tmp)
    with served(page, repo) as server:
        server.open('/history')
        shown = page.browser.js('return %s.textContent' % _row(TASK))
        assert ': slow; owner Ann <b>; https://bugs.example/1; to be fixed by 1a2b3c4d' in shown, shown
        assert page.browser.js('return %s.querySelector("a[rel]").href' % _row(TASK)) == 'https://bugs.example/1'
    note = subprocess.run(['git', '-C', repo, 'log', '-p', 'refs/notes/buildbeat'], stdout=subprocess.PIPE, check=True)
    assert b'[bug: https' in note.stdout
    build = subprocess.run(accept[:4] + ['--known', '--list', '--json'], stdout=subprocess.PIPE, check=True,
                           cwd=page.places.tmp).stdout
    subprocess.run(['git', '-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@b', 'notes', '--ref=buildbeat', 'add', '-f',
                    '-m', 'ack all "%s" by "x" at 2026-02-01T00:00:00Z: y [bug: javascript:alert(1)] [invalid]' % TASK,
                    json.loads(build)[0]['build']], check=True, stderr=subprocess.DEVNULL)
    with served(page, repo) as server:
        server.open('/history')
        shown = page.browser.js('return %s.textContent' % _row(TASK))
        assert 'invalid by x: y; javascript:alert(1)' in shown, shown
        assert page.browser.js('return %s.querySelector("a[rel]")' % _row(TASK)) is None


def notes_with_control(page):
    """A change is acknowledged, withdrawn and accepted; the page and the command line agree."""
    repo = _archive(page, 'control.git')
    with served(page, repo, '--allow-control') as server:
        server.open('/history')
        for button, state in [('Acknowledge', 'acknowledged'), ('Accept', 'accepted')]:
            _click(page, TASK, button)
            page.browser.js('''const i = document.querySelector(".history-form input"); i.value = "<b>why</b> $(id)";
                i.form.requestSubmit()''')
            page.browser.wait(_row(TASK) + '.textContent.includes("%s by")' % state)
            assert page.browser.js('return document.querySelectorAll("#main b").length') == 0
            known = [c['known'] for e in server.get('/api/v1/history')['events'] for c in e['changes'] if c['known']]
            assert known and known[0]['kind'] == state and known[0]['reason'] == '<b>why</b> $(id)', known
            if state == 'acknowledged':
                _click(page, TASK, 'Withdraw')
                page.browser.wait('!' + _row(TASK) + '.textContent.includes("%s by")' % state)


def two_recordings(page):
    """The comparison that buildbeat diff prints; another choice is another comparison."""
    repo = _archive(page, 'compared.git')
    with served(page, repo) as server:
        builds = [r['name'] for r in server.get('/api/v1/recordings')['recordings']]
        server.open('/compare', a=builds[3], b=builds[20])
        page.browser.wait('document.querySelector("#main tbody").children.length > 0')
        shown = page.browser.js('return document.querySelector("#main section tbody tr").textContent')
        assert shown.startswith(TASK), shown
        page.browser.js('''const s = document.querySelector("#compare-b"); s.value = arguments[0];
            s.dispatchEvent(new Event("change"))''', builds[3])
        page.browser.wait('document.querySelector("#main .tracker-answer").textContent.includes("0 s ")')
        assert page.browser.js('return new URL(location.href).searchParams.get("b")') == builds[3]
        for width, height, mobile in SIZES:
            page.browser.resize(width, height, mobile)
            server.open('/compare', a=builds[3], b=builds[20])
            check_page(server, '/compare at %d' % width)


def tasks_of_one_build(page):
    """A task that the other build does not have has no time there."""
    both = page.places.path('other-tasks')
    for name in ('known', 'hostile'):
        shutil.copytree(page.places.recording(name), os.path.join(both, name))
    with served(page, both) as server:
        server.open('/compare', a='known', b='hostile')
        page.browser.wait('document.querySelector("#main section tbody") !== null')
        rows = page.browser.js('''return [...document.querySelectorAll("#main tbody tr")].map(r => [...r.cells].slice(-3)
            .map(c => c.textContent)).filter(c => c[2] === "gone" || c[2] === "new")''')
        assert rows and all((last == 'gone') == (new == '') and (last == 'new') == (base == '') for base, new, last in rows), rows


def plain_directory(page):
    """A directory has no history, and one recording nothing to compare: the pages say so."""
    with served(page, page.places.recording('known')) as server:
        server.open('/history')
        assert 'archive' in page.browser.js('return document.querySelector("#main").textContent')
        server.open('/compare')
        assert 'Two recordings' in page.browser.js('return document.querySelector("#main").textContent')
