/* SPDX-License-Identifier: MIT */
#include "render/show.h"

#include "base/saturate.h"
#include "render/group_table.h"

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

struct table {
	struct buf *out;
	const struct style *style;
	struct group_table t;
	unsigned name_columns;	/* 0: no limit */
};

static unsigned columns_taken(const struct table *t)
{
	return 2 + CELL_COLUMNS * (t->t.columns.n + 2);	/* the number and the share */
}

/* Where it gets narrow, columns are dropped until a name has room. */
static void choose_columns(struct table *t)
{
	unsigned width = t->style->width;

	while (width && columns_taken(t) + NAME_COLUMNS_MIN > width &&
	       value_columns_drop(&t->t.columns, 1u << t->t.key | 1u << t->t.share))
		;
	t->name_columns = !width ? 0 : width > columns_taken(t) + 6 ? width - columns_taken(t) : 6;
}

static void add_titles(const struct table *t)
{
	text_tone(t->out, t->style, TONE_FAINT);
	add_right(t->out, t->t.g->of_processes ? "processes" : "tasks", CELL_COLUMNS);
	for (unsigned i = 0; i < t->t.columns.n; i++) {
		add_right(t->out, value_info[t->t.columns.column[i]].title, CELL_COLUMNS);
		if (t->t.columns.column[i] == t->t.share)
			add_right(t->out, "share", CELL_COLUMNS);
	}
	buf_addf(t->out, "  %s", groups_title(t->t.g));
	text_tone(t->out, t->style, TONE_PLAIN);
	buf_addc(t->out, '\n');
}

static bool add_row(void *ctx, const struct group_row *row)
{
	static const enum tone tone[] = {
		[GROUP_MORE] = TONE_FAINT, [GROUP_REST] = TONE_FAINT, [GROUP_TOTAL] = TONE_TITLE,
	};
	const struct table *t = ctx;
	char memory[64];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	text_tone(t->out, t->style, tone[row->role]);
	if (row->n)
		buf_addu(&b, row->n);
	add_right(t->out, buf_str(&b), CELL_COLUMNS);
	for (unsigned i = 0; i < t->t.columns.n; i++) {
		buf_clear(&b);
		group_table_value(&b, t->t.columns.column[i], row);
		add_right(t->out, buf_str(&b), CELL_COLUMNS);
		if (t->t.columns.column[i] != t->t.share)
			continue;
		buf_clear(&b);
		group_table_share(&b, &t->t, row);
		add_right(t->out, buf_str(&b), CELL_COLUMNS);
	}
	buf_adds(t->out, row->role == GROUP_MORE ? "  (" : "  ");
	text_add_name(t->out, row->name, t->name_columns);
	buf_adds(t->out, row->role == GROUP_MORE ? ")" : "");
	text_tone(t->out, t->style, TONE_PLAIN);
	buf_addc(t->out, '\n');
	return true;
}

void text_groups(struct buf *out, struct groups *g, enum value key, size_t top,
		 const struct style *style)
{
	struct table t = { .out = out, .style = style };
	struct buf title = BUF_PART_OF(out);

	group_table_make(&t.t, g, key);
	group_table_title(&title, &t.t);
	text_title(out, style, buf_str(&title));
	buf_release(&title);
	choose_columns(&t);
	add_titles(&t);
	group_table_rows(&t.t, top, add_row, &t);
}

/* Parts of the usual output */

void text_kinds(struct buf *out, struct groups *g, const struct style *style)
{
	unsigned width = style->width, bar;
	bool narrow = width && width < KIND_ROW_COLUMNS;
	const uint32_t *order;
	size_t n = groups_top(g, VALUE_WALL, SIZE_MAX, &order);
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
