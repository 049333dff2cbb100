# SPDX-License-Identifier: MIT
"""record --serve beside real builds: serve_record.py BUILDBEAT CASE."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from waiting import DEADLINE, until

BUILDBEAT = sys.argv[1]


def state_of(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rsplit(") ", 1)[1][0]
    except OSError:
        return "gone"


def is_gone(pid):
    return state_of(pid) in ("gone", "Z", "X")


class Build:
    """A make whose last task waits for the file `go`."""

    def __init__(self, *options, before=()):
        self.dir = tempfile.TemporaryDirectory(prefix="buildbeat-serve-")
        d = self.dir.name
        self.env = dict(os.environ, XDG_RUNTIME_DIR=d)
        for name in ("MAKEFLAGS", "MFLAGS", "MAKEFILES", "MAKELEVEL"):
            self.env.pop(name, None)
        with open(d + "/Makefile", "w") as f:
            f.write("all: a b\na:\n\t@ls -l /proc/self/fd >fds; env >environment; touch begun\n"
                    "b: a\n\t@until test -e go; do sleep 0.05; done; touch done\n")
        self.launcher = subprocess.Popen([*before, BUILDBEAT, "record", *options, "--", "make"], cwd=d,
                                         env=self.env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                         text=True)
        self.url = None
        if "--serve" in options:
            line = self.launcher.stderr.readline()
            m = re.fullmatch(r"buildbeat: live pages: (http://127\.0\.0\.1:\d+/)\?token=([0-9a-f]{32})\n", line)
            assert m, line
            self.url, self.token = m.groups()
            self.server = self.listed()[0]
        until("the build begins", lambda: os.path.exists(d + "/begun"))

    def run(self, *args):
        return subprocess.run([BUILDBEAT, "serve", *args], env=self.env, cwd=self.dir.name,
                              capture_output=True, text=True)

    def listed(self):
        return [int(line.split("\t")[0]) for line in self.run("--list").stdout.splitlines() if "\t" in line]

    def ask(self, path):
        q = urllib.request.Request(self.url + path, headers={"Authorization": "Bearer " + self.token})
        return json.load(urllib.request.urlopen(q, timeout=DEADLINE))

    def children(self, *name):
        r = subprocess.run(["pgrep", "-P", str(self.launcher.pid), *name], capture_output=True, text=True)
        return [int(pid) for pid in r.stdout.split()]

    def go(self):
        open(self.dir.name + "/go", "w").close()
        status = self.launcher.wait(DEADLINE)
        assert status == 0 and os.path.exists(self.dir.name + "/done"), status
        assert not self.launcher.stderr.read(), "a message"

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        open(self.dir.name + "/go", "w").close()
        if self.launcher.poll() is None:
            self.launcher.kill()
        self.run("--stop", "all")
        self.dir.cleanup()


def watched():
    """The build is served while it runs, and with --stay 0 the server ends with it."""
    with Build("--serve", "--stay", "0") as b:
        routes = [r["path"] for r in b.ask("api/v1/")["routes"]]
        assert "/api/v1/overview" in routes
        assert b.ask("api/v1/show")["recording"]
        # the server, its readers and the launcher are not the build
        programs = lambda: [p["program"] for p in b.ask("api/v1/ps")["processes"]]
        until("only the build is listed", lambda: "make" in (list := programs()) and
              not [name for name in list if name.startswith("buildbeat")])
        assert open("/proc/%d/stat" % b.server).read().rsplit(") ", 1)[1].split()[16] == "10", "nice"
        assert os.getsid(b.server) == b.server
        b.go()
        until("the server ends", lambda: is_gone(b.server))
        until("no server is listed", lambda: not b.listed())


def stacks():
    """The server of a build takes call stacks of its processes, of no other one, and does nothing else."""
    with Build("--serve", "--stay", "0") as b:
        assert b.ask("api/v1/")["stacks"] and not b.ask("api/v1/")["control"]

        def post(wanted, **headers):
            body = json.dumps(dict({"do": "stack"}, **wanted)).encode()
            q = urllib.request.Request(b.url + "api/v1/tasks", body, dict({"Authorization": "Bearer " + b.token}, **headers))
            try:
                return 202, json.load(urllib.request.urlopen(q, timeout=DEADLINE))
            except urllib.error.HTTPError as e:
                return e.code, json.load(e)["error"]

        def process(name):
            return next(({"pid": p["pid"], "start": p["start_ticks"]} for p in b.ask("api/v1/ps")["processes"]
                         if p["program"] == name), None)

        until("make is listed", lambda: process("make"))
        make = process("make")
        status, task = post(make)
        assert status == 202, task
        task = "api/v1/tasks/%d" % task["id"]
        until("the call stacks are taken", lambda: b.ask(task)["state"] not in ("queued", "running"))
        assert b.ask(task)["state"] in ("done", "failed"), b.ask(task)
        if b.ask(task)["state"] == "done":
            assert b.ask(task + "/result")["threads"]
        own = open("/proc/self/stat").read().rsplit(") ", 1)[1].split()[19]
        for wanted, says in ({"pid": os.getpid(), "start": int(own)}, "does not belong to the build"), \
                ({"pid": b.server, "start": 1}, "has ended"), \
                (dict(make, do="inspect", count=1), "--allow-control"), ({"do": "chart"}, "--allow-control"):
            status, why = post(wanted)
            assert status in (403, 410) and says in why, (wanted, status, why)
        assert post(make, Authorization="Bearer " + 32 * "0")[0] == 401
        b.go()


def stays():
    """record returns, and nobody holds its output open; the server stays after failures and for open pages."""
    with Build() as b:
        b.go()
        env = dict(b.env, CI="1")
        for options, script, asked, stays in (((), "exit 3", False, True), (("--stay", "0"), "exit 3", False, False),
                                              (("--stay", "1s"), "exit 0", False, False),
                                              (("--stay", "1ms"), "touch s; until test -e asked; do sleep 0.05; done", True, True)):
            p = subprocess.Popen([BUILDBEAT, "record", "-n", "one", "--serve", *options, "--", "sh", "-c", script],
                                 cwd=b.dir.name, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            line = p.stderr.readline()
            b.url, b.token = line.split()[-1].split("?token=")
            if asked:
                assert b.ask("api/v1/show")["recording"]
                open(b.dir.name + "/asked", "w").close()
            # both pipes end
            out, said = p.communicate(timeout=DEADLINE)
            assert p.returncode == (3 if "exit 3" in script else 0), (options, said)
            assert ("the page stays for" in said) == (options != ("--stay", "0")), said
            assert ("%s?token=%s\nbuildbeat: to show it again: buildbeat serve buildstats/one\n" % (b.url, b.token)
                    in said) == (options != ("--stay", "0")), said
            if stays:
                assert b.ask("api/v1/show")["recording"]
                assert b.run("--stop", "all").returncode == 0
            until("the server ends", lambda: not b.listed())
            shutil.rmtree(b.dir.name + "/buildstats/one")
        for options in (("--quiet",), ()):
            r = subprocess.run([BUILDBEAT, "record", "--serve", *options, "--", "sh", "-c", "exit 3"],
                               cwd=b.dir.name, env=dict(b.env, CI=""), capture_output=True, text=True)
            assert r.returncode == 3 and r.stderr.count("\n") == 1, r
        b.run("--stop", "all")
        r = subprocess.run([BUILDBEAT, "record", "--serve", "--", "./nosuch"], cwd=b.dir.name, env=env,
                           capture_output=True, text=True)
        assert r.returncode == 127 and "stays" not in r.stderr, r
        until("the server of no build ends", lambda: not b.listed())


def unnoticed():
    """A task has the same descriptors and the same environment with the server and when there is none."""
    seen = []
    for options in (("--log",), ("--serve",)):
        with Build(*options) as b:
            d = b.dir.name
            fds = [re.sub(r"\[\d+\]|/proc/\d+", "", line.split(" ", 8)[-1].split(None, 1)[-1])
                   for line in open(d + "/fds").read().splitlines()[1:]]
            seen.append((len(fds), sorted(line.split("=")[0] for line in open(d + "/environment"))))
            b.go()
    assert seen[0] == seen[1], seen


def output():
    """It is kept with --serve, unless the command line or the configuration says otherwise."""
    with Build() as b:
        b.go()
        for personal, options, kept in (("", ("--serve",), True), ("", ("--serve", "--no-log"), False),
                                        ("serve: true\n", (), True), ("serve: true\nlog: false\n", (), False),
                                        ("serve: true\nlog: false\n", ("--log",), True), ("", (), False)):
            os.makedirs(b.dir.name + "/buildbeat", exist_ok=True)
            with open(b.dir.name + "/buildbeat/buildbeat.yaml", "w") as f:
                f.write(personal)
            env = dict(b.env, XDG_CONFIG_HOME=b.dir.name)
            r = subprocess.run([BUILDBEAT, "record", "-n", "one", *options, "--", "make"], cwd=b.dir.name, env=env,
                               capture_output=True, text=True)
            assert r.returncode == 0 and ("live pages" in r.stderr) == ("serve" in personal + str(options)), r
            assert os.path.exists(b.dir.name + "/buildstats/one/output.log") == kept, (personal, options)
            shutil.rmtree(b.dir.name + "/buildstats/one")


def address():
    """A port, an address or a unix socket; a server that stays after an earlier build makes room, no other one."""
    with Build() as b, socket.socket() as other:
        b.go()
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken, path = other.getsockname()[1], b.dir.name + "/socket"
        url = "live pages: http://127.0.0.1:%d/?token=" % port

        def record(*options, personal="", status=3):
            os.makedirs(b.dir.name + "/buildbeat", exist_ok=True)
            with open(b.dir.name + "/buildbeat/buildbeat.yaml", "w") as f:
                f.write(personal)
            r = subprocess.run([BUILDBEAT, "record", *options, "--", "sh", "-c", "exit 3"], cwd=b.dir.name,
                               env=dict(b.env, XDG_CONFIG_HOME=b.dir.name), capture_output=True, text=True)
            assert r.returncode == status, r
            return r.stderr

        assert url in record("--serve=%d" % port)
        assert url in record("--serve=127.0.0.1:%d" % port)
        assert url in record(personal="serve: %d\n" % port)
        assert len(b.listed()) == 1
        assert "live pages" not in record("--no-serve", personal="serve: %d\n" % port)
        for _ in range(2):
            assert "live pages: unix:%s?token=" % path in record("--serve=" + path)
        assert len(b.listed()) == 2
        said = record("--serve=%d" % taken)
        assert "no live pages are served: " in said and "Address already in use" in said, said
        for bad, why in (("0.0.0.0:0", "other machines"), ("nowhere", "expected ADDR:PORT"),
                         ("123456", "expected ADDR:PORT"), ("9" * 99, "expected ADDR:PORT"),
                         ("localhost", "expected ADDR:PORT"), ("./" + "x" * 200, "at most")):
            builds = len(os.listdir(b.dir.name + "/buildstats"))
            said = record("--serve=" + bad, status=2)
            assert "record: option '--serve': " in said and why in said, said
            assert builds == len(os.listdir(b.dir.name + "/buildstats"))
        assert len(b.listed()) == 2


def launcher_killed():
    """The server ends with the launcher, whatever ends that."""
    for sig in (signal.SIGKILL, signal.SIGTERM):
        with Build("--serve", "--stay", "0") as b:
            children = b.children()
            b.launcher.send_signal(sig)
            b.launcher.wait(DEADLINE)
            until("the server ends", lambda: is_gone(b.server))
            # nobody writes into the directory when it is removed
            open(b.dir.name + "/go", "w").close()
            until("the build ends", lambda: all(is_gone(pid) for pid in children))


def server_killed():
    """The build goes on without its server."""
    with Build("--serve") as b:
        os.kill(b.server, signal.SIGKILL)
        until("the server ends", lambda: is_gone(b.server))
        b.go()


def server_stopped():
    """Neither the build nor its end waits for a stopped server."""
    with Build("--serve") as b:
        os.kill(b.server, signal.SIGSTOP)
        until("the server is stopped", lambda: state_of(b.server) == "T")
        b.go()
        os.kill(b.server, signal.SIGKILL)
        until("the server ends", lambda: is_gone(b.server))


def no_server():
    """A build is recorded also if the server cannot begin."""
    with tempfile.TemporaryDirectory() as d:
        with open(d + "/Makefile", "w") as f:
            f.write("all:\n\t@echo built\n")
        env = dict(os.environ, XDG_RUNTIME_DIR="/proc", TMPDIR="/proc")
        bad = subprocess.run(["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o ro none /tmp 2>/dev/null && "
                              "exec \"$0\" \"$@\"", BUILDBEAT, "record", "-o", d + "/s", "--serve", "--",
                              "make", "-C", d], env=env, capture_output=True, text=True)
        if "built" in bad.stdout:
            assert bad.returncode == 0, bad
            assert "no live pages are served" in bad.stderr, bad


def attached():
    """A running build gets a server later: by the launcher, a process below it, or its recording."""
    with Build() as b:
        for what in (str(b.launcher.pid), str(b.children("make")[-1]), "latest"):
            r = b.run("--attach", what)
            assert r.returncode == 0, r
            b.url, b.token = r.stdout.strip().split("?token=")
            assert b.ask("api/v1/show")["recording"]
        servers = b.listed()
        assert len(servers) == 3, servers
        assert b.run("--stop", "latest").returncode == 0 and not b.listed()
        r = b.run("--attach", "latest")
        server = b.listed()[0]
        b.go()
        until("the server ends", lambda: is_gone(server))
        assert b.run("--attach", "latest").returncode == 2


if __name__ == "__main__":
    globals()[sys.argv[2]]()
