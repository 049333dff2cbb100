# SPDX-License-Identifier: MIT
"""Texts for people who cannot see the chart, and the common axis of panels."""


def page_is_readable_aloud(page):
    """A page with landmarks, headings and text; the picture without script has its title."""
    page.open('known')
    nodes = page.browser.cdp('Accessibility.getFullAXTree')['nodes']
    said = [(n['role']['value'], n.get('name', {}).get('value', ''))
            for n in nodes if not n['ignored']]
    roles = {role for role, _ in said}
    assert {'main', 'heading', 'toolbar', 'button', 'searchbox', 'slider'} <= roles, roles
    assert any(role == 'heading' and name.startswith('make -j4') for role, name in said), said[:9]
    text = ' '.join(name for role, name in said if role in ('StaticText', 'SvgText'))
    assert 'builder' in text and 'CPU' in text, text[:500]
    title, first = page.browser.js('''return [document.title,
        document.querySelector('#bb').firstElementChild.textContent]''')
    assert title.startswith('make -j4') and first.startswith('make -j4'), (title, first)


def one_time_axis(page):
    """Every plot has the same pixels; labels and bars are where their time is."""
    page.open('known')
    plots = page.browser.js('''return [...document.querySelectorAll('#bb-chart .row > svg.plot')]
        .filter(e => e.checkVisibility()).map(e => {
            const b = e.getBoundingClientRect(); return [b.left, b.right] })''')
    assert len(plots) >= 5 and all(plot == plots[0] for plot in plots), plots
    left, right = plots[0]
    minute = page.browser.js('''return [...document.querySelectorAll('#bb-axis text')].filter(t =>
        t.textContent === '1m 00s').map(t => {
            const b = t.getBoundingClientRect(); return (b.left + b.right) / 2; })''')
    assert minute and all(abs(x - (left + right) / 2) < 1.5 for x in minute), (minute, plots[0])
    y = page.y(0)
    for moment_s, there in ((0.25, 0), (0.75, 1), (4.75, 1), (5.25, 1), (12.25, 1), (84.25, 1),
                            (85.25, 0), (86.25, 1), (95.75, 1), (111.75, 1), (118, 0)):
        hit = page.browser.js('''const [x, y] = arguments;
            return [...document.querySelectorAll('#bb-lanes path.bar')].some(p => {
                const at = new DOMPoint(x, y).matrixTransform(p.getScreenCTM().inverse());
                return p.isPointInFill(at); })''', left + (right - left) * moment_s / 120, y)
        assert hit == bool(there), (moment_s, hit)
