# SPDX-License-Identifier: MIT
"""Builds that fail, of many kinds, and the first error that each output gives: first_error.py BUILDBEAT
[KIND...]. All outputs agree with show --json, which has the message, file and line that the kind says."""
import html
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "browser"))
import webdriver

BUILDBEAT = os.path.abspath(sys.argv[1])
SCREEN = 24
SIZE = (1280, 800)
BROWSER = None if webdriver.missing() else webdriver.Browser()

GOOD = "int good%d(void) { return %d; }\n"
QUIET = "%.o: %.c\n\t@echo '  CC $@'\n\t@gcc -Wall -c $< -o $@\n"
LOUD = "%.o: %.c\n\tgcc -Wall -c $< -o $@\n"
C = {"good%d.c" % i: GOOD % (i, i) for i in range(6)}
OBJECTS = " ".join("good%d.o" % i for i in range(6))


def make(rules, files=None, options="", **expected):
    """A build by make in which other tasks run, too."""
    return dict(files={**C, "Makefile": "all: bad %s\n%s" % (OBJECTS, rules), **(files or {})},
                command="make " + options, **expected)


def compiles(options, rule=LOUD):
    return make("bad: bad.o\n" + rule, {"bad.c": "int main(void)\n{\n\treturn x;\n}\n"}, options, tool="gcc",
                message="'x' undeclared", file="bad.c", line=3)


KINDS = {
    "compile": compiles("-j1"), "compile-j": compiles("-j4 -k"), "compile-quiet": compiles("-j4 -k", QUIET),
    "compile-sync": compiles("-j4 -k -Otarget", QUIET), "compile-silent": compiles("-s -j3"),
    "header": make("bad: bad.o\n" + QUIET, {"bad.c": "#include \"missing.h\"\n"}, "-j4", tool="gcc",
                   message="missing.h: No such file or directory", file="bad.c", line=1),
    "in-header": make("bad: bad.o\n" + QUIET, {"bad.c": "#include \"bad.h\"\nint f(void) { return 0; }\n",
                                               "bad.h": "\n\nint f(;\n"}, "-j4 -k", tool="gcc",
                      message="expected", file="bad.h", line=3),
    "error-of-warning": make("bad: bad.o\n" + QUIET.replace("-Wall", "-Wall -Werror"),
                             {"bad.c": "static int f(void) { return 0; }\n"}, "-j2 -k", tool="gcc",
                             message="defined but not used", file="bad.c", line=1),
    "link": make("bad: bad.o\n\t@gcc $< -o $@\n" + QUIET,
                 {"bad.c": "int missing(void);\nint main(void)\n{\n\treturn missing();\n}\n"}, "-j4 -k", tool="ld",
                 message="undefined reference to `missing'"),
    "library": make("bad: good0.o\n\t@gcc $< -lnosuchthing -o $@\n" + QUIET, {}, "-j4 -k", tool="ld",
                    message="cannot find -lnosuchthing"),
    "no-tool": make("bad:\n\t@nosuchtool --version; exit $$?\n" + QUIET, {}, "-j4 -k", message="nosuchtool"),
    "no-tool-exec": make("bad:\n\tnosuchtool --version\n" + QUIET, {}, "-j4 -k", message="nosuchtool"),
    "no-rule": make("bad: nosuchfile\n" + QUIET, {}, "-j4 -k", tool="make",
                    message="No rule to make target 'nosuchfile'", own=True),
    "makefile": dict(files={"Makefile": "all:\n    @echo x\n"}, command="make", tool="make",
                     message="missing separator", file="Makefile", line=2, own=True),
    "recursive": make("bad:\n\t@+$(MAKE) -C sub\n" + QUIET,
                      {"sub/Makefile": "all: bad.o\n" + QUIET, "sub/bad.c": "int f(void) { return y; }\n"},
                      "-j4 -k", tool="gcc", message="'y' undeclared", file="bad.c", line=1),
    "recursive-no-rule": make("bad:\n\t@+$(MAKE) -C sub\n" + QUIET, {"sub/Makefile": "all: nosuchfile\n"},
                              "-j4 -k", tool="make", message="No rule to make target 'nosuchfile'", own=True),
    "script": make("bad:\n\t@sh ./step\n" + QUIET, {"step": "echo 'reading the table' >&2\n"
                                                            "echo 'step: the table has no rows' >&2\nexit 3\n"},
                   "-j1", how="last_lines", message="step: the table has no rows"),
    "bash": make("bad:\n\t@bash ./step\n" + QUIET, {"step": "set -e\ncd nosuchdir\n"}, "-j1", tool="sh",
                 message="nosuchdir: No such file or directory"),
    "python": make("bad:\n\t@python3 step.py\n" + QUIET, {"step.py": "def f():\n    return {}['key']\n\nf()\n"}, "-j1",
                   tool="python", message="KeyError: 'key'", file="step.py", line=2),
    "unittest": make("bad:\n\t@python3 -m unittest step\n" + QUIET,
                     {"step.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
                                 "        self.assertEqual(1, 2)\n"}, "-j1",
                     message="AssertionError: 1 != 2", file="step.py", line=4),
    "assert": make("bad: bad.o\n\t@gcc $< -o $@ && ./$@\n" + QUIET,
                   {"bad.c": "#include <assert.h>\nint main(int n, char **v)\n{\n\tassert(n > 7);\n}\n"}, "-j1",
                   message="Assertion `n > 7' failed", file="bad.c", line=4),
    "signal": make("bad:\n\t@kill -SEGV $$$$\n" + QUIET, {}, "-j1", message="Segmentation fault", how="report"),
    "killed": make("bad:\n\t@kill -KILL $$$$\n" + QUIET, {}, "-j4 -O -k", message="Killed", how="report"),
    "memory": make("bad:\n\t@ulimit -v 200000; python3 -c 'b\"x\" * (1 << 30)'\n" + QUIET, {}, "-j4 -k",
                   tool="python", message="MemoryError"),
    "ctest": dict(needs="ctest", files={"CTestTestfile.cmake": "add_test(good true)\nadd_test(bad false)\n",
                                        "Makefile": "all:\n\t@ctest\n"},
                  command="make", tool="ctest", how="report", own=True, message="Failed"),
    "recursive-sync": make("bad:\n\t@+$(MAKE) -C sub\n" + QUIET,
                           {"sub/Makefile": "all: bad.o\n" + QUIET, "sub/bad.c": "int f(void) { return y; }\n"},
                           "-j8 -k -O", tool="gcc", message="'y' undeclared", file="bad.c", line=1),
    "full-disk": make("bad:\n\t@cat good0.c >/dev/full\n" + QUIET, {}, "-j1", message="No space left on device"),
    "denied": make("bad:\n\t@./step\n" + QUIET, {"step": "exit 0\n"}, "-j1", message="ermission denied"),
    "timeout": make("bad:\n\t@echo 'waiting for the server'; timeout 0.2 sleep 100\n" + QUIET, {}, "-j1",
                    how="last_lines", message="waiting for the server"),
    "much": make("bad:\n\t@seq 100000; echo 'bad.c:7:1: error: late'; seq 100000; exit 1\n" + QUIET, {}, "-j1",
                 message="late", file="bad.c", line=7),
    "command": make("bad:\n\tgcc -DTEXT='\"a.c:1: error: no\"' -c bad.c\n" + QUIET,
                    {"bad.c": "int f(void) { return v; }\n"}, "-j1", tool="gcc", message="'v' undeclared",
                    file="bad.c", line=1),
    "colours": make("bad: bad.o\n%.o: %.c\n\t@gcc -fdiagnostics-color=always -c $< -o $@\n",
                    {"bad.c": "int f(void) { return z; }\n"}, "-j3 -k", tool="gcc", message="'z' undeclared",
                    file="bad.c", line=1),
    "two": make("bad: bad1.o bad2.o\n" + QUIET,
                {"bad1.c": "int f(void) { return one; }\n", "bad2.c": "int f(void) { return two; }\n"}, "-j1 -k",
                message="'one' undeclared", file="bad1.c", line=1),
    "ninja": dict(needs="ninja", files={**C, "bad.c": "int f(void)\n{\n\treturn w;\n}\n", "build.ninja":
                                        "rule cc\n command = gcc -c $in -o $out\n description = CC $out\n"
                                        + "".join("build %s: cc %s.c\n" % (o, o[:-2])
                                                  for o in (OBJECTS + " bad.o").split())},
                  command="ninja -k0 -j4", tool="gcc", message="'w' undeclared", file="bad.c", line=3),
    "cmake": dict(needs="cmake", files={"CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(x C)\n"
                                                          "find_package(NoSuchThing REQUIRED)\n",
                                        "Makefile": "all:\n\t@cmake -S . -B build\n"},
                  command="make", own=True, tool="cmake", file="CMakeLists.txt", line=3, message="NoSuchThing"),
    "cargo": dict(needs="rustc", files={"bad.rs": "fn main() {\n    let a: i32 = \"x\";\n}\n",
                                        "Makefile": "all:\n\t@rustc bad.rs\n"},
                  command="make", tool="rustc", message="mismatched types", file="bad.rs", line=2),
    "go": dict(needs="go", files={"go.mod": "module x\n", "bad.go": "package main\nfunc main() { y() }\n",
                                  "Makefile": "all:\n\t@GO111MODULE=on GOFLAGS=-mod=mod GOCACHE=$(CURDIR)/cache "
                                              "go build ./...\n"},
               command="make", message="undefined: y", file="./bad.go", line=2),
    "java": dict(needs="javac", files={"Bad.java": "class Bad {\n    int f() { return \"x\"; }\n}\n",
                                       "Makefile": "all:\n\t@javac Bad.java\n"},
                 command="make", message="incompatible types", file="Bad.java", line=2),
    "perl": dict(needs="perl", files={"bad.pl": "use strict;\ndie 'no such row';\n",
                                      "Makefile": "all:\n\t@perl bad.pl\n"},
                 command="make", message="no such row at bad.pl line 2"),
    "bison": dict(needs="bison", files={"bad.y": "%%\nrule: nothing ;\n", "Makefile": "all:\n\t@bison bad.y\n"},
                  command="make", message="nothing", file="bad.y", line=2),
    "make-only-good": dict(files={**C, "Makefile": "all: %s\n\t-@false\n\t@echo 'error: 0 errors found'\n%s" % (OBJECTS, QUIET)},
                           command="make -j4", good=True),
}


def run(where, *command, **options):
    env = {"PATH": os.environ["PATH"], "HOME": where, "LC_ALL": "C", "TERM": "dumb", "CI": "",
           "XDG_RUNTIME_DIR": where,
           "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup"))}
    return subprocess.run(command, cwd=where, env={**env, **options}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def served(where):
    """/api/v1/overview of a server that never saw the build."""
    server = subprocess.Popen([BUILDBEAT, "serve", "stats"], cwd=where, stdout=subprocess.PIPE, text=True,
                              env={"PATH": os.environ["PATH"], "HOME": where, "XDG_RUNTIME_DIR": where})
    try:
        origin, token = re.fullmatch(r"(http://[^/]*)/\?token=(\w+)", server.stdout.readline().strip()).groups()
        request = urllib.request.Request(origin + "/api/v1/overview", headers={"Authorization": "Bearer " + token})
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait()


def first_screen_of_saved(where):
    """The text of the saved file that is seen when it is opened; without a browser, that up to the facts."""
    saved = run(where, BUILDBEAT, "show", "-d", "stats", "--html", "saved.html")
    if saved.returncode:
        return saved.stderr
    if not BROWSER:
        with open(where + "/saved.html", encoding="utf-8") as f:
            body = f.read().partition("<body")[2].partition('class="fact')[0]
        return html.unescape(re.sub("<[^>]*>", "", body))
    BROWSER.resize(*SIZE)
    BROWSER.open("file://" + where + "/saved.html")
    return BROWSER.js("""return [...document.querySelectorAll('h1, h2, p, pre')].filter(e => {
        const b = e.getBoundingClientRect();
        return b.top >= 0 && b.bottom <= innerHeight;
    }).map(e => e.textContent).join('\\n')""")


def first_of_logs(where):
    run(where, BUILDBEAT, "export", "-d", "stats", "--to", "otlp-logs", "-o", "logs.json")
    with open(where + "/logs.json", encoding="utf-8") as f:
        records = [r for line in f for q in json.loads(line)["resourceLogs"] for s in q["scopeLogs"]
                   for r in s["logRecords"]]
    return [r for r in records if any(a["key"] == "buildbeat.first_error" for a in r.get("attributes", []))]


def look(kind, where):
    """What is wrong with the outputs of this build."""
    wrong, want = [], KINDS[kind]

    def expect(holds, *what):
        if not holds:
            wrong.append(" ".join([kind + ":", *map(str, what)]))

    for name, text in want["files"].items():
        os.makedirs(os.path.dirname(os.path.join(where, name)), exist_ok=True)
        with open(os.path.join(where, name), "w", encoding="utf-8") as f:
            f.write(text)
    recorded = run(where, BUILDBEAT, "record", "-o", "stats", "--log", "--summary", "--", "sh", "-c",
                   want["command"])
    show = run(where, BUILDBEAT, "show", "-a", "-d", "stats")
    shown = json.loads(run(where, BUILDBEAT, "show", "-d", "stats", "--json").stdout)
    failed = run(where, BUILDBEAT, "log", "-d", "stats", "--failed")
    marked = run(where, BUILDBEAT, "show", "-d", "stats", "--markdown").stdout
    notes = run(where, BUILDBEAT, "log", "-d", "stats", "--annotations").stdout
    overview = served(where)
    saved = first_screen_of_saved(where)
    error = shown.get("first_error")
    if want.get("good"):
        expect(recorded.returncode == 0 and not error and not overview.get("first_error") and not notes and
               "First error" not in saved and "\nerror " not in recorded.stderr and "First error" not in show.stdout, "an error of a good build")
        return wrong
    expect(recorded.returncode != 0, "it did not fail:", recorded.stdout, recorded.stderr)
    if not error:
        return wrong + [kind + ": no first error\n" + recorded.stdout + recorded.stderr]
    message = error["message"]
    expect(want["message"] in message, "the message is", message)
    expect(want.get("how", "message") == error["is"], "it is known as", error["is"])
    for key in ("tool", "file", "line"):
        expect(key not in want or error[key] == want[key] or (key == "file" and
                                                              error[key] == where + "/" + want[key]), key, "is", error[key], "for", message)
    expect(bool(shown["first_error_task"]) != want.get("own", False), "the task is", shown["first_error_task"])
    expect(error["output_line"] in [l["output_line"] for l in error["lines"]], "the lines lack the message")

    line = next(l["text"] for l in error["lines"] if l["output_line"] == error["output_line"])
    summary = re.search(r"^error +(.*)$", recorded.stderr, re.M)
    expect(summary and all(part in (error["file"] or "") + ":" + str(error["line"]) + " perhaps: " + message
                           for part in summary[1].split("...")[0].split(": ")[-1:]), "record says",
           summary and summary[1])
    top = "\n".join(show.stdout.splitlines()[:SCREEN])
    expect(line.strip()[:60] in top, "show's first screen lacks it:", top)
    top = "\n".join(failed.stdout.splitlines()[:SCREEN])
    expect(line.strip()[:60] in top, "the first screen of log --failed lacks it:", top, failed.stderr)
    expect(line.strip() in saved, "the first screen of the saved file lacks it:", saved)
    expect(line.strip() in html.unescape(marked.split("#### Slowest")[0]), "Markdown lacks it:", marked)
    expect(message.replace("%", "%25") in notes, "annotations are", notes)
    expect(not error["file"] or not error["line"] or "line=%d" % error["line"] in notes, "annotations are", notes)
    expect(overview["first_error"] == error, "the overview has", overview["first_error"], "and show", error)
    marked = [l for l in map(json.loads, run(where, BUILDBEAT, "log", "-d", "stats", "--json").stdout.splitlines())
              if l.get("is") == "error"]
    expect(len(marked) == shown["errors"], shown["errors"], "errors, marked are", marked)
    records = first_of_logs(where)
    expect(len(records) == 1 and line.strip() in re.sub(r"\033\[[0-9;]*[a-zA-Z]", "", records[0]["body"]["stringValue"]) and
           (error["is"] != "message" or records[0].get("severityNumber") == 17), "logs have", records)
    run(where, BUILDBEAT, "archive", "-d", "stats", "--repo", "builds.git", "--host", "h", "--branch", "b")
    for form in "--json", "--junit", "--markdown":
        check = run(where, BUILDBEAT, "check", "--repo", "builds.git", form)
        said = json.loads(check.stdout)["error"] if form == "--json" else \
            re.sub(r"\\(?=[\W_])", "", html.unescape(check.stdout).replace("<!-- -->", ""))
        expect(message in said, "check", form, "has", check.stdout, check.stderr)
    return wrong


def main():
    wrong, n = [], 0
    for kind in sys.argv[2:] or KINDS:
        needs = KINDS[kind].get("needs")
        if needs and not shutil.which(needs):
            continue
        with tempfile.TemporaryDirectory(prefix="buildbeat-error-") as where:
            wrong += look(kind, where)
            n += 1
    if BROWSER:
        BROWSER.close()
    print("\n".join(wrong + ["%d builds, %d differences" % (n, len(wrong))]))
    sys.exit(bool(wrong))


main()
