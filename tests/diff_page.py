#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the page of `diff --html` with the JSON of the same comparison.

	diff_page.py JSON PAGE

The page lists the tasks by the difference of their wall time, the bars have one scale, and so
have the lanes of both builds. Elements that need it are labelled."""
import html.parser
import json
import re
import sys


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ranked, self.rects, self.figure, self.path = [], [[], []], -1, []
        self.bare, self.headings, self.void = [], [], {'meta', 'br', 'input'}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        c = a.get('class', '')
        if tag not in self.void:
            self.path.append((tag, c))
        if tag == 'figure':
            self.figure += 1
        if tag == 'li' and ('ol', 'ranked') in self.path and c != 'axis':
            self.ranked.append({'class': c})
        if tag == 'i' and c != 'zero':
            self.ranked[-1]['bar'] = [float(v) for v in re.findall(r'[\d.]+', a['style'])]
        elif tag == 'i':
            self.ranked[-1]['zero'] = float(re.search(r'left:([\d.]+)', a['style']).group(1))
        if tag == 'rect':
            self.rects[self.figure].append({'x': float(a['x']), 'y': float(a['y']),
                                            'width': float(a['width']), 'class': c})
        if tag in ('svg', 'div') and (tag == 'svg' or c == 'scroll') and not a.get('aria-label'):
            self.bare.append(tag)
        if tag == 'th' and 'scope' not in a:
            self.bare.append(tag)
        if re.fullmatch('h[1-6]', tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag):
        assert self.path[-1][0] == tag, (self.path, tag)
        self.path.pop()

    def handle_data(self, data):
        if self.path and self.path[-1] == ('span', 'name') and ('ol', 'ranked') in self.path:
            self.ranked[-1]['name'] = data
        if self.path and self.path[-1][0] == 'title' and ('rect' in (t for t, _ in self.path)):
            self.rects[self.figure][-1]['title'] = data


def change(task):
    wall = task.get('wall_us', {})
    if task['in'] == 'new':
        return wall.get('new') or 0
    if task['in'] == 'gone':
        return -(wall.get('base') or 0)
    return wall.get('change') or 0


def luminance(colour):
    rgb = [int(c, 16) / 255 for c in re.findall('..' if len(colour) == 7 else '.', colour[1:])]
    if len(colour) == 4:
        rgb = [c * 17 for c in rgb]
    rgb = [c / 12.92 if c <= .04045 else ((c + .055) / 1.055) ** 2.4 for c in rgb]
    return .2126 * rgb[0] + .7152 * rgb[1] + .0722 * rgb[2] + .05


def contrast(a, b):
    return max(luminance(a), luminance(b)) / min(luminance(a), luminance(b))


def check_colours(text):
    """Texts on the colours of the scale; and every bar through its edge."""
    themes = [dict(re.findall(r'--(\w+):(#\w+)', block)) for block in re.findall(r':root{(.*?)}', text)]
    assert len(themes) == 2
    for c in themes:
        for i in range(8):
            assert contrast(c['c%d' % i], c['t%d' % i]) >= 4.5, (c, i)
        assert contrast(c['outline'], c['ground']) >= 3 and contrast(c['faint'], c['ground']) >= 4.5


def main():
    diff, text = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
    page = Page(text)
    tasks = {t['name']: t for t in diff['tasks']}

    expected = sorted((t for t in diff['tasks'] if change(t)),
                      key=lambda t: (-abs(change(t)), t['name'].encode()))
    assert [r['name'] for r in page.ranked] == [t['name'] for t in expected[:len(page.ranked)]]
    assert len(page.ranked) == min(20, len(expected)), len(page.ranked)
    for r in page.ranked:
        by, (left, width) = change(tasks[r['name']]), r['bar']
        most = max(abs(change(tasks[o['name']])) for o in page.ranked)
        widest = max(o['bar'][1] for o in page.ranked)
        assert abs(width / widest - abs(by) / most) < .001, r
        assert abs((left if by > 0 else left + width) - r['zero']) < .02, r
        far = r['class'] in ('d0', 'd1') if by < 0 else r['class'] in ('d3', 'd4')
        in_one = tasks[r['name']]['in'] != 'both'
        assert (r['class'] == 'd5') == in_one and (in_one or r['class'] == 'd2' or far), r

    one = len(diff['base']) == len(diff['new']) == 1    # otherwise JSON has medians
    scales, known = [], {}
    for k, (side, rects) in enumerate(zip(('base', 'new'), page.rects)):
        lanes = {}
        for rect in rects:
            name = re.sub(r': [^:]*$', '', rect['title'])
            if name not in tasks:
                assert not name.isprintable() or '\\' in name, name
                continue        # shown with escapes
            wall = tasks[name]['wall_us'][side]
            scales += [rect['width'] / wall] if rect['width'] > 20 and one and \
                tasks[name]['parts'][k] == 1 else []
            lanes.setdefault(rect['y'], []).append((rect['x'], rect['width']))
            assert known.setdefault(name, rect['class']) == rect['class'], name
        for bars in lanes.values():
            bars.sort()
            for (x, width), (after, _) in zip(bars, bars[1:]):
                assert x + width <= after + 2.5, (x, width, after)
    assert not scales or max(scales) < 1.01 * min(scales), (min(scales), max(scales))
    check_colours(text)
    assert not page.bare, page.bare
    assert page.headings[0] == 1 and set(page.headings[1:]) <= {2}, page.headings
    assert text.count('<main>') == text.count('<header>') == 1
    print(len(page.ranked), [len(r) for r in page.rects])


main()
