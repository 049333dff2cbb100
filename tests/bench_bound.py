# SPDX-License-Identifier: MIT
"""How far the least time of a build ("on free cores at least") moves with -j and with the load of the machine.
Builds of known needs are made for real, with -j1, -j4 and -j16, alone and beside two processes that compute. Run
in the build directory. Printed are the true least time, each bound, its error, and by how much the largest is
more than the smallest. The compiler's true needs are unknown. Arguments: names of kinds; default: all."""
import json
import os
import random
import subprocess
import sys
import tempfile

BUILDBEAT = os.path.join(os.getcwd(), "buildbeat")
JOBS, LOADS = (1, 4, 16), (0, 2)

SPIN = r"""
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void compute(double ms)	/* so much CPU time */
{
	struct timespec t;
	volatile unsigned long x = 1;
	double end;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	end = t.tv_sec * 1e3 + t.tv_nsec / 1e6 + ms;
	do {
		for (int i = 0; i < 20000; i++)
			x = x * 3 + 1;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec * 1e3 + t.tv_nsec / 1e6 < end);
}
int main(int argc, char **argv)	/* CPU-MS SLEEP-MS ROUNDS PROCESSES */
{
	double cpu = atof(argv[1]), sleep = atof(argv[2]);
	int rounds = atoi(argv[3]);
	for (int i = argc > 4 ? atoi(argv[4]) : 1; i > 1 && fork(); i--)
		;
	for (int i = 0; i < rounds; i++) {
		compute(cpu / rounds);
		usleep(sleep / rounds * 1000);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
"""


class Plan:
    def __init__(self):
        self.tasks, self.end = [], {}

    def add(self, name, cpu=0, sleep=0, rounds=1, processes=1, after=(), command=None):
        command = command or f"./spin {cpu} {sleep} {rounds} {processes}"
        self.tasks.append((name, " ".join(after), command))
        self.end[name] = max((self.end[t] for t in after), default=0) + (cpu + sleep) / 1e3
        return name

    def makefile(self):
        names = " ".join(name for name, _, _ in self.tasks)
        return f".PHONY: all {names}\nall: {names}\n" + "".join(
            f"{name}: {after}\n\t@{command}\n" for name, after, command in self.tasks)

    def least(self):
        return max(self.end.values())


def compute(p, r):
    p.add("link", 200, after=[p.add(f"o{i}", r.randint(100, 400)) for i in range(10)])


def sleep(p, r):
    p.add("link", 0, 300, after=[p.add(f"o{i}", 0, r.randint(200, 600)) for i in range(12)])


def mixture(p, r):
    p.add("link", 150, after=[p.add(f"o{i}", *((r.randint(50, 300), 0) if i % 2 else (2, r.randint(200, 700))))
                              for i in range(14)])


def both(p, r):
    p.add("link", 200, after=[p.add(f"o{i}", 200, 200, 20) for i in range(8)])


def pipes(p, r):
    tasks = []
    for i in range(6):
        ms = r.randint(100, 250)
        tasks.append(p.add(f"o{i}", ms, command=f"./spin {ms} 0 1 | ./spin {ms} 0 1"))
    p.add("link", 200, after=tasks)


def parallel(p, r):
    p.add("link", 300, after=[p.add(f"o{i}", 150, 0, 1, 3) for i in range(4)])


def graph(p, r):
    names = []
    for i in range(25):
        after = r.sample(names, min(len(names), r.randint(0, 3)))
        cpu, wait = r.choice(((r.randint(20, 250), 0), (1, r.randint(50, 500)), (r.randint(20, 250), 0)))
        names.append(p.add(f"t{i}", cpu, wait, after=after))


def chain(p, r):
    last = []
    for i in range(5):
        last = [p.add(f"c{i}", 200, after=last)]
    p.add("link", 100, after=last + [p.add(f"o{i}", 150) for i in range(8)])


def compiles(p, r):
    tasks = []
    for i in range(6):
        body = "".join(f"double f{k}(double a, int n) {{ double s = a; for (int i = 0; i < n; i++) "
                       f"s = s * {k + i + 2}.5 + i / (s + {k}); return s; }}\n" for k in range(150 + 40 * i))
        with open(f"c{i}.c", "w", encoding="ascii") as f:
            f.write(body)
        tasks.append(p.add(f"c{i}.o", command=f"cc -O2 -c c{i}.c"))
    p.add("lib.a", after=tasks, command="ar crs lib.a c?.o")


KINDS = (compute, sleep, mixture, both, pipes, parallel, graph, chain, compiles)


def bound_of(makefile, jobs, load):
    others = [subprocess.Popen(["./spin", "1e9", "0", "1"]) for _ in range(load)]
    try:
        subprocess.run([BUILDBEAT, "record", "-q", "--no-git", "-o", "stats", "--", "make", "-s", "-f", makefile, f"-j{jobs}"],
                       check=True, stdout=subprocess.DEVNULL)
    finally:
        for p in others:
            p.kill()
            p.wait()
    show = json.loads(subprocess.run([BUILDBEAT, "show", "--json", "stats"], check=True, capture_output=True).stdout)
    subprocess.run(["rm", "-rf", "stats"], check=True)
    return show["dependencies"]["least_wall_us"] / 1e6, show["totals"]["wall_us"] / 1e6


def main():
    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        with open("spin.c", "w", encoding="ascii") as f:
            f.write(SPIN)
        subprocess.run(["cc", "-O2", "-w", "-o", "spin", "spin.c"], check=True)
        for kind in KINDS:
            if wanted and kind.__name__ not in wanted:
                continue
            plan = Plan()
            kind(plan, random.Random(1))
            with open("Makefile", "w", encoding="ascii") as f:
                f.write(plan.makefile())
            least, bounds = plan.least(), []
            for load in LOADS:
                for jobs in JOBS:
                    bound, wall = bound_of("Makefile", jobs, load)
                    bounds.append(bound)
                    error = f", {bound / least - 1:+.0%}" if least else ""
                    print(f"bound: {kind.__name__} -j{jobs}, {load} others: at least {bound:.2f} s{error}, of {wall:.2f} s")
            truth = f"truth {least:.2f} s, " if least else ""
            print(f"bound: {kind.__name__}: {truth}moves by {max(bounds) / min(bounds) - 1:.0%}", flush=True)


if __name__ == "__main__":
    main()
