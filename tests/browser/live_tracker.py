# SPDX-License-Identifier: MIT
"""The tracker, a class and the graph: what they show is what the server says; pointer and keyboard."""
import json
import os
import subprocess

from live_server import SIZES, check_page, kill_unnoticed, running_build, served


def _tracker_state(browser):
    return json.loads(browser.js('''return JSON.stringify({
        bands: [...document.querySelectorAll('#main .band')].length,
        keys: [...document.querySelectorAll('.tracker-keys li')].map(e => e.textContent),
        answer: document.querySelector('.tracker-answer').textContent,
        status: document.querySelector('.tracker-status').textContent,
        heading: document.querySelector('main h2').textContent,
        rows: [...document.querySelectorAll('#tracker-table .entry:not(.head)')].map(e => e.textContent)})'''))


def the_peak_by_kind(page):
    """The sentence names the largest group at the peak; the table has all of them."""
    with served(page, page.places.recording('known')) as server:
        server.open('/tracker', metric='running')
        said = server.get('/api/v1/tracker?metric=running')
        state = _tracker_state(page.browser)
        largest = said['peak']['groups'][0]['name']
        assert state['answer'].startswith('The peak was ') and largest in state['answer'], state
        assert state['bands'] == len(said['series']) == len(state['keys']), state
        classes = server.get('/api/v1/classes?metric=running')['classes']
        assert len(state['rows']) == len(classes), state
        for width, height, mobile in SIZES:
            page.browser.resize(width, height, mobile)
            page.settle()
            check_page(server, 'the tracker at %d' % width)


def metrics_and_groups_are_chosen(page):
    """By the lists, in the address, and for each group its page."""
    browser = page.browser
    with served(page, page.places.recording('known')) as server:
        server.open('/tracker', metric='running')
        browser.js('''const s = document.querySelectorAll('main select')[1];
            s.value = 'task'; s.dispatchEvent(new Event('change'))''')
        browser.wait('new URLSearchParams(location.search).get("by") === "task" && '
                     '/by task/.test(document.querySelector("main svg").getAttribute("aria-label"))')
        assert 'by=task' in browser.url()
        name = browser.js('return document.querySelector(".tracker-keys a").textContent')
        browser.js('document.querySelector(".tracker-keys a").click()')
        browser.wait('location.pathname === "/class" && window.buildbeat')
        server.ready()
        assert name in browser.js('return document.querySelector("h1").textContent')
        count = server.get('/api/v1/class' + browser.js('return location.search'))['n_tasks']
        assert browser.js('return document.querySelectorAll(".class-tasks tbody tr").length') == min(100, count)
        rows = browser.js('return [...document.querySelectorAll(".class-wide:not(.class-tasks) th[scope=row]")].length')
        assert rows == sum(v['joined'] != 'first' and not v['needs'] for v in server.get('/api/v1/')['values']), rows
        check_page(server, 'a class')


def moments_by_key(page):
    """p is the peak, "." the next point, Escape the whole build again."""
    browser = page.browser
    with served(page, page.places.recording('known')) as server:
        server.open('/tracker', metric='running')
        browser.js('document.querySelector("main .areas").focus()')
        browser.press('p')
        browser.wait('/^At /.test(document.querySelector("main h2").textContent)')
        before = _tracker_state(browser)
        assert 'in total' in before['status'], before
        browser.press('.')
        browser.wait('document.querySelector(".tracker-status").textContent !== %s' % json.dumps(before['status']))
        browser.press('Escape')
        browser.wait('document.querySelector("main h2").textContent === "Over the whole build"')
        browser.press('+', '+')
        browser.wait('/^From /.test(document.querySelector("main h2").textContent)')


def grows_while_a_build_runs(page):
    """A task that starts appears without a reload."""
    with running_build(page, 'tracked', 'all: one two\none: ; until test -e go-one; do sleep .05; done\n'
                       'two: one ; until test -e go-two; do sleep .05; done\n') as (recording, go, _):
        with served(page, recording) as server:
            server.open('/tracker', metric='running', by='task')
            page.browser.wait('[...document.querySelectorAll(".tracker-keys li")].some(e => /one/.test(e.textContent))')
            go('one')
            page.browser.wait('[...document.querySelectorAll(".tracker-keys li")].some(e => /two/.test(e.textContent))')
            go('two')


def the_end_of_a_killed_build_is_asked_for(page):
    """The stream reports it before the replies do."""
    with running_build(page, 'tracked-end', 'all: ; until test -e go-one; do sleep .05; done\n') as (
            recording, _, build), served(page, recording) as server:
        server.open('/tracker', metric='running', by='task')
        page.browser.wait('[...document.querySelectorAll(".tracker-keys li")].some(e => /all/.test(e.textContent))')
        kill_unnoticed(page, recording, build)
        assert server.get('/api/v1/tracker?metric=running')['is_running']
        asked = 'performance.getEntriesByType("resource").filter(e => /v1.tracker/.test(e.name)).length'
        # What was noticed before, and the end, are asked for once each.
        page.browser.wait(asked + ' >= %d' % (page.browser.js('return ' + asked) + 3))


def _graph_names(browser):
    return browser.js('return [...document.querySelectorAll(".graph-box .node title")].map(e => e.textContent)')


def the_graph_is_walked(page):
    """Arrows choose a task, Enter shows what is around it, t opens its page."""
    browser = page.browser
    with served(page, page.places.recording('known')) as server:
        server.open('/graph')
        said = server.get('/api/v1/graph')
        assert len(_graph_names(browser)) == len(said['nodes'])
        assert browser.js('return document.querySelectorAll(".graph-box .edge").length') == len(said['edges'])
        for width, height, mobile in SIZES:
            browser.resize(width, height, mobile)
            page.settle()
            check_page(server, 'the graph at %d' % width)
        if len(said['nodes']) < 2:
            return
        browser.js('document.querySelector(".graph-box").focus()')
        browser.press('ArrowUp')
        chosen = browser.js('return document.querySelector(".node.chosen title").textContent')
        assert chosen != _graph_names(browser)[0], chosen
        browser.press('Enter')
        browser.wait('document.querySelector(".node.middle title").textContent === %s' % json.dumps(chosen))
        assert 'task=' in browser.url()
        browser.js('document.querySelector(".graph-box").focus()')
        browser.press('t')
        browser.wait('location.pathname === "/task"')


def a_real_cycle(page):
    """make drops a dependency; the page shows the cycle, with the dropped one marked."""
    places, browser = page.places, page.browser
    directory = places.path('circular')
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, 'Makefile'), 'w', encoding='utf-8') as f:
        f.write('a: b\n\ttouch a\nb: c\n\ttouch b\nc: a\n\ttouch c\n')
    subprocess.run((os.path.join(places.builddir, 'buildbeat'), 'record', '--log', '-n', 'cycle', '--', 'make', 'a'),
                   cwd=directory, check=True, capture_output=True)
    with served(page, os.path.join(directory, 'buildstats', 'cycle')) as server:
        server.open('/graph')
        browser.wait('document.querySelector("#main a[href*=\'cycle=0\']")')
        browser.js('document.querySelector("#main a[href*=\'cycle=0\']").click()')
        browser.wait('/cycle=0/.test(location.search) && window.buildbeat')
        server.ready()
        assert browser.js('return document.querySelectorAll(".edge.reported").length') == 1
        assert len(_graph_names(browser)) == 3, _graph_names(browser)
        check_page(server, 'a cycle')
