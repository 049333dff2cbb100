/* SPDX-License-Identifier: MIT */
#include "inspect/recent.h"

#include <unistd.h>

static int64_t since(uint64_t now, uint64_t before)
{
	uint64_t n = now > before ? now - before : 0;

	return n < INT64_MAX ? (int64_t)n : INT64_MAX;
}

static void set_rates(struct recent_sample *s, const struct process_values *now,
		      const struct process_values *before, int64_t elapsed_us)
{
	int64_t tick_us = 1000000 / sysconf(_SC_CLK_TCK);
	int64_t ticks = since(now->user_ticks, before->user_ticks) +
			since(now->system_ticks, before->system_ticks);

	s->cpu_permille = (int64_t)((double)ticks * (double)tick_us * 1000 / (double)elapsed_us);
	s->minor_faults = since(now->minor_faults, before->minor_faults);
	s->major_faults = since(now->major_faults, before->major_faults);
	if (now->has_io && before->has_io) {
		s->read_kb = since(now->read_kb, before->read_kb);
		s->written_kb = since(now->written_kb, before->written_kb);
	}
}

void recent_add(struct recent *r, int64_t time_us, const struct process_values *v)
{
	struct recent_sample s = {
		.time_us = time_us, .cpu_permille = -1, .rss_kb = v->rss_kb,
		.threads = v->threads, .minor_faults = -1, .major_faults = -1, .read_kb = -1,
		.written_kb = -1,
	};

	if (r->n && time_us <= r->last_us)
		return;
	if (r->n)
		set_rates(&s, v, &r->last, time_us - r->last_us);
	if (r->n < RECENT_MAX)
		r->sample[r->n++] = s;
	else
		r->sample[r->first++ % RECENT_MAX] = s;
	r->first %= RECENT_MAX;
	r->last = *v;
	r->last_us = time_us;
}

const struct recent_sample *recent_at(const struct recent *r, size_t i)
{
	return &r->sample[(r->first + i) % RECENT_MAX];
}
