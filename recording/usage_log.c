/* SPDX-License-Identifier: MIT */
#include "recording/usage_log.h"

#include <string.h>

const struct series_column usage_columns[USAGE_COLUMNS] = {
	[USAGE_RSS] = { "rss", "1MiB", false },
	[USAGE_CPU] = { "cpu", "10ms", true },
	[USAGE_PSS] = { "pss", "1MiB", false },
	[USAGE_PROCESSES] = { "processes", "1", false },
	[USAGE_WRITTEN] = { "written", "1KiB", true },
	[USAGE_READ] = { "read", "1KiB", true },
	[USAGE_DELAY] = { "delay", "1ms", true },
};

void usage_writer_init(struct usage_writer *w, struct usage_slot *written, size_t n_slots,
		       int64_t interval_ms)
{
	memset(written, 0, n_slots * sizeof *written);
	*w = (struct usage_writer){ .written = written, .n_slots = n_slots };
	series_writer_init(&w->clock, NULL, 0, interval_ms);
}

static bool has_values(const struct usage_slot *s)
{
	for (size_t i = 0; i < USAGE_COLUMNS; i++)
		if (s->level[i])
			return true;
	return false;
}

static bool is_same(const struct usage_slot *old, const struct usage_slot *now)
{
	return !strcmp(old->task, now->task) &&
	       !memcmp(old->level, now->level, sizeof now->level);
}

/* A task gets a number only once there is something to say of it. */
static bool has_entry(const struct usage_slot *old, const struct usage_slot *now)
{
	if (!old->task[0])
		return now->task[0] && has_values(now);
	return !is_same(old, now);
}

static void add_entry(struct buf *b, size_t alias, struct usage_slot *old,
		      const struct usage_slot *now)
{
	bool same_task = !strcmp(old->task, now->task);

	buf_addu(b, alias);
	if (same_task) {
		buf_addc(b, ':');
		series_add_values(b, old->level, now->level, USAGE_COLUMNS);
	} else if (now->task[0] && has_values(now)) {
		buf_addc(b, '=');
		buf_adds(b, now->task);
		buf_addc(b, ':');
		series_add_values(b, NULL, now->level, USAGE_COLUMNS);
	} else {
		buf_addc(b, '-');
		memset(old, 0, sizeof *old);
		return;
	}
	*old = *now;
}

static bool any_entry(const struct usage_writer *w, const struct usage_slot *now)
{
	for (size_t i = 0; i < w->n_slots; i++)
		if (has_entry(&w->written[i], &now[i]))
			return true;
	return false;
}

void usage_add(struct usage_writer *w, struct buf *b, int64_t t_us,
	       const struct usage_slot *now, bool force)
{
	bool first = true;
	bool key;

	if (!series_begin(&w->clock, b, t_us, force || any_entry(w, now), &key))
		return;
	if (key)
		memset(w->written, 0, w->n_slots * sizeof *w->written);
	for (size_t i = 0; i < w->n_slots; i++) {
		if (!has_entry(&w->written[i], &now[i]))
			continue;
		if (!first)
			buf_addc(b, ';');
		first = false;
		add_entry(b, i, &w->written[i], &now[i]);
	}
	buf_addc(b, '\n');
}

void usage_lost(struct usage_writer *w)
{
	series_lost(&w->clock);
}
