# SPDX-License-Identifier: MIT
"""buildbeat_plugin.h for Python: see buildbeat-plugin(3)."""

import ctypes
import os

MAJOR = 1
JOIN_ONLY = 1
FORKS = 2
RAN_HERE = 1
AT_MOST = 2

_u32, _i32 = ctypes.c_uint32, ctypes.c_int32
_u64, _i64 = ctypes.c_uint64, ctypes.c_int64
_text, _session = ctypes.c_char_p, ctypes.c_void_p


class Host(ctypes.Structure):
    _fields_ = [("size", _u32), ("flags", _u32), ("tool", _text), ("version", _text),
                ("command", _text), ("dir", _text), ("interval_ms", _i64), ("instance", _text),
                ("access", _text), ("redact", _text)]


class Task(ctypes.Structure):
    _fields_ = [("size", _u32), ("pid", _i32), ("slot", _i32), ("reserved", _u32),
                ("name", _text), ("kind", _text), ("key", _text), ("command", _text),
                ("after", ctypes.POINTER(_text)), ("n_after", ctypes.c_size_t),
                ("number", _u64), ("born_ns", _i64)]


class Result(ctypes.Structure):
    _fields_ = [("size", _u32), ("status", _i32), ("usage", ctypes.c_void_p),
                ("rchar", _i64), ("wchar", _i64), ("flags", _u32), ("reserved", _u32)]


class Used(ctypes.Structure):
    _fields_ = [("size", _u32), ("reserved", _u32), ("user_us", _i64), ("system_us", _i64),
                ("in_blocks", _i64), ("out_blocks", _i64)]


# With the interpreter's lock held: a call takes less than giving it away and waiting for
# it again would.
_call = ctypes.PYFUNCTYPE


class Api(ctypes.Structure):
    _fields_ = [
        ("size", _u32), ("major", _u32),
        ("open", _call(_session, ctypes.POINTER(Host))),
        ("build_started", _call(None, _session, _text)),
        ("task_queued", _call(_u64, _session, ctypes.POINTER(Task))),
        ("task_started", _call(_u64, _session, _u64, ctypes.POINTER(Task))),
        ("task_pid", _call(None, _session, _u64, _i32)),
        ("task_finished", _call(None, _session, _u64, ctypes.POINTER(Result))),
        ("span_begin", _call(_u64, _session, _u64, _text)),
        ("span_end", _call(None, _session, _u64, _u64)),
        ("note", _call(None, _session, _u64, _text)),
        ("heartbeat", _call(None, _session)),
        ("snapshot", _call(None, _session)),
        ("build_completed", _call(None, _session, _i32)),
        ("close", _call(None, _session)),
        ("instance", _call(_text, _session)),
        ("from_ticket_to_traceparent", ctypes.c_void_p * 16),
        ("used", _call(None, _session, ctypes.POINTER(Used))),
    ]


def load(path):
    """The table of the plugin at path; OSError says why there is none."""
    get = ctypes.PyDLL(path).buildbeat_get_api
    get.argtypes = [_u32]
    get.restype = ctypes.POINTER(Api)
    table = get(MAJOR)
    if not table or table.contents.size < ctypes.sizeof(Api):
        raise OSError("%s is of another version" % path)
    return table.contents


class Session:
    """One process's part in a recording. None of its methods fails."""

    def __init__(self, plugin, directory, tool="bitbake", version="", command="",
                 instance=None, flags=0, access="", redact=""):
        """Raises OSError where nothing can be recorded."""
        self._api = load(plugin)
        self.directory = directory
        host = Host(ctypes.sizeof(Host), flags, tool.encode(), version.encode(),
                    os.fsencode(command), os.fsencode(directory), 0,
                    instance.encode() if instance else None, access.encode(),
                    redact.encode())
        handle = self._api.open(host)
        if not handle:
            raise OSError("%s cannot be written" % directory)
        self._handle = _session(handle)
        self._queued = self._api.task_queued
        self._started = self._api.task_started
        self._finished = self._api.task_finished
        # One of each, and what points to them, for all tasks of this process.
        self._task = Task(ctypes.sizeof(Task), 0, -1)
        self._task_at = ctypes.pointer(self._task)
        self._result = Result(ctypes.sizeof(Result), -1, None, -1, -1, 0)
        self._result_at = ctypes.pointer(self._result)

    def instance(self):
        return self._api.instance(self._handle).decode()

    def build_started(self, targets):
        self._api.build_started(self._handle, os.fsencode(targets))

    def queued(self, number, name, key, after):
        """after: a list of bytes."""
        n = len(after)
        task = Task(ctypes.sizeof(Task), 0, -1, 0, name.encode(), None, key.encode(), None,
                    (_text * n)(*after) if n else None, n, number)
        self._queued(self._handle, task)

    def started(self, number, pid, command, born_ns=0):
        task = self._task
        task.pid = pid
        task.born_ns = born_ns
        task.command = command.encode("utf-8", "surrogateescape")
        self._started(self._handle, number, self._task_at)

    def bytes(self, rchar, wchar):
        """Of the next task that has finished."""
        self._result.rchar = rchar
        self._result.wchar = wchar

    def finished(self, number, status, flags=0):
        result = self._result
        result.status = status
        result.flags = flags
        self._finished(self._handle, number, self._result_at)

    def begin(self, name):
        return self._api.span_begin(self._handle, 0, name.encode())

    def end(self, span):
        self._api.span_end(self._handle, 0, span)

    def note(self, text, number=0):
        self._api.note(self._handle, number, os.fsencode(text))

    def heartbeat(self):
        self._api.heartbeat(self._handle)

    def used(self, user_us, system_us, in_blocks, out_blocks):
        self._api.used(self._handle, Used(ctypes.sizeof(Used), 0, user_us, system_us,
                                          in_blocks, out_blocks))

    def build_completed(self, status):
        self._api.build_completed(self._handle, status)

    def close(self):
        self._api.close(self._handle)
        self._handle = None
