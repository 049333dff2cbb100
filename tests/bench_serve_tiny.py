# SPDX-License-Identifier: MIT
"""What 10 clients of the live view cost a build of 2,000 tiny tasks under `record --serve`: CPU time
of the build, and of the server. Rounds of three interleaved builds: without clients, the same again,
which shows the noise, and with clients. Each client has the stream of a page and asks for the snapshot
as one that is opened. Minima of BENCH_ROUNDS (50) rounds. Run in the build directory. Bar: 0.5 %."""
import os
import re
import resource
import select
import socket
import statistics
import subprocess
import sys
import tempfile

BUILDBEAT = os.path.join(os.getcwd(), "buildbeat")
CLIENTS, TASKS = 10, 2000
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "50"))
VARIANTS = ("without clients", "without clients, again", f"with {CLIENTS} clients")
MEASURE = """
import resource, subprocess, sys
sys.stdin.readline()
subprocess.run(sys.argv[2:], check=True)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write("%f" % (r.ru_utime + r.ru_stime))
"""


def ask(port, token, path):
    s = socket.create_connection(("127.0.0.1", port))
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    return s


def consume(port, token, ready):
    """A process with all clients, until their streams end."""
    opened = [ask(port, token, "/api/v1/events") for _ in range(CLIENTS)]
    for s in opened:
        s.recv(1 << 16)
    for _ in range(CLIENTS):
        with ask(port, token, "/api/v1/overview") as s:
            s.recv(1 << 20)
    os.write(ready, b"\n")
    while opened:
        for s in select.select(opened, [], [])[0]:
            if not s.recv(1 << 20):
                opened.remove(s)
                s.close()


def cpu_s(pid):
    with open(f"/proc/{pid}/schedstat") as f:
        return int(f.read().split()[0]) / 1e9


def build(clients, env):
    """CPU seconds of make with its tasks, and of the server while that ran"""
    launcher = subprocess.Popen([BUILDBEAT, "record", "--quiet", "--no-git", "--serve", "--stay", "0", "--", sys.executable,
                                 "-c", MEASURE, "took", "make", "-s", "-j2"],
                                env=env, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    port, token = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", launcher.stderr.readline()).groups()
    listed = subprocess.run([BUILDBEAT, "serve", "--list"], env=env, text=True, capture_output=True, check=True).stdout
    server = int(re.search(r"^(\d+)\t.*:" + port + r"\b", listed, re.M)[1])
    child = 0
    if clients:
        waiting, ready = os.pipe()
        child = os.fork()
        if not child:
            consume(int(port), token, ready)
            os._exit(0)
        os.read(waiting, 1)
        os.close(waiting)
        os.close(ready)
    before = used = cpu_s(server)
    launcher.stdin.write("\n")
    launcher.stdin.close()
    while launcher.poll() is None:
        try:
            used = cpu_s(server)
        except (FileNotFoundError, ProcessLookupError):
            pass    # it ends with the build
        select.select([], [], [], 0.02)
    launcher.stderr.close()
    if child:
        os.waitpid(child, 0)
    with open("took") as f:
        return float(f.read()), used - before


def main():
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    found = {v: [] for v in VARIANTS}
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        env["XDG_RUNTIME_DIR"] = directory
        names = " ".join(f"t{i}" for i in range(TASKS))
        with open("Makefile", "w") as f:
            f.write(f"all: {names}\n{names}: ; @true $@\n.PHONY: all {names}\n")
        for _ in range(ROUNDS):
            for v in VARIANTS:
                found[v].append(build(v == VARIANTS[2], env))
        os.chdir("/")
    least = {v: min(r[0] for r in found[v]) for v in VARIANTS}
    for v in VARIANTS:
        more = 100 * (least[v] / least[VARIANTS[0]] - 1)
        middle = statistics.median(r[0] for r in found[v])
        print(f"serve: {TASKS} tiny tasks {v}: {least[v]:.3f} s CPU ({more:+.2f} %; median {middle:.3f} s), server "
              f"{min(r[1] for r in found[v]):.3f} s; minima of {ROUNDS}")


main()
