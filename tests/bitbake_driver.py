# SPDX-License-Identifier: MIT
"""A stand-in for bitbake where there is none: the events of a small build, fired in
processes that are parents and children as bitbake's are (a cooker, its worker, a forked
child a task), at the Python side of plugin/bitbake, which calls the real plugin.

bitbake_driver.py HOSTS_LIB VARIABLE=VALUE ...

SERVER=1: the cooker is no child of this process, as bitbake's server. RAISES=1: an error inside.
FAILS=EVENT: the build fails before any task, with this event. INTERRUPTED=once or twice: after the
tasks. WITNESS=FILE: lines of "who least most": the CPU time in microseconds of the server and of
the process of each task, before and after it was recorded; of "TASK.setup" the times in nanoseconds
when the task's process began and before it was reported.
"""

import os
import resource
import subprocess
import sys
import time
import types
import warnings

LIB = sys.argv[1]
SETTINGS = dict(word.split("=", 1) for word in sys.argv[2:])

bb = types.ModuleType("bb")
bb.__version__ = "9.9"
bb.warn = lambda text: print("WARNING: " + text, flush=True)
bb.debug = lambda level, text: print("DEBUG: " + text, flush=True)
sys.modules["bb"] = bb
sys.path.insert(0, LIB)
import buildbeat  # noqa: E402


class Data:
    def getVar(self, name, expand=True):
        if name == "BB_ORIGENV":
            return self
        if name == "BB_CMDLINE":
            return ["/usr/bin/bitbake", "-k", "two words"]
        return SETTINGS.get(name)

    def expand(self, text):
        return text.replace("${NAME}", "20260102030405")


D = Data()


def fire(kind, **fields):
    event = type(kind, (), {})()
    event.__dict__.update(fields)
    buildbeat.handle(event, D)


def used():
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(round(1e6 * t) for u in both for t in (u.ru_utime, u.ru_stime))


def witness(who, least, most):
    if "WITNESS" in SETTINGS:
        with open(SETTINGS["WITNESS"], "a") as f:
            f.write("%s %d %d\n" % (who, least, most))


def witnessed(who, kind, **fields):
    least = used()
    fire(kind, **fields)
    witness(who, least, used())


# The worker and its tasks

def run_task(taskid, outcome):
    born_ns = time.monotonic_ns()
    sum(i * i for i in range(100000))	# as the recipe is parsed
    file, _, name = taskid.rpartition(":")
    fields = {"_fn": file, "_task": name, "logfile": "/work/temp/log.%s.%d" % (name, os.getpid())}
    if outcome == "lost":
        return 3
    if outcome == "invalid":
        fields["logfile"] = None
        fire("TaskInvalid", **fields)
        return 1
    witness(name + ".setup", born_ns, time.monotonic_ns())
    fire("TaskStarted", **fields)
    if outcome == "killed":
        os.kill(os.getpid(), 9)
    sum(i * i for i in range(100000))
    subprocess.run(["/bin/sh", "-c", "exit 0"])
    witnessed(name, {"ok": "TaskSucceeded", "bad": "TaskFailed",
                     "silent": "TaskFailedSilent"}[outcome], **fields)
    return 0 if outcome == "ok" else 1


def worker():
    fire("ConfigParsed")
    os.environ.pop("BUILDBEAT_SESSION", None)
    for line in sys.stdin:
        taskid, outcome = line.split()
        pid = os.fork()
        if not pid:
            os._exit(run_task(taskid, outcome))
        status = os.waitpid(pid, 0)[1]
        print(128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status),
              flush=True)


# The cooker

class STATS:
    """Of bitbake's runqueue: those that were skipped are completed."""
    completed, failed, total = 119, 1, 363


class Workers:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-B", __file__, LIB, "WORKER=1"] + [
            "%s=%s" % s for s in SETTINGS.items()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            universal_newlines=True)

    def run(self, queue, taskid, outcome, noexec=False):
        fire(queue + "TaskStarted", taskid=taskid, noexec=noexec, stats=STATS)
        if noexec:
            return
        suffix = "_setscene" if queue == "sceneQueue" else ""
        print(taskid + suffix, outcome, file=self.process.stdin, flush=True)
        code = int(self.process.stdout.readline())
        if code:
            fire(queue + "TaskFailed", taskid=taskid, exitcode=code)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def usage(**fields):
    usage = type("usage", (), {})()
    usage.__dict__.update(fields)
    return usage


TREE = {
    "pn": {
        "lib": {"filename": "/r/lib_1.0.bb", "version": ":1.0-r0"},
        "app": {"filename": "/r/app_2.bb", "version": "1:2-r3"},
        "mc:arm:app": {"filename": "mc:arm:/r/app_2.bb", "version": "0:2-r3"},
    },
    "tdepends": {
        "lib.do_install": ["lib.do_compile"],
        "lib.do_build": ["lib.do_install", "lib.do_compile"],
        "app.do_compile": ["lib.do_build", "lib.do_covered"],
        "app.do_install": ["app.do_sysroot", "app.do_compile"],
        "mc:arm:app.do_compile": ["lib.do_install"],
    },
}


class NoProvider:
    """What real events say in words."""
    def __str__(self):
        return "Nothing PROVIDES 'x'\n(but y DEPENDS on it)"


def fails(kind):
    """Before any task."""
    if kind == "NoProvider":
        buildbeat.handle(NoProvider(), D)
    elif kind == "ParseError":
        fire(kind, _msg="ParseError at x.bb:1:\n unparsed line")
    fire("CommandFailed", error="a traceback" if kind == "CommandFailed" else "", exitcode=1)
    fire("CookerExit")


def fork_parser():
    """Python 3.12 and later warn of a fork beside threads: the plugin has one here, as bitbake's
    own server has. In multiprocessing, with which bitbake forks, the warning is not shown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def cooker():
    fire("ConfigParsed")
    fire("CacheLoadStarted")
    fire("ParseStarted", total=3)
    if not fork_parser():
        fire("ParseCompleted", parsed=9, cached=9, skipped=9, masked=9, errors=9)
        os._exit(0)
    os.wait()
    fire("ParseCompleted", parsed=3, cached=1, skipped=2, masked=0, errors=0)
    fire("BuildInit")
    if "FAILS" in SETTINGS:
        fails(SETTINGS["FAILS"])
        return
    fire("TreeDataPreparationStarted")
    fire("TreeDataPreparationCompleted")
    for _ in range(2):
        fire("BuildStarted", _name="${NAME}", _pkgs=["app:do_build", "mc:arm:app:do_build"])
    if "TAKEN" in SETTINGS:		# by OpenEmbedded's class, whose handler is called later
        os.makedirs(os.path.join(SETTINGS["TMPDIR"], "buildstats", "20260102030405"), exist_ok=True)
    fire("HeartbeatEvent")
    fire("ProcessStarted", processname="Initialising tasks")
    fire("DepTreeGenerated", _depgraph=TREE)
    fire("ProcessFinished", processname="Initialising tasks")
    workers = Workers()
    workers.run("sceneQueue", "/r/app_2.bb:do_sysroot", "silent")
    fire("sceneQueueComplete")
    workers.run("runQueue", "/r/lib_1.0.bb:do_compile", "ok")
    workers.run("runQueue", "/r/lib_1.0.bb:do_install", "ok")
    workers.run("runQueue", "/r/lib_1.0.bb:do_build", "", noexec=True)
    fire("runQueueTaskSkipped", taskid="/r/lib_1.0.bb:do_covered", reason="covered")
    workers.run("runQueue", "/r/app_2.bb:do_sysroot", "ok")
    workers.run("runQueue", "/r/app_2.bb:do_compile", "killed")
    workers.run("runQueue", "mc:arm:/r/app_2.bb:do_compile", "bad")
    workers.run("runQueue", "/r/app_2.bb:do_install", "lost")
    workers.run("runQueue", "/r/other_3.bb:do_what", "invalid")
    fire("MonitorDiskEvent", disk_usage={"/dev/x": usage(
        total_bytes=4096, free_bytes=2048, available_bytes=1024)})
    fire("PSIEvent", pressure_state=(True, False, True), pressure_values=(1, 2, 3))
    fire("PSIEvent", pressure_state=(True, False, True), pressure_values=(1, 2, 3))
    fire("DiskFull", _mountpoint="/x", _type="inodes")
    fire("runQueueExitWait", remain=2)
    if "RAISES" in SETTINGS:
        fire("ParseCompleted")
    workers.close()
    interrupted = 2 if "INTERRUPTED" in SETTINGS else 0
    if SETTINGS.get("INTERRUPTED") == "twice":	# of which bitbake says nothing
        fire("CookerExit")
        return
    for _ in range(2):
        witnessed("server", "BuildCompleted", _failures=0 if interrupted else 1,
                  _interrupted=interrupted)
    fire("CommandCompleted")
    fire("CookerExit")
    print("BUILDBEAT_SESSION" in os.environ, flush=True)


def server():
    """The client waits until nobody holds the pipe any more."""
    ended, held = os.pipe()
    if not os.fork():
        if not os.fork():
            cooker()
        os._exit(0)
    os.wait()
    os.close(held)
    os.read(ended, 1)


if SETTINGS.pop("WORKER", None):
    worker()
else:
    server() if SETTINGS.pop("SERVER", None) else cooker()
