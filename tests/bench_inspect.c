/* SPDX-License-Identifier: MIT */
/*
 * Cost of a snapshot of what processes of 1 GiB have in memory, beside reading their
 * /proc/PID/smaps once, in turn; and of their values and resident pages. CPU time, the minimum of
 * many runs, because other load only makes runs longer.
 */
#include "base/array.h"
#include "inspect/look.h"
#include "tests/subject.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 40
#define SIZE ((size_t)1 << 30)
#define BAR 1.3

static size_t n_mappings;
static bool huge;

/* Neighbours with other permissions are mappings of their own. */
static void has_memory(int ready)
{
	char *p = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), part = SIZE / n_mappings / page * page;

	if (p == MAP_FAILED)
		exit(1);
	madvise(p, SIZE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	for (size_t i = 0; i < SIZE; i += page)
		p[i] = 1;
	for (size_t i = 1; i < n_mappings; i += 2) {
		if (mprotect(p + i * part, part, PROT_READ))
			exit(1);
	}
	subject_hold(ready);
}

static int64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void keep_least(int64_t *least, int64_t start_ns)
{
	int64_t ns = cpu_ns() - start_ns;

	if (!*least || ns < *least)
		*least = ns;
}

static void read_once(pid_t pid, int64_t *least)
{
	static char text[65536];
	int64_t start_ns = cpu_ns();
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		exit(1);
	while (read(fd, text, sizeof text) > 0)
		;
	close(fd);
	keep_least(least, start_ns);
}

static void read_snapshot(struct look *l, struct snapshot *s, bool pages, int64_t *least)
{
	int64_t start_ns = cpu_ns();

	if (look_read(l, s, pages, NULL))
		exit(1);
	keep_least(least, start_ns);
}

static void read_values(struct look *l, struct snapshot *s, int64_t *least)
{
	int64_t start_ns = cpu_ns();

	if (look_read_values(l, &s->process, NULL))
		exit(1);
	keep_least(least, start_ns);
}

static void measure(const char *what)
{
	struct name_table names = { .arena = arena_new() };
	struct snapshot s = { 0 };
	struct look l;
	int64_t once = 0, snapshot = 0, values = 0, pages = 0;
	pid_t pid = subject_start(has_memory);

	if (look_open(&l, pid, 0, &names, NULL))
		exit(1);
	for (int i = 0; i < ROUNDS; i++) {
		read_once(pid, &once);
		read_snapshot(&l, &s, false, &snapshot);
		read_values(&l, &s, &values);
		read_snapshot(&l, &s, true, &pages);
	}
	printf("%5.2fx snapshot / reading smaps once (bar %.1fx); %.0f / %.0f us, with pages %.0f us, "
	       "values alone %.1f us: 1 GiB, %s, %zu mappings\n", (double)snapshot / (double)once,
	       BAR, (double)snapshot / 1e3, (double)once / 1e3, (double)pages / 1e3,
	       (double)values / 1e3, what, s.n);
	look_close(&l);
	snapshot_release(&s);
	name_table_release(&names);
	arena_free(names.arena);
	subject_stop(pid);
}

int main(void)
{
	static const size_t mappings[] = { 1, 250, 2000 };

	for (size_t i = 0; i < ARRAY_SIZE(mappings); i++) {
		n_mappings = mappings[i];
		measure("4 KiB pages");
	}
	n_mappings = 1;
	huge = true;
	measure("huge pages");
	return 0;
}
