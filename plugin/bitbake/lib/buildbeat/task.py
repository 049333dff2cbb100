# SPDX-License-Identifier: MIT
"""The workers, and the tasks: their forked children. What is done here is done for every
task, in its own process."""

import os
import time

from . import abi
from .taskid import number

# What the cooker puts into the environment its workers get: its instance and the
# recording's directory.
SESSION = "BUILDBEAT_SESSION"

_session = None
_reads_io = False
_number = 0		# of the task that started in this process
_born_ns = 0		# when this process was forked


def in_worker():
    """Was this process started by the one that opened the recording."""
    return SESSION in os.environ


def _forked():
    global _born_ns
    _born_ns = time.monotonic_ns()


def _open(event, d):
    """Called once in each worker, whose tasks inherit the session, before any recipe is parsed."""
    global _session, _reads_io
    if _session is None:
        instance, directory = os.environ[SESSION].split(" ", 1)
        _reads_io = d.getVar("BUILDBEAT_TASK_IO") == "1"
        _session = abi.Session(d.getVar("BUILDBEAT_PLUGIN"), directory, instance=instance,
                               flags=abi.JOIN_ONLY | abi.FORKS)
        os.register_at_fork(after_in_child=_forked)


def _started(event, d):
    """Its command is the script beside its log."""
    global _number
    if _session:
        _number = number(event._fn + ":" + event._task)
        where, _, name = event.logfile.rpartition("/log.")
        _session.started(_number, os.getpid(), where + "/run." + name, _born_ns)


def _io():
    with open("/proc/self/io", "rb") as f:
        words = f.read().split()
    return int(words[1]), int(words[3])


def _succeeded(event, d):
    if _session:
        if _reads_io:
            _session.bytes(*_io())
        _session.finished(_number, 0, abi.RAN_HERE)


def _failed(event, d, how):
    """Perhaps before it started."""
    if _session:
        n = number(event._fn + ":" + event._task)
        log = getattr(event, "logfile", None)
        _session.note("%s, see %s" % (how, log) if log else how, n)
        if _reads_io:
            _session.bytes(*_io())
        _session.finished(n, 1 << 8, abi.RAN_HERE)


HANDLERS = {
    "ConfigParsed": _open,
    "TaskStarted": _started,
    "TaskSucceeded": _succeeded,
    "TaskFailed": lambda event, d: _failed(event, d, "failed"),
    "TaskFailedSilent": lambda event, d: _failed(event, d, "failed silently"),
    "TaskInvalid": lambda event, d: _failed(event, d, "no such task"),
}
