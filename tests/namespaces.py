# SPDX-License-Identifier: MIT
# Records builds that run in other PID namespaces, and compares what is recorded about their tasks
# with what the programs of these tasks say about themselves:
#   namespaces.py BUILDBEAT DIRECTORY
# Prints nothing if all is right, and exits with 77 if no namespace can be made.
import glob
import json
import os
import shutil
import subprocess
import sys

BUILDBEAT, DIRECTORY = sys.argv[1:]
BURN = """
import resource, sys, time
block = bytearray(16 << 20)
while time.process_time() < .2:
    pass
used = resource.getrusage(resource.RUSAGE_SELF)
with open(sys.argv[1], "w") as out:
    print(used.ru_utime + used.ru_stime, used.ru_maxrss, file=out)
"""
MAKEFILE = """
all: one two ; @true
one two: ; @python3 -S burn.py used.$@
nest: ; @true; $(MAKE) deeper
deeper: ; @$(MAKE) all
below: ; @$(BELOW) $(MAKE) -j2 all
"""
problems = []


def possible(command):
    try:
        return not subprocess.run(command + ["true"], stderr=subprocess.DEVNULL).returncode
    except FileNotFoundError:
        return False


def wrappers():
    """Name, command, and whether /proc is that of the new namespace."""
    bwrap = ["bwrap", "--dev-bind", "/", "/"]
    found = [w for w in [
        ("unshare", ["unshare", "-pf"]),
        ("own proc", ["unshare", "-pf", "--mount-proc"]),
        ("user", ["unshare", "-Urpf"]),
        ("user, own proc", ["unshare", "-Urpf", "--mount-proc"]),
        ("bwrap", bwrap + ["--unshare-pid"]),
        ("bwrap, own proc", bwrap + ["--unshare-all", "--proc", "/proc"]),
        ("twice", ["unshare", "-Urpf", "unshare", "-Urpf", "--mount-proc"]),
        ("bwrap in unshare", ["unshare", "-Urpf", *bwrap, "--unshare-pid"]),
            ] if possible(w[1])]
    if not found:
        sys.exit(77)
    return found


def record(before, command, tmp):
    for old in glob.glob("used.*") + ["r"]:
        shutil.rmtree(old) if os.path.isdir(old) else os.path.exists(old) and os.remove(old)
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFILES", "MAKEFLAGS", "MAKELEVEL")}
    run = subprocess.run(before + [BUILDBEAT, "record", "--interval", "50", "-o", "r", "--"] + command,
                         env=dict(env, TMPDIR=tmp), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=300)
    if run.returncode:
        problems.append("%r: exit status %d, %r" % (command, run.returncode, run.stdout))
    return json.loads(subprocess.run([BUILDBEAT, "show", "--json", "r"], check=True,
                                     stdout=subprocess.PIPE).stdout)["totals"]


def tasks_of(log):
    """The tasks of tasks.log by their id: name, user and system time."""
    task = {}
    for line in open(log, errors="replace").read().split("\n")[1:]:
        f = line.split("\t")
        if f[0] == "start":
            task[f[2]] = {"name": (f + [""] * 8)[6], "cpu": None, "end": False}
        elif f[0] in ("done", "fail", "kill") and f[2] in task:
            task[f[2]].update(cpu=(int(f[4] or 0) + int(f[5] or 0)) / 1e6, end=True)
    return task


def samples_of(log):
    """Of each task: the largest memory in MiB, number of processes, and its CPU time in seconds."""
    state, peak = {}, {}
    head, *lines = open(log).read().split("\n")
    for line in lines:
        body = line.split(" ", 1)[1] if line[:1] in "@+!~" and " " in line else line
        if body[:1] in "@+!~=" and "=" not in body:
            continue
        for part in body.split(";"):
            slot, colon, values = part.partition(":")
            number, named, task = slot.partition("=")
            if not colon or not number.isdigit():
                continue
            if named:
                state[number] = [task] + [0] * (head.count(":") // 2)
            if number not in state:
                continue
            for i, v in enumerate(values.split(",")):
                state[number][1 + i] += int(v or 0)
            s, p = state[number], peak.setdefault(state[number][0], {"rss": 0, "n": 0, "cpu": 0})
            p.update(rss=max(p["rss"], s[1]), cpu=max(p["cpu"], s[2] / 100), n=max(p["n"], s[4]))
    return peak


def compare(what, before, command, hosting, known=True, tmp=DIRECTORY):
    totals = record(before, command, tmp)
    logs = os.path.join("r", "latest")
    task, sample = tasks_of(logs + "/tasks.log"), samples_of(logs + "/proc_tasks.log")
    truth = {name: [float(x) for x in open("used." + name).read().split()] for name in ("one", "two")}

    def must(holds, *words):
        if not holds:
            problems.append("%s: %s" % (what, " ".join(map(str, words))))
    must(not totals["tasks_unfinished"], totals["tasks_unfinished"], "unfinished tasks")
    must(all(t["end"] for t in task.values()), "tasks without an end:", task)
    if hosting is not None:
        must(totals["tasks_hosting"] == hosting, totals["tasks_hosting"], "tasks host,", hosting, "do")
    must(totals["cpu_us"] / 1e6 < sum(t[0] for t in truth.values()) + 1, "the build used", totals["cpu_us"])
    for name, (cpu, rss) in truth.items():
        ids = [i for i in task if task[i]["name"] == name]
        must(len(ids) == 1, len(ids), "tasks are", name)
        if len(ids) != 1:
            continue
        t = task[ids[0]]
        s = sample.get(ids[0], {"rss": 0, "n": 0, "cpu": 0})
        must(cpu - .02 <= t["cpu"] <= cpu + .25, name, "used", cpu, "recorded", t["cpu"])
        must(s["cpu"] <= t["cpu"] + .02, name, "used", cpu, "sampled", s["cpu"])
        must(s["rss"] <= rss / 1024 + 1, name, "had", rss, "KiB, sampled", s["rss"], "MiB")
        must(s["n"] <= 1, name, "was one process, sampled", s["n"])
        must(bool(s["n"]) == known, name, "has" if s["n"] else "has no", "samples")
        must(not known or (s["rss"] >= 16 and s["cpu"] >= cpu / 4), name, "sampled", s, "of", cpu, rss)
    for i, t in task.items():
        s = sample.get(i, {"rss": 0, "n": 0, "cpu": 0})
        must(s["cpu"] <= t["cpu"] + .05 and s["n"] < 12 and s["rss"] < 256, i, t, "sampled", s)


def main():
    os.chdir(DIRECTORY)
    for path, text in (("burn.py", BURN), ("Makefile", MAKEFILE)):
        with open(path, "w") as out:
            out.write(text)
    far = os.path.join(DIRECTORY, "x" * 120)
    os.mkdir(far)
    for name, wrapper in wrappers():
        compare(name, [], wrapper + ["make", "-j2", "all"], 1)
        if name in ("own proc", "user, own proc"):
            shell = ["sh", "-c", "make -j2 all; true"]
            compare(name + ", shell", [], wrapper + shell, 1)
            compare(name + ", nested makes", [], wrapper + ["make", "-j2", "nest"], 3)
            compare(name + ", no answer", [], wrapper + ["make", "-j2", "all"], None, False, far)
        if " " not in name or name == "user, own proc":
            compare(name + ", below make", [], ["make", "below", "BELOW=" + " ".join(wrapper)], 1)
    for name, wrapper in wrappers()[:4]:
        compare("launcher in " + name, wrapper, ["make", "-j2", "nest"], 2, "own proc" in name)


main()
for problem in problems:
    print(problem)
sys.exit(bool(problems))
