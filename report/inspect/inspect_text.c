/* SPDX-License-Identifier: MIT */
#include "report/inspect/inspect_parts.h"


#include <inttypes.h>
#include <math.h>

const char *const inspect_part_words[] = {
	[INSPECT_OVERVIEW] = "overview", [INSPECT_CLASSES] = "classes", [INSPECT_SITES] = "functions",
	[INSPECT_GROWTH] = "growth", [INSPECT_TREE] = "tree", [INSPECT_CALLERS] = "callers",
	[INSPECT_MAPS] = "maps", NULL
};

static void add_fact(struct doc *d, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	doc_row(d);
	doc_str(d, name);
	doc_str(d, value);
}

static void add_facts(struct doc *d, const struct inspect_view *v)
{
	static const struct doc_column columns[] = { { .width = 10 }, { .last = true } };
	static const struct doc_table table = {
		.column = columns, .n_columns = ARRAY_SIZE(columns), .least = 12,
	};
	const struct inspection *in = v->in;
	struct buf text = BUF_PART_OF(d->out);

	buf_addf(&text, "%s %d", in->program ? in->program : "", in->pid);
	if (in->host && *in->host)
		buf_addf(&text, " on %s", in->host);
	if (in->task && *in->task)
		buf_addf(&text, ", task %s", in->task);
	doc_table(d, &table);
	add_fact(d, "process", buf_str(&text));
	add_fact(d, "command", in->command);
	add_fact(d, "why", in->why);
	add_fact(d, "end", in->end);
	buf_clear(&text);
	if (in->heap == HEAP_SAMPLED)
		buf_addf(&text, "sampled, a sample each %" PRIu64 " KiB on average",
			 in->heap_period / 1024);
	else
		buf_adds(&text, in->heap == HEAP_EXACT ? "every allocation" : "not counted");
	if (in->uncounted && *in->uncounted)
		buf_addf(&text, ": %s", in->uncounted);
	if (in->heap != HEAP_OFF)
		buf_addf(&text, "; %u %% of the calls have names", in->named_percent);
	add_fact(d, "heap", buf_str(&text));
	doc_table_end(d, 0);
	buf_release(&text);
}

static void snapshot_row(struct doc *d, const struct inspect_view *v, size_t i)
{
	const struct inspect_view_line *line = &v->line[i];
	bool ended = line->ended;
	struct buf *text;

	doc_row(d);
	doc_num(d, (int64_t)i + 1);
	inspect_time(doc_text(d, NAN), line->time_us);
	doc_num(d, ended ? -1 : (int64_t)line->kb[MAPPING_RSS]);
	doc_num(d, ended ? -1 : (int64_t)line->kb[MAPPING_SWAP]);
	doc_num(d, line->heap[HEAP_LIVE_BYTES]);
	doc_num(d, ended ? -1 : (int64_t)line->mappings);
	doc_num(d, ended ? -1 : (int64_t)line->process.threads);
	text = doc_text(d, NAN);
	if (ended)
		buf_adds(text, "left at the end");
	if (i == v->shown || i == v->base)
		buf_addf(text, "%s%s", ended ? "  " : "", i == v->shown ? "shown" : "compared");
}

/* Of many snapshots some, with the first, the last, the shown and the compared one. */
static void add_snapshots(struct doc *d, const struct inspect_view *v, size_t top)
{
	const struct doc_column columns[] = {
		{ .type = DOC_COUNT, .width = 4 }, INSPECT_CELL("time", 9),
		{ "RSS", .type = DOC_KB, .gap = 2, .width = 8 },
		{ "swap", .type = DOC_KB, .gap = 2, .width = 8 }, 
		{ "live", .type = DOC_BYTES, .in = v->has_heap ? 0 : DOC_JSON, .gap = 2, .width = 8 },
		{ "mappings", .type = DOC_COUNT, .gap = 2, .width = 8 },
		{ "threads", .type = DOC_COUNT, .gap = 2, .width = 7 }, { .gap = 2 },
	};
	const struct doc_table table = INSPECT_TABLE("Snapshots", columns);
	size_t step = top && v->n > top ? (v->n + top - 1) / top : 1;

	doc_table(d, &table);
	for (size_t i = 0; i < v->n; i++) {
		if (!(i % step) || i + 1 == v->n || i == v->shown || i == v->base)
			snapshot_row(d, v, i);
	}
	doc_table_end(d, 0);
}

static void add_maps(struct doc *d, const struct inspect_view *v,
		     const struct inspect_show_options *o)
{
	struct maps_wish wish = inspect_maps_wish(v, o);
	struct buf title = BUF_PART_OF(d->out);

	buf_addf(&title, "Mappings of snapshot %zu", v->shown + 1);
	doc_heading(d, buf_str(&title));
	maps_table(d, &v->snapshot, &wish);
	buf_release(&title);
}

static bool has(const struct inspect_show_options *o, enum inspect_part part)
{
	return o->parts & 1U << part;
}

static int add_parts(struct doc *d, const struct inspect_view *v, const struct inspect_show_options *o)
{
	int r = 0;

	if (has(o, INSPECT_OVERVIEW)) {
		inspect_sentence(doc_sentence(d), v);
		doc_empty_line(d);
		add_facts(d, v);
		if (v->n)
			add_snapshots(d, v, o->top);
	}
	if (!v->n)
		return 0;
	if (has(o, INSPECT_CLASSES))
		inspect_text_classes(d, v);
	if (has(o, INSPECT_SITES) && v->has_heap)
		r = inspect_text_sites(d, v, o);
	if (has(o, INSPECT_GROWTH) && v->shown != v->base && !r)
		r = inspect_text_growth(d, v, o);
	if (has(o, INSPECT_TREE) && v->has_heap && !r)
		r = inspect_text_tree(d, v, &v->top_down);
	if (has(o, INSPECT_CALLERS) && v->has_heap && !r)
		r = inspect_text_tree(d, v, &v->bottom_up);
	if ((has(o, INSPECT_MAPS) || o->address_given) && !r)
		add_maps(d, v, o);
	return r;
}

int inspect_text(struct buf *out, const struct inspect_view *v,
		 const struct inspect_show_options *o, const struct style *style)
{
	struct doc d;
	int r;

	doc_init_terminal(&d, out, style);
	r = add_parts(&d, v, o);
	doc_release(&d);
	return r ? r : buf_error(out);
}
