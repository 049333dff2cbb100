# SPDX-License-Identifier: MIT
"""Names are text, whatever is in them, and nothing is fetched for anybody."""
import recordings
from chart import url_of


def _not_run(page):
    assert page.browser.js('return typeof window.pwned') == 'undefined'
    strange = page.browser.js('''return [...document.querySelectorAll('*')].flatMap(e =>
        [...e.attributes].filter(a => /^on/.test(a.name)).map(a => e.localName + ' ' + a.name))''')
    assert not strange, strange
    assert page.browser.js('return document.querySelectorAll("script").length') == 2
    assert page.browser.js('return document.querySelectorAll("img, iframe, a, object").length') == 0


def hostile_alone(page):
    page.open('hostile')
    _not_run(page)
    text = page.browser.js('return document.querySelector("#bb-head").textContent')
    assert recordings.HOSTILE[0] in text, text


def hostile_in_a_page(page):
    """A report has the file's text in it, where HTML's rules hold for it."""
    page.open_inline('hostile')
    _not_run(page)
    assert recordings.HOSTILE[0] in page.browser.js(
        'return document.querySelector("#bb-head").textContent')


def asks_for_nothing(page):
    """Not while it opens, not while it is used; nor is anything named that could be."""
    page.open('known')
    page.browser.wheel(700, 600, -240)
    page.browser.move(720, 620)
    page.browser.frames()
    assert [url for url in page.browser.requested() if url != url_of(page.svg)] == []
    named = page.browser.js(r'''return [...document.querySelectorAll('*')].flatMap(e =>
        [...e.attributes].filter(a => /^(src|srcset|href|xlink:href|data|action)$/.test(a.name) &&
                                      !a.value.startsWith('#')).map(a => a.value))''')
    assert not named, named
    style = page.browser.js('return [...document.querySelectorAll("style")]'
                            '.map(s => s.textContent).join("")')
    assert 'url(' not in style.replace('url(#', '') and '@import' not in style
