/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "base/str.h"
#include "recording/alive.h"
#include "recording/growing_files.h"
#include "recording/store_create.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

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

TEST(alive)
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

TEST(stopped)
{
	int64_t now_ns = clock_mono_ns();
	pid_t pid = waiting_process();

	ck_assert(!alive_is_stopped(pid, now_ns));
	kill(pid, SIGSTOP);
	ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
	ck_assert(alive_is_stopped(pid, now_ns));
	ck_assert(!alive_is_stopped(pid, now_ns - 10000000000));
	kill(pid, SIGCONT);
	ck_assert_int_eq(waitpid(pid, NULL, WCONTINUED), pid);
	ck_assert(!alive_is_stopped(pid, now_ns));
	kill_process(pid);
	ck_assert(!alive_is_stopped(pid, now_ns));
}

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
TEST_LOOP(launcher_ends, 2)
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

/* The launcher was killed, and its make goes on. */
TEST(launcher_killed)
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
TEST(being_made)
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

/* Nobody holds it: it was made, or its process has died. */
TEST(not_held)
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

/* The lock comes after the file. */
TEST(not_held_yet)
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

/* A host that began the recording by itself, and lives on; another machine; another boot. */
TEST_LOOP(no_launcher, 4)
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

/* Whether anything can be appended yet, by the lines of `build`, those of tasks and the time for which
 * nothing was. HOST and BOOT are those of this machine. NOW is the monotonic clock; AGO with a number
 * the time of day so many seconds ago. ME is a process that runs, GONE one that does not. */
#define S 1000000000
#define HERE "host: HOST\nboot_id: BOOT\nbuildbeat: 1\nstart_wall_ns: 1\nstart_mono_ns: NOW\n"
#define FAR "host: nowhere.example\nbuildbeat: 1\nstart_wall_ns: 1\nstart_mono_ns: 1\n"

static const struct { const char *build, *tasks; int64_t idle_ns; bool is_written; } states[] = {
	{ "", "", 5 * (int64_t)S - 1, true }, { "", "", 5 * (int64_t)S, false },
	{ HERE "imported: ninja\nsampler_pid: ME\n", "", 0, false },
	{ "start_mono_ns: 0\nhost: nowhere.example\n", "", 0, true },
	{ "start_mono_ns: -1\nhost: nowhere.example\n", "", 5 * (int64_t)S, false },
	{ "start_mono_ns: x\nhost: nowhere.example\n", "", 5 * (int64_t)S, false },
	/* a new one has few lines yet */
	{ "start_mono_ns: 1\nstart_wall_ns: AGO0\n", "", 900 * (int64_t)S, true },
	{ "start_mono_ns: 1\nstart_wall_ns: AGO20\n", "", 900 * (int64_t)S, false },
	{ "start_mono_ns: 1\nstart_wall_ns: AGO-60\n", "", 900 * (int64_t)S, false },
	{ "start_mono_ns: 1\nstart_wall_ns: AGO0\nbuildbeat: 1\n", "", 900 * (int64_t)S, false },
	/* of another machine or another boot */
	{ FAR, "", 122 * (int64_t)S, true }, { FAR, "", 123 * (int64_t)S, false },
	{ FAR "interval_ms: 10000\n", "", 149 * (int64_t)S, true },
	{ FAR "interval_ms: 10000\n", "", 150 * (int64_t)S, false },
	{ FAR "end_us: 0\n", "", S - 1, true }, { FAR "end_us: 0\n", "", S, false },
	{ FAR "end_us: -1\n", "", S, true },
	{ HERE "boot_id: other\nsampler_pid: ME\n", "open\t1\ta\tME\n", 0, false },
	/* its launcher */
	{ HERE "sampler_pid: ME\n", "", 900 * (int64_t)S, true },
	{ HERE "sampler_pid: GONE\n", "", 0, false },
	{ HERE "sampler_pid: 0\n", "", 0, false }, { HERE "sampler_pid: 2147483648\n", "", 0, false },
	{ HERE "sampler_pid: ME\nend_us: 5\n", "", 900 * (int64_t)S, true },
	{ HERE "sampler_pid: ME\nend_us: 5\ntool: x\n", "", S, false },
	{ HERE "sampler_pid: ME\nend_us: 5\ntool: x\n", "", S - 1, true },
	{ HERE "sampler_pid: ME\ntool: x\n", "", S, true },
	/* its hosts, after the launcher was killed */
	{ HERE "sampler_pid: GONE\n", "open\t0\ta\tME\n", 0, true },
	{ HERE "sampler_pid: GONE\n", "open\t0\ta\tGONE\n", 0, false },
	{ HERE "sampler_pid: GONE\n", "open\t0\ta\tGONE\nopen\t0\tb\tME\nopen\t0\tc\tGONE\n", 0, true },
	{ HERE "sampler_pid: GONE\n", "open\t0\ta\tGONE\nopen\t0\tb\tME\nclose\t0\tb\n", 0, false },
	{ HERE "sampler_pid: GONE\n", "open\t0\ta\tME\nopen\t0\tb\tGONE\nclose\t0\tb\n", 0, true },
	{ HERE "sampler_pid: GONE\n", "open\t0\ta\tME\nclose\t0\tb\nstart\t1\ta.1\n", 0, true },
	{ HERE "sampler_pid: GONE\n", "open\t0\ta\t0\nopen\t0\ta\t2147483648\n", 0, false },
	{ HERE "sampler_pid: GONE\nend_us: 5\n", "open\t0\ta\tME\n", 0, false },
	/* a process that started later has the number */
	{ "start_mono_ns: 1\nhost: HOST\nboot_id: BOOT\nbuildbeat: 1\nsampler_pid: ME\n", "open\t0\ta\tME\n",
	  0, false },
	{ "start_mono_ns: 1\nhost: HOST\nboot_id: BOOT\nbuildbeat: 1\nsampler_pid: ME\n", "open\tNOW_US\ta\tME\n",
	  0, true },
};

static void fill_in(struct buf *b, const char *text, pid_t gone)
{
	struct utsname u;

	ck_assert(!uname(&u));
	while (*text) {
		if (str_starts(text, "HOST")) {
			buf_adds(b, u.nodename);
			text += strlen("HOST");
		} else if (str_starts(text, "BOOT")) {
			buf_addf(b, "%.36s", support_text("/proc/sys/kernel/random/boot_id"));
			text += strlen("BOOT");
		} else if (str_starts(text, "NOW_US")) {
			buf_addi(b, clock_mono_ns() / 1000);
			text += strlen("NOW_US");
		} else if (str_starts(text, "NOW")) {
			buf_addi(b, clock_mono_ns());
			text += strlen("NOW");
		} else if (str_starts(text, "AGO")) {
			char *end;
			long ago_s = strtol(text + strlen("AGO"), &end, 10);

			buf_addi(b, clock_wall_ns() - ago_s * S);
			text = end;
		} else if (str_starts(text, "ME")) {
			buf_addi(b, getpid());
			text += strlen("ME");
		} else if (str_starts(text, "GONE")) {
			buf_addi(b, gone);
			text += strlen("GONE");
		} else {
			buf_addc(b, *text++);
		}
	}
}

static bool next_line(struct cursor *c, struct slice *line)
{
	bool whole;

	return cursor_line(c, line, &whole);
}

TEST_EACH(still_written, states)
{
	struct buf build = BUF_INIT, tasks = BUF_INIT;
	pid_t gone = waiting_process();
	struct growing_writers w;
	struct slice line;
	struct cursor c;

	kill_process(gone);
	fill_in(&build, states[_i].build, gone);
	fill_in(&tasks, states[_i].tasks, gone);
	growing_writers_init(&w);
	for (cursor_init(&c, buf_str(&build), build.len); next_line(&c, &line);) {
		const char *colon = memchr(line.p, ':', line.len);

		growing_writers_build(&w, (struct slice){ line.p, (size_t)(colon - line.p) },
				      (struct slice){ colon + 2, (size_t)(line.p + line.len - colon) - 2 });
	}
	for (cursor_init(&c, buf_str(&tasks), tasks.len); next_line(&c, &line);) {
		struct event e;

		ck_assert_int_eq(event_parse(line, &e), EVENT_PARSED);
		ck_assert_int_eq(growing_writers_event(&w, e), 0);
	}
	ck_assert_msg(growing_writers_exist(&w, -1, states[_i].idle_ns) == states[_i].is_written, "%s%s",
		      buf_str(&build), buf_str(&tasks));
	free(w.open);
	buf_release(&build);
	buf_release(&tasks);
}

TEST_MAIN(alive);
