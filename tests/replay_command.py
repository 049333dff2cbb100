#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check --replay says of each build what check said when it was the newest one.

usage: replay_command.py BUILDBEAT REPO [ARGUMENT]...
Cuts the archive's only series back to each of its builds and runs check. Prints how many of each
exit status there were.
"""
import collections
import json
import subprocess
import sys


def git(repo, *words):
    return subprocess.run(["git", "-C", repo, *words], check=True, capture_output=True,
                          text=True).stdout.split()


def run(buildbeat, repo, words):
    return subprocess.run([buildbeat, "check", "--repo", repo, "--json", *words], capture_output=True,
                          text=True)


def failing(found):
    return sorted((f["task"] or f["of"], f["metric"]) for f in found["findings"] if f["fails"])


def main(buildbeat, repo, *words):
    replayed = run(buildbeat, repo, ("--replay", *words))
    assert replayed.returncode == 0, replayed.stderr
    told = json.loads(replayed.stdout)
    regressions = told["regressions"]
    ref = [line for line in git(repo, "for-each-ref", "--format=%(refname)", "refs/heads")][0]
    newest = git(repo, "rev-parse", ref)[0]
    commits = git(repo, "rev-list", "--reverse", "--first-parent", ref)
    assert [b["id"] for b in told["builds"]] == commits
    red = collections.Counter()
    open_now = set()
    counts = collections.Counter()
    for build in told["builds"]:
        git(repo, "update-ref", ref, build["id"])
        check = run(buildbeat, repo, words)
        found = json.loads(check.stdout)
        where = build["id"][:8], build, check.stderr
        assert check.returncode == build["exit_status"], (check.returncode, where)
        assert found["known"] == build["known"], where
        assert found["suspected"] == build["suspected"], where
        assert (found["verdict"] == "not_judged") == build["failed"], where
        open_now = (open_now | set(build["begin"])) - set(build["end"])
        counts[check.returncode] += 1
        if build["failed"]:
            continue
        names = failing(found)
        assert len(names) == build["confirmed"], where
        # What came back for a build or two is one regression.
        assert set(names) <= {(r["task"] or r["of"], r["metric"]) for r in regressions}, (names, where)
        ours = sorted((regressions[i]["task"] or regressions[i]["of"], regressions[i]["metric"])
                      for i in open_now)
        assert set(names) <= set(ours), (names, ours, where)
        red.update(names)
    git(repo, "update-ref", ref, newest)
    by_name = collections.Counter()
    for r in regressions:
        by_name[r["task"] or r["of"], r["metric"]] += r["builds"]
    assert by_name == red, (by_name, red)
    print(*(f"{status}:{n}" for status, n in sorted(counts.items())))


main(*sys.argv[1:])
