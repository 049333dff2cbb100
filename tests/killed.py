# SPDX-License-Identifier: MIT
# Kills real builds while their tasks run, and compares what is shown of them with their samples, and all outputs with
# each other:
#   killed.py BUILDBEAT DIRECTORY
import json
import os
import re
import signal
import subprocess
import sys

BUILDBEAT, DIRECTORY = sys.argv[1:]
MAKEFILE = """
all: a b
a b: ; @$(BURN)
outer: ; @$(MAKE) a b; :
unreaped: ; @sh -c '$(BURN) & echo $$$$ >pid; wait'
BURN = python3 -S burn.py
"""
BURN = """
import os
parent = os.getppid()
while os.getppid() == parent:
    pass
"""
problems = []
ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFILES", "MAKEFLAGS", "MAKELEVEL")}
ENV["COLUMNS"] = "300"


def prints(*args):
    return subprocess.run([BUILDBEAT, *args], check=True, env=ENV, stdout=subprocess.PIPE).stdout.decode()


def sampled(out):
    """The largest CPU time of each slot, added up, in seconds."""
    level, most = {}, {}
    for line in open(os.path.join(out, "latest", "proc_tasks.log")).read().split("\n")[1:]:
        body = line.split(" ", 1)[-1]
        for part in body.split(";"):
            slot, colon, values = part.partition(":")
            number = slot.partition("=")[0]
            if not colon or not number.isdigit():
                continue
            fields = values.split(",") + [""] * 6
            level[number] = level.get(number, 0) + int(fields[1] or 0)
            most[number] = max(most.get(number, 0), level[number])
    return sum(most.values()) / 100


def check(what, command, says, kill=None):
    build = subprocess.Popen([BUILDBEAT, "record", "--interval", "50", "-o", what, "--", *command],
                             env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True)
    while kill and (not os.path.exists(what + "/latest/proc_tasks.log") or sampled(what) < .5):
        if build.poll() is not None:
            break
    if kill:
        kill()
    build.wait(60)
    seen = sampled(what)
    show, text = json.loads(prints("show", "--json", what)), prints("show", "--all", what)
    totals = show["totals"]

    def must(holds, *words):
        if not holds:
            problems.append("%s: %s" % (what, " ".join(map(str, words))))
    must(seen >= .1, "sampled", seen)
    must(totals["at_least"], "at_least is", totals["at_least"])
    must(totals["cpu_us"] / 1e6 >= seen - .001, "sampled", seen, "shown", totals["cpu_us"])
    must(totals["cpu_us"] == totals["cpu_user_us"] + totals["cpu_system_us"], totals)
    must("at least" in [line for line in text.split("\n") if line.startswith("build ")][0], text)
    must(re.search(says, show["answer"][0]["text"]), show["answer"])
    must(re.search(r" >\d", text), "no > in", text)
    metrics = prints("export", "--to", "prometheus", "-o", "-", what)
    cpu = sum(float(x) for x in re.findall(r"^buildbeat_build_cpu_seconds\{.*\} (\S+)", metrics, re.M))
    must(abs(cpu - totals["cpu_us"] / 1e6) < .002, "prometheus", cpu, "show", totals["cpu_us"])


    agree = subprocess.run([sys.executable, "-B", os.path.join(os.path.dirname(__file__), "agree.py"), BUILDBEAT,
                            DIRECTORY, os.path.realpath(os.path.join(what, "latest"))], stdout=subprocess.PIPE)
    must(not agree.returncode, agree.stdout.decode())


def kill_recipe():
    os.kill(int(open("pid").read()), signal.SIGKILL)


os.chdir(DIRECTORY)
for path, text in (("Makefile", MAKEFILE), ("burn.py", BURN)):
    with open(path, "w") as out:
        out.write(text)
check("killed", ["timeout", "-s", "KILL", "2", "make", "-j2"], r"SIGKILL.*; (a and b|b and a) had run for ")
check("nested", ["timeout", "-s", "KILL", "2", "make", "-j2", "outer"], r"SIGKILL.*had run for ")
check("lost", ["make", "unreaped"], r"; unreaped was killed \(SIGKILL\) after ", kill_recipe)
for problem in problems:
    print(problem)
sys.exit(bool(problems))
