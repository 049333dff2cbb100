/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/buf.h"
#include "base/text.h"
#include "recording/layout.h"
#include "recording/reader.h"
#include "recording/suspended.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void move(const struct suspended *parts, int64_t *time_us)
{
	*time_us = suspended_move(parts, *time_us);
}

static void move_ms(const struct suspended *parts, int64_t *time_ms)
{
	*time_ms = suspended_move_ms(parts, *time_ms);
}

static void move_tasks(const struct suspended *parts, struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];

		move(parts, &t->queued_us);
		move(parts, &t->start_us);
		move(parts, &t->end_us);
		move_ms(parts, &t->peak_ms);
		if (t->n_usage)
			t->still_ms = (uint32_t)suspended_move_ms(parts, t->still_ms);
	}
	for (size_t i = 0; i < rec->n_instances; i++) {
		move(parts, &rec->instance[i].open_us);
		move(parts, &rec->instance[i].close_us);
	}
	for (size_t i = 0; i < rec->n_spans; i++) {
		move(parts, &rec->span[i].begin_us);
		move(parts, &rec->span[i].end_us);
	}
	for (size_t i = 0; i < rec->n_notes; i++)
		move(parts, &rec->note[i].time_us);
	for (size_t i = 0; i < rec->n_usage; i++)
		move_ms(parts, &rec->usage[i].time_ms);
	for (size_t i = 0; i < rec->n_memory; i++)
		move_ms(parts, &rec->memory[i].time_ms);
}

/* What a counter of the machine grew meanwhile is left out, too. The counters of the build's control group
 * and of the sampler did not grow. */
struct counters {
	const struct series *of;
	int64_t time_ms, *before;	/* of the last sample that was not dropped, as recorded */
	int64_t *out;		/* what was left out of the levels so far */
};

static void move_counters(struct counters *c, int64_t *level, int64_t time_ms, int64_t out_ms)
{
	double share = time_ms > c->time_ms ? (double)out_ms / (double)(time_ms - c->time_ms) : 0;

	for (size_t k = 0; k < c->of->n_columns; k++) {
		int64_t now = level[k];

		if (!c->of->column[k].counter || now < 0)
			continue;
		if (now < c->before[k])
			c->out[k] = 0;
		else if (c->before[k] >= 0)
			c->out[k] += (int64_t)((double)(now - c->before[k]) * share);
		level[k] = now - c->out[k];
		c->before[k] = now;
	}
	c->time_ms = time_ms;
}

/* Samples that were taken meanwhile are dropped; what happened up to the next one is unknown. */
static int move_series(const struct suspended *parts, struct series *s)
{
	struct counters c = { .of = s, .before = array_new_zero(2 * s->n_columns, sizeof *c.before) };
	bool of_machine = strcmp(s->name, "proc_cgroup") && strcmp(s->name, "proc_own");
	size_t n = 0;
	int64_t out_ms = 0;

	if (!c.before)
		return -ENOMEM;
	c.out = c.before + s->n_columns;
	for (size_t i = 0; i < s->n; i++) {
		int64_t time_ms = s->time_ms[i];
		bool later;

		move_ms(parts, &time_ms);
		later = s->time_ms[i] - time_ms > out_ms;
		if (n && time_ms <= s->time_ms[n - 1])
			continue;
		if (of_machine)
			move_counters(&c, &s->level[i * s->n_columns], s->time_ms[i],
				      n ? s->time_ms[i] - time_ms - out_ms : 0);
		out_ms = s->time_ms[i] - time_ms;
		s->time_ms[n] = time_ms;
		s->gap[n] = s->gap[i] || (later && n);
		memmove(&s->level[n * s->n_columns], &s->level[i * s->n_columns],
			s->n_columns * sizeof *s->level);
		n++;
	}
	s->n = n;
	free(c.before);
	return 0;
}

/* Other readers of `build` see the same end. */
static int move_end(const struct suspended *parts, struct reader *r)
{
	struct recording *rec = r->rec;
	char text[32];
	struct buf b;

	move(parts, &rec->end_us);
	move(parts, &rec->last_us);
	buf_init_fixed(&b, text, sizeof text);
	buf_addi(&b, rec->end_us);
	for (size_t i = 0; i < rec->n_build; i++) {
		if (strcmp(rec->build[i].key, "end_us") || rec->end_us < 0)
			continue;
		rec->build[i].value = arena_text(rec->arena, text, b.len);
		if (!rec->build[i].value)
			return -ENOMEM;
	}
	return 0;
}

static int warn(const struct suspended *parts, struct reader *r)
{
	char text[64];
	struct buf b;
	int error;

	buf_init_fixed(&b, text, sizeof text);
	if (parts->open) {
		text_add_time(&b, parts->since_us - parts->sum_us);
		error = reader_warn(r, "the build was suspended after %s and has not continued; all times leave that out",
				    buf_str(&b));
		if (error || !parts->n)
			return error;
		buf_init_fixed(&b, text, sizeof text);
	}
	text_add_time(&b, parts->sum_us);
	return reader_warn(r, "the build was suspended for %s; all times leave that out",
			   buf_str(&b));
}

int reader_leave_out_suspended(struct reader *r)
{
	struct recording *rec = r->rec;
	struct suspended parts = SUSPENDED_INIT, ended;
	int error = 0;

	if (!recording_build(rec, LAYOUT_SUSPENDED))
		return 0;
	error = suspended_find(&parts, rec);
	ended = suspended_ended(&parts);
	if (!error && (parts.n || parts.open)) {
		move_tasks(&ended, rec);
		for (size_t i = 0; !error && i < rec->n_series; i++)
			error = move_series(&parts, &rec->series[i]);
		if (!error)
			error = move_end(&parts, r);
		if (!error)
			error = warn(&parts, r);
	}
	suspended_release(&parts);
	return error;
}
