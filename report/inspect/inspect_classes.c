/* SPDX-License-Identifier: MIT */
#include "report/inspect/inspect_parts.h"

#include "report/inspect/class_shares.h"

void inspect_sentence(struct buf *out, const struct inspect_view *v)
{
	const char *program = v->in->program && *v->in->program ? v->in->program : "the process";
	struct class_shares shares = { &v->memory, MAPPING_RSS, v->shown, SIZE_MAX };

	if (!v->n) {
		buf_addf(out, "There is no snapshot of ");
		text_add_name(out, program, 60);
		buf_addc(out, '.');
		return;
	}
	text_add_name(out, program, 60);
	buf_adds(out, " had ");
	text_add_bytes(out, v->line[v->shown].kb[MAPPING_RSS] * 1024);
	buf_adds(out, " at ");
	inspect_time(out, v->line[v->shown].time_us);
	class_shares_add(out, &shares);
}

static bool is_zero(const struct inspect_view *v, const struct classes *c, uint32_t class)
{
	int64_t any = 0;

	for (unsigned value = 0; value < c->n_values; value++)
		any |= classes_value(c, class, v->shown, value) | classes_value(c, class, v->base, value);
	return !any;
}

static void add_memory(struct doc *d, const struct inspect_view *v, const char *title)
{
	static const struct doc_column columns[] = {
		{ "RSS", .type = DOC_KB, .width = 8 }, INSPECT_CELL("share", 6), INSPECT_CELL("growth", 9),
		{ "dirty", .type = DOC_KB, .gap = 2, .width = 8 },
		{ "swap", .type = DOC_KB, .gap = 2, .width = 8 }, INSPECT_NAME("class"),
	};
	const struct doc_table table = INSPECT_TABLE(title, columns);
	const struct classes *c = &v->memory;

	doc_table(d, &table);
	for (uint32_t i = 0; i < c->n; i++) {
		int64_t rss = classes_value(c, i, v->shown, MAPPING_RSS);

		if (is_zero(v, c, i))
			continue;
		doc_row(d);
		doc_depth(d, c->item[i].depth);
		doc_num(d, rss);
		inspect_share(d, rss, classes_value(c, 0, v->shown, MAPPING_RSS));
		inspect_growth(d, (rss - classes_value(c, i, v->base, MAPPING_RSS)) * 1024);
		doc_num(d, classes_value(c, i, v->shown, MAPPING_PRIVATE_DIRTY));
		doc_num(d, classes_value(c, i, v->shown, MAPPING_SWAP));
		doc_str(d, c->item[i].name);
	}
	doc_table_end(d, 0);
}

static void add_allocations(struct doc *d, const struct inspect_view *v, const char *title)
{
	static const struct doc_column columns[] = {
		{ "live", .type = DOC_BYTES, .width = 8, .drop = 1 },
		{ "error", .right = true, .gap = 2, .width = 10, .drop = 2 },
		{ "share", .right = true, .gap = 2, .width = 6, .drop = 3 },
		{ "growth", .right = true, .gap = 2, .width = 9, .drop = 4 },
		{ "at peak", .type = DOC_BYTES, .gap = 2, .width = 8, .drop = 5 },
		{ "alloc'd", .type = DOC_BYTES, .gap = 2, .width = 8, .drop = 6 },
		{ "temporary", .type = DOC_COUNT, .gap = 2, .width = 10, .drop = 7 },
		INSPECT_NAME("class"),
	};
	const struct doc_table table = INSPECT_TABLE(title, columns);
	const struct classes *c = &v->heap;

	doc_table(d, &table);
	for (uint32_t i = 0; i < c->n; i++) {
		int64_t live = classes_value(c, i, v->shown, HEAP_LIVE_BYTES);

		if (is_zero(v, c, i))
			continue;
		doc_row(d);
		doc_depth(d, c->item[i].depth);
		doc_num(d, live);
		inspect_error(d, c->variance[i * c->n_snapshots + v->shown]);
		inspect_share(d, live, classes_value(c, 0, v->shown, HEAP_LIVE_BYTES));
		inspect_growth(d, live - classes_value(c, i, v->base, HEAP_LIVE_BYTES));
		doc_num(d, classes_value(c, i, v->shown, HEAP_PEAK_BYTES));
		doc_num(d, classes_value(c, i, v->shown, HEAP_ALLOCATED_BYTES));
		doc_num(d, classes_value(c, i, v->shown, HEAP_TEMPORARY));
		doc_str(d, c->item[i].name);
	}
	doc_table_end(d, 0);
}

void inspect_text_classes(struct doc *d, const struct inspect_view *v)
{
	struct buf title = BUF_PART_OF(d->out);

	buf_addf(&title, "Memory by class in snapshot %zu, growth since snapshot %zu (rules %s)",
		 v->shown + 1, v->base + 1, v->wish.rules_name);
	add_memory(d, v, buf_str(&title));
	buf_clear(&title);
	buf_addf(&title, "Allocations by class in snapshot %zu, growth since snapshot %zu",
		 v->shown + 1, v->base + 1);
	if (v->has_heap)
		add_allocations(d, v, buf_str(&title));
	buf_release(&title);
}
