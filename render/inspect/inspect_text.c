/* SPDX-License-Identifier: MIT */
#include "render/inspect/inspect_parts.h"

#include "render/inspect/maps.h"
#include "render/show.h"
#include "render/text_answer.h"

#include <inttypes.h>

const char *const inspect_part_words[] = {
	[INSPECT_OVERVIEW] = "overview", [INSPECT_CLASSES] = "classes", [INSPECT_SITES] = "functions",
	[INSPECT_GROWTH] = "growth", [INSPECT_TREE] = "tree", [INSPECT_CALLERS] = "callers",
	[INSPECT_MAPS] = "maps", NULL
};

static void add_fact(struct buf *out, const struct style *style, const char *name,
		     const char *value)
{
	if (!value || !*value)
		return;
	buf_addf(out, "%-10s", name);
	inspect_name(out, style, 10, 0, value);
}

static void add_facts(struct buf *out, const struct inspect_view *v, const struct style *style)
{
	const struct inspection *in = v->in;
	struct buf text = BUF_PART_OF(out);

	buf_addf(&text, "%s %d", in->program ? in->program : "", in->pid);
	if (in->host && *in->host)
		buf_addf(&text, " on %s", in->host);
	if (in->task && *in->task)
		buf_addf(&text, ", task %s", in->task);
	add_fact(out, style, "process", buf_str(&text));
	add_fact(out, style, "command", in->command);
	add_fact(out, style, "why", in->why);
	add_fact(out, style, "end", in->end);
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
	add_fact(out, style, "heap", buf_str(&text));
	buf_release(&text);
}

static void snapshot_row(struct buf *out, const struct inspect_view *v, size_t i)
{
	const struct inspect_view_line *line = &v->line[i];
	char memory[32];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	inspect_count(out, (int64_t)i + 1, 4);
	inspect_time(&b, line->time_us);
	inspect_head(out, buf_str(&b), 9);
	for (int k = 0; k < 2; k++) {
		if (line->ended)
			inspect_head(out, "-", INSPECT_BYTES_COLUMNS);
		else
			inspect_bytes(out, line->kb[k ? MAPPING_SWAP : MAPPING_RSS] * 1024);
	}
	if (v->has_heap)
		inspect_bytes(out, line->heap[HEAP_LIVE_BYTES]);
	if (line->ended)
		buf_addf(out, "%8s  %7s", "-", "-");
	else
		buf_addf(out, "%8zu  %7u", line->mappings, (unsigned)line->process.threads);
	buf_addf(out, "%s%s\n", line->ended ? "  left at the end" : "",
		 i == v->shown ? "  shown" : i == v->base ? "  compared" : "");
}

/* Of many snapshots some, with the first, the last, the shown and the compared one. */
static void add_snapshots(struct buf *out, const struct inspect_view *v, size_t top,
			  const struct style *style)
{
	size_t step = top && v->n > top ? (v->n + top - 1) / top : 1;

	text_title(out, style, "Snapshots");
	inspect_head(out, "", 4);
	inspect_head(out, "time", 9);
	inspect_head(out, "RSS", 8);
	inspect_head(out, "swap", 8);
	if (v->has_heap)
		inspect_head(out, "live", 8);
	inspect_head(out, "mappings", 8);
	buf_adds(out, "threads\n");
	for (size_t i = 0; i < v->n; i++) {
		if (!(i % step) || i + 1 == v->n || i == v->shown || i == v->base)
			snapshot_row(out, v, i);
	}
}

static void add_maps(struct buf *out, const struct inspect_view *v,
		     const struct inspect_show_options *o, const struct style *style)
{
	struct maps_wish wish = inspect_maps_wish(v, o);
	struct buf title = BUF_PART_OF(out);

	buf_addf(&title, "Mappings of snapshot %zu", v->shown + 1);
	text_title(out, style, buf_str(&title));
	maps_text(out, &v->snapshot, &wish, style);
	buf_release(&title);
}

static void add_sentence(struct buf *out, const struct inspect_view *v, const struct style *style)
{
	struct buf sentence = BUF_PART_OF(out);

	inspect_sentence(&sentence, v);
	text_answer_add_wrapped(out, buf_str(&sentence), style->width);
	buf_addc(out, '\n');
	buf_release(&sentence);
}

static bool has(const struct inspect_show_options *o, enum inspect_part part)
{
	return o->parts & 1U << part;
}

int inspect_text(struct buf *out, const struct inspect_view *v,
		 const struct inspect_show_options *o, const struct style *style)
{
	int r = 0;

	if (has(o, INSPECT_OVERVIEW)) {
		add_sentence(out, v, style);
		add_facts(out, v, style);
		if (v->n)
			add_snapshots(out, v, o->top, style);
	}
	if (!v->n)
		return buf_error(out);
	if (has(o, INSPECT_CLASSES))
		inspect_text_classes(out, v, style);
	if (has(o, INSPECT_SITES) && v->has_heap)
		r = inspect_text_sites(out, v, o, style);
	if (has(o, INSPECT_GROWTH) && v->shown != v->base && !r)
		r = inspect_text_growth(out, v, o, style);
	if (has(o, INSPECT_TREE) && v->has_heap && !r)
		r = inspect_text_tree(out, v, &v->top_down, style);
	if (has(o, INSPECT_CALLERS) && v->has_heap && !r)
		r = inspect_text_tree(out, v, &v->bottom_up, style);
	if ((has(o, INSPECT_MAPS) || o->address_given) && !r)
		add_maps(out, v, o, style);
	return r ? r : buf_error(out);
}
