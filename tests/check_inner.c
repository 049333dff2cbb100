/* SPDX-License-Identifier: MIT */
/* What ran inside a task that is a script. */
#include "analyse/inner.h"
#include "base/array.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* A task from 1 s to 10 s, process 200, and one beside it, 300. */
#define TASKS "buildbeat tasks 1\nopen\t0\ti1\t100\t0\t100\tmake\t4.3\t/src\tmake\n" \
	"start\t1000000\ti1.1\t200\t\t\tscript\ndone\t10000000\ti1.1\t0\n" \
	"start\t1000000\ti1.2\t300\t\t\tother\ndone\t10000000\ti1.2\t0\nclose\t10000000\ti1\n"
#define OTHER "done\t9000000\t301\t300\t7000000\t1\tcc z.c\t0\t7000000\t0\n" \
	"done\t10000000\t300\t100\t9000000\t1\tsh z\t0\t10\t10\n"
#define SCRIPT "done\t10000000\t200\t100\t9000000\t1\tsh -c ./build\t0\t10\t10\n"
#define NONE "\t\t\t\t\t\t" "\t\t\t\t"		/* from memory to the upper bound of it */

static const struct {
	const char *what, *processes, *programs, *alone;
	uint32_t most;
	size_t n;
	int64_t busy_us, running_us, alone_us;
} cases[] = {
	{ "the shell alone waits", "", "sh 1 20", "", .most = 0, .n = 1 },
	{ "two side by side, then one",
	  "done\t4000000\t201\t200\t2000000\t1\t/usr/bin/cc a.c\t0\t1500000\t400000\n"
	  "done\t5000000\t202\t200\t3000000\t1\tcc b.c\t0\t2900000\t0\n"
	  "done\t9000000\t203\t200\t4000000\t1\tld a.o b.o\t0\t3000000\t0\n",
	  "cc 2 4800000;ld 1 3000000;sh 1 20", "ld", .most = 2, .n = 4,
	  .busy_us = 7000000, .running_us = 9000000, .alone_us = 5000000 },
	{ "a driver runs before and after its child",
	  "done\t7000000\t202\t201\t4000000\t1\tcc1 a.c\t0\t4000000\t0\n"
	  "done\t8000000\t201\t200\t6000000\t1\tcc a.c\t0\t2000000\t0\n",
	  "cc1 1 4000000;cc 1 2000000;sh 1 20", "cc1", .most = 1, .n = 3,
	  .busy_us = 6000000, .running_us = 6000000, .alone_us = 6000000 },
	{ "who waits for something else does not run",
	  "done\t8000000\t201\t200\t6000000\t1\tsleep 6\t0\t0\t1000\n"
	  "done\t8000000\t202\t200\t1000000\t1\tas a.s\t0\t900000\t0\n",
	  "as 1 900000;sleep 1 1000;sh 1 20", "as", .most = 1, .n = 3,
	  .busy_us = 1000000, .running_us = 1000000, .alone_us = 1000000 },
	{ "who waited for a processor ran, as far as that is known",
	  "done\t4000000\t201\t200\t2000000\t1\tcc a.c\t0\t100000\t0" NONE "\t900000\n"
	  "done\t6000000\t202\t200\t2000000\t1\tld b.c\t0\t100000\t0" NONE "\t899999\n"
	  "done\t8000000\t203\t200\t2000000\t1\tas c.c\t0\t250000\t0\n"
	  "done\t9000000\t204\t200\t1000000\t1\tar d.c\t0\t124999\t0\n",
	  "as 1 250000;ar 1 124999;cc 1 100000;ld 1 100000;sh 1 20", "as", .most = 1, .n = 5,
	  .busy_us = 4000000, .running_us = 4000000, .alone_us = 4000000 },
	{ "one after another at the same moment; unknown CPU time; no time at all",
	  "done\t4000000\t201\t200\t2000000\t1\tcc a.c\t0\t2000000\t0\n"
	  "done\t6000000\t202\t200\t2000000\t1\tcc b.c\t0\t2000000\t0\n"
	  "done\t5000000\t203\t200\t2000000\t1\tcc c.c\n"
	  "done\t5000000\t204\t200\t0\t1\ttrue\t0\t1\t0\n",
	  "cc 2 4000000;sh 1 20;true 1 1", "cc", .most = 1, .n = 4,
	  .busy_us = 4000000, .running_us = 4000000, .alone_us = 4000000 },
};

static const char *write_recording(const char *processes)
{
	const char *dir = support_tmpdir();

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_mono_ns: 1\nend_us: 10000000\n");
	support_writes(support_path("%s/tasks.log", dir), TASKS);
	support_writes(support_path("%s/processes.log", dir),
		       support_path("buildbeat processes 1\n%s" OTHER SCRIPT, processes));
	return dir;
}

TEST_EACH(task, cases)
{
	RELEASED(recording, rec);
	RELEASED(process_tree, tree);
	RELEASED(inner, in);
	RELEASED(buf, b = BUF_INIT);
	const char *dir = write_recording(cases[_i].processes);
	struct error err = { 0 };

	recorded_open(&rec, dir, NULL);
	ck_assert_msg(!process_tree_read(&tree, dir, &rec, NULL, &err), "%s", err.message);
	ck_assert_int_eq(inner_make(&in, &tree, 0), 0);
	for (size_t i = 0; i < in.n_programs; i++)
		buf_addf(&b, "%s%.*s %zu %lld", i ? ";" : "", (int)in.program[i].name.len, in.program[i].name.p,
			 in.program[i].n, (long long)in.program[i].cpu_us);
	ck_assert_str_eq(buf_str(&b), cases[_i].programs);
	ck_assert_uint_eq(in.n, cases[_i].n);
	ck_assert_uint_eq(in.most, cases[_i].most);
	ck_assert_int_eq(in.busy_us, cases[_i].busy_us);
	ck_assert_int_eq(in.running_us, cases[_i].running_us);
	ck_assert_int_eq(in.alone_us, cases[_i].alone_us);
	ck_assert_double_eq_tol(inner_mean(&in), cases[_i].busy_us ? (double)cases[_i].running_us /
				(double)cases[_i].busy_us : 0, 1e-9);
	if (*cases[_i].alone)
		ck_assert(slice_is(in.program[in.alone].name, cases[_i].alone));
	else
		ck_assert_uint_eq(in.alone, in.n_programs);
}

/* The same in the reply about a task. */
TEST(reply)
{
	const char *dir = write_recording(cases[1].processes);
	struct run r;

	support_run(&r, NULL, "echo /api/v1/task?task=script | " TOP_BUILDDIR "/tests/ask %s | tr -d ' \n'", dir);
	ck_assert_msg(strstr(buf_str(&r.out), "\"inner\":{\"n_processes\":4,\"running_max\":2,\"running_mean\":1.29,"
			     "\"busy_us\":7000000,\"alone_us\":5000000,\"programs\":[{\"name\":\"cc\",\"count\":2,"
			     "\"cpu_us\":4800000,\"alone_us\":1000000},{\"name\":\"ld\",\"count\":1,\"cpu_us\":3000000,"
			     "\"alone_us\":4000000},{\"name\":\"sh\""), "%s", r.out.data);
}

TEST_MAIN(inner);
