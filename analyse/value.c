/* SPDX-License-Identifier: MIT */
#include "analyse/value.h"

#include "analyse/cost.h"
#include "base/saturate.h"
#include "base/text.h"


static int64_t start_of(const struct cost *c)
{
	return cost_knows(c, VALUE_START) ? c->start_us : -1;
}

static int64_t wall_of(const struct cost *c)
{
	return cost_knows(c, VALUE_WALL) ? c->wall_us : -1;
}

static int64_t queue_of(const struct cost *c)
{
	return cost_knows(c, VALUE_QUEUE) ? c->queue_us : -1;
}

static int64_t cpu_of(const struct cost *c)
{
	return c->measured ? c->cpu_us : -1;
}

static int64_t delay_of(const struct cost *c)
{
	return cost_knows(c, VALUE_DELAY) ? c->delay_us : -1;
}

static int64_t memory_of(const struct cost *c)
{
	return c->memory_kb ? c->memory_kb : -1;
}

static int64_t io_of(const struct cost *c)
{
	return cost_knows(c, VALUE_IO) ? sat_add(c->read_bytes, c->written_bytes) : -1;
}

static int64_t read_of(const struct cost *c)
{
	return cost_knows(c, VALUE_IO) ? c->read_bytes : -1;
}

static int64_t written_of(const struct cost *c)
{
	return cost_knows(c, VALUE_IO) ? c->written_bytes : -1;
}

static int64_t files_of(const struct cost *c)
{
	return c->files_bytes ? c->files_bytes : -1;
}

static int64_t faults_of(const struct task *t)
{
	return t->minor_faults < 0 || t->major_faults < 0 ? -1 : (int64_t)t->minor_faults + t->major_faults;
}

static int64_t switches_of(const struct task *t)
{
	return t->involuntary_switches;
}

static int64_t instructions_of(const struct task *t)
{
	return t->instructions;
}

#define ROW(id, word_, ...) [id] = { .word = word_, __VA_ARGS__ },
#define WORD(id, word, ...) [id] = word,

const struct value_info value_info[VALUE_SORTS] = {
	VALUE_ROWS(ROW)
	[VALUE_NAME] = { .word = "name", .title = "name", .name = "name", .list = "By name" },
};
const char *const value_word[VALUE_SORTS + 1] = { VALUE_ROWS(WORD) [VALUE_NAME] = "name" };

_Static_assert(VALUES < 30, "cost.known has a bit for each value, profile_row.known three more");

int64_t value_get(enum value v, const struct cost *c)
{
	if (v < VALUE_COUNTED)
		return value_info[v].of(c);
	return cost_knows(c, v) ? c->counted[v - VALUE_COUNTED] : -1;
}

/* A sample without any storage, or without what only wait4() counts, is no lower bound. */
bool value_is_at_least(enum value v, int64_t n, unsigned bounds)
{
	return (bounds >> value_info[v].sampled & 1) && (v == VALUE_CPU ? n >= 0 : n > 0);
}

enum value_bound value_shown(int64_t *n, enum value v, const struct cost *c)
{
	*n = value_get(v, c);
	if (v == VALUE_WALL)
		return c->wall_least_us < *n ? VALUE_AT_MOST : VALUE_EXACT;
	if (v == VALUE_MEMORY && *n < 0 && c->memory_at_most_kb) {
		*n = c->memory_at_most_kb;
		return VALUE_AT_MOST;
	}
	return value_is_at_least(v, *n, cost_bounds(c)) ? VALUE_AT_LEAST : VALUE_EXACT;
}

void value_add(struct buf *b, enum value v, int64_t n)
{
	switch (value_info[v].unit) {
	case UNIT_US:
		text_add_time(b, n);
		break;
	case UNIT_KB:
		text_add_bytes(b, n < 0 ? n : sat_mul(n, 1024));
		break;
	case UNIT_BYTES:
		text_add_bytes(b, n);
		break;
	default:
		text_add_count(b, n);
		break;
	}
}

/* Unknown values come last: they are the largest unsigned number. */
static uint64_t rank(enum value v, const struct cost *c)
{
	int64_t n = v == VALUE_WALL ? c->wall_least_us : value_get(v, c);

	return value_info[v].joined == VALUE_FIRST ? (uint64_t)n : (uint64_t)(INT64_MAX - (n > 0 ? n : 0));
}

int value_order(enum value v, const struct cost *a, const struct cost *b)
{
	uint64_t x = v < VALUES ? rank(v, a) : 0, y = v < VALUES ? rank(v, b) : 0;

	return (x > y) - (x < y);
}

void value_columns(struct value_columns *c, enum value key, const struct cost *total)
{
	c->n = 0;
	for (enum value v = 0; v < VALUES; v++) {
		const struct value_info *i = &value_info[v];

		if (v == key || (i->stays && (!i->quiet || value_get(v, total) > 0)))
			c->column[c->n++] = (uint8_t)v;
	}
}

uint8_t value_drop(enum value v)
{
	return (uint8_t)(10 - value_info[v].stays);
}
