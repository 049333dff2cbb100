/* SPDX-License-Identifier: MIT */
#include "render/inspect/resident.h"

#include <inttypes.h>
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

			add(ctx, m, start > m->start ? start : m->start,
			    end < m->end ? end : m->end);
		}
	}
}

struct table {
	struct buf *out;
	const struct maps_wish *wish;
	uint64_t bytes;
	size_t n;
};

static void size(struct buf *out, uint64_t bytes)
{
	struct buf cell = BUF_PART_OF(out);

	text_add_bytes(&cell, (int64_t)(bytes & INT64_MAX));
	text_add_blanks(out, cell.len < 8 ? 8 - cell.len : 0);
	buf_adds(out, buf_str(&cell));
	buf_release(&cell);
}

static void add_row(void *ctx, const struct mapping *m, uint64_t start, uint64_t end)
{
	struct table *t = ctx;

	buf_addf(t->out, "%012" PRIx64 "-%012" PRIx64 "  ", start, end);
	size(t->out, end - start);
	buf_addf(t->out, "  %s  ", m->permissions);
	if (m->file < t->wish->names->n)
		text_add_name(t->out, t->wish->names->name[m->file].p, 0);
	buf_addc(t->out, '\n');
	t->bytes += end - start;
	t->n++;
}

void resident_text(struct buf *out, const struct snapshot *s, const struct maps_wish *wish,
		   const struct style *style)
{
	struct table t = { out, wish, 0, 0 };

	text_tone(out, style, TONE_TITLE);
	buf_adds(out, "in memory                      size  perm  file");
	text_tone(out, style, TONE_PLAIN);
	buf_addc(out, '\n');
	each_range(s, wish, add_row, &t);
	buf_adds(out, "total                      ");
	size(out, t.bytes);
	buf_addf(out, "  in %zu range%s\n", t.n, t.n == 1 ? "" : "s");
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
