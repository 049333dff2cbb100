/* SPDX-License-Identifier: MIT */
#include "render/plot/script.h"

#include "render/plot/sheet.h"

/*
 * The script of a picture. Everything has its place in pixels from the top left, so
 * that the plots below each other line up and every legend is complete.
 */
#define HEAD 66
#define PLOT_FIRST 250
#define PLOT_NEXT 190
#define TITLE_LINE 26
#define LEGEND_LINE 19
#define NOTE_LINE 18
#define BELOW 44		/* the time axis, and air */
#define FOOT 6
#define AIR 5			/* between a legend and its plot */

#define BAND_RGB 0xc9ced6

/* What a legend shows in front of its text. */
enum swatch { SWATCH_AREA, SWATCH_LINE, SWATCH_LIMIT, SWATCH_MOMENT };

/* Areas are lighter than lines. */
static uint32_t area_colour(uint32_t rgb)
{
	unsigned part = 90, mixed = 0;

	for (unsigned shift = 0; shift < 24; shift += 8) {
		unsigned c = rgb >> shift & 0xff, ground = palette_light.ground >> shift & 0xff;

		mixed |= (c * part + ground * (100 - part)) / 100 << shift;
	}
	return mixed;
}

/* Legends */

struct legend {
	const struct sheet *sheet;
	int y;			/* middle of its first line */
	unsigned columns, n;
};

static int entry_x(const struct legend *l)
{
	int width = SHEET_WIDTH - SHEET_LEFT - SHEET_RIGHT;

	return SHEET_LEFT + (int)(l->n % l->columns) * (width / (int)l->columns);
}

static int entry_y(const struct legend *l)
{
	return l->y + (int)(l->n / l->columns) * LEGEND_LINE;
}

static void add_corners(const struct legend *l, int left, int right, int half)
{
	const struct sheet *s = l->sheet;

	sheet_add_x(s, entry_x(l) + left);
	buf_adds(s->out, ", ");
	sheet_add_y(s, entry_y(l) + half);
	buf_adds(s->out, " to ");
	sheet_add_x(s, entry_x(l) + right);
	buf_adds(s->out, ", ");
	sheet_add_y(s, entry_y(l) - half);
}

static void add_swatch(const struct legend *l, enum swatch swatch, uint32_t rgb)
{
	struct buf *b = l->sheet->out;

	if (swatch == SWATCH_AREA) {
		buf_adds(b, "set object rectangle from ");
		add_corners(l, 0, 12, 6);
		buf_adds(b, " fillcolor ");
		sheet_add_colour(b, rgb);
		buf_adds(b, " fillstyle solid 1 border linecolor ");
		sheet_add_colour(b, palette_light.outline);
	} else {
		buf_adds(b, "set arrow from ");
		add_corners(l, swatch == SWATCH_MOMENT ? 6 : -1, swatch == SWATCH_MOMENT ? 6 : 14,
			    swatch == SWATCH_MOMENT ? 7 : 0);
		buf_adds(b, " nohead linecolor ");
		sheet_add_colour(b, rgb);
		buf_adds(b, swatch == SWATCH_LIMIT ? " linewidth 1.5 dashtype 2" :
			 swatch == SWATCH_MOMENT ? " linewidth 1.5 dashtype 3" : " linewidth 2");
	}
	buf_addc(b, '\n');
}

static void add_entry(struct legend *l, enum swatch swatch, uint32_t rgb, const char *label,
		      const char *values)
{
	char text[2 * PAGE_TEXT];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	buf_adds(&b, label);
	buf_adds(&b, *values ? ": " : "");
	buf_adds(&b, values);
	add_swatch(l, swatch, rgb);
	sheet_add_label(l->sheet, text, entry_x(l) + 20, entry_y(l), 12, palette_light.ink);
	l->n++;
}

static void add_legend(const struct sheet *s, const struct pane *p, int y)
{
	struct legend l = { s, y, p->legend_columns, 0 };
	char text[32];
	struct buf b;

	for (size_t i = 0; i < p->n_layers; i++) {
		const struct layer *layer = &p->layer[i];
		bool line = layer->mark == MARK_LINE;

		add_entry(&l, line ? SWATCH_LINE : SWATCH_AREA,
			  line ? layer->rgb : area_colour(layer->rgb), layer->label,
			  layer->values);
	}
	if (p->low)
		add_entry(&l, SWATCH_AREA, BAND_RGB, p->band_label, "");
	if (p->limit >= 0) {
		buf_init_fixed(&b, text, sizeof text);
		axis_add_value(&b, p->unit, p->limit);
		add_entry(&l, SWATCH_LIMIT, palette_light.ink, p->limit_label, buf_str(&b));
	}
	if (p->mark_us >= 0)
		add_entry(&l, SWATCH_MOMENT, palette_light.ink, "peak", p->mark_label);
}

static int legend_height(const struct pane *p)
{
	int n = (int)p->n_layers + (p->low != NULL) + (p->limit >= 0) + (p->mark_us >= 0);
	int columns = (int)p->legend_columns;

	return (n + columns - 1) / columns * LEGEND_LINE;
}

/* Places */

static int plot_height(const struct sheet *s, size_t pane)
{
	return pane == 0 || s->page->chart == PLOT_MEMORY ? PLOT_FIRST : PLOT_NEXT;
}

static int above_plot(const struct pane *p)
{
	return TITLE_LINE + legend_height(p) + (*p->note ? NOTE_LINE : 0) + AIR;
}

static int sheet_height(const struct sheet *s)
{
	int height = HEAD + FOOT + (*s->page->note ? NOTE_LINE : 0);

	for (size_t i = 0; i < s->page->n_panes; i++)
		height += above_plot(&s->page->pane[i]) + plot_height(s, i) + BELOW;
	return height;
}

/* Axes */

static void add_range(const struct sheet *s, const char *axis, enum axis_unit unit, int64_t from,
		      int64_t until)
{
	buf_addf(s->out, "set %srange [", axis);
	sheet_add_value(s->out, unit, from);
	buf_addc(s->out, ':');
	sheet_add_value(s->out, unit, until);
	buf_adds(s->out, "]\n");
}

static void add_axes(const struct sheet *s, const struct pane *p)
{
	struct buf *b = s->out;

	add_range(s, "x", AXIS_TIME, p->from_us, p->until_us);
	add_range(s, "y", p->unit, 0, p->ceiling);
	buf_adds(b, "set xtics ");
	sheet_add_time_ticks(b, p, 12);
	buf_adds(b, "\nset ytics ");
	sheet_add_ticks(b, p->unit, p->ceiling, 6);
	buf_addf(b, "\nset border %d\n", p->right_ceiling ? 11 : 3);
	if (!p->right_ceiling) {
		buf_adds(b, "unset y2tics\n");
		return;
	}
	add_range(s, "y2", p->right_unit, 0, p->right_ceiling);
	buf_adds(b, "set y2tics ");
	sheet_add_ticks(b, p->right_unit, p->right_ceiling, 6);
	buf_adds(b, " out scale 0.5 textcolor ");
	sheet_add_colour(b, palette_light.ink);
	buf_addc(b, '\n');
}

/* A dashed line across a plot: of the limit, or with moment at the marked time. */
static void add_mark(const struct sheet *s, const struct pane *p, bool moment)
{
	enum axis_unit unit = moment ? AXIS_TIME : p->unit;
	int64_t at = moment ? p->mark_us : p->limit;
	struct buf *b = s->out;

	if (at < (moment ? p->from_us : 0) || at > (moment ? p->until_us : p->ceiling))
		return;
	buf_adds(b, moment ? "set arrow from first " : "set arrow from graph 0, first ");
	sheet_add_value(b, unit, at);
	buf_adds(b, moment ? ", graph 0 to first " : " to graph 1, first ");
	sheet_add_value(b, unit, at);
	buf_addf(b, "%s nohead front linewidth 1.5 dashtype %d linecolor ",
		 moment ? ", graph 1" : "", moment ? 3 : 2);
	sheet_add_colour(b, palette_light.ink);
	buf_addc(b, '\n');
}

/* Plots */

static void add_source(const struct sheet *s, size_t block)
{
	buf_addf(s->out, "'%s.data' index %zu using 1:", plot_word[s->page->chart], block);
}

/* A column of the data, or those of the stack from the first up to it. */
static void add_column(struct buf *b, const struct pane *p, size_t layer)
{
	const char *between = "(";

	if (p->layer[layer].mark != MARK_STACK) {
		buf_addf(b, "%zu", layer + 2);
		return;
	}
	for (size_t i = 0; i <= layer; i++) {
		if (p->layer[i].mark != MARK_STACK)
			continue;
		buf_addf(b, "%s$%zu", between, i + 2);
		between = "+";
	}
	buf_addc(b, ')');
}

static void end_curve(const struct sheet *s, const char *title)
{
	buf_adds(s->out, " title ");
	sheet_add_text(s->out, title);
	buf_adds(s->out, ", \\\n\t");
}

/* The curves from back to front: the largest values, areas, a pale veil above the smallest
 * values, edges of areas, lines. An area of a stack goes up to the sum of all below. Edges are
 * needed because some colours are too pale for white. */
static void add_curves(const struct sheet *s, const struct pane *p, size_t block)
{
	if (p->low) {
		add_source(s, block + 1);
		buf_adds(s->out, "3 with filledcurves y=0 fillstyle solid 1 noborder fillcolor ");
		sheet_add_colour(s->out, BAND_RGB);
		end_curve(s, p->band_label);
	}
	for (size_t i = p->n_layers; i-- > 0; ) {
		if (p->layer[i].mark == MARK_LINE)
			continue;
		add_source(s, block);
		add_column(s->out, p, i);
		buf_adds(s->out, " with filledcurves y=0 fillstyle solid 1 noborder fillcolor ");
		sheet_add_colour(s->out, area_colour(p->layer[i].rgb));
		end_curve(s, p->layer[i].label);
	}
	if (p->low) {
		add_source(s, block + 1);
		buf_addf(s->out, "2:3 with filledcurves fillstyle solid 1 noborder fillcolor rgb "
			 "'#a0%06x'", (unsigned)palette_light.ground);
		end_curve(s, p->band_label);
	}
	/* no edges of values that change with every pixel */
	for (size_t i = 0; i < p->n_layers && !p->low; i++) {
		if (p->layer[i].mark == MARK_LINE)
			continue;
		add_source(s, block);
		add_column(s->out, p, i);
		buf_adds(s->out, " with lines linewidth 0.5 linecolor ");
		sheet_add_colour(s->out, palette_light.outline);
		buf_adds(s->out, " notitle, \\\n\t");
	}
	for (size_t i = 0; i < p->n_layers; i++) {
		const struct layer *l = &p->layer[i];

		if (l->mark != MARK_LINE)
			continue;
		add_source(s, block);
		add_column(s->out, p, i);
		buf_addf(s->out, " axes x1y%d with lines linewidth 1.5 linecolor ",
			 l->right ? 2 : 1);
		sheet_add_colour(s->out, l->rgb);
		end_curve(s, l->label);
	}
}

static int add_pane(const struct sheet *s, size_t i, int y, size_t block)
{
	const struct pane *p = &s->page->pane[i];
	int top = y + above_plot(p), bottom = top + plot_height(s, i);

	buf_adds(s->out, "\n# ");
	buf_adds(s->out, p->title);
	buf_addc(s->out, '\n');
	sheet_add_label(s, p->title, SHEET_LEFT, y + 6, 14, palette_light.ink);
	add_legend(s, p, y + TITLE_LINE + 3);
	if (*p->note)
		sheet_add_label(s, p->note, SHEET_LEFT, top - AIR - NOTE_LINE / 2, 12,
				palette_light.faint);
	sheet_add_margins(s, top, bottom);
	add_axes(s, p);
	add_mark(s, p, false);
	add_mark(s, p, true);
	buf_adds(s->out, "plot ");
	add_curves(s, p, block);
	/* so that there is something even where nothing is known */
	buf_adds(s->out, "0 with lines linewidth 1 linecolor ");
	sheet_add_colour(s->out, palette_light.faint);
	buf_adds(s->out, " notitle\nunset label\nunset object\nunset arrow\n");
	return bottom + BELOW;
}

/* Head */

void script_add(struct buf *b, const struct plot_page *page, enum plot_format format)
{
	struct sheet s = { .out = b, .word = plot_word[page->chart], .format = format, .page = page };
	size_t block = 0;
	int y = HEAD;

	s.height = sheet_height(&s);
	sheet_add_terminal(&s);
	sheet_add_settings(&s);
	sheet_add_label(&s, page->title, SHEET_LEFT, 20, 18, palette_light.ink);
	sheet_add_label(&s, page->subtitle, SHEET_LEFT, 42, 12, palette_light.faint);
	if (*page->note)
		sheet_add_label(&s, page->note, SHEET_LEFT, s.height - FOOT - NOTE_LINE / 2, 12,
			  palette_light.faint);
	for (size_t i = 0; i < page->n_panes; i++) {
		y = add_pane(&s, i, y, block);
		block += page->pane[i].low ? 2 : 1;
	}
	buf_adds(b, "unset multiplot\n");
}

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
	sheet_add_value(b, unit, value);
}

static void add_row(struct buf *b, int64_t time_us, const enum axis_unit *unit,
		    const int64_t *const *value, size_t n_values, size_t i)
{
	sheet_add_value(b, AXIS_TIME, time_us);
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
		add_row(b, plot_page_time_us(p, i), unit, value, n_values, i);
		add_row(b, plot_page_time_us(p, end), unit, value, n_values, i);
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

void script_add_data(struct buf *b, const struct plot_page *page)
{
	for (size_t i = 0; i < page->n_panes; i++) {
		const struct pane *p = &page->pane[i];
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

/* For the terminal, a column of text: the layers, then the largest value and the limit, if any. */
static void add_text_column(struct buf *b, const struct pane *p, const enum axis_unit *unit,
		       const int64_t *const *value, size_t n_values, size_t i)
{
	sheet_add_value(b, AXIS_TIME, (plot_page_time_us(p, i) + plot_page_time_us(p, i + 1)) / 2);
	for (size_t k = 0; k < n_values; k++)
		add_cell(b, unit[k], value[k][i]);
	if (p->high)
		add_cell(b, p->unit, p->high[i]);
	if (p->limit >= 0)
		add_cell(b, p->unit, p->limit);
	buf_addc(b, '\n');
}

void script_add_term_data(struct buf *b, const struct plot_page *page)
{
	for (size_t i = 0; i < page->n_panes; i++) {
		const struct pane *p = &page->pane[i];
		enum axis_unit unit[LAYERS_MAX];
		const int64_t *value[LAYERS_MAX];
		size_t n = gather_columns(p, unit, value);

		add_heading(b, p, unit);
		for (size_t j = 0; j < p->n; j++)
			add_text_column(b, p, unit, value, n, j);
		buf_adds(b, "\n\n");
	}
}
