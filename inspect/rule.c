/* SPDX-License-Identifier: MIT */
#include "inspect/rule.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/minmax.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#define EXPECTED "expected NAME[,rss>SIZE][,heap[=exact]][,interval=TIME][,count=N][,freeze][,pages]"

struct unit {
	const char *word;
	uint64_t factor;
};

static const struct unit sizes[] = {
	{ "k", 1 }, { "K", 1 }, { "KiB", 1 }, { "M", 1 << 10 }, { "MiB", 1 << 10 },
	{ "G", 1 << 20 }, { "GiB", 1 << 20 }, { "T", 1 << 30 }, { "TiB", 1 << 30 }, { NULL, 0 },
};

static const struct unit times[] = {
	{ "ms", 1000 }, { "s", 1000000 }, { "min", 60000000 }, { "h", UINT64_C(3600000000) },
	{ "", 1000000 }, { NULL, 0 },
};

/* "1.5G": three decimals at most. */
static bool read_amount(uint64_t *value, struct slice text, const struct unit *unit)
{
	uint64_t whole, part = 0, scale = 1;
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	if (!cursor_u64(&c, &whole))
		return false;
	if (c.p < c.end && *c.p == '.') {
		for (c.p++; c.p < c.end && *c.p >= '0' && *c.p <= '9' && scale < 1000; c.p++) {
			part = part * 10 + (uint64_t)(*c.p - '0');
			scale *= 10;
		}
		if (scale == 1)
			return false;
	}
	while (unit->word && !slice_is((struct slice){ c.p, (size_t)(c.end - c.p) }, unit->word))
		unit++;
	return unit->word && !__builtin_mul_overflow(whole, unit->factor, value) &&
	       !__builtin_add_overflow(*value, part * unit->factor / scale, value);
}

static int refuse(struct error *err, const char *expected, struct slice word)
{
	return error_set(err, -EINVAL, NULL, 0, 0, "expected %s, not '%.*s'", expected,
			 (int)MIN(word.len, 100), word.p);
}

static struct slice after(struct slice word, size_t n)
{
	return (struct slice){ word.p + n, word.len - n };
}

static int read_size(struct inspect_rule *r, struct slice word, struct error *err)
{
	if (read_amount(&r->rss_kb, after(word, strlen("rss>")), sizes) && r->rss_kb)
		return 0;
	return refuse(err, "rss>SIZE with a size such as 500M or 2G", word);
}

static int read_interval(struct inspect_rule *r, struct slice word, struct error *err)
{
	uint64_t us;

	if (read_amount(&us, after(word, strlen("interval=")), times) &&
	    us >= RULE_INTERVAL_MIN_US && us <= RULE_INTERVAL_MAX_US) {
		r->interval_us = (int64_t)us;
		return 0;
	}
	return refuse(err, "interval=TIME with a time from 10ms to 24h", word);
}

static int read_count(struct inspect_rule *r, struct slice word, struct error *err)
{
	if (cursor_slice_i64(after(word, strlen("count=")), &r->count) && r->count >= 1 &&
	    r->count <= RULE_COUNT_MAX)
		return 0;
	return refuse(err, "count=N with a number from 1 to 1000000", word);
}

static int read_part(struct inspect_rule *r, struct slice word, struct error *err)
{
	if (slice_starts(word, "rss>"))
		return read_size(r, word, err);
	if (slice_starts(word, "interval="))
		return read_interval(r, word, err);
	if (slice_starts(word, "count="))
		return read_count(r, word, err);
	if (slice_is(word, "heap"))
		r->heap = HEAP_SAMPLED;
	else if (slice_is(word, "heap=exact"))
		r->heap = HEAP_EXACT;
	else if (slice_is(word, "freeze"))
		r->freeze = true;
	else if (slice_is(word, "pages"))
		r->pages = true;
	else
		return refuse(err, "rss>SIZE, heap, heap=exact, interval=TIME, count=N, freeze or pages",
			      word);
	return 0;
}

static int read_names(struct inspect_rule *r, struct slice word, struct error *err)
{
	bool empty = true;

	for (size_t i = 0; i < word.len; i++) {
		bool end = i + 1 == word.len || word.p[i + 1] == '|';

		if (word.p[i] == '/' || (unsigned char)word.p[i] < ' ')
			return refuse(err, "the file name of a program, without its directory", word);
		empty = word.p[i] == '|';
		if (empty && (end || !i))
			break;
	}
	if (word.len && empty)
		return refuse(err, "a name before and after each '|'", word);
	if (word.len >= sizeof r->names)
		return refuse(err, "names of fewer than 256 bytes", word);
	memcpy(r->names, word.p, word.len);
	return 0;
}

int rule_parse(struct inspect_rule *r, const char *text, struct error *err)
{
	struct slice word;
	struct cursor c;
	int error;

	*r = (struct inspect_rule){ .heap = HEAP_OFF };
	cursor_init(&c, text, strlen(text));
	if (!*text)
		return error_set(err, -EINVAL, NULL, 0, 0, EXPECTED ", not an empty rule");
	word = (struct slice){ text, strcspn(text, ",") };
	if (memchr(word.p, '>', word.len) || memchr(word.p, '=', word.len))
		return refuse(err, "the name of a program, or nothing, before the first comma", word);
	error = read_names(r, word, err);
	for (c.p += word.len; !error && c.p < c.end;) {
		c.p++;
		word = (struct slice){ c.p, strcspn(c.p, ",") };
		error = read_part(r, word, err);
		c.p += word.len;
	}
	if (!error && r->heap && !*r->names)
		error = error_set(err, -EINVAL, NULL, 0, 0, "expected the name of a program before "
				  "',heap': the heap of every process is not counted");
	return error;
}

/* The most that the kernel keeps of a name. */
#define COMM_MAX 15

static bool has_start(const char *pattern, const char *program)
{
	char start[COMM_MAX + 1];

	if (strlen(program) != COMM_MAX || strlen(pattern) <= COMM_MAX)
		return false;
	memcpy(start, pattern, COMM_MAX);
	start[COMM_MAX] = '\0';
	return !strcmp(start, program);
}

bool rule_has_name(const struct inspect_rule *r, const char *program)
{
	char pattern[RULE_NAMES_MAX];

	if (!*r->names)
		return true;
	for (const char *p = r->names; ; p++) {
		size_t n = strcspn(p, "|");

		memcpy(pattern, p, n);
		pattern[n] = '\0';
		if (!fnmatch(pattern, program, 0) || has_start(pattern, program))
			return true;
		p += n;
		if (!*p)
			return false;
	}
}

static void write_amount(struct buf *out, uint64_t value, const struct unit *unit)
{
	const struct unit *best = unit;

	for (; unit->word; unit++) {
		if (value % unit->factor == 0 && unit->factor > best->factor)
			best = unit;
	}
	buf_addu(out, value / best->factor);
	buf_adds(out, best->word);
}

void rule_write(struct buf *out, const struct inspect_rule *r)
{
	buf_adds(out, r->names);
	if (r->rss_kb) {
		buf_adds(out, ",rss>");
		write_amount(out, r->rss_kb, sizes);
	}
	if (r->heap)
		buf_adds(out, r->heap == HEAP_EXACT ? ",heap=exact" : ",heap");
	if (r->interval_us) {
		buf_adds(out, ",interval=");
		write_amount(out, (uint64_t)r->interval_us, times);
	}
	if (r->count)
		buf_addf(out, ",count=%lld", (long long)r->count);
	if (r->freeze)
		buf_adds(out, ",freeze");
	if (r->pages)
		buf_adds(out, ",pages");
}
