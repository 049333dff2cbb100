/* SPDX-License-Identifier: MIT */
#include "report/check_replay.h"

#include "base/minmax.h"
#include "render/chart/palette.h"
#include "render/chart/svg.h"
#include "report/amount.h"
#include "report/words_change.h"

/* The picture of check --replay: a cell for the check of each build, and a bar for each regression. */

#define LEFT 330.0		/* labels end here */
#define WIDTH 1000.0
#define MARGIN 14.0
#define ROW 18.0
#define BAR 12.0
#define HEAD 62.0		/* above the first row */
#define FONT 11.0
#define DAY 70.0		/* room of a date */

static const char *const class_of[CHECK_ANSWERS] = {
	[CHECK_PASSES] = "passes", [CHECK_FAILS] = "fails", [CHECK_FAILED_BUILD] = "failed",
	[CHECK_TOO_FEW] = "few",
};
static const char *const name_of[CHECK_ANSWERS] = {
	[CHECK_PASSES] = "passes", [CHECK_FAILS] = "fails", [CHECK_FAILED_BUILD] = "the build failed",
	[CHECK_TOO_FEW] = "too few builds",
};

struct drawing {
	struct markup *m;
	const struct check_replay *c;
	double y, cell;		/* width of a build */
};

static double x_of(const struct drawing *d, uint32_t build)
{
	return LEFT + d->cell * (build - d->c->episodes->first);
}

static void add_text(struct drawing *d, double x, double y, const char *class, const char *text)
{
	markup_open(d->m, "text", class);
	svg_attr_number(d->m, "x", x);
	svg_attr_number(d->m, "y", y);
	markup_text(d->m, text);
	markup_end(d->m);
}

/* A bar over builds [begin, end), with words that a browser shows. */
static void add_bar(struct drawing *d, const char *class, uint32_t begin, uint32_t end, const char *words)
{
	markup_open(d->m, "rect", class);
	svg_attr_number(d->m, "x", x_of(d, begin));
	svg_attr_number(d->m, "y", d->y);
	svg_attr_number(d->m, "width", d->cell * (end - begin));
	svg_attr_number(d->m, "height", BAR);
	markup_leaf(d->m, "title", NULL, words);
	markup_end(d->m);
}

static void add_palette(struct buf *css, const struct palette *p)
{
	buf_addf(css, ".ground{fill:#%06x}text{fill:#%06x}.faint{fill:#%06x}.passes{fill:#%06x}"
		 ".fails{fill:#%06x}.failed{fill:#%06x}.few{fill:#%06x}", p->ground, p->ink, p->faint,
		 p->colour[COLOUR_GREEN], p->colour[COLOUR_RED], p->colour[COLOUR_GREY], p->grid);
}

static void add_style(struct markup *m)
{
	struct buf css = BUF_PART_OF(m->out);

	buf_addf(&css, "text{font:%gpx system-ui,sans-serif}.end{text-anchor:end}", FONT);
	add_palette(&css, &palette_light);
	buf_adds(&css, "@media(prefers-color-scheme:dark){");
	add_palette(&css, &palette_dark);
	buf_addc(&css, '}');
	markup_leaf(m, "style", NULL, buf_str(&css));
	buf_release(&css);
}

static void add_legend(struct drawing *d)
{
	double x = LEFT;

	for (int i = 0; i < CHECK_ANSWERS; i++) {
		markup_open(d->m, "rect", class_of[i]);
		svg_attr_number(d->m, "x", x);
		svg_attr_number(d->m, "y", 31);
		svg_attr_number(d->m, "width", 9);
		svg_attr_number(d->m, "height", 9);
		markup_end(d->m);
		add_text(d, x + 13, 39, "faint", name_of[i]);
		x += 30 + svg_text_width(name_of[i], FONT);
	}
}

static void add_days(struct drawing *d)
{
	const struct episodes *e = d->c->episodes;
	uint32_t n = e->n_builds - e->first, step = (uint32_t)(DAY / d->cell) + 1;
	struct buf day = BUF_PART_OF(d->m->out);

	for (uint32_t b = 0; b < n; b += step) {
		double x = x_of(d, e->first + b);

		if (b && x + DAY > WIDTH)
			break;
		buf_clear(&day);
		words_add_day(&day, d->c->builds, e->first + b);
		add_text(d, x, HEAD - 8, "faint", buf_str(&day));
	}
	buf_release(&day);
}

static void add_answers(struct drawing *d)
{
	const struct episodes *e = d->c->episodes;
	struct buf words = BUF_PART_OF(d->m->out);

	add_text(d, LEFT - 8, d->y + BAR - 2, "end", "the check of each build");
	for (uint32_t b = e->first; b < e->n_builds; ) {
		enum check_answer answer = check_replay_answer(d->c, b);
		uint32_t begin = b;

		while (b < e->n_builds && check_replay_answer(d->c, b) == answer)
			b++;
		buf_clear(&words);
		words_add_day(&words, d->c->builds, begin);
		buf_addf(&words, ", ");
		words_add_count(&words, b - begin, "build", "builds");
		buf_addf(&words, ": %s", name_of[answer]);
		add_bar(d, class_of[answer], begin, b, buf_str(&words));
	}
	d->y += ROW;
	buf_release(&words);
}

static void add_group(struct drawing *d, const struct verdict_groups *groups, size_t i, size_t begin)
{
	const struct verdict_group *g = &groups->group[i];
	const struct episodes *e = d->c->episodes;
	struct buf label = BUF_PART_OF(d->m->out), shown = BUF_PART_OF(d->m->out);
	uint32_t end = 0;

	for (size_t k = 0; k < g->n; k++)
		end = MAX(e->episode[begin + groups->member[g->first + k]].end, end);
	words_add_group(&label, d->c->builds, g);
	buf_addf(&label, ", %s ", metric_word[g->whole.metric]);
	amount_add_share(&label, g->whole.effect);
	svg_add_label(&shown, buf_str(&label), LEFT - 8 - MARGIN, FONT);
	add_text(d, LEFT - 8, d->y + BAR - 2, "end", buf_str(&shown));
	add_bar(d, "fails", e->episode[begin].begin, end, buf_str(&label));
	d->y += ROW;
	buf_release(&label);
	buf_release(&shown);
}

/* The newest of them; returns how many there are. */
static int add_regressions(struct drawing *d, size_t *n)
{
	const struct episodes *e = d->c->episodes;
	int r = 0;

	*n = 0;
	for (size_t end = e->n, begin; !r && end > 0; end = begin) {
		struct verdict_groups groups;
		struct verdict v;

		begin = end - 1;
		while (begin > 0 && e->episode[begin - 1].begin == e->episode[begin].begin)
			begin--;
		r = check_replay_groups(&v, &groups, d->c, begin, end);
		for (size_t i = 0; !r && i < groups.n; i++) {
			if (d->m && *n < d->c->top)
				add_group(d, &groups, i, begin);
			++*n;
		}
		verdict_groups_release(&groups);
		verdict_release(&v);
	}
	return r;
}

int check_replay_svg(struct buf *out, const struct check_replay *c)
{
	const struct episodes *e = c->episodes;
	struct drawing d = { .c = c, .y = HEAD };
	struct buf title = BUF_PART_OF(out);
	struct markup m;
	size_t n;
	int r = add_regressions(&d, &n);
	double height = HEAD + ROW * (double)(1 + MIN(n, c->top)) + (n > c->top ? ROW : 0) + MARGIN;

	if (r)
		return r;
	d.cell = (WIDTH - MARGIN - LEFT) / (e->n_builds - e->first);
	buf_addf(&title, "%s: what check says about each build", c->builds->ref);
	markup_init(&m, out);
	d.m = &m;
	markup_begin(&m, "svg");
	markup_attr(&m, "xmlns", "http://www.w3.org/2000/svg");
	svg_attr_number(&m, "width", WIDTH);
	svg_attr_number(&m, "height", height);
	markup_leaf(&m, "title", NULL, buf_str(&title));
	add_style(&m);
	markup_open(&m, "rect", "ground");
	markup_attr(&m, "width", "100%");
	markup_attr(&m, "height", "100%");
	markup_end(&m);
	add_text(&d, MARGIN, 20, NULL, buf_str(&title));
	add_legend(&d);
	add_days(&d);
	add_answers(&d);
	r = add_regressions(&d, &n);
	if (n > c->top) {
		buf_clear(&title);
		buf_addf(&title, "and %zu more", n - c->top);
		add_text(&d, LEFT - 8, d.y + BAR - 2, "faint end", buf_str(&title));
	}
	markup_end(&m);
	buf_addc(out, '\n');
	buf_release(&title);
	return r ? r : buf_error(out);
}
