# SPDX-License-Identifier: MIT
"""Whose lines: output_truth.py BUILDBEAT SEED REDIRECTION [MAKE [OPTION...]]

Builds random makefiles in the current directory, recursive ones, whose recipes write lines that
begin with their own target, [TARGET], through `buildbeat record --log`. REDIRECTION is that of
the shell. Prints each line that `log --json` gives to another task or to none, and
each pair of lines that is in the wrong order: the command that make prints, the lines of its task, make's report.
"""
import json
import random
import re
import subprocess
import sys

KINDS = [
    "@echo '[{t}] a'; echo '[{t}] b'",
    "@/bin/echo '[{t}] a'; /bin/echo '[{t}] b' >&2",
    "@ls /nowhere_{t} 2>&1 | sed 's/.*/[{t}] a/'; echo '[{t}] b' 2>&1",
    "@echo '[{t}] a' >/dev/stderr; echo '[{t}] b' >/dev/stderr",
    "@printf '[{t}] a\\n[{t}] b'",
    "@head -c 100000 /dev/zero | tr '\\0' x | sed 's/^/[{t}] a /'; echo; echo '[{t}] b'",
    "@(until test -e {t}.on; do sleep 0.01; done; echo '[{t}] late') & echo '[{t}] a'",
    "@: >{t}.on",
    "-echo '[{t}] a'; echo '[{t}] b'; exit 3",
    "echo '[{t}] a'\n\t@echo '[{t}] b'",
    "@printf '[{t}] a'; sleep 0.01; printf ' and\\n[{t}] b\\n'",
    "@printf '[{t}] a\\000nul\\n[{t}] b\\n'",
    "@echo \"  CC {t}.o\"\n\t@echo '[{t}] a'",
]


def makefile(rng, name, prefix, n, depth):
    """n targets, and makes below them; all lines of a recipe are of its target."""
    targets = [f"{prefix}{i}" for i in range(n)]
    inner = [f"{prefix}m{i}" for i in range(3)] if depth else []
    with open(name, "w", encoding="ascii") as f:
        f.write(f"all: {' '.join(rng.sample(targets + inner, len(targets + inner)))}\n")
        for t in targets:
            kind = rng.choice(KINDS).format(t=t)
            f.write(f"{t}:\n\t{kind}\n" + (f"\t@: >{t}.on\n" if "until" in kind else ""))
        for t in inner:
            f.write(f"{t}:\n\t@echo '[{t}] a'; $(MAKE) -f {t}.mk; echo '[{t}] b'\n")
    for t in inner:
        makefile(rng, f"{t}.mk", f"{t}_", n // 3, depth - 1)


def check_tasks(lines, collected):
    """The numbers of lines with a known writer, and of those with another task or none."""
    known = bad = 0
    for line in lines:
        owner = re.match(r"\[(\w+)\] |  CC (\w+)\.o$", line["text"])
        if not owner:
            continue
        known += 1
        if collected and line["task"] is None and re.match(r"\[\w*m\d\] ", line["text"]):
            continue
        if line["task"] != (owner[1] or owner[2]):
            bad += 1
            print(f"line {line['line']} is given to {line['task']}: {line['text'][:60]}")
    return known, bad


def check_order(text):
    """Of one output: each comes first where it begins."""
    first = {}
    for at in re.finditer(r"echo '\[(\w+)\] a.*|\[(\w+)\] (a|b)\b|: (\w+)\] Error", text):
        what = (at[1], 0) if at[1] else (at[4], 3) if at[4] else (at[2], 1 if at[3] == "a" else 2)
        first.setdefault(what, at.start())
    for (target, step), at in first.items():
        for after in range(step + 1, 4):
            if first.get((target, after), at) < at:
                print(f"{target}: step {after} comes before {step}")


def check_pieces(text):
    """Of one output. Lines of makes below may be between those of a recipe that runs them."""
    pieces = re.findall(r"^\[(\w+)\](?! late)", text, re.M)
    pieces = [t for t in pieces if not re.search(r"m\d$", t)]
    seen = set()
    for before, t in zip([None, *pieces], pieces):
        if t != before and t in seen:
            print(f"{t}: more than one piece")
        seen.add(t)


def main():
    buildbeat, seed, redirection, *make = sys.argv[1:]
    makefile(random.Random(int(seed)), "Makefile", "t", 60, 2)
    command = " ".join(make or ["make", "-j8"])
    subprocess.run(f"{buildbeat} record --no-git --no-task-memory --log -o stats -n truth -- {command} {redirection}",
                   shell=True, check=True, stdin=subprocess.DEVNULL)
    out = subprocess.run([buildbeat, "log", "-d", "stats", "--json", "truth"], check=True, stdout=subprocess.PIPE).stdout
    collected = any(word.startswith("-O") for word in make)
    known, bad = check_tasks([json.loads(line) for line in out.decode("utf-8", "replace").splitlines()], collected)
    for name in ("out", "err"):
        with open(name, encoding="latin-1") as f:
            text = f.read()
        check_order(text)
        if "-Otarget" in make:
            check_pieces(text)
    if known < 150 or "-v" in redirection:
        print(f"{known} lines, {bad} wrong")


main()
