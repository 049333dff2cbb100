/* SPDX-License-Identifier: MIT */
/*
 * faults N [N...]: causes N page faults in user mode. Each further number is that of a child, and
 * all children run at once.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 512

static void cause(long n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *p = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	madvise((void *)(unsigned long)p, PAGES * page, MADV_NOHUGEPAGE);
	for (long i = 0; i < n; i++) {
		if (i && i % PAGES == 0)
			madvise((void *)(unsigned long)p, PAGES * page, MADV_DONTNEED);
		p[(size_t)(i % PAGES) * page] = 1;
	}
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; i++) {
		if (fork())
			continue;
		cause(strtol(argv[i], NULL, 10));
		_exit(0);
	}
	cause(argc > 1 ? strtol(argv[1], NULL, 10) : 0);
	while (wait(NULL) > 0)
		;
	return 0;
}
