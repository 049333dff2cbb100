/* SPDX-License-Identifier: MIT */
#include "render/plot/script.h"

/* The numbers that scripts draw, in units people read: they may be kept. */

static bool same_row(const int64_t *const *value, size_t n_values, size_t a, size_t b)
{
	for (size_t k = 0; k < n_values; k++) {
		if (value[k][a] != value[k][b])
			return false;
	}
	return true;
}

static bool is_absent(const int64_t *const *value, size_t n_values, size_t i)
{
	for (size_t k = 0; k < n_values; k++) {
		if (value[k][i] != BAND_ABSENT)
			return false;
	}
	return true;
}

static void add_cell(struct buf *b, enum axis_unit unit, int64_t value)
{
	buf_addc(b, ' ');
	script_add_value(b, unit, value);
}

static void add_row(struct buf *b, int64_t time_us, const enum axis_unit *unit,
		    const int64_t *const *value, size_t n_values, size_t i)
{
	script_add_value(b, AXIS_TIME, time_us);
	for (size_t k = 0; k < n_values; k++)
		add_cell(b, unit[k], value[k][i]);
	buf_addc(b, '\n');
}

/* Steps: two rows for neighbours of the same values, their beginning and their end.
 * An empty line where nothing is known: lines and areas end there. */
static void add_steps(struct buf *b, const struct pane *p, const enum axis_unit *unit,
		      const int64_t *const *value, size_t n_values)
{
	for (size_t i = 0, end; i < p->n; i = end) {
		for (end = i + 1; end < p->n && same_row(value, n_values, i, end); end++)
			;
		if (is_absent(value, n_values, i)) {
			if (i && end < p->n)
				buf_addc(b, '\n');
			continue;
		}
		add_row(b, pane_time_us(p, i), unit, value, n_values, i);
		add_row(b, pane_time_us(p, end), unit, value, n_values, i);
	}
	/* A block without any row would not count as one. */
	if (is_absent(value, n_values, 0) && same_row(value, n_values, 0, p->n - 1))
		add_row(b, p->from_us, unit, value, n_values, 0);
}

static const char *unit_word(enum axis_unit unit)
{
	switch (unit) {
	case AXIS_SHARE: return "%";
	case AXIS_BYTES: return "bytes";
	case AXIS_BYTES_A_SECOND: return "bytes/s";
	case AXIS_COUNT: return "count";
	case AXIS_TIME: return "s";
	}
	return "";
}

/* "# seconds; user, %; ...": a comment cannot be left by a name without newlines. */
static void add_heading(struct buf *b, const struct pane *p, const enum axis_unit *unit)
{
	buf_addf(b, "# %s\n# seconds", p->title);
	for (size_t i = 0; i < p->n_layers; i++)
		buf_addf(b, "; %s, %s", p->layer[i].label, unit_word(unit[i]));
	buf_addc(b, '\n');
}

static size_t gather_columns(const struct pane *p, enum axis_unit *unit, const int64_t **value)
{
	for (size_t i = 0; i < p->n_layers; i++) {
		unit[i] = p->layer[i].right ? p->right_unit : p->unit;
		value[i] = p->layer[i].value;
	}
	return p->n_layers;
}

void script_add_data(struct buf *b, const struct figure *f)
{
	for (size_t i = 0; i < f->n_panes; i++) {
		const struct pane *p = &f->pane[i];
		enum axis_unit unit[LAYERS_MAX], both[2] = { p->unit, p->unit };
		const int64_t *value[LAYERS_MAX], *const band[2] = { p->low, p->high };
		size_t n = gather_columns(p, unit, value);

		add_heading(b, p, unit);
		add_steps(b, p, unit, value, n);
		buf_adds(b, "\n\n");
		if (!p->low)
			continue;
		buf_addf(b, "# seconds; %s, %s: from, to\n", p->band_label, unit_word(p->unit));
		add_steps(b, p, both, band, 2);
		buf_adds(b, "\n\n");
	}
}

/* A column of text: the most and the limit, where there is one, after the layers. */
static void add_column(struct buf *b, const struct pane *p, const enum axis_unit *unit,
		       const int64_t *const *value, size_t n_values, size_t i)
{
	script_add_value(b, AXIS_TIME, (pane_time_us(p, i) + pane_time_us(p, i + 1)) / 2);
	for (size_t k = 0; k < n_values; k++)
		add_cell(b, unit[k], value[k][i]);
	if (p->high)
		add_cell(b, p->unit, p->high[i]);
	if (p->limit >= 0)
		add_cell(b, p->unit, p->limit);
	buf_addc(b, '\n');
}

void term_add_data(struct buf *b, const struct figure *f)
{
	for (size_t i = 0; i < f->n_panes; i++) {
		const struct pane *p = &f->pane[i];
		enum axis_unit unit[LAYERS_MAX];
		const int64_t *value[LAYERS_MAX];
		size_t n = gather_columns(p, unit, value);

		add_heading(b, p, unit);
		for (size_t j = 0; j < p->n; j++)
			add_column(b, p, unit, value, n, j);
		buf_adds(b, "\n\n");
	}
}
