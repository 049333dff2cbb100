/* SPDX-License-Identifier: MIT */
#include "report/group_table.h"

#include <math.h>
#include <stdio.h>

#define NAME_COLUMNS_MIN 16
#define CELL_COLUMNS 10

struct layout {
	struct groups *g;
	enum value key;		/* the groups are sorted by it */
	enum value share;	/* of this value */
	struct value_columns value;
	char share_title[64];
	struct doc_column column[VALUES + 4];
	struct doc_table table;
};

enum role { NAMED, UNKNOWN, MORE, REST, TOTAL };

struct row {
	enum role role;
	const char *name;
	uint64_t n;		/* 0: REST */
	const struct cost *cost;
};

/* The share is beside its value on a terminal, and beside the CPU time in Markdown. */
static bool has_share(const struct layout *y, const struct doc *d, enum value v)
{
	return v == (doc_is(d, DOC_TERMINAL) ? y->share : VALUE_CPU);
}

static struct doc_column number_column(const char *title, uint8_t drop)
{
	return (struct doc_column){ title, .right = true, .width = CELL_COLUMNS, .drop = drop };
}

static void make_columns(struct layout *y, const struct doc *d)
{
	size_t n = 0;

	y->share = y->key < VALUES && value_info[y->key].joined == VALUE_SUM ? y->key : VALUE_WALL;
	value_columns(&y->value, y->key, &y->g->total.cost);
	snprintf(y->share_title, sizeof y->share_title, "share%s%s", doc_is(d, DOC_TERMINAL) ? "" :
		 " of ", doc_is(d, DOC_TERMINAL) ? "" : value_info[y->share].title);
	y->column[n++] = number_column(y->g->of_processes ? "processes" : "tasks", 0);
	for (unsigned i = 0; i < y->value.n; i++) {
		enum value v = y->value.column[i];

		y->column[n++] = number_column(value_info[v].title, v == y->key || v == y->share ? 0 :
					       value_drop(v));
		if (has_share(y, d, v))
			y->column[n++] = number_column(y->share_title, 0);
	}
	y->column[n++] = (struct doc_column){ groups_title(y->g), .gap = 2, .last = true };
	y->table = (struct doc_table){
		.column = y->column, .n_columns = n, .heads = true, .empty = true, .tone = TONE_FAINT,
		.least = 6, .room = NAME_COLUMNS_MIN,
	};
}

/* What the rest does not know is empty. */
static void add_values(struct doc *d, const struct layout *y, const struct row *row)
{
	int64_t whole = value_get(y->share, &y->g->total.cost), part = value_get(y->share, row->cost);

	for (unsigned i = 0; i < y->value.n; i++) {
		enum value v = y->value.column[i];
		int64_t n = value_get(v, row->cost);
		struct buf *text = doc_text(d, (double)n);

		if (value_is_at_least(v, n, cost_bounds(row->cost)))
			buf_addc(text, '>');
		if (n >= 0 || row->n)
			value_add(text, v, n);
		if (!has_share(y, d, v))
			continue;
		text = doc_text(d, NAN);
		if (whole > 0 && part >= 0)
			text_add_percent(text, (double)part / (double)whole);
	}
}

static void add_row(struct doc *d, const struct layout *y, const struct row *row)
{
	static const enum tone tone[] = { [MORE] = TONE_FAINT, [REST] = TONE_FAINT, [TOTAL] = TONE_TITLE };
	bool terminal = doc_is(d, DOC_TERMINAL);
	struct buf *text;

	doc_row(d);
	if (terminal)
		doc_row_tone(d, tone[row->role]);
	text = doc_text(d, (double)row->n);
	if (row->n)
		buf_addu(text, row->n);
	add_values(d, y, row);
	text = doc_text(d, NAN);
	if (terminal && row->role == MORE) {
		buf_addf(text, "(%s)", row->name);
		doc_whole(d);
	} else {
		buf_adds(text, row->name);
	}
	if (row->role == NAMED)
		doc_code(d);
	else if (row->role != REST)
		doc_tone(d, tone[row->role]);
}

void group_table(struct doc *d, struct groups *g, enum value key, size_t top, size_t limit)
{
	struct layout y = { .g = g, .key = key < VALUE_SORTS ? key : groups_usual_key(g) };
	struct buf title = BUF_PART_OF(d->out);
	const uint32_t *order;
	struct group more;
	char name[48];
	size_t n = groups_top(g, y.key, top, &order), i = 0;

	make_columns(&y, d);
	buf_addf(&title, "Time by %s", groups_title(g));
	groups_add_note(&title, g);
	y.table.title = buf_str(&title);
	doc_table(d, &y.table);
	for (; i < n && (!i || d->out->len < limit); i++) {
		const struct group *of = &g->group[order[i]];

		add_row(d, &y, &(struct row){ *of->name ? NAMED : UNKNOWN, groups_name(of), of->n, &of->cost });
	}
	if (i < g->n) {
		groups_add_up(&more, g, order + i, g->n - i);
		snprintf(name, sizeof name, "%zu more", g->n - i);
		add_row(d, &y, &(struct row){ MORE, name, more.n, &more.cost });
	}
	if (g->rest.measured)
		add_row(d, &y, &(struct row){ REST, groups_rest_name(g), 0, &g->rest });
	add_row(d, &y, &(struct row){ TOTAL, "total", g->total.n, &g->total.cost });
	doc_table_end(d, 0);
	buf_release(&title);
}
