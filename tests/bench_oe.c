/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat show` of OpenEmbedded's directory of 100,000 tasks, a file each,
 * and 36,000 samples, beside opening, reading and closing the same files.
 */
#include "tests/paths.h"
#include "tests/touch.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 5
#define BAR_MS 700

/* argv[0] NULL: only read the files of argv[1] */
static double spawn_ms(const char *const *argv, int *status)
{
	struct rusage usage;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (!argv[0])
			_exit(touch_files(argv[1]) <= 100000);
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, status, 0, &usage) != pid) {
		*status = -1;
		return 0;
	}
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

/* The first round only fills the cache. */
static int measure(const char *path)
{
	const char *const show[] = { TOP_BUILDDIR "/buildbeat", "show", path, NULL };
	const char *const touching[] = { NULL, path, NULL };
	double best_show = 1e9, best_touch = 1e9;
	int status;

	for (int i = 0; i <= ROUNDS; i++) {
		double ms = spawn_ms(touching, &status);

		if (status)
			return 1;
		best_touch = i && ms < best_touch ? ms : best_touch;
		ms = spawn_ms(show, &status);
		if (status)
			return 1;
		best_show = i && ms < best_show ? ms : best_show;
	}
	printf("show of 100,000 OpenEmbedded task files + 36,000 samples: %.2f x opening and "
	       "reading them; %.0f ms CPU (bar: %d), the files alone %.0f ms\n",
	       best_show / best_touch, best_show, BAR_MS, best_touch);
	return 0;
}

int main(void)
{
	char dir[] = "/tmp/buildbeat-bench-XXXXXX", path[sizeof dir + 8];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_oe", path, "10000", "10", "36000", NULL
	};
	const char *const clean[] = { "/bin/rm", "-rf", dir, NULL };
	int status, failed = 1;

	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/oe", dir);
	spawn_ms(generate, &status);
	if (!status)
		failed = measure(path);
	spawn_ms(clean, &status);
	if (failed)
		fprintf(stderr, "bench_oe: cannot make or show a build's directory\n");
	return failed;
}
