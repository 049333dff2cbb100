#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the scenarios of the modules beside it: every public function of one.

	run.py BUILDDIR [NAME ...]	those whose name has NAME in it, with times
	run.py --serve BUILDDIR		prints all names, a line each, then an empty
					line; then answers each name read with "ok" or
					what went wrong, in a line

Exit status 77: there is no browser.
"""
import importlib
import inspect
import os
import signal
import sys
import time
import traceback

import chart
import webdriver

MODULES = ['zoom', 'layout', 'texts', 'tasks', 'detail', 'icicle', 'search', 'range', 'table',
           'colours', 'view', 'look', 'names', 'edges', 'access', 'compare', 'report', 'profiles',
           'logs', 'saved', 'inspections', 'updates', 'live_pages', 'live_output', 'live_site', 'live_chart', 'live_process', 'live_tracker',
           'live_history']
SCENARIO_S = 1800       # ends one that hangs, also on a busy machine


class OutOfTime(Exception):
    pass


def scenarios():
    found = {}
    for module in MODULES:
        for name, f in vars(importlib.import_module(module)).items():
            if inspect.isfunction(f) and f.__module__ == module and not name.startswith('_'):
                found['%s.%s' % (module, name)] = f
    return found


def explain(error):
    """The error and the lines of scenarios it came through, in one line."""
    frames = [f for f in traceback.extract_tb(error.__traceback__)
              if not f.filename.endswith('run.py')]
    where = ' < '.join('%s:%d %s' % (os.path.basename(f.filename), f.lineno, f.line)
                       for f in reversed(frames[-3:]))
    text = '%s: %s (%s)' % (type(error).__name__, error, where)
    return ' '.join(text.split())


class Runner:
    def __init__(self, builddir):
        self.places = chart.Places(builddir)
        self.browser = None

    def run(self, f):
        """None, or what went wrong."""
        signal.alarm(SCENARIO_S)
        try:
            if not self.browser:
                self.browser = webdriver.Browser()
            self.browser.new_window()
            page = chart.Page(self.browser, self.places)
            f(page)
            page.check_quiet()
        except AssertionError as error:
            return explain(error)
        except Exception as error:
            # The next one shall not suffer from it.
            signal.alarm(0)
            if self.browser:
                self.browser.close()
                self.browser = None
            return explain(error)
        finally:
            signal.alarm(0)
        return None

    def close(self):
        if self.browser:
            self.browser.close()
        self.places.close()


def serve(runner):
    known = scenarios()
    print('\n'.join(known) + '\n', flush=True)
    for line in sys.stdin:
        print(runner.run(known[line.strip()]) or 'ok', flush=True)
    return 0


def run_some(runner, names):
    failed = 0
    for name, f in scenarios().items():
        if names and not any(n in name for n in names):
            continue
        begin = time.monotonic()
        wrong = runner.run(f)
        failed += bool(wrong)
        print('%5.1f s  %s: %s' % (time.monotonic() - begin, name, wrong or 'ok'), flush=True)
    return failed > 0


def out_of_time(*_):
    raise OutOfTime('not over after %d s' % SCENARIO_S)


def end(*_):
    sys.exit(1)


def main(arguments):
    why = webdriver.missing()
    if why:
        print('skipped: ' + why, file=sys.stderr)
        return 77
    signal.signal(signal.SIGALRM, out_of_time)
    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    is_server = arguments[:1] == ['--serve']
    runner = Runner(arguments[1 if is_server else 0])
    try:
        return serve(runner) if is_server else run_some(runner, arguments[1:])
    except KeyboardInterrupt:
        return 1
    finally:
        runner.close()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
