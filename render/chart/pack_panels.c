/* SPDX-License-Identifier: MIT */
#include "render/chart/pack_panels.h"

#include "render/chart/pack_tasks.h"

/* A plot is a hundred pixels high; many samples make do with less than few. */
#define STEPS_FINE 1000
#define STEPS_COARSE 250
#define FINE_MAX 10000

static void add_times(struct packed_panel *out, const struct panel *p, double per_us)
{
	for (size_t i = 0; i < p->n; i++) {
		numbers_adds(&out->time, to_unit(per_us, p->time_us[i]));
		if (p->gap[i])
			numbers_adds(&out->gap, (int32_t)i);
	}
}

static inline uint32_t step_of(int64_t value, double per_value, uint32_t steps)
{
	double v = (double)value * per_value + .5;

	if (value == BAND_ABSENT)
		return 0;
	return 1 + (v < 0 ? 0 : v > steps ? steps : (uint32_t)v);
}

/* As they are and as changes; the shorter is kept. */
static void add_band(struct numbers *c, const struct panel *p, const struct band *b, uint32_t steps)
{
	int64_t ceiling = b->right ? p->right_ceiling : p->ceiling;
	double per_value = steps / (double)(ceiling > 0 ? ceiling : 1);
	struct numbers changes;

	numbers_init(&changes, 'd');
	for (size_t i = 0; i < p->n; i++) {
		uint32_t v = step_of(b->value[i], per_value, steps);

		numbers_add(c, v);
		numbers_adds(&changes, (int32_t)v);
	}
	numbers_flush(c);
	numbers_flush(&changes);
	if (changes.out.len < c->out.len && !buf_error(&changes.out)) {
		struct numbers longer = *c;

		*c = changes;
		changes = longer;
	}
	numbers_release(&changes);
}

int packed_panel_make(struct packed_panel *out, const struct panel *p, int64_t unit_us)
{
	int r;

	out->steps = p->n > FINE_MAX ? STEPS_COARSE : STEPS_FINE;
	numbers_init(&out->time, 'd');
	numbers_init(&out->gap, 'd');
	for (size_t i = 0; i < PANEL_BANDS_MAX; i++)
		numbers_init(&out->band[i], 'u');
	if (!panel_is_packed(p))
		return 0;
	add_times(out, p, 1 / (double)unit_us);
	numbers_flush(&out->time);
	numbers_flush(&out->gap);
	r = buf_error(&out->time.out);
	r = r ? r : buf_error(&out->gap.out);
	for (size_t i = 0; !r && i < p->n_bands; i++) {
		add_band(&out->band[i], p, &p->band[i], out->steps);
		r = buf_error(&out->band[i].out);
	}
	return r;
}

void packed_panel_release(struct packed_panel *p)
{
	numbers_release(&p->time);
	numbers_release(&p->gap);
	for (size_t i = 0; i < PANEL_BANDS_MAX; i++)
		numbers_release(&p->band[i]);
}
