/* SPDX-License-Identifier: MIT */
/*
 * The functions through which a program enters a sandbox. libseccomp calls syscall() for it. Nothing
 * is looked up for them, and they do what libc's do.
 */
#include "heap/bare.h"
#include "heap/sandbox.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if (defined __x86_64__ && !defined __ILP32__) || defined __aarch64__	/* those of bare_call() */

#define SYSCALL_ARGS 6

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

static long call(long number, const long *arg)
{
	enum sandbox s = entered(number, arg[0], arg[1]);
	long r;

	add_entry(s);
	r = bare_call(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (r >= 0 || r < -4095)
		return r;
	remove_failed(s, -1);
	errno = (int)-r;
	return -1;
}

long syscall(long number, ...)
{
	long arg[SYSCALL_ARGS];
	va_list ap;

	va_start(ap, number);
	for (int i = 0; i < SYSCALL_ARGS; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	return call(number, arg);
}

int prctl(int what, ...)
{
	long arg[SYSCALL_ARGS] = { what };
	va_list ap;

	va_start(ap, what);
	for (int i = 1; i < SYSCALL_ARGS - 1; i++)
		arg[i] = va_arg(ap, long);
	va_end(ap);
	return (int)call(SYS_prctl, arg);
}

#endif
