/*
 * What `buildbeat history` takes of a year of 10,000 tasks by four metrics, cold from git:
 * with the usual gates, which leave out tasks that are too short to matter, and with every
 * series looked at; and where that goes.
 */
#include "spend.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 3
#define SERIES 40000
#define CPU_BAR_S 6
#define MEMORY_BAR_MIB 256

static int generate(const char *path)
{
	const char *const argv[] = {
		TOP_BUILDDIR "/tests/gen_archive", "--tasks", "10000", "--nights", "365", "--noise", "3%",
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

static int measure(struct spent *best, const char *repo, const char *config, const char *task)
{
	const char *argv[] = { TOP_BUILDDIR "/buildbeat", "history", "--repo", repo, "-c", config, task,
			       NULL };

	*best = (struct spent){ 0 };
	for (int i = 0; i < ROUNDS; i++) {
		struct spent s = spend(argv);

		if (s.status)
			return -1;
		spent_keep_best(best, &s);
	}
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
	printf("history of 365 nights of 10,000 tasks, 4 metrics, cold from git: %.2f s CPU (bar: %d), "
	       "%.2f s wall, %ld MiB (bar: %d)\n", usual.cpu_ms / 1e3, CPU_BAR_S, usual.wall_ms / 1e3,
	       usual.max_rss_kb / 1024, MEMORY_BAR_MIB);
	printf("  without a least amount, so that every series is looked at: %.2f s CPU, %.2f s wall, "
	       "%ld MiB\n", every.cpu_ms / 1e3, every.wall_ms / 1e3, every.max_rss_kb / 1024);
	printf("  of that %.2f s are for reading and for what tasks have in common; %.0f us a series\n",
	       reading.cpu_ms / 1e3, (every.cpu_ms - reading.cpu_ms) * 1e3 / SERIES);
	return 0;
}

int main(void)
{
	char dir[] = "/tmp/buildbeat-bench-XXXXXX", repo[64], config[64];
	const char *const clean[] = { "/bin/rm", "-rf", dir, NULL };
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(repo, sizeof repo, "%s/nights.git", dir);
	snprintf(config, sizeof config, "%s/buildbeat.yaml", dir);
	failed = generate(repo) || bench(repo, config);
	spend(clean);
	if (failed)
		fprintf(stderr, "bench_history: cannot make or read the nights\n");
	return failed;
}
