# SPDX-License-Identifier: MIT
"""How fast pages open: what the benchmarks of pages share."""
import chart
import webdriver


def load(browser, url, watch, width=1600, height=1000):
    """What `watch`, a script in every document before anything of it, leaves in window.opened."""
    browser.new_window()
    browser.resize(width, height)
    browser.cdp('Page.addScriptToEvaluateOnNewDocument', source=watch)
    browser.open(url if ':' in url else chart.url_of(url))
    return browser.wait('window.opened')


def main(what, bench):
    why = webdriver.missing()
    if why:
        print('%s in Chromium: not measured: %s' % (what, why))
        return
    chart.in_places(bench)
