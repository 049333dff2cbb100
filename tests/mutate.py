#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes one operator, constant, sign or call at a time in code that guards, and reports the
changes that no test notices. Not part of `make check`: 300 mutants take hours.

usage: mutate.py [-n NUMBER] [-s SEED] [-j JOBS] [--least PERCENT] [--work DIR] [FILE...]

-n NUMBER   mutants to try (default 300), spread over the files by their size
-s SEED     which ones (default 1); the same seed takes the same mutants of the same sources
-j JOBS     test programs that run at once (default: one a core)
--least P   exit with 1 if fewer than P % of the mutants are killed or equivalent (default 90)
--work DIR  where the copy of the sources is built (default: a new directory, removed at the end);
            one that an earlier run left is used again
--list      print the mutants that would be tried, and try none
FILE        files of the table below (default: all of them)

A mutant is killed if a test program that covers its file fails twice; a hang is a failure. It is equivalent
if the compiler makes the same code of it, or if tests/mutants.txt says why nothing can notice it.
The sources are never changed: the work is done in a copy. First every test program must pass there.
"""
import argparse
import collections
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Files that guard, and the test programs that cover them, the quickest first.
RECORDING = "recording recording_write store event same_events unreadable record"
ARCHIVE = "archive archive_builds archive_damage archive_pack archive_writers fsck"
COVERED_BY = [
    ("base/trust.c", "trust trust_files inspect_archive"),
    ("command/redact*.c", "redact secrets"),
    ("archive/url.c", "remote base secrets"),
    ("send/*.c", "send export"),
    ("archive/remote*.c archive/sync*.c archive/seen.c", "remote archive_shared"),
    ("archive/import_oe*.c", "import_oe"),
    ("archive/fsck*.c", "fsck archive_damage"),
    ("archive/pack*.c archive/loose.c", "archive_pack " + ARCHIVE),
    ("archive/*.c", ARCHIVE + " archive_killed" + " cmd_archive history"),
    ("recording/store*.c recording/lost.c recording/alive.c",
     "store lost alive recording_write record_faults preload_faults make_faults record"),
    ("recording/tally*.c", "tally tally_threads profile profile_live"),
    ("recording/output*.c", "log_tasks log_command log_relay"),
    ("recording/growing*.c recording/series.c recording/column.c",
     "series growing samples " + RECORDING),
    ("recording/identity.c", "identity " + RECORDING),
    ("recording/process_log.c recording/reader_processes.c", "process_tree record_processes"),
    ("recording/results.c recording/reader_results.c", "results " + RECORDING),
    ("recording/usage_log.c recording/reader_usage.c recording/writer_usage.c",
     "usage_log " + RECORDING + " used"),
    ("recording/recipe.c", "moved " + RECORDING),
    ("recording/*.c", RECORDING + " chain span task bitbake"),
    ("plugin/procs.c",
     "plugin_api make_transparent preload_transparent make_faults ninja ninja_join make_signals "
     "preload_threads record"),
    ("live/guard.c", "guard serve"),
    ("convert/gunzip.c", "bombs import"),
    ("launch/cache_log.c", "results"),
    ("compare/replay.c", "decide verdict verdict_held verdict_sets culprits cmd_check"),
]

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|\d+\.\d+|\d+[uUlL]*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<op>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|\.\.\.|.)
""", re.X | re.S)
SWAPPED = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||",
           "||": "&&", "+": "-", "-": "+", "+=": "-=", "-=": "+="}
BINARY_ONLY = {"+", "-"}
CALL = re.compile(r"^[ \t]+(?:\(void\))?[a-z_]\w*\((?:[^;{}\"]|\"(?:\\.|[^\"\\])*\")*\);$", re.M)
NOT_CALLS = re.compile(r"^\s+(?:\(void\))?(?:if|for|while|switch|return|sizeof|assert|defined)\b")

# What is replaced by `text` are the bytes from `at` to `end`; `before` and `after` are the line.
Mutant = collections.namedtuple("Mutant", "path line at end text before after")


def function_bodies(text):
    """The parts of a C file from a '{' to a '}', each alone at the start of a line."""
    for found in re.finditer(r"^\{\n.*?^\}\n", text, re.M | re.S):
        yield found.start(), found.end()


def increased(number):
    digits = number.rstrip("uUlL")
    suffix = number[len(digits):]
    if digits == "1":
        return "0" + suffix
    return str(int(digits, 0 if digits[:2].lower() == "0x" else 8 if digits[0] == "0" and len(digits) > 1
                   else 10) + 1) + suffix


def changes(text, start, end):
    """(position, length, replacement) of each possible change between two positions."""
    before = ""                     # the token before this one
    for found in TOKEN.finditer(text, start, end):
        token = found.group()
        if found.lastgroup == "skip":
            continue
        ends_value = bool(re.match(r"[\w)\]]", before[-1:])) and before not in ("return", "case")
        if found.lastgroup == "number" and "." not in token:
            yield found.start(), len(token), increased(token)
        elif token in SWAPPED and (ends_value or token not in BINARY_ONLY):
            yield found.start(), len(token), SWAPPED[token]
        elif token == "-" or token == "!":
            yield found.start(), 1, ""
        before = token
    for found in CALL.finditer(text, start, end):
        if not NOT_CALLS.match(found.group()):
            lead = len(found.group()) - len(found.group().lstrip())
            lines = found.group().count("\n")
            yield found.start() + lead, len(found.group()) - lead, ";" + "\n" * lines


def mutants_of(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        text = file.read()
    places = [c for start, end in function_bodies(text) for c in changes(text, start, end)]
    for found in re.finditer(r"^#define [A-Z_0-9]+ \(?(\d+)\)?$", text, re.M):
        places.append((found.start(1), len(found.group(1)), increased(found.group(1))))
    for at, length, after in sorted(places):
        begin = text.rfind("\n", 0, at) + 1
        stop = text.find("\n", at + length)
        yield Mutant(path, text.count("\n", 0, at) + 1, at, at + length, after,
                     " ".join(text[begin:stop].split()),
                     " ".join((text[begin:at] + after + text[at + length:stop]).split()))


def files_of(wanted):
    """The guarded files and their test programs: {path: [program]}."""
    covered = {}
    for patterns, programs in COVERED_BY:
        for pattern in patterns.split():
            for path in sorted(glob.glob(os.path.join(TOP, pattern))):
                path = os.path.relpath(path, TOP)
                names = list(dict.fromkeys("tests/check_" + p for p in programs.split()))
                covered.setdefault(path, names)
    for path in wanted:
        if path not in covered:
            sys.exit(f"mutate.py: {path}: not in the table of files that guard")
    for programs in covered.values():
        for program in programs:
            if not os.path.exists(os.path.join(TOP, program + ".c")):
                sys.exit(f"mutate.py: {program}.c: no such test program")
    return {path: covered[path] for path in (wanted or covered)}


def chosen(paths, number, seed):
    """A sample over the files; from each as many as its share of all possible changes."""
    rng = random.Random(seed)
    possible = {path: list(mutants_of(path)) for path in paths}
    total = sum(len(p) for p in possible.values())
    picked = []
    for path in sorted(possible):
        share = -(-number * len(possible[path]) // max(total, 1))    # rounded up
        picked += rng.sample(possible[path], min(share, len(possible[path])))
    rng.shuffle(picked)
    picked = picked[:number]
    return sorted(picked, key=lambda m: (m.path, m.at)), total


def explained():
    """Changes that are known to be equivalent: {(path, before, after)}."""
    known = set()
    try:
        with open(os.path.join(TOP, "tests/mutants.txt"), encoding="utf-8") as file:
            for line in file:
                part = line.rstrip("\n").split("\t")
                if not line.startswith("#") and len(part) == 4:
                    known.add(tuple(part[:3]))
    except FileNotFoundError:
        pass
    return known


class Copy:
    """The sources, copied and built in a directory of their own."""

    def __init__(self, top, jobs):
        self.source = os.path.join(top, "source")
        self.build = os.path.join(top, "build")
        self.jobs = jobs
        self.env = {k: v for k, v in os.environ.items() if k not in ("CI", "MAKEFLAGS", "MFLAGS")}
        self.env.update(TMPDIR=os.path.join(top, "tmp"), srcdir=self.source)
        os.makedirs(self.env["TMPDIR"], exist_ok=True)

    def create(self):
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               cwd=TOP, check=True, stdout=subprocess.PIPE).stdout.split(b"\0")
        for name in filter(None, names):
            name = os.fsdecode(name)
            old, new = os.path.join(TOP, name), os.path.join(self.source, name)
            if not os.path.lexists(old):
                continue
            os.makedirs(os.path.dirname(new), exist_ok=True)
            if os.path.islink(old) or not os.path.exists(new) or \
                    open(old, "rb").read() != open(new, "rb").read():
                if os.path.lexists(new):
                    os.unlink(new)
                shutil.copy2(old, new, follow_symlinks=False)
                if not os.path.islink(new):
                    os.utime(new)
        if not os.path.exists(os.path.join(self.build, "Makefile")):
            os.makedirs(self.build, exist_ok=True)
            self.must(["autoreconf", "-fi"], self.source)
            self.must([os.path.join(self.source, "configure"), "-q", "CFLAGS=-O1 -g0"], self.build)
        self.must(["make", "-s", "-j", str(self.jobs), "check", "TESTS="], self.build)

    def must(self, command, where):
        done = subprocess.run(command, cwd=where, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(f"mutate.py: {' '.join(command)}: {done.stdout[-3000:].decode(errors='replace')}")

    def make(self, *targets):
        return not subprocess.run(["make", "-s", "-j", str(self.jobs), *targets], cwd=self.build,
                                  env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL).returncode

    def objects(self, path):
        """What is compiled of a source file; the same source can be in several programs."""
        stem = os.path.basename(path)[:-2]
        where = os.path.join(self.build, os.path.dirname(path))
        return sorted(glob.glob(f"{where}/{stem}.o") + glob.glob(f"{where}/*-{stem}.o"))

    def first_failure(self, programs, limit_s):
        """The first test program that fails, or None. All that it starts is ended."""
        waiting, running = list(programs), {}
        failed = None
        while not failed and (waiting or running):
            while waiting and len(running) < self.jobs:
                program = waiting.pop(0)
                running[program] = (subprocess.Popen(
                    [program], cwd=self.build, env=self.env, stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True),
                    time.monotonic() + limit_s.get(program, 900))
            for program, (process, deadline) in list(running.items()):
                if process.poll() is None and time.monotonic() < deadline:
                    continue
                if process.returncode not in (0, 77):
                    failed = program
                self.end(running.pop(program)[0])
            time.sleep(.02)
        for process, _ in running.values():
            self.end(process)
        return failed

    @staticmethod
    def end(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def baseline(copy, programs):
    """Every program must pass unchanged; how long it may take with a mutant."""
    limit_s = {}
    for program in programs:
        began = time.monotonic()
        if fails_twice(copy, [program], {}):
            sys.exit(f"mutate.py: {program} fails without a mutant")
        limit_s[program] = 60 + 10 * (time.monotonic() - began)
    return limit_s


def fails_twice(copy, programs, limit_s):
    """The first program that fails, and again when it runs alone: no accident of a busy machine."""
    left = list(programs)
    while left:
        failed = copy.first_failure(left, limit_s)
        if not failed or copy.first_failure([failed], limit_s):
            return failed
        left.remove(failed)
    return None


def judge(copy, mutant, programs, limit_s):
    """'killed by PROGRAM', 'equivalent', 'not compiled' or 'SURVIVED'."""
    path = os.path.join(copy.source, mutant.path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    objects = copy.objects(mutant.path)
    names = [os.path.relpath(o, copy.build) for o in objects]
    before = {o: open(o, "rb").read() for o in objects}
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text[:mutant.at] + mutant.text + text[mutant.end:])
        if not copy.make(*names):
            return "not compiled"
        if all(open(o, "rb").read() == before[o] for o in objects):
            return "equivalent"
        if not copy.make("all", *programs):
            return "not compiled"
        failed = fails_twice(copy, programs, limit_s)
        return "killed by " + failed if failed else "SURVIVED"
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def main():
    parser = argparse.ArgumentParser(description="change guarding code, report what no test notices")
    parser.add_argument("-n", type=int, default=300, metavar="NUMBER")
    parser.add_argument("-s", type=int, default=1, metavar="SEED")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="JOBS")
    parser.add_argument("--least", type=float, default=90, metavar="PERCENT")
    parser.add_argument("--work", metavar="DIR")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE")
    args = parser.parse_args()

    covered = files_of(args.files)
    mutants, total = chosen(list(covered), args.n, args.s)
    if args.list:
        for mutant in mutants:
            print(f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}")
        print(f"{len(mutants)} of {total} possible mutants")
        return 0
    work = args.work or tempfile.mkdtemp(prefix="buildbeat-mutate.")
    count, survivors = collections.Counter(), []
    try:
        copy = Copy(os.path.abspath(work), args.j)
        copy.create()
        limit_s = baseline(copy, sorted({p for m in mutants for p in covered[m.path]}))
        known = explained()
        for mutant in mutants:
            if (mutant.path, mutant.before, mutant.after) in known:
                result = "equivalent"
            else:
                result = judge(copy, mutant, covered[mutant.path], limit_s)
            count[result.split()[0]] += 1
            line = f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}"
            print(f"{result}: {line}", flush=True)
            if result == "SURVIVED":
                survivors.append(line)
    finally:
        if not args.work:
            shutil.rmtree(work, ignore_errors=True)
    tried = len(mutants) - count["not"]
    good = count["killed"] + count["equivalent"]
    share = 100 * good / tried if tried else 0
    print(f"\n{tried} mutants of {total} possible: {count['killed']} killed, {count['equivalent']} "
          f"equivalent, {count['SURVIVED']} survived; {share:.1f} % noticed")
    for line in survivors:
        print("survived:", line)
    return 0 if share >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
