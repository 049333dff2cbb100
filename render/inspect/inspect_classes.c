/* SPDX-License-Identifier: MIT */
#include "render/inspect/inspect_parts.h"

#include "base/array.h"
#include "render/inspect/class_shares.h"
#include "render/show.h"

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

static void memory_row(struct buf *out, const struct inspect_view *v, const struct style *style,
		       uint32_t i)
{
	const struct classes *c = &v->memory;
	int64_t rss = classes_value(c, i, v->shown, MAPPING_RSS);
	size_t start = out->len;

	inspect_bytes(out, rss * 1024);
	inspect_share(out, rss, classes_value(c, 0, v->shown, MAPPING_RSS));
	inspect_growth(out, (rss - classes_value(c, i, v->base, MAPPING_RSS)) * 1024);
	inspect_bytes(out, classes_value(c, i, v->shown, MAPPING_PRIVATE_DIRTY) * 1024);
	inspect_bytes(out, classes_value(c, i, v->shown, MAPPING_SWAP) * 1024);
	inspect_name(out, style, out->len - start, 2 * c->item[i].depth, c->item[i].name);
}

static const char *const heap_heads[] = {
	"live", "error", "share", "growth", "at peak", "alloc'd", "temporary"
};
static const size_t heap_columns[] = { 10, 12, 8, 11, 10, 10, 12 };

static void heap_cell(struct buf *out, const struct inspect_view *v, uint32_t i, size_t column)
{
	const struct classes *c = &v->heap;
	int64_t live = classes_value(c, i, v->shown, HEAP_LIVE_BYTES);

	switch (column) {
	case 0:
		inspect_bytes(out, live);
		break;
	case 1:
		inspect_error(out, c->variance[i * c->n_snapshots + v->shown]);
		break;
	case 2:
		inspect_share(out, live, classes_value(c, 0, v->shown, HEAP_LIVE_BYTES));
		break;
	case 3:
		inspect_growth(out, live - classes_value(c, i, v->base, HEAP_LIVE_BYTES));
		break;
	case 4:
		inspect_bytes(out, classes_value(c, i, v->shown, HEAP_PEAK_BYTES));
		break;
	case 5:
		inspect_bytes(out, classes_value(c, i, v->shown, HEAP_ALLOCATED_BYTES));
		break;
	default:
		inspect_count(out, classes_value(c, i, v->shown, HEAP_TEMPORARY), 10);
	}
}

static void heap_row(struct buf *out, const struct inspect_view *v, const struct style *style,
		     uint32_t i, size_t fit)
{
	size_t start = out->len;

	for (size_t k = 0; k < fit; k++)
		heap_cell(out, v, i, k);
	inspect_name(out, style, out->len - start, 2 * v->heap.item[i].depth, v->heap.item[i].name);
}

static bool is_zero(const struct inspect_view *v, const struct classes *c, uint32_t class)
{
	int64_t any = 0;

	for (unsigned value = 0; value < c->n_values; value++)
		any |= classes_value(c, class, v->shown, value) | classes_value(c, class, v->base, value);
	return !any;
}

void inspect_text_classes(struct buf *out, const struct inspect_view *v, const struct style *style)
{
	size_t fit = inspect_fitting(style, heap_columns, ARRAY_SIZE(heap_columns));
	struct buf title = BUF_PART_OF(out);

	buf_addf(&title, "Memory by class in snapshot %zu, growth since snapshot %zu (rules %s)",
		 v->shown + 1, v->base + 1, v->wish.rules_name);
	text_title(out, style, buf_str(&title));
	inspect_head(out, "RSS", 8);
	inspect_head(out, "share", 6);
	inspect_head(out, "growth", 9);
	inspect_head(out, "dirty", 8);
	inspect_head(out, "swap", 8);
	buf_adds(out, "class\n");
	for (uint32_t i = 0; i < v->memory.n; i++) {
		if (!is_zero(v, &v->memory, i))
			memory_row(out, v, style, i);
	}
	if (v->has_heap) {
		buf_clear(&title);
		buf_addf(&title, "Allocations by class in snapshot %zu, growth since snapshot %zu",
			 v->shown + 1, v->base + 1);
		text_title(out, style, buf_str(&title));
		for (size_t k = 0; k < fit; k++)
			inspect_head(out, heap_heads[k], heap_columns[k] - 2);
		buf_adds(out, "class\n");
		for (uint32_t i = 0; i < v->heap.n; i++) {
			if (!is_zero(v, &v->heap, i))
				heap_row(out, v, style, i, fit);
		}
	}
	buf_release(&title);
}
