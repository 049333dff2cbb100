# SPDX-License-Identifier: MIT
"""Cases of a script, each in a process of its own, beside each other: they wait more than they compute."""
import subprocess
import sys


def run(cases, script, first, names):
    """names: of functions in cases; one of them runs here."""
    if len(names) == 1:
        cases[names[0]]()
        return 0
    running = [(name, subprocess.Popen([sys.executable, "-B", script, first, name])) for name in names]
    bad = [name for name, process in running if process.wait()]
    if bad:
        print("failed: " + " ".join(bad), file=sys.stderr)
    return len(bad)
