/* SPDX-License-Identifier: MIT */
/*
 * The functions through which a program enters a sandbox. libseccomp calls syscall() for it. Other
 * preloads replace them too, some to enter none: the calls go on to the next object.
 */
#include "heap/bare.h"
#include "heap/sandbox.h"
#include "heap/shim.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if (defined __x86_64__ && !defined __ILP32__) || defined __aarch64__	/* those of bare_call() */

#define SYSCALL_ARGS 6

/* NULL until the constructor: nothing is looked up inside a system call. */
static struct {
	long (*syscall)(long, ...);
	int (*prctl)(int, ...);
} real;

void shim_find_sandboxes(void)
{
	void *found[] = { dlsym(RTLD_NEXT, "syscall"), dlsym(RTLD_NEXT, "prctl") };

	memcpy(&real, found, sizeof real);
}

/* As libc's syscall(). */
static long call(long number, const long *arg)
{
	long r = bare_call(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);

	if (r >= 0 || r < -4095)
		return r;
	errno = (int)-r;
	return -1;
}

/* The sandbox that a system call enters. The upper half of an int in it is undefined. */
static enum sandbox entered(long number, long what, long mode)
{
	if (number == SYS_prctl && (unsigned)what == PR_SET_SECCOMP)
		return (unsigned)mode == SECCOMP_MODE_STRICT ? SANDBOX_STRICT : SANDBOX_FILTER;
	if (number != SYS_seccomp || (unsigned)what > SECCOMP_SET_MODE_FILTER)
		return SANDBOX_NONE;
	return (unsigned)what == SECCOMP_SET_MODE_STRICT ? SANDBOX_STRICT : SANDBOX_FILTER;
}

/* Other threads may be in the sandbox before the call returns, so it counts before it. */
static void add_entry(enum sandbox s)
{
	if (s != SANDBOX_NONE)
		__atomic_add_fetch(&sandbox_entries[s], 1, __ATOMIC_ACQ_REL);
}

static void remove_failed(enum sandbox s, long r)
{
	if (s != SANDBOX_NONE && r == -1)
		__atomic_sub_fetch(&sandbox_entries[s], 1, __ATOMIC_ACQ_REL);
}

long syscall(long number, ...)
{
	long arg[SYSCALL_ARGS], r;
	enum sandbox s;
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < SYSCALL_ARGS; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	s = entered(number, arg[0], arg[1]);
	add_entry(s);
	r = real.syscall ? real.syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]) :
			   call(number, arg);
	remove_failed(s, r);
	return r;
}

int prctl(int what, ...)
{
	long arg[SYSCALL_ARGS] = { what };
	enum sandbox s;
	va_list ap;
	int r;

	va_start(ap, what);
	for (int i = 1; i < SYSCALL_ARGS - 1; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	s = entered(SYS_prctl, arg[0], arg[1]);
	add_entry(s);
	r = real.prctl ? real.prctl(what, arg[1], arg[2], arg[3], arg[4]) :
			 (int)call(SYS_prctl, arg);
	remove_failed(s, r);
	return r;
}

#else

void shim_find_sandboxes(void)
{
}

#endif
