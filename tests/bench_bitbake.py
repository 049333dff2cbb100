# SPDX-License-Identifier: MIT
"""What a task of bitbake pays for being recorded, in its own process: start and finish by the
Python side of plugin/bitbake and the plugin, events and datastore included. Run from the
build directory."""

import os
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
PLUGIN = os.path.join(os.getcwd(), "plugin", "buildbeat.so")
sys.path.insert(0, os.path.join(HERE, "..", "plugin", "bitbake", "lib"))
sys.dont_write_bytecode = True

import buildbeat  # noqa: E402
from buildbeat import abi, task  # noqa: E402

ROUNDS, TASKS = 15, 2000
SETTINGS = {"BUILDBEAT_PLUGIN": PLUGIN, "BUILDBEAT_TASK_IO": "0"}


class Data:
    def getVar(self, name, expand=True):
        return SETTINGS.get(name)


def event(kind, **fields):
    e = type(kind, (), {})()
    e.__dict__.update(fields)
    return e


def pairs(d, handle):
    """Microseconds of CPU a start and a finish."""
    fields = {"_fn": "/layers/meta/recipes-devtools/gcc/gcc-cross_13.2.bb", "_task": "do_compile",
              "logfile": "/build/tmp/work/x86_64-linux/gcc-cross/13.2/temp/log.do_compile.4711"}
    started, succeeded = event("TaskStarted", **fields), event("TaskSucceeded", **fields)
    before = time.process_time_ns()
    for _ in range(TASKS):
        handle(started, d)
        handle(succeeded, d)
    return (time.process_time_ns() - before) / 1000 / TASKS


def writes(fd):
    """The same of what cannot be less: two lines, written."""
    before = time.process_time_ns()
    for _ in range(TASKS):
        os.write(fd, b"x" * 119 + b"\n")
        os.write(fd, b"x" * 59 + b"\n")
    return (time.process_time_ns() - before) / 1000 / TASKS


def main():
    where = tempfile.mkdtemp(prefix="buildbeat-bench-")
    try:
        owner = abi.Session(PLUGIN, os.path.join(where, "one"))
        os.environ[task.SESSION] = "%s %s" % (owner.instance(), owner.directory)
        d = Data()
        buildbeat.handle(event("ConfigParsed"), d)
        fd = os.open(os.path.join(where, "lines"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        plain, recorded, written = [], [], []
        for _ in range(ROUNDS):
            plain.append(pairs(d, lambda e, d: None))
            recorded.append(pairs(d, buildbeat.handle))
            written.append(writes(fd))
        cost = sorted(r - p for p, r in zip(plain, recorded))
        middle = cost[len(cost) // 2]
        print("bitbake task, start and finish: x%.1f of two write()s, %.1f us of CPU in its "
              "process (%.1f to %.1f)" % (middle / sorted(written)[ROUNDS // 2], middle, cost[0],
                                          cost[-1]))
        owner.close()
    finally:
        shutil.rmtree(where)


main()
