/* SPDX-License-Identifier: MIT */
#include "recording/tally_reader.h"

#include "base/array.h"
#include "base/field.h"
#include "recording/reader.h"
#include "recording/tally_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TALLY_LINES_CHUNK ((size_t)256 << 10)

/* The fields of a line after its word. */
struct fields {
	struct cursor c;
	bool bad;
};

static uint64_t number(struct fields *f, uint64_t max)
{
	struct slice field;
	uint64_t n = 0;

	if (cursor_until(&f->c, '\t', &field) && field.len && (!cursor_slice_u64(field, &n) || n > max))
		f->bad = true;
	return n;
}

/* Unescaped in place: the line is a copy. */
static struct slice text(struct fields *f)
{
	struct slice field = { "", 0 };

	cursor_until(&f->c, '\t', &field);
	return (struct slice){ field.p, field_decode((char *)(uintptr_t)field.p, field.len, NULL) };
}

/* "FIRST:N,N,...". False: there is none. */
static bool histogram(struct fields *f, uint64_t bucket[TALLY_BUCKETS])
{
	struct slice field, item;
	struct cursor c;
	uint64_t at;

	if (!cursor_until(&f->c, '\t', &field) || !field.len)
		return false;
	cursor_init(&c, field.p, field.len);
	if (!cursor_u64(&c, &at) || !cursor_byte(&c, ':')) {
		f->bad = true;
		return false;
	}
	memset(bucket, 0, TALLY_BUCKETS * sizeof *bucket);
	while (!cursor_at_end(&c) && cursor_until(&c, ',', &item)) {
		if (at >= TALLY_BUCKETS || (item.len && !cursor_slice_u64(item, &bucket[at]))) {
			f->bad = true;
			return false;
		}
		at++;
	}
	return true;
}

/* Each kind of line: 0, -ENOMEM, or 1 if it is damaged. */

static int read_at(struct tally_reader *r, struct fields *f)
{
	int64_t time_us = (int64_t)number(f, EVENT_TIME_MAX_US);
	struct slice inst = text(f);
	uint64_t n_lost = number(f, UINT64_MAX);

	r->applies = false;
	r->process = NO_INDEX;
	if (f->bad || !inst.len || inst.len >= INSTANCE_ID_MAX)
		return 1;
	return tally_table_at(r, time_us, inst, n_lost);
}

static const char *word(struct tally_reader *r, struct fields *f)
{
	struct slice t = text(f);

	return arena_text(r->arena, t.p, t.len);
}

static int read_host(struct tally_reader *r, struct fields *f)
{
	struct tally_process *p = &r->t->process[r->process];
	struct tally_host *h = &r->host[r->process];
	struct slice fd;
	uint64_t n;

	p->pid = (int32_t)number(f, INT32_MAX);
	h->fd = cursor_until(&f->c, '\t', &fd) && cursor_slice_u64(fd, &n) && n <= INT32_MAX ? (int)n : -1;
	h->inode = number(f, UINT64_MAX);
	p->clock = word(r, f);
	p->unit = word(r, f);
	p->amount = word(r, f);
	p->amount_unit = word(r, f);
	h->in_memory = slice_is(text(f), TALLY_LOG_MEMORY);
	return p->clock && p->unit && p->amount && p->amount_unit ? f->bad : -ENOMEM;
}

static int read_location(struct tally_reader *r, struct fields *f)
{
	uint32_t n = (uint32_t)number(f, TALLY_LOCATIONS - 1);
	struct slice line, function, file;
	int64_t at = 0;

	if (cursor_until(&f->c, '\t', &line) && line.len &&
	    (!cursor_slice_i64(line, &at) || at < INT32_MIN || at > INT32_MAX))
		f->bad = true;
	function = text(f);
	file = text(f);
	return f->bad || !n ? 1 : tally_table_location(r, n, (int32_t)at, function, file);
}

static int read_thread(struct tally_reader *r, struct fields *f)
{
	uint32_t n = (uint32_t)number(f, TALLY_SLOTS - 1);
	struct slice name = text(f);

	return f->bad || !n ? 1 : tally_table_thread(r, n, name);
}

static int read_row(struct tally_reader *r, struct fields *f)
{
	struct tally_values *v = &r->scratch;

	v->location = (uint32_t)number(f, TALLY_LOCATIONS - 1);
	v->birth = (uint32_t)number(f, TALLY_SLOTS - 1);
	v->death = (uint32_t)number(f, TALLY_SLOTS - 1);
	v->count = number(f, UINT64_MAX);
	v->balance = (uint32_t)number(f, UINT32_MAX);
	v->run_total = number(f, UINT64_MAX);
	v->self_total = number(f, UINT64_MAX);
	v->run_max = number(f, UINT64_MAX);
	v->run_sample = number(f, UINT64_MAX);
	v->queue_total = number(f, UINT64_MAX);
	v->queue_max = number(f, UINT64_MAX);
	v->queue_sample = number(f, UINT64_MAX);
	v->amount_total = number(f, UINT64_MAX);
	v->amount_max = number(f, UINT64_MAX);
	v->has_run = histogram(f, v->run);
	v->has_queue = histogram(f, v->queue);
	return f->bad || !v->location || !v->birth != !v->death ? 1 : tally_table_values(r, v);
}

static int read_link(struct tally_reader *r, struct fields *f)
{
	uint32_t parent = (uint32_t)number(f, TALLY_LOCATIONS - 1);
	uint32_t child = (uint32_t)number(f, TALLY_LOCATIONS - 1);

	return f->bad ? 1 : tally_table_link(r, parent, child);
}

static int read_phase(struct tally_reader *r, struct fields *f)
{
	return tally_table_phase(r, text(f));
}

static int read_reset(struct tally_reader *r, struct fields *f)
{
	(void)f;
	tally_table_reset(r);
	return 0;
}

static int read_close(struct tally_reader *r, struct fields *f)
{
	(void)f;
	r->host[r->process].closed = true;
	return 0;
}

static int read_line(struct tally_reader *r, struct slice line)
{
	static const struct {
		const char *word;
		int (*read)(struct tally_reader *r, struct fields *f);
	} kinds[] = {
		{ "row", read_row }, { "at", read_at }, { "location", read_location },
		{ "thread", read_thread }, { "link", read_link }, { "host", read_host },
		{ "phase", read_phase }, { "reset", read_reset },
		{ "close", read_close },
	};
	struct fields f = { .bad = false };
	struct slice first;

	cursor_init(&f.c, line.p, line.len);
	if (!cursor_until(&f.c, '\t', &first))
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!slice_is(first, kinds[i].word))
			continue;
		if (kinds[i].read == read_at)
			return read_at(r, &f);
		if (r->process == NO_INDEX)
			return 1;
		return r->applies ? kinds[i].read(r, &f) : 0;
	}
	/* A later version may have more. Hosts that begin the file at the same time both write its
	 * first line. */
	return slice_starts(first, "buildbeat ") ? 0 : !first.len;
}

/* Whole lines of a file, which are changed; n_lines: that were before. */
static int read_lines(struct tally_reader *r, char *text, size_t len, size_t *n_lines,
		      struct error *err)
{
	struct slice line;
	struct cursor c;
	bool complete;
	int error = 0;

	cursor_init(&c, text, len);
	while (error >= 0 && cursor_line(&c, &line, &complete)) {
		if (!complete)
			break;		/* it is being written, or its writer was killed */
		if (!(*n_lines)++ && !slice_is(line, "buildbeat tally 1"))
			return error_set(err, -EINVAL, NULL, 1, 0,
					 slice_starts(line, "buildbeat tally ") ?
					 "written by a later version of buildbeat" :
					 "not a file of tallies");
		error = read_line(r, line);
		r->t->n_damaged += error > 0;
	}
	return error < 0 ? error : 0;
}

int tally_lines_read(struct tally_reader *r, const char *given, size_t len, struct error *err)
{
	struct buf copy = BUF_INIT;
	size_t n_lines = 0;
	int error;

	buf_add(&copy, given, len);
	r->process = NO_INDEX;
	error = buf_error(&copy) ? buf_error(&copy) :
		read_lines(r, copy.data, copy.len, &n_lines, err);
	buf_release(&copy);
	return error;
}

/* Lines are far shorter than a chunk: a longer one is left out. */
int tally_lines_read_fd(struct tally_reader *r, int fd, bool continued, struct error *err)
{
	char *text = malloc(TALLY_LINES_CHUNK), *end;
	size_t n = 0, n_lines = continued, whole;
	bool too_long = false;
	ssize_t got = 1;
	int error = text ? 0 : -ENOMEM;

	r->process = NO_INDEX;
	while (!error && got) {
		got = read(fd, text + n, TALLY_LINES_CHUNK - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			error = -errno;
			break;
		}
		n += (size_t)got;
		end = memrchr(text, '\n', n);
		whole = end ? (size_t)(end - text) + 1 : 0;
		if (whole && too_long) {
			char *first = memchr(text, '\n', n);

			memset(text, ' ', (size_t)(first - text));
			too_long = false;
		}
		error = read_lines(r, text, whole, &n_lines, err);
		if (!whole && n == TALLY_LINES_CHUNK) {
			too_long = true;
			n = 0;
		}
		memmove(text, text + whole, n - whole);
		n -= whole;
	}
	free(text);
	return error;
}
