#include "event.h"

#include <string.h>

struct word {
	char text[7];
	unsigned char len;	/* 0: none */
	enum event_kind kind;
};

/* By their first letters, at most two of a letter; the tab behind them included. */
static const struct word words[26][2] = {
#define WORD(letter, word, kind) [letter - 'a'][0] = { word "\t", sizeof word, kind }
#define OTHER(letter, word, kind) [letter - 'a'][1] = { word "\t", sizeof word, kind }
	WORD('a', "after", EVENT_AFTER), WORD('b', "begin", EVENT_BEGIN),
	WORD('c', "close", EVENT_CLOSE), WORD('d', "done", EVENT_DONE),
	WORD('e', "end", EVENT_END), WORD('f', "fail", EVENT_FAIL),
	WORD('g', "gone", EVENT_GONE),
	WORD('k', "kill", EVENT_KILL), WORD('n', "name", EVENT_NAME),
	OTHER('n', "note", EVENT_NOTE), WORD('o', "out", EVENT_OUT),
	OTHER('o', "open", EVENT_OPEN), WORD('p', "pid", EVENT_PID),
	WORD('q', "queue", EVENT_QUEUE), WORD('s', "start", EVENT_START),
#undef WORD
#undef OTHER
};

/* The end of a field, passed. */
static bool field_end(struct cursor *c)
{
	return cursor_at_end(c) || cursor_byte(c, '\t');
}

/* A word this version knows, passed; a line that ends behind it is none. */
static bool known_word(struct cursor *c, enum event_kind *kind)
{
	unsigned at = cursor_at_end(c) ? 26 : (unsigned)(*c->p - 'a');

	if (at >= 26 || (size_t)(c->end - c->p) < sizeof words[0]->text)
		return false;
	for (const struct word *w = words[at]; w < words[at] + 2 && w->len; w++) {
		if (!memcmp(c->p, w->text, w->len)) {
			*kind = w->kind;
			c->p += w->len;
			return true;
		}
	}
	return false;
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

/* A number of up to seven digits that does not end the line, as most are. */
static bool short_number(struct cursor *c, uint64_t *n)
{
	unsigned digits = c->end - c->p < 8 ? 0 : cursor_digits8(c->p, n);

	if (!digits || digits == 8 || c->p[digits] != '\t')
		return false;
	c->p += digits + 1;
	return true;
}

int64_t event_number(struct event *e)
{
	struct cursor c = e->rest;
	uint64_t positive;
	int64_t n;

	if (cursor_byte(&e->rest, '\t') || cursor_at_end(&c))
		return -1;
	if (short_number(&e->rest, &positive))
		return (int64_t)positive;
	if (!cursor_i64(&c, &n) || !field_end(&c)) {
		event_field(e);
		return -1;
	}
	e->rest.p = c.p;
	return n;
}
