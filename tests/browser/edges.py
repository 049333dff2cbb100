# SPDX-License-Identifier: MIT
"""Builds that are not like others open, say something, and take the wheel."""
import os


def _opens(page, recording, *options):
    page.open(recording, *options)
    whole = page.view()
    said = page.browser.js('''
        const bad = [...document.querySelectorAll('path, rect, svg, line, text')].filter(e =>
            [...e.attributes].some(a => /NaN|Infinity|undefined|null/.test(a.value)));
        return {bad: bad.map(e => e.outerHTML.slice(0, 200)),
                head: document.querySelector('#bb-head').textContent}''')
    assert not said['bad'], said['bad'][:2]
    assert said['head'].strip()
    page.scroll_to('#bb-lanes')
    page.wheel(*page.inside(), -2)
    page.press('ArrowRight', '0')
    assert page.view() == whole


def _says_so(page):
    assert 'No task was recorded.' in page.texts('#bb-chart p'), page.texts('#bb-chart p')
    assert not page.texts('#bb-colour') and 'path' not in page.texts('#bb-tools button')


def no_tasks(page):
    _opens(page, 'no_tasks')
    _says_so(page)


def nothing_at_all(page):
    _opens(page, 'nothing')
    _says_so(page)


def one_task(page):
    _opens(page, 'one_task')


def no_samples(page):
    _opens(page, 'no_samples')


def samples_with_a_gap(page):
    _opens(page, 'gap')


def unfinished(page):
    _opens(page, 'unfinished')


def all_in_one_second(page):
    _opens(page, 'one_second')


def ten_thousand_at_once(page):
    _opens(page, 'at_once')
    lanes = page.plot()['height']
    assert lanes < 3000, lanes


def rows_by_what_they_are(page):
    """The rows of --by say what they hold, and every task is in one of them."""
    for by, label in (('recipe', ''), ('directory', '.'), ('kind', 'compile')):
        _opens(page, 'known', '--by', by)
        rows = page.texts('#bb-lanes .label')
        assert any(label in row for row in rows), (by, rows)
        assert page.bars() >= 40, (by, page.bars())


def openembedded(page):
    """A genuine build's directory, as it is."""
    genuine = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'oe', 'genuine')
    _opens(page, genuine)
    tasks = page.places.show(page.recording)['tasks']
    assert page.state()['tasks'] == len(tasks) > 100
    page.focus('#bb-search')
    page.type('lib07')
    page.browser.wait('document.querySelector("#bb").buildbeat.state().q === "lib07"')
    named = sum('lib07' in t['key'] for t in tasks)
    assert page.state()['matches'] == named > 0, (page.state(), named)
    page.browser.js('document.activeElement.blur()')
    page.press('n')
    assert 'lib07' in page.detail(), page.detail()
