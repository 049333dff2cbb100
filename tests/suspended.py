# SPDX-License-Identifier: MIT
# Suspends real builds and compares what is recorded with the time that was left out, and all outputs with each other:
#   suspended.py BUILDBEAT DIRECTORY
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import urllib.request

from serve_streams import Server

BUILDBEAT, DIRECTORY = sys.argv[1:]
MAKEFILE = """
all: ready work
ready: ; @echo ready
work: ; @python3 -S burn.py
"""
BURN = "import time\nwhile time.process_time() < .8: pass\n"
PAUSE = 4
INTERVAL = .1
problems = []
ENV = {k: v for k, v in os.environ.items() if k not in ("MAKEFILES", "MAKEFLAGS", "MAKELEVEL")}


def command(out):
    return [BUILDBEAT, "record", "--interval", str(int(INTERVAL * 1000)), "-o", out, "--", "make"]


def log_of(out):
    return os.path.join(out, "latest", "tasks.log")


def until(holds):
    end = time.monotonic() + 60
    while not holds():
        if time.monotonic() > end:
            sys.exit("it did not happen within a minute")
        time.sleep(.02)


def works(out):
    """The long task has begun."""
    try:
        return "burn.py" in open(log_of(out)).read()
    except FileNotFoundError:
        return False


def slices(out, *how):
    """Times of tasks and makes by their ids, of a trace."""
    path = os.path.join(out, "trace.json")
    subprocess.run([BUILDBEAT, "export", "--to", "chrome", *how, "-o", path, os.path.join(out, "latest")],
                   check=True, stdout=subprocess.DEVNULL)
    events = json.load(open(path))
    os.unlink(path)
    events = events["traceEvents"] if isinstance(events, dict) else events
    found, begun = set(), {}
    for e in events:
        begins = begun.setdefault((e.get("pid"), e.get("tid")), [])
        if e["ph"] == "B":
            begins.append(e)
        elif e["ph"] == "E":
            begin = begins.pop()
            found.add((begin.get("args", {}).get("id"), begin["ts"], e["ts"]))
        elif e["ph"] == "X" and e["pid"]:
            found.add((e["args"].get("id"), e["ts"], e["ts"] + e["dur"]))
    return found


def check(what, out, paused, alone=False):
    """paused: how long it was stopped, measured here. alone: the task ran on meanwhile."""
    text = subprocess.run([BUILDBEAT, "show", "--all", out], check=True, stdout=subprocess.PIPE).stdout.decode()
    show = json.loads(subprocess.run([BUILDBEAT, "show", "--json", out], check=True,
                                     stdout=subprocess.PIPE).stdout)
    lines = re.findall(r"^suspended: (\d+) (\d+)$", open(os.path.join(out, "latest", "build")).read(),
                       re.M)
    left_out = sum(int(b) - int(a) for a, b in lines) / 1e6
    raw = [int(x) for x in re.findall(r"^end_us: (\d+)", open(os.path.join(out, "latest", "build")).read(),
                                      re.M)][0] / 1e6

    def must(holds, *words):
        if not holds:
            problems.append("%s: %s" % (what, " ".join(map(str, words))))
    must(len(lines) == 1, len(lines), "times in build")
    must(paused - 2 * INTERVAL - .3 <= left_out <= paused + .3, "stopped", paused, "left out", left_out)
    wall = show["totals"]["wall_us"] / 1e6
    must(abs(wall - (raw - left_out)) < .001, "wall", wall, "of", raw, "without", left_out)
    work = max(t["end_us"] - t["start_us"] for t in show["path"]["tasks"]) / 1e6
    must((alone or .7 < work) and work <= wall, "the task took", work)
    must(show["dependencies"]["least_wall_us"] / 1e6 <= wall + .001, "bound", show["dependencies"])
    whole, live = slices(out), slices(out, "--follow")
    must(len(whole) > 2 and whole == live, "traces", whole, "live", live)
    must("was suspended for" in text, "show does not say it")
    must(any("suspended" in str(w) for w in show["warnings"]), show["warnings"])
    agree = subprocess.run([sys.executable, "-B", os.path.join(os.path.dirname(__file__), "agree.py"), BUILDBEAT,
                            DIRECTORY, os.path.realpath(os.path.join(out, "latest"))], stdout=subprocess.PIPE)
    must(not agree.returncode, agree.stdout.decode())
    must(all(s["to_us"] is None or s["to_us"] <= show["totals"]["wall_us"] for s in show["answer"]
             if "to_us" in s), show["answer"])


def wait_while_suspended(what, out):
    """Its elapsed time does not grow in any output."""
    with Server(os.path.realpath(os.path.join(out, "latest"))) as server:
        def get(path):
            request = urllib.request.Request("http://127.0.0.1:%s%s" % (server.port, path),
                                             headers={"Authorization": "Bearer " + server.token})
            with urllib.request.urlopen(request, timeout=60) as reply:
                return reply.read().decode()

        ask = lambda: json.loads(get("/api/v1/now"))

        def stands_still():
            first = ask()
            time.sleep(2 * INTERVAL)
            return first["suspended"] and first["elapsed_us"] == ask()["elapsed_us"]
        until(stands_still)	# the server may still read samples of before
        before = ask()
        time.sleep(PAUSE)	# the time that is measured
        after, chart = ask(), json.loads(get("/api/v1/chart").partition("\n")[0])
        seconds = re.search(r"^buildbeat_build_elapsed_seconds ([0-9.]+)$", get("/metrics"), re.M).group(1)
        times = [after["elapsed_us"], chart["elapsed_us"], round(float(seconds) * 1e6)]
        if set(times) != {before["elapsed_us"]} or not after["suspended"] or not chart["suspended"]:
            problems.append("%s: %s, and while it is suspended %s" % (what, before["elapsed_us"], times))


def by_signal(what, out, alone):
    """alone: only make is stopped, not its launcher."""
    build = subprocess.Popen(command(out), env=ENV, start_new_session=True, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    until(lambda: works(out))
    if alone:
        pid = int(re.search(r"^open\t\d+\t\w+\t(\d+)", open(log_of(out)).read(), re.M).group(1))
        send = lambda sig: os.kill(pid, sig)
    else:
        send = lambda sig: os.killpg(build.pid, sig)
    send(signal.SIGSTOP)
    begin = time.monotonic()
    wait_while_suspended(what, out)
    paused = time.monotonic() - begin
    send(signal.SIGCONT)
    if build.wait(60):
        problems.append("%s: exit status %d" % (what, build.returncode))
    check(what, out, paused, alone)


def by_key(what, out):
    """^Z and fg under bash with job control."""
    pid, terminal = pty.fork()
    if not pid:
        os.execvpe("bash", ["bash", "--norc", "-i"], dict(ENV, PS1="PROMPT>", HISTFILE=""))
    seen = b""

    def read_until(mark):
        nonlocal seen
        while mark not in seen:
            seen += os.read(terminal, 4096)
        seen = seen[seen.index(mark) + len(mark):]
    read_until(b"PROMPT>")
    os.write(terminal, " ".join(command(out)).encode() + b"\n")
    until(lambda: works(out))
    os.write(terminal, b"\x1a")
    read_until(b"Stopped")
    begin = time.monotonic()
    wait_while_suspended(what, out)
    paused = time.monotonic() - begin
    os.write(terminal, b"fg; echo status=$?; exit\n")
    read_until(b"status=0")
    os.close(terminal)
    os.waitpid(pid, 0)
    check(what, out, paused)


os.chdir(DIRECTORY)
for path, text in (("Makefile", MAKEFILE), ("burn.py", BURN)):
    with open(path, "w") as out:
        out.write(text)
by_signal("SIGSTOP to the group", "group", False)
by_key("^Z", "key")
by_signal("SIGSTOP to make alone", "alone", True)
for problem in problems:
    print(problem)
sys.exit(bool(problems))
