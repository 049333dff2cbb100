/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat history` and `buildbeat check` of a year of 10,000 tasks by four metrics, cold
 * from git: history with the default limits and with every series tested, check for the first time and
 * with what it kept. Also, how much more ten years of 300 tasks take than one, and how often a creep is reported where there is no change, a
 * step, or a creep.
 */
#include "stats/creep.h"
#include "tests/noise.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 3
#define SERIES 40000
#define CPU_BAR_S 2
#define FOUND 0x100		/* check found a regression: exit status 1, as wait4() reports it */
#define MEMORY_BAR_MIB 256

#define LONG_BAR 11		/* times one year */

static int generate(const char *path, const char *tasks, const char *builds)
{
	const char *const argv[] = {
		TOP_BUILDDIR "/tests/gen_archive", "--tasks", tasks, "--builds", builds, "--noise", "3%",
		"--spikes", "1%", "--host", "2%", "--step", "3-20/160/20%", "--step", "300-340/290/-40%",
		"--step", "400-420/100/50%/memory", path, NULL
	};

	return spend(argv).status;
}

static int write_config(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	return !f || fputs(text, f) < 0 || fclose(f) ? -1 : 0;
}

static int measure_command(struct spent *best, const char *command, int rounds, const char *repo,
			   const char *config, const char *task)
{
	const char *argv[] = { TOP_BUILDDIR "/buildbeat", command, "--repo", repo, "-c", config, task,
			       NULL };

	*best = (struct spent){ 0 };
	for (int i = 0; i < rounds; i++) {
		struct spent s = spend(argv);

		if (s.status && s.status != FOUND)
			return -1;
		spent_keep_best(best, &s);
	}
	return 0;
}

static int measure(struct spent *best, const char *repo, const char *config, const char *task)
{
	return measure_command(best, "history", ROUNDS, repo, config, task);
}

/* For the first time, and with what that one kept. */
static int bench_check(const char *repo, const char *config, const char *what, double bar_s, int bar_mib)
{
	struct spent first, next;
	char command[128];

	snprintf(command, sizeof command, "rm -rf %s/buildbeat", repo);
	if (system(command) || write_config(config, "compare:\n  rate: 1%\n") || measure_command(&first, "check", 1, repo, config, "--metrics=wall,cpu,memory,io") ||
	    measure_command(&next, "check", ROUNDS, repo, config, "--metrics=wall,cpu,memory,io"))
		return -1;
	printf("check of %s, 4 metrics: %.2f s CPU (bar: %.1f), %ld MiB (bar: %d); the first one x%.0f, %ld MiB\n",
	       what, next.cpu_ms / 1e3, bar_s, next.max_rss_kb / 1024, bar_mib, first.cpu_ms / next.cpu_ms,
	       first.max_rss_kb / 1024);
	return 0;
}

static int bench(const char *repo, const char *config)
{
	struct spent usual, every, reading;

	if (write_config(config, "compare:\n  rate: 1%\n") ||
	    measure(&usual, repo, config, NULL) || measure(&reading, repo, config, "host") ||
	    write_config(config, "compare:\n  rules:\n    - amount: 0\n") ||
	    measure(&every, repo, config, NULL))
		return -1;
	printf("history of 365 builds of 10,000 tasks, 4 metrics, cold from git: %.2f s CPU (bar: %d), "
	       "%.2f s wall, %ld MiB (bar: %d)\n", usual.cpu_ms / 1e3, CPU_BAR_S, usual.wall_ms / 1e3,
	       usual.max_rss_kb / 1024, MEMORY_BAR_MIB);
	printf("  without a least amount, so that every series is looked at: %.2f s CPU, %.2f s wall, "
	       "%ld MiB\n", every.cpu_ms / 1e3, every.wall_ms / 1e3, every.max_rss_kb / 1024);
	printf("  of that %.2f s are for reading and for what tasks have in common; %.0f us a series\n",
	       reading.cpu_ms / 1e3, (every.cpu_ms - reading.cpu_ms) * 1e3 / SERIES);
	return 0;
}

static int bench_years(const char *dir, const char *config)
{
	static const char *const builds[] = { "365", "3650" };
	struct spent took[2];
	char repo[64];

	if (write_config(config, "compare:\n  rate: 1%\n"))
		return -1;
	for (int i = 0; i < 2; i++) {
		snprintf(repo, sizeof repo, "%s/%s.git", dir, builds[i]);
		if (generate(repo, "300", builds[i]) || measure(&took[i], repo, config, NULL))
			return -1;
	}
	printf("history of 300 tasks, 3,650 builds: x%.1f of 365 builds (bar: %d)\n",
	       took[1].cpu_ms / took[0].cpu_ms, LONG_BAR);
	return bench_check(repo, config, "3,650 builds of 300 tasks", 0.4, 60);
}

#define BUILDS 365
#define QUIET 4000
#define CHANGED 400
#define FALSE_BAR 4

/* How many of n series with a step, or a slope over 120 builds, are reported as changed and
 * as creeping. */
static int count(size_t told[2], enum noise_kind kind, int n, double step, double slope)
{
	struct changepoints *points = changepoints_new();
	struct creep_finder *finder = creep_finder_new();
	struct noise noise = { 77 + kind };
	int r = points && finder ? 0 : -1;

	told[0] = told[1] = 0;
	for (int i = 0; !r && i < n; i++) {
		const struct change *change;
		const struct creep *creep;
		size_t n_changes, n_creep;
		double v[BUILDS];

		noise_series(&noise, kind, v, BUILDS);
		for (int k = 0; k < BUILDS; k++)
			v[k] *= (1 + slope * fmin(fmax((k - 120) / 120.0, 0), 1)) * (k < 180 ? 1 : 1 + step);
		r = changepoints_find(points, &change, &n_changes, v, BUILDS, 0.01);
		if (!r)
			r = creep_find(finder, &creep, &n_creep, points, change, n_changes);
		told[0] += !r && n_changes;
		told[1] += !r && n_creep;
	}
	creep_finder_free(finder);
	changepoints_free(points);
	return r;
}

static int bench_creep(enum noise_kind kind)
{
	size_t none[2], step[2], slope[2];

	if (count(none, kind, QUIET, 0, 0) || count(step, kind, CHANGED, 0.1, 0) ||
	    count(slope, kind, CHANGED, 0, 0.1))
		return -1;
	printf("%s: of %d series without a change %zu told to have one, %zu to creep (bar: %d in "
	       "all); of %d with a step of 10 %% %zu and %zu; with 10 %% in 120 builds %zu and %zu\n",
	       noise_name[kind], QUIET, none[0], none[1], FALSE_BAR, CHANGED, step[0], step[1], slope[0],
	       slope[1]);
	return 0;
}

static int bench_all(const char *dir)
{
	char repo[64], config[64];
	int failed;

	snprintf(repo, sizeof repo, "%s/builds.git", dir);
	snprintf(config, sizeof config, "%s/buildbeat.yaml", dir);
	failed = generate(repo, "10000", "365") || bench(repo, config) ||
		 bench_check(repo, config, "365 builds of 10,000 tasks", 0.5, 60) ||
		 bench_years(dir, config);
	for (enum noise_kind kind = 0; !failed && kind < NOISE_KINDS; kind++)
		failed = bench_creep(kind);
	return failed;
}

int main(void)
{
	return spend_in_tmpdir(bench_all, "bench_history: cannot make or read the builds");
}
