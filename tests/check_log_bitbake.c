/* SPDX-License-Identifier: MIT */
#include "analyse/output.h"
#include "recording/event.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Lines of BitBake's console, and the tasks of a recording by its plugin. The numbers are those
 * that zlib's crc32() and adler32() make of the files' names. */

static const struct { const char *key, *name, *log; uint64_t number; int64_t queued_ms; } task[] = {
	{ "gcc-12.2-r0", "do_compile", "/t/gcc/temp/run.do_compile.9", 559577688082902, 0 },
	{ "gcc-12.2-r0", "do_install", "/t/gcc/temp/run.do_install.9", 480207644494359, 0 },
	{ "zlib-1.2-r1", "do_compile", "/t/zlib/temp/run.do_compile.9", 294204509560512, 0 },
	{ "mc:arm:zlib-1.2-r1", "do_compile", "/t/arm/temp/run.do_compile.9", 494684221404316, 500 },
	{ "zlib-1.2-r1", "do_populate_sysroot_setscene", "/t/zlib/temp/run.do_populate_sysroot_setscene.9",
	  455185027148019, 0 },
	{ "m4-native-1.4-r0", "do_fetch", "/t/m4/temp/run.do_fetch.9", 409332316182857, 0 },
};

#define NONE -1

struct line { const char *text; int task; int ms; enum output_stream stream; };

#define AT_300 300, OUTPUT_BOTH

static const struct line good[] = {
	{ "Loading cache...done.", NONE, AT_300 },
	{ "NOTE: Executing Tasks", NONE, AT_300 },
	{ "NOTE: Running setscene task 1 of 3 (/r/zlib/zlib_1.2.bb:do_populate_sysroot_setscene)", 4, AT_300 },
	{ "NOTE: recipe zlib-1.2-r1: task do_populate_sysroot_setscene: Started", 4, AT_300 },
	{ "WARNING: Logfile for failed setscene task is /t/zlib/temp/log.do_populate_sysroot_setscene.9", 4, AT_300 },
	{ "WARNING: Setscene task (/r/zlib/zlib_1.2.bb:do_populate_sysroot_setscene) failed with exit "
	  "code '1' - real task will be run instead", 4, AT_300 },
	{ "NOTE: Running task 2 of 9 (virtual:native:/r/m4/m4_1.4.bb:do_fetch)", 5, AT_300 },
	{ "NOTE: Running noexec task 3 of 9 (/r/gcc/gcc_12.2.bb:do_build)", NONE, AT_300 },
	{ "NOTE: recipe m4-native-1.4-r0: task do_fetch: Started", 5, AT_300 },
	{ "NOTE: recipe m4-native-1.4-r0: task do_fetch: Ended", NONE, AT_300 },
	{ "NOTE: recipe m4-native-1.4-r1: task do_fetch: Started", NONE, AT_300 },
	{ "WARNING: m4-native-1.4-r0 do_fetch: Failed to fetch URL x: y, attempting MIRRORS", 5, AT_300 },
	{ "WARNING: m4-native-1.4-r0 do_patch: Fuzz detected", NONE, AT_300 },
	{ "WARNING: /r/m4/m4_1.4.bb: Unable to get checksum", NONE, AT_300 },
	{ "NOTE: Tasks Summary: Attempted 9 tasks of which 0 didn't need to be rerun", NONE, AT_300 },
	{ "NOTE: recipe gcc-12.2-r0: task do_compile: Started", 0, AT_300 },
	{ "\033[1;29mNOTE\033[0m: \033[29mrecipe gcc-12.2-r0: task do_install: Started\033[0m\r", 1, AT_300 },
	{ "\033[1A\033[J\033[1;31mERROR\033[0m: \033[31mgcc-12.2-r0 do_install: oe_runmake failed\033[0m", 1, AT_300 },
	{ "Currently  1 running tasks (2 of 9)   22% |####   |", NONE, AT_300 },
	{ "0: gcc-12.2-r0 do_compile - 10s (pid 99)", NONE, AT_300 },
	{ "| a line of a pipe", NONE, AT_300 },
	/* both multiconfigs; only the first one was queued before the first line */
	{ "NOTE: recipe zlib-1.2-r1: task do_compile: Started", 2, 400, OUTPUT_BOTH },
	{ "NOTE: recipe zlib-1.2-r1: task do_compile: Started", NONE, 600, OUTPUT_BOTH },
	{ "WARNING: zlib-1.2-r1 do_compile: one", 2, 600, OUTPUT_BOTH },
	{ "WARNING: mc:arm:zlib-1.2-r1 do_compile: one", 3, 600, OUTPUT_BOTH },
	{ "NOTE: Running task 5 of 9 (mc:arm:/r/zlib/zlib_1.2.bb:do_compile)", 3, 600, OUTPUT_BOTH },
};

static const struct line logs[] = {
	{ "ERROR: gcc-12.2-r0 do_compile: Execution of '/t/run' failed with exit code 1", 0, AT_300 },
	{ "ERROR: Logfile of failure stored in: /t/gcc/temp/log.do_compile.9", 0, AT_300 },
	{ "Log data follows:", 0, AT_300 },
	{ "| DEBUG: Executing shell function do_compile", 0, AT_300 },
	{ "| NOTE: gcc-12.2-r0 do_install: not a message", 0, AT_300 },
	{ "|", 0, AT_300 },
	{ "NOTE: recipe gcc-12.2-r0: task do_compile: Failed", 0, AT_300 },
	{ "| later", NONE, AT_300 },
	{ "ERROR: Task (/r/gcc/gcc_12.2.bb:do_compile) failed with exit code '1'", 0, AT_300 },
	/* not printed, and the next one is known again */
	{ "ERROR: Logfile of failure stored in: /t/gcc/temp/log.do_install.9", 1, AT_300 },
	{ "NOTE: recipe gcc-12.2-r0: task do_install: Failed", 1, AT_300 },
	{ "ERROR: Logfile of failure stored in: /t/zlib/temp/log.do_compile.9", 2, AT_300 },
	{ "Log data follows:", 2, AT_300 },
	{ " | last line", 2, AT_300 },
	{ "NOTE: Tasks Summary: Attempted 9 tasks", NONE, AT_300 },
};

/* The errors came first, so that the logs may be those of either. */
static const struct line delayed[] = {
	{ "ERROR: Logfile of failure stored in: /t/gcc/temp/log.do_compile.9", 0, AT_300 },
	{ "ERROR: Logfile of failure stored in: /t/gcc/temp/log.do_install.9", 1, AT_300 },
	{ "Log data follows:", NONE, AT_300 },
	{ "| x", NONE, AT_300 },
	{ "Log data follows:", NONE, AT_300 },
	{ "| x", NONE, AT_300 },
};

/* The order of two streams is not known. */
static const struct line streams[] = {
	{ "ERROR: Logfile of failure stored in: /t/gcc/temp/log.do_compile.9", 0, 300, OUTPUT_STDERR },
	{ "Log data follows:", NONE, 300, OUTPUT_STDOUT },
	{ "| x", NONE, 300, OUTPUT_STDOUT },
	{ "NOTE: recipe gcc-12.2-r0: task do_compile: Failed", 0, 300, OUTPUT_STDOUT },
};

static const struct line unknown_log[] = {
	{ "ERROR: Logfile of failure stored in: /t/gcc/temp/log.do_compile.9", 0, AT_300 },
	{ "ERROR: Logfile of failure stored in: /t/no/such", NONE, AT_300 },
	{ "Log data follows:", NONE, AT_300 },
	{ "| x", NONE, AT_300 },
};

#define CONSOLE(table) { table, ARRAY_SIZE(table) }
static const struct { const struct line *line; size_t n; } consoles[] = {
	CONSOLE(good), CONSOLE(logs), CONSOLE(delayed), CONSOLE(streams), CONSOLE(unknown_log),
};

static void make_recording(struct recorded *r, const struct line *line, size_t n)
{
	RELEASED(buf, tasks = BUF_INIT, text = BUF_INIT, index = BUF_INIT);

	event_add_open(&tasks, 0, "b", &(struct event_open){ .pid = 5, .level = -1, .tool = "bitbake",
		       .version = "2.0", .cwd = "/t", .command = "bitbake gcc" });
	for (size_t i = 0; i < ARRAY_SIZE(task); i++) {
		struct event_task e = { .name = task[i].name, .key = task[i].key, .pid = 9, .slot = -1,
					.command = task[i].log };

		event_add_queue(&tasks, 1000 * task[i].queued_ms, "b", task[i].number, &e);
		event_add_start(&tasks, 1000 * task[i].queued_ms, "b", task[i].number, &e);
	}
	/* what a make in a task writes is in the task's log */
	event_add_open(&tasks, 10, "m", &(struct event_open){ .pid = 7, .level = 0, .tool = "make",
		       .ancestors = "9", .version = "4.3", .cwd = "/t", .command = "make" });
	event_add_start(&tasks, 20, "m", 1, &(struct event_task){ .name = "x", .slot = -1,
			.command = "sleep 9" });
	buf_adds(&index, OUTPUT_HEADER);
	for (size_t i = 0; i < n; i++) {
		buf_addf(&text, "%s\n", line[i].text);
		buf_addf(&index, "%d 0 %d %zu\n", 1000 * line[i].ms, (int)line[i].stream, text.len);
	}
	support_write(support_path("%s/" OUTPUT_LOG, support_tmpdir()), text.data, text.len);
	support_write(support_path("%s/" OUTPUT_INDEX, support_tmpdir()), index.data, index.len);
	recorded_make(r, "end_us: 1000000\n", buf_str(&tasks), NULL);
}

TEST_EACH(console, consoles)
{
	const struct line *line = consoles[_i].line;
	struct output_tasks tasks;
	struct output *o;
	RELEASED(recorded, r);
	struct error err;
	size_t at = 0;

	make_recording(&r, line, consoles[_i].n);
	ck_assert_uint_eq(r.rec.n_warnings, 0);
	ck_assert_int_eq(output_open(&o, r.rec.path, NULL, &err), 0);
	ck_assert_int_eq(output_find_tasks(&tasks, o, &r.rec), 0);
	ck_assert_uint_eq(tasks.n_lines, consoles[_i].n);
	for (size_t i = 0; i < consoles[_i].n; i++) {
		uint32_t found = output_task_of(&tasks, i, &at);
		const struct task *t = found == NO_INDEX ? NULL : &r.rec.task[found];

		if (line[i].task == NONE)
			ck_assert_msg(!t, "'%s' is of %s %s", line[i].text, t->key, t->name);
		else
			ck_assert_msg(t && t->seq == task[line[i].task].number, "'%s' is of %s",
				      line[i].text, t ? t->key : "no task");
	}
	output_tasks_release(&tasks);
	output_close(o);
}

TEST(log_of_task)
{
	RELEASED(buf, path = BUF_INIT);
	RELEASED(recorded, r);

	make_recording(&r, good, 1);
	ck_assert(output_task_log(&path, &r.rec, recorded_task(&r, "do_install")));
	ck_assert_str_eq(buf_str(&path), "/t/gcc/temp/log.do_install.9");
	ck_assert(!output_task_log(&path, &r.rec, recorded_task(&r, "x")));
}

/* Its lines, and where the rest is. */
TEST(command)
{
	RELEASED(recorded, r);

	make_recording(&r, good, ARRAY_SIZE(good));
	support_expect(support_tmpdir(), 0, "NOTE: recipe gcc-12.2-r0: task do_install: Started\r\n"
		       "ERROR: gcc-12.2-r0 do_install: oe_runmake failed\n",
		       "/t/gcc/temp/log.do_install.9\n", TOP_BUILDDIR "/buildbeat log -T do_install .");
}

TEST_MAIN(log_bitbake);
