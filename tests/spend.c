/* SPDX-License-Identifier: MIT */
#include "tests/spend.h"

#include "recording/recording.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double ms(struct timeval t)
{
	return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct spent collect(pid_t pid, double start_ms)
{
	struct spent s = { .status = -1 };
	struct rusage usage;

	if (pid < 0 || wait4(pid, &s.status, 0, &usage) != pid)
		return (struct spent){ .status = -1 };
	s.wall_ms = now_ms() - start_ms;
	s.cpu_ms = ms(usage.ru_utime) + ms(usage.ru_stime);
	s.max_rss_kb = usage.ru_maxrss;
	return s;
}

struct spent spend(const char *const *argv)
{
	double start_ms = now_ms();
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	return collect(pid, start_ms);
}

struct spent spend_here(int (*work)(void *context), void *context)
{
	double start_ms = now_ms();
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(work(context) ? 1 : 0);
	return collect(pid, start_ms);
}

void spent_keep_best(struct spent *best, const struct spent *s)
{
	if (best->wall_ms <= 0 || s->cpu_ms < best->cpu_ms)
		*best = *s;
}

int spend_beside(const char *const *argv, int (*work)(void *context), void *context, int n,
		 struct spent *best, struct spent *best_work)
{
	*best = *best_work = (struct spent){ 0 };
	for (int i = 0; i <= n; i++) {
		struct spent s = spend(argv), w = spend_here(work, context);

		if (s.status || w.status)
			return 1;
		if (!i)
			continue;
		spent_keep_best(best, &s);
		spent_keep_best(best_work, &w);
	}
	return 0;
}

int spend_reading(void *path)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	int r = recording_read(&rec, path, NULL, &err);

	recording_release(&rec);
	return r;
}

int spend_in_tmpdir(int (*bench)(const char *dir), const char *failure)
{
	char dir[] = "/tmp/buildbeat-bench-XXXXXX";
	const char *const clean[] = { "/bin/rm", "-rf", dir, NULL };
	int failed;

	if (!mkdtemp(dir))
		return 1;
	failed = bench(dir);
	spend(clean);
	if (failed)
		fprintf(stderr, "%s\n", failure);
	return failed ? 1 : 0;
}
