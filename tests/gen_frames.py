# SPDX-License-Identifier: MIT
"""Write a program with functions that have frames of many shapes, which call each other and
compare their call stacks with libgcc's: python3 gen_frames.py SEED c|c++ >FILE.

Functions call only functions with larger numbers or themselves, bounded by depth, so that every
program ends. The second half has no realigned stack: compilers describe the first and the last
instructions of that wrongly, so that libgcc crashes if a signal interrupts these.
"""
import random
import sys

COMMON = r"""
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define STEPS 3000
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#ifdef __cplusplus
extern "C" {
#endif
void unwound_check(void);
int unwound_end(void);
#ifdef __cplusplus
}
#endif
#define NOINLINE __attribute__((noinline))
static volatile int sink;
static volatile unsigned checks;
static unsigned budget = 400;
static void NOINLINE check(void) { if (budget) { budget--; unwound_check(); } checks++; }
static void handler(int sig) { (void)sig; unwound_check(); }
static int compare(const void *a, const void *b)
{
	check();
	return *(const char *)a - *(const char *)b;
}
static void NOINLINE sorted(int n) { char t[] = "unwind"; qsort(t, 3 + (unsigned)n % 3, 1, compare); sink += t[0]; }
static void NOINLINE interrupted(void) { unsigned keep = budget; budget = 0; raise(SIGUSR1); budget = keep; }
static int *volatile nowhere;
static void NOINLINE faulted(void) { *nowhere = 1; sink++; }
#ifdef __x86_64__
static unsigned steps;
/* After each instruction: prologues, epilogues and the code of calls between objects. */
static void stepped(int sig, siginfo_t *info, void *context)
{
	(void)sig, (void)info;
	unwound_check();
	if (++steps == STEPS)
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100L;
}
static void begin_steps(void)
{
	__asm__ volatile("sub $128, %%rsp; pushf; orq $0x100, (%%rsp); popf; add $128, %%rsp" ::: "memory", "cc");
}
#endif
static int NOINLINE deeper(int n, int x)
{
	volatile int keep = x;
	int r;
	if (!n) {
		check();
		return keep;
	}
	r = deeper(n - 1, x + 1);
	return r + keep;
}
static sigset_t set;
static ucontext_t back, there;
"""


def body(rng, i, n, cxx):
    """A function's statements: a shape of frame around calls."""
    lines, calls = [], []
    if rng.random() < 0.3:
        lines.append(f"char *a = (char *)alloca((unsigned)x % {rng.choice([7, 100, 5000])} + 1); "
                     "a[0] = (char)x; sink += *(volatile char *)a;")
    if rng.random() < 0.3:
        size = rng.choice([3, 64, 4000, 70000])
        lines.append(f"volatile char big[{size}]; big[x & 1] = (char)x; sink += big[0 + (x & 1)];")
    if i < n // 2 and rng.random() < 0.4:
        lines.append(f"volatile long aligned[4] __attribute__((aligned({rng.choice([32, 64, 256])}))); "
                     "aligned[x & 3] = x; sink += (int)aligned[x & 3];")
    if not cxx and rng.random() < 0.15:
        lines.append("volatile char vla[(unsigned)x % 50 + 1]; vla[0] = (char)x; sink += vla[0];")
    if rng.random() < 0.3:
        names = [f"v{k}" for k in range(rng.randint(2, 9))]
        lines.append("int " + ", ".join(f"{v} = sink + {k}" for k, v in enumerate(names)) + ";")
        calls.append("sink += " + " ^ ".join(names) + ";")
    for _ in range(rng.randint(1, 3)):
        kind = rng.random()
        if kind < 0.35 and i + 1 < n:
            j = rng.randint(i + 1, min(n - 1, i + 6))
            calls.append(f"if (depth > 0) sink += f{j}(depth - 1, x + {j}, {', '.join(['x'] * ARGS[j])});")
        elif kind < 0.45:
            calls.append(f"if (depth > 0 && x % 3) sink += f{i}(depth - 3, x + 1, {', '.join(['x'] * ARGS[i])});")
        elif kind < 0.55 and i + 1 < n:
            j = rng.randint(i + 1, n - 1)
            calls.append(f"if (depth > 0) sink += table{j}(depth - 1, x, {', '.join(['depth'] * ARGS[j])});")
        elif kind < 0.62:
            calls.append("sorted(x);")
        elif kind < 0.66:
            calls.append("interrupted();")
        elif cxx and kind < 0.78:
            calls.append("{ Guard g(x); try { check(); if (x & 1) throw x; check(); } "
                         "catch (int e) { check(); sink += e; } }")
        else:
            calls.append("check();")
    if rng.random() < 0.1:
        calls.append('if (x == -12345) { check(); abort(); }')
    return lines + calls


def function(rng, i, n, cxx):
    args = ", ".join(f"int a{k}" for k in range(ARGS[i]))
    attributes = rng.choice(["", "", "", "NOINLINE", "NOINLINE",
                             "NOINLINE __attribute__((cold))"])
    lines = body(rng, i, n, cxx)
    result = " + ".join(["x"] + [f"a{k}" for k in range(ARGS[i])])
    if rng.random() < 0.3 and i + 1 < n:
        j = rng.randint(i + 1, min(n - 1, i + 4))
        result = f"depth > 0 ? f{j}(depth - 1, x, {', '.join(['x'] * ARGS[j])}) : {result}"
    text = "\n\t".join(lines)
    return f"static {attributes} int f{i}(int depth, int x, {args})\n{{\n\t{text}\n\treturn {result};\n}}\n"


CXX = r"""
struct Guard { int n; explicit Guard(int x) : n(x) { sink += n; } ~Guard() { check(); sink -= n; } };
"""

MAIN = r"""
static void *thread(void *p)
{
	all(8);
	return p;
}

static void fiber(void)
{
	all(5);
}

static NOINLINE void jump(int sig)
{
	(void)sig;
	unwound_check();
	exit(unwound_end());
}

int main(void)
{
	static char stack[1 << 18], alternate[1 << 18];
	stack_t other = { alternate, 0, sizeof alternate };
	struct sigaction action;
	pthread_t t;

	memset(&action, 0, sizeof action);
	action.sa_handler = handler;
	sigaction(SIGUSR1, &action, NULL);
	all(12);
	budget = 200;
	sigaltstack(&other, NULL);
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	all(12);
	budget = 200;
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	budget = 200;
	deeper(700, 1);
#ifdef __x86_64__
	action.sa_flags = SA_SIGINFO;
	action.sa_sigaction = stepped;
	sigaction(SIGTRAP, &action, NULL);
	budget = 0;
	begin_steps();
	while (steps < STEPS)
		half(2);
#endif
	action.sa_flags = SA_ONSTACK;
	budget = 200;
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = sizeof stack;
	there.uc_link = &back;
	makecontext(&there, fiber, 0);
	swapcontext(&back, &there);
	action.sa_handler = jump;
	sigaction(SIGSEGV, &action, NULL);
	faulted();
	return 99;
}
"""


def main():
    seed, cxx = int(sys.argv[1]), sys.argv[2] == "c++"
    rng = random.Random(seed)
    n = 40
    ARGS.extend(rng.randint(1, 9) for _ in range(n))
    print(COMMON + (CXX if cxx else ""))
    for i in range(n):
        args = ", ".join(f"int a{k}" for k in range(ARGS[i]))
        print(f"static int f{i}(int depth, int x, {args});")
        print(f"static int (*volatile table{i})(int depth, int x, {args}) = f{i};")
    for i in range(n):
        print(function(rng, i, n, cxx))
    for name, first in ("all", 0), ("half", n // 2):
        print(f"static NOINLINE void {name}(int depth)\n{{")
        for i in range(first, n):
            print(f"\tsink += f{i}(depth, {rng.randint(0, 9)}, {', '.join(['sink'] * ARGS[i])});")
        print("}\n")
    print(MAIN)


ARGS = []
main()
