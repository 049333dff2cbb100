#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predictions of `buildbeat whatif` beside real builds: each project is built with -j1, -j2 and -j4, twice
each, and every build is predicted from every other.

usage: whatif_real.py WORK NAME=SOURCE=COMMAND...

SOURCE is a git repository, which is cloned into WORK. COMMAND builds it with -jN in place of -j@.

raw         |predicted / real - 1|
scaled      the same with the CPU time of the tasks scaled to that of the real build: what is left is the
            model's own error, without the drift of the machine
repeat      the same of one build with the same -j beside the other one: no model could do better
held        how many real builds are inside the 80 % interval
"""
import itertools
import json
import os
import shutil
import subprocess
import sys

JOBS = (1, 2, 4)
RUNS = 2


def run(command, cwd):
    return subprocess.run(command, cwd=cwd, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ask(*words):
    return json.loads(subprocess.run(("buildbeat",) + words, check=True, capture_output=True, text=True).stdout)


def build(source, command, jobs, out):
    run("git clean -fdxq", source)
    run(f"buildbeat record -q -o {out} -n r -- {command.replace('-j@', f'-j{jobs}')}", source)
    told = ask("show", "--json", os.path.join(out, "r"))
    return os.path.join(out, "r"), told["totals"]["wall_us"], told["totals"]["cpu_us"]


def predict(recording, jobs, scale):
    words = ["whatif", "--json", f"-j{jobs}"]
    if scale:
        words += ["--speedup", f"*={scale:.6f}"]
    return ask(*words, recording)


def project(work, name, source, command):
    top = os.path.join(work, name)
    if not os.path.isdir(top):
        subprocess.run(["git", "clone", "-q", source, top], check=True)
    builds = []
    for k, jobs in itertools.product(range(RUNS), JOBS):
        out = os.path.join(work, f"{name}-{jobs}-{k}")
        shutil.rmtree(out, ignore_errors=True)
        builds.append((jobs, *build(top, command, jobs, out)))
    raw, scaled, repeat, held = [], [], [], []
    for (jobs, recording, wall, cpu), (to, other, real, real_cpu) in itertools.permutations(builds, 2):
        told = predict(recording, to, 0)
        raw.append(abs(told["wall_us"] / real - 1))
        scaled.append(abs(predict(recording, to, cpu / real_cpu)["wall_us"] / real - 1))
        held.append(told["wall_low_us"] <= real <= told["wall_high_us"])
        if jobs == to:
            repeat.append(abs(wall / real - 1))
    return raw, scaled, repeat, held


def say(name, raw, scaled, repeat, held):
    mean = lambda list: 100 * sum(list) / len(list)
    print(f"{name:<12} raw {mean(raw):5.1f} %  scaled {mean(scaled):5.1f} %  repeat {mean(repeat):5.1f} %  "
          f"held {mean(held):3.0f} % of {len(held)}", flush=True)


def main():
    work, total = os.path.abspath(sys.argv[1]), ([], [], [], [])
    os.makedirs(work, exist_ok=True)
    for item in sys.argv[2:]:
        name, source, command = item.split("=", 2)
        result = project(work, name, source, command)
        say(name, *result)
        for to, part in zip(total, result):
            to.extend(part)
    say("all", *total)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main()
