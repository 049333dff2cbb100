/* SPDX-License-Identifier: MIT */
#include "recording/event.h"

#include <string.h>

#define WORD_MAX 7		/* no line with a word is shorter */

/* Move past the end of a field. */
static bool field_end(struct cursor *c)
{
	return cursor_at_end(c) || cursor_byte(c, '\t');
}

/* Move past the word and its tab. Inline, so that the compiler knows the word. */
static inline bool word_is(struct cursor *c, const char *word, enum event_kind is,
			   enum event_kind *kind)
{
	if (memcmp(c->p, word, strlen(word)))
		return false;
	c->p += strlen(word);
	*kind = is;
	return true;
}

/* Move past a word that this version knows; false if the line ends after it. */
static bool known_word(struct cursor *c, enum event_kind *kind)
{
	if (c->end - c->p < WORD_MAX)
		return false;
	switch (*c->p) {
	case 'a': return word_is(c, "after\t", EVENT_AFTER, kind);
	case 'b': return word_is(c, "begin\t", EVENT_BEGIN, kind);
	case 'c': return word_is(c, "close\t", EVENT_CLOSE, kind);
	case 'd': return word_is(c, "done\t", EVENT_DONE, kind);
	case 'e': return word_is(c, "end\t", EVENT_END, kind);
	case 'f': return word_is(c, "fail\t", EVENT_FAIL, kind);
	case 'g': return word_is(c, "gone\t", EVENT_GONE, kind) ||
			 word_is(c, "group\t", EVENT_GROUP, kind);
	case 'k': return word_is(c, "kill\t", EVENT_KILL, kind);
	case 'n': return word_is(c, "name\t", EVENT_NAME, kind) ||
			 word_is(c, "note\t", EVENT_NOTE, kind);
	case 'o': return word_is(c, "out\t", EVENT_OUT, kind) ||
			 word_is(c, "open\t", EVENT_OPEN, kind);
	case 'p': return word_is(c, "pid\t", EVENT_PID, kind) ||
			 word_is(c, "place\t", EVENT_PLACE, kind);
	case 'q': return word_is(c, "queue\t", EVENT_QUEUE, kind);
	case 's': return word_is(c, "start\t", EVENT_START, kind);
	case 'u': return word_is(c, "used\t", EVENT_USED, kind);
	default: return false;
	}
}

/* A word that a line may begin with in a later version. */
static bool other_word(struct cursor *c)
{
	const char *p = c->p;
	bool any;

	while (p < c->end && ((*p >= 'a' && *p <= 'z') || *p == '_'))
		p++;
	any = p > c->p;
	c->p = p;
	return any && field_end(c);
}

/* INST or INST.SEQ */
static bool read_id(struct cursor *c, struct event *e)
{
	const char *p = c->p;

	while (p < c->end && *p != '.' && *p != '\t')
		p++;
	e->inst = (struct slice){ c->p, (size_t)(p - c->p) };
	e->seq = 0;
	c->p = p;
	if (!e->inst.len || e->inst.len >= INSTANCE_ID_MAX)
		return false;
	if (cursor_byte(c, '.') && (!cursor_u64(c, &e->seq) || !e->seq))
		return false;
	return field_end(c);
}

enum event_parsed event_parse(struct slice line, struct event *e)
{
	struct cursor c;
	bool known;

	cursor_init(&c, line.p, line.len);
	known = known_word(&c, &e->kind);
	if (!known && !other_word(&c))
		return EVENT_DAMAGED;
	if (!cursor_i64(&c, &e->time_us) || !field_end(&c) || !read_id(&c, e))
		return EVENT_DAMAGED;
	e->rest = c;
	return known ? EVENT_PARSED : EVENT_UNKNOWN;
}

struct slice event_field(struct event *e)
{
	struct slice field;

	/* Most are empty. */
	if (cursor_byte(&e->rest, '\t'))
		return (struct slice){ e->rest.p - 1, 0 };
	if (!cursor_until(&e->rest, '\t', &field))
		return (struct slice){ e->rest.p, 0 };
	return field;
}

/* A long number, or none. */
static int64_t other_number(struct event *e)
{
	struct cursor c = e->rest;
	int64_t n;

	if (!cursor_i64(&c, &n) || !field_end(&c)) {
		event_field(e);
		return -1;
	}
	e->rest.p = c.p;
	return n;
}

/* Most numbers have less than eight digits. Returns the position after it, NULL if it is another
 * one. The word, time and id before the fields are at least eight bytes. */
static inline const char *pass_number(const char *p, const char *end, int64_t *n)
{
	unsigned digits;
	uint64_t value;

	if (p == end || *p == '\t') {
		*n = -1;
		return p + (p != end);
	}
	digits = cursor_digits8_until(p, end, &value);
	p += digits;
	*n = (int64_t)value;
	return digits && digits < 8 && (p == end || *p == '\t') ? p + (p != end) : NULL;
}

static inline const char *next_number(struct event *e, const char *p, int64_t *n)
{
	const char *after = pass_number(p, e->rest.end, n);

	if (after)
		return after;
	e->rest.p = p;
	*n = other_number(e);
	return e->rest.p;
}

int64_t event_number(struct event *e)
{
	int64_t n;

	e->rest.p = next_number(e, e->rest.p, &n);
	return n;
}

int32_t event_pid(struct event *e, bool *inner)
{
	struct cursor c = e->rest;
	int64_t n;

	*inner = cursor_literal(&c, EVENT_INNER);
	if (*inner)
		e->rest.p = c.p;
	n = event_number(e);
	return n >= 0 && n <= INT32_MAX ? (int32_t)n : -1;
}

void event_numbers(struct event *e, int64_t *n, size_t count)
{
	const char *p = e->rest.p;

	for (size_t i = 0; i < count; i++)
		p = next_number(e, p, &n[i]);
	e->rest.p = p;
}
