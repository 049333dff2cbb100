/* SPDX-License-Identifier: MIT */
/*
 * Cost of the plugin inside make, against the same make without it: the slope of the fastest
 * runs over the number of recipes (slope.h), on one processor and with real-time priority
 * where permitted. The cost of a make process is also measured with an object that does
 * nothing: this part is the loader and make reading the ticket.
 */
#include "sampler/counter.h"
#include "tests/make_host.h"
#include "tests/pairs.h"
#include "tests/paths.h"
#include "tests/slope.h"
#include "tests/support.h"

#define FEW 20
#define MANY 100
#define ROUNDS 120

struct run_of {
	const char *makefiles;
	const char *few, *many;
};

static void execute(const void *context, unsigned n, bool with)
{
	const struct run_of *r = context;

	if (with)
		setenv("MAKEFILES", r->makefiles, 1);
	execlp("make", "make", "-s", "-f", n <= FEW ? r->few : r->many, (char *)NULL);
}

static const char *write_makefile(unsigned n, const char *recipe)
{
	const char *path = support_path("%s/%u.mk", support_tmpdir(), n);
	struct buf b = BUF_INIT;

	buf_addf(&b, "all:");
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, " t%u", i);
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "\nt%u:\n\t%s\n", i, recipe);
	support_write(path, b.data, b.len);
	buf_release(&b);
	return path;
}

/* many: the number of things; FEW or a fifth of it, whichever is less, are the few */
static void bench(const char *what, const char *recipe, unsigned many, int rounds,
		  unsigned flags, const char *plugin, const char *bar)
{
	unsigned few = many / 5 < FEW ? many / 5 : FEW;
	struct run_of run = { .few = write_makefile(few, recipe),
			      .many = write_makefile(many, recipe) };
	struct slope_bench b = { execute, &run, few, many, rounds };
	struct slope_result result;
	struct fixture f;

	fixture_begin(&f, support_tmpdir(), NULL, flags, NULL, plugin);
	run.makefiles = f.makefiles.data;
	result = slope_measure(&b);
	slope_print(what, &result, bar);
	fixture_end(&f);
}

TEST_UNTIMED(bench_make)
{
	static const char sub_make[] = "@make -s -f /dev/null --eval='x:;@:'";
	struct counter whole;
	/* page faults cost as much, where there are no counters */
	enum counter_event event = !counter_try(COUNTER_INSTRUCTIONS) ? COUNTER_INSTRUCTIONS :
		!counter_try(COUNTER_PAGE_FAULTS) ? COUNTER_PAGE_FAULTS : COUNTER_OFF;

	unsetenv("MAKEFLAGS");
	unsetenv("MAKELEVEL");
	unsetenv("MFLAGS");
	pairs_have_the_machine("make");
	bench("make, a recipe", "@true", MANY, ROUNDS, 0, NULL,
	      "bar: <= 5 us wall, <= 6 us cpu");
	bench("make, a recipe with a shell", "@:;:", MANY, ROUNDS / 2, 0, NULL, "");
	bench("make, a recipe, bytes too", "@true", MANY, ROUNDS / 2, STORE_TASK_IO, NULL, "");
	/* that of the whole build, which record has open: the first of an event costs more */
	if (event && !counter_open(&whole, event, 0)) {
		bench("make, a recipe, instructions", "@true", MANY, ROUNDS / 2, counter_flags(event), NULL, "");
		counter_close(&whole);
	}
	bench("make, a make process", sub_make, 50, ROUNDS, 0, NULL,
	      "bar: <= 120 us (with its recipe)");
	bench("make, it with an empty object", sub_make, 50, ROUNDS, 0,
	      TOP_BUILDDIR "/tests/null_plugin.so", "");
}

int main(void)
{
	if (!make_host_can())
		return 0;
	return support_main();
}
