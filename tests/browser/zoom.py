# SPDX-License-Identifier: MIT
"""The same moment stays under the pointer or between the fingers, and what a picture
of the whole build had to merge is there when there is room for it."""


def _is_whole(view, end_s):
    return abs(view[0]) < 1e-3 * end_s and abs(view[1] - end_s) < 0.02 * end_s


def _width(view):
    return view[1] - view[0]


def wheel(page):
    page.open('known')
    assert _is_whole(page.view(), 120), page.view()
    x, y = page.x(90), page.y(1)
    whole = page.view()
    page.wheel(x, y, -1)
    view = page.view()
    assert _width(view) < 0.95 * _width(whole), view
    assert abs(page.x(90) - x) < 1.5, (x, page.x(90))
    page.wheel(x, y, -3)
    assert _width(page.view()) < 0.95 * _width(view)
    assert abs(page.x(90) - x) < 1.5, (x, page.x(90))
    page.wheel(x, y, 30)
    assert page.view() == whole, (page.view(), whole)


def drag(page):
    page.open('known')
    page.wheel(page.x(60), page.y(1), -4)
    before, x = page.view(), page.x(60)
    page.browser.drag([(x, page.y(1)), (x - 40, page.y(1)), (x - 90, page.y(1) + 3)])
    page.settle()
    assert abs(_width(page.view()) - _width(before)) < 1e-3 * _width(before)
    assert abs(page.x(60) - (x - 90)) < 2, (page.x(60), x)
    # Not beyond the ends.
    for _ in range(12):
        page.browser.drag([(page.x_of_plot(0.05), page.y(1)), (page.x_of_plot(0.95), page.y(1))])
    page.settle()
    assert abs(page.view()[0]) < 0.1 and abs(_width(page.view()) - _width(before)) < 0.1


def keyboard(page):
    page.open('known')
    whole = page.view()
    page.press('+', '+', '+')
    near = page.view()
    assert _width(near) < 0.7 * _width(whole), near
    page.press('ArrowRight')
    right = page.view()
    assert right[0] > near[0] and abs(_width(right) - _width(near)) < 1e-3 * _width(near)
    page.press('ArrowLeft')
    assert abs(page.view()[0] - near[0]) < 1e-3 * _width(near)
    page.press('-', '-', '-')
    assert _width(page.view()) > _width(near)
    page.press('0')
    assert page.view() == whole


def pinch(page):
    _pinch(page)


def pinch_on_a_phone(page):
    page.browser.resize(390, 844, mobile=True)
    _pinch(page, 40)


def _pinch(page, by=100):
    page.open('known')
    page.scroll_to('#bb-lanes')
    whole = page.view()
    left, right, y = page.x(40), page.x(80), page.y(1)
    page.browser.pinch([(left, y), (left - by / 2, y), (left - by, y)],
                       [(right, y), (right + by / 2, y), (right + by, y)])
    page.settle()
    view = page.view()
    share = (right - left) / (right - left + 2 * by)
    assert abs(_width(view) / _width(whole) - share) < 0.08, (view, share)
    assert abs(page.x(40) - (left - by)) < by / 4 and abs(page.x(80) - (right + by)) < by / 4
    page.browser.pinch([(left - by, y), (left, y)], [(right + by, y), (right, y)])
    page.settle()
    assert _width(page.view()) > _width(view)


def a_merged_task_is_found(page):
    """12,000 tasks of some ms in ten minutes: one pixel is half a second."""
    page.open('short')
    task = page.places.task(page.recording, 'd70/needle.o')
    start, end = task['start_us'] / 1e6, task['end_us'] / 1e6
    assert not any('needle' in name for name in page.names())
    distinct = []
    for steps in (4, 6, 8, 12):
        page.wheel(page.x((start + end) / 2), page.y(1), -steps)
        distinct.append((_width(page.view()), page.bars()))
    view = page.view()
    shown = [t for t in page.places.show(page.recording)['tasks']
             if t['end_us'] / 1e6 > view[0] and t['start_us'] / 1e6 < view[1]]
    assert len(shown) == page.bars(), (len(shown), distinct)
    page.zoom_to(start - 0.03, end + 0.05)
    assert any('needle' in name for name in page.names()), page.names()
    page.hover(task)
    assert page.status().startswith('needle.o 20 ms \u00b7 d70 '), page.status()


def elements_stay_bounded(page):
    """At each level, of a build of any size."""
    page.open(page.places.generated(20000, 3600))
    for steps in (0, 4, 8, 12, 16):
        page.wheel(page.x_of_plot(0.4), page.y(3), -steps)
        assert page.bars() <= 30000
        count = page.browser.js('''const n = s => document.querySelectorAll('#bb-app ' + s).length;
            return {all: n('*'), path: n('path'), name: n('text')}''')
        assert count['all'] <= 5000 and count['path'] <= 300 and count['name'] <= 500, count


def window_of_another_size(page):
    page.open('known')
    page.browser.resize(1000, 800)
    page.settle()
    narrow = page.plot()
    assert narrow['x'] + narrow['width'] <= 1000, narrow
    page.browser.resize(1700, 900)
    page.settle()
    wide = page.plot()
    assert wide['width'] > narrow['width'] + 500 and wide['x'] + wide['width'] <= 1700, wide
    # What it shows has moved with it.
    page.hover(page.places.task(page.recording, 'libparts.a'))
    assert 'libparts.a' in page.status(), page.status()


def narrow_window(page):
    page.browser.resize(400, 700)
    page.open('known')
    page.scroll_to('#bb-lanes')
    box = page.plot()
    assert box['width'] >= 280 and box['x'] >= 0 and box['right'] <= 400, box
    page.wheel(page.x_of_plot(0.5), page.y(1), -6)
    assert _width(page.view()) < 100
