# SPDX-License-Identifier: MIT
"""What `buildbeat record --log` costs a build that writes 100 MB, in lines of 80 bytes (one
write() each) and in blocks of 64 KiB, to a pipe and to a file. Run in the build directory. Each
ratio is the time of the writer with the log, divided by that without: minima of alternating
runs. Then what it costs each recipe of a make, of which each process has a pipe of its own. Without
pipes: the path of the socket is too long."""
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time

BUILDBEAT = os.path.join(os.getcwd(), "buildbeat")
SIZE = 100_000_000
RUNS = 5


def measure(command, directory):
    begin = time.monotonic()
    subprocess.run(["sh", "-c", command], cwd=directory, check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as directory:
        line = b"gcc -O2 -Wall -Wextra -c -o build/module/file.o ../src/module/file.c -Iinclude\n"
        with open(os.path.join(directory, "lines"), "wb") as f:
            f.write((line.ljust(80, b" ")[:79] + b"\n") * (SIZE // 80))
        plain_start = min(measure("true", directory) for _ in range(RUNS))
        record = f"{BUILDBEAT} record --no-git --no-task-memory -o stats %s -- "
        start = [min(measure(record % log + "true", directory) for _ in range(RUNS))
                 for log in ("", "--log")]
        print(f"log: an empty build: record {(start[0] - plain_start) * 1e3:.1f} ms, "
              f"with --log {(start[1] - plain_start) * 1e3:.1f} ms")
        for name, bs in (("lines of 80 bytes", 80), ("blocks of 64 KiB", 65536)):
            for place, end in (("pipe", "| cat >/dev/null"), ("file", ">out")):
                command = f"dd if=lines bs={bs} status=none"
                best = [9e9, 9e9]
                for _ in range(RUNS):
                    for i, log in enumerate(("", "--log")):
                        t = measure(f"{record % log}{command} {end}; rm -rf stats out", directory)
                        best[i] = min(best[i], t - start[i] + start[0])
                extra = (best[1] - best[0]) / (SIZE / bs) * 1e6
                print(f"log: 100 MB to a {place} in {name}: {best[0]:.2f} s, with --log "
                      f"{best[1]:.2f} s, ratio {best[1] / best[0]:.3f}, {extra:+.2f} us a write")
                sys.stdout.flush()


RECIPES = 300


def cpu(command, directory):
    """CPU seconds of all its processes, those of relays too: this process is the parent of orphans."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.Popen(["sh", "-c", command], cwd=directory, stderr=subprocess.DEVNULL)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def recipes(directory):
    """Microseconds of CPU time a recipe, more than without a recording: minima of alternating runs."""
    long = os.path.join(directory, "long" * 30)
    os.makedirs(long, mode=0o700)
    ctypes.CDLL(None).prctl(36, 1)	# PR_SET_CHILD_SUBREAPER
    ways = {"recorded": ("/tmp", ""), "--log without pipes": (long, "--log"), "--log": ("/tmp", "--log")}
    for name, line in (("silent", "@/bin/true"), ("echo", "@/bin/echo $@ is made")):
        for jobs in (1, 8):
            best = dict.fromkeys(["plain", *ways], 9e9)
            for _ in range(2 * RUNS):
                for way in best:
                    tmp, log = ways.get(way, ("", ""))
                    record = way != "plain" and (f"XDG_RUNTIME_DIR= TMPDIR={tmp} {BUILDBEAT} record --no-git "
                                                 f"--no-task-memory -i 1000 -o stats {log} --")
                    t = []
                    for n in (1, RECIPES + 1):
                        with open(os.path.join(directory, "Makefile"), "w") as f:
                            f.write(f"T := $(shell seq {n})\nall: $(T)\n$(T):\n\t{line}\n")
                        t.append(cpu(f"{record or ''} make -j{jobs} 2>&1 | cat >/dev/null; rm -rf stats", directory))
                    best[way] = min(best[way], t[1] - t[0])
            plain = best.pop("plain")
            print(f"log: {name} recipes, make -j{jobs}: {plain / RECIPES * 1e6:.0f} us of CPU each; " + "; ".join(
                f"{way} {(t - plain) / RECIPES * 1e6:+.0f}" for way, t in best.items()))
            sys.stdout.flush()


if len(sys.argv) < 2:
    main()
with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as place:
    recipes(place)
