# SPDX-License-Identifier: MIT
"""Waits for conditions, not for times: what hangs fails."""
import time

DEADLINE = 600


def until(what, holds, pause=0.02):
    """What holds() returns when that is true."""
    end = time.monotonic() + DEADLINE
    while not (found := holds()):
        assert time.monotonic() < end, "never: %s" % what
        time.sleep(pause)
    return found
