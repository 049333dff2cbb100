# SPDX-License-Identifier: MIT
"""Texts of the page, in every size of window: none is clipped or overlaps another one."""
import chart

# Every piece of text that is visible, its box, and the part of the box that is not clipped. Is the
# rest reachable, by scrolling or as a text that ends with an ellipsis? The layer is the element
# around it that does not scroll with the page.
TEXTS = '''
    const list = [], seen = {visibilityProperty: true, opacityProperty: true};
    const part = (a, b) => ({left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
        top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom)});
    let node = 0;
    const add = (e, text, b) => {
        let cut = b, reachable = false, layer = '';
        for (let p = e; p && p !== document.body; p = p.parentElement) {
            const s = getComputedStyle(p);
            if (s.clipPath !== 'none')
                return;
            if (/fixed|sticky/.test(s.position))
                layer = layer || p.id;
            if (p.namespaceURI.endsWith('svg') && p.localName !== 'svg' ||
                s.overflowX === 'visible' && p.localName !== 'svg')
                continue;
            cut = part(cut, p.getBoundingClientRect());
            reachable = reachable || /auto|scroll/.test(s.overflowX + s.overflowY) ||
                s.textOverflow === 'ellipsis';
        }
        list.push({text: text.trim().slice(0, 50), box: b, cut, reachable, layer, node,
            where: (e.closest('[id]') || e).id});
    };
    scrollTo(0, 0);
    const walker = document.createTreeWalker(document.querySelector('#bb-app'), NodeFilter.SHOW_TEXT);
    for (let found; (found = walker.nextNode()); node++) {
        const e = found.parentElement, range = document.createRange();
        if (!found.data.trim() || !e.checkVisibility(seen) || e.closest('select, .live, defs, title'))
            continue;
        range.selectNodeContents(found);
        for (const b of range.getClientRects())
            if (b.width > 1 && b.height > 1)
                add(e, found.data, b);
    }
    return list'''

def _everywhere(page, recordings, check):
    for recording in recordings:
        for width, height, mobile in chart.SIZES:
            page.browser.resize(width, height, mobile)
            page.open(recording)
            check('%s at %d' % (recording[-12:], width))


def _overlap(one, other):
    """How much two texts overlap, in both directions: lines may touch."""
    a, b = one['cut'], other['cut']
    return min(min(a['right'], b['right']) - max(a['left'], b['left']),
               min(a['bottom'], b['bottom']) - max(a['top'], b['top']) - 3)


def _check_texts(page, where):
    texts = page.browser.js(TEXTS)
    assert len(texts) > 20, (where, len(texts))
    wide = page.browser.js('return document.documentElement.scrollWidth - innerWidth')
    assert wide <= 0, (where, 'the page is %d pixels too wide' % wide)
    shown = sorted((t for t in texts if t['cut']['right'] - t['cut']['left'] > 1 and
                    t['cut']['bottom'] - t['cut']['top'] > 1), key=lambda t: t['cut']['top'])
    for t in shown:
        lost = max(t['box']['width'] - max(0, t['cut']['right'] - t['cut']['left']),
                   t['box']['height'] - max(0, t['cut']['bottom'] - t['cut']['top']) - 4)
        assert lost < 1.5 or t['reachable'], (where, 'clipped', t)
    for i, one in enumerate(shown):
        for other in shown[i + 1:]:
            if other['cut']['top'] >= one['cut']['bottom']:
                break
            if one['node'] == other['node']:
                continue
            assert one['layer'] != other['layer'] or _overlap(one, other) <= 1, \
                (where, 'overlap', one, other)


def texts_are_whole(page):
    """No text overlaps another one or is clipped."""
    _everywhere(page, ('known', 'one_task', 'hostile', page.places.generated(2000, 300)),
                lambda where: _check_texts(page, where))


def texts_are_whole_with_a_chosen_task(page):
    for width, height, mobile in chart.SIZES:
        page.browser.resize(width, height, mobile)
        page.open('known')
        page.choose('libparts.a')
        page.browser.js("document.querySelector('#bb').buildbeat.select(20, 60)")
        page.settle()
        _check_texts(page, width)


def lanes_fill_a_large_window(page):
    page.browser.resize(1280, 800)
    page.open('known')
    small = page.plot()['height']
    page.browser.resize(2560, 1440)
    page.settle()
    assert page.plot()['height'] > 1.2 * small, (small, page.plot())


def axis_stays_in_view(page):
    """However far down, the time axis is at the top, with the time at the crosshair."""
    page.browser.resize(1280, 500)
    page.open('known')
    page.browser.js('scrollTo(0, 400)')
    page.settle()
    axis = page.box('#bb-axis')
    assert 0 <= axis['top'] and axis['bottom'] < 250, axis
    page.browser.move(page.x(30), 480)
    page.settle()
    said = page.texts('#bb-axis .moment')
    assert said and 29.5 < float(said[0].split()[0]) < 30.5, said
