# SPDX-License-Identifier: MIT
"""The workers, and the tasks: their forked children."""

import os

from . import abi
from .taskid import number

# What the cooker puts into the environment its workers get: its pid, its instance, and
# the recording's directory.
SESSION = "BUILDBEAT_SESSION"

_session = None


def in_worker():
    """Is this not the process that opened the recording."""
    return _session is not None or not os.environ.get(SESSION, "%d " % os.getpid()).startswith(
        "%d " % os.getpid())


def _open(event, d):
    """Once a worker: the tasks inherit it."""
    global _session
    if _session is None:
        _, instance, directory = os.environ[SESSION].split(" ", 2)
        _session = abi.Session(d.getVar("BUILDBEAT_PLUGIN"), directory, instance=instance,
                               flags=abi.JOIN_ONLY | abi.FORKS)


def _number(event):
    return number("%s:%s" % (event._fn, event._task))


def _command(event):
    """The script beside the log."""
    where, name = os.path.split(event.logfile)
    return os.fsencode(os.path.join(where, name.replace("log.", "run.", 1)))


def _started(event, d):
    if _session:
        _session.started(_number(event), os.getpid(), _command(event))


def _io(d):
    if d.getVar("BUILDBEAT_TASK_IO") != "1":
        return -1, -1
    with open("/proc/self/io", "rb") as f:
        words = f.read().split()
    return int(words[1]), int(words[3])


def _finished(event, d, status):
    rchar, wchar = _io(d)
    _session.finished(_number(event), status, True, rchar, wchar)


def _succeeded(event, d):
    if _session:
        _finished(event, d, 0)


def _failed(event, d, how):
    if _session:
        log = getattr(event, "logfile", None)
        _session.note("%s, see %s" % (how, log) if log else how, _number(event))
        _finished(event, d, 1 << 8)


HANDLERS = {
    "ConfigParsed": _open,
    "TaskStarted": _started,
    "TaskSucceeded": _succeeded,
    "TaskFailed": lambda event, d: _failed(event, d, "failed"),
    "TaskFailedSilent": lambda event, d: _failed(event, d, "failed silently"),
    "TaskInvalid": lambda event, d: _failed(event, d, "no such task"),
}
