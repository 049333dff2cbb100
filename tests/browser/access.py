# SPDX-License-Identifier: MIT
"""Texts for people who cannot see the chart, and the common axis of panels."""


def accessible_root(page):
    page.open('known')
    title = page.browser.js('return document.documentElement.firstElementChild')
    assert page.browser.js('return arguments[0].localName + " " + arguments[0].textContent',
                           title).startswith('title make -j4')
    nodes = page.browser.cdp('Accessibility.getFullAXTree')['nodes']
    said = [(n['role']['value'], n.get('name', {}).get('value', ''),
             n.get('description', {}).get('value', '')) for n in nodes if not n['ignored']]
    roots = [n for n in said if n[0].lower().replace('-', '') == 'graphicsdocument']
    assert roots and 'make -j4' in roots[0][1] and roots[0][2], said[:5]
    # Text is text: it is read out and can be selected.
    text = ' '.join(n[1] for n in said if n[0] in ('StaticText', 'SvgText', 'InlineTextBox'))
    assert 'builder' in text and 'CPU' in text, text[:500]


def one_time_axis(page):
    """Every plot has the same pixels; labels and bars are where their time is."""
    page.open('known')
    plots = page.browser.js('''return [...document.querySelectorAll('svg.plot')].map(e => {
        const m = e.parentNode.getScreenCTM(), x = e.x.baseVal.value, w = e.width.baseVal.value;
        return [m.a * x + m.e, m.a * (x + w) + m.e] })''')
    assert len(plots) >= 5 and all(plot == plots[0] for plot in plots), plots
    left, right = plots[0]
    minute = page.browser.js('''return [...document.querySelectorAll('#time text')].filter(t =>
        t.textContent === '1m 00s').map(t => {
            const b = t.getBoundingClientRect(); return (b.left + b.right) / 2; })''')
    assert minute and all(abs(x - (left + right) / 2) < 1.5 for x in minute), (minute, plots[0])
    y = page.y(0)
    for moment_s, there in ((0.25, 0), (0.75, 1), (4.75, 1), (5.25, 1), (12.25, 1), (12.75, 0),
                            (13.25, 1), (86.25, 1), (95.75, 1), (111.75, 1), (118, 0)):
        hit = page.browser.js('''const [x, y] = arguments;
            return [...document.querySelectorAll('#lanes path.bar')].some(p => {
                const at = new DOMPoint(x, y).matrixTransform(p.getScreenCTM().inverse());
                return p.isPointInFill(at); })''', left + (right - left) * moment_s / 120, y)
        assert hit == bool(there), (moment_s, hit)
