/* SPDX-License-Identifier: MIT */
#include "archive/build_tasks.h"

#include "archive/pair.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/hash.h"
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The lines of the blob. Equal bytes mean the same task. */
struct lines {
	size_t n;
	struct slice *line;
	struct index by_text;
};

/* The lines after the first; no lines if it is not a dictionary. Returns 0 or -ENOMEM. */
static int lines_read(struct lines *l, const void *data, size_t len)
{
	size_t first = strlen(pair_tasks.first_line);
	struct slice line, *grown;
	struct cursor c;
	bool whole;

	if (len <= first || memcmp(data, pair_tasks.first_line, first))
		return 0;
	cursor_init(&c, (const char *)data + first, len - first);
	if (!cursor_byte(&c, '\n'))
		return 0;
	while (cursor_line(&c, &line, &whole)) {
		if (!whole || !memchr(line.p, '\t', line.len)) {
			l->n = 0;
			return 0;
		}
		grown = array_grow(l->line, l->n, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		l->line = grown;
		grown[l->n++] = line;
	}
	return 0;
}

static int lines_index(struct lines *l)
{
	int r = 0;

	for (size_t i = 0; i < l->n; i++) {
		uint64_t hash = hash_fnv64(l->line[i].p, l->line[i].len), turn = 0;
		uint32_t other;

		while (index_find(&l->by_text, hash, turn, &other))
			turn++;
		r = index_put(&l->by_text, hash, turn, (uint32_t)i);
		if (r)
			return r;
	}
	return 0;
}

static bool is_line(const struct lines *l, size_t i, const char *text, size_t len)
{
	return i < l->n && l->line[i].len == len && !memcmp(l->line[i].p, text, len);
}

/* Sets *line, n if not found. next: a guess that is right unless tasks changed. */
static int lines_find(struct lines *l, uint32_t *line, size_t next, const char *text,
		      size_t len)
{
	uint64_t hash;
	uint32_t i;
	int r = 0;

	*line = (uint32_t)next;
	if (is_line(l, next, text, len))
		return 0;
	if (!l->by_text.n)
		r = lines_index(l);
	hash = hash_fnv64(text, len);
	*line = (uint32_t)l->n;
	if (r)
		return r;
	for (uint64_t turn = 0; index_find(&l->by_text, hash, turn, &i); turn++) {
		if (is_line(l, i, text, len)) {
			*line = i;
			break;
		}
	}
	return 0;
}

/* A new dictionary in the order of the values. */
static void begin_anew(struct build_tasks *d, const struct values *f)
{
	d->same = false;
	buf_clear(&d->text);
	pair_begin_write(&d->text, &pair_tasks);
	for (size_t i = 0; i < f->n_tasks; i++) {
		pair_write(&d->text, &pair_tasks, f->task[i].name, f->task[i].kind);
		d->line[i] = (uint32_t)i;
	}
	d->n = f->n_tasks;
}

static int go_on(struct build_tasks *d, const struct values *f, struct lines *l)
{
	struct buf line = BUF_INIT;
	size_t next = 0;
	int r = 0;

	d->n = l->n;
	for (size_t i = 0; !r && i < f->n_tasks; i++) {
		buf_clear(&line);
		pair_write(&line, &pair_tasks, f->task[i].name, f->task[i].kind);
		r = buf_error(&line);
		if (!r)
			r = lines_find(l, &d->line[i], next, line.data, line.len - 1);
		if (!r && d->line[i] < l->n) {
			next = d->line[i] + 1;
		} else if (!r) {
			d->line[i] = (uint32_t)d->n++;
			buf_add(&d->text, line.data, line.len);
		}
	}
	d->same = d->n == l->n;
	buf_release(&line);
	return r;
}

int build_tasks_make(struct build_tasks *d, const struct values *f, const void *before,
		    size_t len)
{
	struct lines lines = { 0 };
	int r;

	*d = (struct build_tasks)BUILD_TASKS_INIT;
	d->line = array_new(f->n_tasks, sizeof *d->line);
	r = d->line ? 0 : -ENOMEM;
	if (!r && before)
		r = lines_read(&lines, before, len);
	if (!r && lines.n) {
		buf_add(&d->text, before, len);
		r = go_on(d, f, &lines);
	}
	if (!r && (!lines.n || d->n / 2 > f->n_tasks))
		begin_anew(d, f);
	free(lines.line);
	index_release(&lines.by_text);
	return r ? r : buf_error(&d->text);
}

void build_tasks_release(struct build_tasks *d)
{
	buf_release(&d->text);
	free(d->line);
	*d = (struct build_tasks)BUILD_TASKS_INIT;
}
