/* SPDX-License-Identifier: MIT */
#include "write/junit.h"

#include "base/hash.h"
#include "base/text.h"

#include <string.h>
#include <time.h>

void junit_begin(struct junit *j)
{
	*j = (struct junit){ .names = INDEX_INIT };
	markup_init(&j->m, &j->cases);
}

static bool is_new(struct junit *j, const char *class, const struct buf *name)
{
	uint64_t hash = hash_fnv64_more(hash_fnv64(class, strlen(class) + 1), name->data, name->len);
	uint32_t unused;

	if (index_find(&j->names, hash, name->len, &unused))
		return false;
	j->error = j->error ? j->error : index_put(&j->names, hash, name->len, 0);
	return true;
}

static void end_case(struct junit *j)
{
	if (j->m.depth)
		markup_end(&j->m);
}

void junit_case(struct junit *j, const char *class, const char *name, const char *more)
{
	struct buf shown = BUF_PART_OF(&j->cases);
	bool is_unique;
	size_t len;

	end_case(j);
	text_add_name(&shown, name, 0);
	is_unique = is_new(j, class, &shown);
	if (!is_unique && more) {
		buf_addf(&shown, " %s", more);
		is_unique = is_new(j, class, &shown);
	}
	len = shown.len;
	for (unsigned n = 2; !is_unique && !buf_error(&shown); n++) {
		buf_cut(&shown, len);
		buf_addf(&shown, " (%u)", n);
		is_unique = is_new(j, class, &shown);
	}
	markup_begin(&j->m, "testcase");
	markup_attr(&j->m, "classname", class);
	markup_attr(&j->m, "name", buf_str(&shown));
	markup_attr(&j->m, "time", "0");
	j->tests++;
	buf_release(&shown);
}

void junit_result(struct junit *j, const char *type, const char *message, const char *text)
{
	markup_begin(&j->m, type ? "failure" : "skipped");
	markup_attr(&j->m, "message", message);
	if (type)
		markup_attr(&j->m, "type", type);
	if (text)
		markup_text(&j->m, text);
	markup_end(&j->m);
	j->failures += type != NULL;
	j->skipped += !type;
}

/* "2026-11-20T02:00:00", in UTC. */
static void attr_time(struct markup *s, int64_t time_s)
{
	time_t t = (time_t)time_s;
	struct tm tm;
	char text[64];

	if (time_s >= 0 && gmtime_r(&t, &tm) && strftime(text, sizeof text, "%FT%T", &tm))
		markup_attr(s, "timestamp", text);
}

int junit_end(struct junit *j, struct buf *out, const char *suite, int64_t time_s)
{
	struct markup s;
	int r;

	end_case(j);
	markup_init(&s, out);
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	markup_begin(&s, "testsuites");
	markup_begin(&s, "testsuite");
	markup_attr(&s, "name", suite);
	markup_attr_int(&s, "tests", (int64_t)j->tests);
	markup_attr_int(&s, "failures", (int64_t)j->failures);
	markup_attr_int(&s, "errors", 0);
	markup_attr_int(&s, "skipped", (int64_t)j->skipped);
	attr_time(&s, time_s);
	markup_attr(&s, "time", "0");
	buf_add(markup_content(&s), j->cases.data, j->cases.len);
	markup_end(&s);
	markup_end(&s);
	r = j->error ? j->error : buf_error(&j->cases);
	buf_release(&j->cases);
	index_release(&j->names);
	return r ? r : buf_error(out);
}
