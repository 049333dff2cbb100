# SPDX-License-Identifier: MIT
"""action.yml is what GitHub accepts, and its steps do what they promise, run as a runner does.

action.py SRCDIR        in the build directory
"""
import copy
import os
import sys
import tempfile

import ci

FAILURES = []


def expect(condition, *what):
    if not condition:
        FAILURES.append(" ".join(str(w) for w in what))


def check_rules(action):
    """The rules find what is wrong."""
    expect(not ci.check_action(action), "action.yml:", ci.check_action(action))

    def broken(what, change):
        changed = copy.deepcopy(action)
        change(changed)
        expect(ci.check_action(changed), "no rule finds", what)

    steps = action["runs"]["steps"]
    runs = [i for i, step in enumerate(steps) if "run" in step]
    for i in runs:
        broken("a step without a shell", lambda a, i=i: a["runs"]["steps"][i].pop("shell"))
        broken("an input in a script",
               lambda a, i=i: a["runs"]["steps"][i].update(run="echo ${{ inputs.run }}"))
    broken("an unknown key", lambda a: a.update(jobs={}))
    broken("an input that is not declared", lambda a: a["inputs"].pop("name"))
    broken("an unknown step", lambda a: a["runs"]["steps"][1].pop("id"))


def try_it(src, action, values, installed=True):
    """(status, the job, what is in its summary, the place's files)"""
    with tempfile.TemporaryDirectory() as top:
        place = ci.Place(top, src, os.getcwd(), "make")
        if not installed:   # a quickstart that installs a link
            os.rename(top + "/bin/buildbeat", top + "/runner/built")
            os.mkdir(top + "/action")
            stub = '#!/bin/sh\nset -e\n[ "$1" = install ]\nmkdir -p "$2/bin"\nln -s "%s/runner/built" "$2/bin/buildbeat"\n'
            place.program("../action/quickstart", stub % top)
        job = ci.Job(place, action)
        context = {"github.action_path": top + "/action", "runner.temp": top + "/runner"}
        for name, value in action["inputs"].items():
            context["inputs." + name] = values.get(name, value.get("default", ""))
        status = job.run(action["runs"]["steps"], context)
        charts = [os.path.isfile(path + "/bootchart.svg") for path in job.uploaded]
        left = set(os.listdir(place.work))
        return status, job, job.read_file("GITHUB_STEP_SUMMARY"), charts, left


def main():
    src = os.path.abspath(sys.argv[1])
    with open(src + "/action.yml", encoding="utf-8") as f:
        action = ci.read(f.read())
    check_rules(action)

    status, job, summary, charts, left = try_it(src, action, {"run": "make -j2"})
    expect(status == 0, "a good build: status", status, job.log)
    expect(charts == [True], "a good build: no chart was kept", job.log)
    expect("| result | ok" in summary, "a good build: the summary is", repr(summary))
    expect("corpus.idx" not in left and "data" in left, "the build was not made in the clone", left)

    # the status of the build, and still a summary and a chart
    status, job, summary, charts, left = try_it(src, action, {
        "run": "make -C lib\nprintf 'all:\\n\\tsh -c \"exit 3\"\\n' >broken.mk\nmake -f broken.mk\ntouch after",
        "name": "failing"})
    expect(status == 2, "a failing build: status", status, "instead of 2, make's", job.log)
    expect(charts == [True], "a failing build: no chart was kept", job.log)
    expect("| result | **failed" in summary, "a failing build: the summary is", repr(summary))
    expect("::error " in job.log, "a failing build: no annotation in", job.log)
    expect("after" not in left, "a line after one that failed was run")

    # values are data wherever they are
    hostile = "$(touch pwned)`touch pwned`; touch pwned #"
    status, job, summary, charts, left = try_it(src, action, {"run": "make", "name": hostile,
                                                              "options": hostile})
    expect(status != 0, "bad options: status", status)
    expect("pwned" not in left, "a value was executed")

    status, job, summary, charts, left = try_it(
        src, action, {"run": "make", "working-directory": "lib", "options": "--log --task-io"}, False)
    expect(status == 0 and charts == [True], "an installed buildbeat, in a directory:", status, job.log)
    print("\n".join(FAILURES))
    sys.exit(bool(FAILURES))


main()
