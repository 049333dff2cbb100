# SPDX-License-Identifier: MIT
"""The workers, and the tasks: their forked children. What is done here is done for every
task, in its own process."""

import os

from . import abi
from .taskid import number

# What the cooker puts into the environment its workers get: its pid, its instance, and
# the recording's directory.
SESSION = "BUILDBEAT_SESSION"

_session = None
_reads_io = False
_number = 0		# of the task that started in this process


def in_worker():
    """Is this not the process that opened the recording."""
    return _session is not None or not os.environ.get(SESSION, "%d " % os.getpid()).startswith(
        "%d " % os.getpid())


def _open(event, d):
    """Once a worker: the tasks inherit it."""
    global _session, _reads_io
    if _session is None:
        _, instance, directory = os.environ[SESSION].split(" ", 2)
        _reads_io = d.getVar("BUILDBEAT_TASK_IO") == "1"
        _session = abi.Session(d.getVar("BUILDBEAT_PLUGIN"), directory, instance=instance,
                               flags=abi.JOIN_ONLY | abi.FORKS)


def _number_of(event):
    return number(event._fn + ":" + event._task)


def _started(event, d):
    """Its command is the script beside its log."""
    global _number
    if _session:
        _number = _number_of(event)
        where, _, name = event.logfile.rpartition("/log.")
        command = where + "/run." + name
        _session.started(_number, os.getpid(), command.encode("utf-8", "surrogateescape"))


def _io():
    with open("/proc/self/io", "rb") as f:
        words = f.read().split()
    return int(words[1]), int(words[3])


def _finished(number, status):
    if _reads_io:
        _session.bytes(*_io())
    _session.finished(number, status, abi.RAN_HERE)


def _succeeded(event, d):
    if _session:
        _finished(_number, 0)


def _failed(event, d, how):
    if _session:
        n = _number_of(event)
        log = getattr(event, "logfile", None)
        _session.note("%s, see %s" % (how, log) if log else how, n)
        _finished(n, 1 << 8)


HANDLERS = {
    "ConfigParsed": _open,
    "TaskStarted": _started,
    "TaskSucceeded": _succeeded,
    "TaskFailed": lambda event, d: _failed(event, d, "failed"),
    "TaskFailedSilent": lambda event, d: _failed(event, d, "failed silently"),
    "TaskInvalid": lambda event, d: _failed(event, d, "no such task"),
}
