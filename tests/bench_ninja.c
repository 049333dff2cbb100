/* SPDX-License-Identifier: MIT */
/*
 * Cost of the preloaded object in ninja and samurai, against the same without it: edges that
 * do little, the slope of the fastest runs over their number (slope.h). CPU time is of the
 * build tool and its processes.
 */
#include "plugin/carry.h"
#include "tests/make_host.h"
#include "tests/pairs.h"
#include "tests/slope.h"
#include "tests/support.h"

#define FEW 40
#define MANY 240
#define ROUNDS 60

struct bench {
	const char *tool;
	char few[PATH_MAX], many[PATH_MAX];	/* directories */
	struct carried carried;
};

static void execute(const void *context, unsigned n, bool with)
{
	const struct bench *b = context;
	static struct carry_env e;
	char *const *env = environ;
	char one_job[] = "-j1";
	char *argv[] = { (char *)(uintptr_t)b->tool, one_job, NULL };

	if (with)
		env = carry_put(&e, &b->carried, environ, true, getpid());
	if (chdir(n <= FEW ? b->few : b->many) || !freopen("/dev/null", "w", stdout))
		_exit(126);
	unlink(".ninja_log");
	execvpe(b->tool, argv, env);
}

static void write_edges(char dir[PATH_MAX], unsigned n)
{
	RELEASED(buf, b = BUF_INIT);
	struct run r;

	snprintf(dir, PATH_MAX, "%s/%u", support_tmpdir(), n);
	support_run(&r, support_tmpdir(), "mkdir -p %u", n);
	buf_adds(&b, "rule t\n command = /bin/true $out\n");
	for (unsigned i = 0; i < n; i++)
		buf_addf(&b, "build o%u: t\n", i);
	support_write(support_path("%s/build.ninja", dir), b.data, b.len);
}

static void bench(const char *tool, const char *bar)
{
	struct bench b = { .tool = tool };
	struct slope_bench slope = { execute, &b, FEW, MANY, ROUNDS };
	struct slope_result result;
	struct fixture f;

	if (!support_has(tool))
		return;
	write_edges(b.few, FEW);
	write_edges(b.many, MANY);
	fixture_begin(&f, support_tmpdir(), tool, 0, NULL, NULL);
	ck_assert(carry_from_ticket(&b.carried, f.ticket, strlen(f.ticket)));
	result = slope_measure(&slope);
	slope_print(support_path("%s, an edge", tool), &result, bar);
	fixture_end(&f);
}

TEST_UNTIMED(bench_ninja)
{
	pairs_have_the_machine("ninja");
	bench("ninja", "bar: <= 5 us wall, <= 8 us cpu");
	bench("samu", "bar: <= 10 us cpu");
}

int main(void)
{
	if (!make_host_can())
		return 0;
	unsetenv("LD_PRELOAD");
	return support_main();
}
