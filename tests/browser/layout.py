# SPDX-License-Identifier: MIT
"""The page of a chart in windows of three sizes: what is seen, and that it can be read."""
import html
import os
import re

import recordings
from chart import SIZES
from look import _contrast

GENUINE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data', 'oe', 'genuine')
NAMED = 30      # pixels: bars that are as wide have a name

# Boxes of bars: rectangles of the paths, in pixels of their plot.
BARS = '''const boxes = svg => [...svg.querySelectorAll('path.bar')].flatMap(path =>
    [...(path.getAttribute('d') || '').matchAll(/M([\\d.]+) ([\\d.]+)h([\\d.]+)v([\\d.]+)/g)].map(m => {
        const [x, y, width, height] = m.slice(1).map(Number);
        return {x, y, width, height, name: path.getAttribute('class'), fill: getComputedStyle(path).fill};
    }));
const texts = svg => [...svg.querySelectorAll('text')].filter(t => t.checkVisibility() && t.textContent)
    .map(t => { const b = t.getBBox(); return {text: t.textContent, x: b.x, y: b.y, width: b.width,
        height: b.height, name: t.getAttribute('class'), fill: getComputedStyle(t).fill}; });
const inside = (t, b) => t.x + t.width / 2 > b.x && t.x + t.width / 2 < b.x + b.width + 2 &&
    t.y + t.height / 2 > b.y && t.y + t.height / 2 < b.y + b.height;
'''


def _size(page, width, height, mobile):
    page.browser.cdp('Emulation.setDeviceMetricsOverride', width=width, height=height,
                     deviceScaleFactor=1, mobile=mobile)


def _recordings(page):
    return ['known', GENUINE, page.places.generated(1000, 300)]


def _each(page):
    """Every recording, opened in every size."""
    for recording in _recordings(page):
        for size in SIZES:
            _size(page, *size)
            page.open(recording)
            yield size


def tasks_on_the_first_screen(page):
    """Some lanes of tasks are in the window at once, nothing is beside it, and the page fills it."""
    for width, height, _ in _each(page):
        wide = page.browser.js('return document.scrollingElement.scrollWidth')
        assert wide <= width, (wide, width)
        rows = page.browser.js('''return [...document.querySelectorAll('#bb-lanes .label[data-row]')]
            .filter(e => !e.textContent.startsWith('nested')).map(e => e.getBoundingClientRect().bottom)''')
        assert rows[min(1, len(rows) - 1)] < height, (rows, width, height)
        end = page.browser.js('''return Math.max(...[...document.querySelectorAll('#bb-chart .row')]
            .map(e => e.getBoundingClientRect().bottom))''')
        assert end > height * 2 / 3, (end, height)


def lanes_are_laid_out_once(page):
    """They fill the window when it opens as they do later."""
    for size in _each(page):
        first = page.plot()['height']
        page.browser.js('dispatchEvent(new Event("resize"))')
        page.settle()
        assert page.plot()['height'] == first, (size, first, page.plot()['height'])


def tools_of_a_phone(page):
    """Zoom, path and selection are seen without scrolling; steps between matches when there are some."""
    for width, height in ((360, 640), (390, 844)):
        page.browser.resize(width, height, mobile=True)
        page.open('known')
        tools = page.browser.js('''return [...document.querySelectorAll('#bb-tools button')]
            .filter(e => e.checkVisibility())
            .map(e => [e.textContent, e.getBoundingClientRect().right])''')
        assert [text for text, _ in tools] == ['\u2212', '+', 'all', 'path', 'select'], tools
        assert all(right <= width for _, right in tools), (width, tools)
        page.focus('#bb-search')
        page.type('part')
        page.browser.wait('document.querySelector("#bb-tools .step").checkVisibility()')


def wide_bars_are_named(page):
    """Every bar of 30 pixels has words in it, and they fit."""
    for size in _each(page):
        found = page.browser.js(BARS + '''return ['#bb-lanes', '#bb-path', '#bb-dependency'].flatMap(id => {
            const svg = document.querySelector(id + ' svg.plot');
            if (!svg || !svg.checkVisibility())
                return [];
            const t = texts(svg);
            return boxes(svg).filter(b => b.width >= arguments[0] && b.height >= 10)
                .map(b => [b, t.filter(one => inside(one, b))]);
        })''', NAMED)
        assert len(found) >= 3, found
        for bar, names in found:
            assert names, (size, bar)
            for n in names:
                assert n['x'] >= bar['x'] and n['x'] + n['width'] <= bar['x'] + bar['width'] + 3, (bar, n)


def names_begin_with_what_differs(page):
    """A file without its directory, a recipe without its version; and the time."""
    page.open('known')
    page.zoom_to(0, 60)
    assert any(re.fullmatch(r'part\d\d [\d.]+ s( .*)?', name) for name in page.names()), page.names()
    assert not any(name.startswith('obj/') for name in page.names())
    page.open(GENUINE)
    names = page.names()
    assert any(re.match(r'lib\d\d \d', name) for name in names), names
    assert not any('-r0' in name or name.startswith('do_') for name in names), names
    page.open(GENUINE, '--by', 'recipe')
    assert any(re.match(r'compile \d', name) for name in page.names()), page.names()
    assert 'lib07' in page.texts('#bb-lanes .label'), page.texts('#bb-lanes .label')


def nothing_overlaps(page):
    """No text is upon another or truncated, in plots, gutters and the head."""
    for size in _each(page):
        wrong = page.browser.js(BARS + '''const wrong = [];
        for (const svg of document.querySelectorAll('.row > svg.plot')) {
            if (!svg.checkVisibility())
                continue;
            const t = texts(svg), width = svg.clientWidth, height = svg.clientHeight;
            t.forEach((a, i) => {
                if (a.x < -1 || a.x + a.width > width + 1 || a.y < -3 || a.y + a.height > height + 3)
                    wrong.push(['clipped', a]);
                t.slice(i + 1).forEach(b => {
                    if (a.x < b.x + b.width - 1 && b.x < a.x + a.width - 1 &&
                        a.y < b.y + b.height - 4 && b.y < a.y + a.height - 4)
                        wrong.push(['overlap', a, b]);
                });
            });
        }
        for (const e of document.querySelectorAll('.gutter .label, .facts dd, .verdict button'))
            if (e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
                wrong.push(['cut off', e.textContent]);
        for (const row of document.querySelectorAll('.row')) {
            const marks = [...row.querySelectorAll('.gutter .mark')].map(e => e.getBoundingClientRect())
                .sort((a, b) => a.top - b.top);
            marks.forEach((m, i) => {
                if (i && m.top < marks[i - 1].bottom - 2 || m.left < 0)
                    wrong.push(['ticks', m]);
            });
        }
        return wrong''')
        assert not wrong, (size, page.recording, wrong[:3])


def names_are_readable(page):
    """4.5:1 of names on their bars, light and dark; 3:1 of the gauge."""
    for scheme in ('light', 'dark'):
        page.browser.media(scheme=scheme)
        for recording in ('known', GENUINE):
            page.open(recording)
            pairs = page.browser.js(BARS + '''const svg = document.querySelector('#bb-lanes svg.plot'), found = {};
                const bars = boxes(svg);
                for (const t of texts(svg).filter(one => one.name.startsWith('name'))) {
                    const bar = bars.find(b => inside(t, b));
                    found[t.fill + bar.fill] = [t.fill, bar.fill];
                }
                return Object.values(found)''')
            assert pairs
            for pair in pairs:
                text, bar = ([float(n) for n in re.findall(r'[\d.]+', one)[:3]] for one in pair)
                assert _contrast(text, bar) >= 4.5, (scheme, pair)
            ground, ink = page.browser.js('''return ["--ground", "--ink"].map(name =>
                getComputedStyle(document.querySelector("#bb-app")).getPropertyValue(name))''')
            rgb = [[int(colour[i:i + 2], 16) for i in (1, 3, 5)] for colour in (ground, ink)]
            assert _contrast(*rgb) >= 3


def cpu_is_in_bars(page):
    """CPU over time at the bottom of bars: curves of long tasks and lines of short ones."""
    page.open(page.places.generated(200, 60))
    for zoom in (0, -6):
        page.wheel(page.x_of_plot(0.5), page.y(1), zoom)
        curves, lines, wrong = page.browser.js(BARS + '''const svg = document.querySelector('#bb-lanes svg.plot');
            const bars = boxes(svg), count = {V: 0, v: 0}, wrong = [];
            for (const path of svg.querySelectorAll('.gauge')) {
                for (const part of (path.getAttribute('d') || '').split('z').filter(d => d)) {
                    const m = /^M([\\d.]+) ([\\d.]+)([Vh])/.exec(part), x = Number(m[1]), y = Number(m[2]);

                    const ys = [...part.matchAll(/V([\\d.]+)/g)].map(v => Number(v[1])).concat(y);
                    if (!bars.some(b => x > b.x - .2 && x < b.x + b.width + .2 &&
                        ys.every(at => at > b.y + b.height / 2 && at < b.y + b.height + .2)))
                        wrong.push(part);
                    count[m[3] === 'V' ? 'V' : 'v']++;
                }
            }
            return [count.V, count.v, wrong]''')
        assert not wrong, wrong[:3]
        assert curves > 0 and (zoom or lines > 0), (curves, lines)


def path_is_that_of_show(page):
    """The section of the path: its words, and its table, which chooses tasks."""
    page.open('known')
    said = page.places.show(page.recording)['path']['tasks']
    words = ' '.join(page.texts('#bb-waits h2'))
    for link, text in (('dependency', 'waited for a dependency'),
                       ('no free worker', 'waited for a free worker')):
        assert '%d %s' % (sum(t['link'] == link for t in said), text) in words, (link, words)
    assert 'on free cores at least' in words, words
    page.browser.js('document.querySelector("#bb-waits .fold").click()')
    rows = page.texts('.path-table tbody tr')
    assert len(rows) == len(said), (len(rows), len(said))
    for row, task in zip(rows, said):
        assert task['name'] in row, (row, task)
    page.browser.js('document.querySelector(".path-table tbody button").click()')
    page.settle()
    assert said[0]['name'].split('/')[-1] in page.detail(), page.detail()


def panels_fold_and_have_axes(page):
    page.open('known')
    ticks = page.texts('#bb-r-cpu .gutter .mark')
    assert ticks and {'0', '100 %'} <= set(ticks), ticks
    assert 'max' in ' '.join(page.texts('#bb-p-cpu .legend'))
    assert 'cores' in ' '.join(page.texts('#bb-p-running text'))
    height = page.box('#bb-p-cpu')['height']
    page.browser.js('document.querySelector("#bb-p-cpu .fold").click()')
    page.settle()
    assert page.box('#bb-p-cpu')['height'] < height / 2
    assert page.texts('#bb-r-cpu .mark') == []
    page.browser.js('document.querySelector("#bb-p-cpu .fold").click()')
    page.settle()
    assert abs(page.box('#bb-p-cpu')['height'] - height) < 2


def fingers(page):
    """One finger moves the plots, and over the map makes the view; the page scrolls upwards."""
    _size(page, 390, 844, True)
    page.open('known')
    assert page.browser.js('''return getComputedStyle(document.querySelector('#bb-chart')).touchAction''') == 'pan-y'
    page.zoom_to(30, 60)
    x, y = page.x(50), page.y(1)
    page.browser.drag([(x, y), (x - 30, y), (x - 60, y)], kind='touch')
    page.settle()
    assert page.view()[0] > 31 and abs(page.view()[1] - page.view()[0] - 30) < 0.1, page.view()
    page.zoom_to(0, 200)
    plot = page.box('#bb-map svg.plot')
    middle = plot['y'] + plot['height'] / 2
    at = [plot['x'] + share * plot['width'] for share in (0.25, 0.4, 0.5)]
    page.browser.drag([(x, middle) for x in at], kind='touch')
    page.settle()
    start, end = page.view()
    assert abs(start - 30) < 1.5 and abs(end - 60) < 1.5, (start, end)
    assert page.texts('#bb-status') in ([], ['']), page.texts('#bb-status')


def edges_of_the_brush(page):
    """Its edges and its middle can be dragged."""
    page.open('known')
    whole = page.view()[1]
    page.zoom_to(40, 80)
    plot = page.box('#bb-map svg.plot')
    middle = plot['y'] + plot['height'] / 2

    def x(moment_s):
        return plot['x'] + moment_s / whole * plot['width']
    page.browser.drag([(x(80), middle), (x(90), middle), (x(100), middle)])
    page.settle()
    assert abs(page.view()[0] - 40) < 0.5 and abs(page.view()[1] - 100) < 0.5, page.view()
    page.browser.drag([(x(70), middle), (x(60), middle)])
    page.settle()
    assert abs(page.view()[0] - 30) < 0.5 and abs(page.view()[1] - 90) < 0.5, page.view()


def static_picture_comes_back(page):
    """Where the script cannot work, and where it fails later."""
    page.browser.cdp('Page.addScriptToEvaluateOnNewDocument', source='delete window.DecompressionStream')
    recording = page.places.recording('known')
    page.open_file(page.places.draw(recording))
    ready = page.browser.js_async('document.querySelector("#bb").buildbeat.ready.then(arguments[0])')
    assert ready is False
    assert page.browser.js('return document.documentElement.id') == 'bb'
    page.browser.new_window()
    page.open(recording)
    page.browser.js('''document.querySelector("#bb").buildbeat.zoom({})''')
    page.browser.js('''document.querySelector("#bb-lanes").remove();
        Object.defineProperty(Element.prototype, "setAttribute", {value() { throw new Error("test"); }});
        document.querySelector("#bb").buildbeat.zoom(1, 2)''')
    page.browser.wait('document.documentElement.id === "bb"')
    page.browser.frames(2)
    wrong = page.browser.console_errors()
    assert len(wrong) == 1 and 'the picture stays as it is' in wrong[0], wrong


def curves_of_the_other_build(page):
    """--compare: CPU, running tasks and memory of the other build, dashed, where their time is."""
    page.open('known', '--compare', page.places.recording('second_build'))
    end = max(t['end_us'] for t in page.places.show(page.places.recording('second_build'))['tasks'])
    for start_s, end_s in ((0, 130), (40, 130)):
        page.zoom_to(start_s, end_s)
        for word in ('cpu', 'running'):
            box = page.box('#bb-r-%s .line.ghost' % word)
            assert box and abs(box['left'] - page.x(0)) < 20, (word, box, page.x(0))
            assert box['right'] > page.x(end / 1e6) - 20, (word, box, page.x(end / 1e6))
            assert box['height'] <= page.box('#bb-r-%s svg.plot' % word)['height'] + 3


def names_are_those_of_the_picture(page):
    """A bar of the page has the name that the static picture has for it."""
    page.browser.resize(1800, 1000)
    for recording in ('named', 'baked'):
        page.open(recording)
        shown = page.browser.js(BARS + """return texts(document.querySelector('#bb-lanes svg.plot'))
            .filter(t => / 2\\.0+ s/.test(t.text)).map(t => [t.y, t.x, t.text])""")
        with open(page.svg, encoding='utf-8') as f:
            lanes = re.search(r'<g id="lanes".*?<g id="over"|<g id="lanes".*', f.read(), re.S)[0]
        drawn = [(float(y), float(x), html.unescape(text)) for x, y, text in
                 re.findall(r'<text x="([\d.]+)" y="([\d.]+)">([^<]*2\.00 s)</text>', lanes)]
        names = [[text[:text.index(' 2.0')] for _, _, text in
                  sorted((round(y), x, text) for y, x, text in found)] for found in (drawn, shown)]
        assert len(names[0]) == len(getattr(recordings, recording.upper())), names[0]
        assert names[0] == names[1], names
