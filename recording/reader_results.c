/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/field.h"
#include "base/saturate.h"
#include "recording/event.h"
#include "recording/reader.h"
#include "recording/results.h"

#include <errno.h>
#include <string.h>

/* The files of a task are together in the recording. A second line of a task follows its first one,
 * otherwise the first one's files are copied behind the others. */
static int gather(struct reader *r, struct task *t)
{
	struct recording *rec = r->rec;

	if (!t->n_files || t->first_file + t->n_files == rec->n_files) {
		t->first_file = t->n_files ? t->first_file : (uint32_t)rec->n_files;
		return 0;
	}
	for (uint32_t i = 0; i < t->n_files; i++) {
		struct recording_file *added = array_add(&rec->file, &rec->n_files, sizeof *added);

		if (!added)
			return -ENOMEM;
		*added = rec->file[t->first_file + i];
	}
	t->first_file = (uint32_t)rec->n_files - t->n_files;
	return 0;
}

static int read_files(struct reader *r, struct task *t, struct cursor *c)
{
	struct recording *rec = r->rec;
	struct slice size, path;
	bool sums = r->sums_only && !r->waits;
	int error = sums ? 0 : gather(r, t);

	while (!error && cursor_until(c, '\t', &size)) {
		struct recording_file *added;
		int64_t bytes;
		char *copy;

		if (!cursor_slice_i64(size, &bytes) || bytes < 0 || !cursor_until(c, '\t', &path) ||
		    !path.len)
			return -EBADMSG;
		rec->has_files = true;
		t->files_bytes = t->files_bytes < 0 ? bytes : sat_add(t->files_bytes, bytes);
		if (sums)
			continue;
		copy = arena_text(rec->arena, path.p, path.len);
		added = copy ? array_add(&rec->file, &rec->n_files, sizeof *added) : NULL;
		if (!added)
			return -ENOMEM;
		copy[field_decode(copy, path.len, NULL)] = '\0';
		*added = (struct recording_file){ copy, bytes };
		t->n_files++;
	}
	return error;
}

/* A word of a later version is not known. */
static void read_cache(struct recording *rec, struct task *t, struct cursor *c)
{
	struct slice word = { "", 0 };

	cursor_until(c, '\t', &word);
	for (unsigned i = 1; i < TASK_CACHES; i++) {
		if (slice_is(word, results_cache_word[i])) {
			t->cache = (uint8_t)i;
			rec->has_cache = true;
		}
	}
}

static int read_line(struct reader *r, struct slice line)
{
	struct slice word, inst;
	struct cursor c;
	uint32_t task;
	uint64_t seq;

	cursor_init(&c, line.p, line.len);
	if (!cursor_until(&c, '\t', &word) || !cursor_until(&c, '.', &inst) ||
	    !cursor_u64(&c, &seq) || !cursor_byte(&c, '\t'))
		return -EBADMSG;
	task = follow_find_task(&r->follow, inst, seq);
	if (task == NO_INDEX)
		return 0;	/* of a line that is lost */
	if (slice_is(word, "files"))
		return read_files(r, &r->rec->task[task], &c);
	if (slice_is(word, "cache"))
		read_cache(r->rec, &r->rec->task[task], &c);
	return 0;
}

int reader_results(struct reader *r, const char *file, struct feed *f)
{
	struct reader_damage d = { 0 };
	struct slice line, rest;
	bool whole = feed_line(f, &line) == FEED_WHOLE;
	int error = reader_header(r, whole ? &line : NULL, file, "results", &rest);

	if (error <= 0)
		return error;
	error = 0;
	while (!error && reader_feed_line(f, &line, &d)) {
		error = read_line(r, line);
		if (error == -EBADMSG) {
			reader_damaged(&d, f->line);
			error = 0;
		}
	}
	return error ? error : reader_report_damage(r, &d, file);
}
