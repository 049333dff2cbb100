/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_BARE_H
#define BUILDBEAT_HEAP_BARE_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>

/*
 * System calls for an object that is loaded into programs of any C library, or of none: they need
 * no library and leave errno alone. They return what the kernel returns: a negative errno.
 */
static inline long bare_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined __x86_64__ && !defined __ILP32__
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long r;

	__asm__ volatile("syscall" : "=a"(r)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return r;
#elif defined __aarch64__
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0" : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#else
	(void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	return -ENOSYS;		/* no program is armed */
#endif
}

static inline int bare_open(const char *path, int flags)
{
	return (int)bare_call(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static inline void bare_close(int fd)
{
	bare_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline ssize_t bare_read(int fd, void *to, size_t size)
{
	return bare_call(SYS_read, fd, (long)to, (long)size, 0, 0, 0);
}

/* On these machines the kernel's structure is that of the C library. */
static inline int bare_stat(const char *path, struct stat *st)
{
#ifdef SYS_newfstatat
	return (int)bare_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)st, 0, 0, 0);
#else
	(void)path, (void)st;
	return -ENOSYS;
#endif
}

static inline int bare_fstat(int fd, struct stat *st)
{
#ifdef SYS_fstat
	return (int)bare_call(SYS_fstat, fd, (long)st, 0, 0, 0, 0);
#else
	(void)fd, (void)st;
	return -ENOSYS;
#endif
}

static inline ssize_t bare_readlink(const char *path, char *to, size_t size)
{
	return bare_call(SYS_readlinkat, AT_FDCWD, (long)path, (long)to, (long)size, 0, 0);
}

static inline int bare_access(const char *path, int mode)
{
	return (int)bare_call(SYS_faccessat, AT_FDCWD, (long)path, mode, 0, 0, 0);
}

static inline int bare_execve(const char *path, char *const argv[], char *const env[])
{
	return (int)bare_call(SYS_execve, (long)path, (long)argv, (long)env, 0, 0, 0);
}

static inline pid_t bare_getpid(void)
{
	return (pid_t)bare_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* Memory for as long as the program runs; NULL: there is none. */
static inline void *bare_pages(size_t size)
{
	long p = bare_call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static inline void bare_give_back(void *p, size_t size)
{
	bare_call(SYS_munmap, (long)p, (long)size, 0, 0, 0, 0);
}

#endif
