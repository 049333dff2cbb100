# SPDX-License-Identifier: MIT
"""The page of a build's output and the bootchart beside it, which link to each other."""

MAKEFILE = '''all: good bad
good: ; sleep 0.1; printf '\\033[33mbe careful\\033[0m\\n'
bad: ; until grep -q careful logged/output.log; do sleep 0.01; done; echo '<b>broken</b>'; exit 3
'''


def _open(page, name, fragment=''):
    """chart.svg or log.html of a recording with output."""
    recording = page.places.logged(MAKEFILE)
    for other in ('bootchart.svg', 'log.html'):
        page.allow('%s/%s' % (recording, other))
    page.open_file('%s/%s' % (recording, name), fragment)


def _target(page):
    """The block of the page that the address names."""
    return page.browser.js('''const e = document.querySelector(':target');
        return e && {text: e.textContent, link: e.querySelector('a').getAttribute('href'),
                     top: e.getBoundingClientRect().top, height: innerHeight}''')


def _link(page):
    """From the task that is selected in the chart to its lines."""
    return page.browser.js('''const a = document.querySelector('#bb-detail a[href^="log.html"]');
        return a && a.getAttribute('href')''')


def chart_leads_to_lines(page):
    _open(page, 'bootchart.svg')
    page.ready()
    page.focus('#bb-lanes')
    page.press('ArrowRight')
    to = _link(page)
    assert to and to.startswith('log.html#t'), (to, page.detail())
    _open(page, 'log.html', to.partition('#')[2])
    target = _target(page)
    assert target['link'] == 'bootchart.svg#task=' + to[len('log.html#t'):], target
    assert 'be careful\n' in target['text'] or '<b>broken</b>\n' in target['text'], target
    assert 0 <= target['top'] < target['height'], target


def lines_lead_to_chart(page):
    _open(page, 'log.html')
    own = page.browser.js('''const a = [...document.querySelectorAll('.who a')].find(
        a => a.textContent === 'bad'); a.click(); return a.closest('section').id''')
    page.browser.wait('location.pathname.endsWith("/bootchart.svg")')
    page.ready()
    assert 't%d' % page.state()['task'] == own, (own, page.state())


def is_readable(page):
    _open(page, 'log.html')
    for width in (1400, 390):
        page.browser.resize(width, 800)
        page.settle()
        wide = page.browser.js('return document.documentElement.scrollWidth - innerWidth')
        assert wide <= 0, (width, wide)
    colours = page.browser.js('''return [...document.querySelectorAll('pre span')]
        .map(e => [e.textContent, getComputedStyle(e).color])''')
    assert any(text == 'be careful' for text, _ in colours), colours
    assert page.browser.js('return document.querySelectorAll("pre b").length') == 0
