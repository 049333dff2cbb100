/* SPDX-License-Identifier: MIT */
/*
 * CPU time of a live trace: of 100,000 tasks at once, beside the reading of the recording alone,
 * and of a build that appends 5,000 tasks a second. No other process does anything for it, so this
 * is what a trace costs.
 */
#include "base/clock.h"
#include "tests/paths.h"
#include "tests/spend.h"
#include "tests/support.h"

#define ROUNDS 5
#define TASKS 100000
#define BAR_US 2.0
#define BATCHES 100	/* of a growing recording, 10 ms apart */
#define BATCH 50	/* tasks */

static int at_once(const char *path)
{
	const char *const follow[] = {
		TOP_BUILDDIR "/buildbeat", "export", "--to", "chrome", "--follow", "-o", "/dev/null",
		path, NULL
	};
	const char *const nothing[] = { TOP_BUILDDIR "/buildbeat", "--version", NULL };
	struct spent best, best_read, start;
	double us;

	if (spend_beside(follow, spend_reading, (void *)(uintptr_t)path, ROUNDS, &best, &best_read))
		return 1;
	start = spend(nothing);
	us = (best.cpu_ms - start.cpu_ms) * 1000 / TASKS;
	printf("live trace of %d tasks: %.2f us CPU a task (bar: %.0f); %.2f x reading them alone; "
	       "%ld MB\n", TASKS, us, BAR_US, best.cpu_ms / best_read.cpu_ms, best.max_rss_kb / 1024);
	return start.status;
}

/* A recording of this machine with this launcher. */
static FILE *begin(const char *path, pid_t launcher)
{
	char host[256] = "", name[128];
	FILE *f;

	if (mkdir(path, 0700) || gethostname(host, sizeof host - 1))
		return NULL;
	snprintf(name, sizeof name, "%s/build", path);
	f = fopen(name, "w");
	if (!f)
		return NULL;
	fprintf(f, "buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: %lld\nhost: %s\n"
		"sampler_pid: %d\n", (long long)clock_mono_ns(), host, (int)launcher);
	fclose(f);
	snprintf(name, sizeof name,
		 "echo boot_id: $(cat /proc/sys/kernel/random/boot_id) >>%s/build", path);
	if (system(name))
		return NULL;
	snprintf(name, sizeof name, "%s/tasks.log", path);
	f = fopen(name, "w");
	if (f)
		fprintf(f, "buildbeat tasks 1\nopen\t0\tabc\t%d\n", (int)launcher);
	return f;
}

static void append(FILE *f, int from, int n)
{
	for (int i = from + 1; i <= from + n; i++)
		fprintf(f, "start\t%d\tabc.%d\t%d\t\t\tlib/file%d.o\t\tcc -O2 -c lib/file%d.c -o "
			"lib/file%d.o\ndone\t%d\tabc.%d\t0\t18000\t2000\t40000\t9000\n", 200 * i, i,
			1000 + i, i, i, i, 200 * i + 150, i);
	fflush(f);
}

static double follow_growing(const char *path, int batch)
{
	pid_t launcher, pid;
	struct spent s;
	FILE *f;

	fflush(stdout);
	launcher = fork();
	if (!launcher) {
		pause();
		_exit(0);
	}
	f = begin(path, launcher);
	pid = f ? fork() : -1;
	if (pid < 0)
		return -1;
	if (!pid) {
		const char *const follow[] = {
			TOP_BUILDDIR "/buildbeat", "export", "--to", "chrome", "--follow", "-o",
			"/dev/null", path, NULL
		};

		s = spend(follow);
		f = fopen(support_path("%s/cpu", path), "w");
		fprintf(f, "%.3f\n", s.status ? -1.0 : s.cpu_ms);
		fclose(f);
		_exit(0);
	}
	for (int i = 0; i < BATCHES; i++) {
		append(f, i * batch, batch);
		usleep(10000);
	}
	fclose(f);
	kill(launcher, SIGKILL);
	waitpid(launcher, NULL, 0);
	waitpid(pid, NULL, 0);
	f = fopen(support_path("%s/cpu", path), "r");
	if (!f || fscanf(f, "%lf", &s.cpu_ms) != 1)
		s.cpu_ms = -1;
	if (f)
		fclose(f);
	return s.cpu_ms;
}

static int growing(const char *dir)
{
	double idle_ms = follow_growing(support_path("%s/idle", dir), 0);
	double busy_ms = follow_growing(support_path("%s/busy", dir), BATCH);

	if (idle_ms < 0 || busy_ms < 0)
		return 1;
	printf("live trace of a build that appends 5,000 tasks a second: %.2f us CPU a task (bar: %.0f); "
	       "%.1f ms for one that appends nothing, start included\n",
	       (busy_ms - idle_ms) * 1000 / (BATCHES * BATCH), BAR_US, idle_ms);
	return 0;
}

static int measure(const char *dir)
{
	char path[64];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_recording", path, "100000", "100", NULL
	};

	snprintf(path, sizeof path, "%s/rec", dir);
	return spend(generate).status || at_once(path) || growing(dir);
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_live: cannot make or follow a recording");
}
