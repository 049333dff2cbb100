/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/text.h"
#include "render/chart/chart.h"
#include "render/chart/legend.h"
#include "render/chart/svg.h"
#include "tests/compared.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Places in the bootchart: for any recording, nothing overlaps or is outside the picture. */

#define HEIGHT_MAX 1800		/* of any chart */
#define TIME_MAX 400		/* the axis of the tasks is on the first screen */

static const struct build {
	const char *path;	/* of a recording, or NULL: n tasks at random */
	unsigned n;
	uint64_t seed;
} builds[] = {
	{ .path = "nested" }, { .path = "cut" }, { .path = "empty" },
	{ .n = 0, .seed = 1 }, { .n = 1, .seed = 2 }, { .n = 7, .seed = 3 },
	{ .n = 100, .seed = 4 }, { .n = 3000, .seed = 5 },
};

#define BUILDS (int)ARRAY_SIZE(builds)

static void get(struct recorded *r, const struct build *b)
{
	if (b->path)
		recorded_read(r, support_path("%s/tests/data/recordings/%s", TOP_SRCDIR, b->path));
	else
		recorded_random(r, b->n, b->seed);
}

static struct compared compared_with;

static void make(struct chart *c, const struct recorded *r, enum lanes_by by,
		 const struct recorded *other)
{
	struct panels panels;
	struct chart_input in = {
		.sum = &r->sum, .panels = &panels, .by = by,
		.other = compared_make(&compared_with, other ? &other->sum : NULL, &r->sum),
	};

	ck_assert_int_eq(panels_make(&panels, &r->sum), 0);
	ck_assert_int_eq(chart_make(c, &in), 0);
}

/* With the panels that make() made. */
static void release(struct chart *c)
{
	RELEASED(panels, panels = c->panels);

	chart_release(c);
	compared_release(&compared_with);
}

static double safe_width(const char *text, double size)
{
	struct buf b = BUF_INIT;
	double width;

	text_add_name(&b, text, 0);
	width = svg_text_width(buf_str(&b), size);
	buf_release(&b);
	return width;
}

/* Keys from left to right in lines, within [left, right] and [top, bottom]. */
static void check_legend(const struct legend *l, int left, int right, int top, int bottom)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct key *k = &l->key[i];
		double width = (k->id ? LEGEND_SWATCH : 0) + safe_width(k->label, LEGEND_SIZE) +
			(k->values ? safe_width(k->values, LEGEND_SIZE) : 0);

		ck_assert_int_ge(k->x, left);
		ck_assert_int_le(k->x + k->width, right);
		ck_assert_int_ge(k->y, top);
		ck_assert_int_le(k->y, bottom);
		ck_assert(k->width >= width || k->width == right - left);
		if (i && l->key[i - 1].y == k->y)
			ck_assert_int_gt(k->x, l->key[i - 1].x + l->key[i - 1].width);
		else if (i)
			ck_assert_int_ge(k->y, l->key[i - 1].y + LEGEND_SIZE);
	}
}

/* Returns the last baseline. */
static int check_facts(const struct chart *c)
{
	int bottom = CHART_HEADLINE_Y;

	ck_assert_uint_gt(c->n_facts, 0);
	ck_assert_ptr_null(c->fact[0].label);
	for (size_t i = 1; i < c->n_facts; i++) {
		const struct fact *f = &c->fact[i];

		ck_assert_str_ne(f->text, "");
		if (!strcmp(f->label, CHART_RESULT))
			continue;
		ck_assert_int_ge(f->x, CHART_MARGIN);
		ck_assert_int_gt(f->text_x, f->x);
		ck_assert_int_gt(f->width, 0);
		ck_assert_int_le(f->text_x + f->width, CHART_WIDTH - CHART_MARGIN);
		ck_assert_int_gt(f->y - FACT_SIZE, CHART_HEADLINE_Y);
		for (size_t k = 1; k < i; k++) {
			const struct fact *g = &c->fact[k];

			ck_assert_msg(g->y + FACT_SIZE <= f->y || f->y + FACT_SIZE <= g->y ||
				      g->text_x + g->width < f->x || f->text_x + f->width < g->x,
				      "%s upon %s", f->label, g->label);
		}
		bottom = f->y > bottom ? f->y : bottom;
	}
	return bottom;
}

/* The sentences, whole and in order. Returns the last baseline. */
static int check_verdict(const struct chart *c, int bottom)
{
	size_t sentence = 0;
	const char *next = NULL;

	for (size_t i = 0; i < c->n_verdict; i++) {
		const struct verdict_line *l = &c->verdict[i];

		ck_assert_int_ge(l->y, bottom + VERDICT_SIZE);
		bottom = l->y;
		if (l->first) {
			ck_assert(!next || !*next);
			next = c->answer.sentence[sentence++].text;
		}
		ck_assert_ptr_eq(l->text, next);
		next += l->len;
		next += *next == ' ';
		ck_assert_double_le(svg_text_width(support_path("%.*s", (int)l->len, l->text),
						   VERDICT_SIZE),
				    CHART_WIDTH - 2 * CHART_MARGIN - VERDICT_INDENT);
	}
	ck_assert(c->n_verdict == VERDICT_LINES_MAX || sentence == c->answer.n);
	return bottom;
}

static int check_path(const struct chart *c, int bottom)
{
	ck_assert_int_eq(!c->path_title, !c->chain.n_path);
	if (!c->path_title)
		return bottom;
	ck_assert_int_ge(c->path_title_y, bottom + 12);
	ck_assert_int_gt(c->path_place.y, c->path_title_y);
	ck_assert_int_ge(c->path_place.height, 12);
	return c->path_place.y + c->path_place.height;
}

static int check_panels(const struct chart *c, int bottom)
{
	for (size_t i = 0; i < c->panels.n; i++) {
		const struct place *p = &c->panel_place[i];

		ck_assert_int_eq(p->height > 0, chart_draws_panel(c, &c->panels.panel[i]));
		if (!p->height)
			continue;
		ck_assert_int_ge(p->title_y, bottom + 12);
		ck_assert_int_gt(p->y, p->title_y);
		ck_assert_int_ge(p->height, 24);
		check_legend(&c->panel_legend[i], c->plot_x, c->plot_x + c->plot_width,
			     p->title_y, p->y - 3);
		bottom = p->y + p->height;
	}
	return bottom;
}

static void check_rows(const struct chart *c)
{
	int y = c->lanes_y;
	double below = 0;

	for (size_t i = 0; i < c->lanes.n_rows; i++) {
		ck_assert_int_eq(c->row_place[i].y, y);
		ck_assert_int_ge(c->row_place[i].height, 12);
		y += c->row_place[i].height;
	}
	if (c->lanes.n_rows)
		ck_assert_int_eq(c->lanes_height, y - c->lanes_y);
	for (uint32_t i = 0; i < c->lanes.n_lanes; i++) {
		struct lane_place p = chart_lane(c, i);

		ck_assert_double_gt(p.height, 0);
		ck_assert_double_ge(p.y - p.bracket, below - 1e-9);
		ck_assert_double_ge(p.y - p.bracket, c->lanes_y);
		ck_assert_double_le(p.gauge + p.phases, p.height);
		below = p.y + p.height;
		ck_assert_double_le(below, c->lanes_y + c->lanes_height + 1e-9);
	}
}

static void check_chart(const struct chart *c)
{
	int bottom = check_path(c, check_verdict(c, check_facts(c)));

	ck_assert_int_ge(c->plot_x, 80);
	ck_assert_int_le(c->plot_x + c->plot_width, CHART_WIDTH - CHART_MARGIN);
	ck_assert_int_ge(c->plot_width, CHART_WIDTH / 2);
	ck_assert_int_ge(c->time_y, bottom + 10);
	ck_assert_int_le(c->time_y, TIME_MAX);
	ck_assert_int_gt(c->lanes_y, c->time_y);
	check_rows(c);
	ck_assert_int_ge(c->time_end_y, c->lanes_y + c->lanes_height + 10);
	bottom = check_panels(c, c->time_end_y);
	check_legend(&c->kinds, c->plot_x, CHART_WIDTH - CHART_MARGIN, bottom + 12, c->height);
	check_legend(&c->marks, c->plot_x, CHART_WIDTH - CHART_MARGIN,
		     c->kinds.n ? c->kinds.key[c->kinds.n - 1].y + 10 : 0, c->height);
	ck_assert_int_le(c->height, HEIGHT_MAX);
	ck_assert_int_gt(c->end_us, 0);
}

TEST_LOOP(places, BUILDS * LANES_BY)
{
	RELEASED(recorded, r);
	struct chart c;

	get(&r, &builds[_i % BUILDS]);
	make(&c, &r, (enum lanes_by)(_i / BUILDS), NULL);
	check_chart(&c);
	ck_assert_int_ge(c.end_us, r.sum.wall_us);
	ck_assert_uint_le(c.pieces.n, CHART_PIECES_MAX);
	release(&c);
}

TEST_LOOP(compared, BUILDS * BUILDS)
{
	RELEASED(recorded, r, other);
	struct chart c;

	get(&r, &builds[_i % BUILDS]);
	get(&other, &builds[_i / BUILDS]);
	make(&c, &r, LANES_WORKER, &other);
	check_chart(&c);
	ck_assert_int_ge(c.end_us, r.sum.wall_us);
	ck_assert_int_ge(c.end_us, other.sum.wall_us);
	for (size_t i = 0; i < c.panels.n; i++) {
		const struct panel *p = panels_find(&c.ghost_panels, c.panels.panel[i].id);

		ck_assert(!p || c.panels.panel[i].ceiling >= p->ceiling);
	}
	release(&c);
}

/* The longest names and texts fit. */
TEST(long_texts)
{
	RELEASED(buf, build = BUF_INIT, tasks = BUF_INIT);
	RELEASED(recorded, r);
	struct chart c;

	for (const char *const *key = (const char *const[]){ "command", "host", "cwd", "kernel",
	     "branch", "revision", NULL }; *key; key++) {
		buf_adds(&build, *key);
		buf_adds(&build, ": ");
		for (int i = 0; i < 600; i++)
			buf_adds(&build, "W<");
		buf_addc(&build, '\n');
	}
	buf_adds(&tasks, "open\t0\tt\t1\t0\t1\tmake\t4.3\t/src\tmake\n");
	for (int i = 1; i <= 60; i++) {
		buf_addf(&tasks, "start\t%d\tt.%d\t%d\t\tkind", i, i, i);
		for (int k = 0; k < i * 10; k++)
			buf_addc(&tasks, 'W');
		buf_addf(&tasks, "\tname\tcc\ndone\t%d\tt.%d\t0\n", 1000 + i, i);
	}
	recorded_make(&r, buf_str(&build), buf_str(&tasks), NULL);
	ck_assert_uint_eq(r.rec.n_tasks, 60);
	make(&c, &r, LANES_KIND, NULL);
	check_chart(&c);
	ck_assert_uint_eq(c.kinds.n, COLOURS);
	ck_assert_ptr_nonnull(strstr(c.kinds.key[COLOURS - 1].label, "everything else: "));
	release(&c);
}

static const char *fact_text(const struct chart *c, const char *label)
{
	for (size_t i = 1; i < c->n_facts; i++) {
		if (!strcmp(c->fact[i].label, label))
			return c->fact[i].text;
	}
	return NULL;
}

TEST(facts)
{
	static const struct { const char *label, *text; } expected[] = {
		{ "result", "failed with exit status 2 after 10.0 s" },
		{ "CPU time", "the build 7.00 s \xc2\xb7 35 % of 2 cores \xc2\xb7 other processes 19 %" },
		{ "tasks", "9 for 7 targets \xc2\xb7 1 failed \xc2\xb7 1 killed \xc2\xb7 "
		  "1 unfinished \xc2\xb7 1 never started" },
		{ "tasks at once", "1.1 on average \xc2\xb7 2 at most" },
		{ "samples", "7 \xc2\xb7 one every 1 s \xc2\xb7 1 gap" },
		{ "disk", "the machine 74 KiB read \xc2\xb7 2.5 MiB written" },
		{ "host", "forge \xc2\xb7 2 cores \xc2\xb7 8.0 GiB \xc2\xb7 Linux 6.1.0" },
		{ "directory", "/src/app" },
		{ "compared with", "make -j2 all doc \xc2\xb7 10.0 s there, 10.0 s here (+0.0 %) "
		  "\xc2\xb7 8 tasks in both \xc2\xb7 0 only here \xc2\xb7 0 only there" },
	};
	RELEASED(recorded, r);
	struct chart c;

	get(&r, &builds[0]);
	make(&c, &r, LANES_WORKER, &r);
	ck_assert_str_eq(c.fact[0].text, "make -j2 all doc");
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_str_eq(fact_text(&c, expected[i].label), expected[i].text);
	release(&c);
}

/* More lanes are thinner. */
TEST(many_workers)
{
	RELEASED(buf, tasks = BUF_INIT);
	struct recorded r;
	struct chart c;

	for (int n = 100; n <= 10000; n *= 10) {
		buf_clear(&tasks);
		buf_adds(&tasks, "open\t0\tt\t1\t0\t1\tmake\t4.3\t/src\tmake\n");
		for (int i = 1; i <= n; i++)
			buf_addf(&tasks, "start\t%d\tt.%d\t%d\t\ttask %d\tcc\n", i, i, i, i);
		for (int i = 1; i <= n; i++)
			buf_addf(&tasks, "done\t%d\tt.%d\t0\n", 20000 + i, i);
		recorded_make(&r, "", buf_str(&tasks), NULL);
		make(&c, &r, LANES_WORKER, NULL);
		check_chart(&c);
		ck_assert_int_le(c.lanes_height, 650);
		release(&c);
		recorded_release(&r);
	}
}

TEST_MAIN(chart);
