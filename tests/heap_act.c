/* SPDX-License-Identifier: MIT */
/*
 * heap_act WHAT: a program that does unusual things with its memory and its process. Each prints
 * what check_heap_shim expects. Blocks that remain are of 100,000 bytes and more.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void *volatile kept;
static volatile size_t huge = SIZE_MAX / 2;

static __attribute__((noinline)) void keep(void *p)
{
	if (!p)
		_exit(9);
	kept = p;
}

/* 15 blocks of 100,000 bytes remain, by every function of malloc()'s family. */
static void family(void)
{
	void *p;

	keep(malloc(100000));
	keep(calloc(10, 10000));
	keep(realloc(NULL, 100000));
	keep(realloc(malloc(50), 100000));
	keep(realloc(malloc(200000), 100000));
	keep(reallocarray(NULL, 1000, 100));
	keep(memalign(4096, 100000));
	keep(aligned_alloc(64, 100000));
	if (posix_memalign(&p, 64, 100000))
		_exit(9);
	keep(p);
	keep(valloc(100000));
	keep(pvalloc(100000));
	keep(strdup(memset(calloc(1, 100000), 'x', 99999)));	/* two */
	p = malloc(300000);
	if (realloc(p, huge) || errno != ENOMEM)
		_exit(9);
	free(p);
	if (malloc(huge) || errno != ENOMEM)
		_exit(9);
	if (calloc(huge, 4) || reallocarray(NULL, huge, 4))
		_exit(9);
	if (malloc(-(size_t)huge / 2) || realloc(NULL, huge + 4000000) || calloc(1, huge * 2))
		_exit(9);
	errno = 77;
	keep(malloc(100000));
	if (errno != 77)
		_exit(9);
	free(NULL);
	p = malloc(100000);
	if (errno != 77)
		_exit(9);
	free(p);
	if (errno != 77)
		_exit(9);
	keep(malloc(100000));
}

#define MIB ((size_t)1 << 20)

static char *map(size_t size, int protection, int flags, void *at)
{
	char *p = mmap(at, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);

	if (p == MAP_FAILED)
		_exit(9);
	return p;
}

/* 24 MiB remain mapped. */
static void mappings(void)
{
	int rw = PROT_READ | PROT_WRITE;
	char *p = map(8 * MIB, rw, 0, NULL), *q;

	munmap(p + 2 * MIB, MIB);			/* 7 */
	munmap(p, MIB);					/* 6 */
	q = map(4 * MIB, rw, 0, NULL);
	q = mremap(q, 4 * MIB, 10 * MIB, MREMAP_MAYMOVE);	/* 16 */
	if (q == MAP_FAILED)
		_exit(9);
	q = mremap(q, 10 * MIB, 9 * MIB, 0);		/* 15 */
	p = map(64 * MIB, PROT_NONE, 0, NULL);		/* reserved: 15 */
	mprotect(p + MIB, 4 * MIB, rw);			/* 19 */
	map(2 * MIB, rw, MAP_FIXED, p + 16 * MIB);	/* 21 */
	mprotect(p + MIB, MIB, PROT_NONE);		/* 20 */
	map(2 * MIB, rw, 0, NULL);			/* 22 */
	p = map(5 * MIB, rw, 0, NULL);
	munmap(p, 5 * MIB);
	p = map(3 * MIB, rw, 0, NULL);
	sbrk(5 * MIB + 100);			/* 27 */
	sbrk(-(intptr_t)(3 * MIB));		/* 24 */
	/* a file over a mapping */
	p = mmap(p, 3 * MIB, PROT_READ, MAP_PRIVATE | MAP_FIXED, open("/proc/self/exe", O_RDONLY), 0);
	if (p == MAP_FAILED)
		_exit(9);
}

/* Children of many kinds; only fork()'s has an image of its own, with one block of 200,000. */
static void children(void)
{
	char name[] = "true", *argv[] = { name, NULL };
	int status;
	pid_t pid;

	keep(malloc(100000));
	pid = fork();
	if (!pid) {
		keep(malloc(200000));
		keep(map(MIB, PROT_READ | PROT_WRITE, 0, NULL));
		exit(0);
	}
	printf("%d\n", pid);
	fflush(stdout);
	waitpid(pid, &status, 0);
	pid = vfork();
	if (!pid) {
		keep(malloc(100000));
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (posix_spawnp(&pid, "true", NULL, NULL, argv, environ))
		_exit(9);
	waitpid(pid, &status, 0);
	if (!fork())
		_exit(0);
	wait(&status);
	if (!fork()) {
		execvp("true", argv);
		_exit(9);
	}
	wait(&status);
	keep(malloc(100000));
}

static void *bomb_thread(void *unused)
{
	for (int i = 0; i < 2000; i++)
		free(malloc((size_t)i));
	return unused;
}

/* Processes that fork while threads allocate. */
static void bomb(void)
{
	for (int round = 0; round < 30; round++) {
		pthread_t thread[3];
		int status;

		for (int i = 0; i < 3; i++)
			pthread_create(&thread[i], NULL, bomb_thread, NULL);
		for (int i = 0; i < 4; i++) {
			if (!fork()) {
				bomb_thread(NULL);
				if (!fork()) {
					bomb_thread(NULL);
					_exit(0);
				}
				wait(&status);
				_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 8);
			}
		}
		for (int i = 0; i < 3; i++)
			pthread_join(thread[i], NULL);
		while (wait(&status) > 0) {
			if (!WIFEXITED(status) || WEXITSTATUS(status))
				_exit(9);
		}
	}
}

#ifdef __clang__
#define noclone		/* it makes no copies */
#endif

/* Each path is another stack. */
static void deep(unsigned path, unsigned depth);

static __attribute__((noinline, noclone)) void turn(unsigned path, unsigned depth)
{
	deep(path, depth);
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline, noclone)) void deep(unsigned path, unsigned depth)
{
	if (!depth)
		keep(malloc(100));
	else if (path & 1)
		turn(path >> 1, depth - 1);
	else
		deep(path >> 1, depth - 1);
	__asm__ volatile("" ::: "memory");
}

/* No descriptors, another directory, and then many new stacks. */
static void closed(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	if (chdir("/"))
		_exit(9);
	for (unsigned i = 0; i < 20000; i++)
		deep(i, 15);
	/* the first descriptor that is free is the next one */
	if (open("/dev/null", O_RDONLY) != 3)
		_exit(9);
}

/* The image can no longer grow. */
static void limited(void)
{
	struct rlimit limit = { 64 << 10, 64 << 10 };

	setrlimit(RLIMIT_FSIZE, &limit);
	for (unsigned i = 0; i < 40000; i++)
		deep(i, 15);
}

/* Without a sandbox, although it tried to enter some: the image grows. */
static void no_sandbox(void)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) != -1 || errno != EFAULT ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) != -1 || errno != EINVAL)
		_exit(9);
	closed();
}

/* No file can be opened any more. */
static void no_descriptors(void)
{
	struct rlimit limit = { 3, 3 };

	setrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned i = 0; i < 100; i++)
		deep(i, 15);
}

static volatile int signals;

static void on_signal(int number)
{
	(void)number;
	free(malloc(100));
	signals++;
}

/* A handler that allocates, between allocations: allowed where nothing is interrupted. */
static void profiled(void)
{
	struct itimerval timer = { { 0, 500 }, { 0, 500 } };
	sigset_t set;

	signal(SIGPROF, on_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	setitimer(ITIMER_PROF, &timer, NULL);
	while (signals < 50) {
		/* real malloc() must not be interrupted, but between its calls anything goes */
		sigprocmask(SIG_BLOCK, &set, NULL);
		for (int i = 0; i < 100; i++)
			free(malloc((size_t)i));
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		for (volatile int i = 0; i < 10000; i++)
			;
	}
}

/* Grow until the process is killed. */
static void forever(void)
{
	for (unsigned i = 0;; i++) {
		free(kept);
		deep(i % 4096, 18);
		if (!(i % 16))
			munmap(map(MIB, PROT_READ, 0, NULL), MIB / 2);
	}
}

static void *stress_thread(void *unused)
{
	void *block[64] = { NULL };
	unsigned state = (unsigned)(uintptr_t)&block;

	for (int i = 0; i < 200000; i++) {
		unsigned k;

		state = state * 1103515245 + 12345;
		k = state >> 16 & 63;
		if (state >> 24 & 1) {
			block[k] = realloc(block[k], (state >> 8) % 5000 + 1);
		} else {
			free(block[k]);
			block[k] = malloc((state >> 8) % 5000);
		}
	}
	for (int i = 0; i < 64; i++)
		free(block[i]);
	return unused;
}

/* Many threads, one after the other and at a time; nothing remains. */
static void threads(void)
{
	for (int round = 0; round < 3; round++) {
		pthread_t thread[8];

		for (int i = 0; i < 8; i++)
			pthread_create(&thread[i], NULL, stress_thread, NULL);
		for (int i = 0; i < 8; i++)
			pthread_join(thread[i], NULL);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*act)(void);
	} acts[] = {
		{ "family", family }, { "mappings", mappings }, { "children", children },
		{ "bomb", bomb }, { "closed", closed }, { "limited", limited },
		{ "no descriptors", no_descriptors }, { "no sandbox", no_sandbox },
		{ "profiled", profiled }, { "forever", forever }, { "threads", threads },
	};
	size_t i = 0;

	if (argc > 2 && !strcmp(argv[1], "again")) {
		argv[1] = argv[0];
		execv(argv[0], argv + 1);
	}
	while (i < sizeof acts / sizeof *acts && (argc < 2 || strcmp(argv[1], acts[i].name)))
		i++;
	if (i == sizeof acts / sizeof *acts)
		return 2;
	if (getenv("BUILDBEAT_HEAP_NOW") || (getenv("LD_PRELOAD") && strstr(getenv("LD_PRELOAD"), "-heap.so")))
		return 4;
	acts[i].act();
	return 0;
}
