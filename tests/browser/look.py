# SPDX-License-Identifier: MIT
"""Dark ground, print, without script, in windows of other sizes."""
import base64
import re

from chart import url_of
from png import Picture


def _rgb(page, selector, what):
    text = page.browser.js('return getComputedStyle(document.querySelector(arguments[0]))'
                           '[arguments[1]]', selector, what)
    return [float(part) for part in text[text.index('(') + 1:-1].split(',')[:3]]


def _luminance(rgb):
    linear = [v / 255 / 12.92 if v / 255 <= 0.03928 else ((v / 255 + 0.055) / 1.055) ** 2.4
              for v in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _ground(page):
    """The colour that most of the picture has."""
    colours = Picture(page.browser.screenshot()).colours(7)
    return max(colours, key=colours.get)


def dark_ground(page):
    page.open('known')
    page.browser.media()
    light, ink, bar = _ground(page), _rgb(page, '#bb-head h1', 'color'), \
        _rgb(page, '#bb-lanes path.bar', 'fill')
    assert _luminance(light) > 0.8, light
    assert _contrast(light, ink) >= 4.5, (light, ink)
    page.browser.media(scheme='dark')
    dark, ink = _ground(page), _rgb(page, '#bb-head h1', 'color')
    assert _luminance(dark) < 0.1, dark
    assert _contrast(dark, ink) >= 4.5, (dark, ink)
    assert _rgb(page, '#bb-lanes path.bar', 'fill') != bar


def _is_one_page(page, what):
    pdf = base64.b64decode(page.browser.cdp('Page.printToPDF', printBackground=True,
                                            preferCSSPageSize=True)['data'])
    pages = re.findall(rb'/Type\s*/Page\b(?!s)', pdf)
    sizes = [tuple(round(float(n)) for n in found) for found in
             re.findall(rb'/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)', pdf)]
    assert len(pages) == 1 and sizes == [(842, 595)], (what, len(pages), sizes)
    assert len(pdf) > 10000, len(pdf)


def print_is_light_and_one_page(page):
    """The static picture, on one page A4 landscape, whatever the size of the window."""
    for recording, size in (('known', (1280, 800)), ('unfinished', (390, 844)),
                            (page.places.generated(2000, 300), (1280, 800))):
        page.browser.resize(*size)
        page.open(recording)
        assert page.texts('#bb-tools *')
        page.browser.media(media='print', scheme='dark')
        assert _luminance(_ground(page)) > 0.8
        assert page.texts('#bb-app *') == []
        _is_one_page(page, recording)
        page.browser.media()


def print_within_a_page(page):
    """The picture has its own place between the words of the page."""
    page.open_inline('known', '<p id="before">before</p>', '<p id="after">after</p>')
    page.browser.media(media='print')
    before, picture, after = (page.box(name) for name in ('#before', '#bb', '#after'))
    assert picture['height'] > 100 and page.texts('#bb-app *') == [], picture
    assert before['bottom'] <= picture['top'] and picture['bottom'] <= after['top'], \
        (before, picture, after)
    page.browser.media()


def _is_drawn(page):
    """Enough different colours, and enough that is not ground."""
    colours = Picture(page.browser.screenshot()).colours()
    total, ground = sum(colours.values()), max(colours.values())
    assert len(colours) > 20 and ground < 0.97 * total, (len(colours), ground / total)


def without_script(page):
    page.open('known')
    page.browser.cdp('Emulation.setScriptExecutionDisabled', value=True)
    page.browser.reload()
    said = page.browser.js('''return {
        bars: document.querySelectorAll('#lanes path.bar').length,
        panels: [...document.querySelectorAll('.panel')].map(p => p.id),
        drawn: [...document.querySelectorAll('.panel')].every(p => p.querySelector('.draw path')),
        text: [...document.querySelectorAll('text')].map(t => t.textContent),
        tools: !!document.querySelector('#tools'),
        script: 'buildbeat' in document.documentElement}''')
    assert not said['tools'] and not said['script']
    assert said['bars'] > 0 and said['drawn'], said
    assert {'p-cpu', 'p-running', 'p-memory', 'p-disk'} <= set(said['panels']), said['panels']
    text = '\n'.join(said['text'])
    for part in ('make -j4', 'builder', 'app', 'libparts.a'):
        assert part in text, (part, text)
    _is_drawn(page)


_TEXTS = '''
const all = document.documentElement.getBoundingClientRect();
const box = t => {
    const r = t.getBoundingClientRect(), thin = r.height * .2;

    return [r.left - all.left, r.top - all.top + thin, r.right - all.left,
        r.bottom - all.top - thin, t.textContent];
};
return {width: all.width, height: all.height,
    axis: document.querySelector('#time .tick').getBoundingClientRect().bottom - all.top,
    lanes: document.querySelector('#lanes .plot').getBoundingClientRect().top - all.top,
    texts: [...document.querySelectorAll('#bb text')].map(box)}'''


def _check_texts_without_script(page, recording):
    page.browser.resize(1280, 800)
    page.open(recording)
    page.browser.cdp('Emulation.setScriptExecutionDisabled', value=True)
    page.browser.reload()
    said = page.browser.js(_TEXTS)
    assert said['width'] == 1280 and said['lanes'] < 500 and said['axis'] < 500, said
    for i, (left, top, right, bottom, text) in enumerate(said['texts']):
        assert left >= 0 and right <= said['width'] and top >= 0 and \
            bottom <= said['height'], (text, left, right)
        for other in said['texts'][:i]:
            assert left >= other[2] or other[0] >= right or top >= other[3] or \
                other[1] >= bottom, (text, other)
    _is_one_page(page, recording)


def texts_without_script(page):
    """As the browser's own font draws them: none upon another, none out of the picture; the tasks
    and their axis begin on the first screen; one printed page."""
    _check_texts_without_script(page, 'known')


def texts_without_script_of_many(page):
    _check_texts_without_script(page, page.places.generated(2000, 300))


def as_an_image(page):
    """Where mail and wikis show it, no script runs."""
    page.open('known')
    page.open_file(page.places.write('image.html', '<!DOCTYPE html><title>x</title>'
                                     '<img id="i" src="%s">' % url_of(page.svg)))
    page.browser.wait('document.querySelector("#i").complete')
    size = page.browser.js('const i = document.querySelector("#i");'
                           'return [i.naturalWidth, i.naturalHeight]')
    assert size[0] >= 1000 and size[1] >= 400, size
    _is_drawn(page)
