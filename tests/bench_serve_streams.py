# SPDX-License-Identifier: MIT
"""Streams of a server. 100 events a second for 1 and for 1,000 clients, one of which never reads:
losses, time from the recording to the client, CPU time and memory of the server. Then what
`record --serve` with 10 clients, one of them stopped, costs a build beside `record` alone.
Run in the build directory. Bars: nothing lost, 50 ms median, 100 MB; 0.5 % CPU."""
import json
import os
import re
import resource
import selectors
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import zlib

import serve_streams

RATE, SECONDS = 100, 20
CLIENTS = 1000
RUNS = 7
FILES = 20
MEASURE = """
import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[2:], check=True)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write("%f %f" % (r.ru_utime + r.ru_stime, time.monotonic() - begin))
"""


def of(pid, name, pattern):
    with open("/proc/%d/%s" % (pid, name)) as f:
        return int(re.search(pattern, f.read(), re.M)[1])


def cpu_s(pid):
    return of(pid, "schedstat", r"^(\d+)") / 1e9


class Client:
    """Of each only the checksum of what came; of some the delays too."""

    def __init__(self, socket, times):
        self.socket, self.head, self.crc, self.delays = socket, b"", 0, [] if times else None

    def read(self):
        part = self.socket.recv(1 << 16)
        now = time.monotonic_ns()
        if not part:
            return False
        if self.head is not None:
            self.head += part
            head, found, part = self.head.partition(b"\r\n\r\n")
            if not found:
                return True
            self.head = None
        self.crc = zlib.crc32(part, self.crc)
        if self.delays is not None:
            self.delays += [(now - int(t)) / 1e6 for t in re.findall(rb'"name":"(\d+)"', part)]
        return True


def consume(server, count, out):
    """A process with that many clients, until the recording ends."""
    clients = [Client(server.get("/api/v1/events"), i % (count // 10 or 1) == 0) for i in range(count)]
    left = selectors.DefaultSelector()
    for c in clients:
        left.register(c.socket, selectors.EVENT_READ, c)
    os.write(out, b"\n")
    while left.get_map():
        for key, _ in left.select():
            if not key.data.read():
                left.unregister(key.fileobj)
    json.dump({"crc": [c.crc for c in clients], "ms": [d for c in clients for d in c.delays or []]},
              os.fdopen(out, "w"))


def write_events(growing):
    """Every other one begins a task, whose name is the time; the next one ends it."""
    begin = time.monotonic()
    for i in range(RATE * SECONDS):
        time.sleep(max(0, begin + i / RATE - time.monotonic()))
        n = i // 2 + 1
        if i % 2:
            growing.file.write("done\t%d\ta.%d\t0\n" % (10 * i + 11, n))
        else:
            growing.file.write("start\t%d\ta.%d\t%d\t\tcompile\t%d\t\tcc\n" %
                               (10 * i + 11, n, 100 + n, time.monotonic_ns()))
        growing.file.flush()


def streams(count):
    growing = serve_streams.Growing("%d" % count)
    with serve_streams.Server("%d" % count) as server:
        pid = server.process.pid
        stuck = server.get("/api/v1/events", buffer=4096)
        from_clients, out = os.pipe()
        child = os.fork()
        if not child:
            consume(server, count, out)
            os._exit(0)
        os.close(out)
        with os.fdopen(from_clients) as f:
            f.readline()
            used = cpu_s(pid)
            write_events(growing)
            used = cpu_s(pid) - used
            growing.n = 10 * RATE * SECONDS
            growing.end()
            result = json.load(f)
        os.waitpid(child, 0)
        whole = zlib.crc32(server.whole("/api/v1/events").encode())
        lost = sum(crc != whole for crc in result["crc"])
        print("serve: %d clients and a stuck one, %d events/s: %d got something else than the whole stream; "
              "event to client %.1f ms median, %.1f ms at most; server %.1f %% of a core, %.1f MB at most (RSS)"
              % (count, RATE, lost, statistics.median(result["ms"]), max(result["ms"]),
                 100 * used / SECONDS, of(pid, "status", r"^VmHWM:\s+(\d+)") / 1e3), flush=True)
        stuck.close()


def build(serve):
    """CPU time and duration of a make, the CPU time of its server, and that of everything else that
    the launcher did."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    env["XDG_RUNTIME_DIR"] = os.getcwd()
    subprocess.run(["make", "-s", "clean"], check=True, env=env)
    launcher = subprocess.Popen([serve_streams.BUILDBEAT, "record", "--no-git", *["--serve"] * serve, "--",
                                 sys.executable, "-c", MEASURE, "took", "make", "-s", "-j2"],
                                env=env, stderr=subprocess.PIPE if serve else None, text=True)
    clients, server, used = [], None, 0
    if serve:
        url = launcher.stderr.readline().split()[-1]
        clients = [subprocess.Popen([serve_streams.BUILDBEAT, "attach", "-o", "/dev/null",
                                     "--format", ("events", "chrome")[i % 2], url]) for i in range(10)]
        clients[0].send_signal(signal.SIGSTOP)
        listed = subprocess.run([serve_streams.BUILDBEAT, "serve", "--list"], env=env, text=True,
                                capture_output=True).stdout
        server = int(re.search(r"^(\d+)\t", listed, re.M)[1])
    while launcher.poll() is None:
        time.sleep(0.05)
        if server and os.path.exists("/proc/%d/schedstat" % server):
            used = max(used, cpu_s(server))
    for c in clients:
        c.kill()
        c.wait()
    with open("took") as f:
        cpu, wall = map(float, f.read().split())
    return cpu, wall, used


def slowed():
    with open("Makefile", "w") as f:
        names = ["o%d" % i for i in range(FILES)]
        f.write("all: %s\n%s:\n\t@$(CC) -O2 -x c -c -o $@ source\nclean: ; @rm -rf o*\n.PHONY: all clean\n"
                % (" ".join(names), " ".join(names)))
    with open("source", "w") as f:
        f.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + "".join(
            "int f%d(const char *s, int n) { for (int i = 0; i < n; i++) if (strlen(s) > %d) "
            "printf(\"%%d\", atoi(s + i)); return n; }\n" % (i, i) for i in range(60)))
    runs = {False: [], True: []}
    for _ in range(RUNS):
        for serve in runs:
            runs[serve].append(build(serve))
    cpu = {k: min(r[0] for r in v) for k, v in runs.items()}
    wall = {k: min(r[1] for r in v) for k, v in runs.items()}
    spread = statistics.median(r[0] for r in runs[False]) / cpu[False]
    print("serve: a build of %.2f s CPU is slowed by record --serve with 10 clients, one stopped: %+.2f %% CPU, "
          "%+.2f %% time (minima of %d; median %+.2f %% above the minimum without); the server itself %.3f s CPU"
          % (cpu[False], 100 * (cpu[True] / cpu[False] - 1), 100 * (wall[True] / wall[False] - 1), RUNS,
             100 * (spread - 1), min(r[2] for r in runs[True])))


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, [resource.getrlimit(resource.RLIMIT_NOFILE)[1]] * 2)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        streams(1)
        streams(CLIENTS)
        slowed()
        os.chdir("/")


main()
