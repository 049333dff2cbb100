/* SPDX-License-Identifier: MIT */
#include "recording/suspended.h"

#include "base/array.h"
#include "base/search.h"
#include "recording/event.h"
#include "recording/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse(struct slice value, struct suspended_part *p)
{
	struct cursor c;

	cursor_init(&c, value.p, value.len);
	return cursor_i64(&c, &p->from_us) && cursor_byte(&c, ' ') && cursor_i64(&c, &p->until_us) &&
	       p->from_us >= 0 && p->until_us > p->from_us && p->until_us <= EVENT_TIME_MAX_US;
}

int suspended_add(struct suspended *s, struct slice value)
{
	struct suspended_part p, *added;

	if (!parse(value, &p) || (s->n && p.from_us < s->part[s->n - 1].until_us))
		return -EBADMSG;
	added = array_add(&s->part, &s->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	p.before_us = s->sum_us;
	s->sum_us += p.until_us - p.from_us;
	*added = p;
	return 0;
}

void suspended_release(struct suspended *s)
{
	free(s->part);
	*s = (struct suspended)SUSPENDED_INIT;
}

int suspended_find(struct suspended *s, const struct recording *rec)
{
	int r = 0;

	for (size_t i = 0; i < rec->n_build && r != -ENOMEM; i++) {
		if (!strcmp(rec->build[i].key, LAYOUT_SUSPENDED))
			r = suspended_add(s, slice_of(rec->build[i].value));
	}
	return r == -ENOMEM ? r : 0;
}

int64_t suspended_sum_us(const struct recording *rec)
{
	struct suspended s = SUSPENDED_INIT;
	int64_t sum_us;

	suspended_find(&s, rec);
	sum_us = s.sum_us;
	suspended_release(&s);
	return sum_us;
}

int64_t suspended_since_start_us(const struct recording *rec, int64_t mono_ns)
{
	struct suspended s = SUSPENDED_INIT;
	int64_t time_us;

	if (rec->start_mono_ns < 0)
		return -1;
	suspended_find(&s, rec);
	time_us = suspended_move(&s, (mono_ns - rec->start_mono_ns) / 1000);
	suspended_release(&s);
	return time_us;
}

int64_t suspended_before(const struct suspended *s, int64_t time_us)
{
	struct search_range r = search_all(s->n);
	const struct suspended_part *p;

	while (search_next(&r))
		search_past(&r, s->part[r.at].from_us < time_us);
	if (!r.at)
		return 0;
	p = &s->part[r.at - 1];
	return p->before_us + (time_us < p->until_us ? time_us : p->until_us) - p->from_us;
}
