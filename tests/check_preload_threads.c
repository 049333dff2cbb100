/* SPDX-License-Identifier: MIT */
/* The preloaded object in threads of its host: it needs little stack, the threads can be
 * cancelled, and results of calls are unchanged. */
#include "base/array.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define HOST TOP_BUILDDIR "/tests/fake_threads"
#define RECORD TOP_BUILDDIR "/buildbeat record --no-git -o stats -n one -- "
#define STACK_MAX 4096

static void run_both(struct run *plain, struct run *with, const char *part)
{
	support_run(plain, support_tmpdir(), HOST " %s", part);
	support_run(with, support_tmpdir(), "rm -rf stats; " RECORD HOST " %s", part);
	ck_assert_int_eq(plain->status, with->status);
	ck_assert_str_eq(with->err.data, "");
}

/* The one line "NAME BYTES" of each. */
TEST(stack)
{
	char *at, *plain_at, *rest, *plain_rest;
	struct run plain, with;

	run_both(&plain, &with, "stack");
	rest = with.out.data;
	plain_rest = plain.out.data;
	ck_assert_int_eq(with.status, 0);
	while ((at = strsep(&rest, "\n")) && *at) {
		long bytes, plain_bytes;

		plain_at = strsep(&plain_rest, "\n");
		bytes = atol(strchr(at, ' '));
		plain_bytes = atol(strchr(plain_at, ' '));
		if (getenv("VERBOSE"))
			printf("%s, plain %ld: %+ld\n", at, plain_bytes, bytes - plain_bytes);
		ck_assert_msg(bytes - plain_bytes <= STACK_MAX, "%s bytes, without us %ld", at,
			      plain_bytes);
	}
}

static const char *const same[] = { "small", "cancel", "waitid", "exec" };

TEST_EACH(as_without, same)
{
	struct run plain, with;

	run_both(&plain, &with, same[_i]);
	ck_assert_int_eq(with.status, 0);
	ck_assert_msg(!strcmp(plain.out.data, with.out.data), "%s:\n%s---- not\n%s", same[_i],
		      with.out.data, plain.out.data);
}

/* A failed exec of the host is not its end. */
TEST(failing_exec)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct run plain, with;

	run_both(&plain, &with, "exec");
	recorded_open(&rec, support_path("%s/stats/one", support_tmpdir()), NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_uint_eq(rec.n_tasks, 4);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		ck_assert_int_eq(rec.task[i].state, i == 3 ? TASK_FAILED : TASK_DONE);
		ck_assert_int_le(rec.task[i].end_us, rec.instance[0].close_us);
	}
}

/* The same of a shell, and of the exec that succeeds in the end. */
TEST(failing_exec_of_a_shell)
{
	support_expect(support_tmpdir(), ANY_STATUS, "open start done start done close open start done close true 1 true 2 true 3 ",
		       "",
		       RECORD "bash -c 'shopt -s execfail; /bin/true 1; exec ./none 2>/dev/null; "
		       "/bin/true 2; exec sh -c \"/bin/true 3; :\"'; sed 1d stats/one/tasks.log | cut -f1 | tr '\\n' ' ';"
		       "grep -o 'true .$' stats/one/tasks.log | tr '\\n' ' '");
}

TEST_PROGRAM(preload_threads)
{
	SKIP_PROGRAM_IF(!make_host_can());
	return support_main();
}
