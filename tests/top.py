# SPDX-License-Identifier: MIT
"""Scenarios of `buildbeat top` on a terminal: top.py BUILD_DIR SCENARIO. A small terminal emulator shows
what a user sees. Exit status 77: the machine cannot run it."""
import fcntl, os, pty, re, select, shutil, signal, struct, subprocess, sys, tempfile, termios, time
import unicodedata

import beside

BUILD = os.path.abspath(sys.argv[1])
BUILDBEAT = BUILD + "/buildbeat"
DEADLINE_S = 600


class Screen:
    """Enough of vt100 and xterm: what ncurses sends for these terminals."""

    def __init__(self, rows, columns):
        self.resize(rows, columns)
        self.pending, self.bold, self.colours, self.obeyed = "", 0, 0, []

    def resize(self, rows, columns):
        self.rows, self.columns, self.y, self.x = rows, columns, 0, 0
        self.top, self.bottom = 0, rows
        self.cell = [[" "] * columns for _ in range(rows)]

    def text(self):
        return "\n".join("".join(row).rstrip() for row in self.cell)

    def put(self, char):
        width = 0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if self.x + width > self.columns:
            self.x, self.y = 0, min(self.y + 1, self.rows - 1)
        if width:
            self.cell[self.y][self.x] = char
            if width == 2:
                self.cell[self.y][self.x + 1] = ""
            self.x += width
        else:
            self.cell[self.y][self.x - 1] += char

    def scroll(self, by):
        for _ in range(abs(by)):
            if by > 0:
                del self.cell[self.top]
                self.cell.insert(self.bottom - 1, [" "] * self.columns)
            else:
                del self.cell[self.bottom - 1]
                self.cell.insert(self.top, [" "] * self.columns)

    def escape(self, private, args, letter):
        n = [int(a) if a else 0 for a in re.split("[;:]", args)] if args else [0]
        one = max(1, n[0])
        if letter in "Hf":
            self.y, self.x = one - 1, (max(1, n[1]) if len(n) > 1 else 1) - 1
        elif letter == "J":
            if n[0] == 2:
                self.cell = [[" "] * self.columns for _ in range(self.rows)]
            else:
                self.cell[self.y][self.x:] = [" "] * (self.columns - self.x)
                for y in range(self.y + 1, self.rows):
                    self.cell[y] = [" "] * self.columns
        elif letter == "K":
            if n[0] == 1:
                self.cell[self.y][:self.x + 1] = [" "] * (self.x + 1)
            else:
                self.cell[self.y][self.x:] = [" "] * (self.columns - self.x)
        elif letter == "X":
            self.cell[self.y][self.x:self.x + one] = [" "] * min(one, self.columns - self.x)
        elif letter == "P":
            del self.cell[self.y][self.x:self.x + one]
            self.cell[self.y] += [" "] * (self.columns - len(self.cell[self.y]))
        elif letter == "@":
            self.cell[self.y][self.x:self.x] = [" "] * one
            del self.cell[self.y][self.columns:]
        elif letter == "b":
            char = self.cell[self.y][self.x - 1]
            for _ in range(one):
                self.put(char)
        elif letter in "ABCDGd":
            if letter == "A": self.y -= one
            elif letter == "B": self.y += one
            elif letter == "C": self.x += one
            elif letter == "D": self.x -= one
            elif letter == "G": self.x = one - 1
            else: self.y = one - 1
        elif letter == "r":
            self.top, self.bottom = one - 1, n[1] if len(n) > 1 and n[1] else self.rows
        elif letter in "LM":
            top, self.top = self.top, self.y
            self.scroll(one if letter == "M" else -one)
            self.top = top
        elif letter in "ST":
            self.scroll(one if letter == "S" else -one)
        elif letter == "m":
            self.colours += any(30 <= a < 50 and a not in (39, 49) for a in n)
        elif letter not in "hlt":
            self.obeyed.append(private + args + letter)
        self.y, self.x = min(max(self.y, 0), self.rows - 1), min(max(self.x, 0), self.columns)

    def feed(self, data):
        text = self.pending + data
        self.pending = ""
        at = 0
        while at < len(text):
            char = text[at]
            if char == "\x1b":
                m = re.compile(r"\x1b(?:\[([?>]?)([0-9;:]*)([A-Za-z@])|[()*+].|[=>78]|(M))").match(text, at)
                if not m:
                    if len(text) - at < 32 and not re.match(r"\x1b[\]PX^_]", text[at:]):
                        self.pending = text[at:]
                        return
                    self.obeyed.append(repr(text[at:at + 8]))
                    at += 1
                    continue
                if m.group(3):
                    self.escape(m.group(1), m.group(2), m.group(3))
                elif m.group(4):
                    if self.y == self.top:
                        self.scroll(-1)
                    else:
                        self.y -= 1
                at = m.end()
                continue
            if char == "\r":
                self.x = 0
            elif char == "\n":
                if self.y == self.bottom - 1:
                    self.scroll(1)
                else:
                    self.y += 1
            elif char == "\b":
                self.x = max(0, self.x - 1)
            elif char == "\t":
                self.x = min(self.columns - 1, (self.x // 8 + 1) * 8)
            elif char >= " ":
                self.put(char)
            elif char not in "\x0e\x0f\x07\0":
                self.obeyed.append(repr(char))
            at += 1


class Top:
    """The program on a terminal of its own."""

    def __init__(self, *args, rows=24, columns=80, term="xterm", **environment):
        self.screen = Screen(rows, columns)
        self.data = b""
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LINES", "COLUMNS", "MAKEFLAGS")}
        env.update(TERM=term, LC_ALL="C.UTF-8", **environment)
        self.pid, self.fd = pty.fork()
        if not self.pid:
            self.size(0, rows, columns)
            os.execve(BUILDBEAT, ["buildbeat", "top", *args], env)
        self.status = None

    @staticmethod
    def size(fd, rows, columns):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.look(0.1)
        self.screen.resize(rows, columns)
        self.size(self.fd, rows, columns)

    def look(self, wait=0.05):
        if self.status is not None or not select.select([self.fd], [], [], wait)[0]:
            return
        try:
            new = os.read(self.fd, 65536)
        except OSError:
            new = b""
        if not new:
            self.status = os.waitpid(self.pid, 0)[1]
            return
        self.data += new
        try:
            text = self.data.decode()
        except UnicodeDecodeError as e:
            if e.start < len(self.data) - 4:
                raise AssertionError("not UTF-8: %r" % self.data[e.start:e.start + 20])
            text = self.data[:e.start].decode()
        self.data = self.data[len(text.encode()):]
        self.screen.feed(text)

    def until(self, what, gone=False):
        end = time.monotonic() + DEADLINE_S
        while time.monotonic() < end:
            self.look()
            if bool(re.search(what, self.screen.text(), re.M)) != gone:
                return
            if self.status is not None:
                break
        raise AssertionError("%s%r, status %s:\n%s" % ("still " if gone else "no ", what, self.status,
                                                       self.screen.text()))

    def keys(self, text):
        os.write(self.fd, text.encode())

    def end(self, key="q"):
        if key:
            self.keys(key)
        end = time.monotonic() + DEADLINE_S
        while self.status is None and time.monotonic() < end:
            self.look()
        assert self.status == 0, "ended with %s:\n%s" % (self.status, self.screen.text())
        assert not self.screen.obeyed, self.screen.obeyed


class Build:
    """A recorded build that goes on until its files are made."""

    def __init__(self, makefile, jobs=3, options=()):
        self.dir = tempfile.mkdtemp()
        with open(self.dir + "/Makefile", "w") as f:
            f.write(makefile)
        self.rec = self.dir + "/stats/r"
        self.process = self.record("r", jobs, options)
        end = time.monotonic() + DEADLINE_S
        while not os.path.exists(self.rec + "/tasks.log"):
            assert time.monotonic() < end and self.process.poll() is None, "no recording"
            time.sleep(0.02)

    def record(self, name, jobs, options=()):
        return subprocess.Popen([BUILDBEAT, "record", *options, "-o", "stats", "-n", name, "--", "make", "-k", "-j%d" % jobs],
                                cwd=self.dir, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, start_new_session=True)

    def go(self, name="go"):
        open(self.dir + "/" + name, "w").close()

    def wait(self):
        return self.process.wait(DEADLINE_S)

    def close(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


WAITS = """all: quick slow other bad
quick: ; @true
slow: ; @while ! test -e go; do sleep 0.1; done
other: ; @sh -c 'while ! test -e go; do sleep 0.1; done'
bad: quick ; @exit 3
"""


def running():
    b = Build(WAITS, options=["--log"])
    try:
        t = Top(b.rec)
        t.until(r"^make -k -j3$")
        t.until(r"^Running(, with failures,)? for \d")
        t.until(r"^exit status 3: bad$")
        t.until(r"make: \*\*\* .*bad\] Error 3")
        t.until(r"^Tasks: 1 failed, 2 running, 1 done")
        t.until(r"^no earlier build to predict from")
        t.until(r"Mem\[")
        t.until(r"PID S  CPU%.*Task +Command")
        t.until(r"\d+ [SR] .* slow +`-")
        t.keys("?")
        t.until(r"^Keys$")
        t.keys("x")
        t.until(r"^Keys$", gone=True)
        t.keys("\\other\n")
        t.until(r"[SR] .* slow ", gone=True)
        t.until(r"[SR] .* other ")
        t.keys("\\\x1b")
        t.until(r"[SR] .* slow ")
        t.keys("tH")
        t.until(r"`-", gone=True)
        t.until(r"Thr")
        t.keys("M")
        t.until(r"^Sorted by memory")
        t.keys(">")
        t.until(r"^Sorted by faults")
        t.until(r"Time +faults +Thr Task")
        t.until(r"s +[1-9][0-9]* +1 slow ")
        t.keys("k")
        t.until(r"--allow-control")
        t.keys("/nothing\n")
        t.keys("K")
        t.until(r"PID S")
        t.keys("K")
        b.go()
        assert b.wait() == 2
        t.until(r"^Failed after .*exit status 2")
        t.until(r"^Tasks: 1 failed, 0 unfinished, 3 done")
        t.end()
        once = subprocess.run([BUILDBEAT, "top", "--once", b.rec], stdout=subprocess.PIPE, check=True).stdout.decode()
        assert "Failed after" in once and "exit status 3: bad" in once, once
        assert "\x1b" not in once and "\x07" not in once, repr(once)
    finally:
        b.close()


def moves():
    """Arrows, other keys and the mouse: which process F9 would end says which one is selected."""
    b = Build("all: a b c d\na b c d: ; @while ! test -e go; do sleep 0.3; done\n", jobs=4)
    try:
        t = Top("--allow-control", b.rec, rows=40)
        t.keys("tN")
        rows = []

        def listed():
            rows[:] = [(y, int(m.group(1))) for y, line in enumerate(t.screen.text().split("\n"))
                       if (m := re.match(r" *(\d+) [SRDZ] ", line))]
            return rows

        t.keys("\\while\n")
        end = time.monotonic() + DEADLINE_S
        while len(listed()) != 4 or re.search(r"^ *\d+ [SRDZ] .* (make|sleep)", t.screen.text(), re.M):
            assert time.monotonic() < end, t.screen.text()
            t.look()

        def selected(keys, n):
            t.keys(keys + "\x1b[20~")
            t.until(r"Send SIGTERM to process %d\?" % rows[n][1])
            t.keys("n")
            t.until(r"Send SIGTERM", gone=True)

        down, up, page_down, page_up, home, end_key = "\x1bOB", "\x1bOA", "\x1b[6~", "\x1b[5~", "\x1bOH", "\x1bOF"
        selected(home, 0)
        selected(down, 1)
        selected(down + down, 3)
        selected(down + down, 3)
        selected(up, 2)
        selected(end_key, 3)
        selected(page_up, 0)
        selected(page_down, 3)
        click = "\x1b[<0;5;%dM\x1b[<0;5;%dm"
        selected(click % ((listed()[1][0] + 1,) * 2), 1)
        selected("\x1b[<65;5;%dM" % (listed()[1][0] + 1), 3)
        selected("\x1b[<64;5;%dM" % (listed()[1][0] + 1), 0)
        head = next(y for y, line in enumerate(t.screen.text().split("\n")) if re.search("PID S", line)) + 1
        t.keys(click % (head, head))
        t.until("^Sorted by task")
        t.keys("\x1b[17~")
        t.until("^Sorted by command")
        t.keys("\x1bOP")
        t.until("^Keys$")
        t.keys("x")
        b.go()
        assert b.wait() == 0
        t.until("^Finished")
        t.end("\x1b[21~")
    finally:
        b.close()


def small():
    """Sizes and terminals."""
    b = Build(WAITS)
    try:
        for rows, columns, term, env in [(12, 40, "xterm", {}), (24, 80, "vt100", {}), (50, 200, "xterm-256color", {}),
                                         (24, 80, "xterm", {"NO_COLOR": "1"}), (5, 20, "xterm", {})]:
            t = Top(b.rec, rows=rows, columns=columns, term=term, **env)
            t.until(r"^Running")
            if rows > 5:
                t.until(r"[SR] .*(slow|other)")
                t.until("Quit")
            assert all(len(line) <= columns for line in t.screen.text().split("\n"))
            assert bool(t.screen.colours) == (term != "vt100" and not env), (term, env)
            t.end()
        t = Top(b.rec)
        t.until(r"[SR] .* slow ")
        for rows, columns in [(12, 40), (60, 132), (3, 10), (1, 1), (24, 80)]:
            t.resize(rows, columns)
            if rows > 3:
                t.until("Running")
                t.until(r"Quit$")
            t.look(0.2)
        t.until(r"[SR] .* slow ")
        t.end()
    finally:
        b.close()


def control():
    """Processes end only with the option, and after the question."""
    b = Build(WAITS)
    try:
        t = Top("--allow-control", b.rec)
        t.until(r"[SR] .* slow ")
        t.keys("t\\sleep\n")
        t.until(r"[SR] .* sleep")
        t.keys("\\\x1b\\other\n")
        t.until(r"[SR] .* slow ", gone=True)
        t.keys("k")
        t.until(r"Send SIGTERM to process \d+\?")
        t.keys("n")
        t.until(r"Send SIGTERM", gone=True)
        t.until(r"[SR] .* other ")
        t.keys(" k")
        t.until(r"Send SIGTERM to 1 tagged")
        t.keys("y")
        t.until(r"^Tasks: 2 failed, 1 running")
        t.end()
    finally:
        b.close()


def killed():
    """A build whose processes are all killed, and a recording that is deleted."""
    b = Build(WAITS)
    try:
        t = Top(b.rec)
        t.until(r"[SR] .* slow ")
        os.killpg(b.process.pid, signal.SIGKILL)
        b.process.wait()
        t.until(r"^(Unfinished|Failed)")
        t.end()
    finally:
        b.close()
    b = Build(WAITS)
    try:
        t = Top(b.rec)
        t.until(r"[SR] .* slow ")
        shutil.rmtree(b.rec)
        t.until(r"^The recording was deleted")
        t.end()
    finally:
        b.close()


def hostile():
    """Names that terminals would obey, and wide ones."""
    b = Build("all: a\x1b[31m\x1b]0\x07b 日本語の長い名前のファイル e\u0301\n"
              "%: ; @while ! test -e go; do sleep 0.1; done\n")
    try:
        t = Top(b.rec)
        t.until(r"日本語\.\.\.名前のファイル  ")
        t.until(r"a\\x1b\[31m\\x1b")
        t.keys("/日本\n")
        t.look(0.3)
        t.end()
    finally:
        b.close()


def predicted():
    """A build with earlier recordings."""
    makefile = "all: a b c d\na b c d: ; @sleep 0.2; if test -e hold; then while ! test -e go; do sleep 0.1; done; fi\n"
    b = Build(makefile, jobs=1)
    try:
        assert b.wait() == 0
        for i in range(3):
            assert b.record("e%d" % i, 1).wait(DEADLINE_S) == 0
        b.go("hold")
        p = b.record("now", 1)
        try:
            end = time.monotonic() + DEADLINE_S
            while not os.path.exists(b.dir + "/stats/now/tasks.log") and time.monotonic() < end:
                time.sleep(0.02)
            t = Top(b.dir + "/stats/now")
            t.until(r"^about .* left \(.* to .*\), from 4 earlier builds$")
            t.until(r"\[#*\.*\] +\d+ %")
            once = subprocess.run([BUILDBEAT, "top", b.dir + "/stats/now"], stdout=subprocess.PIPE, check=True).stdout.decode()
            assert re.search(r"^about .* left \(.*\), from 4 earlier builds$", once, re.M), once
            b.go()
            assert p.wait(DEADLINE_S) == 0
            t.until(r"^Finished after ")
            t.end()
        finally:
            b.go()
            p.wait(DEADLINE_S)
    finally:
        b.close()


FAILS = """all: slow bad
slow: ; @while ! test -e go; do sleep 0.1; done
bad: ; @while ! test -e fail; do sleep 0.1; done; echo "bad.c:3:5: error: \\033]0;xwrong"; echo "    3 | int x"; for i in 1 2 3 4; do echo more; done; exit 3
"""


class Server:
    """buildbeat serve, of one user's own directory of servers."""

    def __init__(self, b, *options):
        self.process = subprocess.Popen([BUILDBEAT, "serve", *options, b.dir + "/stats"], stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, XDG_RUNTIME_DIR=b.dir))
        self.url = self.process.stdout.readline().strip()

    def end(self):
        self.process.kill()
        self.process.wait()


def first_error():
    """The message of a failed task, not the last lines of what it wrote."""
    b = Build(FAILS, options=["--log"])
    try:
        b.go("fail")
        t = Top(b.rec)
        t.until(r"^exit status 3: bad$")
        t.until(r"^  bad.c:3:5: error: .*wrong")
        t.until(r"^  +3 \| int x")
        t.until(r"[SR] .* slow ")
        t.end()
    finally:
        b.close()


def server():
    """The same screen from a server, which goes away and comes back."""
    b = Build(FAILS, options=["--log"])
    s = None
    try:
        s = Server(b)
        t = Top(s.url)
        t.until(r"^make -k -j3$")
        t.until(r"^Running for \d")
        t.until(r"^no earlier build to predict from")
        t.until(r"^Tasks: 0 failed, 2 running, 0 done")
        t.until(r"Mem\[ *\|*.* of [1-9]")
        t.until(r"\d+ [SR] .* slow +`-")
        t.keys("k")
        t.until(r"^Processes of a build at a server cannot be ended from here")
        t.keys("K")
        t.until(r"^Only the processes of the build are known of a server")
        t.keys("\\slow\n")
        t.until(r"[SR] .* bad ", gone=True)
        t.keys("\\\x1b")
        t.until(r"[SR] .* bad ")
        b.go("fail")
        t.until(r"^Running, with failures, for \d")
        t.until(r"^exit status 3: bad$")
        t.until(r"^  bad.c:3:5: error: .*wrong")
        t.until(r"^  +3 \| int x")
        s.end()
        t.until(r"^The server does not answer; this is what it said last")
        t.until(r"[SR] .* slow ")
        t.until(r"^exit status 3: bad$")
        port, token = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(\w+)", s.url).groups()
        s = Server(b, "--listen", "127.0.0.1:" + port)
        if s.url.endswith(token):
            t.until(r"^The server does not answer", gone=True)
        else:
            t.until(r"^the server refused: the token is wrong or missing")
        t.until(r"[SR] .* slow ")
        t.end()
        t = Top(s.url + "&rec=r")
        t.until(r"[SR] .* slow ")
        once = subprocess.run([BUILDBEAT, "top", "--once", s.url], stdout=subprocess.PIPE, check=True).stdout.decode()
        assert re.search("^Running, with failures", once, re.M) and "exit status 3: bad" in once, once
        assert re.search(r"^  bad.c:3:5: error: .*wrong", once, re.M) and "\x1b" not in once, once
        for url, words in [(s.url + "x", "the server refused: the token is wrong or missing"),
                           (s.url + "&rec=none", "the server refused: there is no such recording"),
                           ("http://127.0.0.1:1/", "cannot connect to 127.0.0.1:1: Connection refused"),
                           ("http://", "'http://' is no URL as `buildbeat serve` prints it")]:
            no = subprocess.run([BUILDBEAT, "top", url], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            assert (no.returncode, no.stdout) == (2, ""), no
            assert no.stderr == "buildbeat: top: %s\n" % words, no.stderr
        b.go()
        assert b.wait() == 2
        t.until(r"^Failed after .*exit status 2")
        t.until(r"^Tasks: 1 failed, 0 unfinished")
        t.until(r"^  bad.c:3:5: error: .*wrong")
        t.end()
    finally:
        if s:
            s.end()
        b.close()


def socket():
    """A server at a unix socket."""
    b = Build(WAITS)
    s = None
    try:
        s = Server(b, "--unix", b.dir + "/sock")
        t = Top(s.url)
        t.until(r"[SR] .* slow ")
        t.end()
    finally:
        if s:
            s.end()
        b.close()


if __name__ == "__main__":
    sys.exit(beside.run(globals(), __file__, sys.argv[1], sys.argv[2:]))
