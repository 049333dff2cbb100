"""Builds that are not like others open, say something, and take the wheel."""


def _opens(page, recording, *options):
    page.open(recording, *options)
    said = page.browser.js('''
        const bad = [...document.querySelectorAll('path, rect, svg, line, text')].filter(e =>
            [...e.attributes].some(a => /NaN|Infinity|undefined|null/.test(a.value)));
        return {bad: bad.map(e => e.outerHTML.slice(0, 200)),
                head: document.querySelector('#head').textContent}''')
    assert not said['bad'], said['bad'][:2]
    assert 'make' in said['head'], said
    page.wheel(700, 400, -2)
    page.press('ArrowRight', '0')


def no_tasks(page):
    _opens(page, 'no_tasks')


def nothing_at_all(page):
    _opens(page, 'nothing')


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
    assert page.browser.js('return document.documentElement.getBBox().height') < 3000
