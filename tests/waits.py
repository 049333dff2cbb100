# SPDX-License-Identifier: MIT
# Generated builds with known waits, really run by make, ninja and samurai:
#   waits.py BUILDBEAT DIRECTORY FIRST LAST
#   waits.py BUILDBEAT DIRECTORY known
#   waits.py BUILDBEAT DIRECTORY known44         what GNU make has since 4.4
# The tasks sleep. The plan of a build is made here from its number. What its tasks waited for follows
# from the plan and the recorded times, so the load of the machine does not matter. All outputs
# agree with this within 20 ms, and with each other exactly.
import json
import os
import random
import re
import shutil
import subprocess
import sys

NEAR = 20000		# us
STAMP = 2000
TRIALS = 5
CAUSES = "worker", "pool", "load", "delayed", "other", "order"
problems = []
BUILDBEAT = sys.argv[1]


def same(what, a, b):
    if a != b:
        problems.append("%s: %r and %r" % (what, a, b))


def run(*args):
    env = dict(os.environ, COLUMNS="1000000", TZ="UTC0", LC_ALL="C.UTF-8")
    return subprocess.run([BUILDBEAT, *args], env=env, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")


class Plan:
    """Tasks 0 to n - 1 need earlier nodes. Nodes from n on are groups."""

    def __init__(self, seed):
        self.random = r = random.Random(seed)
        self.seed = seed
        self.tool = ("make", "make", "ninja", "make", "samu")[seed % 5]
        self.n = r.randint(5, 11)
        self.ms = [r.choice((20, 60, 100, 150, 220)) for _ in range(self.n)]
        self.groups = r.randint(0, 4)
        self.serial = self.tool == "make" and r.random() < .2
        self.shells = r.randint(1, 3) if self.tool == "make" and r.random() < .3 else 0
        self.jobs = r.choice((1, 2, 3, 8, 100))
        self.pool = r.choice((0, 1, 2)) if self.tool == "ninja" else 0
        self.pooled = {i for i in range(self.n) if self.pool and r.random() < .5}
        # a group may have any tasks and earlier groups, and is used by later tasks only
        self.members, self.level, self.needs, self.order_only = {}, {}, [], []
        for g in range(self.n, self.n + self.groups):
            top = r.randint(1, self.n - 1)
            earlier = [e for e in self.members if self.level[e] <= top]
            self.members[g] = r.sample(range(top), r.randint(1, min(4, top))) + \
                [e for e in earlier if r.random() < .5]
            self.level[g] = top
        for i in range(self.n):
            direct = r.sample(range(i), min(i, r.choice((0, 1, 1, 2))))
            groups = [g for g in self.members if self.level[g] <= i and r.random() < .5]
            self.needs.append(direct + groups)
            self.order_only.append({x for x in self.needs[i] if r.random() < .3})

    def behind(self, node):
        if node < self.n:
            return {node}
        return {t for m in self.members[node] for t in self.behind(m)}

    def needed(self, task):
        return {t for node in self.needs[task] for t in self.behind(node)}

    def name(self, node):
        return "t%d" % node if node < self.n else "g%d" % node

    def names(self, task, order_only):
        return " ".join(self.name(x) for x in self.needs[task] if (x in self.order_only[task]) == order_only)

    def makefile(self):
        r, lines = self.random, ["all: " + " ".join(self.name(i) for i in range(self.n))]
        if self.serial:
            lines.insert(0, ".NOTPARALLEL:")
        lines[:0] = ["X%d := $(shell sleep .05; echo x)" % i for i in range(self.shells)]
        second = r.random() < .3
        if second:
            lines.insert(0, ".SECONDEXPANSION:\nDOLLAR = $(1)")
        for g, members in self.members.items():
            recipe = r.choice(("", "", " ;", " ; @:"))
            lines.append("%s: %s%s" % (self.name(g), " ".join(map(self.name, members)), recipe))
        for i in range(self.n):
            needs, only = self.names(i, False), self.names(i, True)
            if second and needs:
                needs = "$$(call DOLLAR,%s)" % needs
            lines.append("%s: %s%s ; @sleep %.3f" % (self.name(i), needs, " | " + only if only else "",
                                                   self.ms[i] / 1000))
        return "\n".join(lines) + "\n"

    def ninja(self):
        lines = ["rule nap", "  command = sleep $t"]
        if self.pool:
            lines += ["pool narrow", "  depth = %d" % self.pool]
        for g, members in self.members.items():
            lines.append("build %s: phony %s" % (self.name(g), " ".join(map(self.name, members))))
        for i in range(self.n):
            needs, only = self.names(i, False), self.names(i, True)
            lines.append("build %s: nap %s%s" % (self.name(i), needs, " || " + only if only else ""))
            lines.append("  t = %.6f" % (self.ms[i] / 1000 + i / 1e6))
            if i in self.pooled:
                lines.append("  pool = narrow")
        return "\n".join(lines) + "\n"


def run_build(directory, command):
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEFILES")}
    subprocess.run([BUILDBEAT, "record", "-o", "rec", "-n", "one", "--", *command], cwd=directory, env=env,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    without_cores(directory + "/rec/one/build")
    return directory + "/rec/one"


def without_cores(path):
    """Then each task of the longest chain counts with its wall time, as here."""
    with open(path) as f:
        lines = [line for line in f if not line.startswith("cores:")]
    with open(path, "w") as f:
        f.writelines(lines)


def record(plan, directory):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    is_make = plan.tool == "make"
    with open(directory + ("/Makefile" if is_make else "/build.ninja"), "w") as f:
        f.write(plan.makefile() if is_make else plan.ninja())
    return run_build(directory, [plan.tool, "-j%d" % plan.jobs])


# What the outputs say

def said_by_profile(recording):
    rows, said = json.loads(run("profile", "--json", "-b", "name", recording)), {}
    for process in rows["processes"]:
        for row in process["list"]:
            data = row["death_data"]
            said[row["location"]["function_name"]] = {
                "queue": data["queue_us"], **{c: data.get("queue_%s_us" % c, 0) for c in CAUSES}}
    return said


def said_by_otlp(recording):
    text, said = run("export", "--to", "otlp", "-o", "-", recording), {}
    for line in text.splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    values = {a["key"]: a["value"].get("intValue") for a in span.get("attributes", [])}
                    if values.get("buildbeat.queue_us") is not None:
                        said[span["name"]] = {"queue": int(values["buildbeat.queue_us"]), **{
                            c: int(values.get("buildbeat.queue_%s_us" % c) or 0)
                            for c in CAUSES if c != "other"}}
    return said


# What is true

def full_us(tasks, limit, begin, end, own):
    """For how long at least `limit` of the tasks ran, without the one itself."""
    moments = sorted({begin, end} | {x for n, (s, e) in tasks.items() for x in (s, e) if begin < x < end})
    return sum(b - a for a, b in zip(moments, moments[1:])
               if sum(s <= a and e >= b for n, (s, e) in tasks.items() if n != own) >= limit)


def check_task(plan, at, times, first_us, open_us, said):
    start = times[at][0]
    needed = plan.needed(at)
    ready = max([open_us] + [times[t][1] for t in needed])
    where = "build %d, %s" % (plan.seed, plan.name(at))

    def near(what, a, b):
        if abs(a - b) > NEAR:
            problems.append("%s: %s: %d us, and %d us is true" % (where, what, a, b))

    near("queue", said["queue"], max(0, start - ready))
    same(where + ": sum", said["queue"], sum(said[c] for c in CAUSES))
    begin = max(ready, min(first_us, start))
    near("delayed", said["delayed"], max(0, begin - ready))
    serial = 0
    if plan.serial:
        before = [e for t, (s, e) in times.items() if s < start]
        serial = max([0] + [min(e, start) - begin for e in before])
        near("order", said["order"], serial)
    pool = full_us({t: times[t] for t in plan.pooled}, plan.pool, begin, start, at) if at in plan.pooled else 0
    near("pool", said["pool"], pool)
    worker = full_us(times, plan.jobs, begin, start, at)
    if not plan.serial and not pool:
        near("worker", said["worker"], worker)
    elif said["worker"] > worker + NEAR:
        problems.append("%s: worker %d of %d us" % (where, said["worker"], worker))


def longest_us(plan, times):
    """The longest chain of what needs each other."""
    end = {}
    for t in sorted(times, key=lambda t: times[t]):
        before = set(times) if plan.serial else plan.needed(t)
        end[t] = max([0] + [end[b] for b in before if b in end]) + times[t][1] - times[t][0]
    return max(end.values())


def check_links(plan, show, text, said):
    """The path, by what its tasks waited for longest."""
    path = show["path"]["tasks"]
    for link, key in (("dependency", "dependency_links"), ("no free worker", "worker_links"),
                      ("full pool", "pool_links"), ("load limit", "load_links"), ("host's order", "order_links")):
        same("%d: %s" % (plan.seed, key), show["path"][key], sum(p["link"] == link for p in path))
    for words, key in (("for a dependency", "dependency_links"), ("for a free worker", "worker_links"),
                       ("for a pool", "pool_links"), ("by the host's order", "order_links"),
                       ("for an unknown reason", "unknown_links")):
        told = re.search(r"^path .*?(\d+)(?: waited)? %s" % words, text, re.M)
        same("%d: %s" % (plan.seed, words), show["path"][key], int(told.group(1)) if told else 0)
    for p in path:
        if not re.fullmatch(r"t\d+", p["name"]):
            continue
        why, at = p["waited_for"], said[p["name"]]
        if why in ("worker", "pool", "order", "load") and not at[why]:
            problems.append("%d: %s waited for %s, 0 us" % (plan.seed, p["name"], why))
        if why == "worker" and plan.jobs == 100:
            problems.append("%d: %s waited for one of 100 workers" % (plan.seed, p["name"]))
        if why == "target" and at["queue"] - at["other"] > NEAR:
            problems.append("%d: %s waited for more than a target: %s" % (plan.seed, p["name"], at))
        if why == "unknown" and p["name"] in said and not at["other"]:
            problems.append("%d: %s: unknown, and 0 us" % (plan.seed, p["name"]))


def check(plan, directory):
    recording = record(plan, directory)
    show = json.loads(run("show", "--json", "--tasks", recording))
    tasks = {t["name"]: t for t in show["tasks"]}
    times = {i: (tasks[plan.name(i)]["start_us"], tasks[plan.name(i)]["end_us"]) for i in range(plan.n)}
    said, otlp = said_by_profile(recording), said_by_otlp(recording)
    first_us = min(s for s, _ in times.values())
    with open(recording + "/tasks.log") as f:
        open_us = next(int(line.split("\t")[1]) for line in f if line.startswith("open\t"))
    for i in range(plan.n):
        name = plan.name(i)
        check_task(plan, i, times, first_us, open_us, said[name])
        same("%d: %s in OTLP" % (plan.seed, name), {c: v for c, v in said[name].items() if c != "other"},
                   otlp[name])
    for name, t in tasks.items():
        if not re.fullmatch(r"t\d+", name) and said[name]["queue"]:
            problems.append("%d: $(shell) waited %d us" % (plan.seed, said[name]["queue"]))
    bound = show["dependencies"]["least_wall_us"]
    truth = first_us + longest_us(plan, times) + show["totals"]["wall_us"] - max(e for _, e in times.values())
    if abs(bound - truth) > NEAR:
        problems.append("%d: at least %d us, and %d us is true" % (plan.seed, bound, truth))
    check_links(plan, show, run("show", "--all", recording), said)


# Builds by hand: makefile, arguments, the longest chain, and what waited for what

AR = "AR = ./slow-ar\nARFLAGS = r\n"
KNOWN = (
    ("a group", "link: obj a b ; @sleep .1\nobj: hdr ; @sleep .3\nhdr: grp ; @sleep .05\ngrp: a b\n"
     "a: ; @sleep .4\nb: ; @sleep .1\n", ("-j1", "-j2", "-j100"), "a hdr obj link", {"hdr": "target"}),
    ("groups of groups, and an empty recipe", "x: g ; @sleep .1\ng: h ;\nh: i\ni: a b\n\t@:\na: ; @sleep .3\n"
     "b: ; @sleep .1\n", ("-j1", "-j8"), "a x", {}),
    ("a target that is up to date", "x: old y ; @sleep .1\nold: | a ; @sleep 9\na: ; @sleep .3\ny: ; @sleep .1\n",
     ("-j1", "-j8"), "a x", {}),
    ("targets of one recipe", "x: two ; @sleep .1\none two &: a ; @sleep .2\na: ; @sleep .1\n", ("-j1", "-j8"),
     "a two x", {"x": "target"}),
    ("a pattern with two targets", "x: p.two ; @sleep .1\nq: p.one ; @sleep .05\n%.one %.two: a ; @sleep .2\n"
     "a: ; @sleep .1\n", ("-j1 x q", "-j8 x q"), "a p.two x", {"x": "target"}),
    (".NOTPARALLEL", ".NOTPARALLEL:\nall: a b c\na b: ; @sleep .2\nc: ; @sleep .1\n", ("-j1", "-j4", "-j100"), "a b c",
     {"b": "order", "c": "order"}),
    ("double colons", "all: t u\nt:: a ; @sleep .2\nt:: g ; @sleep .2\ng: b\nt:: c ; @sleep .1\na: ; @sleep .1\n"
     "b: ; @sleep .1\nc: ; @sleep .2\nu: ; @sleep .3\n", ("-j3", "-j100"), "a t b t c t", {"b": "order", "c": "order"}),
    ("members of an archive", "all: l.a(a.o) l.a(b.o)\na.o: ; @sleep .1; echo >$@\nb.o: ; @sleep .3; echo >$@\n" + AR,
     ("-j1", "-j8"), "b.o l.a", {}),
    ("$(shell)", "A := $(shell sleep .1)\nB := $(shell sleep .1)\nall: x\nx: ; @sleep .1\n", ("-j1", "-j8"),
     "SHELL SHELL x", {"x": "shell"}),
    ("the load", "all: a b c\na b c: ; @sleep .1\n", ("-j8 -l .001",), "a", {"b": "load", "c": "load"}),
    ("a make in a make", "all: sub y\nsub: a ; @+$(MAKE) -s -f sub.mk\na: ; @sleep .1\ny: ; @sleep .2\n",
     ("-j1", "-j2", "-j100"), "a s1 s2", {}),
    ("lines", "x: a\n\t@sleep .1\n\t@sleep .2\na: ; @sleep .1\ny: ; @sleep .1\n", ("-j1 x y", "-j8 x y"), "a x x", {}),
)
KNOWN_44 = (
    (".WAIT", "all: a b .WAIT c d .WAIT e\na: ; @sleep .3\nb: ; @sleep .1\nc: sub ; @sleep .2\nsub: g ; @sleep .1\ng: h\n"
     "h d: ; @sleep .1\ne: ; @sleep .15\n", ("-j1", "-j3", "-j100"), "a h sub c e", {"h": "order", "e": "order"}),
    (".WAIT behind targets without a recipe", "all: f .WAIT l\nf: a b\nl: m .WAIT n\na m: ; @sleep .2\nb n: ; @sleep .1\n",
     ("-j1", "-j8"), "a m n", {"m": "order", "n": "order"}),
    (".NOTPARALLEL with a target", ".NOTPARALLEL: s\nall: s p\ns: a b g\ng: c\np: ; @sleep .4\na b c: ; @sleep .2\n",
     ("-j1", "-j2", "-j100"), "a b c", {"b": "order", "c": "order"}),
)
SUB = "s: s2\ns2: g ; @sleep .2\ng: s1\ns1: ; @sleep .1\n"


def sum_us(tasks, chain):
    """Of several tasks of one name, the first that began after the link before."""
    us, end, left = 0, 0, sorted(tasks, key=lambda t: t["start_us"])
    for name in chain.split():
        own = [t for t in left if (t["name"] if re.fullmatch(r"[a-z][a-z0-9.]*", t["name"]) else "SHELL") == name]
        link = next((t for t in own if t["start_us"] >= end), own[-1])
        left.remove(link)
        us, end = us + link["end_us"] - link["start_us"], link["end_us"]
    return us


def own_us(tasks):
    """What makes in makes take before their first task and after their last."""
    own = 0
    for host in (t for t in tasks if t["hosting"]):
        inner = [t for t in tasks if not t["hosting"] and host["start_us"] <= t["start_us"] and
                 t["end_us"] <= host["end_us"] and re.fullmatch(r"s\d", t["name"])]
        own += min(t["start_us"] for t in inner) - host["start_us"]
        own += host["end_us"] - max(t["end_us"] for t in inner)
    return own


def check_once(directory, what, makefile, arguments, chain, whys):
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    for name, text in (("Makefile", makefile), ("sub.mk", SUB), ("old", ""), ("slow-ar", "#!/bin/sh\nsleep .2\n")):
        with open(directory + "/" + name, "w") as f:
            f.write(text)
    os.chmod(directory + "/slow-ar", 0o755)
    recording = run_build(directory, ["make", *arguments.split()])
    show = json.loads(run("show", "--json", "--tasks", recording))
    leaves = [t for t in show["tasks"] if not t["hosting"]]
    last = max(t["end_us"] for t in leaves)
    truth = min(t["start_us"] for t in leaves) + sum_us(leaves, chain) + show["totals"]["wall_us"] - last
    truth += own_us(show["tasks"])
    bound = show["dependencies"]["least_wall_us"]
    found = []
    if abs(bound - truth) > NEAR:
        found.append("%s %s: at least %d us, and %d us is true" % (what, arguments, bound, truth))
    for p in show["path"]["tasks"]:
        if "-j1" not in arguments.split() and whys.get(p["name"], p["waited_for"]) != p["waited_for"]:
            found.append("%s %s: %s waited for %s" % (what, arguments, p["name"], p["waited_for"]))
    return found


def check_known(directory, builds):
    """On a busy machine another chain may be the longest, or a make pauses between two links: what is wrong is
    wrong in all of TRIALS runs."""
    for what, makefile, runs, chain, whys in builds:
        for arguments in runs:
            found = [True]
            for _ in range(TRIALS):
                found = found and check_once(directory, what, makefile, arguments, chain, whys)
            problems.extend(found)


def check_planned(seed, directory):
    """On a busy machine a worker of make may wait for a core: what is wrong is wrong in all of TRIALS runs."""
    found = [True]
    for _ in range(TRIALS):
        plan = Plan(seed)
        if found and shutil.which(plan.tool):
            check(plan, directory)
            found = problems[:]
            problems.clear()
        elif found:
            return
    problems.extend(found)


def main():
    if sys.argv[3].startswith("known"):
        check_known(sys.argv[2] + "/build", KNOWN_44 if sys.argv[3] == "known44" else KNOWN)
        print("\n".join(problems))
        return 1 if problems else 0
    failed = []
    for seed in range(int(sys.argv[3]), int(sys.argv[4])):
        check_planned(seed, sys.argv[2] + "/build")
        failed += problems
        problems.clear()
    print("\n".join(failed[:40]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
