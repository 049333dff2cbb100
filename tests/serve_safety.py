# SPDX-License-Identifier: MIT
"""What the server refuses, bounds and promises, by raw sockets: serve_safety.py BUILDBEAT CASE."""
import base64
import errno
import gzip
import html
import json
import os
import random
import re
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import time

import beside
from waiting import DEADLINE, until

BUILDBEAT = sys.argv[1]
HERE = {}


class Server:
    """buildbeat serve DIRECTORY of no recordings, or one of twelve tasks, in a private XDG_RUNTIME_DIR."""

    def __init__(self, *options, before=(), recording=False):
        self.dir = tempfile.TemporaryDirectory(prefix="buildbeat-serve-")
        self.env = dict(os.environ, XDG_RUNTIME_DIR=self.dir.name)
        self.served = os.path.join(self.dir.name, "stats")
        os.mkdir(self.served)
        if recording:
            subprocess.run([os.path.join(os.path.dirname(os.path.abspath(BUILDBEAT)), "tests/gen_recording"),
                            self.served + "/r", "12", "3", "1"], check=True)
        self.process = subprocess.Popen([*before, BUILDBEAT, "serve", *options, self.served],
                                        env=self.env, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        m = re.fullmatch(r"(?:https?://([^/]*?):(\d+)/|unix:(.*))\?token=([0-9a-f]{32})", self.url)
        assert m, self.url
        self.host, port, self.unix, self.token = m.groups()
        self.port = int(port or 0)
        self.origin = self.url.split("/?")[0]
        self.authority = "%s:%d" % (self.host, self.port) if port else "localhost"
        self.tls = None

    def __enter__(self):
        return self

    def __exit__(self, *failed):
        if not failed[0]:
            assert not self.process.poll(), "the server has ended"
        self.process.terminate()
        status = self.process.wait(DEADLINE)
        assert failed[0] or status == 0, status
        assert failed[0] or not os.path.exists(self.dir.name + "/buildbeat-serve"), "still listed"
        self.dir.cleanup()

    def connect(self):
        if self.unix:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(DEADLINE)
            s.connect(self.unix)
        else:
            s = socket.create_connection((self.host.strip("[]"), self.port), DEADLINE)
        if self.tls:
            s = self.tls.wrap_socket(s, server_hostname="localhost")
        return s

    def ask(self, path="/", method="GET", host=None, token=True, body=None, **headers):
        """(status, headers, body) of one request on a connection of its own."""
        lines = ["%s %s HTTP/1.1" % (method, path), "Connection: close"]
        if host != "":
            lines.append("Host: " + (host or self.authority))
        if token:
            lines.append("Authorization: Bearer " + (token if isinstance(token, str) else self.token))
        lines += ["%s: %s" % (k.replace("_", "-"), v) for k, v in headers.items() if v is not None]
        if body is not None:
            lines.append("Content-Length: %d" % len(body))
        return self.raw(("\r\n".join(lines) + "\r\n\r\n").encode() + (body or b""))

    def raw(self, data, whole=False):
        with self.connect() as s:
            try:
                s.sendall(data)
                reply = b""
                while part := s.recv(65536):
                    reply += part
            except (ConnectionError, ssl.SSLError):
                pass
        return reply if whole else parse(reply)


def parse(reply):
    if not reply:
        return (0, {}, b"")
    head, _, body = reply.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    return (int(lines[0].split()[1]), {k.lower(): v for k, v in
                                       (x.split(": ", 1) for x in lines[1:])}, body)


UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13",
           "Sec_WebSocket_Key": base64.b64encode(b"0123456789abcdef").decode()}


def host():
    """A foreign name is refused (DNS rebinding), also with the token."""
    with Server() as s:
        for name in ("localhost", "127.0.0.1", "LOCALHOST", "[::1]", "localhost:1", s.authority):
            assert s.ask(host=name)[0] == 200, name
        for name in ("", "evil.example", "evil.example:%d" % s.port, "localhost.evil.example",
                     "127.0.0.1.evil.example", "localhost:x", "localhost:70000", "a@localhost",
                     "127.0.0.1, evil.example", "::1", "[127.0.0.1]", "localhost/", "0.0.0.0",
                     "127.0.0.2", "localhost:1:2", "\tlocalhost\x0b"):
            assert s.ask(host=name)[0] in (421, 0), name
            assert s.ask("/?token=" + s.token, host=name, token=False)[0] in (421, 0), name
            assert s.ask("/api/v1/", host=name)[0] in (421, 0), name
    with Server("--host-name", "build.example") as s:
        assert s.ask(host="build.example")[0] == 200
        assert s.ask(host="a.build.example")[0] == 421


def origin():
    """Another site's page can neither open a websocket nor post, not even with the cookie."""
    with Server("--allow-control") as s:
        cookie = s.ask("/?token=" + s.token, token=False)[1]["set-cookie"].split(";")[0]
        other = ("http://evil.example", "null", "https://" + s.authority, s.origin + ".evil.example",
                 "http://localhost:1", "")
        for o in other:
            for way in ({"Cookie": cookie, "token": False}, {}):
                if not o and not way:
                    continue
                assert s.ask("/api/v1/tasks", "POST", body=b"{}", Origin=o or None, **way)[0] == 403, o
                assert s.ask("/api/v1/tasks/1", "DELETE", Origin=o or None, **way)[0] == 403, o
                assert s.ask("/api/v1/trace", Origin=o or None, **UPGRADE, **way)[0] in (403,), o
        own = {"Origin": s.origin, "Cookie": cookie, "token": False}
        assert s.ask("/api/v1/tasks", "POST", body=b"{}", **own)[0] not in (401, 403, 421)
        assert s.ask("/api/v1/trace", **UPGRADE, **own)[0] not in (401, 403, 421)
        assert s.ask("/", Origin="http://evil.example")[1].get("access-control-allow-origin") is None
    with Server() as s:
        assert s.ask("/api/v1/tasks", "POST", body=b"{}", Origin=s.origin)[0] == 403, "not allowed"


def token():
    """Nothing is sent without the token, which is in no page, header or error."""
    with Server() as s:
        almost = s.token[:-1] + ("0" if s.token[-1] != "0" else "1")
        for path in ("/", "/live.js", "/api/v1/", "/api/v1/list", "/api/v1/events", "/nothing", "/metrics"):
            for bad in (False, almost, s.token[:-1], s.token + "0", "", s.token.upper() + "x"):
                status, headers, body = s.ask(path, token=bad)
                assert status == 401, (path, bad, status)
                assert s.token not in repr(headers) + body.decode()
            assert s.ask(path + "?token=" + almost, token=False)[0] == 401
            assert s.ask(path, token=False, Cookie="buildbeat-00000000=" + s.token)[0] == 401
        assert s.ask("/api/v1/trace", token=False, **UPGRADE)[0] == 401
        assert s.token not in s.ask("/")[2].decode()
    with Server() as a, Server() as b:
        assert a.token != b.token


def cookie():
    """The URL with the token is answered once, by a cookie that scripts and other sites do not get."""
    with Server() as s:
        status, headers, body = s.ask("/task?id=a.1&token=%s&rec=x%%26y" % s.token, token=False)
        assert status == 303 and headers["location"] == "/task?id=a.1&rec=x%26y", headers
        value, *flags = headers["set-cookie"].split("; ")
        assert sorted(flags) == ["HttpOnly", "Path=/", "SameSite=Strict"], flags
        assert s.ask("/", token=False, Cookie="a=b; %s; c=d" % value)[0] == 200
        assert s.ask("/", token=False, Cookie="x" + value)[0] == 401
        assert s.ask("/", token=False, Cookie=value[:-1])[0] == 401


def cookies():
    """Servers of one host neither destroy nor accept each other's cookies, which do not pile up."""
    with Server() as a, Server() as b:
        mine, other = (x.ask("/?token=" + x.token, token=False)[1]["set-cookie"].split(";")[0] for x in (a, b))
        assert mine.split("=")[0] != other.split("=")[0]
        assert a.ask("/", token=False, Cookie=other)[0] == 401
        assert a.ask("/", token=False, Cookie=mine.split("=")[0] + "=" + other.split("=")[1])[0] == 401
        assert a.ask("/", token=False, Cookie=other + "; " + mine)[0] == 200
        for n, removed in ((20, 0), (21, 1), (40, 20), (60, 20)):
            jar = "; ".join(["x=y", mine] + ["buildbeat-%08x=%032x" % (i, i) for i in range(n)])
            reply = a.raw(("GET /?token=%s HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nConnection: close\r\n\r\n"
                           % (a.token, jar)).encode(), whole=True)
            gone = re.findall(rb"Set-Cookie: (\S+)=; Path=/; Max-Age=0\r\n", reply)
            assert gone == [b"buildbeat-%08x" % i for i in range(removed)], (n, gone)


def links():
    """A recording of somebody else leads nowhere: links in it are not followed, other files not opened."""
    secret = "%08x" % random.getrandbits(32)
    with Server() as s:
        outside = s.dir.name + "/outside"
        run = lambda *a: subprocess.run(a, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run(BUILDBEAT, "record", "--log", "--no-git", "-o", s.served, "--", "echo", "harmless")
        ours = os.path.join(s.served, os.readlink(s.served + "/latest"))
        run("cp", "-r", ours, outside)
        for name in os.listdir(outside):
            path = outside + "/" + name
            with open(path, "rb") as f:
                text = f.read().replace(b"harmless", secret.encode())
            with open(path, "wb") as f:
                f.write(text)
        assert secret in open(outside + "/output.log").read()
        os.makedirs(outside + "/inspect/one")
        os.symlink(outside, s.served + "/linked")
        copies = {}
        for name in os.listdir(ours) + ["inspect", "output.log.zst", "tally.log"]:
            copies[name] = s.served + "/copy-" + name
            run("cp", "-r", ours, copies[name])
            if os.path.lexists(copies[name] + "/" + name):
                os.remove(copies[name] + "/" + name)
            os.symlink(outside + "/" + name, copies[name] + "/" + name)
        fifo = s.served + "/fifo"
        run("cp", "-r", ours, fifo)
        for name in os.listdir(fifo):
            if name != "build":
                os.remove(fifo + "/" + name)
                os.mkfifo(fifo + "/" + name)
        listed = json.loads(s.ask("/api/v1/recordings")[2])
        ids = [r["name"] for r in listed["recordings"]]
        assert os.path.basename(ours) in ids and "linked" not in ids, ids
        paths = [r["path"] for r in json.loads(s.ask("/api/v1/")[2])["routes"]]
        for rec in ids + ["linked", "copy-inspect/../../outside", "../outside"]:
            for path in paths:
                if path.endswith("/") or path in ("/api/v1/events", "/api/v1/refresh"):
                    continue
                _, _, body = s.ask("%s?rec=%s%s" % (path, rec.replace("/", "%2f"),
                                                  "&archive=one" if path.endswith("inspection") else ""))
                assert secret.encode() not in body, (path, rec, body)


def descriptors():
    """With few descriptors, many clients neither end the server nor keep it busy."""
    with Server(before=("sh", "-c", "ulimit -n 64; exec \"$@\"", "sh")) as s:
        held = []
        for _ in range(300):
            try:
                held.append(s.connect())
            except OSError:
                pass
        before, start = cpu(s.process.pid), time.monotonic()
        while time.monotonic() - start < 1:
            s.ask("/")
            time.sleep(0.05)
        assert cpu(s.process.pid) - before < 60 * (time.monotonic() - start), "busy"
        for c in held:
            c.close()
        until("it answers", lambda: s.ask("/")[0] == 200 and s.ask("/api/v1/")[0] == 200)


def no_memory():
    """A connection that the kernel has no memory for waits: there are 100 ms between two tries to accept it."""
    failing = os.path.join(os.path.dirname(os.path.abspath(BUILDBEAT)), "tests/failing_io.so")
    with Server(before=("env", "LD_PRELOAD=" + failing, "FAIL_ACCEPTS=5",
                        "FAIL_ERROR=%d" % errno.ENOMEM)) as s:
        start = time.monotonic()
        assert s.ask("/")[0] == 200
        assert time.monotonic() - start >= 0.45


def headers():
    """Every reply has the headers of safety."""
    policy = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
              "'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
    with Server() as s:
        for reply in (s.ask("/"), s.ask("/live.js"), s.ask("/api/v1/"), s.ask("/x"), s.ask(token=False),
                      s.ask(host="evil.example"), s.ask("/?token=" + s.token), s.ask(method="HEAD")):
            h = reply[1]
            assert h["content-security-policy"] == policy
            assert h["x-content-type-options"] == "nosniff"
            assert h["referrer-policy"] == "no-referrer"
            assert h["x-frame-options"] == "DENY"
            assert h["cross-origin-resource-policy"] == "same-origin"
            assert h["cross-origin-opener-policy"] == "same-origin"
            assert h["cache-control"] == ("private, no-cache" if "etag" in h else "no-store")
            assert not [k for k in h if k.startswith("access-control")]
        own = s.ask("http://evil.example/")[1]		# a reply of libwebsockets
        assert own["content-security-policy"] == policy and own["x-content-type-options"] == "nosniff", own
        page = s.ask("/")[2].decode()
        assert not re.search(r"(src|href)=\"(?![/#]|data:,)", page) and "style=" not in page
        assert "<script>" not in page and not re.search(r" on[a-z]+=", re.sub(r">[^<]*<", "><", page))
        assert not s.ask(method="HEAD")[2]


def compressed():
    """Pages, scripts and JSON are compressed for who accepts it; each form has its own tag."""
    with Server(recording=True) as s:
        for path in ("/", "/live.js", "/page.css", "/api/v1/", "/profile"):
            plain = s.ask(path)
            assert plain[0] == 200 and "content-encoding" not in plain[1], path
            assert plain[1]["vary"] == "Accept-Encoding", path
            for accept in ("gzip", "deflate, GZIP;q=0.5", "*", "br, x-gzip", "identity;q=0.5, *;q=0.1", "*;q=0, gzip"):
                status, h, body = s.ask(path, Accept_Encoding=accept)
                assert status == 200 and h["content-encoding"] == "gzip", (path, accept, h)
                assert gzip.decompress(body) == plain[2], (path, accept)
                assert int(h["content-length"]) == len(body) < len(plain[2]) and h["vary"] == "Accept-Encoding"
            for accept in ("", "identity", "gzip;q=0", "gzip; q=0.000, *", "br", "*;q=0", "gzipped"):
                status, h, body = s.ask(path, Accept_Encoding=accept)
                assert (status, body) == (200, plain[2]) and "content-encoding" not in h, (path, accept)
            for accept in (None, "gzip"):
                status, h, body = s.ask(path, "HEAD", Accept_Encoding=accept)
                full = s.ask(path, Accept_Encoding=accept)[1]
                assert status == 200 and not body and h == full, (path, h, full)
        tags = [s.ask("/live.js", Accept_Encoding=a)[1]["etag"] for a in (None, "gzip")]
        assert tags[0] != tags[1] and all(re.fullmatch('"[^"]+"', t) for t in tags), tags
        for a, tag in ((None, tags[0]), ("gzip", tags[1])):
            for had in (tag, "W/" + tag, '"x", ' + tag, "*"):
                status, h, body = s.ask("/live.js", Accept_Encoding=a, If_None_Match=had)
                assert (status, body, h["etag"]) == (304, b"", tag) and "content-length" not in h, (had, status)
            other = tags[tag == tags[0]]
            for had in (other, tag[:-1], tag.strip('"'), '"x"'):
                assert s.ask("/live.js", Accept_Encoding=a, If_None_Match=had)[0] == 200, had
        assert "content-encoding" not in s.ask("/api/v1/nowhere", Accept_Encoding="gzip")[1]
        assert "content-encoding" not in s.ask("/api/v1/events", Accept_Encoding="gzip")[1]
        url = s.origin + "/api/v1/show"
        curl = ["curl", "-sS", "-H", "Authorization: Bearer " + s.token]
        if shutil.which("curl"):
            raw, unpacked = (subprocess.run(curl + more + [url], capture_output=True, check=True).stdout
                             for more in ([], ["--compressed"]))
            assert raw == unpacked and json.loads(raw), raw


def errors():
    """A browser shows an error as a page, of the server or of a reader; a program gets JSON."""
    with Server() as s:
        assert s.ask("/favicon.ico")[:2][0] == 200 and s.ask("/favicon.ico")[1]["content-type"] == "image/svg+xml"
        for path, token, status, why in (("/", False, 401, "the token is missing"), ("/", "0" * 32, 401, "after each start"),
                                         ("/?token=old", False, 401, "after each start"),
                                         ("/api/show", True, 404, "it is /api/v1/show now"), ("/nowhere", True, 404, "no such path"),
                                         ("/api/v1/show?%3Cb%3E=1", True, 400, "&lt;b&gt;"), ("/api/v1/show", True, 404, "no recordings")):
            for accept in ("text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", "*/*", None):
                got, headers, body = s.ask(path, token=token, Accept=accept)
                person = accept and "html" in accept
                assert got == status, (path, got)
                assert headers["content-type"] == ("text/html; charset=utf-8" if person else "application/json"), headers
                said = body.decode() if person else json.loads(body)["error"]
                assert why in (said if person else html.escape(said, quote=False)), said
                assert not person or 'href="/"' in said, said


def paths():
    """Paths name replies, never files."""
    tricks = ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
              "/live.js/../../etc/passwd", "/live.js%00.css", "/a%00b", "/etc/passwd", "/%5c..%5cetc",
              "/\\..\\etc", "/./././etc/passwd", "/api/../../etc/passwd", "/%c0%ae%c0%ae/etc/passwd",
              "/live/page/live.js", "/%252e%252e/etc/passwd", "http://evil.example/", "etc/passwd", "*",
              "/api/v1/show?rec=../../../etc", "/api/v1/show?rec=%2fetc", "/api/v1/show?rec=..", "/%", "/%zz"]
    with Server() as s:
        for t in tricks:
            status, _, body = s.ask(t)
            assert b"root:" not in body, t
            assert status in (0, 400, 403, 404) or body == s.ask("/")[2], (t, status)
        for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"):
            assert s.ask("/", method)[0] in (0, 403, 405), method
        assert s.ask("/")[0] == 200


def limits():
    """Requests are bounded; what is too large ends its connection only."""
    with Server("--allow-control") as s:
        for name in ("Cookie", "X-Anything", "Host", "Authorization", "Origin"):
            assert s.ask("/", **{name: "a" * 100000}, host="" if name == "Host" else None)[0] in \
                (0, 401, 413, 421), name
        assert s.ask("/" + "a" * 100000)[0] in (0, 400, 413)
        assert s.ask("/?" + "a=b&" * 5000)[0] in (0, 400, 413)
        many = "".join("X-%d: y\r\n" % i for i in range(20000))
        assert s.raw(("GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % many).encode())[0] in (0, 401, 413)
        for length in (b"65537", b"99999999999999999999", b"-1", b"0x10", b"1, 2", b"1e9"):
            reply = s.raw(b"POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                          s.token.encode() + b"\r\nContent-Length: " + length + b"\r\n\r\n")
            assert reply[0] in (0, 411, 413), (length, reply)
        assert s.raw(b"POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                     s.token.encode() + b"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")[0] in (0, 411)
        assert s.raw(b"POST /api/v1/refresh HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + s.token.encode() +
                     b"\r\nConnection: close\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")[0] == 400
        assert s.ask("/", body=b"GET / HTTP/1.1\r\n\r\n")[0] == 413
        assert s.ask("/")[0] == 200


def half_open():
    """Hundreds of connections that send nothing, or a byte now and then, hold up nobody."""
    with Server() as s:
        held = [s.connect() for _ in range(700)]
        for i, c in enumerate(held):
            try:
                c.sendall([b"", b"G", b"GET / HTTP/1.1\r\nHost: lo", b"POST / HTTP/1.1\r\n"][i % 4])
            except ConnectionError:
                pass
        for i in range(50):
            assert s.ask("/")[0] == 200
            for c in held[i::50]:
                try:
                    c.send(b"a")
                except OSError:
                    pass
        status = open("/proc/%d/status" % s.process.pid).read()
        assert int(re.search(r"VmRSS:\s*(\d+)", status)[1]) < 60000, "memory"
        fds = lambda: len(os.listdir("/proc/%d/fd" % s.process.pid))
        until("half-open connections are closed", lambda: fds() < 30)


def never_reads():
    """A client that asks and never reads is closed, and others are served."""
    with Server() as s:
        request = ("GET /live.js HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" %
                   s.token).encode()
        c = socket.socket()
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        c.connect((s.host, s.port))
        c.settimeout(0.2)
        assert s.ask("/")[0] == 200
        try:
            for _ in range(20000):
                c.send(request)
        except OSError:
            pass
        before = cpu(s.process.pid)
        for _ in range(20):
            assert s.ask("/")[0] == 200
        until("it is closed", lambda: ended(c))
        assert cpu(s.process.pid) - before < 250, "busy"
        assert s.ask("/")[0] == 200


def ended(c):
    """Has the peer of this socket closed it? Without reading."""
    return b"\x01" != c.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[:1]


def cpu(pid):
    fields = open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def newer_library():
    """libwebsockets 4.2 or newer: it ends a connection that has more to read before the reply."""
    libraries = subprocess.run(["ldd", os.path.join(os.path.dirname(BUILDBEAT), "live", "buildbeat-serve")],
                               capture_output=True, text=True).stdout
    found = re.search(r"libwebsockets\.so\.(\d+)", libraries)
    return bool(found) and int(found.group(1)) > 17


def pipelining():
    """Requests sent at once are answered in order, also those that readers answer; or, with a newer
    library, the connection ends, and later ones are answered."""
    with Server() as s:
        ask = "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n"
        paths = ["/live.css", "/api/v1/", "/task", "/api/v1/", "/live.js", "/api/v1/show", "/page.css"]
        with s.connect() as c:
            c.sendall("".join(ask % (p, s.token, "Connection: close\r\n" if p == paths[-1] else "")
                              for p in paths).encode())
            reply = b""
            while part := c.recv(65536):
                reply += part
        got = []
        while reply:
            head, _, rest = reply.partition(b"\r\n\r\n")
            status, h, _ = parse(head + b"\r\n\r\n")
            n = int(h["content-length"])
            got.append((status, rest[:n]))
            reply = rest[n:]
        if newer_library() and not got:
            assert s.ask("/")[0] == 200
            return
        expected = [s.ask(p) for p in paths[:len(got)]]
        assert [g[0] for g in got] == [e[0] for e in expected] and len(got) >= 6, [g[0] for g in got]
        assert [g[1] for g in got] == [e[2] for e in expected]


def unix():
    """A unix socket never has another mode than 0600; a stale one is replaced, a used one is not."""
    with tempfile.TemporaryDirectory() as d:
        path = d + "/s"
        with Server("--unix", path) as s:
            st = os.stat(path)
            assert stat.S_ISSOCK(st.st_mode) and stat.S_IMODE(st.st_mode) == 0o600
            assert s.ask("/")[0] == 200 and s.ask("/", token=False)[0] == 401
            assert s.ask("/", host="evil.example")[0] == 421
            again = subprocess.run([BUILDBEAT, "serve", "--unix", path, s.served], env=s.env,
                                   capture_output=True, text=True)
            assert again.returncode == 2 and "another server" in again.stderr, again
        assert not os.path.exists(path)
        stale = socket.socket(socket.AF_UNIX)
        stale.bind(path)
        stale.close()
        with Server("--unix", path) as s:
            assert s.ask("/")[0] == 200
        open(path, "w").close()
        bad = subprocess.run([BUILDBEAT, "serve", "--unix", path, d], capture_output=True, text=True)
        assert bad.returncode == 2 and os.path.exists(path), bad
        os.chmod(d, 0o777)
        bad = subprocess.run([BUILDBEAT, "serve", "--unix", d + "/t", "/"], capture_output=True, text=True)
        assert bad.returncode == 2 and not os.path.exists(d + "/t"), bad


def tls():
    """HTTPS with a certificate of openssl; the network needs it or the explicit word."""
    with tempfile.TemporaryDirectory() as d:
        cert, key = d + "/cert.pem", d + "/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost"], check=True, capture_output=True)
        with Server("--tls-cert", cert, "--tls-key", key) as s:
            assert s.url.startswith("https://")
            plain = s.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert plain[0] in (0, 400), plain
            s.tls = ssl.create_default_context(cafile=cert)
            assert s.ask("/", host="localhost")[0] == 200
            h = s.ask("/?token=" + s.token, host="localhost", token=False)[1]
            assert "Secure" in h["set-cookie"].split("; ")
            assert s.ask("/api/v1/")[0] == 200
        for wrong in (["--tls-cert", cert], ["--tls-key", key], ["--tls-cert", cert, "--tls-key", cert],
                      ["--tls-cert", d + "/no", "--tls-key", key], ["--listen", "0.0.0.0:0"],
                      ["--listen", "0.0.0.0:0", "--insecure"], ["--listen", "[::]:0"],
                      ["--listen", "evil.example:80"], ["--listen", "127.0.0.1"], ["--listen", ":0"],
                      ["--listen", "127.0.0.1:99999"], ["--listen", "127.0.0.1:0", "--unix", d + "/s"]):
            bad = subprocess.run([BUILDBEAT, "serve", *wrong, d], capture_output=True, text=True)
            assert bad.returncode == 2 and bad.stderr.count("\n") == 1 and not bad.stdout, (wrong, bad)


def ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return
    with Server("--listen", "[::1]:0") as s:
        assert s.url.startswith("http://[::1]:")
        assert s.ask("/")[0] == 200
        assert s.ask("/", host="[::2]")[0] == 421
    with Server("--listen", "localhost:0") as s:
        assert s.host == "127.0.0.1" and s.ask("/")[0] == 200


def listing():
    """Servers are found and ended by their user; files with tokens are private."""
    with Server() as s:
        place = s.dir.name + "/buildbeat-serve"
        assert stat.S_IMODE(os.stat(place).st_mode) == 0o700
        assert [stat.S_IMODE(os.stat(place + "/" + f).st_mode) for f in os.listdir(place)] == [0o600]
        run = lambda *a: subprocess.run([BUILDBEAT, "serve", *a], env=s.env, capture_output=True, text=True)
        second = subprocess.Popen([BUILDBEAT, "serve", s.served], env=s.env, stdout=subprocess.PIPE, text=True)
        url = second.stdout.readline().strip()
        rows = [line.split("\t") for line in run("--list").stdout.splitlines()]
        assert sorted(rows) == sorted([[str(s.process.pid), s.served, s.url],
                                       [str(second.pid), s.served, url]]), rows
        assert run("--stop", str(second.pid)).returncode == 0 and second.wait() == 0
        assert run("--stop", "nothing").returncode == 2
        killed = subprocess.Popen([BUILDBEAT, "serve", s.served], env=s.env, stdout=subprocess.PIPE, text=True)
        killed.stdout.readline()
        killed.kill()
        killed.wait()
        assert len(run("--list").stdout.splitlines()) == 1
        assert len(os.listdir(place)) == 1


def ends():
    """SIGINT and SIGTERM end the server and all its children."""
    for sig in (signal.SIGINT, signal.SIGTERM):
        with Server() as s:
            assert s.ask("/api/v1/")[0] == 200
            children = subprocess.run(["pgrep", "-P", str(s.process.pid)], capture_output=True,
                                      text=True).stdout.split()
            assert children
            s.process.send_signal(sig)
            assert s.process.wait(DEADLINE) == 0
            until("readers end", lambda: not [c for c in children if os.path.exists("/proc/" + c)
                                              and "Z" != open("/proc/%s/stat" % c).read().rsplit(") ")[1][0]])
            s.process.poll = lambda: None


def fuzz(rounds=300, seed=None):
    """Random bytes, damaged requests and frames: the server goes on."""
    rng = random.Random(seed if seed is not None else 17)
    with Server("--allow-control") as s:
        auth = "Authorization: Bearer %s\r\n" % s.token
        seeds = [("GET / HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % auth).encode(),
                 ("POST /api/v1/tasks HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 2\r\n\r\n{}" % auth).encode(),
                 ("GET /api/v1/show?rec=a&b=%%41 HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % auth).encode(),
                 ("GET /api/v1/trace HTTP/1.1\r\nHost: localhost\r\n%s%s\r\n" % (auth, "".join(
                     "%s: %s\r\n" % (k.replace("_", "-"), v) for k, v in UPGRADE.items()))).encode()]
        for i in range(rounds):
            data = bytearray(rng.choice(seeds) * rng.choice((1, 1, 2, 5)) + rng.randbytes(rng.randrange(200)))
            for _ in range(rng.choice((0, 1, 1, 3, 20))):
                at = rng.randrange(len(data))
                data[at:at + rng.randrange(4)] = rng.choice((b"", rng.randbytes(3), b"\r\n", b"\x00", b"%",
                                                            data[:rng.randrange(60)]))
            if rng.random() < 0.1:
                data = rng.randbytes(rng.randrange(3000))
            with s.connect() as c:
                c.settimeout(0.02)
                try:
                    for part in range(0, len(data), 1 + rng.randrange(500)):
                        c.sendall(data[part:part + 500])
                    c.recv(1000)
                    c.sendall(rng.randbytes(rng.randrange(50)))
                except OSError:
                    pass
            if i % 20 == 0:
                assert s.ask("/")[0] == 200, i
        assert s.ask("/")[0] == 200


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[3].isdigit():
        fuzz(*[int(a) for a in sys.argv[3:]])
    else:
        sys.exit(beside.run(globals(), __file__, BUILDBEAT, sys.argv[2:]))
