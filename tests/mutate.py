#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Changes one operator, constant, sign or call at a time in code that guards, and reports the
changes that no test notices. Not part of `make check`: 300 mutants take some 20 minutes of CPU time.

usage: mutate.py [-n NUMBER] [-s SEED] [-j JOBS] [--least PERCENT] [--most SECONDS] [--work DIR]
                 [FILE...]

-n NUMBER   mutants to try (default 300)
-s SEED     which ones (default 1): a change of the sources replaces few of them
-j JOBS     test programs that run at once (default: one a core)
--least P   exit with 1 if fewer than P % of the mutants are killed or equivalent (default 90)
--most S    run the best tests that reach a mutant, together about S seconds (default 100)
--work DIR  where the copy of the sources is built (default: a new directory, removed at the end);
            one that an earlier run left is used again, and what it killed is not tried again
--list      print the mutants that would be tried, and try none
FILE        some of the files that guard (default: all of them)

A mutant is killed if a test fails, and fails again alone. A hang is a failure, and so is a leak of
memory in a test that has none without the mutant. A mutant is equivalent if the compiler makes the
same code of it, if tests/mutants.txt says why nothing can notice it, or if it gives an error a
column but no line, which is not printed (launch/notice.c). The sources are never changed: the work
is done in a copy.

make says once how it compiles and links, and each test is run once with probes that note which
functions it reaches. A mutant then costs a run of the compiler, a link of each program that has
the file, and the tests that reach its function, up to the one that fails: first those that are
quick, reach little else and have the file's name.
"""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Files that guard.
GUARDS = """base/trust.c command/redact*.c archive/*.c recording/*.c send/*.c plugin/procs.c live/guard.c
    convert/gunzip.c launch/cache_log.c compare/replay.c"""

# The test programs that guard them: which of their tests reach a function is found out.
PROGRAMS = """
    accept alive archive archive_builds archive_damage archive_killed archive_pack archive_shared
    archive_writers base bitbake bombs build_recording builder catalogue chain cmd_archive
    cmd_check cmd_span culprits decide earlier event export follow_events fsck growing guard
    history identity idle import import_oe inspect_archive log_bitbake log_command log_pipes
    log_relay log_tasks long_lines lost make_faults make_signals make_transparent moved ninja
    ninja_join nomem nomem_archive notes_text oe_write partial_io pidserver plugin_api
    plugin_threads preload_faults preload_threads preload_transparent process_tree profile
    profile_live proof races record record_faults record_processes record_summary recording
    recording_write redact remote results same_events samples secrets send series serve span
    stopped store tally tally_image tally_threads task traces trust trust_files unreadable
    usage_log used verdict verdict_held verdict_sets"""

# All test programs are links to one, which is linked with the leak sanitizer. What they run is
# not, as the sanitizer cannot work below strace.
CHECKS = "tests/checks"
PRODUCTS = ["buildbeat", "heap/buildbeat-heap.so", "live/buildbeat-serve", "live/buildbeat-top", "plugin/buildbeat.so",
            "plugin/buildbeat-preload.so", "send/buildbeat-send"]

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<number>0[xX][0-9a-fA-F.]+p[-+]?\d+|0[xX][0-9a-fA-F]+[uUlL]*|\d+\.\d+|\d+[uUlL]*)
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
        if found.lastgroup == "number" and not re.search(r"[.p]", token):
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


def guards():
    return sorted({os.path.relpath(path, TOP) for pattern in GUARDS.split()
                   for path in glob.glob(os.path.join(TOP, pattern))})


def chosen(paths, number, seed):
    """A sample of all possible changes. A hash of each decides, so that a change of the sources
    replaces few of the sample."""
    rank, same = {}, collections.Counter()
    for mutant in (m for path in paths for m in mutants_of(path)):
        text = "\t".join((mutant.path, mutant.before, mutant.after))
        same[text] += 1
        rank[mutant] = hashlib.sha1(f"{seed}\t{same[text]}\t{text}".encode()).digest()
    return sorted(rank, key=rank.get)[:number], len(rank)


def is_unprinted(mutant):
    return bool(re.search(r'\berror_set\([^"]*, 0, 0, ', mutant.before) and
                re.search(r'\berror_set\([^"]*, 0, 1, ', mutant.after))


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


# Notes which functions run, in a file that all processes of a test share. No call of it can fail
# in a way that a test sees.
PROBE = r"""
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static inline void mutate_probe(unsigned i)
{
	static volatile unsigned char *map;
	int before = errno;
	long fd = map ? -1 : syscall(SYS_openat, AT_FDCWD, "PATH", O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		void *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);

		if (p != MAP_FAILED)
			map = p;
		syscall(SYS_close, fd);
	}
	if (map)
		map[i] = 1;
	errno = before;
}
"""


def runs(command, **more):
    return not subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, **more).returncode


def without_ccache(command):
    return [word for word in shlex.split(command) if word != "ccache"]


def content(path):
    with open(path, "rb") as file:
        return file.read()


class Run:
    """One test of a program that runs, alone in its group of processes."""

    def __init__(self, copy, test, place):
        limit_s = 30 + 5 * test.seconds
        env = dict(copy.env, CK_RUN_TEST=test.name, PROBES=copy.probes(place),
                   LSAN_OPTIONS="exitcode=" + ("0" if test.leaks else "23"))
        most = (int(limit_s), int(limit_s))
        self.test, self.place = test, place
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            copy.private + [test.program], cwd=copy.build, env=env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, most))
        self.deadline = self.began + limit_s

    def over(self):
        return self.process.poll() is not None or time.monotonic() > self.deadline

    def end(self):
        """Ends all that it started. Whether the test failed."""
        failed = self.process.poll() not in (0, 77)
        for number in (signal.SIGTERM, signal.SIGKILL):     # at the first, Check ends its child
            try:
                os.killpg(self.process.pid, number)
                self.process.wait(2)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        self.process.wait()
        return failed


class Test:
    """A test function: its program, how long it takes, and which functions of guarded files run in it."""

    def __init__(self, program, name, seconds=60, leaks=False, reaches=()):
        self.program, self.name = program, name
        self.seconds, self.leaks, self.reaches = seconds, leaks, list(reaches)


class Copy:
    """The sources, copied and built in a directory of their own."""

    def __init__(self, top, jobs):
        self.top = top
        self.source = os.path.join(top, "source")
        self.build = os.path.join(self.source, "build")
        self.jobs = jobs
        self.env = {k: v for k, v in os.environ.items() if k not in ("CI", "MAKEFLAGS", "MFLAGS")
                    and not k.startswith("CK_")}
        self.env.update(srcdir=self.source)
        self.links = {}         # of a program: the command that links it, and what it takes of libraries
        self.compilers = {}     # of a source file: how its objects are compiled
        self.map = os.path.join(top, "probes")
        self.objects = os.path.join(top, "objects")
        os.makedirs(self.objects, exist_ok=True)
        # A test has its own /tmp, so that nothing is left of one that was stopped.
        private = ["unshare", "-m", "sh", "-c",
                   'mount -t tmpfs -o mode=1777 tmpfs /tmp && mount --bind "$PROBES" ' +
                   shlex.quote(self.map) + ' && unset PROBES && exec "$@"', "sh"]
        open(self.map, "w", encoding="utf-8").close()
        possible = runs(private + ["true"], env=dict(self.env, PROBES=self.map))
        self.private = private if possible else []
        self.lld = shutil.which("ld.lld")       # a third of the time

    def probes(self, place):
        return f"{self.map}-{place}" if self.private else self.map

    def create(self):
        names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               cwd=TOP, check=True, stdout=subprocess.PIPE).stdout.split(b"\0")
        for name in filter(None, names):
            name = os.fsdecode(name)
            old, new = os.path.join(TOP, name), os.path.join(self.source, name)
            if not os.path.lexists(old):
                continue
            os.makedirs(os.path.dirname(new), exist_ok=True)
            if os.path.islink(old) or not os.path.exists(new) or content(old) != content(new):
                if os.path.lexists(new):
                    os.unlink(new)
                shutil.copy2(old, new, follow_symlinks=False)
                if not os.path.islink(new):
                    os.utime(new)
        if not os.path.exists(os.path.join(self.build, "Makefile")):
            os.makedirs(self.build, exist_ok=True)
            self.must(["autoreconf", "-fi"], self.source)
            self.must(["../configure", "-q", "CFLAGS=-O2 -g0"], self.build)
        self.must(["make", "-s", "-j", str(self.jobs), "check", "TESTS="], self.build)
        self.learn_links(PRODUCTS + [CHECKS])
        self.learn_compilers(guards())

    def must(self, command, where):
        done = subprocess.run(command, cwd=where, env=self.env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = done.stdout.decode(errors="replace")
        if done.returncode:
            sys.exit(f"mutate.py: {' '.join(command)}: {text[-3000:]}")
        return text

    def learn_links(self, programs):
        """How make links each program, and the objects that takes."""
        for program in programs:
            path = os.path.join(self.build, program)
            if os.path.exists(path):
                os.unlink(path)
        commands = {}
        for line in self.must(["make", "V=1", *programs], self.build).split("\n"):
            found = re.search(r" -o (\S+) ", line)
            if found and found.group(1) in programs:
                commands[found.group(1)] = without_ccache(line)
        for program in programs:
            if program not in commands:
                sys.exit(f"mutate.py: make does not say how {program} is linked")
            said = self.must(commands[program] + ["-Wl,-t,-t"], self.build)
            members = re.findall(r"^\(?([\w./-]+\.a)[()]([\w.-]+\.o)\)?$", said, re.M)
            objects = {os.path.join(os.path.dirname(library), name) for library, name in members}
            self.links[program] = (commands[program], objects)

    def link(self, objects):
        """Links each program that has one of the objects, with what is in its place: {program: file}
        in a new directory, or None."""
        where = tempfile.mkdtemp(dir=self.top, prefix="linked-")
        linked = {}
        for program, (command, members) in self.links.items():
            changed = [objects.get(word, word) for word in command]
            # An object that comes first is taken instead of the one in a library.
            first = changed.index("-o") + 2
            changed[first:first] = [new for old, new in objects.items() if old in members]
            if changed == command:
                continue
            linked[program] = os.path.join(where, os.path.basename(program))
            changed[first - 1] = linked[program]
            if program == CHECKS:
                changed.insert(1, "-fsanitize=leak")
            if self.lld and not program.endswith(".so"):
                changed.append("-fuse-ld=lld")
            if not runs(changed + ["-Wl,-S"], cwd=self.build):
                return None
        return linked

    def install(self, linked):
        for program, file in linked.items():
            target = os.path.join(self.build, program)
            os.rename(target, target + ".good")
            os.rename(file, target)

    def restore(self):
        for program in self.links:
            target = os.path.join(self.build, program)
            if os.path.exists(target + ".good"):
                os.replace(target + ".good", target)

    def learn_compilers(self, paths):
        """How each object of the source files is compiled: {path: {object: command}}, without its -o."""
        linked = {word for command, members in self.links.values() for word in [*command, *members]}
        objects = {}
        for path in paths:
            room, stem = os.path.dirname(path), re.escape(os.path.basename(path)[:-2])
            for word in linked:
                if re.fullmatch(rf"{room}/([\w.]+-)?{stem}\.o", word):
                    objects[word] = path
        said = self.must(["make", "-n", "V=1", *(f"-W../{path}" for path in paths), *objects], self.build)
        for found in re.finditer(r"^(.*) -MT \S+ -MD -MP -MF \S+ -c -o (\S+)", said, re.M):
            path = objects.get(found.group(2))
            if path:
                self.compilers.setdefault(path, {})[found.group(2)] = \
                    without_ccache(found.group(1)) + ["-g0", "-w", "-c", "-x", "c", "-"]
        for path in paths:
            if path not in self.compilers:
                sys.exit(f"mutate.py: {path}: in no program that is tested")

    def compiled(self, path, text, *options):
        """What the compiler makes of a text in the place of a file: {object: file}, or None."""
        made = {}
        for name, command in self.compilers[path].items():
            key = hashlib.sha1("\0".join([text, *command, *options]).encode()).hexdigest()
            made[name] = os.path.join(self.objects, key + ".o")
            if not os.path.exists(made[name]) and subprocess.run(
                    [*command, *options, "-o", made[name]], cwd=self.build, input=text.encode(),
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                return None
        return made

    def link_probes(self, functions):
        """Links all with a probe in each function, whose index in the list is what it notes."""
        header = os.path.join(self.top, "probe.h")
        with open(header, "w", encoding="utf-8") as file:
            file.write(PROBE.replace("PATH", self.map).replace("SIZE", str(len(functions))))
        number = {function: i for i, function in enumerate(functions)}

        def instrument(path):
            with open(os.path.join(self.source, path), encoding="utf-8") as file:
                text = file.read()
            for start, name in reversed(list(function_names(text))):
                text = f"{text[:start]}{{ mutate_probe({number[path, name]});{text[start + 1:]}"
            return path, self.compiled(path, text, "-include", header)

        objects = {}
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for path, made in pool.map(instrument, sorted({path for path, _ in functions})):
                if made is None:
                    sys.exit(f"mutate.py: {path}: cannot be compiled with probes")
                objects.update(made)
        for place in ["", *range(self.jobs)]:
            name = self.map if place == "" else f"{self.map}-{place}"
            with open(name, "wb") as file:
                file.write(bytes(len(functions)))
            os.chmod(name, 0o666)       # some tests run as another user
        linked = self.link(objects)
        if not linked:
            sys.exit("mutate.py: cannot link the probes")
        self.install(linked)

    def reached(self, place):
        """Which probes ran since the last call."""
        name = self.probes(place)
        map_ = content(name)
        with open(name, "r+b") as file:
            file.write(bytes(len(map_)))
        return [i for i, byte in enumerate(map_) if byte]

    def run(self, tests, jobs=0):
        """Runs tests; yields each Run that ended, and whether it failed. All that it started is ended."""
        waiting, running = list(tests), []
        try:
            while waiting or running:
                while waiting and len(running) < (jobs or self.jobs):
                    place = min(set(range(self.jobs)) - {run.place for run in running})
                    running.append(Run(self, waiting.pop(0), place))
                time.sleep(.01)
                for run in [run for run in running if run.over()]:
                    running.remove(run)
                    yield run, run.end()
        finally:
            for run in running:
                run.end()

    def first_failure(self, tests):
        """The first test that fails, and again: no accident of a busy machine."""
        for run, failed in self.run(tests):
            if failed and any(again for _, again in self.run([run.test], 1)):
                return run.test
        return None


def function_names(text):
    """(position of its '{', name) of each function; of two under #if, one has the name."""
    for start, _ in function_bodies(text):
        names = re.findall(r"^[A-Za-z_][^\n(]*?(\w+)\(", text[max(0, start - 1000):start], re.M)
        if names:
            yield start, names[-1]


def tests_of(program):
    """The names of the tests of a program, as its source says them."""
    with open(os.path.join(TOP, program + ".c"), encoding="utf-8") as file:
        return list(dict.fromkeys(re.findall(r"\bTEST(?:_EACH|_LOOP|_RANGE)?\((\w+)", file.read())))


def learn_tests(copy, programs, functions):
    """All tests of the programs, with what they reach; what an earlier run learnt is kept."""
    store = os.path.join(copy.top, "tests.json")
    known = {}
    if os.path.exists(store):
        with open(store, encoding="utf-8") as file:
            known = json.load(file)
    sources = {p: hashlib.sha1(content(os.path.join(TOP, p + ".c"))).hexdigest() for p in programs}
    new = [Test(p, name) for p in programs for name in tests_of(p)
           if known.get(p, {}).get("source") != sources[p]]
    fresh = {test.program: {"source": sources[test.program], "tests": {}} for test in new}
    left = collections.Counter(test.program for test in new)
    if new:
        copy.link_probes(functions)
    for run, failed in copy.run(new, 0 if copy.private else 1):
        test, reaches, seconds = run.test, copy.reached(run.place), time.monotonic() - run.began
        test.leaks = failed
        if failed and any(again for _, again in copy.run([test], 1)):
            print(f"not used, it fails without a mutant: {test.program} {test.name}", flush=True)
        else:
            fresh[test.program]["tests"][test.name] = [
                seconds, test.leaks, [functions[i] for i in reaches]]
        left[test.program] -= 1
        if not left[test.program]:      # a run that is ended keeps it
            known[test.program] = fresh[test.program]
            with open(store, "w", encoding="utf-8") as file:
                json.dump(known, file)
    copy.restore()
    return [Test(p, name, *values) for p in programs for name, values in known[p]["tests"].items()]


def cost_for(test, mutant):
    """The order in which tests are tried: quick, with few other functions, and of the file's name. If
    the line is about memory that runs out, tests of that."""
    words = re.findall(r"[a-z]{4,}", mutant.path[:-2])
    if "ENOMEM" in mutant.before:
        words.append("nomem")
    named = sum(word.rstrip("s") in test.program for word in words)
    return test.seconds * len(test.reaches) / 20 ** named


def prepare(copy, mutant, tests, most_s):
    """(the result if no test must run, or None; the tests; the programs that they need)."""
    with open(os.path.join(copy.source, mutant.path), encoding="utf-8") as file:
        text = file.read()
    good = copy.compiled(mutant.path, text)
    bad = copy.compiled(mutant.path, text[:mutant.at] + mutant.text + text[mutant.end:])
    if not bad:
        return "not compiled", [], {}
    if all(content(good[o]) == content(bad[o]) for o in bad):
        return "equivalent", [], {}
    at = [name for start, name in function_names(text) if start <= mutant.at]
    # A constant above all functions can matter in each of them.
    reaching = sorted((t for t in tests if any(
        path == mutant.path and (name == at[-1] if at else True) for path, name in t.reaches)),
                      key=lambda t: cost_for(t, mutant))
    while sum(t.seconds for t in reaching) > most_s and len(reaching) > 1:
        reaching.pop()
    if not reaching:
        return "SURVIVED 0 tests", [], {}
    linked = copy.link(bad)
    return (None, reaching, linked) if linked else ("not compiled", [], {})


def judge(copy, result, reaching, linked):
    """'killed by PROGRAM: TEST', 'equivalent', 'not compiled' or 'SURVIVED N tests'."""
    if result:
        return result
    try:
        copy.install(linked)
        killer = copy.first_failure(reaching)
    finally:
        copy.restore()
        for file in linked.values():
            shutil.rmtree(os.path.dirname(file), ignore_errors=True)
    return f"killed by {killer.program}: {killer.name}" if killer else f"SURVIVED {len(reaching)} tests"


class Log:
    """The results of the runs in one work directory: what was killed is not tried again."""

    def __init__(self, path):
        self.path = path
        self.known = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    result, mutant = line.rstrip("\n").split("\t", 1)
                    self.known[mutant] = result

    def add(self, mutant, result):
        with open(self.path, "a", encoding="utf-8") as file:
            print(result, mutant, sep="\t", file=file)


def try_all(work, jobs, most_s, mutants):
    """Yields (mutant as a line, result) of each."""
    log = Log(os.path.join(work, "results"))
    reasons = explained()
    left = []
    for mutant in mutants:
        line = f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}"
        if (mutant.path, mutant.before, mutant.after) in reasons:
            yield line, "equivalent: tests/mutants.txt"
        elif is_unprinted(mutant):
            yield line, "equivalent: a column without a line"
        elif not log.known.get(line, "SURVIVED").startswith("SURVIVED"):
            yield line, log.known[line]
        else:
            left.append((mutant, line))
    if not left:
        return
    left.sort(key=lambda one: one[1] in log.known)      # those that were never tried first
    copy = Copy(os.path.abspath(work), jobs)
    copy.restore()
    copy.create()
    functions = []
    for path in guards():
        with open(os.path.join(copy.source, path), encoding="utf-8") as file:
            functions += dict.fromkeys((path, name) for _, name in function_names(file.read()))
    tests = learn_tests(copy, ["tests/check_" + name for name in PROGRAMS.split()], functions)
    # The next ones are compiled and linked while tests run.
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        coming = collections.deque()
        for i in range(len(left) + jobs):
            if i < len(left):
                coming.append(pool.submit(prepare, copy, left[i][0], tests, most_s))
            if i >= jobs:
                line = left[i - jobs][1]
                result = judge(copy, *coming.popleft().result())
                log.add(line, result)
                yield line, result


def main():
    parser = argparse.ArgumentParser(description="change guarding code, report what no test notices")
    parser.add_argument("-n", type=int, default=300, metavar="NUMBER")
    parser.add_argument("-s", type=int, default=1, metavar="SEED")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="JOBS")
    parser.add_argument("--least", type=float, default=90, metavar="PERCENT")
    parser.add_argument("--most", type=float, default=100, metavar="SECONDS")
    parser.add_argument("--work", metavar="DIR")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE")
    args = parser.parse_args()

    for path in args.files:
        if path not in guards():
            sys.exit(f"mutate.py: {path}: not one of the files that guard")
    mutants, total = chosen(args.files or guards(), args.n, args.s)
    if args.list:
        for mutant in mutants:
            print(f"{mutant.path}:{mutant.line}: {mutant.before}  ->  {mutant.after}")
        print(f"{len(mutants)} of {total} possible mutants")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))      # which ends and restores all
    work = args.work or tempfile.mkdtemp(prefix="buildbeat-mutate.", dir="/var/tmp")
    count, survivors = collections.Counter(), []
    try:
        for line, result in try_all(work, args.j, args.most, mutants):
            count[result.split()[0]] += 1
            print(f"{result}: {line}", flush=True)
            if result.startswith("SURVIVED"):
                survivors.append(line)
    finally:
        if not args.work:
            shutil.rmtree(work, ignore_errors=True)
    tried = len(mutants) - count["not"]
    good = count["killed"] + count["equivalent"]
    share = 100 * good / tried if tried else 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"\n{tried} mutants of {total} possible: {count['killed']} killed, {count['equivalent']} "
          f"equivalent, {count['SURVIVED']} survived; {share:.1f} % noticed; "
          f"{used.ru_utime + used.ru_stime:.0f} s of CPU")
    for line in survivors:
        print("survived:", line)
    return 0 if share >= args.least else 1


if __name__ == "__main__":
    sys.exit(main())
