# SPDX-License-Identifier: MIT
"""A stand-in for bitbake where there is none: the events of a small build, fired in
processes that are parents and children as bitbake's are (a cooker, its worker, a forked
child a task), at the Python side of plugin/bitbake, which calls the real plugin.

bitbake_driver.py HOSTS_LIB VARIABLE=VALUE ...
"""

import os
import subprocess
import sys
import types

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


# The worker and its tasks

def run_task(taskid, outcome):
    file, _, name = taskid.rpartition(":")
    fields = {"_fn": file, "_task": name, "logfile": "/work/temp/log.%s.%d" % (name, os.getpid())}
    if outcome == "lost":
        return 3
    if outcome == "invalid":
        fields["logfile"] = None
        fire("TaskInvalid", **fields)
        return 1
    fire("TaskStarted", **fields)
    if outcome == "killed":
        os.kill(os.getpid(), 9)
    sum(i * i for i in range(100000))
    subprocess.run(["/bin/sh", "-c", "exit 0"])
    fire({"ok": "TaskSucceeded", "bad": "TaskFailed", "silent": "TaskFailedSilent"}[outcome],
         **fields)
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

class Workers:
    def __init__(self):
        self.process = subprocess.Popen([sys.executable, "-B", __file__, LIB, "WORKER=1"] + [
            "%s=%s" % s for s in SETTINGS.items()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            universal_newlines=True)

    def run(self, queue, taskid, outcome, noexec=False):
        fire(queue + "TaskStarted", taskid=taskid, noexec=noexec)
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


def cooker():
    fire("ConfigParsed")
    fire("ParseStarted", total=3)
    if not os.fork():		# as parsers are
        fire("ParseCompleted", parsed=9, cached=9, skipped=9, masked=9, errors=9)
        os._exit(0)
    os.wait()
    fire("ParseCompleted", parsed=3, cached=1, skipped=2, masked=0, errors=0)
    fire("BuildInit")
    fire("TreeDataPreparationStarted")
    fire("TreeDataPreparationCompleted")
    for _ in range(2):
        fire("BuildStarted", _name="${NAME}", _pkgs=["app:do_build", "mc:arm:app:do_build"])
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
    for _ in range(2):
        fire("BuildCompleted", _failures=1, _interrupted=0)
    workers.close()
    fire("CommandCompleted")
    fire("CookerExit")
    print("BUILDBEAT_SESSION" in os.environ)


worker() if SETTINGS.pop("WORKER", None) else cooker()
