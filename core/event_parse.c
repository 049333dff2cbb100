#include "event.h"

#include <string.h>

/* By their first letters, which all differ. */
static const struct {
	const char *word;
	enum event_kind kind;
} words[26] = {
	['a' - 'a'] = { "after", EVENT_AFTER }, ['b' - 'a'] = { "begin", EVENT_BEGIN },
	['c' - 'a'] = { "close", EVENT_CLOSE }, ['d' - 'a'] = { "done", EVENT_DONE },
	['e' - 'a'] = { "end", EVENT_END }, ['f' - 'a'] = { "fail", EVENT_FAIL },
	['k' - 'a'] = { "kill", EVENT_KILL }, ['n' - 'a'] = { "note", EVENT_NOTE },
	['o' - 'a'] = { "open", EVENT_OPEN }, ['p' - 'a'] = { "pid", EVENT_PID },
	['q' - 'a'] = { "queue", EVENT_QUEUE }, ['s' - 'a'] = { "start", EVENT_START },
};

/* The word is not empty and of small letters. */
static bool find_kind(struct slice word, enum event_kind *kind)
{
	unsigned at = (unsigned)(word.p[0] - 'a');

	if (at >= 26 || !words[at].word || !slice_is(word, words[at].word))
		return false;
	*kind = words[at].kind;
	return true;
}

/* The end of a field, passed. */
static bool field_end(struct cursor *c)
{
	return cursor_at_end(c) || cursor_byte(c, '\t');
}

/* A word that a line may begin with in this version or a later one. */
static bool read_word(struct cursor *c, struct slice *word)
{
	const char *p = c->p;

	while (p < c->end && ((*p >= 'a' && *p <= 'z') || *p == '_'))
		p++;
	*word = (struct slice){ c->p, (size_t)(p - c->p) };
	c->p = p;
	return word->len && field_end(c);
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
	struct slice word;
	bool known;

	cursor_init(&e->rest, line.p, line.len);
	if (!read_word(&e->rest, &word))
		return EVENT_DAMAGED;
	known = find_kind(word, &e->kind);
	if (!cursor_i64(&e->rest, &e->time_us) || !field_end(&e->rest) || !read_id(&e->rest, e))
		return EVENT_DAMAGED;
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

int64_t event_number(struct event *e)
{
	const char *start = e->rest.p;
	int64_t n;

	if (cursor_at_end(&e->rest) || cursor_byte(&e->rest, '\t'))
		return -1;
	if (cursor_i64(&e->rest, &n) &&
	    (cursor_at_end(&e->rest) || cursor_byte(&e->rest, '\t')))
		return n;
	e->rest.p = start;
	event_field(e);
	return -1;
}
