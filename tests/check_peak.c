/* SPDX-License-Identifier: MIT */
/* The peak memory of a task is its own or an upper bound, never its host's. */
#include "base/array.h"
#include "recording/recording.h"
#include "sampler/peak.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define HUNGRY TOP_BUILDDIR "/tests/hungry"
#define RECORD TOP_BUILDDIR "/buildbeat record --no-git -o stats -n x "

/* The permitted difference: the kernel counts in batches. */
#define TOLERANCE_KB 1024

struct watched {
	long child_kb, given_kb, own_kb, at_most_kb, host_kb;
};

static void check_watched(const struct watched *w)
{
	ck_assert_int_eq(w->own_kb < 0, w->at_most_kb >= 0);
	if (w->own_kb >= 0) {
		ck_assert_int_eq(w->own_kb, w->given_kb);
		ck_assert_msg(labs(w->own_kb - w->child_kb) <= TOLERANCE_KB + w->child_kb / 50,
			      "%ld told of %ld", w->own_kb, w->child_kb);
		return;
	}
	ck_assert_int_eq(w->at_most_kb, w->given_kb);
	ck_assert_msg(w->child_kb <= w->at_most_kb + TOLERANCE_KB, "%ld, at most %ld",
		      w->child_kb, w->at_most_kb);
	ck_assert_msg(w->child_kb <= w->host_kb + PEAK_SLACK_KB + TOLERANCE_KB,
		      "%ld is lost, the host had %ld", w->child_kb, w->host_kb);
}

static size_t watch(struct watched *w, size_t max, const char *command)
{
	struct run r;
	const char *p;
	size_t n = 0;

	support_run(&r, NULL, "%s", command);
	ck_assert_msg(!r.status, "%s: %d", command, r.status);
	for (p = r.out.data; n < max && p && *p; p = strchr(p, '\n') + 1, n++) {
		ck_assert_int_eq(sscanf(p, "%ld %ld %ld %ld %ld", &w[n].child_kb, &w[n].given_kb,
					&w[n].own_kb, &w[n].at_most_kb, &w[n].host_kb), 5);
		check_watched(&w[n]);
	}
	return n;
}

static const char *const ways[] = { "spawn", "vfork", "fork" };

/* Children around the size of their host, up to twice as large. */
TEST_LOOP(around_the_hosts, 3)
{
	static const int host_kb[] = { 0, 5000, 30000, 120000 };
	struct watched w[64];
	size_t n, own = 0;

	for (size_t i = 0; i < ARRAY_SIZE(host_kb); i++) {
		struct buf b = BUF_INIT;

		buf_addf(&b, HUNGRY " %d %s 0", host_kb[i], ways[_i]);
		for (int kb = -3000; kb <= 3000; kb += 250)
			buf_addf(&b, " %d", host_kb[i] + kb > 0 ? host_kb[i] + kb : 0);
		buf_addf(&b, " 0 %d 0", 2 * host_kb[i]);
		n = watch(w, 64, buf_str(&b));
		ck_assert_uint_eq(n, 28);
		for (size_t k = 0; k < n; k++)
			own += w[k].own_kb >= 0;
		ck_assert_int_lt(w[n - 1].own_kb, 0);
		buf_release(&b);
	}
	ck_assert_uint_ge(own, 4 * 6);
}

/* The host is larger at the end of the child than at its start. */
TEST_LOOP(host_that_grows, 3)
{
	struct watched w[8];

	ck_assert_uint_eq(watch(w, 8, support_path(HUNGRY " 20000 %s 10000 0 0 25000 0 90000 0",
						   ways[_i])), 6);
	ck_assert_int_lt(w[0].own_kb, 0);
	ck_assert_int_lt(w[1].own_kb, 0);
	ck_assert_int_lt(w[3].own_kb, 0);
	ck_assert_int_ge(w[4].own_kb, 90000);
	ck_assert_int_lt(w[5].own_kb, 0);
}

/* A host below a larger one: getrusage() returns the memory of the larger one. */
TEST_LOOP(host_of_a_larger_one, 3)
{
	struct watched w[8];

	ck_assert_uint_eq(watch(w, 8, support_path(HUNGRY " 200000 run " HUNGRY
						   " 10000 %s 0 0 50000 0 150000 300000 0",
						   ways[_i])), 6);
	ck_assert_int_lt(w[0].own_kb, 0);
	ck_assert_int_lt(w[0].at_most_kb, 40000);	/* a sanitizer takes some */
	ck_assert_int_ge(w[1].own_kb, 50000);
	ck_assert_int_lt(w[2].own_kb, 0);
	ck_assert_int_ge(w[3].own_kb, 150000);
	ck_assert_int_ge(w[4].own_kb, 300000);
	ck_assert_int_lt(w[5].own_kb, 0);
}

/* Real hosts of 80 MiB and more: small tasks are not reported as large, large ones are. The
 * names have the real size. */

static void check_built(const char *dir)
{
	RELEASED(recording, rec = RECORDING_INIT);
	size_t small = 0, large = 0;

	recorded_open(&rec, dir, NULL);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		if (!strncmp(t->name, "small", 5)) {
			small++;
			ck_assert_msg(t->max_rss_kb < 20000, "%s: %lld", t->name,
				      (long long)t->max_rss_kb);
			ck_assert(t->max_rss_kb > 0 || t->max_rss_at_most_kb > 0);
		} else if (!strncmp(t->name, "large", 5)) {
			large++;
			ck_assert_msg(t->max_rss_kb >= 200000 && t->max_rss_kb < 220000,
				      "%s: %lld", t->name, (long long)t->max_rss_kb);
			ck_assert_int_eq(t->max_rss_at_most_kb, -1);
		} else if (!strncmp(t->name, "inner", 5)) {
			ck_assert_msg(t->max_rss_kb >= 40000 && t->max_rss_kb < 50000,
				      "%s: %lld", t->name, (long long)t->max_rss_kb);
		}
	}
	ck_assert_uint_ge(small, 2);
	ck_assert_uint_ge(large, 1);
}

static void build(const char *command)
{
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "PATH=$PWD/bin:$PATH " RECORD "%s", command);
	check_built(support_path("%s/stats/x", support_tmpdir()));
}

static const char makefile[] =
	"x := 0123456789abcdef\n"
	"double = $(eval x := $(x)$(x))\n"
	"$(foreach i,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20,$(double))\n"
	"all: small1 large small2 sub\n"
	"small%:\n\t@true\n"
	"large:\n\t@" HUNGRY " 200000 >/dev/null\n"
	"sub:\n\t@$(MAKE) --no-print-directory -f sub.mk\n";
static const char sub_makefile[] =
	"all: small3 inner small4 large5\n"
	"small%:\n\t@true\n"
	"inner:\n\t@" HUNGRY " 40000 >/dev/null\n"
	"large%:\n\t@" HUNGRY " 200000 >/dev/null\n";

TEST(below_make)
{
	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", support_tmpdir()), makefile);
	support_writes(support_path("%s/sub.mk", support_tmpdir()), sub_makefile);
	build("make");
}

TEST(below_ninja)
{
	struct buf b = BUF_INIT;

	SKIP_IF(!make_host_can() || !support_has("ninja"));
	buf_adds(&b, "rule small\n command = true\nrule large\n command = " HUNGRY " 200000\n"
		 "build small1: small\nbuild large: large small1\nbuild small2: small large\n"
		 "default small2\n");
	for (unsigned i = 0; i < 40000; i++)
		buf_addf(&b, "build some/longer/directory/name/object%u.o: small some/other/"
			 "directory/source%u.c || some/longer/directory/name/object%u.o\n",
			 i + 1, i, i);
	support_writes(support_path("%s/build.ninja", support_tmpdir()), buf_str(&b));
	buf_release(&b);
	build("ninja");
}

/* Forks of an interpreter that calls subprocess, and of one that executes by itself. */
TEST(below_python)
{
	SKIP_IF(!make_host_can() || !support_has("python3"));
	support_writes(support_path("%s/build.py", support_tmpdir()),
		       "import os, subprocess\n"
		       "memory = [bytearray(1 << 20) for i in range(80)]\n"
		       "subprocess.run(['small1'])\n"
		       "subprocess.run(['large', '200000'], stdout=subprocess.DEVNULL)\n"
		       "subprocess.run(['small2'], preexec_fn=os.setsid)\n"
		       "if not os.fork():\n\tos.execvp('small3', ['small3'])\n"
		       "os.wait()\n");
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "mkdir bin; for i in 1 2 3; do ln -s /bin/true "
		       "bin/small$i; done; ln -s " HUNGRY " bin/large");
	build("python3 build.py");
}

TEST_MAIN(peak);
