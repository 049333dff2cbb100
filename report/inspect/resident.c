/* SPDX-License-Identifier: MIT */
#include "report/inspect/resident.h"

#include "base/minmax.h"
#include "report/inspect/inspect_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef void add_range(void *ctx, const struct mapping *m, uint64_t start, uint64_t end);

/* Both are sorted; a range can lie in several mappings. */
static void each_range(const struct snapshot *s, const struct maps_wish *wish, add_range *add,
		       void *ctx)
{
	size_t k = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct mapping *m = &s->mapping[i];

		while (k < s->n_resident && s->resident[k].end <= m->start)
			k++;
		if (!maps_wanted(wish, m))
			continue;
		for (size_t r = k; r < s->n_resident && s->resident[r].start < m->end; r++) {
			uint64_t start = s->resident[r].start, end = s->resident[r].end;

			add(ctx, m, MAX(start, m->start),
			    MIN(end, m->end));
		}
	}
}

struct table {
	struct doc *d;
	const struct maps_wish *wish;
	uint64_t bytes;
	size_t n;
};

static void add_row(void *ctx, const struct mapping *m, uint64_t start, uint64_t end)
{
	struct table *t = ctx;

	doc_row(t->d);
	buf_addf(doc_text(t->d, NAN), "%012" PRIx64 "-%012" PRIx64, start, end);
	doc_num(t->d, (int64_t)((end - start) & INT64_MAX));
	doc_str(t->d, m->permissions);
	doc_str(t->d, m->file < t->wish->names->n ? t->wish->names->name[m->file].p : "");
	t->bytes += end - start;
	t->n++;
}

void resident_table(struct doc *d, const struct snapshot *s, const struct maps_wish *wish)
{
	static const struct doc_column columns[] = {
		{ "in memory", .width = 25 }, INSPECT_BYTES("size"), { "perm", .gap = 2, .width = 4 },
		{ "file", .gap = 2 },
	};
	static const struct doc_table table = {
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true, .empty = true,
		.tone = TONE_TITLE,
	};
	struct table t = { d, wish, 0, 0 };

	doc_table(d, &table);
	each_range(s, wish, add_row, &t);
	doc_row(d);
	doc_str(d, "total");
	doc_num(d, (int64_t)(t.bytes & INT64_MAX));
	buf_addf(doc_text(d, NAN), "in %zu range%s", t.n, t.n == 1 ? "" : "s");
	doc_str(d, "");
	doc_table_end(d, 0);
}

static void add_json(void *ctx, const struct mapping *m, uint64_t start, uint64_t end)
{
	char text[32];

	(void)m;
	json_object(ctx, NULL);
	snprintf(text, sizeof text, "0x%" PRIx64, start);
	json_str(ctx, "start", text);
	snprintf(text, sizeof text, "0x%" PRIx64, end);
	json_str(ctx, "end", text);
	json_object_end(ctx);
}

void resident_json(struct json *j, const struct snapshot *s, const struct maps_wish *wish)
{
	json_array(j, "resident");
	each_range(s, wish, add_json, j);
	json_array_end(j);
}
