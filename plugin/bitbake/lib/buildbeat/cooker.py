# SPDX-License-Identifier: MIT
"""The cooker: it opens the recording, queues tasks and hears how they ended."""

import os
import shlex
import signal
import subprocess
import time

from . import abi, task, usage
from .graph import Graph
from .layout import Layout
from .taskid import number

_DISK_NOTE_S = 10
_PROGRESS_NOTE_S = 1

_build = None
_missing = False
_used = usage.Counter()


class Build:
    """One recording: all of a command that parses or builds."""

    def __init__(self, session, layout, launched):
        self.session = session
        self.layout = layout
        self.before = _used.begin(session.directory, launched)
        self.reason = None
        self.graph = Graph()
        self.spans = {}
        self.skipped = {}
        self.disk_s = 0
        self.progress_s = 0
        self.pressure = None
        self.started = self.completed = False
        os.environ[task.SESSION] = "%s %s" % (session.instance(), session.directory)

    def begin(self, name):
        if name not in self.spans:
            self.spans[name] = self.session.begin(name)

    def end(self, name):
        span = self.spans.pop(name, None)
        if span:
            self.session.end(span)

    def complete(self, status):
        if not self.completed:
            self.completed = True
            self.session.build_completed(status)

    def close(self):
        os.environ.pop(task.SESSION, None)
        for name in list(self.spans):
            self.end(name)
        self.session.used(*_used.end(self.session.directory, self.before))
        self.session.close()
        if self.started:
            _write_layout(self)


def _write_layout(build):
    try:
        build.layout.write(build.session.directory)
    except (OSError, subprocess.SubprocessError) as why:
        import bb
        bb.warn("buildbeat: not written as OpenEmbedded's: %s" % why)


def abandon():
    """After an error: no more of it."""
    global _build
    build, _build = _build, None
    if build:
        os.environ.pop(task.SESSION, None)
        build.session.close()


# Opening

def _fresh(base):
    name = time.strftime("%Y%m%d%H%M%S", time.gmtime())
    path, n = os.path.join(base, name), 1
    while os.path.lexists(path):
        n += 1
        path = os.path.join(base, "%s-%d" % (name, n))
    return path


def _unescape(text):
    parts = text.split("%")
    return os.fsdecode(b"".join([os.fsencode(parts[0])] + [
        bytes([int(p[:2], 16)]) + os.fsencode(p[2:]) for p in parts[1:]]))


def _launched(d):
    """The recording of a `buildbeat record` that bitbake was called under, or None. Its
    environment is not ours: the server may be older."""
    origin = d.getVar("BB_ORIGENV", False)
    words = ((origin and origin.getVar("MAKEFILES", False)) or "").split()
    if not words or not words[0].endswith("/buildbeat.mk"):
        return None
    try:
        with open(words[0]) as f:
            held = os.fstat(f.fileno())
            if held.st_uid not in (0, os.geteuid()) or held.st_mode & 0o022:
                return None
            first = f.readline().split()
        if first[:4] == ["#", "buildbeat", "ticket", "1"]:
            return _unescape(first[6])
    except (OSError, ValueError, IndexError):
        pass
    return None


def _command(d):
    words = d.getVar("BB_CMDLINE", False)
    if not isinstance(words, (list, tuple)) or not words:
        return "bitbake"
    return " ".join(shlex.quote(w) for w in [os.path.basename(words[0])] + list(words[1:]))


def _open(d):
    global _build, _missing
    if _build or _missing:
        return
    import bb
    launched = _launched(d)
    flags = abi.JOIN_ONLY if launched else 0
    directory = launched or _fresh(d.getVar("BUILDBEAT_OUTPUT"))
    try:
        session = abi.Session(d.getVar("BUILDBEAT_PLUGIN"), directory, version=bb.__version__,
                              command=_command(d), flags=flags,
                              access=d.getVar("BUILDBEAT_ACCESS") or "",
                              redact=" ".join((d.getVar("BUILDBEAT_REDACT") or "").split()))
    except OSError as why:
        _missing = True
        bb.warn("buildbeat: nothing is recorded: %s" % why)
        return
    _build = Build(session, Layout(d, not launched), bool(launched))


def _close(status):
    global _build
    build, _build = _build, None
    if build:
        build.complete(status)
        build.close()


# Parsing and preparing

def _cache_load_started(event, d):
    _used.command_started()


def _parse_error(event, d):
    _fail_build(event._msg)


def _no_provider(event, d):
    """This fails the build, except one of "universe", for which bitbake only warns."""
    words = d.getVar("BB_CMDLINE", False)
    if not isinstance(words, (list, tuple)) or "universe" not in words:
        _fail_build(str(event))


def _parse_started(event, d):
    _open(d)
    if _build:
        _build.begin("parse")


def _parse_completed(event, d):
    if _build:
        _build.end("parse")
        _build.session.note("parsed %d recipe files, %d cached, %d skipped, %d masked, %d errors" % (
            event.parsed, event.cached, event.skipped, event.masked, event.errors))


def _init(event, d):
    _open(d)


def _phase_started(event, d):
    if _build:
        _build.begin(event.processname)


def _phase_finished(event, d):
    if _build:
        _build.end(event.processname)


def _tree_started(event, d):
    if _build:
        _build.begin("prepare tree data")


def _tree_completed(event, d):
    if _build:
        _build.end("prepare tree data")


def _build_started(event, d):
    """Once a multiconfig."""
    _open(d)
    if _build and not _build.started:
        _build.started = True
        _build.session.build_started(" ".join(event._pkgs))
        name = d.expand(event._name)
        _build.session.note("build name %s" % name)
        _build.layout.name(name)


def _graph(event, d):
    if _build:
        _build.graph = Graph(event._depgraph)


def _fail_build(why):
    """Record why the build failed, if no task did: the first reason counts."""
    if _build and not _build.reason:
        _build.reason = " ".join(why.split()) or "bitbake reported an error"
        _build.session.note("failed: " + _build.reason)


# Tasks

def _queue(event, suffix):
    if not _build:
        return
    if event.noexec:
        _build.graph.pass_on(event.taskid)
        return
    name, key, after = _build.graph.queue(event.taskid, suffix)
    _build.session.queued(number(event.taskid + suffix), name, key, after)


def _progress(event):
    """As bitbake counts: those that it skips are done."""
    stats = getattr(event, "stats", None)
    if not _build or not stats or time.monotonic() - _build.progress_s < _PROGRESS_NOTE_S:
        return
    _build.progress_s = time.monotonic()
    _build.session.note("progress: %d of %d" % (stats.completed + stats.failed, stats.total))


def _task_queued(event, d):
    _progress(event)
    _queue(event, "")


def _scene_queued(event, d):
    if _build:
        _build.begin("setscene")
    _queue(event, "_setscene")


def _signal_name(n):
    try:
        return signal.Signals(n).name
    except ValueError:
        return "signal %d" % n


def _fail(event, suffix):
    """The worker's exit code: 128 and the signal for a task that could tell nothing itself,
    1 for one that did, before."""
    if not _build:
        return
    code = event.exitcode if isinstance(event.exitcode, int) else 1
    n = number(event.taskid + suffix)
    killed = 128 < code < 128 + 65
    if code != 1:
        _build.session.note("killed by %s" % _signal_name(code - 128) if killed else
                            "exit code %d" % code, n)
    _build.session.finished(n, code - 128 if killed else (code & 0xff or 1) << 8, abi.AT_MOST)


def _task_failed(event, d):
    _fail(event, "")


def _scene_failed(event, d):
    _fail(event, "_setscene")


def _skipped(event, d):
    if _build:
        _build.skipped[event.reason] = _build.skipped.get(event.reason, 0) + 1


def _scene_complete(event, d):
    if _build:
        _build.end("setscene")


# The machine

def _heartbeat(event, d):
    if _build:
        _build.session.heartbeat()


def _disk(event, d):
    if not _build or event.disk_usage is None or time.time() - _build.disk_s < _DISK_NOTE_S:
        return
    _build.disk_s = time.time()
    for device, usage in event.disk_usage.items():
        _build.session.note("disk %s: %d KiB used, %d KiB free" % (
            device, (usage.total_bytes - usage.free_bytes) // 1024,
            usage.available_bytes // 1024))


def _disk_full(event, d):
    if _build:
        _build.session.note("disk full: %s, %s" % (event._mountpoint, event._type))


def _pressure(event, d):
    """Of each change."""
    names = [name for name, over in zip(("CPU", "I/O", "memory"), event.pressure_state) if over]
    if _build and names != _build.pressure:
        _build.pressure = names
        _build.session.note("tasks held back by pressure: %s" % (", ".join(names) or "none"))


# The end

def _exit_wait(event, d):
    if _build:
        _build.session.note("waiting for %d running tasks to end" % event.remain)


def _build_completed(event, d):
    """Once a multiconfig: the first has everything."""
    if not _build or _build.completed:
        return
    for reason, n in sorted(_build.skipped.items()):
        _build.session.note("%d tasks skipped: %s" % (n, reason))
    if event._interrupted:
        _interrupt()
    _close((1 << 8) if event._failures or event._interrupted or _build.reason else 0)


def _interrupt():
    _build.session.note("interrupted")
    _build.reason = "interrupted"


def _command_completed(event, d):
    """End a command that built nothing; BuildCompleted has already ended any other."""
    _close(0)


def _command_failed(event, d):
    """The event has a reason only if bitbake has not printed one before."""
    if _build:
        _fail_build(getattr(event, "error", "") or "")
        _close(1 << 8)


def _exit(event, d):
    """After a second Ctrl-C, bitbake 2.8 and newer send no other event."""
    if _build and _build.started:
        _interrupt()
        _close(1 << 8)
    _close(-1)


HANDLERS = {
    "BuildCompleted": _build_completed,
    "BuildInit": _init,
    "BuildStarted": _build_started,
    "CacheLoadStarted": _cache_load_started,
    "CommandCompleted": _command_completed,
    "CommandExit": _command_failed,
    "CommandFailed": _command_failed,
    "CookerExit": _exit,
    "DepTreeGenerated": _graph,
    "DiskFull": _disk_full,
    "HeartbeatEvent": _heartbeat,
    "MonitorDiskEvent": _disk,
    "NoProvider": _no_provider,
    "PSIEvent": _pressure,
    "ParseCompleted": _parse_completed,
    "ParseError": _parse_error,
    "ParseStarted": _parse_started,
    "ProcessFinished": _phase_finished,
    "ProcessStarted": _phase_started,
    "TreeDataPreparationCompleted": _tree_completed,
    "TreeDataPreparationStarted": _tree_started,
    "runQueueExitWait": _exit_wait,
    "runQueueTaskFailed": _task_failed,
    "runQueueTaskSkipped": _skipped,
    "runQueueTaskStarted": _task_queued,
    "sceneQueueComplete": _scene_complete,
    "sceneQueueTaskFailed": _scene_failed,
    "sceneQueueTaskStarted": _scene_queued,
}
