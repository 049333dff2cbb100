/* SPDX-License-Identifier: MIT */
/* Many threads at once, and faults of the recording: the build continues unchanged. */
#include "base/array.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define SPAWNER TOP_BUILDDIR "/tests/fake_spawner"
#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define RECORD BUILDBEAT " record --no-git -o stats -n one -- "

static const char *const waiting[] = { "each", "any" };

TEST_EACH(threads, waiting)
{
	const unsigned rounds = 60;
	RELEASED(recording, rec = RECORDING_INIT);
	unsigned failed = 0;

	support_expect(support_tmpdir(), ANY_STATUS, "480 ended, 240 failed, 0 wrong\n", "",
		       RECORD SPAWNER " %u %s", rounds, waiting[_i]);
	recorded_open(&rec, support_path("%s/stats/one", support_tmpdir()), NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_uint_eq(rec.n_tasks, 8 * rounds);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		ck_assert_msg(t->state == (strcmp(t->name, "true") ? TASK_FAILED : TASK_DONE),
			      "task %zu, %s: %d", i, t->name, t->state);
		ck_assert(t->max_rss_kb > 0 || t->max_rss_at_most_kb > 0);
		ck_assert_int_ge(t->end_us, t->start_us);
		failed += t->state == TASK_FAILED;
	}
	ck_assert_uint_eq(failed, 240);
}

/* The host is a shell that causes the fault itself, during the build. */
static const struct {
	const char *what, *script;
	int tasks;		/* -1: any */
} faults[] = {
	{ "nothing", ":", 2 },
	{ "recording removed", "rm -r stats/one/*", -1 },
	{ "tasks.log removed", "rm stats/one/tasks.log", -1 },
	{ "ticket removed", "rm -f $TMPDIR/buildbeat-*/buildbeat.mk", -1 },
	{ "preload removed", "rm -f $TMPDIR/buildbeat-*/buildbeat-preload.so; sh ./s.sh", -1 },
	{ "a file size limit", "ulimit -f 0", -1 },
	{ "no descriptors", "ulimit -n 4", -1 },
	{ "descriptors closed", "exec 40>&- 41>&- 42>&-", 2 },
	{ "descriptors taken", "/bin/true; exec 40>mine 41>mine2", 2 },
	{ "no memory to lock", "ulimit -v 200000", 2 },
};

TEST_EACH(goes_on, faults)
{
	const char *dir = support_tmpdir();
	struct run plain, with;

	support_writes(support_path("%s/s.sh", dir), "/bin/echo script\n");
	support_writes(support_path("%s/b", dir), support_path(
		       "PATH=/usr/bin:/bin\nmkdir -p stats/one\n"
		       "[ -e stats/one/tasks.log ] || : >stats/one/tasks.log\n(%s)\n%s\n/bin/echo one\n/bin/false\necho $?\n"
		       "cat mine mine2 2>/dev/null\nexit 7\n", "true", faults[_i].script));
	support_run(&plain, dir, "bash b");
	support_run(&with, dir, "rm -rf stats; " RECORD "bash b 2>err; s=$?; grep -v ^buildbeat: err >&2; exit $s");
	ck_assert_int_eq(with.status, plain.status);
	ck_assert_msg(!strcmp(with.out.data, plain.out.data), "%s:\n%s---- not\n%s", faults[_i].what,
		      with.out.data, plain.out.data);
	ck_assert_msg(!strcmp(with.err.data, plain.err.data), "%s:\n%s---- not\n%s", faults[_i].what,
		      with.err.data, plain.err.data);
	if (faults[_i].tasks >= 0) {
		support_run(&with, dir, "grep -c -e '^start.*/bin/echo one' -e '^start.*/bin/false'"
			    " -e '^start.*\ttrue$' stats/one/tasks.log");
		ck_assert_msg(atoi(with.out.data) == faults[_i].tasks, "%s: %s tasks", faults[_i].what,
			      with.out.data);
	}
}

/* The disk is full from the start. */
TEST(full_disk)
{
	struct run r;

	support_run(&r, support_tmpdir(), "mkdir full; unshare -rm sh -c '"
		    "mount -t tmpfs -o size=64k none full || exit 77; "
		    BUILDBEAT " record --no-git -o full -n one sh -c \"head -c 200000 /dev/zero > full/x;"
		    " /bin/echo out; /bin/false; /bin/echo on; exit 6\" 2>/dev/null'");
	if (r.status != 77 && !strstr(r.err.data, "unshare")) {
		ck_assert_str_eq(r.out.data, "out\non\n");
		ck_assert_int_eq(r.status, 6);
	}
}

/* A fork of the host that outlives the build does not write to the recording. */
TEST(outlived)
{
	support_expect(support_tmpdir(), ANY_STATUS, "late\nsame\n", NULL,
		       "%smkfifo go; " RECORD "bash -c '(read line <go; /bin/true; "
		       "touch late) >/dev/null 2>&1 & /bin/true'; wc -l <stats/one/tasks.log >before; "
		       "echo >go; until_true 'test -e late'; "
		       "ls late; wc -l <stats/one/tasks.log | cmp - before && echo same", support_poll);
}

/* A C host that loads our plugin is a host of the plugin, and no task is recorded twice. */
TEST(plugin_inside)
{
	RELEASED(recording, rec = RECORDING_INIT);

	support_expect(support_tmpdir(), 1, "one\n", NULL,
		       "cc -I" TOP_SRCDIR "/plugin " TOP_SRCDIR
		       "/examples/host/host.c -o host -ldl && BUILDBEAT_PLUGIN=" PLUGIN " " RECORD
		       "./host 'echo one' 'exit 3'");
	recorded_open(&rec, support_path("%s/stats/one", support_tmpdir()), NULL);
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "echo one");
}

/* A program, or a fork of a host, that is killed if it asks for its process number. */
static const char sandboxed[] =
	"#include <linux/filter.h>\n#include <linux/seccomp.h>\n#include <stddef.h>\n#include <stdlib.h>\n"
	"#include <string.h>\n#include <sys/prctl.h>\n#include <sys/syscall.h>\n#include <sys/wait.h>\n#include <unistd.h>\n"
	"int main(int argc, char **argv)\n{\n"
	"	struct sock_filter f[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),\n"
	"		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 0, 1),\n"
	"		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };\n"
	"	struct sock_fprog p = { 4, f };\n	int status = 0;\n	pid_t child;\n"
	"	if (argc > 2 && (system(\"true\") || (child = fork()))) {\n"
	"		waitpid(child, &status, 0);\n"
	"		return WIFEXITED(status) ? WEXITSTATUS(status) : 99;\n	}\n"
	"	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))\n"
	"		return 77;\n"
	"	if (!strcmp(argv[1], \"_exit\"))\n		_exit(3);\n	exit(3);\n}\n";

static const char *const ends[] = { "exit", "_exit", "exit fork", "_exit fork" };

TEST_EACH(sandbox, ends)
{
	const char *dir = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/s.c", dir), sandboxed);
	support_expect(dir, 0, NULL, NULL, "cc -o s s.c");
	support_run(&r, dir, "./s %s", ends[_i]);
	SKIP_IF(r.status == 77);
	ck_assert_int_eq(r.status, 3);
	support_expect(dir, 3, "", NULL, RECORD "./s %s", ends[_i]);
}

TEST_PROGRAM(preload_faults)
{
	SKIP_PROGRAM_IF(!make_host_can());
	return support_main();
}
