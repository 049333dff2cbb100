# SPDX-License-Identifier: MIT
"""What bitbake's events tell, handed to buildbeat's plugin.

One process of bitbake, the cooker, opens the recording and queues the tasks;
forked children of its workers, which it starts with SESSION in the environment,
run them. Whatever goes wrong in here: the build goes on, without statistics.
"""

import os

from . import cooker, task

_off = False
_handlers = None	# of this process and its forked children


def _give_up(why):
    global _off
    _off = True
    cooker.abandon()
    import bb
    bb.debug(1, "buildbeat: nothing is recorded any more: %r" % why)


def handle(event, d):
    """The class's event handler. Never raises, and stops for good at its first error."""
    global _handlers
    if _off:
        return
    try:
        if _handlers is None:
            _handlers = task.HANDLERS if task.in_worker() else cooker.HANDLERS
        handler = _handlers.get(type(event).__name__)
        if handler:
            handler(event, d)
    except Exception as why:
        _give_up(why)
