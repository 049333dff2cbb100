/*
 * What the preload costs ninja and samurai, against the same without it: edges
 * that do nothing, in pairs of runs; CPU is that of the tool and all it runs.
 */
#include "carry.h"
#include "make_host.h"
#include "pairs.h"
#include "support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EDGES 1000
#define PAIRS 7

struct bench {
	const char *tool, *dir;
	struct carried carried;
};

static void execute(const void *context, bool with)
{
	const struct bench *b = context;
	struct carry_env e;
	char *const *env = environ;
	char one_job[] = "-j1";
	char *argv[] = { (char *)(uintptr_t)b->tool, one_job, NULL };

	if (with)
		env = carry_put(&e, &b->carried, environ, true, getpid());
	if (chdir(b->dir) || !freopen("/dev/null", "w", stdout))
		_exit(126);
	unlink(".ninja_log");
	execvpe(b->tool, argv, env);
}

static void write_edges(const char *path)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "rule t\n command = /bin/true $out\n");
	for (unsigned i = 0; i < EDGES; i++)
		buf_addf(&b, "build o%u: t\n", i);
	support_write(path, b.data, b.len);
	buf_release(&b);
}

static void bench(const char *tool, const char *bar)
{
	struct bench b = { .tool = tool, .dir = support_tmpdir() };
	struct cost extra, plain;
	struct fixture f;

	if (!support_has(tool))
		return;
	write_edges(support_path("%s/build.ninja", support_tmpdir()));
	fixture_begin(&f, support_tmpdir(), tool, 0, NULL, NULL);
	ck_assert(carry_from_ticket(&b.carried, f.ticket, strlen(f.ticket)));
	extra = pairs_measure(execute, &b, EDGES, PAIRS, &plain);
	printf("%-5s an edge: wall x%.3f cpu x%.3f  extra %+7.2f us wall %+7.2f us cpu  "
	       "(plain %.0f us)  %s\n", tool, 1 + extra.wall_us / plain.wall_us,
	       1 + extra.cpu_us / plain.cpu_us, extra.wall_us, extra.cpu_us, plain.wall_us, bar);
	fixture_end(&f);
}

START_TEST(bench_ninja)
{
	pairs_have_the_machine("ninja");
	bench("ninja", "bar: <= 5 us wall, <= 8 us cpu");
	bench("samu", "bar: <= 10 us cpu");
}
END_TEST

int main(void)
{
	Suite *s;
	TCase *t;

	if (!make_host_can())
		return 0;
	unsetenv("MAKEFILES");
	unsetenv("LD_PRELOAD");
	s = suite_create("bench_ninja");
	t = tcase_create("bench");
	tcase_set_timeout(t, 0);
	tcase_add_test(t, bench_ninja);
	suite_add_tcase(s, t);
	return support_main(s);
}
