/*
 * What the plugin costs inside make, against the same make without it: pairs of
 * runs in turn, on one processor and with real-time priority where that is
 * allowed (each run shorter than what the kernel lets such a process have at a
 * stretch), the median of the pairs' differences.
 */
#include "make_host.h"
#include "pairs.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PAIRS 21

struct run_of {
	const char *file, *makefiles;
};

static void execute(const void *context, bool with)
{
	const struct run_of *r = context;

	if (with)
		setenv("MAKEFILES", r->makefiles, 1);
	execlp("make", "make", "-s", "-f", r->file, (char *)NULL);
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
	struct run_of run = { .file = file };
	struct cost extra, plain;
	struct fixture f;

	write_makefile(file, n, recipe);
	fixture_begin(&f, support_tmpdir(), NULL, flags, NULL, NULL);
	run.makefiles = f.makefiles.data;
	extra = pairs_measure(execute, &run, n, PAIRS, &plain);
	report(what, extra, plain, bar);
	fixture_end(&f);
}

START_TEST(bench_make)
{
	unsetenv("MAKEFLAGS");
	unsetenv("MAKELEVEL");
	unsetenv("MFLAGS");
	pairs_have_the_machine("make");
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
