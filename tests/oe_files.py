# SPDX-License-Identifier: MIT
"""oe_files.py BUILDBEAT DIRECTORY BUILDSTATS|SEED ...

An import of OpenEmbedded's buildstats has the values of the files, and an export writes the same
files again. A number is the seed of a random directory. The files are read here without any code of
buildbeat."""

import collections
import os
import random
import subprocess
import sys
from decimal import Decimal

US = 1000000
SUMS = {"user": "ru_utime", "system": "ru_stime", "minor": "ru_minflt", "major": "ru_majflt",
        "voluntary": "ru_nvcsw", "involuntary": "ru_nivcsw"}
Run = collections.namedtuple("Run", "recipe task start end status values")

# Reading the files


def us(text):
    return int((Decimal(text.split()[0]) * US).to_integral_value("ROUND_HALF_UP"))


def values_of(d):
    """What a recording has of the lines of a run."""
    def both(key):
        parts = [d.get(who + "rusage " + key) for who in ("", "Child ")]
        return None if None in parts else sum(us(p) if "time" in key else int(p) for p in parts)
    v = {name: both(key) for name, key in SUMS.items()}
    if v["user"] is None and {"utime", "cutime"} <= d.keys():
        v["user"] = (int(d["utime"]) + int(d["cutime"])) * 10000
    if v["system"] is None and {"stime", "cstime"} <= d.keys():
        v["system"] = (int(d["stime"]) + int(d["cstime"])) * 10000
    v["rss"] = max((int(d[k]) for k in d if k.endswith("maxrss")), default=None)
    for name, io, key in ("in", "read", "ru_inblock"), ("out", "write", "ru_oublock"):
        io = d.get("IO %s_bytes" % io)
        v[name] = both(key) if io is None else int(io) // 512
    for name in "rchar", "wchar":
        v[name] = int(d["IO " + name]) if "IO " + name in d else None
    return {k: n for k, n in v.items() if n is not None}


def runs_of(recipe, task, text):
    """Starts, and the ends that belong to them: each is the elapsed time later."""
    starts, ends, d = [], [], {}
    for line in text.split("\n")[:-1]:
        key, _, value = line.partition(": ")
        if key == "Started":
            starts.append(us(value))
        if key in ("Event", recipe) and "Elapsed time" in d:
            ends.append(d)
        if key in ("Event", recipe):
            d = {}
        d[key] = value.strip()
        if key == "Ended":
            ends.append(d)
            d = {}
    if "Elapsed time" in d:
        ends.append(d)
    for d in ends:
        begin = us(d["Ended"]) - us(d["Elapsed time"]) if "Ended" in d else starts[0]
        start = min(starts, key=lambda s: abs(s - begin))
        starts.remove(start)
        end = us(d["Ended"]) if "Ended" in d else start + us(d["Elapsed time"])
        yield Run(recipe, task, start, end, d.get("Status", "unknown"), values_of(d))
    for start in starts:
        yield Run(recipe, task, start, None, "unfinished", {})


def bounded(runs):
    """Setscene tasks that failed without an end: before the next task itself of the recipe."""
    for r in runs:
        later = [o.start for o in runs if o.recipe == r.recipe and o.start >= r.start and
                 not o.task.endswith("_setscene")]
        if r.end is None and r.task.endswith("_setscene") and later:
            r = r._replace(end=min(later), status="FAILED", values={"bound": 1})
        yield r


def files_below(top):
    return {os.path.relpath(os.path.join(where, name), top): open(os.path.join(where, name), "rb").read()
            for where, _, names in os.walk(top) for name in names}


def read_buildstats(top):
    runs = []
    for path, text in files_below(top).items():
        if "/" in path and not path.startswith("reduced_proc_pressure/"):
            runs += runs_of(*path.split("/"), text.decode())
    return list(bounded(runs))


# Reading the recording

FIELDS = ("user system rss minor major in out voluntary involuntary rchar wchar at_most setup "
          "setup_user setup_system bound").split()
STATUS = {"done": "PASSED", "fail": "FAILED", "gone": "unknown"}


def read_recording(path):
    zero, starts, runs = None, {}, []
    for line in open(path + "/build"):
        if line.startswith("start_wall_ns: "):
            zero = int(line.split()[1]) // 1000
    for line in open(path + "/tasks.log"):
        f = line.rstrip("\n").split("\t")
        if f[0] == "start":
            starts[f[2]] = (f[7], f[6], zero + int(f[1]))
        elif f[0] == "used":
            sys.exit(path + ": nobody measured the server")
        elif f[0] in STATUS:
            values = {k: int(n) for k, n in zip(FIELDS, f[4:]) if n}
            runs.append(Run(*starts.pop(f[2]), zero + int(f[1]), STATUS[f[0]], values))
    return runs + [Run(*s, None, "unfinished", {}) for s in starts.values()]


# Random directories

RUSAGE = ("utime", "stime", "maxrss", "minflt", "majflt", "inblock", "oublock", "nvcsw", "nivcsw")
IO = ("rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes")
ZERO = 1700000000


class Writer:
    def __init__(self, seed, top):
        self.r, self.top = random.Random(seed), top
        self.failed = []

    def add(self, path, text):
        os.makedirs(os.path.dirname(os.path.join(self.top, path)), exist_ok=True)
        with open(os.path.join(self.top, path), "a", newline="") as f:
            f.write(text)

    def seconds(self):
        """As Python prints the sum of whole seconds and microseconds."""
        return repr(self.r.choice([0, self.r.randrange(5000)]) + self.r.randrange(US) * 0.000001)

    def start(self, at):
        return "Event: TaskStarted \nStarted: %0.2f \n" % at

    def end(self, recipe, task, at, elapsed, status):
        lack = self.r.choice([""] * 6 + ["IO", "rusage", "Child"])
        lines = ["%s: %s" % (recipe, task), "Elapsed time: %0.2f seconds" % elapsed]
        lines += ["%s: %d" % (k, self.r.randrange(900)) for k in ("utime", "stime", "cutime", "cstime")]
        lines += ["IO %s: %d" % (k, self.r.randrange(1 << 22) * (512 if "bytes" in k else 1)) for k in IO]
        for who in "", "Child ":
            lines += ["%srusage ru_%s: %s" % (who, k, self.seconds() if "time" in k else
                                              self.r.randrange(1, 1 << 20)) for k in RUSAGE]
        lines = [line for line in lines if not lack or not line.startswith(lack)]
        if not self.r.randrange(15):
            lines.insert(self.r.randrange(2, len(lines)), "of a later release: 7")
        return "\n".join(lines) + "\nStatus: %s \nEnded: %0.2f \n" % (status, at)

    def task(self, recipe, task):
        path, what, at = recipe + "/" + task, self.r.randrange(20), ZERO + self.r.randrange(90000) / 100
        elapsed = self.r.randrange(1, 9000) / 100
        status = "FAILED" if what == 0 else "PASSED"
        end = self.end(recipe, task, at + elapsed, elapsed, status)
        if status == "FAILED":
            self.failed.append("Failed at: %s at task: %s \n" % (recipe, task))
        if what == 1:			# killed, or a setscene task that failed silently
            self.add(path, self.start(at))
        elif what == 2:			# the disk was full
            self.add(path, (self.start(at) + end)[:self.r.randrange(len(end))])
        elif what in (3, 4, 5):		# two multiconfigs, in any order
            second = at + self.r.randrange(10, 400) / 100
            first_end, second_end = at + elapsed, second + elapsed / 2
            ends = [(first_end, end), (second_end, self.end(recipe, task, second_end, elapsed / 2,
                                                            "PASSED"))]
            if what == 4:
                ends.pop()		# killed
            writes = [(at, self.start(at)), (second, self.start(second))] + ends
            self.add(path, "".join(text for _, text in sorted(writes)))
        else:
            self.add(path, self.start(at) + end)

    def logs(self):
        def log(name, block):
            at = ZERO
            for _ in range(self.r.randrange(12)):
                self.add(name, "%d\n%s\n\n" % (at, block()))
                at += self.r.randrange(1, 4)
        r = self.r
        log("reduced_proc_stat.log", lambda: "%r %r %r" % (r.random(), r.random() / 9, r.random() / 9))
        log("reduced_proc_diskstats.log", lambda: "%r %r %r" % (r.random() * 1e6, r.random(), 1.0))
        log("reduced_proc_meminfo.log", lambda: " ".join(str(r.randrange(1 << 20)) for _ in range(6)))
        log("reduced_proc_net.log", lambda: "lo: 5 5 0 0\neth0: %d 3 2 1" % r.randrange(1 << 40))
        log("monitor_disk.log", lambda: "/dev/vda: %d\ntmpfs: 5" % r.randrange(1 << 40))
        for name in "cpu", "io", "memory":
            log("reduced_proc_pressure/%s.log" % name, lambda: "%.2f 1.00 0.07 %d" % (
                r.random() * 99, r.randrange(1 << 30)))
        if r.randrange(2):
            self.add("host_stats_interval", "Event Time: 1.5\nDate: 2026\n\nuptime\n up 3 days")
            self.add("host_stats_do_compile_failure", "Failed at task: do_compile\n\n\n")

    def build(self):
        words = ("fetch", "unpack", "configure", "compile", "install", "package", "populate_sysroot")
        for i in range(self.r.randrange(1, 40)):
            recipe = "%s%d-%s%s-r%d" % (self.r.choice(["lib", "gcc-cross", "x-native"]), i // 2,
                                        self.r.choice(["", "1_"]), "2.%d+git0+abc" % i, i % 3)
            for word in self.r.sample(words, self.r.randrange(1, len(words))):
                self.task(recipe, "do_" + word + self.r.choice(["", "", "_setscene"]))
            if not self.r.randrange(5):
                self.add(recipe + "/do_empty", "")
        self.logs()
        again = self.r.choice([1, 1, 3])	# multiconfigs
        self.add("build_stats", ("Host Info: Linux node 6.1 #1 SMP @0 x86_64 \nBuild Started: %d.25 \n" %
                                 (ZERO - 1)) * again)
        self.add("build_stats", "".join(self.failed) + "Uncompressed Rootfs size: 1.8M\t/srv/rootfs\n")
        if self.r.randrange(4):
            self.add("build_stats", "Elapsed time: 2000.40 seconds \nCPU usage: 59.3% \n" * again)


# Comparing


def ordered(runs):
    return sorted(runs, key=lambda r: (r.recipe, r.task, r.start, r.end or 0))


def compare(what, expected, got):
    if expected != got:
        lines = ["%s\n    files: %.900s\n    here:  %.900s" % (what, str(e), str(g)) for e, g in zip(expected, got) if e != g]
        sys.exit("\n".join(lines[:3] or ["%s: %d, expected %d" % (what, len(got), len(expected))]))


def check(buildbeat, work, source):
    def run(*words):
        done = subprocess.run([buildbeat, *words], cwd=work, capture_output=True, text=True)
        if done.returncode:
            sys.exit("%s: %s%s" % (source, " ".join(words), done.stderr))
        return done.stdout.strip()
    name = os.path.basename(source)
    expected = ordered(read_buildstats(source))
    recording = os.path.join(work, run("import", "--from", "oe", "-o", "imported", "-n", name, source))
    compare(source + ": tasks", expected, ordered(read_recording(recording)))
    files = {path: text for path, text in files_below(source).items()}
    for where, out in (recording, name + ".imported"), (source, name + ".direct"):
        run("export", "--to", "oe", "-o", out, where)
        compare(out + ": files", sorted(files.items()), sorted(files_below(os.path.join(work, out)).items()))
    return len(expected)


def main():
    buildbeat, work = sys.argv[1:3]
    n = 0
    for source in sys.argv[3:]:
        if source.isdigit():
            w = Writer(int(source), os.path.join(work, source))
            w.build()
            source = w.top
        n += check(buildbeat, work, source)
    print("%d tasks in %d directories" % (n, len(sys.argv) - 3))


main()
