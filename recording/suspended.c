/* SPDX-License-Identifier: MIT */
#include "recording/suspended.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "recording/alive.h"
#include "recording/event.h"
#include "recording/layout.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse(struct slice value, struct suspended_part *p)
{
	struct cursor c;

	cursor_init(&c, value.p, value.len);
	if (!cursor_i64(&c, &p->from_us) || p->from_us < 0 || p->from_us > EVENT_TIME_MAX_US)
		return false;
	p->until_us = -1;
	if (cursor_at_end(&c))
		return true;
	return cursor_byte(&c, ' ') && cursor_i64(&c, &p->until_us) && p->until_us > p->from_us && p->until_us <= EVENT_TIME_MAX_US;
}

int suspended_add(struct suspended *s, struct slice value)
{
	struct suspended_part p, *added;

	if (!parse(value, &p) || (s->n && p.from_us < s->part[s->n - 1].until_us))
		return -EBADMSG;
	s->open = p.until_us < 0;
	s->since_us = p.from_us;
	if (s->open)
		return 0;
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

/* Is the launcher stopped? */
static bool is_stopped(const struct recording *rec)
{
	int64_t pid = recording_build_number(rec, "sampler_pid");

	return rec->end_us < 0 && pid > 0 && pid <= INT32_MAX && alive_same_host(recording_build(rec, "host")) &&
	       alive_same_boot(recording_build(rec, "boot_id")) &&
	       alive_is_stopped((int32_t)pid, rec->start_mono_ns);
}

int64_t suspended_elapsed_us(const struct recording *rec, int64_t elapsed_us, bool *stopped)
{
	int64_t interval_us = MAX(recording_build_number(rec, "interval_ms"), 0) * 1000;
	struct suspended s = SUSPENDED_INIT;

	suspended_find(&s, rec);
	elapsed_us = suspended_move(&s, elapsed_us);
	*stopped = s.open;
	suspended_release(&s);
	if (elapsed_us > rec->last_us + interval_us && is_stopped(rec)) {
		*stopped = true;
		return rec->last_us + interval_us;
	}
	return elapsed_us;
}

int64_t suspended_since_start_us(const struct recording *rec, int64_t mono_ns)
{
	bool stopped;

	return rec->start_mono_ns < 0 ? -1 :
		suspended_elapsed_us(rec, (mono_ns - rec->start_mono_ns) / 1000, &stopped);
}

int64_t suspended_before(const struct suspended *s, int64_t time_us)
{
	struct search_range r = search_all(s->n);
	const struct suspended_part *p;

	if (s->open && time_us > s->since_us)
		return s->sum_us + time_us - s->since_us;
	while (search_next(&r))
		search_past(&r, s->part[r.at].from_us < time_us);
	if (!r.at)
		return 0;
	p = &s->part[r.at - 1];
	return p->before_us + (time_us < p->until_us ? time_us : p->until_us) - p->from_us;
}
