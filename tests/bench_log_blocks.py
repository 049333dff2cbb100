# SPDX-License-Identifier: MIT
"""What `buildbeat record --log` costs a build that writes 100 MB of lines in blocks of 64 KiB: at 1 GB/s, with work in
between, and as fast as it can. To a file, and to a pipe that a reader drains. Run in the build directory.

A ratio is the time with the log, divided by that of the same command without buildbeat: minima of alternating runs, from
the first block to the end of all processes, without what an empty build takes. "Again" is the command without buildbeat
a second time, which shows how much the machine disturbs: on a busy one, run it with `chrt -f 1`. At 1 GB/s the bar is
1.5."""
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time

RECORD = os.path.join(os.getcwd(), "buildbeat") + " record --no-git --no-task-memory -o stats --log -- "
SIZE = 100_000_000
BLOCK = 65536
RUNS = int(os.environ.get("BENCH_RUNS", 20))
PLACES = {"file": ">out", "pipe": "| cat >/dev/null"}
RATES = {"1 GB/s": 10**9, "full speed": 10**12}
LINE = b"gcc -O2 -Wall -Wextra -c -o build/module/file.o ../src/module/file.c -Iinclude\n"


def build(size, rate):
    """What is measured: it writes its begin to a file, and so many bytes at that rate."""
    data = memoryview(LINE * (size // len(LINE)))
    begin = time.perf_counter()
    with open("begin", "w") as f:
        f.write(str(begin))
    for at in range(0, len(data), BLOCK):
        while time.perf_counter() - begin < at / rate:
            pass
        rest = data[at:at + BLOCK]
        while rest:
            rest = rest[os.write(1, rest):]


def measure(command, directory):
    """Seconds, and CPU seconds of all processes: this one is the parent of orphans."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["sh", "-c", command], cwd=directory, check=True, stderr=subprocess.DEVNULL)
    end = time.perf_counter()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    with open(os.path.join(directory, "begin")) as f:
        begin = float(f.read())
    subprocess.run(["rm", "-rf", "stats", "out"], cwd=directory, check=True)
    return end - begin, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def compare(directory, place, rate):
    writer = f"{sys.executable} -B {os.path.abspath(__file__)} %d {RATES[rate]} {PLACES[place]}"
    commands = {"plain": writer % SIZE, "log": RECORD + writer % SIZE, "again": writer % SIZE,
                "empty": writer % 0, "empty log": RECORD + writer % 0}
    best = dict.fromkeys(commands, (9e9, 9e9))
    for _ in range(RUNS):
        for name, command in commands.items():
            best[name] = tuple(map(min, best[name], measure(command, directory)))
    plain, again = best["plain"][0], best["again"][0]
    extra = [log - empty_log + empty for log, empty_log, empty in zip(best["log"], best["empty log"], best["empty"])]
    print(f"log: {place} in blocks at {rate}: ratio {extra[0] / plain:.2f}, again {again / plain:.2f}; "
          f"{plain * 1e3:.0f} ms, with --log {extra[0] * 1e3:.0f} ms; CPU "
          f"{(best['plain'][1] - best['empty'][1]) * 1e3:.0f} ms, {(extra[1] - best['empty'][1]) * 1e3:.0f} ms")
    sys.stdout.flush()


def main():
    ctypes.CDLL(None).prctl(36, 1)	# PR_SET_CHILD_SUBREAPER
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/tmp")) as directory:
        for place in PLACES:
            for rate in RATES:
                compare(directory, place, rate)


if len(sys.argv) == 3:
    build(int(sys.argv[1]), float(sys.argv[2]))
else:
    main()
