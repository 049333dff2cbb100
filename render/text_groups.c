/* SPDX-License-Identifier: MIT */
#include "render/show.h"

#include "base/saturate.h"

#include <stdio.h>
#include <string.h>

#define BAR_COLUMNS 30
#define KIND_ROW_COLUMNS 48	/* without a bar */
#define UNSEEN_PART 100		/* of the build's CPU time: less is not worth a row */
#define NAME_COLUMNS_MIN 16
#define CELL_COLUMNS 10

static void add_right(struct buf *out, const char *text, unsigned columns)
{
	size_t n = strlen(text);

	text_add_blanks(out, n < columns ? columns - n : 0);
	buf_adds(out, text);
}

/* Tables of --by */

enum cell { CELL_NUMBER, CELL_WALL, CELL_CPU, CELL_MEMORY, CELL_DISK, CELLS };

struct table {
	struct buf *out;
	const struct groups *g;
	const struct style *style;
	enum cell share;	/* this column is followed by its share of the total */
	bool shown[CELLS];
	unsigned name_columns;	/* 0: no limit */
};

static int64_t cell_value(const struct groups *g, enum cell cell, const struct cost *c)
{
	switch (cell) {
	case CELL_WALL:
		return c->wall_us;
	case CELL_CPU:
		return c->measured ? c->cpu_us : -1;
	case CELL_MEMORY:
		return c->memory_kb ? sat_mul(c->memory_kb, 1024) : -1;
	case CELL_DISK:
		return c->measured && !g->of_processes ? cost_value(c, SORT_IO) : -1;
	default:
		return -1;
	}
}

static unsigned columns_taken(const struct table *t)
{
	unsigned n = 2 + CELL_COLUMNS;	/* of the share */

	for (int i = 0; i < CELLS; i++)
		n += t->shown[i] ? CELL_COLUMNS : 0;
	return n;
}

/* Where it gets narrow, columns are dropped until a name has room. */
static void choose_columns(struct table *t, enum sort_key key)
{
	static const enum cell dropped[] = { CELL_DISK, CELL_MEMORY, CELL_CPU, CELL_WALL };
	static const enum cell of_key[SORT_KEYS] = {
		[SORT_WALL] = CELL_WALL, [SORT_CPU] = CELL_CPU, [SORT_MEMORY] = CELL_MEMORY,
		[SORT_IO] = CELL_DISK, [SORT_FILES] = CELL_WALL, [SORT_START] = CELL_WALL, [SORT_NAME] = CELL_WALL,
	};
	unsigned width = t->style->width;

	t->share = key == SORT_MEMORY ? CELL_WALL : of_key[key];
	for (int i = 0; i < CELLS; i++)
		t->shown[i] = true;
	t->shown[CELL_DISK] = cost_value(&t->g->total.cost, SORT_IO) > 0;
	for (size_t i = 0; width && i < sizeof dropped / sizeof *dropped; i++) {
		if (columns_taken(t) + NAME_COLUMNS_MIN > width && dropped[i] != of_key[key] &&
		    dropped[i] != t->share)
			t->shown[dropped[i]] = false;
	}
	t->name_columns = !width ? 0 : width > columns_taken(t) + 6 ? width - columns_taken(t) : 6;
}

static void add_titles(const struct table *t)
{
	const char *const titles[CELLS] = {
		[CELL_NUMBER] = t->g->of_processes ? "processes" : "tasks", [CELL_WALL] = "wall",
		[CELL_CPU] = "CPU", [CELL_MEMORY] = "memory", [CELL_DISK] = "disk",
	};

	text_tone(t->out, t->style, TONE_FAINT);
	for (int i = 0; i < CELLS; i++) {
		if (t->shown[i])
			add_right(t->out, titles[i], CELL_COLUMNS);
		if (i == (int)t->share)
			add_right(t->out, "share", CELL_COLUMNS);
	}
	buf_addf(t->out, "  %s", groups_title(t->g));
	text_tone(t->out, t->style, TONE_PLAIN);
	buf_addc(t->out, '\n');
}

/* Unknown values of a rest are empty cells. */
static void add_row(const struct table *t, const char *name, uint64_t n, const struct cost *c,
		    enum tone tone)
{
	int64_t whole = cell_value(t->g, t->share, &t->g->total.cost);
	char memory[32];
	struct buf b;

	text_tone(t->out, t->style, tone);
	for (enum cell i = 0; i < CELLS; i++) {
		int64_t value = cell_value(t->g, i, c);

		buf_init_fixed(&b, memory, sizeof memory);
		if (i == CELL_NUMBER && n)
			buf_addu(&b, n);
		else if (i == CELL_WALL && n)
			text_add_time(&b, value);
		else if (i == CELL_CPU)
			text_add_time(&b, value);
		else if (i == CELL_MEMORY ? value >= 0 : i == CELL_DISK)
			text_add_bytes(&b, value);
		if (t->shown[i])
			add_right(t->out, buf_str(&b), CELL_COLUMNS);
		if (i != t->share)
			continue;
		buf_clear(&b);
		if (whole > 0 && value >= 0 && (n || i != CELL_WALL))
			text_add_percent(&b, (double)value / (double)whole);
		add_right(t->out, buf_str(&b), CELL_COLUMNS);
	}
	buf_adds(t->out, "  ");
	text_add_name(t->out, name, t->name_columns);
	text_tone(t->out, t->style, TONE_PLAIN);
	buf_addc(t->out, '\n');
}

void text_groups(struct buf *out, struct groups *g, enum sort_key key, size_t top,
		 const struct style *style)
{
	struct table t = { .out = out, .g = g, .style = style };
	struct buf title = BUF_PART_OF(out);
	const uint32_t *order;
	struct group more;
	char text[48];
	size_t n;

	key = key < SORT_KEYS ? key : groups_usual_key(g);
	n = groups_top(g, key, top, &order);
	buf_addf(&title, "Time by %s", groups_title(g));
	groups_add_note(&title, g);
	text_title(out, style, buf_str(&title));
	buf_release(&title);
	choose_columns(&t, key);
	add_titles(&t);
	for (size_t i = 0; i < n; i++)
		add_row(&t, groups_name(&g->group[order[i]]), g->group[order[i]].n,
			&g->group[order[i]].cost, TONE_PLAIN);
	if (n < g->n) {
		groups_add_up(&more, g, order + n, g->n - n);
		snprintf(text, sizeof text, "(%zu more)", g->n - n);
		add_row(&t, text, more.n, &more.cost, TONE_FAINT);
	}
	if (g->rest.measured)
		add_row(&t, groups_rest_name(g), 0, &g->rest, TONE_FAINT);
	add_row(&t, "total", g->total.n, &g->total.cost, TONE_TITLE);
}

/* Parts of the usual output */

void text_kinds(struct buf *out, struct groups *g, const struct style *style)
{
	unsigned width = style->width, bar;
	bool narrow = width && width < KIND_ROW_COLUMNS;
	const uint32_t *order;
	size_t n = groups_top(g, SORT_WALL, SIZE_MAX, &order);
	char memory[32];
	struct buf b;

	if (!n)
		return;
	bar = !width || width >= KIND_ROW_COLUMNS + BAR_COLUMNS ? BAR_COLUMNS :
	      narrow ? 0 : width - KIND_ROW_COLUMNS;
	text_title(out, style, "Time by kind");
	text_tone(out, style, TONE_FAINT);
	buf_addf(out, " tasks     wall%s   share  kind\n", narrow ? "" : "      CPU");
	text_tone(out, style, TONE_PLAIN);
	for (size_t i = 0; i < n; i++) {
		const struct group *k = &g->group[order[i]];
		const struct cost *c = &k->cost;
		double share = g->total.cost.wall_us ? (double)c->wall_us /
						       (double)g->total.cost.wall_us : 0;
		size_t before, columns;

		buf_addf(out, " %5llu", (unsigned long long)k->n);
		for (int cpu = 0; cpu < (narrow ? 1 : 2); cpu++) {
			buf_init_fixed(&b, memory, sizeof memory);
			text_add_time(&b, !cpu ? c->wall_us : c->measured ? c->cpu_us : -1);
			add_right(out, buf_str(&b), 9);
		}
		buf_init_fixed(&b, memory, sizeof memory);
		text_add_percent(&b, share);
		add_right(out, buf_str(&b), 8);
		buf_adds(out, "  ");
		columns = text_add_name(out, k->name, 12);
		before = out->len;
		text_add_blanks(out, 14 - columns);
		if (!text_add_bar(out, style, share, bar))
			buf_cut(out, before);
		buf_addc(out, '\n');
	}
}

static void add_program(struct buf *out, const struct group *p)
{
	char memory[32];
	struct buf b;

	buf_addf(out, "%8llu", (unsigned long long)p->n);
	for (int column = 0; column < 3; column++) {
		buf_init_fixed(&b, memory, sizeof memory);
		if (column < 2)
			text_add_time(&b, !column ? p->cost.wall_us :
				      p->cost.measured ? p->cost.cpu_us : -1);
		else if (p->cost.memory_kb)
			text_add_bytes(&b, sat_mul(p->cost.memory_kb, 1024));
		add_right(out, buf_str(&b), 9);
	}
	buf_adds(out, "  ");
	text_add_name(out, p->name, 40);
	buf_addc(out, '\n');
}

void text_programs(struct buf *out, struct groups *g, const struct summary *s, size_t top,
		   const struct style *style)
{
	const uint32_t *order;
	char cpu[32];
	struct buf b;

	if (!g->of_processes)
		return;
	top = groups_top(g, groups_usual_key(g), top, &order);
	text_title(out, style, "Processes by program");
	text_tone(out, style, TONE_FAINT);
	buf_adds(out, "  number     wall      CPU   memory  program\n");
	text_tone(out, style, TONE_PLAIN);
	for (size_t i = 0; i < top; i++)
		add_program(out, &g->group[order[i]]);
	/* the sum of the rows must not pass as the CPU time of the build */
	if (g->rest.cpu_us > s->cpu_us / UNSEEN_PART) {
		buf_init_fixed(&b, cpu, sizeof cpu);
		text_add_time(&b, g->rest.cpu_us);
		buf_addf(out, "%8s%9s%9s%9s  %s\n", "", "", buf_str(&b), "",
			 groups_rest_name(g));
	}
}
