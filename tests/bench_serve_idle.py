# SPDX-License-Identifier: MIT
"""What an idle server costs: CPU time and resident memory of `buildbeat serve` and its readers in 30
seconds without requests, before one, after one and with an open page. Run in the build
directory. Bars: 0.1 % of a core, 30 MB."""
import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.request

BUILDBEAT = os.path.join(os.getcwd(), "buildbeat")
SECONDS = 30


def of(pid, name, pattern):
    with open("/proc/%d/%s" % (pid, name)) as f:
        return int(re.search(pattern, f.read(), re.M)[1])


class Server:
    def __init__(self, directory):
        env = dict(os.environ, XDG_RUNTIME_DIR=directory)
        subprocess.run([BUILDBEAT, "record", "--no-git", "-o", directory + "/stats", "--", "true"],
                       check=True, stderr=subprocess.DEVNULL)
        self.process = subprocess.Popen([BUILDBEAT, "serve", directory + "/stats"], env=env,
                                        stdout=subprocess.PIPE, text=True)
        self.url, self.token = self.process.stdout.readline().strip().split("?token=")

    def pids(self):
        children = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True)
        return [self.process.pid, *map(int, children.stdout.split())]

    def ask(self, path):
        q = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + self.token})
        return urllib.request.urlopen(q).read()

    def stream(self):
        s = socket.create_connection(("127.0.0.1", int(self.url.split(":")[2].strip("/"))))
        s.sendall(("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" %
                   self.token).encode())
        s.recv(100)
        return s

    def measure(self, when):
        pids = self.pids()
        before = [of(p, "schedstat", r"^(\d+)") for p in pids]
        time.sleep(SECONDS)
        # a reader without requests ends after a minute
        pids, before = zip(*[(p, b) for p, b in zip(pids, before) if os.path.exists("/proc/%d" % p)])
        used = sum(of(p, "schedstat", r"^(\d+)") - b for p, b in zip(pids, before))
        memory = sum(of(p, "smaps_rollup", r"^Pss:\s+(\d+)") for p in pids)
        resident = max(of(p, "smaps_rollup", r"^Rss:\s+(\d+)") for p in pids)
        print("serve: idle %s: %d processes, %.4f %% of a core, %.1f MB (PSS), the largest %.1f MB (RSS)"
              % (when, len(pids), used / SECONDS / 1e7, memory / 1e3, resident / 1e3), flush=True)


def main():
    with tempfile.TemporaryDirectory() as directory:
        server = Server(directory)
        server.measure("before a request")
        server.ask("api/v1/show")
        server.measure("after a reply")
        stream = server.stream()
        server.measure("with an open page")
        stream.close()
        server.process.terminate()
        server.process.wait()


main()
