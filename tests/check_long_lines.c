/* SPDX-License-Identifier: MIT */
/*
 * Commands of any length that the kernel takes, in real make, ninja and samurai: each is recorded,
 * truncated as buildbeat-recording(5) says, and so is everything after it.
 */
#include "base/array.h"
#include "base/hash.h"
#include "recording/event.h"
#include "tests/launched.h"
#include "tests/make_host.h"
#include "tests/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MORE "\n: more"
#define ARGUMENT_MAX (131071 - (sizeof MORE - 1))	/* of one argument of execve(), without its NUL */
#define N_LONG 120
#define N_AFTER 9

/* The lengths around which something changes: the last text of a line, with and without other
 * lines in the same write(), and the longest argument. */
static const size_t boundaries[] = { 1, 2990, EVENT_MAX - 60, EVENT_MAX, 2 * EVENT_MAX, 32768, 65536, ARGUMENT_MAX };

struct plan {
	size_t len[N_LONG];
	char *command[N_LONG];		/* as the shell or execve() gets it */
	unsigned n_after[N_LONG];
	bool fails[N_LONG];
	const char *shape;
};

static size_t any_length(uint64_t *seed, size_t i)
{
	size_t at = boundaries[i % ARRAY_SIZE(boundaries)];
	size_t around = random_below(seed, 140), len;

	if (i % 3 == 2)
		return 1 + random_below(seed, ARGUMENT_MAX);
	len = at + around > 70 ? at + around - 70 : 1;
	return len <= ARGUMENT_MAX ? len : ARGUMENT_MAX;
}

/* A command of this length that does nothing and ends with the status 0 or 3. */
static char *any_command(uint64_t *seed, size_t len, bool shell, bool fails)
{
	/* no dashes: nothing that looks like an option with a secret */
	static const char letters[] = "abcdefghijklmnop   /.";
	const char *head = !shell ? "/bin/true" : fails ? "exit 3; " : ":; ";
	size_t n = strlen(head), least = n + 8;
	char *text;

	len = len < least ? least : len;
	text = malloc(len + 1);
	memcpy(text, head, n);
	if (!shell)
		text[n++] = ' ';
	for (; n < len; n++) {
		text[n] = letters[random_below(seed, sizeof letters - 1)];
		if (text[n] == ' ' && text[n - 1] == ' ')
			text[n] = 'x';
	}
	text[len] = '\0';
	if (text[len - 1] == ' ')
		text[len - 1] = 'y';
	if (shell)		/* so that make and ninja do not split it */
		memcpy(text + strlen(head), ": '", 3), text[len - 1] = '\'';
	return text;
}

static void plan_make(struct plan *p, uint64_t seed, const char *shape)
{
	p->shape = shape;
	for (size_t i = 0; i < N_LONG; i++) {
		bool shell = strcmp(shape, "words");

		p->fails[i] = shell && !random_below(&seed, 5);
		p->n_after[i] = (unsigned)random_below(&seed, 3) * (N_AFTER / 2);
		p->command[i] = any_command(&seed, any_length(&seed, i), shell, p->fails[i]);
		p->len[i] = strlen(p->command[i]);
	}
}

static void plan_release(struct plan *p)
{
	for (size_t i = 0; i < N_LONG; i++)
		free(p->command[i]);
}

/* Prerequisites with long names, so that "after" lines become long, too. */
static const char *prerequisite(unsigned i)
{
	return support_path("prerequisite-of-a-long-name-%0200u", i);
}

static void write_makefile(const struct plan *p)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "all:");
	for (size_t i = 0; i < N_LONG; i++)
		buf_addf(&b, " l%zu s%zu", i, i);
	buf_adds(&b, "\nprerequisite%:\n");
	if (!strcmp(p->shape, "oneshell"))
		buf_adds(&b, ".ONESHELL:\n");
	for (size_t i = 0; i < N_LONG; i++) {
		buf_addf(&b, "l%zu:", i);
		for (unsigned k = 0; k < p->n_after[i]; k++)
			buf_addf(&b, " %s", prerequisite(k));
		buf_addf(&b, "\n\t@%s\n", p->command[i]);
		if (!strcmp(p->shape, "oneshell"))
			buf_adds(&b, "\t: more\n");
		buf_addf(&b, "s%zu:\n\t@exit %zu\n", i, i % 7);
	}
	for (unsigned k = 0; k < N_AFTER; k++)
		buf_addf(&b, "%s:\n", prerequisite(k));
	support_write(support_path("%s/Makefile", support_tmpdir()), b.data, b.len);
	buf_release(&b);
}

static void write_ninja(const struct plan *p)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "rule r\n  command = $c\nrule f\n  command = : @$out.rsp\n"
		 "  rspfile = $out.rsp\n  rspfile_content = $c\n");
	for (size_t i = 0; i < N_LONG; i++) {
		buf_addf(&b, "build l%zu: r", i);
		for (unsigned k = 0; k < p->n_after[i]; k++)
			buf_addf(&b, " %s", prerequisite(k));
		buf_addf(&b, "\n  c = %s\n", p->command[i]);
		buf_addf(&b, "build s%zu: r\n  c = exit %zu\nbuild f%zu: f\n  c = %s\n", i, i % 7, i,
			 p->command[i]);
	}
	for (unsigned k = 0; k < N_AFTER; k++)
		buf_addf(&b, "build %s: r\n  c = :\n", prerequisite(k));
	support_write(support_path("%s/build.ninja", support_tmpdir()), b.data, b.len);
	buf_release(&b);
}

static const struct task *task_of(const struct recording *rec, const char *name)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (!strcmp(rec->task[i].name, name))
			return &rec->task[i];
	}
	ck_abort_msg("no task %s", name);
	return NULL;
}

/* The whole command, or its beginning, a mark and the hash of all of it. */
static void is_recorded(const char *recorded, const char *command)
{
	size_t n = strlen(recorded), len = strlen(command), same = 0;
	char mark[16];

	while (recorded[same] && recorded[same] == command[same])
		same++;
	if (len < 1500 || same == len) {
		/* Check has no room for both */
		ck_assert_msg(same == len && n == len, "'%.60s' instead of '%.60s', behind %zu of %zu bytes", recorded + same,
			      command + same, same, len);
		return;
	}
	snprintf(mark, sizeof mark, "~#%08x", hash_fnv32(command, len));
	ck_assert_uint_gt(n, 1500);
	/* newlines take two bytes in the file: what was cut can be as long as the mark */
	ck_assert_uint_le(n, len);
	ck_assert_str_eq(recorded + n - 10, mark);
	ck_assert_uint_ge(same, n - 10);
}

static void is_task(const struct recording *rec, const char *name, const char *command, int status)
{
	const struct task *t = task_of(rec, name);

	is_recorded(recording_command(rec, t), command);
	ck_assert_int_eq(t->state, status ? TASK_FAILED : TASK_DONE);
	ck_assert_int_eq(t->status, status);
	ck_assert_int_ge(t->user_us, 0);
}

static void long_ones(const struct recording *rec, const struct plan *p, unsigned files)
{
	char name[32], text[32], *whole;

	for (size_t i = 0; i < N_LONG; i++) {
		const struct task *t;
		bool more = !strcmp(p->shape, "oneshell");

		snprintf(name, sizeof name, "l%zu", i);
		whole = malloc(p->len[i] + sizeof MORE);
		sprintf(whole, "%s%s", p->command[i], more ? MORE : "");
		is_task(rec, name, whole, p->fails[i] ? 3 : 0);
		free(whole);
		t = task_of(rec, name);
		ck_assert_uint_eq(t->n_after, p->n_after[i]);
		for (unsigned k = 0; k < t->n_after; k++)
			ck_assert_str_eq(rec->after[t->first_after + k], prerequisite(k));
		if (files)
			ck_assert_str_eq(t->file, "Makefile");
		snprintf(name, sizeof name, "s%zu", i);
		snprintf(text, sizeof text, "exit %zu", i % 7);
		is_task(rec, name, text, (int)(i % 7));
	}
}

static void is_closed(const struct recording *rec)
{
	ck_assert_int_eq(rec->lost.reason, 0);
	ck_assert_uint_eq(rec->n_warnings, 0);
	for (size_t i = 0; i < rec->n_instances; i++)
		ck_assert_int_ge(rec->instance[i].close_us, 0);
}

static const char *const shapes[] = { "shell", "oneshell", "words" };

TEST_LOOP(make_records_all, 6)
{
	struct recording rec;
	struct plan p;

	SKIP_IF(!make_host_can());
	plan_make(&p, 11 + (uint64_t)_i, shapes[_i % (int)ARRAY_SIZE(shapes)]);
	write_makefile(&p);
	support_expect(support_tmpdir(), 2, NULL, NULL, RECORD "-n one -- make -k -j3");
	launched_read(&rec, "one");
	is_closed(&rec);
	ck_assert_uint_eq(rec.n_tasks, 2 * N_LONG);
	long_ones(&rec, &p, true);
	recording_release(&rec);
	plan_release(&p);
}

/* More words than fit into one argument, with a short one behind. */
TEST_LOOP(make_records_many_words, 2)
{
	struct buf command = BUF_INIT, makefile = BUF_INIT;
	struct recording rec;

	SKIP_IF(!make_host_can());
	buf_adds(&command, "/bin/true");
	for (unsigned i = 0; i < 30000u << _i; i++)
		buf_addf(&command, " a/name-%u.o", i);
	buf_addf(&makefile, "all: a b\na:\n\t@%s\nb:\n\t@false\n", buf_str(&command));
	support_writes(support_path("%s/Makefile", support_tmpdir()), buf_str(&makefile));
	support_expect(support_tmpdir(), 2, NULL, NULL, RECORD "-n one -- make");
	launched_read(&rec, "one");
	is_closed(&rec);
	ck_assert_uint_eq(rec.n_tasks, 2);
	is_task(&rec, "a", command.data, 0);
	is_task(&rec, "b", "false", 1);
	recording_release(&rec);
	buf_release(&command);
	buf_release(&makefile);
}

static const char *const ninjas[] = { "ninja -k0", "samu -k0" };

TEST_LOOP(ninja_records_all, 4)
{
	const char *tool = ninjas[_i % (int)ARRAY_SIZE(ninjas)];
	struct recording rec;
	struct plan p;
	char name[32];

	SKIP_IF(!support_can_be_loaded() || !support_has(tool[0] == 'n' ? "ninja" : "samu"));
	plan_make(&p, 21 + (uint64_t)_i, "ninja");
	write_ninja(&p);
	/* 1, or since ninja 1.13 the status of a command */
	support_expect(support_tmpdir(), 0, NULL, NULL, "! " RECORD "-n one -- %s -j3", tool);
	launched_read(&rec, "one");
	is_closed(&rec);
	ck_assert_uint_eq(rec.n_tasks, 3 * N_LONG + N_AFTER);
	long_ones(&rec, &p, false);
	for (size_t i = 0; i < N_LONG; i++) {
		snprintf(name, sizeof name, "f%zu", i);
		is_task(&rec, name, support_path(": @%s.rsp", name), 0);
	}
	recording_release(&rec);
	plan_release(&p);
}

TEST_MAIN(long_lines);
