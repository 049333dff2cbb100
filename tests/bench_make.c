/*
 * What the plugin costs inside make, against the same make without it: pairs of
 * runs in turn, on one processor and with real-time priority where that is
 * allowed (each run shorter than what the kernel lets such a process have at a
 * stretch), the median of the pairs' differences.
 */
#include "make_host.h"
#include "support.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 21

struct cost {
	double wall_us, cpu_us;
};

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static double cpu_us(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1e6 +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static struct cost run_make(const char *file, const char *makefiles)
{
	double start = now_us();
	struct rusage usage;
	struct cost cost;
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (makefiles)
			setenv("MAKEFILES", makefiles, 1);
		execlp("make", "make", "-s", "-f", file, (char *)NULL);
		_exit(127);
	}
	ck_assert_int_eq(wait4(pid, &status, 0, &usage), pid);
	ck_assert_int_eq(status, 0);
	cost = (struct cost){ now_us() - start, cpu_us(&usage) };
	usleep((useconds_t)(cost.wall_us / 10));	/* or the kernel makes us pause */
	return cost;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof *v, by_value);
	return v[n / 2];
}

/* Median extra cost of one of the n things the makefile does. */
static struct cost measure(const char *file, unsigned n, const char *makefiles,
			   struct cost *plain)
{
	double wall[PAIRS], cpu[PAIRS], wall0[PAIRS], cpu0[PAIRS];

	run_make(file, makefiles);
	for (int i = 0; i < PAIRS; i++) {
		bool first = i & 1;
		struct cost a = run_make(file, first ? makefiles : NULL);
		struct cost b = run_make(file, first ? NULL : makefiles);
		struct cost with = first ? a : b, without = first ? b : a;

		wall[i] = (with.wall_us - without.wall_us) / n;
		cpu[i] = (with.cpu_us - without.cpu_us) / n;
		wall0[i] = without.wall_us / n;
		cpu0[i] = without.cpu_us / n;
	}
	*plain = (struct cost){ median(wall0, PAIRS), median(cpu0, PAIRS) };
	return (struct cost){ median(wall, PAIRS), median(cpu, PAIRS) };
}

static void write_makefile(const char *path, unsigned n, const char *recipe)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "all:");
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, " t%u", i);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "\nt%u:\n\t%s\n", i, recipe);
	support_write(path, b.data, b.len);
	buf_release(&b);
}

static void report(const char *what, struct cost extra, struct cost plain, const char *bar)
{
	printf("make, %-28s wall x%.3f cpu x%.3f  extra %+7.2f us wall %+7.2f us cpu  "
	       "(plain %.0f us)  %s\n", what, 1 + extra.wall_us / plain.wall_us,
	       1 + extra.cpu_us / plain.cpu_us, extra.wall_us, extra.cpu_us, plain.wall_us, bar);
}

static void bench(const char *what, const char *recipe, unsigned n, unsigned flags,
		  const char *bar)
{
	const char *file = support_path("%s/Makefile", support_tmpdir());
	struct cost extra, plain;
	struct fixture f;

	write_makefile(file, n, recipe);
	fixture_begin(&f, support_tmpdir(), NULL, flags, NULL, NULL);
	extra = measure(file, n, f.makefiles.data, &plain);
	report(what, extra, plain, bar);
	fixture_end(&f);
}

/* Children inherit both. */
static void have_the_machine(void)
{
	struct sched_param param = { .sched_priority = 1 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof set, &set);
	if (sched_setscheduler(0, SCHED_RR, &param))
		printf("make: no real-time priority here, the figures are noisier\n");
}

START_TEST(bench_make)
{
	unsetenv("MAKEFLAGS");
	unsetenv("MAKELEVEL");
	unsetenv("MFLAGS");
	have_the_machine();
	bench("a recipe", "@true", 500, 0, "bar: <= 5 us wall, <= 6 us cpu");
	bench("a recipe with a shell", "@:;:", 250, 0, "");
	bench("a recipe, bytes too", "@true", 250, STORE_TASK_IO, "");
	bench("a make process", "@make -s -f /dev/null --eval='x:;@:'", 50, 0,
	      "bar: <= 120 us a make (and its recipe)");
}
END_TEST

int main(void)
{
	Suite *s;
	TCase *t;

	if (!make_host_can())
		return 0;
	s = suite_create("bench_make");
	t = tcase_create("bench");
	tcase_set_timeout(t, 0);
	tcase_add_test(t, bench_make);
	suite_add_tcase(s, t);
	return support_main(s);
}
