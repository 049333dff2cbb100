# SPDX-License-Identifier: MIT
"""What `buildbeat record --log` costs a build that writes 100 MB, in lines of 80 bytes (one
write() each) and in blocks of 64 KiB, to a pipe and to a file. Run in the build directory. Each
ratio is the time of the writer with the log, divided by that without: minima of alternating
runs."""
import os
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


main()
