# SPDX-License-Identifier: MIT
"""Pages with the processes of a build that runs, inspections and background tasks."""
import json
import os
import signal
import subprocess
import time

from live_server import SIZES, check_page, running_build, served

MAKEFILE = '''all: one two
one:
\t@exec %s --token aB3dE5gH7jK9mN1 --plain value
two:
\t@sh -c 'until test -e go-two; do sleep 0.05; done'
'''
PROGRAM = '''#include <pthread.h>
#include <unistd.h>
static void *thread(void *p) { for (;;) pause(); return p; }
__attribute__((noinline)) static int waits_here(void)
{
	return pause() + 1;	/* THE LINE */
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, thread, 0);
	return waits_here();
}
'''
ROWS = '''[...document.querySelectorAll('#processes .space .entry')].map(e => e.textContent)'''


def _makefile(page, name):
    """A build with a program that has debug information; its directory is the build's."""
    source = page.places.path(name + '.c')
    with open(source, 'w', encoding='utf-8') as f:
        f.write(PROGRAM)
    program = page.places.path(name + '-worker')
    subprocess.run(['cc', '-g', '-O1', '-pthread', '-o', program, source], check=True)
    return MAKEFILE % program


def _worker(server):
    """Its row."""
    server.page.browser.wait('%s.some(t => /-worker/.test(t))' % ROWS)
    return next(p for p in server.get('/api/v1/ps')['processes'] if '-worker' in p['command'])


def _arrive(server, path):
    """Until another page is loaded: what a page waits for is lost when it goes."""
    until = time.monotonic() + 600
    while not server.page.browser.js('return location.pathname === %r && document.readyState === "complete"' % path):
        assert time.monotonic() < until, path
        time.sleep(0.05)


def _open_worker(server):
    server.open('/processes')
    p = _worker(server)
    server.open('/process', pid=p['pid'], start=p['start_ticks'])
    server.page.browser.wait('/sleeping/.test(document.querySelector("#process-answer").textContent)')
    return p


def the_tree_is_kept_while_it_changes(page):
    browser = page.browser
    with running_build(page, 'ptree', _makefile(page, 'ptree'), '-j3') as (path, go, build), \
            served(page, path) as server:
        server.open('/processes')
        _worker(server)
        rows = browser.js('return ' + ROWS)
        assert rows[0].startswith('make'), rows
        indents = browser.js('''return [...document.querySelectorAll('#processes .space .entry')].map(e =>
            parseFloat(e.firstElementChild.style.paddingLeft))''')
        assert indents[0] < indents[1], indents
        browser.js('''const f = document.querySelector('#processes-search');
            f.value = 'worker'; f.dispatchEvent(new Event('input'))''')
        browser.wait('%s.length === 1' % ROWS)
        browser.js('''document.querySelector('#processes .space .entry').click(); window.updates = 0;
            new MutationObserver(() => window.updates++).observe(document.querySelector('#processes'),
                {childList: true, subtree: true, characterData: true})''')
        go('two')
        browser.wait('window.updates > 0 && %s.length === 1' % ROWS)
        assert browser.js('return document.querySelector("#processes-search").value') == 'worker'
        assert browser.js('return document.querySelectorAll("#processes .entry[aria-selected=true]").length') == 1
        # the secret is nowhere in the page
        assert 'aB3dE5gH7jK9mN1' not in browser.js('return document.documentElement.outerHTML')
        assert browser.js('return document.querySelector("#processes-snapshot").disabled')
        server.open('/processes', all=1)
        browser.wait('%s.length > 5' % ROWS)


def one_process(page):
    browser = page.browser
    with running_build(page, 'pone', _makefile(page, 'pone'), '-j3') as (path, _, build), \
            served(page, path) as server:
        _open_worker(server)
        browser.wait('''document.querySelectorAll('.process-chart path.process-first')[1].getAttribute('d').includes('L')''')
        for section, text in [('threads', 'pause'), ('files', '/dev/null'), ('environment', 'PATH'),
                              ('status', 'VmRSS'), ('limits', 'Max open files')]:
            browser.js('document.querySelector("#process-%s").open = true' % section)
            browser.wait('document.querySelector("#process-%s").textContent.includes(%r)' % (section, text))
        browser.js('document.querySelector("#process-maps").open = true')
        browser.wait('document.querySelectorAll("#process-maps-table .space .entry").length > 3')
        start = browser.js('return document.querySelector("#process-maps-table .space .entry").firstElementChild.textContent')
        browser.js('''const f = document.querySelector('#process-maps input'); f.value = %r;
            f.dispatchEvent(new Event('input'))''' % start)
        browser.wait('document.querySelector("#process-maps").textContent.includes("It is 0x0 bytes into")')
        chain = browser.js('return [...document.querySelectorAll(".process-chain li")].map(e => e.textContent)')
        assert chain[0].startswith('make') and any('-worker' in one for one in chain), chain
        assert browser.js('return document.querySelector("#process-inspect").disabled')
        assert 'aB3dE5gH7jK9mN1' not in browser.js('return document.documentElement.outerHTML')
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            check_page(server, 'a process at %d' % width)
        browser.resize(*SIZES[0])
        os.killpg(build.pid, signal.SIGTERM)
        build.wait()
        browser.wait('/has ended/.test(document.querySelector("#process-answer").textContent)')
        assert all('410' in one for one in browser.console_errors())


def stacks_on_request(page):
    browser = page.browser
    with running_build(page, 'pstack', _makefile(page, 'pstack'), '-j3') as (path, _, _), \
            served(page, path, '--allow-control') as server:
        _open_worker(server)
        browser.js('document.querySelector("#process-stack").click()')
        browser.wait('!document.querySelector("#process-stack").disabled')
        text = browser.js('return document.querySelector("#process-stacks").textContent')
        if 'no permission' in text:
            return
        assert 'waits_here' in text and 'pstack.c:6' in text, text
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            check_page(server, 'stacks at %d' % width)


def an_inspection(page):
    """From the dialog to its progress, its page, two snapshots compared, and its removal."""
    browser = page.browser
    with running_build(page, 'pinspect', _makefile(page, 'pinspect'), '-j3') as (path, _, _), \
            served(page, path, '--allow-control') as server:
        _open_worker(server)
        browser.js('document.querySelector("#process-inspect").click()')
        browser.wait('document.querySelector("#process-dialog") && document.querySelector("#process-dialog").open')
        browser.js('''const [period, count] = document.querySelectorAll('#process-dialog input[type=number]');
            period.value = 0.05; count.value = 4;
            document.querySelector('#process-dialog button[type=submit]').click()''')
        _arrive(server, '/tasks')
        server.ready()
        browser.wait('document.querySelector(".tasks-result a")')
        browser.js('document.querySelector(".tasks-one details").open = true')
        browser.wait('/snapshot 4 of 4/.test(document.querySelector(".tasks-log").textContent)')
        assert browser.js('return document.querySelector(".tasks-one progress").value') == 100
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            check_page(server, 'background tasks at %d' % width)
        browser.resize(*SIZES[0])
        browser.js('document.querySelector(".tasks-result a").click()')
        _arrive(server, '/inspection')
        browser.wait('document.querySelector("#inspection svg")')
        server.open('/inspections')
        browser.wait('document.querySelectorAll("#inspections .space .entry").length === 1')
        browser.js('document.querySelector("#inspections .space .entry").click()')
        browser.wait('!document.querySelector("#inspections-compare").hidden')
        browser.js('document.querySelector("#inspections-compare button").click()')
        browser.wait('/What grew in/.test(document.querySelector("#inspections-growth").textContent)')
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            check_page(server, 'inspections at %d' % width)
        browser.resize(*SIZES[0])
        browser.js('window.confirm = () => true; document.querySelector("#inspections-remove").click()')
        browser.wait('document.querySelectorAll("#inspections .space .entry").length === 0')
        assert not os.listdir(os.path.join(path, 'inspect'))


def every_process_of_a_name(page):
    """Followed from the list of processes until it is cancelled; one snapshot of the heaviest."""
    browser = page.browser
    with running_build(page, 'pfollow', _makefile(page, 'pfollow'), '-j3') as (path, _, _), \
            served(page, path, '--allow-control') as server:
        server.open('/processes')
        _worker(server)
        browser.js('''document.querySelector('#processes-follow input').value = 'pfollow-worker';
            document.querySelector('#processes-follow button').click()''')
        _arrive(server, '/tasks')
        server.ready()
        browser.wait('/every pfollow-worker/.test(document.querySelector("#tasks-list").textContent)')
        until = time.monotonic() + 600
        while not server.get('/api/v1/inspections')['inspections']:
            assert time.monotonic() < until
            time.sleep(0.1)
        browser.js('document.querySelector(".tasks-one button").click()')
        browser.wait('/cancelled/.test(document.querySelector("#tasks-list").textContent)')
        found = server.get('/api/v1/inspections')['inspections']
        assert [i['program'] for i in found] == ['pfollow-worker'] and found[0]['snapshots'] >= 1, found
        server.open('/processes')
        _worker(server)
        browser.wait('/heaviest/.test(document.querySelector("#processes-snapshot").textContent)')
        browser.js('document.querySelector("#processes-snapshot").click()')
        _arrive(server, '/tasks')
        server.ready()
        browser.wait('document.querySelector(".tasks-result a")')
        heaviest = max(server.get('/api/v1/ps')['processes'], key=lambda p: p['rss_kb'])
        assert str(heaviest['pid']) in browser.js('return document.querySelector(".tasks-one").textContent')


def charts_and_reports_are_started(page):
    """From the page of background tasks, with their progress; the result is what the command writes."""
    browser = page.browser
    with served(page, page.places.recording('known'), '--allow-control') as server:
        server.open('/tasks')
        browser.js('''const [chart, format] = document.querySelectorAll('#tasks-starts select');
            chart.value = 'bootchart'; chart.dispatchEvent(new Event('change'));
            document.querySelector('#tasks-starts button').click()''')
        browser.wait('document.querySelector(".tasks-result a")')
        assert browser.js('return document.querySelector(".tasks-one progress").value') == 100
        drawn = browser.js_async('''const done = arguments[0]; fetch(document.querySelector('.tasks-result a').href)
            .then(r => r.text()).then(t => done(t.slice(0, 200)))''')
        assert '<svg' in drawn, drawn
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            check_page(server, 'charts are started at %d' % width)
        browser.resize(*SIZES[0])
    repo = page.places.path('report.git')
    subprocess.run([os.path.join(page.places.builddir, 'tests', 'gen_archive'), '--tasks', '5', '--builds', '4', repo], check=True)
    with served(page, repo, '--allow-control') as server:
        server.open('/tasks')
        browser.js('document.querySelector("#tasks-starts button").click()')
        browser.wait('document.querySelector(".tasks-result a")')
        assert browser.js('return document.querySelector(".tasks-result a").download') == 'index.html'


def settings_of_inspections(page):
    """The keys and values that the command prints."""
    directory = page.places.path('settings')
    os.makedirs(directory)
    with open(os.path.join(directory, 'y.yaml'), 'w', encoding='utf-8') as f:
        f.write('inspect: {keep: 7, processes: {cc1plus: {interval: 500ms}}}\n')
    program = os.path.join(page.places.builddir, 'buildbeat')
    listed = json.loads(subprocess.run([program, 'inspect', 'settings', '-j', '-c', os.path.join(directory, 'y.yaml')],
                                       stdout=subprocess.PIPE, check=True).stdout)['settings']
    values = {s['key']: s['value'] for s in listed}
    assert values['inspect.keep'] == '7' and values['inspect.processes.cc1plus.interval'] == '0.5s', values
    assert values['inspect.classes'] is None
    with served(page, page.places.recording('known')) as server:
        server.open('/settings')
        shown = page.browser.js('''return [...document.querySelectorAll('#settings-table tbody tr')].map(r =>
            [...r.cells].map(c => c.textContent))''')
        theirs = server.get('/api/v1/settings')['settings']
        assert [row[0] for row in shown] == [s['key'] for s in theirs]
        assert all(s['description'] for s in theirs)


def without_control(page):
    """Buttons that would change something are disabled, with the reason, and so is the server."""
    with served(page, page.places.recording('known')) as server:
        server.open('/tasks')
        assert '--allow-control' in page.browser.js('return document.querySelector("#main").textContent')
        assert page.browser.js_async('''const done = arguments[0]; fetch('/api/v1/tasks', {method: 'POST', body: '{}'})
            .then(r => done(r.status))''') == 403
        for path, text in (('/inspections', 'Remove'), ('/processes', 'Follow')):
            server.open(path, all=1)
            shown, looks = page.browser.js('''const b = [...document.querySelectorAll("button")].find(
                b => b.textContent === arguments[0]); return [b.closest(".tools").textContent, getComputedStyle(b).opacity]''', text)
            assert 'only reads: start buildbeat serve with --allow-control' in shown and float(looks) < 1, (shown, looks)
        page.browser.console_errors()
