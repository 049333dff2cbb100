# SPDX-License-Identifier: MIT
"""The replies about processes, compared with the commands and with /proc as it is read here.

process_api.py BUILDBEAT ASK exits with an AssertionError, or in silence
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from waiting import until

BUILDBEAT, ASK = map(os.path.abspath, sys.argv[1:3])
SECRETS = {}
random.seed(17)


def secret():
    """Not a plain number or word, which are no secrets."""
    text = "S3" + "".join(random.choice("abcdefghjkmnpqrstuvwxyzABCDEFGH23456789") for _ in range(20))
    SECRETS[text] = True
    return text


class Asker:
    def __init__(self, path, *options):
        self.process = subprocess.Popen([ASK, *options, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def text(self, request, status=200):
        self.process.stdin.write(request.encode() + b"\n")
        self.process.stdin.flush()
        found, length = self.process.stdout.readline().split()
        body = self.process.stdout.read(int(length)).decode()
        assert int(found) == status, (request, found, body)
        assert not any(one in body for one in SECRETS), request
        return body

    def __call__(self, request, status=200):
        return json.loads(self.text(request, status))

    def end(self):
        self.process.stdin.close()
        assert self.process.wait() == 0
        self.process.stdout.close()


MAKEFILE = """
all: threads shell
threads:
\t@exec python3 -B -c "$$THREADS" --token $$SECRET_1 --name value
shell:
\t@sh -c 'PASSWORD="$$SECRET_2 and more" sleep 1000 & sleep 1000; :'
"""
THREADS = """
import threading, time
for _ in range(3):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
kept = open("kept", "w")
open("ready", "w").close()
while True:
    time.sleep(0.01)
"""
NAMES = ["DB_PASSWORD", "API_TOKEN", "AWS_SECRET_ACCESS_KEY", "MY_API_KEY", "npm_token", "GITHUB_TOKEN"]


def start_build(directory):
    with open(f"{directory}/Makefile", "w") as makefile:
        makefile.write(MAKEFILE)
    environment = dict(os.environ, THREADS=THREADS, MAKEFLAGS="", TMPDIR=directory,
                       SECRET_1=secret(), SECRET_2=secret(), PLAIN="two words\nand a line",
                       URL=f"https://user:{secret()}@host/path",
                       SSH_TOKEN_TEXT=f"{secret()} {secret()}\n{secret()}")
    environment.update({name: secret() for name in NAMES})
    build = subprocess.Popen([BUILDBEAT, "record", "--no-git", "-o", "stats", "--", "make", "-j3"],
                             cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, start_new_session=True, env=environment)
    until("the build runs", lambda: os.path.exists(f"{directory}/ready"))
    return build


def check_ps(ask, directory):
    rows = until("all processes", lambda: (lambda r: len(r) == 5 and r)(ask("/api/v1/ps")["processes"]))
    theirs = json.loads(subprocess.run([BUILDBEAT, "ps", "-j", "stats/latest"], cwd=directory,
                                       capture_output=True, text=True, check=True).stdout)["processes"]
    same = ["pid", "parent", "program", "start_ticks", "task", "task_id", "threads"]

    def figures(list_):
        return sorted(tuple(row[key] for key in same) for row in list_)

    until("the rows of ps --json", lambda: figures(ask("/api/v1/ps")["processes"]) == figures(theirs))
    ours = ask("/api/v1/ps")["processes"]
    assert set(ours[0]) == set(theirs[0])
    python = next(p for p in ours if p["program"].startswith("python3"))
    assert "--token ***" in python["command"] and "--name value" in python["command"]
    # twice at once: it is the same reading
    assert ask.text("/api/v1/ps") == ask.text("/api/v1/ps")
    every = {p["pid"]: p for p in ask("/api/v1/ps?all=1")["processes"]}
    assert os.getpid() in every and {p["pid"] for p in ours} <= set(every)
    assert every[os.getpid()]["command"] == ""
    assert every[python["pid"]]["command"] == python["command"]
    return python, ours


def check_process(ask, python, directory):
    where = f"/api/v1/process?pid={python['pid']}&start={python['start_ticks']}"
    found, proc = ask(where), f"/proc/{python['pid']}"
    assert found["processes"][0]["pid"] == python["pid"] and found["of_build"]
    assert found["cwd"] == os.readlink(f"{proc}/cwd") == directory
    assert found["exe"] == os.readlink(f"{proc}/exe")
    names = {v.split("=", 1)[0]: v.split("=", 1)[1] for v in found["environment"]}
    with open(f"{proc}/environ", "rb") as file:
        real = dict(v.split("=", 1) for v in file.read().decode().rstrip("\0").split("\0"))
    assert set(names) == set(real)
    assert names["PLAIN"] == real["PLAIN"] and names["PATH"] == real["PATH"]
    for name in NAMES + ["SSH_TOKEN_TEXT"]:
        assert names[name] == "***", (name, names[name])
    assert names["URL"] == "https://user:***@host/path", names["URL"]
    with open(f"{proc}/status") as file:
        status = dict(line.rstrip("\n").split(":", 1) for line in file)
    assert set(found["status"]) == set(status)
    assert found["status"]["Name"] == status["Name"].strip()
    with open(f"{proc}/limits") as file:
        limits = [line[:26].strip() for line in file][1:]
    assert [one["name"] for one in found["limits"]] == limits
    files = {one["fd"]: one["path"] for one in found["files"]}
    assert files == {int(fd): os.readlink(f"{proc}/fd/{fd}") for fd in os.listdir(f"{proc}/fd")}
    kept = next(one for one in found["files"] if one["path"] == f"{directory}/kept")
    assert kept["access"] == "write" and kept["position_bytes"] == 0
    assert [t["tid"] for t in found["thread_list"]] == sorted(map(int, os.listdir(f"{proc}/task")))
    waiting = found["thread_list"][-1]
    assert waiting["system_call"] == "futex" or waiting["system_call"] is None, waiting
    if os.geteuid() == 0 and os.access(f"{proc}/stack", os.R_OK):
        try:
            with open(f"{proc}/task/{waiting['tid']}/stack") as file:
                frames = [line.split("] ")[1].strip() for line in file]
            assert waiting["kernel_stack"] == frames, waiting
        except PermissionError:
            assert waiting["kernel_stack"] is None
    chain = [one["program"] for one in found["chain"]]
    assert chain[0] == "make" and found["chain"][-1]["pid"] == python["pid"], chain
    assert found["chain"][-1]["task"] == "threads"
    until("samples", lambda: len(ask(where)["samples"]) >= 3)
    samples = ask(where)["samples"]
    # many pages that watch do not make the two minutes of 120 samples shorter
    ages = [one["age_us"] for one in samples]
    assert all(before - after >= 900000 for before, after in zip(ages, ages[1:])), ages
    sample = samples[-1]
    assert sample["threads"] == 4 and sample["rss_kb"] > 1000, sample
    ask(f"/api/v1/process?pid={python['pid']}&start={python['start_ticks'] + 1}", 410)
    ask("/api/v1/process", 400)
    ask(f"/api/v1/process?pid={python['pid']}x", 400)


def check_maps(ask, python):
    where = f"?pid={python['pid']}&start={python['start_ticks']}"
    found = ask("/api/v1/maps" + where)
    theirs = json.loads(subprocess.run([BUILDBEAT, "inspect", "maps", "-j", str(python["pid"])],
                                       capture_output=True, text=True, check=True).stdout)
    assert [(m["start"], m["end"], m["file"]) for m in found["mappings"]] == \
        [(m["start"], m["end"], m["file"]) for m in theirs["mappings"]]
    assert set(found["mappings"][0]) == set(theirs["mappings"][0]) and set(found["total"]) == set(theirs["total"])
    pages = ask("/api/v1/maps" + where + "&pages=1")
    assert "resident" in pages or not os.access(f"/proc/{python['pid']}/pagemap", os.R_OK)


def check_foreign(ask, controlling):
    with open("/proc/self/stat") as file:
        start = file.read().rpartition(")")[2].split()[19]
    where = f"?pid={os.getpid()}&start={start}"
    for path in "/api/v1/process", "/api/v1/maps":
        assert "does not belong to the build" in ask(path + where, 403)["error"]
        controlling(path + where)
    assert not controlling("/api/v1/process" + where)["of_build"]
    every = {p["pid"]: p for p in controlling("/api/v1/ps?all=1")["processes"]}
    assert "process_api.py" in every[os.getpid()]["command"]


def check_machine(ask):
    first = ask("/api/v1/stats")
    time.sleep(0.6)
    second = ask("/api/v1/stats")
    theirs = json.loads(subprocess.run([BUILDBEAT, "inspect", "stats", "-j", "--count=1"], capture_output=True, text=True,
                                       check=True).stdout)
    assert set(first) == set(second) == set(theirs)
    assert second["memory"]["total_kb"] == theirs["memory"]["total_kb"]
    found = ask("/api/v1/capabilities")
    theirs = json.loads(subprocess.run([BUILDBEAT, "inspect", "capabilities", "-j"], capture_output=True,
                                       text=True, check=True).stdout)
    assert set(found) == set(theirs)


def check_ended(ask, python):
    """What was recorded, when the build has ended."""
    until("the recorded processes", lambda: ask("/api/v1/ps")["format"] == "buildbeat processes 1")
    found = ask("/api/v1/ps")
    assert found["n_processes"] == len(found["processes"])
    for number, row in enumerate(found["processes"]):
        if row["parent_row"] is not None:
            assert row["parent_row"] < number
            assert found["processes"][row["parent_row"]]["pid"] == row["parent"]
    ask(f"/api/v1/process?pid={python['pid']}&start={python['start_ticks']}", 410)


def check(directory):
    build = start_build(directory)
    ask, controlling = Asker(f"{directory}/stats"), Asker(f"{directory}/stats", "-a")
    try:
        python, _ = check_ps(ask, directory)
        check_process(ask, python, directory)
        check_maps(ask, python)
        check_foreign(ask, controlling)
        check_machine(ask)
    finally:
        os.killpg(build.pid, signal.SIGTERM)
        build.communicate()
    check_ended(ask, python)
    ask.end()
    controlling.end()


def main():
    directory = os.path.realpath(tempfile.mkdtemp())
    try:
        check(directory)
    finally:
        shutil.rmtree(directory)


main()
