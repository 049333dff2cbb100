/* SPDX-License-Identifier: MIT */
#include "archive/message.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/field.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000

int64_t message_start_s(const struct values *f)
{
	return f->start_s >= 0 && f->start_s <= INT64_MAX / NS_PER_S ? f->start_s : -1;
}

static void add_field(struct buf *out, const char *text)
{
	field_add(out, text, strlen(text), SIZE_MAX);
}

static void add_subject(struct buf *out, const struct values *f)
{
	int64_t start_s = message_start_s(f);
	char memory[64];
	struct buf start;

	if (start_s >= 0) {
		buf_init_fixed(&start, memory, sizeof memory);
		clock_add_iso(&start, start_s * NS_PER_S);
		buf_addf(out, "%.10s %.5s: ", memory, memory + strlen("2026-01-20T"));
	}
	buf_addf(out, "%zu task%s", f->n_tasks, f->n_tasks == 1 ? "" : "s");
	if (f->total[TOTAL_WALL_US] >= 0) {
		buf_adds(out, ", ");
		text_add_time(out, f->total[TOTAL_WALL_US]);
	}
	if (values_fact(f, VALUES_RUNS))
		buf_addf(out, ", %s runs", values_fact(f, VALUES_RUNS));
	if (f->total[TOTAL_FAILED] > 0)
		buf_addf(out, ", %lld failed", (long long)f->total[TOTAL_FAILED]);
}

static void add_status(struct buf *out, int64_t status)
{
	buf_adds(out, "Build-Status: ");
	if (status < 0)
		buf_adds(out, "unknown");
	else if (status < STATUS_KILLED)
		buf_addi(out, status);
	else if (status < STATUS_FAILED)
		buf_addf(out, "killed %d", (int)(status - STATUS_KILLED));
	else
		buf_adds(out, status == STATUS_UNFINISHED ? "unfinished" : "failed");
	buf_addc(out, '\n');
}

/* A fact of the tree that begins at `at`. */
static const char *of_tree(const struct values *f, size_t at, const char *key)
{
	for (size_t i = at; i < f->n_facts; i++) {
		if (i > at && !strcmp(f->fact[i].key, "source"))
			return NULL;
		if (!strcmp(f->fact[i].key, key))
			return f->fact[i].value;
	}
	return NULL;
}

static const char *count_or_dash(const char *count)
{
	uint64_t n;

	return count && cursor_slice_u64(slice_of(count), &n) ? count : "-";
}

static void add_revision(struct buf *out, const struct values *f, size_t at)
{
	const char *commit = of_tree(f, at, "revision");
	const char *source = of_tree(f, at, "source"), *dirty = of_tree(f, at, "dirty");

	if (!(commit && *commit && !commit[strspn(commit, "0123456789abcdefABCDEF")]))
		return;
	buf_addf(out, "Build-Rev: %s %s %s ", commit,
		 count_or_dash(of_tree(f, at, "commit_count")),
		 dirty && !strcmp(dirty, "yes") ? "dirty" : "clean");
	add_field(out, source ? source : "-");
	buf_addc(out, '\n');
}

/* Facts without a source belong to one tree. */
static void add_revisions(struct buf *out, const struct values *f)
{
	const char *count = count_or_dash(values_fact(f, "commit_count"));

	if (!values_fact(f, "source"))
		add_revision(out, f, 0);
	for (size_t i = 0; i < f->n_facts; i++) {
		if (!strcmp(f->fact[i].key, "source"))
			add_revision(out, f, i);
	}
	if (strcmp(count, "-"))
		buf_addf(out, "Commit-Count: %s\n", count);
}

void message_write(struct buf *out, const struct values *f, const char *run)
{
	int64_t start_s = message_start_s(f);

	add_subject(out, f);
	buf_adds(out, "\n\nRun-Id: ");
	add_field(out, run);
	buf_addc(out, '\n');
	if (start_s >= 0) {
		buf_adds(out, "Build-Start: ");
		clock_add_iso(out, start_s * NS_PER_S);
		buf_addc(out, '\n');
	}
	add_status(out, f->total[TOTAL_STATUS]);
	add_revisions(out, f);
}

static const char *keep_field(struct message *m, struct slice s)
{
	char *text = arena_text(m->texts, s.p, s.len);

	if (text)
		text[field_decode(text, s.len, NULL)] = '\0';
	return text;
}

static int64_t time_of_text(struct slice s)
{
	struct cursor c;
	int64_t time_s;

	cursor_init(&c, s.p, s.len);
	return clock_parse_iso(&c, &time_s) && cursor_literal(&c, "Z") && cursor_at_end(&c) ?
		time_s : -1;
}

static int add_read_revision(struct message *m, struct slice s)
{
	struct revision *grown, rev = { .count = -1 };
	struct slice commit, count, state;
	struct cursor c;
	uint64_t n;

	cursor_init(&c, s.p, s.len);
	if (!cursor_word(&c, &commit, s.len) || !cursor_byte(&c, ' ') ||
	    !cursor_word(&c, &count, s.len) || !cursor_byte(&c, ' ') ||
	    !cursor_word(&c, &state, s.len))
		return 0;
	cursor_byte(&c, ' ');
	if (cursor_slice_u64(count, &n) && n <= INT64_MAX)
		rev.count = (int64_t)n;
	rev.dirty = slice_is(state, "dirty");
	grown = array_grow(m->revision, m->n_revisions, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	m->revision = grown;
	rev.commit = keep_field(m, commit);
	rev.source = keep_field(m, (struct slice){ c.p, (size_t)(c.end - c.p) });
	if (!rev.commit || !rev.source)
		return -ENOMEM;
	grown[m->n_revisions++] = rev;
	return 0;
}

static int read_trailer(struct message *m, struct slice line)
{
	struct cursor c;
	struct slice rest;

	cursor_init(&c, line.p, line.len);
	if (cursor_literal(&c, "Run-Id: ")) {
		rest = (struct slice){ c.p, (size_t)(c.end - c.p) };
		if (rest.len && !(m->run = keep_field(m, rest)))
			return -ENOMEM;
	} else if (cursor_literal(&c, "Build-Start: ")) {
		m->start_s = time_of_text((struct slice){ c.p, (size_t)(c.end - c.p) });
	} else if (cursor_literal(&c, "Build-Rev: ")) {
		return add_read_revision(m, (struct slice){ c.p, (size_t)(c.end - c.p) });
	}
	return 0;
}

/* The last paragraph of the message. */
static const char *trailers(const char *text, size_t *len)
{
	const char *from = text, *next;

	*len = strlen(text);
	while (*len && text[*len - 1] == '\n')
		--*len;
	while ((next = memmem(from, (size_t)(text + *len - from), "\n\n", 2)))
		from = next + 2;
	*len = (size_t)(text + *len - from);
	return from;
}

int message_read(struct message *m, const char *text)
{
	struct slice line;
	struct cursor c;
	bool whole;
	size_t len;
	int r = 0;

	*m = (struct message)MESSAGE_INIT;
	text = trailers(text, &len);
	m->texts = arena_new();
	if (!m->texts)
		return -ENOMEM;
	cursor_init(&c, text, len);
	while (cursor_line(&c, &line, &whole)) {
		r = read_trailer(m, line);
		if (r)
			return r;
	}
	return 0;
}

void message_release(struct message *m)
{
	free(m->revision);
	arena_free(m->texts);
	*m = (struct message)MESSAGE_INIT;
}
