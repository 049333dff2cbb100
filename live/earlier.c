/* SPDX-License-Identifier: MIT */
#include "live/earlier.h"
#include "analyse/listing.h"
#include "base/array.h"
#include "base/file.h"
#include "command/shell.h"
#include "convert/convert.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool is_number(struct slice s)
{
	size_t i = 0;

	while (i < s.len && (isdigit((unsigned char)s.p[i]) || s.p[i] == '.'))
		i++;
	return i && i == s.len;
}

static bool begins_with(struct slice s, const char *prefix)
{
	return s.len >= strlen(prefix) && !memcmp(s.p, prefix, strlen(prefix));
}

/* -j4, -l 2, --jobs=4 ...; *more: its value is the next word. */
static bool is_of_jobs(struct slice word, bool *more)
{
	static const char *const options[] = { "--jobs", "--load-average", "--max-load", "-j", "-l" };

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		size_t len = strlen(options[i]);
		struct slice value = { word.p + len, word.len - len };

		if (!begins_with(word, options[i]))
			continue;
		*more = !value.len;
		if (value.len && *value.p == '=')
			value = (struct slice){ value.p + 1, value.len - 1 };
		return *more || is_number(value);
	}
	return false;
}

/* The command without the number of jobs. */
static void add_command(struct buf *out, const char *command)
{
	struct cursor c;
	struct slice word;
	bool more = false;

	cursor_init(&c, command, strlen(command));
	while (c.p < c.end) {
		const char *before = c.p;

		if (!shell_word(&c, &word)) {
			shell_next_command(&c);
			/* the operator */
			buf_add(out, before, (size_t)(c.p - before));
			if (c.p == before)
				return;
			continue;
		}
		if (more && is_number(word)) {
			more = false;
			continue;
		}
		more = false;
		if (is_of_jobs(word, &more))
			continue;
		buf_add(out, word.p, word.len);
		buf_addc(out, ' ');
	}
}

/* Two values of `build` that are equal, or not there. */
static bool alike(const struct recording *a, const struct recording *b, const char *key)
{
	const char *x = recording_build(a, key), *y = recording_build(b, key);

	return !x || !y ? x == y : !strcmp(x, y);
}

static bool same_command(const struct recording *a, const struct recording *b)
{
	const char *x = recording_build(a, "command"), *y = recording_build(b, "command");
	struct buf one = { 0 }, other = { 0 };
	bool same;

	if (!x || !y)
		return false;
	add_command(&one, x);
	add_command(&other, y);
	same = !buf_error(&one) && !buf_error(&other) && !strcmp(buf_str(&one), buf_str(&other));
	buf_release(&one);
	buf_release(&other);
	return same;
}

static bool is_earlier(const struct listing_entry *e, const struct recording *now)
{
	return !e->damaged && e->result == BUILD_OK && e->rec.start_wall_ns < now->start_wall_ns &&
	       alike(&e->rec, now, "cwd") && alike(&e->rec, now, "host") && same_command(&e->rec, now);
}

static int read_tasks(struct recording *rec, const char *path, struct error *err)
{
	return recording_read_as(rec, path, &(struct recording_options){
		.formats = &convert_formats, .tasks_only = true }, err);
}

static int learn_one(struct remaining *r, const char *dir, const char *name)
{
	struct recording rec = RECORDING_INIT;
	struct buf path = { 0 };
	struct error ignored;
	int error;

	buf_addf(&path, "%s/%s", dir, name);
	error = buf_error(&path);
	if (!error)
		error = read_tasks(&rec, path.data, &ignored);
	/* one that cannot be read is not learnt from */
	if (!error && rec.end_us > 0)
		error = remaining_add(r, &rec, rec.end_us);
	recording_release(&rec);
	buf_release(&path);
	return error == -ENOMEM ? error : 0;
}

static int learn_all(struct remaining *r, const struct listing *l, const struct recording *now)
{
	size_t first = l->n, found = 0;
	int error = 0;

	while (first && found < REMAINING_BUILDS)
		found += is_earlier(&l->entry[--first], now);
	for (; !error && first < l->n; first++) {
		if (is_earlier(&l->entry[first], now))
			error = learn_one(r, l->path, l->entry[first].name);
	}
	return error ? error : remaining_learn(r);
}

int earlier_learn(struct remaining **r, const char *path, struct error *err)
{
	struct recording now = RECORDING_INIT;
	struct listing l = LISTING_INIT;
	char full[PATH_MAX], *slash;
	int error = remaining_new(r);

	if (error)
		return error_sys(err, error, path, NULL);
	error = realpath(path, full) ? recording_read_build(&now, full, &convert_formats, err) :
		error_sys(err, -errno, path, NULL);
	slash = error ? NULL : strrchr(full, '/');
	if (slash) {
		*(slash == full ? slash + 1 : slash) = '\0';
		error = listing_read(&l, full, &convert_formats, err);
		listing_drop_sets(&l);
	}
	if (!error) {
		error = learn_all(*r, &l, &now);
		if (error)
			error_sys(err, error, path, NULL);
	}
	listing_release(&l);
	recording_release(&now);
	if (error) {
		remaining_free(*r);
		*r = NULL;
	}
	return error;
}

void earlier_json(struct json *j, const struct remaining_estimate *e)
{
	struct buf words = { 0 };

	if (!e->builds) {
		json_null(j, "remaining");
		return;
	}
	remaining_words(&words, e);
	json_object(j, "remaining");
	json_int(j, "us", e->left_us);
	json_int(j, "low_us", e->low_us);
	json_int(j, "high_us", e->high_us);
	json_real(j, "done_share", e->done_share, 4);
	json_int(j, "builds", (int64_t)e->builds);
	json_str(j, "words", buf_str(&words));
	json_object_end(j);
	buf_release(&words);
}
