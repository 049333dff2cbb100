/* SPDX-License-Identifier: MIT */
#include "cli/fit_sentence.h"
#include "tests/launched.h"

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The summary at the end of `buildbeat record`: where it is printed, and what it says. */

#define SUMMARY "buildbeat: recorded in "
#define LINES_MAX 8
#define COLUMNS 80

/* The summary in what was printed, checked: the path, then lines that are short enough. */
static const char *find(const char *shown)
{
	const char *at = strstr(shown, SUMMARY), *line;
	int n = 1;

	ck_assert_msg(at != NULL, "no summary in: %s", shown);
	ck_assert(at == shown || at[-1] == '\n');
	line = strchr(at, '\n');
	for (; line && line[1]; n++) {
		size_t length = strcspn(line + 1, "\r\n");

		ck_assert_msg(length <= COLUMNS, "too long: %s", line);
		line = strchr(line + 1, '\n');
	}
	ck_assert_msg(line != NULL, "no end of a line: %s", at);
	ck_assert_int_ge(n, 4);
	ck_assert_msg(n <= LINES_MAX, "%d lines: %s", n, at);
	return at;
}

/* The rest of the line with a label. */
static const char *value(const char *summary, const char *label)
{
	const char *at = strstr(summary, support_path("\n%-13s", label));

	ck_assert_msg(at != NULL, "no %s in: %s", label, summary);
	at += 1 + 13;
	return support_path("%.*s", (int)strcspn(at, "\r\n"), at);
}

/* Where it is printed */

#define BUILD "sh -c 'echo out; echo err >&2; exit 3'"

static const struct {
	const char *environment, *options, *config;
	bool printed;
} cases[] = {
	{ "", "", "", false },
	{ "", "--summary", "", true },
	{ "", "--quiet", "", false },
	{ "", "", "summary: true", true },
	{ "", "--no-summary", "summary: true", false },
	{ "", "--quiet", "summary: true", false },
	{ "", "--summary", "quiet: true", true },
	{ "CI=true", "", "", true },
	{ "CI=1", "", "", true },
	{ "CI=woodpecker", "", "", true },
	{ "CI=", "", "", false },
	{ "CI=0", "", "", false },
	{ "CI=false", "", "", false },
	{ "CI=No", "", "", false },
	{ "CI=true", "--quiet", "", false },
	{ "CI=true", "--no-summary", "", false },
	{ "CI=true", "--summary --quiet", "", false },
	{ "CI=true", "", "quiet: true", false },
	{ "CI=true", "", "quiet: false", true },
	{ "CI=false", "--summary", "", true },
};

/* Where the build's output is kept, it stays as it was; the summary is added to standard error
 * alone, behind it. */
TEST_EACH(pipes, cases)
{
	const char *dir = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/buildbeat.yaml", dir), cases[_i].config);
	support_run(&r, dir, "%s " RECORD "-n one %s -- " BUILD, cases[_i].environment,
		    cases[_i].options);
	ck_assert_int_eq(r.status, 3);
	ck_assert_str_eq(r.out.data, "out\n");
	ck_assert_int_eq(strncmp(r.err.data, "err\n", 4), 0);
	if (cases[_i].printed)
		ck_assert_ptr_eq(find(r.err.data), r.err.data + 4);
	else
		ck_assert_str_eq(r.err.data, "err\n");
	ck_assert_ptr_null(strchr(r.err.data, '\033'));
}

/* A command on a terminal with so many columns; what it showed, which the caller releases. */
static int on_terminal(struct buf *shown, unsigned columns, const char *term, const char *command)
{
	struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)columns };
	const char *top = support_tmpdir();
	int master, status;
	char chunk[4096];
	pid_t pid;
	ssize_t n;

	buf_init(shown);
	pid = forkpty(&master, NULL, NULL, &size);
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		unsetenv("COLUMNS");
		unsetenv("NO_COLOR");
		if (!chdir(top) && !setenv("TERM", term, 1))
			execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(99);
	}
	while ((n = read(master, chunk, sizeof chunk)) > 0)
		buf_add(shown, chunk, (size_t)n);
	buf_str(shown);
	close(master);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static const struct {
	const char *term, *redirection;
	unsigned columns;
	bool printed, colour;
} terminals[] = {
	{ "xterm", "", 80, true, true },
	{ "xterm", "", 200, true, true },
	{ "xterm", "", 60, true, true },
	{ "dumb", "", 80, true, false },
	{ "xterm", ">/dev/null", 80, true, true },
	{ "xterm", "2>/dev/null", 80, false, false },
	{ "xterm", "2>file; test ! -s file", 80, false, false },
};

TEST_EACH(terminal, terminals)
{
	struct buf shown;

	ck_assert_int_eq(on_terminal(&shown, terminals[_i].columns, terminals[_i].term,
				     support_path(RECORD "-n one -- true %s",
						  terminals[_i].redirection)), 0);
	if (!terminals[_i].printed)
		ck_assert_str_eq(buf_str(&shown), "");
	else if (terminals[_i].colour)
		ck_assert_msg(strstr(shown.data, SUMMARY "stats/one\r\n\033[") != NULL, "%s",
			      shown.data);
	else
		find(shown.data);
	ck_assert_int_eq(strchr(buf_str(&shown), '\033') != NULL, terminals[_i].colour);
	buf_release(&shown);
}

/* A reader that has gone does not change how the build ended. */
TEST(closed)
{
	support_expect(support_tmpdir(), 0, "5\n", NULL,
		       "{ " RECORD "-n one --summary -- sh -c 'exec 2>&-; exit 5'; "
		       "echo $? >status; } 2>&1 >/dev/null | true; cat status");
	support_expect(support_tmpdir(), 5, "", NULL,
		       RECORD "-n two --summary -- sh -c 'exit 5' 2>/dev/full");
	support_expect(support_tmpdir(), 5, "", "", RECORD "-n three --summary -- sh -c 'exit 5' 2>&-");
}

/* What it says */

#define WORK "i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); done"

#define WORK_IN_MAKE "i=0; while [ $$i -lt 40000 ]; do i=$$((i + 1)); done"

static const struct {
	const char *options, *command;
	int status;
	const char *result;
} builds[] = {
	{ "", "sh -c '" WORK "'", 0, "ok after " },
	{ "--compress zstd", "sh -c '" WORK "'", 0, "ok after " },
	{ "--layout both", "sh -c '" WORK "; exit 4'", 4, "failed with exit status 4 after " },
	{ "--processes", "sh -c '" WORK "'", 0, "ok after " },
	{ "", "sh -c 'kill -9 $$'", 128 + 9, "killed by SIGKILL after " },
	{ "", "sh -c 'kill -2 $$'", 128 + 2, "killed by SIGINT after " },
	{ "--log", "sh -c '" WORK "'", 0, "ok after " },
};

/* Its values are those of `show`. */
TEST_EACH(same_as_show, builds)
{
	const char *dir = support_tmpdir(), *summary, *result, *cpu;
	struct run r, show;

	support_run(&r, dir, RECORD "-n one --summary %s -- %s", builds[_i].options, builds[_i].command);
	ck_assert_int_eq(r.status, builds[_i].status);
	summary = find(r.err.data);
	ck_assert_ptr_eq(strstr(summary, SUMMARY "stats/one\n"), summary);
	support_run(&show, dir, BUILDBEAT " show -d stats one");
	ck_assert_int_eq(show.status, 0);
	result = value(summary, "result");
	ck_assert_int_eq(strncmp(result, builds[_i].result, strlen(builds[_i].result)), 0);
	ck_assert_msg(strstr(show.out.data, strstr(result, "after ")) != NULL, "%s: %s", result,
		      show.out.data);
	cpu = value(summary, "CPU time");
	cpu = strstr(cpu, ", ") + 2;
	cpu = support_path("%.*s", (int)strcspn(cpu, ","), cpu);
	ck_assert_ptr_nonnull(strstr(cpu, " of "));
	ck_assert_msg(strstr(show.out.data, cpu) != NULL, "%s: %s", cpu, show.out.data);
	ck_assert_ptr_nonnull(strstr(value(summary, "peak memory"), "the machine "));
	if (strstr(summary, "\nverdict"))
		ck_assert_ptr_nonnull(strstr(show.out.data, support_path("%.30s", value(summary, "verdict"))));
}

/* Lines that go on below a word, as one. */
static const char *joined(char *text)
{
	char *to = text;

	for (const char *p = text; *p; p++) {
		if (*p == '\n')
			p += strspn(p, "\n ") - 1;
		*to++ = *p == '\n' ? ' ' : *p;
	}
	*to = '\0';
	return text;
}

/* Of a build whose task has a name that fills several lines: the name is shortened, nothing else is. */
TEST_LOOP(long_names, 5)
{
	const char *dir = support_tmpdir();
	char name[1000], makefile[1100];
	struct run r;

	for (int blank = 0; blank < 2; blank++) {
		memset(name, 'x', sizeof name);
		for (size_t i = 7; blank && i < sizeof name; i += 8)
			name[i] = '_';
		/* two bytes, one column */
		for (size_t i = 100; i < 200; i += 2)
			memcpy(name + i, "\xc3\xa9", 2);
		snprintf(makefile, sizeof makefile, "%.*s:\n\t@false\n", 60 + 180 * _i, name);
		support_writes(support_path("%s/Makefile", dir), makefile);
		support_run(&r, dir, RECORD "-n %d --summary -- make", blank);
		ck_assert_int_eq(r.status, 2);
		ck_assert_ptr_nonnull(strstr(find(strstr(r.err.data, SUMMARY)), "\nverdict      The build failed"));
		ck_assert_msg(strstr(joined(r.err.data), " failed (exit 1) after ") != NULL, "%s", r.err.data);
	}
}

/* Two tasks that sleep, one after the other */
TEST(advice)
{
	const char *dir = support_tmpdir(), *advice;
	struct run r;

	support_writes(support_path("%s/Makefile", dir), "all: a b\na b:\n\t@sleep 1\n");
	support_run(&r, dir, RECORD "--summary -- make -j1");
	ck_assert_int_eq(r.status, 0);
	advice = value(find(strstr(r.err.data, SUMMARY)), "advice");
	/* the second on a busy machine */
	ck_assert_msg(strstr(advice, "To be faster, use -j2 (about ") == advice ||
		      strstr(advice, "On a free machine it would take about ") == advice, "%s", advice);
}

#define LONG_NAME "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Names are shortened first, then clauses are dropped; no number is lost in a clause that stays. */
static const struct {
	size_t columns;
	const char *sentence, *fitting;
} sentences[] = {
	{ 80, "The build used 97 % of 2 cores, so more workers would help little.",
	  "The build used 97 % of 2 cores, so more workers would help little." },
	{ 60, LONG_NAME " took 3 s; " LONG_NAME " took 2 s.", "aaaa...aaaaaaaaa took 3 s; aaaaaa...aaaaaaaaaaaaaa took 2 s." },
	{ 30, LONG_NAME " took 3 s; " LONG_NAME " took 2 s.", "aaaaa...aaaaaaaaaaaa took 3 s." },
	{ 70, "Tasks waited 75 % of the time, one at a time: more workers (-j) would help; the longest chain takes 4.99 s.",
	  "Tasks waited 75 % of the time, one at a time." },
	{ 100, "Tasks waited 75 % of the time, one at a time: more workers (-j) would help; the longest chain takes 4.99 s.",
	  "Tasks waited 75 % of the time, one at a time: more workers (-j) would help." },
	{ 8, "One clause that has no end before its end.", "One clause that has no end before its end." },
};

TEST_EACH(sentences_fit, sentences)
{
	RELEASED(buf, b = BUF_INIT);

	fit_sentence(&b, sentences[_i].sentence, sentences[_i].columns);
	ck_assert_str_eq(buf_str(&b), sentences[_i].fitting);
	fit_sentence(&b, buf_str(&b), sentences[_i].columns);
	ck_assert_str_eq(buf_str(&b), sentences[_i].fitting);
}

static const struct {
	const char *options, *where;
	bool makes_fail;
	const char *next;
} nexts[] = {
	{ "", ".", false, "buildbeat show; for a picture: buildbeat chart" },
	{ "-n x", ".", false, "buildbeat show; for a picture: buildbeat chart" },
	{ "", ".", true, "buildbeat show --failed" },
	{ "--log", ".", true, "buildbeat log --failed" },
	{ "-o stats -n x", ".", false, "buildbeat show stats/x" },
	{ "-o stats -n x --log", ".", true, "buildbeat log --failed stats/x" },
	{ "-o \"../a directory\" -n x", "sub", true, NULL },
	{ "-o stats -n x --layout oe", ".", false, "buildbeat show stats/x" },
};

/* The command can be typed where record was, and reads this recording. */
TEST_EACH(next_command, nexts)
{
	const char *dir = support_tmpdir(), *next;
	char end[32];
	struct run r;

	support_writes(support_path("%s/Makefile", dir), nexts[_i].makes_fail ?
		       "all:\n\t@echo broken; exit 1\n" : "all:\n\t@true\n");
	support_run(&r, dir, "mkdir sub; cp Makefile sub; cd %s; " BUILDBEAT
		    " record --no-git %s --summary -- make", nexts[_i].where, nexts[_i].options);
	next = value(find(strstr(r.err.data, SUMMARY)), "next");
	if (nexts[_i].next)
		ck_assert_str_eq(next, nexts[_i].next);
	snprintf(end, sizeof end, "%s", nexts[_i].makes_fail ? "exit 1" : "");
	support_run(&r, dir, "PATH=" TOP_BUILDDIR ":$PATH; cd %s; %.*s", nexts[_i].where,
		    (int)strcspn(next, ";"), next);
	ck_assert_msg(r.status == 0, "%s: %s", next, r.err.data);
	ck_assert_msg(strstr(r.out.data, strstr(next, " log ") ? "broken" : end) != NULL, "%s", r.out.data);
}

/* Of very many tasks nothing is read: the end of the build is not delayed. The values of the
 * launcher remain, and those of `show` are the same. */
TEST(large)
{
	static const char *const numbers[] = { "50000", "50001" };
	const char *dir = support_tmpdir(), *next;
	struct run r, show;

	for (int many = 0; many < 2; many++) {
		support_writes(support_path("%s/Makefile", dir), "all:\n\t@" WORK_IN_MAKE "; exit 1\n");
		support_run(&r, dir, RECORD "-n n%d --summary -- sh -c 'echo tasks: %s >>stats/n%d/build; "
			    "make 2>/dev/null'", many, numbers[many], many);
		ck_assert_int_eq(r.status, 2);
		find(r.err.data);
		ck_assert_int_eq(!strstr(r.err.data, "\nverdict "), many);
		ck_assert_int_eq(!strstr(r.err.data, "\npeak memory "), many);
		support_run(&show, dir, BUILDBEAT " show -d stats n%d", many);
		ck_assert_msg(strstr(show.out.data, strstr(value(r.err.data, "result"), "after ")) != NULL,
			      "%s", show.out.data);
		ck_assert_ptr_nonnull(strstr(value(r.err.data, "CPU time"), "the build "));
		next = value(r.err.data, "next");
		ck_assert_ptr_nonnull(strstr(next, "buildbeat show --failed stats/n"));
	}
}

/* Only the outermost record prints it; where nothing was recorded, there is none. */
TEST(none)
{
	const char *dir = support_tmpdir(), *first;
	struct run r;

	support_run(&r, dir, RECORD "--summary -- " RECORD "--summary -- true");
	first = strstr(r.err.data, SUMMARY);
	ck_assert_ptr_null(strstr(find(first) + 1, SUMMARY));
	ck_assert_ptr_nonnull(strstr(r.err.data, "no summary is printed: only the outermost record"));
	support_run(&r, dir, "CI=true " RECORD "-- " RECORD "-- true");
	ck_assert_ptr_eq(find(r.err.data), r.err.data);
	ck_assert_ptr_null(strstr(r.err.data + 1, SUMMARY));
	support_expect(dir, 127, "", "command not found", RECORD "--summary -- nonexistent-program");
	support_run(&r, dir, RECORD "--summary -- nonexistent-program; touch file; "
		    BUILDBEAT " record --summary -o file/x -- true");
	ck_assert_ptr_null(strstr(r.err.data, SUMMARY));
	ck_assert_ptr_nonnull(strstr(r.err.data, "nothing is recorded"));
}

TEST_PROGRAM(record_summary)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
