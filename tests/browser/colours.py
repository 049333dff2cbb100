# SPDX-License-Identifier: MIT
"""What the colours mean, the legend, and that everyone can distinguish them."""
import itertools
import math
import re

from range import _seconds

# Machado, Oliveira, Fernandes 2009, as in tests/check_palette.c: normal, protan, deutan, tritan.
VISIONS = [((1, 0, 0), (0, 1, 0), (0, 0, 1)),
           ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
            (-0.003882, -0.048116, 1.051998)),
           ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
            (-0.011820, 0.042940, 0.968881)),
           ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
            (0.004733, 0.691367, 0.303900))]
XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
       (0.0193339, 0.1191920, 0.9503041))
LEAST_DIFFERENCE = 10
LEAST_CONTRAST = 3
LEAST_OF_WORDS = 4.5


def _times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def _linear(rgb):
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]


def _contrast(one, other):
    light, dark = sorted((sum(a * b for a, b in zip((0.2126, 0.7152, 0.0722), _linear(c)))
                          for c in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _lab(rgb, vision):
    seen = [min(max(c, 0), 1) for c in _times(vision, _linear(rgb))]
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
               for t in (v / w for v, w in zip(_times(XYZ, seen), (0.95047, 1, 1.08883))))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _ciede2000(p, q):
    def seventh(c):
        return math.sqrt(c ** 7 / (c ** 7 + 25 ** 7))
    g = 1.5 - seventh((math.hypot(*p[1:]) + math.hypot(*q[1:])) / 2) / 2
    (c1, h1), (c2, h2) = ((math.hypot(a * g, b), math.degrees(math.atan2(b, a * g)) % 360)
                          for _, a, b in (p, q))
    turn = (h2 - h1 + 180) % 360 - 180
    lightness, chroma = (p[0] + q[0]) / 2 - 50, (c1 + c2) / 2
    hue = h1 + turn / 2 if c1 * c2 else h1 + h2
    t = sum(f * math.cos(math.radians(k * hue - at)) for f, k, at in (
        (-0.17, 1, 30), (0.24, 2, 0), (0.32, 3, -6), (-0.20, 4, 63))) + 1
    dl = (q[0] - p[0]) / (1 + 0.015 * lightness ** 2 / math.sqrt(20 + lightness ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    r = -2 * seventh(chroma) * math.sin(math.radians(
        60 * math.exp(-(((hue % 360) - 275) / 25) ** 2)))
    return math.sqrt(dl * dl + dc * dc + dh * dh + r * dc * dh)


def the_measure_is_the_published_one(_):
    """From the table of Sharma, Wu, Dalal."""
    for p, q, difference in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
                             ((50, 2.5, 0), (73, 25, -18), 27.1492),
                             ((50, 2.5, 0), (61, -5, 29), 22.8977),
                             ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373)):
        assert abs(_ciede2000(p, q) - difference) < 0.0001, (p, q, _ciede2000(p, q))


def _modes(page):
    return page.browser.js('return [...document.querySelectorAll("#bb-colour option")].map(e => e.value)')


def _colour_by(page, mode):
    page.browser.js('''const e = document.querySelector('#bb-colour'); e.value = arguments[0];
        e.dispatchEvent(new Event('change'))''', mode)
    page.settle()
    assert page.state()['colour'] == mode


def _entries(page):
    """Of the legend: label, seconds, colour."""
    return [(label, _seconds(time), colour) for label, time, colour in page.browser.js('''
        return [...document.querySelectorAll('#bb-legend .keys button')].map(e => [
            e.querySelector('span').textContent, e.querySelector('.faint').textContent,
            Number(e.querySelector('rect').getAttribute('class').slice(1))])''')]


def _rgb(text):
    return tuple(float(v) for v in re.findall(r'[\d.]+', text)[:3])


def _drawn(page):
    """Of each colour that bars of the lanes have: fill, edge, name; and the ground."""
    said = page.browser.js('''
        const style = (name, what) => {
            const e = document.createElementNS('http://www.w3.org/2000/svg', what);
            e.setAttribute('class', name);
            document.querySelector('#bb-lanes .plot').appendChild(e);
            const s = getComputedStyle(e), both = [s.fill, s.stroke];
            e.remove();
            return both;
        };
        const used = [...document.querySelectorAll('#bb-lanes path.bar')]
            .filter(p => p.getAttribute('d')).map(p => Number(/c(\\d)/.exec(p.className.baseVal)[1]));
        return {ground: getComputedStyle(document.querySelector('#bb-app')).backgroundColor,
            bars: [...new Set(used)].map(c => [c, ...style('bar c' + c, 'path'),
                style('name c' + c, 'text')[0]])};''')
    return _rgb(said['ground']), {c: tuple(map(_rgb, colours)) for c, *colours in said['bars']}


def everyone_can_distinguish_them(page):
    """All pairs of every way to colour, light and dark, and what is written on them."""
    page.open('known', '--compare', page.places.recording('second_build'))
    modes = _modes(page)
    assert {'kind', 'target', 'program', 'cpu'} <= set(modes) and len(modes) >= 5, modes
    for scheme in ('light', 'dark'):
        page.browser.cdp('Emulation.setEmulatedMedia',
                         features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        for mode in modes:
            _colour_by(page, mode)
            ground, bars = _drawn(page)
            assert bars, mode
            for c, (fill, edge, name) in bars.items():
                where = (scheme, mode, c, fill, edge)
                assert max(_contrast(fill, ground), _contrast(edge, ground)) >= LEAST_CONTRAST, where
                assert _contrast(fill, name) >= LEAST_OF_WORDS, (where, name)
            for (c, one), (d, other) in itertools.combinations(bars.items(), 2):
                for vision in VISIONS:
                    difference = _ciede2000(_lab(one[0], vision), _lab(other[0], vision))
                    assert difference >= LEAST_DIFFERENCE, (scheme, mode, c, d, difference)


def legend_has_everything_drawn(page):
    """One entry a colour; times of kinds are those of `show`; the rest is one grey entry."""
    page.open('known')
    said = {k['kind']: k['wall_us'] / 1e6 for k in page.places.show(page.recording)['kinds']}
    for mode in _modes(page):
        _colour_by(page, mode)
        entries, bars = _entries(page), _drawn(page)[1]
        colours = [colour for _, _, colour in entries]
        assert len(set(colours)) == len(colours) and set(bars) <= set(colours), (mode, entries, bars)
        assert len({label for label, _, _ in entries}) == len(entries)
        total = sum(seconds for _, seconds, _ in entries)
        assert abs(total - sum(said.values())) < 0.01 * total, (mode, total, said)
        if mode != 'cpu':
            times = [seconds for _, seconds, colour in entries if colour != 7]
            assert times == sorted(times, reverse=True), (mode, entries)
            assert 7 not in colours[:-1], (mode, entries)
        for label, seconds, colour in entries if mode == 'kind' else ():
            if label in said:
                assert abs(seconds - said[label]) <= 0.006 * said[label], (label, seconds, said)


def entries_filter(page):
    """A click shows one kind alone, a second one all; by keyboard too; in the address."""
    page.open('known')
    tasks = page.places.show(page.recording)['tasks']
    dim = '''return [...document.querySelectorAll('#bb-lanes path.bar.dim')]
        .reduce((n, p) => n + ((p.getAttribute('d') || '').match(/M/g) || []).length, 0)'''
    find = '''return [...document.querySelectorAll('#bb-legend .keys button')]
        .find(e => e.textContent.startsWith('compile'))'''
    key = page.browser.js(find + '.getBoundingClientRect().toJSON()')
    page.browser.click(key['left'] + 8, key['top'] + 8)
    page.settle()
    compiled = sum(t['kind'] == 'compile' for t in tasks)
    assert page.state()['matches'] == compiled and 0 < page.browser.js(dim) <= len(tasks) - compiled
    assert page.browser.js(find + '.ariaPressed') == 'true'
    assert page.browser.wait('location.hash.includes("only=") && location.hash')
    page.browser.reload()
    page.ready()
    assert page.state()['matches'] == compiled
    page.browser.js(find.replace('return', '(') + ').focus()')
    page.press('Enter')
    assert page.state()['matches'] == len(tasks) and page.browser.js(dim) == 0
    page.press('Enter')
    assert page.state()['matches'] == compiled
    page.press('Escape')
    assert page.state()['only'] == -1 and page.browser.js(dim) == 0


def marks_are_explained(page):
    page.open('known')
    said = ' '.join(page.texts('#bb-marks .key'))
    for mark in ('CPU of a task', 'failed', 'unfinished'):
        assert mark in said, (mark, said)
    assert page.box('#bb-legend')['bottom'] <= page.browser.js('return innerHeight')
