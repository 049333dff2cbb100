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

/* INST or INST.SEQ */
static bool read_id(struct slice id, struct event *e)
{
	const char *dot = memchr(id.p, '.', id.len);

	e->inst = (struct slice){ id.p, dot ? (size_t)(dot - id.p) : id.len };
	e->seq = 0;
	if (!e->inst.len || e->inst.len >= INSTANCE_ID_MAX)
		return false;
	if (!dot)
		return true;
	return slice_u64((struct slice){ dot + 1, id.len - e->inst.len - 1 }, &e->seq) && e->seq;
}

/* Could a later version have that word. */
static bool is_word(struct slice s)
{
	for (size_t i = 0; i < s.len; i++) {
		if ((s.p[i] < 'a' || s.p[i] > 'z') && s.p[i] != '_')
			return false;
	}
	return s.len;
}

enum event_parsed event_parse(struct slice line, struct event *e)
{
	struct slice word, time, id;
	bool known;

	cursor_init(&e->rest, line.p, line.len);
	if (!cursor_until(&e->rest, '\t', &word) || !is_word(word))
		return EVENT_DAMAGED;
	known = find_kind(word, &e->kind);
	if (!cursor_until(&e->rest, '\t', &time) || !slice_i64(time, &e->time_us) ||
	    !cursor_until(&e->rest, '\t', &id) || !read_id(id, e))
		return EVENT_DAMAGED;
	return known ? EVENT_PARSED : EVENT_UNKNOWN;
}

struct slice event_field(struct event *e)
{
	struct slice field;

	if (!cursor_until(&e->rest, '\t', &field))
		return (struct slice){ e->rest.p, 0 };
	return field;
}

int64_t event_number(struct event *e)
{
	const char *start = e->rest.p;
	int64_t n;

	if (cursor_i64(&e->rest, &n) &&
	    (cursor_at_end(&e->rest) || cursor_byte(&e->rest, '\t')))
		return n;
	e->rest.p = start;
	event_field(e);
	return -1;
}
