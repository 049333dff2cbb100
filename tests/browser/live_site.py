# SPDX-License-Identifier: MIT
"""The pages of commands as the server sends them: nothing in them is inline, and all of it works."""
import os
import shutil
import subprocess

from live_server import SIZES, check_page, served

MAKEFILE = '''all: one two
one:
	@echo '<script>window.pwned=1</script>'; printf 'warning: \\033[31mred\\033[0m\\n'; sleep 0.05
two: one
	@sleep 0.2; echo three; false
three:
'''


def _recordings(page):
    """Two builds with their output, and one whose names are hostile."""
    directory = page.places.path('site')
    if os.path.exists(directory):
        return os.path.join(directory, 'stats')
    os.makedirs(directory)
    with open(os.path.join(directory, 'Makefile'), 'w', encoding='utf-8') as f:
        f.write(MAKEFILE)
    for name in ('a', 'b'):
        subprocess.run((os.path.join(page.places.builddir, 'buildbeat'), 'record', '--no-git', '--log', '-o', 'stats',
                        '-n', name, '--', 'make'), cwd=directory, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    shutil.copytree(page.places.recording('hostile'), os.path.join(directory, 'stats', 'hostile'))
    return os.path.join(directory, 'stats')


def _open(server, path):
    browser = server.page.browser
    browser.open(server.url + path)
    server.page.settle()
    browser.js_async('setTimeout(arguments[0], 50)')


def _is_clean(server, where):
    wrong = server.page.browser.console_errors()
    assert not wrong, (where, wrong)
    assert server.page.browser.js('return typeof window.pwned') == 'undefined', where


def pages_of_commands(page):
    """A profile and a comparison, in every window and scheme, without a word in the console."""
    with served(page, _recordings(page)) as server:
        for path in ('/profile?rec=a', '/diff?a=a&b=b', '/profile?rec=hostile', '/diff?a=a&b=hostile'):
            for scheme in ('light', 'dark'):
                page.browser.media('', scheme)
                for width, height, mobile in SIZES:
                    page.browser.resize(width, height, mobile)
                    _open(server, path)
                    _is_clean(server, (path, scheme, width))
                    if path != '/diff?a=a&b=hostile':
                        # labels over the bars of long lanes, whose ground is in a picture
                        check_page(server, '%s at %d, %s' % (path, width, scheme))
            inline = server.page.browser.js_async('''const done = arguments[0];
                fetch(location.href).then(r => r.text()).then(text => {
                    const page = new DOMParser().parseFromString(text, 'text/html');
                    done([...page.querySelectorAll('*')].filter(e => e.localName === 'style' ||
                        (e.localName === 'script' && !e.src && !/json/.test(e.type) && !/^data-/.test(e.id)) ||
                        [...e.attributes].some(a => /^(style|on.*)$/.test(a.name))).map(e => e.outerHTML.slice(0, 80)));
                })''')
            assert not inline, (path, inline)


def links_stay_with_the_recording(page):
    """The navigation of a page of a command."""
    with served(page, _recordings(page)) as server:
        _open(server, '/profile?rec=b')
        assert all('rec=b' in link for link in page.browser.js(
            'return [...document.querySelectorAll("#pages a")].map(a => a.href)'))
        _is_clean(server, 'profile')


def another_recording_is_chosen(page):
    """The page of a profile is named by its command, and shows the recording that is chosen."""
    browser = page.browser
    with served(page, _recordings(page)) as server:
        _open(server, '/profile?rec=a')
        assert browser.js('return document.querySelector("h1").textContent') == 'make'
        assert sorted(browser.js('return [...document.querySelectorAll("#choice option")].map(o => o.text)')) == ['a', 'b', 'hostile']
        assert browser.js('return document.querySelector("#choice select").value') == 'a'
        browser.js("""const s = document.querySelector('#choice select'); s.value = 'b';
            s.dispatchEvent(new Event('change', {bubbles: true}))""")
        browser.wait('location.search === "?rec=b" && document.querySelector("#choice select").value === "b"')
        _open(server, '/diff?a=a&b=b')
        assert browser.js('return document.querySelector("header.bar #pages") && !document.querySelector("#choice")')


def profile_works(page):
    """Its table sorts and groups as in a file."""
    browser = page.browser
    with served(page, _recordings(page)) as server:
        _open(server, '/profile?rec=a')
        browser.wait('/one/.test(document.querySelector("#profile").innerText)')
        browser.js('''const s = document.querySelector('main select');
            s.value = [...s.options].find(o => /kind/.test(o.textContent)).value;
            s.dispatchEvent(new Event('change'))''')
        page.settle()
        browser.wait('/kind/.test(location.href) || /kind =|shell/.test(document.querySelector("#profile").innerText)')
        _is_clean(server, 'profile')
