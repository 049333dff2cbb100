# SPDX-License-Identifier: MIT
"""Data that take the place of others, as those of a build that grows: the page then is what it
would be if it had been opened with them, and what the user set stays."""
import os
import re
import shutil

KEPT = '''const at = e => [...e.attributes].filter(a => !/^(id|aria-activedescendant)$/.test(a.name))
        .map(a => a.name + '=' + a.value).sort().join(' ');
    const text = e => e.nodeType === 3 ? e.data : e.nodeType !== 1 || e.style.display === 'none' ? '' :
        '<' + e.localName + ' ' + at(e) + '>' + [...e.childNodes].map(text).join('');
    document.querySelector('#bb').buildbeat.redraw();
    return text(document.querySelector('#bb-app')).replaceAll('<', '\\n<')'''


def _data(svg):
    with open(svg, encoding='utf-8') as f:
        return re.search(r'<script id="data"[^>]*>(.*?)</script>', f.read(), re.S).group(1)


def _until(page, name, end_s):
    """The recording as it was some seconds after its start."""
    whole, path = page.places.recording(name), page.places.path('%s-until-%g' % (name, end_s))
    if os.path.exists(path):
        return path
    shutil.copytree(whole, path)
    with open(os.path.join(whole, 'tasks.log'), encoding='utf-8') as f:
        lines = f.readlines()
    with open(os.path.join(path, 'tasks.log'), 'w', encoding='utf-8') as f:
        f.writelines(l for l in lines if '\t' not in l or int(l.split('\t')[1]) <= end_s * 1e6)
    with open(os.path.join(whole, 'build'), encoding='utf-8') as f:
        lines = f.readlines()
    with open(os.path.join(path, 'build'), 'w', encoding='utf-8') as f:
        f.writelines(l for l in lines if not re.match('end_us|status|tasks:', l))
    for log in os.listdir(path):
        if log.startswith('proc_'):
            with open(os.path.join(path, log), 'r+', encoding='utf-8') as f:
                lines = f.readlines()
                f.seek(0)
                f.truncate()
                f.writelines(lines[:2 + int(end_s)])
    return path


def _update(page, recording):
    done = page.browser.js_async('''const done = arguments[1];
        document.querySelector('#bb').buildbeat.update(arguments[0]).then(() => done('ok'), e => done(String(e)))''',
                                 _data(page.places.draw(recording)))
    assert done == 'ok', done
    page.settle()


def _see_all(page):
    """What is drawn when it comes into the window, is."""
    for selector in page.browser.js("return [...document.querySelectorAll('#bb-chart .panel')].map(e => '#' + e.id)"):
        page.scroll_to(selector)
    page.scroll_to('#bb-table')
    page.scroll_to('#bb-icicle')
    page.browser.js('scrollTo(0, 0)')
    page.settle()


def _as_opened(page, name, moments):
    whole = page.places.recording(name)
    page.open(whole)
    _see_all(page)
    wanted, state = page.browser.js(KEPT), page.state()
    page.open(_until(page, name, moments[0]))
    for moment in moments[1:]:
        _update(page, _until(page, name, moment))
    _see_all(page)
    _update(page, whole)
    page.browser.wait('!!document.querySelector("#bb-icicle svg path")')
    _see_all(page)
    assert page.state() == state, (page.state(), state)
    got = page.browser.js(KEPT)
    differ = [(a, b) for a, b in zip(wanted.split('\n'), got.split('\n')) if a != b]
    assert not differ and len(got) == len(wanted), (len(differ), len(wanted), len(got), differ[:3])


def page_is_as_if_opened_anew(page):
    for name, moments in (('known', (3, 40, 90)), ('unfinished', (1,)), ('nested', (2,)), ('one_task', (0,))):
        if hasattr(__import__('recordings'), name):
            _as_opened(page, name, moments)


def from_no_task_to_many(page):
    _as_opened(page, 'known', (0.1,))


def what_was_set_stays(page):
    """Zoom, search, the chosen task, folds, the sorted table, a range, the focus and a place in the tree."""
    page.open(_until(page, 'known', 60))
    page.zoom_to(20, 40)
    page.browser.js('''const b = document.querySelector('#bb').buildbeat;
        b.choose(7); b.select(22, 30)''')
    page.browser.js('''document.querySelector('#bb-p-cpu .fold').click();
        document.querySelector('#bb-head .facts-box button').click()''')
    page.focus('#bb-search')
    page.type('part1')
    page.browser.wait('document.querySelector("#bb").buildbeat.state().q === "part1"')
    page.scroll_to('#bb-table')
    page.browser.js('[...document.querySelectorAll("#bb-tasks .head button")].find(b => b.textContent === "CPU").click()')
    page.settle()
    page.focus('#bb-detail .task')
    before = page.state()
    focus = page.browser.js('return document.activeElement.textContent')
    _update(page, page.places.recording('known'))
    after = page.state()
    for key in ('from', 'until', 'q', 'task', 'range', 'colour', 'only', 'sort'):
        assert after[key] == before[key], (key, before[key], after[key])
    assert after['tasks'] > before['tasks'] and after['matches'] > 0
    got = page.browser.js('''return [document.activeElement.textContent,
        document.querySelector('#bb-p-cpu .fold').getAttribute('aria-expanded'),
        document.querySelector('#bb-head').className, document.querySelector('#bb-tasks [aria-sort="descending"]').textContent]''')
    assert got == [focus, 'false', 'open', 'CPU'], got


def nothing_changes_between_the_halves_of_a_click(page):
    page.open(_until(page, 'known', 60))
    text = _data(page.places.draw(page.places.recording('known')))
    box = page.box('#bb-head .facts-box button')
    page.browser.js('window.before = document.querySelector("#bb").buildbeat.state().tasks')
    page.browser.js('''window.dispatchEvent(new PointerEvent('pointerdown'));
        window.updated = document.querySelector('#bb').buildbeat.update(arguments[0]).then(() => window.came = true)''', text)
    page.browser.frames(10)
    assert not page.browser.js('return window.came'), box
    page.browser.js('window.dispatchEvent(new PointerEvent("pointerup"))')
    page.browser.wait('window.came')


def damaged_data_leave_the_page(page):
    page.open(_until(page, 'known', 60))
    state = page.state()
    for text in ('', '{', '{"tasks": 1}\n', _data(page.places.draw(page.places.recording('known')))[:3000]):
        said = page.browser.js_async('''const done = arguments[1];
            document.querySelector('#bb').buildbeat.update(arguments[0]).then(() => done('ok'), () => done('no'))''', text)
        assert said == 'no', said
    page.settle()
    assert page.state() == state
