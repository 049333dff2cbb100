/* SPDX-License-Identifier: MIT */
#include "render/chart/pulse.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>

int pulse_init(struct pulse_source *p, const struct summary *s)
{
	const struct series *series = recording_series(s->rec, "proc_stat");

	*p = (struct pulse_source){ .s = s, .pieces = USED_PIECES_INIT };
	if (!series || series->n < 2 || !s->rec->n_usage)
		return 0;
	p->time_us = array_new(series->n, sizeof *p->time_us);
	if (!p->time_us)
		return -ENOMEM;
	p->n = series->n;
	for (size_t i = 0; i < p->n; i++)
		p->time_us[i] = series->time_ms[i] * 1000;
	return 0;
}

void pulse_release(struct pulse_source *p)
{
	free(p->time_us);
	used_pieces_release(&p->pieces);
	*p = (struct pulse_source){ 0 };
}

/* A piece into the stretches that it is in; the first sample may be of more than its life. */
static void add_piece(double *cpus, size_t n, const struct used_piece *u, int64_t from_us,
		      double stretch_us)
{
	double from = MAX(0.0, (double)(u->from_us - from_us) / stretch_us);
	double until = MIN((double)n, (double)(u->until_us - from_us) / stretch_us);
	double rate = u->amount / (stretch_us * (until - from));

	for (size_t i = (size_t)from; (double)i < until; i++)
		cpus[i] += rate * (MIN(until, (double)(i + 1)) - MAX(from, (double)i));
}

int pulse_fill(uint8_t *level, size_t *n, size_t most, struct pulse_source *p, uint32_t task)
{
	const struct task *t = &p->s->rec->task[task];
	int64_t end_us = recording_task_end_us(p->s->rec, t);
	double cpus[PULSE_MOST] = { 0 }, stretch_us;
	size_t first, samples;
	int r;

	*n = 0;
	if (!p->n || !t->n_usage || t->hosts || end_us <= t->start_us)
		return 0;
	first = curve_first_after(p->time_us, 0, p->n, t->start_us);
	samples = curve_first_after(p->time_us, first, p->n, end_us) - first;
	if (samples < PULSE_SAMPLES_MIN)
		return 0;
	r = used_task_pieces(&p->pieces, p->s, USED_CPU, p->time_us, p->n, task);
	if (r)
		return r;
	*n = MIN(MIN(samples, most), PULSE_MOST);
	stretch_us = (double)(end_us - t->start_us) / (double)*n;
	for (size_t i = 0; i < p->pieces.n; i++)
		add_piece(cpus, *n, &p->pieces.piece[i], t->start_us, stretch_us);
	for (size_t i = 0; i < *n; i++) {
		double v = cpus[i] * PULSE_CPU + .5;

		level[i] = v > PULSE_LEVEL_MAX ? PULSE_LEVEL_MAX : (uint8_t)v;
	}
	return 0;
}
