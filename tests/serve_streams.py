# SPDX-License-Identifier: MIT
"""Streams of a real server: serve_streams.py BUILDBEAT CASE, in an empty directory."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from waiting import DEADLINE, until

BUILDBEAT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "buildbeat")


class Server:
    def __init__(self, served, *options):
        self.env = dict(os.environ, XDG_RUNTIME_DIR=os.getcwd())
        self.process = subprocess.Popen([BUILDBEAT, "serve", *options, served], env=self.env,
                                        stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.port, self.token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", self.url).groups()

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        self.process.terminate()
        self.process.wait(DEADLINE)

    def get(self, path, buffer=None, last=None):
        s = socket.socket()
        if buffer:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        s.settimeout(DEADLINE)
        s.connect(("127.0.0.1", int(self.port)))
        s.sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n%s\r\n" %
                   (path, self.token, "Last-Event-ID: %s\r\n" % last if last else "")).encode())
        return s

    def whole(self, path, last=None):
        s = self.get(path, last=last)
        text = bytearray()
        while part := s.recv(1 << 16):
            text += part
        head, body = text.split(b"\r\n\r\n", 1)
        assert b" 200 " in head.split(b"\r\n")[0], head
        return body.decode()

    def events(self, last=None):
        return messages(self.whole("/api/v1/events", last))


def messages(text):
    """(id, event, data) of each"""
    found = re.findall(r"id: (\S+)\nevent: (\w+)\ndata: (.*)\n\n", text)
    assert "".join("id: %s\nevent: %s\ndata: %s\n\n" % m for m in found) == text
    return [(i, e, json.loads(d)) for i, e, d in found]


def lines_of(m):
    """What must be the same from every server: samples' values are in several files."""
    return [(i.split(".")[0], e, d) for i, e, d in m if e in ("task", "note")] + \
        [i.split(".")[1] for i, e, d in m if e == "sample"]


class Growing:
    """A recording of another machine, which ends when it says so."""

    def __init__(self, path):
        self.path, self.n = path, 0
        os.mkdir(path)
        with open(path + "/build", "w") as f:
            f.write("buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 1\nhost: another\n"
                    "command: make\ncwd: /src\ncores: 4\ninterval_ms: 1000\nbuildbeat: 1\n")
        self.file = open(path + "/tasks.log", "a", buffering=1 << 16)
        self.file.write("buildbeat tasks 1\nopen\t1\ta\t10\t0\t10\tmake\t4.3\t/src\tmake\n")
        self.file.flush()

    def tasks(self, count, name="t" * 100):
        for self.n in range(self.n + 1, self.n + 1 + count):
            self.file.write("start\t%d\ta.%d\t%d\t\tcompile\t%s%d\t\tcc\ndone\t%d\ta.%d\t0\n" %
                            (10 * self.n, self.n, 100 + self.n, name, self.n, 10 * self.n + 5, self.n))
        self.file.flush()

    def end(self):
        with open(self.path + "/build", "a") as f:
            f.write("end_us: %d\nstatus: 0\nimported: x\n" % (10 * self.n + 9))


def attach(server, *options):
    return subprocess.Popen([BUILDBEAT, "attach", *options, server.url])


def inherited(server, *paths):
    """Descriptors that a program would get which the server executes, after replies to these paths begin."""
    asked = [server.get(path) for path in paths]
    assert all(s.recv(12) == b"HTTP/1.1 200" for s in asked)
    files, found = "/proc/%d/fd" % server.process.pid, {}
    for fd in os.listdir(files):
        try:
            with open(files + "info/" + fd) as f:
                flags = int(re.search(r"^flags:\s+(\d+)", f.read(), re.M).group(1), 8)
            if int(fd) > 2 and not flags & os.O_CLOEXEC:
                found[fd] = os.readlink("%s/%s" % (files, fd))
        except FileNotFoundError:
            pass    # closed since it was listed
    for s in asked:
        s.close()
    return found


def build():
    """A real build, followed while it grows by two servers and attach; all is compared with the
    messages of the finished recording."""
    with open("Makefile", "w") as f:
        names = " ".join("t%d" % i for i in range(60))
        f.write("all: %s bad\n%s:\n\t@sleep 0.0$$(($$$$ %% 5)); touch $@\nbad: ; false\n.PHONY: all\n"
                % (names, names))
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    make = subprocess.Popen([BUILDBEAT, "record", "--", "make", "-s", "-k", "-j3"], env=env,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until("no recording", lambda: os.path.exists("buildstats/latest/tasks.log"))
    rec = os.path.realpath("buildstats/latest")
    with Server(rec, "--allow-control") as a, Server(rec) as b:
        assert not inherited(a, "/api/v1/events", "/api/v1/tasks"), inherited(a)
        trace = attach(a, "-o", "trace.json")
        log = attach(b, "-o", "log.jsonl", "--format", "events")
        first, second = a.events(), b.events()
        make.wait(DEADLINE)
        assert trace.wait(DEADLINE) == 0 and log.wait(DEADLINE) == 0
        last = a.events()
        assert lines_of(first) == lines_of(last) and lines_of(second) == lines_of(last)
        ended = [d["task"] for i, e, d in first if e == "task" and d["end_us"] is not None]
        assert len(ended) == len(set(ended)) == 61, len(ended)
        failed = [d["name"] for i, e, d in first if e == "task" and d["state"] == "failed"]
        assert failed == ["bad"] and first[-1][2]["exit_status"] == 2, failed
        with open("log.jsonl") as f:
            lines = [json.loads(x) for x in f]
        assert [x["at"].split(".")[0] for x in lines if x["event"] == "task"] == \
            [i.split(".")[0] for i, e, d in last if e == "task"]
        with open("trace.json") as f:
            assert len([e for e in json.load(f) if e["ph"] == "E"]) >= 61


def resume():
    """At a restarted and at another server, behind the last message."""
    g = Growing("rec")
    g.tasks(50)
    with Server("rec") as a:
        s = a.get("/api/v1/events")
        text = b""
        while text.count(b"event: task") < 100:
            text += s.recv(1 << 16)
        s.close()
    had = messages(text.split(b"\r\n\r\n", 1)[1].rpartition(b"\n\n")[0].decode() + "\n\n")
    g.tasks(50)
    g.end()
    with Server("rec") as a:
        rest = a.events(last=had[-1][0])
        assert lines_of(had + rest) == lines_of(a.events())
        assert [e for i, e, d in rest if e == "task"] == ["task"] * 100
        assert "HTTP/1.1 400" in a.get("/api/v1/events", last="nonsense").recv(4096).decode()


def deleted():
    """Its clients get the end, and the server goes on with the others."""
    g = Growing("stats")
    g.end()
    shutil.move("stats", "old")
    os.mkdir("stats")
    shutil.move("old", "stats/old")
    g = Growing("stats/new")
    g.tasks(10)
    with Server("stats") as a:
        s = a.get("/api/v1/events?rec=new")
        text = s.recv(1 << 16)
        shutil.rmtree("stats/new")
        while part := s.recv(1 << 16):
            text += part
        m = messages(text.split(b"\r\n\r\n", 1)[1].decode())
        assert m[-1][1] == "end" and m[-1][2]["reason"] == "deleted", m[-1]
        assert messages(a.whole("/api/v1/events?rec=old"))[-1][2]["reason"] == "ended"


def killed():
    """A build that is killed with its launcher ends its streams, and attach."""
    with open("Makefile", "w") as f:
        f.write("all: a b\na b: ; sleep 100\n")
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    make = subprocess.Popen([BUILDBEAT, "record", "--", "make", "-s", "-j2"], env=env,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    until("no tasks", lambda: os.path.exists("buildstats/latest/tasks.log") and
          open("buildstats/latest/tasks.log").read().count("start\t") == 2)
    with Server(os.path.realpath("buildstats/latest")) as a:
        log = attach(a, "-o", "log.jsonl", "--format", "events")
        until("nothing came", lambda: os.path.exists("log.jsonl") and os.path.getsize("log.jsonl"))
        os.killpg(make.pid, signal.SIGKILL)
        make.wait(DEADLINE)
        assert log.wait(DEADLINE) == 0
        assert a.events()[-1][2]["reason"] == "ended"


def attached():
    """The server goes away for a while: messages go on without loss, a trace begins again."""
    g = Growing("rec")
    g.tasks(20)
    with Server("rec") as a:
        port = a.port
        log = attach(a, "-o", "log.jsonl", "--format", "events")
        until("nothing came", lambda: os.path.exists("log.jsonl") and
              open("log.jsonl").read().count("\n") >= 40)
        a.process.send_signal(signal.SIGKILL)
    g.tasks(5)
    with Server("rec", "--listen", "127.0.0.1:" + port) as b:
        # another token: it is refused, with a reason
        assert log.wait(DEADLINE) == 2
        t = attach(b, "-o", "trace.json")
        until("no trace", lambda: os.path.exists("trace.json") and os.path.getsize("trace.json"))
        none = attach(b, "--format", "events", "--no-history", "-o", "none.jsonl")
        until("not there", lambda: len([x for x in open("/proc/net/tcp") if
              x.split()[2].endswith(":%04X" % int(port)) and x.split()[3] == "01"]) >= 2)
        time.sleep(0.3)
        g.tasks(5)
        g.end()
        assert t.wait(DEADLINE) == 0 and none.wait(DEADLINE) == 0
        json.load(open("trace.json"))
        assert open("none.jsonl").read().count("\n") < 15
    assert subprocess.call([BUILDBEAT, "attach", b.url.replace("?", "?x=%&")], stderr=subprocess.DEVNULL) == 2


def hostile():
    """Messages without an end, and controls for the terminal, from a server that is not ours."""
    import base64
    import hashlib
    import pty
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(send):
        s, _ = listener.accept()
        head = b""
        while b"\r\n\r\n" not in head:
            head += s.recv(4096)
        assert b"bearer secret" in head.lower(), head
        key = re.search(rb"(?i)sec-websocket-key: (\S+)", head).group(1)
        accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
        s.sendall(b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                  b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        try:
            send(s)
        except OSError:
            pass
        s.close()

    def huge(s):
        s.sendall(b"\x81\x7f" + (1 << 62).to_bytes(8, "big"))
        while True:
            s.sendall(b"x" * 65536)

    def fragments(s):
        s.sendall(b"\x01\x7e\x80\x00" + b"x" * 32768)
        while True:
            s.sendall(b"\x00\x7e\x80\x00" + b"x" * 32768)

    def controls(s):
        line = b'{"event":"end","at":"1.1","data":"\x1b]0;x\x07\xc2\x9b1m\xe2\x80\xae"}\n'
        s.sendall(b"\x81" + bytes([len(line)]) + line + b"\x88\x02\x03\xe8")

    url = "http://127.0.0.1:%d/?token=secret" % listener.getsockname()[1]
    for send, out in ((huge, None), (fragments, None), (controls, pty.openpty())):
        server = threading.Thread(target=serve, args=(send,), daemon=True)
        server.start()
        # the URL is on standard input: no command line has the token
        a = subprocess.Popen([BUILDBEAT, "attach", "--format", "events", "-"], stdin=subprocess.PIPE,
                             stdout=out[1] if out else subprocess.DEVNULL, stderr=subprocess.PIPE)
        a.stdin.write(url.encode() + b"\n")
        a.stdin.close()
        _, status, usage = os.wait4(a.pid, 0)
        message = a.stderr.read()
        server.join(DEADLINE)
        if out:
            text = os.read(out[0], 4096)
            assert os.waitstatus_to_exitcode(status) == 0, message
            assert rb"\x1b]0;x\x07\x9b1m\u202e" in text and b"\x1b" not in text, text
        else:
            assert os.waitstatus_to_exitcode(status) == 2 and b"more than 4 MiB" in message, message
            assert usage.ru_maxrss < 100000, usage.ru_maxrss


class Reader(threading.Thread):
    """A client that reads all at once."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.socket, self.text, self.n = server.get("/api/v1/events"), bytearray(), 0
        self.start()

    def run(self):
        while part := self.socket.recv(1 << 18):
            before = len(self.text)
            self.text += part
            self.n += self.text.count(b"\n\n", max(before - 1, 0))

    def messages(self):
        self.join(DEADLINE)
        return messages(self.text.split(b"\r\n\r\n", 1)[1].decode())


def cpu_ticks(pid):
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def slow():
    """Only the client that is slow misses messages, and is told so. History is never missed, nor what
    is written faster than anybody could read it."""
    g = Growing("rec")
    g.tasks(30000)
    with Server("rec") as a:
        healthy = Reader(a)
        until("no history", lambda: healthy.n >= 60000)
        g.tasks(30000)
        until("a burst", lambda: healthy.n >= 120000)
        s = a.get("/api/v1/events?history=0", buffer=4096)
        text = bytearray(s.recv(4096))
        g.tasks(1)
        while b"event: task" not in text:
            text += s.recv(4096)
        portions = threading.Event()

        def read_slowly():
            while not portions.wait(0.1):
                text.extend(s.recv(4096))

        reader = threading.Thread(target=read_slowly)
        reader.start()
        for _ in range(40):
            n = healthy.n
            g.tasks(1500)
            until("a portion", lambda: healthy.n >= n + 3000)
        portions.set()
        reader.join()
        g.end()
        while part := s.recv(1 << 18):
            text += part
        all_messages = healthy.messages()
        had = messages(text.split(b"\r\n\r\n", 1)[1].decode())
        assert all_messages == a.events() and not [m for m in all_messages if m[1] == "gap"]
        gaps = [i for i, m in enumerate(had) if m[1] == "gap"]
        assert gaps and len(had) < len(all_messages) - 120000, len(had)
        # all of the others, in order, and all behind the gap
        rest = iter(all_messages)
        assert all(any(m == other for other in rest) for m in had if m[1] != "gap")
        last = had[gaps[-1] + 1:]
        assert last == all_messages[-len(last):] and last


def stuck():
    """A client that reads nothing is dropped, others lose nothing; no client makes the server busy."""
    g = Growing("rec")
    g.tasks(40000)
    with Server("rec") as a:
        pid = a.process.pid
        healthy = Reader(a)
        until("no history", lambda: healthy.n >= 80000)
        fds = lambda: len(os.listdir("/proc/%d/fd" % pid))
        before, used = fds(), cpu_ticks(pid)
        stuck = a.get("/api/v1/events", buffer=4096)
        until("it is not there", lambda: fds() > before)
        until("it is not dropped", lambda: fds() == before)
        g.tasks(10)
        # each says something that a stream's client has no reason to, or leaves
        for say in (lambda s: s.sendall(b"GET / HTTP/1.1\r\n\r\n" * 10), lambda s: s.sendall(b"x" * 5000),
                    lambda s: s.shutdown(socket.SHUT_WR), lambda s: s.close()):
            s = a.get("/api/v1/events?history=0")
            s.recv(1)
            until("it is not there", lambda: fds() > before)
            say(s)
            until("it is not ended", lambda: fds() == before)
        assert cpu_ticks(pid) - used < 100, cpu_ticks(pid) - used
        g.end()
        assert healthy.messages() == a.events()
        stuck.close()


if __name__ == "__main__":
    globals()[sys.argv[2]]()
