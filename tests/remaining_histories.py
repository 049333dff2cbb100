# SPDX-License-Identifier: MIT
"""Records histories of builds of real projects, or measures how good predictions of the remaining
time are in such histories.

usage: remaining_histories.py record REPOS OUT SEED PROJECT...
       remaining_histories.py measure OUT/PROJECT-SEED...

REPOS holds bare clones OWNER+NAME/repo. `buildbeat` is taken from PATH, and tests/remaining_replay
from the current directory, the build directory (make tests/remaining_replay). Each project and
seed has three histories:

    incremental   two full builds, then eight with some files touched
    slower        four full builds, then four of which three are slower from the first task on
    mixed         twelve builds drawn at random: full or incremental, one in four slower

Touched files are drawn at random. A slower build compiles each file more than once. measure
predicts each build from those before it at 40 times, and prints how often the interval held what
remained, the median of its width relative to that, and the median error relative to the build's
duration. Builds of less than half a second are left out. Rules were chosen with the seed 1 of lua, zlib and
samurai; other seeds and projects show whether they hold."""
import os
import random
import shutil
import statistics
import subprocess
import sys
import time

PROJECTS = {  # name: (repository, set-up, build, clean, directory of sources)
    "lua": ("lua+lua", None, "make -j2 CC=gcc MYCFLAGS=-DLUA_USE_POSIX MYLDFLAGS= MYLIBS=-ldl", "make clean", "."),
    "zlib": ("madler+zlib", "./configure", "make -j2", "make clean", "."),
    "samurai": ("michaelforney+samurai", None, "make -j2", "make clean", "."),
    "redis": ("redis+redis", "make -j2 MALLOC=libc BUILD_TLS=no OPTIMIZATION=-O0",
              "make -j2 MALLOC=libc BUILD_TLS=no OPTIMIZATION=-O0 -C src", "make -C src clean", "src"),
    "tmux": ("tmux+tmux", "sh autogen.sh && ./configure", "make -j2", "make clean", "."),
}
COMPILER = """#!/bin/sh
case " $* " in *" -c "*)
	i=0
	while [ $i -lt ${SLOWER:-0} ]; do
		%(real)s "$@" || exit
		i=$((i + 1))
	done
esac
exec %(real)s "$@"
"""


def plan(kind, rnd):
    if kind == "incremental":
        return [("full", 0)] * 2 + [("some", 0)] * 8
    if kind == "slower":
        return [("full", 0)] * 4 + [("full", n) for n in (2, 0, 3, 1)]
    return [("full", 0)] + [("full" if rnd.random() < 0.3 else "some", rnd.choice((0, 0, 0, 1 + rnd.randrange(2))))
                            for _ in range(11)]


def touch(top, rnd):
    files = sorted(f for f in os.listdir(top) if f.endswith(".c"))
    headers = sorted(f for f in os.listdir(top) if f.endswith(".h"))
    chosen = rnd.sample(files, min(len(files), rnd.choice((1, 1, 2, 3, 5))))
    if headers and rnd.random() < 0.2:
        chosen.append(rnd.choice(headers))
    for name in chosen:
        os.utime(os.path.join(top, name))


def run(command, top, **more):
    return subprocess.run(command, shell=True, cwd=top, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, **more).returncode


def record(repos, out, seed, projects):
    for name in projects:
        repo, setup, build, clean, sources = PROJECTS[name]
        here = os.path.join(os.path.abspath(out), f"{name}-{seed}")
        top, bin_ = os.path.join(here, "source"), os.path.join(here, "bin")
        shutil.rmtree(here, ignore_errors=True)
        os.makedirs(bin_)
        for cc in ("cc", "gcc"):
            with open(os.path.join(bin_, cc), "w") as f:
                f.write(COMPILER % {"real": shutil.which(cc)})
            os.chmod(f.name, 0o755)
        env = dict(os.environ, PATH=bin_ + ":" + os.environ["PATH"], LC_ALL="C")
        subprocess.run(["git", "clone", "-q", os.path.join(repos, repo, "repo"), top], check=True)
        if setup and run(setup, top, env=env):
            sys.exit(f"{name}: set-up failed")
        for kind in ("incremental", "slower", "mixed"):
            rnd = random.Random(f"{name} {seed} {kind}")
            for i, (what, slower) in enumerate(plan(kind, rnd)):
                if what == "full":
                    run(clean, top, env=env)
                else:
                    touch(os.path.join(top, sources), rnd)
                label = f"{i:02}-{what}-{slower}"
                begin = time.time()
                status = run(f"buildbeat record --quiet --no-git --no-task-memory -o {here}/{kind} -n {label} -- {build}",
                             top, env=dict(env, SLOWER=str(slower)))
                print(f"{name} {seed} {kind} {label}: {time.time() - begin:.1f} s, status {status}", flush=True)
        shutil.rmtree(top)


def group(labels, i, kind):
    """full, slower, or the first or a later incremental build after the builds before it"""
    what, slower = labels[i].split("-")[1:]
    if what == "full":
        return "full, slower" if int(slower) and kind == "slower" else "full"
    return "incremental" if any("-some-" in n for n in labels[:i]) else "first incremental"


def measure(directories):
    found = {}
    for directory in directories:
        for kind in ("incremental", "slower", "mixed"):
            here = os.path.join(directory, kind)
            if not os.path.isdir(here):
                continue
            labels = sorted(n for n in os.listdir(here) if os.path.exists(os.path.join(here, n, "build")) and n != "latest")
            out = subprocess.run(["tests/remaining_replay"] + [os.path.join(here, n) for n in labels],
                                 stdout=subprocess.PIPE, check=True, text=True).stdout
            for line in out.splitlines():
                label, *numbers = line.split()
                _, elapsed, left, told, low, high = map(int, numbers)
                if elapsed + left < 500_000:
                    continue
                row = (low <= left <= high, (high - low) / left, abs(told - left) / (elapsed + left))
                for name in (group(labels, labels.index(label), kind), "all"):
                    found.setdefault(name, []).append(row)
    for name, rows in sorted(found.items()):
        held, width, error = zip(*rows)
        print(f"{name}: {len(rows)} predictions, {sum(held) / len(rows):.0%} held, interval "
              f"{statistics.median(width):.2f} of what remains, error {statistics.median(error):.1%} of the build")


def main():
    if sys.argv[1:2] == ["record"] and len(sys.argv) > 5:
        record(*sys.argv[2:5], sys.argv[5:])
    elif sys.argv[1:2] == ["measure"] and len(sys.argv) > 2:
        measure(sys.argv[2:])
    else:
        sys.exit(__doc__)


main()
