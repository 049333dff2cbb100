# SPDX-License-Identifier: MIT
"""The commands ps, stats and mmaps on real processes, compared with /proc read here.

inspect_live.py BUILDBEAT ps|stats|mmaps|capabilities|follow exits with an AssertionError, or in
silence
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from waiting import until

BUILDBEAT, WHAT = os.path.abspath(sys.argv[1]), sys.argv[2]
TICK = os.sysconf("SC_CLK_TCK")
PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


def run(*arguments, status=0):
    done = subprocess.run([BUILDBEAT, *map(str, arguments)], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    assert done.returncode == status, (arguments, done)
    return done.stdout if status == 0 else done.stderr


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read().decode(errors="replace")
    except OSError:
        return ""


def stat(pid):
    """The fields of /proc/PID/stat from the state on."""
    text = read(f"/proc/{pid}/stat")
    return text.rpartition(")")[2].split() if text else None


def processes():
    return {int(name): stat(name) for name in os.listdir("/proc") if name.isdigit()}


def descendants(root):
    every = {pid: fields for pid, fields in processes().items() if fields}
    found = {root}
    while True:
        more = {pid for pid, fields in every.items() if int(fields[1]) in found} - found
        if not more:
            return found
        found |= more


def near(value, expected, share=0.1, slack=1024):
    assert abs(value - expected) <= expected * share + slack, (value, expected)


# The build whose processes are listed

MAKEFILE = """
all: threads shell sleep
threads:
\t@exec python3 -B -c "$$THREADS"
shell:
\t@sh -c 'sleep 1000 & sleep 1000; :'
sleep:
\t@sleep 1000
"""
THREADS = """
import threading
for _ in range(4):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
kept = bytearray(b"1") * (30 << 20)
open("ready", "w").close()
while True:
    pass
"""


def start_build(directory):
    with open(f"{directory}/Makefile", "w") as makefile:
        makefile.write(MAKEFILE)
    build = subprocess.Popen([BUILDBEAT, "record", "--no-git", "-o", "stats", "--", "make", "-j3"],
                             cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, start_new_session=True,
                             env=dict(os.environ, THREADS=THREADS, MAKEFLAGS="", TMPDIR=directory))

    def make():
        ours = os.stat(BUILDBEAT).st_ino
        for pid, fields in processes().items():
            if fields and int(fields[1]) == build.pid and os.stat(f"/proc/{pid}/exe").st_ino != ours:
                return pid
        return None

    # make, the Python, a shell with two children, and the other task
    pid = until("make runs", make)
    until("all tasks run", lambda: os.path.exists(f"{directory}/ready") and len(descendants(pid)) == 6)
    return build, pid


def check_process(p, before):
    pid, fields = p["pid"], stat(p["pid"])
    assert p["program"] == read(f"/proc/{pid}/comm")[:-1]
    assert p["parent"] == int(fields[1])
    assert p["threads"] == int(fields[17])
    assert p["start_ticks"] == int(fields[19])
    if p["program"] == "sleep":
        assert (p["wait_channel"] or "0") == read(f"/proc/{pid}/wchan")
        io = dict(line.split(": ") for line in read(f"/proc/{pid}/io").splitlines())
        assert not io or (p["read_kb"], p["written_kb"]) == (int(io["read_bytes"]) // 1024,
                                                             int(io["write_bytes"]) // 1024)
    assert p["command"] == read(f"/proc/{pid}/cmdline").rstrip("\0").replace("\0", " ")
    near(p["rss_kb"], int(read(f"/proc/{pid}/statm").split()[1]) * PAGE_KB)
    pss = re.search(r"^Pss: *(\d+)", read(f"/proc/{pid}/smaps_rollup"), re.M)
    near(p["pss_kb"], int(pss[1]), share=0.3)
    ticks = [int(f[11]) + int(f[12]) for f in (before[pid], fields)]
    assert ticks[0] <= p["cpu_ticks"] <= ticks[1]
    assert 0 <= p["cpu_percent"] <= 100 * p["threads"]
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - p["start_ticks"] / TICK
    assert 0 <= p["age_us"] / 1e6 <= age + 0.1


def check_ps(directory):
    build, make = start_build(directory)
    try:
        before = {pid: stat(pid) for pid in descendants(make)}
        shown = json.loads(run("ps", "--json", "--pss", f"{directory}/stats"))
        assert shown["tool"] == "make"
        listed = {p["pid"]: p for p in shown["processes"]}
        assert set(listed) == set(before), (listed, before)
        for p in listed.values():
            check_process(p, before)
        tasks = sorted((p["program"], p["task"]) for p in listed.values())
        assert tasks == [("make", None), ("python3", "threads"), ("sh", "shell"),
                         ("sleep", "shell"), ("sleep", "shell"), ("sleep", "sleep")], tasks
        python = next(p for p in listed.values() if p["program"] == "python3")
        assert python["threads"] == 5 and python["rss_kb"] > 30 << 10
        assert shown["processes"][0] == python

        stats = ["-d", f"{directory}/stats"]
        for key, order in {"rss": "rss_kb", "cpu": "cpu_ticks", "threads": "threads",
                           "age": "age_us", "pid": "pid", "program": "program"}.items():
            rows = json.loads(run("ps", *stats, "--json", "--sort", key))["processes"]
            values = [p[order] for p in rows]
            if key != "cpu":
                assert values == sorted(values, reverse=key not in ("pid", "program")), key
        rows = json.loads(run("ps", *stats, "-j", "-s", "task"))["processes"]
        assert [p["task"] for p in rows] == ["shell"] * 3 + ["sleep", "threads", None]

        rows = json.loads(run("ps", *stats, "-j", "--match", "^sl.*p$"))["processes"]
        assert [p["program"] for p in rows] == ["sleep"] * 3
        lines = run("ps", *stats, "--count", 2, "--interval", "20ms", "--json").splitlines()
        assert [len(json.loads(line)["processes"]) for line in lines] == [6, 6]
        text = run("ps", *stats)
        assert {int(line.split()[0]) for line in text.splitlines()[1:-1]} == set(listed)
        assert text.splitlines()[-1].startswith("6 processes, ")

        every = {p["pid"]: p["task"] for p in
                 json.loads(run("ps", "--all", "--json", f"{directory}/stats"))["processes"]}
        assert {os.getpid(), build.pid, make} <= set(every)
        assert every[python["pid"]] == "threads" and every[os.getpid()] is None

        assert "'--match': '(' is not a regular expression" in run("ps", "--match", "(", status=2)
        run("ps", "--sort", "size", status=2)
        run("ps", "--interval", "1us", status=2)
        run("ps", f"{directory}/Makefile", status=2)
    finally:
        os.killpg(build.pid, signal.SIGKILL)
        os.kill(make, signal.SIGKILL)
        build.communicate()
        for pid in before:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    ended = lambda: subprocess.run([BUILDBEAT, "ps", f"{directory}/stats"],
                                   capture_output=True).returncode == 2
    until("the build ends", ended)
    assert "the build has ended" in run("ps", f"{directory}/stats", status=2)


# Mappings

MEMORY = """
import mmap, time
one = mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
for at in range(0, 8 << 20, 1 << 14):
    one[at] = 1
open("ready", "w").close()
time.sleep(1000)
"""


def smaps(pid):
    """(start, end), permissions, offset, file, {key: KiB}"""
    found = []
    for line in read(f"/proc/{pid}/smaps").split("\n")[:-1]:
        head = re.match(r"([0-9a-f]+)-([0-9a-f]+) (....) ([0-9a-f]+) \S+ \d+ *(.*)$", line)
        if head:
            found.append((int(head[1], 16), int(head[2], 16), head[3], int(head[4], 16), head[5], {}))
        elif line.endswith(" kB"):
            key, value = line.split(":")
            found[-1][5][key.lower()] = int(value.split()[0])
    return found


def check_mappings(pid):
    shown = json.loads(run("inspect", "maps", pid, "--json"))
    expected = smaps(pid)
    assert len(shown["mappings"]) == len(expected)
    for m, (start, end, permissions, offset, file, values) in zip(shown["mappings"], expected):
        assert (int(m["start"], 16), int(m["end"], 16)) == (start, end)
        assert (m["permissions"], m["offset_bytes"], m["file"]) == (permissions, offset, file)
        for key in "size", "rss", "anonymous", "swap":
            assert m[key + "_kb"] == values[key], (m, values)
    for key in "rss_kb", "private_dirty_kb", "pss_kb":
        assert shown["total"][key] == sum(m[key] for m in shown["mappings"])
    return expected


def check_choices(pid, expected):
    code = json.loads(run("inspect", "maps", pid, "-j", "--permissions", "x"))["mappings"]
    assert [int(m["start"], 16) for m in code] == [m[0] for m in expected if "x" in m[2]]
    files = json.loads(run("inspect", "maps", pid, "-j", "--file", "^/.*libc"))["mappings"]
    assert [m["file"] for m in files] == [m[4] for m in expected if re.match("/.*libc", m[4])]
    start, _, permissions, offset, file, _ = next(m for m in expected if "x" in m[2] and m[4][0] == "/")
    text = run("inspect", "maps", pid, "--address", f"{start + 291:x}")
    assert f"0x123 bytes into the mapping, 0x{offset + 291:x} bytes into the file" in text
    assert text.rstrip().endswith(f"1 of {len(expected)} mappings") and file in text
    lines = run("inspect", "maps", pid).splitlines()
    assert len(lines) == len(expected) + 2 and lines[0].split()[0] == "address"


def check_pages(pid, expected):
    resident = [(int(r["start"], 16), int(r["end"], 16)) for r in
                json.loads(run("inspect", "maps", pid, "-j", "--pages"))["resident"]]
    page = 1024 * PAGE_KB
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for start, end, _, _, _, values in expected:
            if values["size"] != 8 << 10:
                continue
            entries = os.pread(pagemap.fileno(), (end - start) // page * 8, start // page * 8)
            pages = {start + i * page for i in range(len(entries) // 8) if entries[8 * i + 7] & 0x80}
            ours = {at for a, b in resident for at in range(a, b, page) if start <= at < end}
            assert ours == pages and len(pages) >= 512
            return
    raise AssertionError("no mapping of 8 MiB")


def check_mmaps(directory):
    subject = subprocess.Popen(["python3", "-c", MEMORY], cwd=directory)
    try:
        until("the memory is there", lambda: os.path.exists(f"{directory}/ready"))
        until("it sleeps", lambda: stat(subject.pid)[0] == "S")
        expected = check_mappings(subject.pid)
        check_choices(subject.pid, expected)
        check_pages(subject.pid, expected)
        assert "'--permissions'" in run("inspect", "maps", subject.pid, "--permissions", "(", status=2)
        assert "'--address'" in run("inspect", "maps", subject.pid, "--address", "xyz", status=2)
        assert "needs an archive" in run("inspect", "maps", subject.pid, "--snapshot", 1, status=2)
        archive = f"{directory}/archive"
        run("inspect", "run", "--pid", subject.pid, "--count", 2, "--interval", "50ms", "--pages", "-o", archive)
        of_archive = json.loads(run("inspect", "maps", archive, "-j"))["mappings"]
        assert [int(m["start"], 16) for m in of_archive] == [m[0] for m in expected]
        assert "ranges" in run("inspect", "maps", archive, "--pages", "--snapshot", 1)
        assert "no snapshot 3: the inspection has 2" in run("inspect", "maps", archive, "--snapshot", 3, status=2)
        if os.geteuid():
            assert "root can" in run("inspect", "maps", 1, status=2)
    finally:
        subject.kill()
        subject.wait()
    assert f"there is no process {subject.pid}" in run("inspect", "maps", subject.pid, status=2)


# The machine, and the history of a process

BUSY = """
import threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
kept = []
open("ready", "w").close()
while len(kept) < 1 << 30:
    kept.append(bytearray(1 << 12) if len(kept) < 4000 else None)
    kept = kept if len(kept) < 5000 else kept[:4000]
"""


def meminfo():
    return {line.split(":")[0]: int(line.split()[1]) for line in
            read("/proc/meminfo").splitlines()}


def cpu_ticks():
    return {line.split()[0]: [int(n) for n in line.split()[1:9]] for line in
            read("/proc/stat").splitlines() if line.startswith("cpu")}


def check_machine():
    lines = run("inspect", "stats", "--json", "--count", 3, "--interval", "600ms").splitlines()
    machines = [json.loads(line) for line in lines]
    assert len(machines) == 3
    online = [int(name[3:]) for name in cpu_ticks() if name != "cpu"]
    for m in machines:
        assert [c["cpu"] for c in m["cpus"]] == [None] + online
        assert m["elapsed_us"] >= 490000
        for c in m["cpus"]:
            shares = [c[key] for key in c if key != "cpu"]
            assert all(0 <= share <= 100 for share in shares)
            assert sum(shares) == 0 or 99 <= sum(shares) <= 100.1, c
        memory = m["memory"]
        parts = sum(memory[key + "_kb"] for key in ("free", "cache", "anonymous", "kernel"))
        assert parts == memory["total_kb"] == meminfo()["MemTotal"]
        near(memory["free_kb"], meminfo()["MemFree"], slack=1 << 20)
        assert all(0 <= share <= 100 for share in m["pressure"].values())
        assert m["load"] >= 0 and m["running_threads"] >= 1
    # readings are half a second apart
    start = time.monotonic()
    lines = run("inspect", "stats", "-j", "--count", 5, "-i", "10ms").splitlines()
    readings = {json.dumps(json.loads(line)["cpus"]) for line in lines}
    assert len(readings) <= (time.monotonic() - start) / 0.5
    text = run("inspect", "stats", "--count", 1)
    assert re.search(r"^CPU +user", text, re.M) and re.search(r"^memory .* free .* kernel ", text, re.M)


HOSTILE = """
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, bytes.fromhex(sys.argv[1]), 0, 0, 0)
open("ready", "w").close()
time.sleep(1000)
"""


def check_hostile_name(directory, name, shown):
    """Names of programs are bytes that reach a terminal as text only."""
    os.unlink(f"{directory}/ready")
    subject = subprocess.Popen(["python3", "-c", HOSTILE, name.hex()], cwd=directory)
    try:
        until("it has its name", lambda: os.path.exists(f"{directory}/ready"))
        assert run("inspect", "stats", "-p", subject.pid, "--count", 1).startswith(
            f"process {subject.pid} ({shown}), 2 samples\n")
        rows = [line for line in run("ps", "--all").splitlines()
                if line.split()[0] == str(subject.pid)]
        assert len(rows) == 1 and all(c.isprintable() for c in rows[0]), rows
        archive = f"{directory}/hostile-{subject.pid}"
        run("inspect", "run", "-p", subject.pid, "--count", 1, "-o", archive)
        assert run("inspect", "show", archive).startswith(shown + " had ")
    finally:
        subject.kill()
        subject.wait()


def check_stats(directory):
    check_machine()
    subject = subprocess.Popen(["python3", "-c", BUSY], cwd=directory)
    try:
        until("it runs", lambda: os.path.exists(f"{directory}/ready"))
        before = stat(subject.pid)
        lines = run("inspect", "stats", "--pid", subject.pid, "-j", "--count", 130, "-i", "10ms").splitlines()
        after = stat(subject.pid)
        last = json.loads(lines[-1])
        samples = last["samples"]
        assert len(lines) == 130 and len(samples) == 120 and last["pid"] == subject.pid
        assert [len(json.loads(line)["samples"]) for line in lines[:3]] == [2, 3, 4]
        first = json.loads(lines[0])["samples"][0]
        assert first["cpu_percent"] is None and first["minor_faults"] is None
        ages = [s["age_us"] for s in samples]
        assert ages == sorted(ages, reverse=True) and ages[-1] == 0
        assert all(s["threads"] == 2 for s in samples)
        near(samples[-1]["rss_kb"], int(read(f"/proc/{subject.pid}/statm").split()[1]) * PAGE_KB,
             slack=20 << 10)
        assert sum(s["minor_faults"] for s in samples) <= int(after[7]) - int(before[7])
        ticks = sum(int(after[i]) - int(before[i]) for i in (11, 12))
        used = sum(s["cpu_percent"] / 100 * (older["age_us"] - s["age_us"]) / 1e6
                   for older, s in zip(samples, samples[1:]))
        assert used <= ticks / TICK + 0.05, (used, ticks)
        text = run("inspect", "stats", "--pid", subject.pid, "--count", 1)
        assert f"process {subject.pid} (python3), 2 samples" in text
        for head in "CPU", "RSS", "threads", "faults", "read", "written":
            assert re.search(f"^{head} ", text, re.M), head
    finally:
        subject.kill()
        subject.wait()
    assert f"there is no process {subject.pid}" in run("inspect", "stats", "-p", subject.pid, status=2)
    subject = subprocess.Popen(["sleep", "0.3"])
    ended = subprocess.Popen([BUILDBEAT, "inspect", "stats", "-p", str(subject.pid), "-i", "50ms"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    subject.wait()
    assert "has ended" in ended.communicate()[1] or ended.returncode == 2
    check_hostile_name(directory, b"a\nb) R 1 2", r"a\nb) R 1 2")
    check_hostile_name(directory, b"\x1b[31mred\x1b]0;", r"\x1b[31mred\x1b]0;")
    check_hostile_name(directory, b"\xff\xfe\xc3(", r"\xff\xfe\xc3(")


# Rights

def check_capabilities(directory):
    build, make = start_build(directory)
    try:
        shown = json.loads(subprocess.run([BUILDBEAT, "inspect", "capabilities", "--json"],
                                          cwd=f"{directory}/", capture_output=True, check=True,
                                          env=dict(os.environ, HOME=directory)).stdout)
        rights = shown["rights"]
        assert rights["own_processes"]["can"] and rights["pages"]["can"]
        assert rights["own_processes"]["why_not"] is None
        others = [pid for pid in processes() if pid == 1]
        if os.geteuid() and others and os.stat("/proc/1").st_uid != os.geteuid():
            assert not rights["other_processes"]["can"] and rights["other_processes"]["why_not"]
            assert shown["inspectable_processes"] < shown["processes"]
        assert 0 < shown["inspectable_processes"] <= shown["processes"]
        assert shown["archives"] == 0
        text = run("inspect", "capabilities")
        assert len(text.splitlines()) >= len(rights) + 1
        # the recordings here
        os.rename(f"{directory}/stats", f"{directory}/buildstats")
        builds = json.loads(subprocess.run([BUILDBEAT, "inspect", "capabilities", "-j"], check=True,
                                           cwd=directory, capture_output=True).stdout)["builds"]
        assert [(b["tool"], b["pid"]) for b in builds] == [("make", build.pid)], builds
        check_choice_of_process(directory)
    finally:
        os.killpg(build.pid, signal.SIGKILL)
        build.communicate()


def check_choice_of_process(directory):
    """The heaviest process is the Python with 30 MiB, of the task threads."""
    for name, choice in ("heaviest", ["--heaviest"]), ("task", ["--task", "threads"]):
        subprocess.run([BUILDBEAT, "inspect", "run", *choice, "--count", "1", "-o", name], check=True,
                       cwd=directory, capture_output=True)
        shown = json.loads(run("inspect", "show", f"{directory}/{name}", "--json"))
        assert re.match("python3", shown["process"]["program"]), shown["process"]
        assert stat(shown["process"]["pid"])[0] == "R" and shown["process"]["task"]
        assert len(shown["snapshots"]) == 1 and shown["snapshots"][0]["rss_kb"] >= 30 << 10


def check_follow(directory):
    """Every process of a name, also one that starts later, has its own archive."""
    program = shutil.copy(shutil.which("sleep"), f"{directory}/slumber")
    sleepers = [subprocess.Popen([program, "1000"])]
    follow = subprocess.Popen([BUILDBEAT, "inspect", "run", "--every", "slumber", "-o", "followed"],
                              cwd=directory, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def inspected():
        return {a["pid"] for a in json.loads(run("inspect", "list", "--json", f"{directory}/followed"))
                if a["program"] == "slumber"}

    try:
        until("the first is inspected", lambda: os.path.exists(f"{directory}/followed") and inspected() == {sleepers[0].pid})
        sleepers.append(subprocess.Popen([program, "1000"]))
        until("the second is inspected", lambda: inspected() == {s.pid for s in sleepers})
        sleepers[0].kill()
        sleepers[0].wait()
    finally:
        follow.send_signal(signal.SIGINT)
        messages = follow.communicate()[1]
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
    assert follow.returncode == 0 and "2 archives; see: buildbeat inspect list followed" in messages
    archives = json.loads(run("inspect", "list", "--json", f"{directory}/followed"))
    assert len(archives) == 2 and all(a["end"] and a["snapshots"] >= 1 for a in archives), archives


def main():
    directory = tempfile.mkdtemp(prefix="buildbeat-test-")
    os.environ["XDG_RUNTIME_DIR"] = directory
    try:
        globals()["check_" + WHAT](directory)
    finally:
        shutil.rmtree(directory)


main()
