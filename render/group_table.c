/* SPDX-License-Identifier: MIT */
#include "render/group_table.h"

#include "base/text.h"

#include <stdio.h>

void group_table_make(struct group_table *t, struct groups *g, enum value key)
{
	*t = (struct group_table){ .g = g, .key = key < VALUE_SORTS ? key : groups_usual_key(g) };
	t->share = t->key < VALUES && value_info[t->key].joined == VALUE_SUM ? t->key : VALUE_WALL;
	value_columns(&t->columns, t->key, &g->total.cost);
}

void group_table_title(struct buf *b, const struct group_table *t)
{
	buf_addf(b, "Time by %s", groups_title(t->g));
	groups_add_note(b, t->g);
}

void group_table_rows(struct group_table *t, size_t top,
		      bool (*add)(void *ctx, const struct group_row *row), void *ctx)
{
	const struct groups *g = t->g;
	const uint32_t *order;
	struct group more;
	char text[48];
	size_t n = groups_top(t->g, t->key, top, &order), i = 0;

	while (i < n) {
		const struct group *of = &g->group[order[i++]];

		if (!add(ctx, &(struct group_row){ *of->name ? GROUP_NAMED : GROUP_UNKNOWN,
						   groups_name(of), of->n, &of->cost }))
			break;
	}
	if (i < g->n) {
		groups_add_up(&more, g, order + i, g->n - i);
		snprintf(text, sizeof text, "%zu more", g->n - i);
		add(ctx, &(struct group_row){ GROUP_MORE, text, more.n, &more.cost });
	}
	if (g->rest.measured)
		add(ctx, &(struct group_row){ GROUP_REST, groups_rest_name(g), 0, &g->rest });
	add(ctx, &(struct group_row){ GROUP_TOTAL, "total", g->total.n, &g->total.cost });
}

void group_table_value(struct buf *b, enum value v, const struct group_row *row)
{
	int64_t n = value_get(v, row->cost);

	if (n >= 0 || row->n)
		value_add(b, v, n);
}

void group_table_share(struct buf *b, const struct group_table *t, const struct group_row *row)
{
	int64_t whole = value_get(t->share, &t->g->total.cost), n = value_get(t->share, row->cost);

	if (whole > 0 && n >= 0)
		text_add_percent(b, (double)n / (double)whole);
}
