/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "recording/alive.h"
#include "recording/growing.h"
#include "recording/store_create.h"
#include "tests/support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t waiting_process(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	return pid;
}

static void kill_process(pid_t pid)
{
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

START_TEST(alive)
{
	int64_t now_ns = clock_mono_ns();
	pid_t pid = waiting_process();

	ck_assert(alive_since(pid, now_ns));
	ck_assert(alive_since(getpid(), now_ns));
	ck_assert(alive_since(1, now_ns));
	/* it has the pid of an older one */
	ck_assert(!alive_since(pid, now_ns - 10000000000));
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	ck_assert_msg(!alive_since(pid, now_ns), "a zombie");
	kill_process(pid);
	ck_assert(!alive_since(pid, now_ns));
	ck_assert(!alive_since(0, now_ns));
	ck_assert(!alive_same_host(NULL));
	ck_assert(!alive_same_host("nowhere.example"));
	ck_assert(!alive_same_boot("00000000-0000-0000-0000-000000000000"));
}
END_TEST

/* Recordings */

static void begin(struct growing **g, const char *dir)
{
	static const struct growing_to nobody;
	struct error err = { 0 };

	ck_assert_msg(!growing_open(g, dir, NULL, &nobody, NULL, &err), "%s", err.message);
}

static int more(struct growing *g)
{
	struct error err = { 0 };
	int r = growing_read(g, &err);

	ck_assert_msg(r >= 0, "%s: %s", err.path, err.message);
	return r;
}

/* A recording of this machine with this launcher. */
static void write_build(const char *more_lines, pid_t launcher)
{
	char host[256];

	ck_assert(!gethostname(host, sizeof host));
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "{ echo buildbeat build 1; echo start_wall_ns: 1; echo start_mono_ns: %lld; "
		       "echo host: %s; echo boot_id: $(cat /proc/sys/kernel/random/boot_id); "
		       "echo sampler_pid: %d; echo buildbeat: 1; printf '%s'; } >build",
		       (long long)clock_mono_ns(), host, (int)launcher, more_lines);
}

static bool has_ended(void *data)
{
	return !more(data);
}

/* The launcher ends it, but not before it exits. */
START_TEST(launcher_ends)
{
	pid_t launcher = waiting_process();
	struct growing *g;

	write_build(_i ? "end_us: 5\\n" : "", launcher);
	begin(&g, support_tmpdir());
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(more(g), 1);
	kill_process(launcher);
	ck_assert_int_eq(more(g), 0);
	growing_close(g);
}
END_TEST

/* The launcher was killed, and its make goes on. */
START_TEST(launcher_killed)
{
	pid_t launcher = waiting_process(), make = waiting_process();
	const char *dir = support_tmpdir();
	struct growing *g;

	write_build("", launcher);
	support_writes(support_path("%s/tasks.log", dir), support_path(
		       "buildbeat tasks 1\nopen\t1\tabc\t%d\t0\nopen\t2\tdef\t%d\nclose\t3\tdef\n",
		       (int)make, (int)getpid()));
	begin(&g, dir);
	more(g);
	kill_process(launcher);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(more(g), 1);
	kill_process(make);
	ck_assert_int_eq(more(g), 0);
	growing_close(g);
}
END_TEST

/* Make a recording as far as asked, say so, and wait. */
static pid_t maker(const char *base, bool begun)
{
	struct store s;
	struct error err;
	int ready[2];
	pid_t pid;
	char byte;

	ck_assert(!pipe(ready));
	pid = fork();
	if (!pid) {
		if (!store_create_for(&s, STORE_ACCESS_USER, base, "rec", &err)) {
			if (begun)
				store_begun(&s);
			else
				ck_assert(!truncate(support_path("%s/rec/build", base), 0));
			ck_assert_int_eq(write(ready[1], "", 1), 1);
		}
		pause();
		_exit(0);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* All of it is old: the process that makes it is slow, or stopped. */
static void set_old(const char *dir)
{
	support_expect(dir, 0, NULL, NULL, "test ! -s build || "
		       "sed -i 's/^start_wall_ns: .*/start_wall_ns: 1/' build; "
		       "touch -d '1 hour ago' * .");
}

static bool says_running(const char *dir)
{
	struct recording rec = RECORDING_INIT;
	struct error err;
	bool runs = !recording_read_build(&rec, dir, NULL, &err) && growing_runs(&rec);

	recording_release(&rec);
	return runs;
}

/* Its `build` says nothing yet. Readers wait while its process lives. */
START_TEST(being_made)
{
	const char *base = support_tmpdir(), *dir = support_path("%s/rec", base);
	pid_t pid = maker(base, false);
	struct growing *g;

	set_old(dir);
	ck_assert(says_running(dir));
	begin(&g, dir);
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(more(g), 1);
	kill_process(pid);
	support_wait_until(has_ended, g, "the end of the recording");
	growing_close(g);
	ck_assert(!says_running(dir));
}
END_TEST

/* Nobody holds it: it was made, or its process has died. */
START_TEST(not_held)
{
	const char *base = support_tmpdir(), *dir = support_path("%s/rec", base);
	pid_t pid = maker(base, true);
	struct growing *g;

	set_old(dir);
	begin(&g, dir);
	support_wait_until(has_ended, g, "the end of the recording");
	growing_close(g);
	kill_process(pid);
}
END_TEST

/* The lock comes after the file. */
START_TEST(not_held_yet)
{
	const char *dir = support_tmpdir();
	struct growing *g;

	support_writes(support_path("%s/build", dir), "");
	begin(&g, dir);
	ck_assert_int_eq(more(g), 1);
	growing_close(g);
	set_old(dir);
	begin(&g, dir);
	ck_assert_int_eq(more(g), 0);
	growing_close(g);
}
END_TEST

/* A host that began the recording by itself, and lives on; another machine; another boot. */
START_TEST(no_launcher)
{
	static const char *const lines[] = {
		"tool: bitbake\\nend_us: 5\\n", "host: nowhere.example\\nend_us: 5\\n",
		"boot_id: 1\\n", "imported: ninja\\n",
	};
	pid_t launcher = waiting_process();
	struct growing *g;

	write_build(lines[_i], launcher);
	begin(&g, support_tmpdir());
	support_wait_until(has_ended, g, "the end of the recording");
	growing_close(g);
	kill_process(launcher);
}
END_TEST

TEST_PROGRAM(alive)
{
	return support_main("alive", TEST(alive), TEST_LOOP(launcher_ends, 2), TEST(launcher_killed),
			    TEST(being_made), TEST(not_held), TEST(not_held_yet),
			    TEST_LOOP(no_launcher, 4));
}
