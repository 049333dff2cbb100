/* SPDX-License-Identifier: MIT */
#include "analyse/runs.h"
#include "convert/convert.h"
#include "tests/launched.h"
#include "tests/noise.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* `buildbeat record --repeat`, and how the other commands read a set. */

#define SET RECORD "-n set --repeat "
#define GENERATED 50

static void read_set(struct runs *r)
{
	struct error err;

	ck_assert_int_eq(runs_read(r, support_path("%s/stats/set", support_tmpdir()),
				   &convert_formats, &err), 0);
}

static void run_here(int status, const char *out, const char *err, const char *command)
{
	support_expect(support_tmpdir(), status, out, err, "%s", command);
}

/* The build runs N times, each after the preparation, which is not recorded. */
TEST(order)
{
	struct runs r;

	run_here(0, "p\nb\np\nb\np\nb\n", "", SET "3 --prepare 'echo p' -- sh -c 'echo b'");
	run_here(0, NULL, "", "grep -q '^prepare: echo p$' stats/set/set && "
		 "grep -q '^runs: 3$' stats/set/set && grep -c '^done: ' stats/set/set | grep -qx 3 && "
		 "test $(readlink stats/latest) = set && ! grep -rq 'echo p' stats/set/[123]");
	read_set(&r);
	ck_assert_uint_eq(r.n, 3);
	ck_assert_uint_eq(r.n_good, 3);
	ck_assert_int_eq(r.asked, 3);
	ck_assert_str_eq(r.prepare, "echo p");
	runs_release(&r);
}

/* Commands about one build take the run with the median wall time, and say so; a run has a name. */
TEST(one_run)
{
	char run[32], other[32];
	struct runs r;

	run_here(0, "", "", SET "3 -- sh -c 'test -e f || { sleep 0.3; touch f; }'");
	read_set(&r);
	snprintf(run, sizeof run, "this is run %zu, ", r.shown + 1);
	run_here(0, NULL, run, BUILDBEAT " show -d stats");
	run_here(0, NULL, run, BUILDBEAT " show -d stats set");
	run_here(0, NULL, run, BUILDBEAT " show stats/set");
	snprintf(other, sizeof other, "set/%zu", (r.shown + 1) % 3 + 1);
	run_here(0, NULL, "", support_path("test \"$(" BUILDBEAT " show -j -d stats %s | grep wall_us)\" "
					   "= \"$(" BUILDBEAT " show -j stats/%s | grep wall_us)\"", other,
					   other));
	run_here(0, NULL, run, support_path("test \"$(" BUILDBEAT " show -j stats/set | grep -m1 wall_us)\""
					    " = \"$(" BUILDBEAT " show -j stats/set/%zu | grep -m1 wall_us)\"",
					    r.shown + 1));
	run_here(0, NULL, "", BUILDBEAT " list -d stats | grep -q '^set .*+-.* 3 runs .*sh -c'");
	run_here(2, "", "set/4: no such recording", BUILDBEAT " show -d stats set/4");
	run_here(2, "", "no such recording", BUILDBEAT " show -d stats set/latest/../set");
	runs_release(&r);
}

static const struct {
	const char *command, *message;
	int status;
	size_t recorded, good;	/* recorded 0: there is no set */
} failed[] = {
	/* of the build: its recording is kept */
	{ SET "3 -- sh -c 'test ! -e f && touch f'", "", 1, 2, 1 },
	{ SET "3 -- sh -c 'exit 7'", "", 7, 1, 0 },
	{ SET "3 -- sh -c 'kill -TERM $$'", NULL, 128 + SIGTERM, 1, 0 },
	{ SET "3 -- ./nosuch", "command not found", 127, 0, 0 },
	{ SET "3 --prepare 'chmod -x tool' -- ./tool", "Permission denied", 126, 0, 0 },
	/* of the preparation */
	{ SET "3 --prepare 'exit 5' -- true", "--prepare failed with exit status 5", 5, 0, 0 },
	{ SET "3 --prepare 'test ! -e f && touch f' -- true", "--prepare failed", 1, 1, 1 },
	{ SET "3 --prepare 'kill -KILL $$' -- true", "--prepare was killed by signal 9", 137, 0, 0 },
	{ SET "3 --prepare 'rm -r stats' -- true", "--prepare removed ", 2, 0, 0 },
	/* without a set */
	{ SET "1 -- true", "", 0, 1, 1 },
	{ RECORD "-n set --prepare true -- true", "requires --repeat", 2, 0, 0 },
	{ SET "2 --serve -- true", "--serve shows one build and excludes --repeat", 2, 0, 0 },
	{ RECORD "--stay 1s -- true", "option '--stay' requires --serve", 2, 0, 0 },
	{ SET "2 --trace x.json -- true", "--trace shows one build and excludes", 2, 0, 0 },
	{ SET "0 -- true", "from 1 to 100, not '0'", 2, 0, 0 },
	{ SET "-1 -- true", "from 1 to 100, not '-1'", 2, 0, 0 },
	{ SET "abc -- true", "from 1 to 100, not 'abc'", 2, 0, 0 },
	{ SET "100000 -- true", "from 1 to 100, not '100000'", 2, 0, 0 },
};

TEST_EACH(ends, failed)
{
	struct runs r;

	run_here(0, "", "", "printf '#!/bin/sh\\n' >tool; chmod +x tool");
	run_here(failed[_i].status, "", failed[_i].message, failed[_i].command);
	if (!failed[_i].recorded) {
		ck_assert(!support_exists(support_path("%s/stats", support_tmpdir())));
		return;
	}
	read_set(&r);
	ck_assert_uint_eq(r.n, failed[_i].recorded);
	ck_assert_uint_eq(r.n_good, failed[_i].good);
	runs_release(&r);
	run_here(0, NULL, NULL, BUILDBEAT " show -d stats");
	if (!failed[_i].good)
		run_here(2, "", "no run of this set succeeded", BUILDBEAT " diff stats/set stats/set");
}

/* A set is removed with its empty recording: `latest` is what it was. */
TEST(nothing_left)
{
	run_here(0, "", "", RECORD "-n one -- true 2>/dev/null");
	run_here(127, "", "not found", SET "2 -- ./nosuch");
	run_here(0, "one\n", "", "readlink stats/latest; test ! -e stats/set");
}

static bool second_runs(void *data)
{
	(void)data;
	return support_exists(support_path("%s/second", support_tmpdir()));
}

/* Killed in its second run, it leaves a set that can be read, of one good run. */
TEST_LOOP(killed, 2)
{
	struct runs r;
	const char *top = support_tmpdir();
	pid_t pid = fork();
	int status;

	if (!pid) {
		setpgid(0, 0);
		if (!chdir(top))
			execl(BUILDBEAT, "buildbeat", "record", "--no-git", "-o", "stats", "-n", "set",
			      "--repeat", "3", "--", "sh", "-c",
			      "test ! -e first || { touch second; exec sleep 1000; }; touch first",
			      (char *)NULL);
		_exit(99);
	}
	support_wait_until(second_runs, NULL, "the second run began");
	kill(-pid, _i ? SIGKILL : SIGINT);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), _i ? SIGKILL : SIGINT);
	read_set(&r);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_uint_eq(r.n_good, 1);
	/* shortly after the kill nobody knows yet that nothing writes any more */
	ck_assert_uint_eq(r.shown, r.run[1].running ? 1 : 0);
	runs_release(&r);
	run_here(0, NULL, "a set of 1 good of 3 runs: this is run ", BUILDBEAT " show -d stats");
	run_here(0, NULL, "", BUILDBEAT " list -d stats | grep -q '^set .* 1 of 3 '");
}

/* diff compares all good runs. */
TEST(all_in_diff)
{
	run_here(0, "", "", RECORD "-n a --repeat 3 -- sh -c true");
	run_here(0, "", "", RECORD "-n b --repeat 2 -- sh -c true");
	run_here(0, NULL, "", BUILDBEAT " diff stats/a stats/b >d && grep -q '^base .*stats/a/.*2 more' d && "
		 "grep -q '^new .*stats/b/.*1 more' d");
	run_here(0, "", "", "ln -s stats buildstats");
	run_here(0, NULL, "", BUILDBEAT " diff >e && sed s/buildstats/stats/g e | cmp d");
	run_here(0, NULL, "", BUILDBEAT " diff --base stats/a/1 stats/b --new stats/a/3 >f && "
		 "grep -q '^base .*2 more' f");
}

/* One build with the medians of the good runs, calculated here again, and their spread. */
TEST(archived)
{
	static const char python[] =
		"import json, statistics, subprocess, sys\n"
		"def out(*a): return subprocess.run(a, stdout=subprocess.PIPE, check=True).stdout.decode()\n"
		"wall = [json.loads(out(sys.argv[1], 'show', '-j', 'stats/set/%d' % i))['totals']['wall_us']\n"
		"        for i in range(1, 5)]\n"
		"def pairs(f): return dict(l.split(': ', 1) for l in out('git', '-C', 'r.git', 'show',\n"
		"        'h/b/m:' + f).splitlines() if ': ' in l)\n"
		"totals, build = pairs('totals'), pairs('build')\n"
		"assert abs(int(totals['wall_us']) - statistics.median(wall)) <= 1, (totals, wall)\n"
		"assert abs(int(build['spread_wall']) - statistics.stdev(wall)) <= 1, (build, wall)\n"
		"assert build['runs'] == '4'\n";

	support_writes(support_path("%s/witness.py", support_tmpdir()), python);
	run_here(0, "", "", SET "4 -- sh -c 'sleep 0.0$$'");
	run_here(0, NULL, "", BUILDBEAT " archive --repo r.git --host h --branch b --machine m stats/set");
	run_here(0, "", "", "python3 witness.py " BUILDBEAT);
	run_here(0, NULL, "", BUILDBEAT " archive --repo r.git --host h --branch b --machine m stats/set | "
		 "grep -q 'already archived'");
	run_here(0, "0 problems\n", "", BUILDBEAT " archive --repo r.git --fsck");
	run_here(0, NULL, "", BUILDBEAT " history --repo r.git | grep -q 'median of 4 runs, standard'");
	run_here(0, NULL, "", BUILDBEAT " history -j --repo r.git | grep -q '\"runs\": 4'");
	/* a run is another build than its set */
	run_here(0, NULL, "", BUILDBEAT " archive --repo r.git --host h --branch b --machine m stats/set/1 | "
		 "grep -vq already");
	run_here(0, "2\n", "", "git -C r.git rev-list --count h/b/m");
}

/* Only the runs that succeeded count, and a running or failed set is no build. */
TEST(archived_in_part)
{
	run_here(1, "", "", SET "3 -- sh -c 'echo >>n; test $(wc -l <n) -lt 3'");
	run_here(0, NULL, "2 good of 3 runs: the others do not count",
		 BUILDBEAT " archive --repo r.git stats/set");
	run_here(1, "", "", RECORD "-n bad --repeat 2 -- false");
	run_here(2, "", "no run of this set succeeded", BUILDBEAT " archive --repo r.git stats/bad");
}

/* In a recorded build, which is the one that repeats. */
TEST(inside)
{
	run_here(0, "x\n", "the build runs once", RECORD "-n outer -- sh -c \"" SET "3 -- echo x\"");
	ck_assert(!support_exists(support_path("%s/stats/set", support_tmpdir())));
}

/* A set of such runs, as it is on disk. */
static void write_set(const struct runs_run *run, size_t n)
{
	const char *top = support_tmpdir();

	run_here(0, "", "", support_path("mkdir -p $(printf 'stats/set/%%s ' $(seq %zu))", n));
	support_writes(support_path("%s/stats/set/set", top), "buildbeat set 1\nruns: 5\nnew: key\n");
	for (size_t i = 0; i < n; i++)
		support_writes(support_path("%s/stats/set/%zu/build", top, i + 1),
			       support_path("buildbeat build 1\nstart_mono_ns: 1\nend_us: %lld\nstatus: %d\n",
					    (long long)run[i].wall_us, !run[i].good));
}

static int by_size(const void *a, const void *b)
{
	return (*(const int64_t *)a > *(const int64_t *)b) - (*(const int64_t *)a < *(const int64_t *)b);
}

/* The summary of any walls is that of the good ones; the median run is one of the middle. */
TEST_LOOP(sums, GENERATED)
{
	struct noise noise = { .state = (uint64_t)_i + 1 };
	struct runs_run run[12];
	const size_t runs = 1 + (size_t)(noise_uniform(&noise) * 11);
	struct runs r;
	int64_t good[12];
	double mean = 0, squares = 0;
	size_t n = 0;

	for (size_t i = 0; i < runs; i++) {
		run[i] = (struct runs_run){
			.number = (unsigned)i + 1, .good = noise_uniform(&noise) < 0.8,
			.wall_us = (int64_t)(noise_uniform(&noise) * 10) * 100000,
		};
		if (run[i].good)
			good[n++] = run[i].wall_us;
	}
	write_set(run, runs);
	read_set(&r);
	ck_assert_uint_eq(r.n, runs);
	ck_assert_uint_eq(r.n_good, n);
	qsort(good, n, sizeof *good, by_size);
	if (!n) {
		ck_assert_uint_eq(r.shown, r.n - 1);
		ck_assert_int_eq(r.median_us, -1);
		runs_release(&r);
		return;
	}
	ck_assert(run[r.shown].good);
	ck_assert_int_eq(run[r.shown].wall_us, good[(n - 1) / 2]);
	ck_assert_int_eq(r.median_us, (good[(n - 1) / 2] + good[n / 2]) / 2);
	ck_assert_int_eq(r.least_us, good[0]);
	ck_assert_int_eq(r.most_us, good[n - 1]);
	for (size_t i = 0; i < n; i++)
		mean += (double)good[i] / n;
	for (size_t i = 0; i < n; i++)
		squares += pow((double)good[i] - mean, 2);
	if (n < 2)
		ck_assert_int_eq(r.deviation_us, -1);
	else
		ck_assert(fabs((double)r.deviation_us - sqrt(squares / (n - 1))) <= 0.51);
	ck_assert(r.first_slower <= 0 || (run[0].good && run[0].wall_us == good[n - 1]));
	runs_release(&r);
}

static const struct {
	int64_t wall_us[5];
	bool slow;
} firsts[] = {
	{ { 2000000, 1000000, 1010000, 1020000, 990000 }, true },
	{ { 1050000, 1000000, 1010000, 1040000, 990000 }, false },
	{ { 1040000, 1000000, 1001000, 1002000, 1000000 }, false },	/* less than 5 % */
	{ { 1000000, 2000000, 1010000, 1020000, 990000 }, false },	/* another one */
	{ { 2000000, 1000000, 1900000, 1020000, 990000 }, false },	/* others differ as much */
};

TEST_EACH(first, firsts)
{
	struct runs_run run[5];
	struct runs r;

	for (unsigned i = 0; i < 5; i++)
		run[i] = (struct runs_run){ i + 1, true, false, firsts[_i].wall_us[i] };
	write_set(run, 5);
	read_set(&r);
	ck_assert_int_eq(r.first_slower > 0, firsts[_i].slow);
	runs_release(&r);
}

TEST_PROGRAM(record_set)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
