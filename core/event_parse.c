#include "event.h"

#include <string.h>

static const char *const words[] = {
	[EVENT_OPEN] = "open", [EVENT_CLOSE] = "close", [EVENT_QUEUE] = "queue",
	[EVENT_START] = "start", [EVENT_PID] = "pid", [EVENT_DONE] = "done",
	[EVENT_FAIL] = "fail", [EVENT_KILL] = "kill", [EVENT_AFTER] = "after",
	[EVENT_BEGIN] = "begin", [EVENT_END] = "end", [EVENT_NOTE] = "note",
};

static bool find_kind(struct slice word, enum event_kind *kind)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		if (word.len && word.p[0] == words[i][0] && slice_is(word, words[i])) {
			*kind = (enum event_kind)i;
			return true;
		}
	}
	return false;
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
	struct slice field = event_field(e);
	int64_t n;

	return slice_i64(field, &n) ? n : -1;
}
