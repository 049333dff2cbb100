/* SPDX-License-Identifier: MIT */
#include "render/show.h"

#include "base/array.h"

/* Groups as parts of the usual output. */

#define BAR_COLUMNS 30
#define KIND_ROW_COLUMNS 48	/* without a bar */
#define UNSEEN_PART 100		/* of the build's CPU time: less is not worth a row */

void text_kinds(struct doc *d, struct groups *g)
{
	unsigned width = d->style->width;
	bool narrow = width && width < KIND_ROW_COLUMNS;
	unsigned bar = !width || width >= KIND_ROW_COLUMNS + BAR_COLUMNS ? BAR_COLUMNS :
		       narrow ? 0 : width - KIND_ROW_COLUMNS;
	const struct doc_column columns[] = {
		{ "tasks", .type = DOC_COUNT, .width = 6 }, { "wall", .type = DOC_US, .width = 9 },
		{ "CPU", .type = DOC_US, .in = narrow ? DOC_JSON : 0, .width = 9 },
		{ "share", .right = true, .width = 8 },
		{ "kind", .gap = 2, .width = 12, .shorten = true }, { .gap = 2 },
	};
	const struct doc_table table = {
		.title = "Time by kind", .column = columns, .n_columns = ARRAY_SIZE(columns),
		.heads = true, .tone = TONE_FAINT,
	};
	const struct style plain = { 0 };
	const uint32_t *order;
	size_t n = groups_top(g, VALUE_WALL, SIZE_MAX, &order);

	doc_table(d, &table);
	for (size_t i = 0; i < n; i++) {
		const struct group *k = &g->group[order[i]];
		double share = g->total.cost.wall_us ? (double)k->cost.wall_us /
						       (double)g->total.cost.wall_us : 0;

		doc_row(d);
		doc_num(d, (int64_t)k->n);
		doc_num(d, k->cost.wall_us);
		doc_num(d, k->cost.measured ? k->cost.cpu_us : -1);
		text_add_percent(doc_text(d, share), share);
		doc_str(d, k->name);
		text_add_bar(doc_text(d, share), &plain, share, bar);
		doc_tone(d, TONE_BAR);
	}
	doc_table_end(d, 0);
}

void text_programs(struct doc *d, struct groups *g, const struct summary *s, size_t top)
{
	static const struct doc_column columns[] = {
		{ "number", .type = DOC_COUNT, .width = 8 }, { "wall", .type = DOC_US, .width = 9 },
		{ "CPU", .type = DOC_US, .width = 9 }, { "memory", .type = DOC_KB, .width = 9 },
		{ "program", .gap = 2, .width = 40, .shorten = true },
	};
	static const struct doc_table table = {
		.title = "Processes by program", .column = columns, .n_columns = ARRAY_SIZE(columns),
		.heads = true, .empty = true, .tone = TONE_FAINT,
	};
	const uint32_t *order;

	if (!g->of_processes)
		return;
	top = groups_top(g, groups_usual_key(g), top, &order);
	doc_table(d, &table);
	for (size_t i = 0; i < top; i++) {
		const struct group *p = &g->group[order[i]];

		doc_row(d);
		doc_num(d, (int64_t)p->n);
		doc_num(d, p->cost.wall_us);
		doc_num(d, p->cost.measured ? p->cost.cpu_us : -1);
		if (p->cost.memory_kb)
			doc_num(d, p->cost.memory_kb);
		else
			doc_str(d, NULL);
		doc_str(d, p->name);
	}
	/* the sum of the rows must not pass as the CPU time of the build */
	if (g->rest.cpu_us > s->cpu_us / UNSEEN_PART) {
		doc_row(d);
		doc_str(d, NULL);
		doc_str(d, NULL);
		doc_num(d, g->rest.cpu_us);
		doc_str(d, NULL);
		doc_str(d, groups_rest_name(g));
	}
	doc_table_end(d, 0);
}
