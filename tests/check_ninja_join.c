/* SPDX-License-Identifier: MIT */
/* Names of ninja's tasks, added after the build. */
#include "base/array.h"
#include "command/ninja_hash.h"
#include "convert/ninja/join.h"
#include "recording/event.h"
#include "recording/recording.h"
#include "recording/store_create.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

/* name (key) + other outputs < what it waited for; groups : what is in them */
static const char *told(const struct recording *rec)
{
	static struct buf b;

	buf_clear(&b);
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		buf_addf(&b, "%s(%s)", t->named ? t->name : "-", t->key);
		for (uint32_t k = 0; k < t->n_out; k++)
			buf_addf(&b, "+%s", rec->out[t->first_out + k]);
		for (uint32_t k = 0; k < t->n_after; k++)
			buf_addf(&b, "<%s", rec->after[t->first_after + k]);
		buf_adds(&b, i + 1 < rec->n_tasks ? " " : "");
	}
	for (size_t i = 0; i < rec->n_groups; i++) {
		buf_addf(&b, i ? " %s" : "; %s", rec->group[i].name);
		for (uint32_t k = 0; k < rec->group[i].n_in; k++)
			buf_addf(&b, ":%s", rec->in[rec->group[i].first_in + k]);
	}
	return buf_str(&b);
}

/* Recordings made by hand: commands one after another, 10 ms each. */

struct made {
	const char *what;
	const char *called;	/* the ninja */
	const char *build, *log;
	const char *commands;	/* one a line; "!" before a failed one */
	const char *told;
};

#define RULES "rule cc\n  command = cc $in -o $out\nrule gen\n  command = gen $in\n" \
	      "rule same\n  command = same\nrule rsp\n  command = ar $out @$out.rsp\n" \
	      "  rspfile = $out.rsp\n  rspfile_content = $in\n"
#define LOG "# ninja log v5\n"

static const struct made cases[] = {
	{ "by the command alone", "ninja", RULES "build a.o: cc a.c\nbuild x y | z: gen x.y\n", NULL,
	  "cc a.c -o a.o\ngen x.y\nunknown\n", "a.o(cc) x(gen)+y+z -()" },
	{ "one that failed", "ninja", RULES "build a.o: cc a.c\n", LOG, "!cc a.c -o a.o\n", "a.o(cc)" },
	{ "what it waited for", "ninja", RULES "build h1: gen 1\nbuild h2: gen 2\nbuild all: phony h1 h2\n"
	  "build again: phony all h1\nbuild old: gen 3\nbuild a.o: cc a.c | h1 || again old\n"
	  "build p: cc a.o\n", NULL, "gen 1\ngen 2\ncc a.c -o a.o\ncc a.o -o p\n",
	  "h1(gen) h2(gen) a.o(cc)<h1<again p(cc)<a.o; again:all:h1 all:h1:h2" },
	{ "a circle of phony edges", "ninja", RULES "build x: phony y\nbuild y: phony x h\nbuild h: gen 1\n"
	  "build a.o: cc x\n", NULL, "gen 1\ncc x -o a.o\n", "h(gen) a.o(cc)<x; x:y y:x:h" },
	{ "another directory", "ninja -v -C deep -j 3 all", NULL, NULL, "cc a.c -o a.o\n", "a.o(cc)" },
	{ "another directory, with a blank", "ninja -C 'de ep'", NULL, NULL, "cc a.c -o a.o\n", "a.o(cc)" },
	{ "another file", "ninja -ffile.ninja", NULL, NULL, "cc a.c -o a.o\n", "b.o(other)" },
	{ "samurai", "/usr/bin/samu -j1", RULES "build a.o: cc a.c\n", NULL, "cc a.c -o a.o\n", "a.o(cc)" },
	{ "the log alone", "ninja", NULL, LOG "0\t10\t0\tout/a\tHASH\n0\t10\t0\tout/b\tHASH\n",
	  "from the log\n", "out/a()+out/b" },
	{ "the log of version 7 alone", "ninja", NULL, "# ninja log v7\n0\t10\t0\tout/a\tRAPID\n",
	  "from the log\n", "out/a()" },
	{ "the same command, by the log's times", "ninja", RULES
	  "build one: same\nbuild two: same\nbuild three: same\nbuild a.o: cc a.c\n",
	  LOG "0\t9\t0\ta.o\t1\n10\t19\t0\tthree\t2\n20\t29\t0\tone\t2\n", "cc a.c -o a.o\nsame\nsame\n",
	  "a.o(cc) three(same) one(same)" },
	{ "the same command, without a log", "ninja", RULES "build one: same\nbuild two: same\n", NULL,
	  "same\nsame\nsame\n", "one(same) two(same) one(same)" },
	{ "nothing there", "ninja", NULL, NULL, "cc\n", "-()" },
	{ "another tool", "scons", RULES "build a.o: cc a.c\n", NULL, "cc a.c -o a.o\n", "-()" },
	{ "a note instead of the command", "ninja", RULES "build lib.a: rsp a.o b.o\nbuild lib2.a: rsp a.o\n",
	  NULL, "@ar lib.a @lib.a.rsp;rspfile=a.o b.o\n@ar lib2.a @lib2.a.rsp;rspfile=other\n",
	  "lib.a(rsp) -()" },
};

static void add_command(struct buf *b, const char *inst, uint64_t seq, const char *text)
{
	int64_t start_us = 100000 + (int64_t)seq * 10000;
	bool failed = *text == '!', noted = *text == '@';
	struct event_task task = { .pid = 100, .slot = -1,
		.command = noted ? "" : text + failed };
	struct event_end end;
	char note[80];

	event_add_start(b, start_us, inst, seq, &task);
	if (noted) {
		snprintf(note, sizeof note, NINJA_HASH_NOTE "%llx %llx",
			 (unsigned long long)ninja_hash_murmur(text + 1, strlen(text + 1)),
			 (unsigned long long)ninja_hash_rapid(text + 1, strlen(text + 1)));
		event_add_note(b, start_us, inst, seq, note);
	}
	event_end_init(&end, failed ? 256 : 0);
	event_add_end(b, start_us + 9000, inst, seq, &end);
}

static void make_tasks(struct store *s, const struct made *m, const char *cwd)
{
	const char *line = m->commands;
	struct event_open open = { .pid = 99, .level = -1, .tool = "ninja", .cwd = cwd,
		.command = m->called };
	RELEASED(buf, b = BUF_INIT);

	if (strstr(m->called, "scons"))
		open.tool = "scons";
	if (strstr(m->called, "samu"))
		open.tool = "samu";
	event_add_open(&b, 100000, "n1", &open);
	for (uint64_t seq = 1; *line; seq++) {
		const char *newline = strchr(line, '\n');
		char *command = strndup(line, (size_t)(newline - line));

		add_command(&b, "n1", seq, command);
		free(command);
		line = newline + 1;
	}
	store_append(s, &b);
}

/* Hashes are those of "from the log". */
static void write_log(const char *dir, const char *log)
{
	static const char text[] = "from the log";
	RELEASED(buf, b = BUF_INIT);

	for (const char *p = log; *p; p++) {
		if (!strncmp(p, "HASH", 4) || !strncmp(p, "RAPID", 5)) {
			buf_addf(&b, "%llx", (unsigned long long)(*p == 'H' ?
				 ninja_hash_murmur(text, strlen(text)) :
				 ninja_hash_rapid(text, strlen(text))));
			p += *p == 'H' ? 3 : 4;
		} else {
			buf_addc(&b, *p);
		}
	}
	support_writes(support_path("%s/.ninja_log", dir), buf_str(&b));
}

static void write_place(const struct made *m)
{
	const char *dir = support_tmpdir();

	remove(support_path("%s/build.ninja", dir));
	remove(support_path("%s/.ninja_log", dir));
	mkdir(support_path("%s/deep", dir), 0777);
	support_writes(support_path("%s/deep/build.ninja", dir), RULES "build a.o: cc a.c\n");
	mkdir(support_path("%s/de ep", dir), 0777);
	support_writes(support_path("%s/de ep/build.ninja", dir), RULES "build a.o: cc a.c\n");
	support_writes(support_path("%s/file.ninja", dir),
		       "rule other\n  command = cc a.c -o a.o\nbuild b.o: other\n");
	if (m->build)
		support_writes(support_path("%s/build.ninja", dir), m->build);
	if (m->log)
		write_log(dir, m->log);
}

/* As commands read a recording. */
static void read_unnamed(struct recording *rec, const char *path)
{
	const struct recording_options how = { .add_lines = ninja_join_unnamed };
	struct error err = { 0 };

	*rec = (struct recording)RECORDING_INIT;
	ck_assert_msg(!recording_read_as(rec, path, &how, &err), "%s", err.message);
}

/* The content of the recording. */
static char *bytes_of(const char *path)
{
	struct run r;
	char *text;

	support_run(&r, path, "cat build tasks*.log; ls");
	ck_assert_int_eq(r.status, 0);
	text = strdup(buf_str(&r.out));
	return text;
}

/* The names are the same when they are found while the recording is read, which does not
 * change it. Names that were joined at the end of the build are not joined again. */
TEST_EACH(by_hand, cases)
{
	const struct made *m = &cases[_i];
	struct recording rec = RECORDING_INIT;
	struct store s = STORE_INIT;
	struct buf lines = BUF_INIT;
	struct error err = { 0 };
	char *before, *after;

	write_place(m);
	ck_assert_int_eq(store_create(&s, support_tmpdir(), "rec", &err), 0);
	make_tasks(&s, m, support_tmpdir());
	before = bytes_of(s.path);
	read_unnamed(&rec, s.path);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_msg(!strcmp(told(&rec), m->told), "%s, read: %s", m->what, told(&rec));
	recording_release(&rec);
	after = bytes_of(s.path);
	ck_assert_str_eq(before, after);
	free(before);
	free(after);

	ck_assert_int_eq(ninja_join(&s), 0);
	recorded_open(&rec, s.path, NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_msg(!strcmp(told(&rec), m->told), "%s: %s", m->what, told(&rec));
	ck_assert_int_eq(ninja_join_unnamed(&lines, &rec), 0);
	ck_assert_uint_eq(lines.len, 0);
	buf_release(&lines);
	recording_release(&rec);
	store_close(&s);
}

/* A recording may name any directory. Files there are read only if nobody else could have
 * written them; only regular files are opened. */
static const struct denied {
	const char *command;	/* makes the directory unreadable for us */
	const char *cwd;	/* NULL: the directory itself */
	bool root;		/* only one of them can */
	const char *told;
} denials[] = {
	{ "true", NULL, false, "a.o(cc)" },
	{ "chmod o+w build.ninja", NULL, false, "-()" },
	{ "chmod o+w .", NULL, false, "-()" },
	{ "chmod o+w ..", NULL, false, "-()" },
	{ "rm build.ninja && mkfifo build.ninja", NULL, false, "-()" },
	{ "rm build.ninja && ln -s /dev/zero build.ninja", NULL, false, "-()" },
	{ "rm build.ninja && mkdir build.ninja", NULL, false, "-()" },
	{ "mv build.ninja other && mkfifo fifo && echo include fifo >build.ninja && "
	  "cat other >>build.ninja", NULL, false, "a.o(cc)" },
	{ "mv build.ninja other && chmod o+w other && echo include other >build.ninja", NULL,
	  false, "-()" },
	{ "rm build.ninja && mkfifo .ninja_log", NULL, false, "-()" },
	{ "true", ".", false, "-()" },
	{ "true", "", false, "-()" },
	{ "chown 65534 .", NULL, true, "-()" },
	{ "chown 65534 build.ninja", NULL, true, "-()" },
	{ "chown 65534 ..", NULL, true, "-()" },
	{ "mv build.ninja other && ln -s other build.ninja && chown -h 65534 build.ninja", NULL,
	  true, "-()" },
	{ "rm build.ninja", "/proc/self", false, "-()" },
};

TEST_EACH(denied, denials)
{
	const struct denied *d = &denials[_i];
	static const struct made made = { .called = "ninja", .commands = "cc a.c -o a.o\n" };
	char *dir;
	struct recording rec;
	struct store s = STORE_INIT;
	struct error err = { 0 };
	struct run r;

	SKIP_IF(d->root && geteuid());
	dir = strdup(support_path("%s/place/in", support_tmpdir()));
	support_run(&r, NULL, "rm -rf '%s'; mkdir -p '%s'", dir, dir);
	support_writes(support_path("%s/build.ninja", dir), RULES "build a.o: cc a.c\n");
	support_expect(dir, 0, NULL, NULL, "%s", d->command);
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_int_eq(store_create(&s, support_tmpdir(), "rec", &err), 0);
	make_tasks(&s, &made, d->cwd ? d->cwd : dir);
	read_unnamed(&rec, s.path);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_msg(!strcmp(told(&rec), d->told), "%s: %s", d->command, told(&rec));
	recording_release(&rec);
	store_close(&s);
	free(dir);
}

/* Real builds */

static void run_in(const char *dir, const char *command)
{
	struct run r;

	support_run(&r, dir, "%s", command);
	ck_assert_msg(r.status == 0, "%s: %s%s", command, r.out.data, r.err.data);
}

static const char cmake_lists[] =
	"cmake_minimum_required(VERSION 3.20)\nproject(t C)\n"
	"set(CMAKE_NINJA_FORCE_RESPONSE_FILE 1)\n"
	"configure_file(conf.h.in conf.h)\n"
	"add_custom_command(OUTPUT gen.h gen.c COMMAND ${CMAKE_COMMAND} -E touch gen.h gen.c DEPENDS in)\n"
	"add_custom_command(OUTPUT kept.h COMMAND ${CMAKE_COMMAND} -E copy_if_different\n"
	"  ${CMAKE_SOURCE_DIR}/conf.h.in kept.h DEPENDS in)\n"
	"add_custom_target(gens DEPENDS gen.h kept.h)\n"
	"add_library(one STATIC a.c \"b c.c\" ${CMAKE_CURRENT_BINARY_DIR}/gen.c)\n"
	"add_dependencies(one gens)\n"
	"add_library(two SHARED a.c)\nadd_executable(app main.c)\ntarget_link_libraries(app one two)\n"
	"add_custom_command(TARGET app POST_BUILD COMMAND ${CMAKE_COMMAND} -E echo \"it's done\" VERBATIM)\n"
	"add_custom_target(always ALL COMMAND ${CMAKE_COMMAND} -E echo always)\n";

static void make_project(const char *dir)
{
	run_in(NULL, support_path("mkdir -p %s", dir));
	support_writes(support_path("%s/CMakeLists.txt", dir), cmake_lists);
	support_writes(support_path("%s/conf.h.in", dir), "#define X 1\n");
	support_writes(support_path("%s/in", dir), "");
	support_writes(support_path("%s/a.c", dir), "int a;\n");
	support_writes(support_path("%s/b c.c", dir), "int b;\n");
	support_writes(support_path("%s/main.c", dir), "int main(void) { return 0; }\n");
}

static void read_named(struct recording *rec, const char *dir, const char *name)
{
	*rec = (struct recording)RECORDING_INIT;
	recorded_open(rec, support_path("%s/stats/%s", dir, name), NULL);
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (!strcmp(rec->instance[t->instance].tool, "ninja"))
			ck_assert_msg(t->named, "not named: %s", recording_command(rec, t));
	}
}

static const struct task *task_named(const struct recording *rec, const char *name)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (!strcmp(rec->task[i].name, name))
			return &rec->task[i];
	}
	ck_abort_msg("no task %s", name);
}

static bool is_after(const struct recording *rec, const struct task *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_after; i++) {
		if (!strcmp(rec->after[t->first_after + i], name))
			return true;
	}
	return false;
}

/* Is a name in a phony edge of this name, or in one that is in it? */
static bool is_in_group(const struct recording *rec, const char *group, const char *name)
{
	bool is = false;

	for (size_t i = 0; !is && i < rec->n_groups; i++) {
		const struct target_group *g = &rec->group[i];

		for (uint32_t k = 0; !strcmp(g->name, group) && !is && k < g->n_in; k++)
			is = !strcmp(rec->in[g->first_in + k], name) ||
			     is_in_group(rec, rec->in[g->first_in + k], name);
	}
	return is;
}

static bool is_behind(const struct recording *rec, const struct task *t, const char *name)
{
	bool is = is_after(rec, t, name);

	for (uint32_t i = 0; !is && i < t->n_after; i++)
		is = is_in_group(rec, rec->after[t->first_after + i], name);
	return is;
}

/* A whole first build; then the generator, a restat and commands that always run. */
TEST(cmake)
{
	struct recording rec;
	const struct task *t;
	char *dir;

	SKIP_IF(!support_can_be_loaded() || !support_has("ninja") || !support_has("cmake"));
	dir = strdup(support_path("%s/project", support_tmpdir()));
	make_project(dir);
	run_in(dir, "cmake -G Ninja -S . -B b");
	run_in(dir, BUILDBEAT " record --no-git -o stats -n all -- cmake --build b");
	read_named(&rec, dir, "all");
	t = task_named(&rec, "libone.a");
	ck_assert_str_eq(t->kind, "archive");
	ck_assert(is_after(&rec, t, "CMakeFiles/one.dir/gen.c.o"));
	ck_assert(is_after(&rec, t, "CMakeFiles/one.dir/b_c.c.o"));
	t = task_named(&rec, "gen.h");
	ck_assert_str_eq(t->key, "CUSTOM_COMMAND");
	ck_assert_str_eq(rec.out[t->first_out], "gen.c");
	ck_assert_str_eq(task_named(&rec, "app")->kind, "link");
	t = task_named(&rec, "CMakeFiles/one.dir/a.c.o");
	ck_assert_str_eq(t->kind, "compile");
	ck_assert(is_behind(&rec, t, "gen.h") && is_behind(&rec, t, "kept.h"));
	recording_release(&rec);

	run_in(dir, "until touch CMakeLists.txt in; test in -nt b/.ninja_log; do sleep 0.01; done");
	run_in(dir, BUILDBEAT " record --no-git -o stats -n some -- ninja -C b");
	read_named(&rec, dir, "some");
	ck_assert_str_eq(task_named(&rec, "build.ninja")->kind, "configure");
	ck_assert_uint_eq(task_named(&rec, "gen.h")->n_out, 3);
	task_named(&rec, "kept.h");
	task_named(&rec, "CMakeFiles/always");
	recording_release(&rec);

	run_in(dir, "mv b/.ninja_log b/log; touch a.c");
	run_in(dir, BUILDBEAT " record --no-git -o stats -n nolog -- ninja -C b");
	read_named(&rec, dir, "nolog");
	task_named(&rec, "CMakeFiles/two.dir/a.c.o");
	recording_release(&rec);
	free(dir);
}

/* Killed */

/* Edges with several outputs, a response file, an identical command, a phony edge, and one
 * in the middle that waits for a file `go`, a minute at most. */
static const char held_ninja[] =
	"rule gen\n  command = touch $out\n"
	"rule same\n  command = touch s1 s2\n"
	"rule rsp\n  command = cat $out.rsp >$out\n  rspfile = $out.rsp\n"
	"  rspfile_content = $in\n"
	"rule hold\n  command = n=0; until test -e go || test $$n = 600; do sleep 0.1; "
	"n=$$((n + 1)); done; touch $out\n"
	"build a b | c: gen\nbuild d: gen a\nbuild p: phony d\nbuild s1: same a\n"
	"build s2: same s1\nbuild r: rsp a d | s2\nbuild h: hold p r\n"
	"build e | f: gen h\nbuild last: gen e | a || h\n";

static const char *told_of(const struct recording *rec, const struct task *t, struct buf *b)
{
	buf_clear(b);
	buf_addf(b, "%s (%s, %s): %s:", t->name, t->key, t->kind, recording_command(rec, t));
	for (uint32_t k = 0; k < t->n_out; k++)
		buf_addf(b, " + %s", rec->out[t->first_out + k]);
	for (uint32_t k = 0; k < t->n_after; k++)
		buf_addf(b, " < %s", rec->after[t->first_after + k]);
	return buf_str(b);
}

/* -j1: the n-th task of one is the n-th of the other. */
static void same_names(const struct recording *whole, const struct recording *killed)
{
	RELEASED(buf, one = BUF_INIT, two = BUF_INIT);

	for (size_t i = 0; i < killed->n_tasks; i++)
		ck_assert_str_eq(told_of(whole, &whole->task[i], &one),
				 told_of(killed, &killed->task[i], &two));
}

/* The output of show without its first lines, which are about the recording. */
static void shows_names(const char *dir, const struct recording *killed)
{
	struct run r;

	support_run(&r, dir, BUILDBEAT " show --json --tasks stats/killed");
	ck_assert_msg(r.status == 0, "%s", r.err.data);
	for (size_t i = 0; i < killed->n_tasks; i++)
		ck_assert_msg(strstr(r.out.data, support_path("\"name\":\"%s\"",
							      killed->task[i].name)) != NULL,
			      "%s: %s", killed->task[i].name, r.out.data);
}

static const struct {
	const char *whom;	/* the process to kill: $ninja or $launcher */
	const char *until;	/* the last output */
	size_t n_tasks;
} kills[] = {
	{ "$launcher", "grep -q ^close stats/killed/tasks.log", 8 },
	{ "$launcher $ninja", "test -e h", 6 },
};

TEST_EACH(killed, kills)
{
	char *dir = strdup(support_path("%s/held", support_tmpdir()));
	struct recording whole, rec;
	char *before, *after;

	SKIP_IF(!support_can_be_loaded() || !support_has("ninja"));
	run_in(NULL, support_path("mkdir -p %s", dir));
	support_writes(support_path("%s/build.ninja", dir), held_ninja);
	run_in(dir, "touch go; " BUILDBEAT " record --no-git -o stats -n whole -- ninja -j1");
	/* the place for what a killed launcher leaves behind */
	run_in(dir, "rm go; ninja -t clean; exec >out 2>&1; unset XDG_RUNTIME_DIR; mkdir tmp; "
	       "export TMPDIR=$PWD/tmp; "
	       BUILDBEAT " record --no-git -o stats -n killed -- ninja -j1 & launcher=$!; n=0\n"
	       "wait_for() { until eval \"$1\" 2>/dev/null; do test $n != 600 || exit 7; "
	       "n=$((n + 1)); sleep 0.1; done; }\n"
	       "wait_for 'grep -q \"^start.*until test\" stats/killed/tasks.log'\n"
	       "ninja=$(awk '/^open/ { print $4 }' stats/killed/tasks.log)\n"
	       "echo $launcher $ninja >pids");
	run_in(dir, support_path("read launcher ninja <pids; kill -9 %s; touch go; n=0\n"
				 "until %s; do test $n != 600 || exit 7; n=$((n + 1)); sleep 0.1; "
				 "done", kills[_i].whom, kills[_i].until));
	read_named(&whole, dir, "whole");
	ck_assert_uint_eq(whole.n_tasks, 8);
	before = bytes_of(support_path("%s/stats/killed", dir));
	read_unnamed(&rec, support_path("%s/stats/killed", dir));
	ck_assert_uint_eq(rec.n_tasks, kills[_i].n_tasks);
	same_names(&whole, &rec);
	shows_names(dir, &rec);
	after = bytes_of(support_path("%s/stats/killed", dir));
	ck_assert_str_eq(before, after);
	recording_release(&whole);
	recording_release(&rec);
	free(before);
	free(after);
	free(dir);
}

TEST_PROGRAM(ninja_join)
{
	umask(022);
	return support_main();
}
