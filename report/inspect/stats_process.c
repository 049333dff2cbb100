/* SPDX-License-Identifier: MIT */
#include "report/inspect/inspect_stats.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "write/doc.h"

#include <stddef.h>
#include <string.h>

/* The rows, and the keys of a sample in JSON. -1: unknown. */
enum row { CPU, RSS, THREADS, FAULTS, MAJOR_FAULTS, READ, WRITTEN, ROWS };

static const struct {
	const char *head, *key;
} rows[ROWS] = {
	[CPU] = { "CPU", "cpu_percent" }, [RSS] = { "RSS", "rss_kb" },
	[THREADS] = { "threads", "threads" }, [FAULTS] = { "faults", "minor_faults" },
	[MAJOR_FAULTS] = { "from disk", "major_faults" }, [READ] = { "read", "read_kb" },
	[WRITTEN] = { "written", "written_kb" },
};

static int64_t value_of(const struct recent_sample *s, enum row row)
{
	switch (row) {
	case CPU:
		return s->cpu_permille;
	case RSS:
		return (int64_t)(s->rss_kb & INT64_MAX);
	case THREADS:
		return s->threads;
	case FAULTS:
		return s->minor_faults;
	case MAJOR_FAULTS:
		return s->major_faults;
	case READ:
		return s->read_kb;
	default:
		return s->written_kb;
	}
}

static void add_value(struct buf *out, enum row row, int64_t value)
{
	if (value < 0)
		buf_adds(out, "-");
	else if (row == CPU)
		buf_addf(out, "%.1f %%", (double)value / 10);
	else if (row == RSS || row == READ || row == WRITTEN)
		text_add_bytes(out, value % (INT64_MAX / 1024) * 1024);
	else
		buf_addi(out, value);
}

/* -1 if none is known */
static int64_t largest(const struct recent *r, size_t first, enum row row)
{
	int64_t most = -1;

	for (size_t i = first; i < r->n; i++) {
		int64_t value = value_of(recent_at(r, i), row);

		most = MAX(value, most);
	}
	return most;
}

/* Eighths of the largest value; 0 is the lowest block, unknown is a blank. */
static void add_blocks(struct buf *out, const struct recent *r, size_t first, enum row row,
		       int64_t most)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

	for (size_t i = first; i < r->n; i++) {
		int64_t value = value_of(recent_at(r, i), row);
		double part = most > 0 ? (double)value / (double)most : 0;

		buf_adds(out, value < 0 ? " " : blocks[(size_t)(part * 7 + 0.5)]);
	}
}

int stats_process_text(struct buf *out, const struct look *l, const struct recent *r,
		       const struct style *style)
{
	static const struct doc_column columns[] = {
		{ .width = 9 }, { "now", .type = DOC_COUNT, .gap = 1, .width = 9 },
		{ "largest", .type = DOC_COUNT, .width = 9 }, { .gap = 2 },
	};
	static const struct doc_table table = {
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true, .empty = true,
		.tone = TONE_TITLE,
	};
	size_t room = style->width > 40 ? style->width - 34 : 60;
	size_t first = r->n > room ? r->n - room : 0;
	struct doc d;

	buf_addf(out, "process %d (", (int)l->pid);
	text_add_name(out, l->name, 0);
	buf_addf(out, "), %zu sample%s\n", r->n, r->n == 1 ? "" : "s");
	doc_init_terminal(&d, out, style);
	doc_table(&d, &table);
	for (enum row row = 0; row < ROWS && r->n; row++) {
		int64_t most = largest(r, first, row), now = value_of(recent_at(r, r->n - 1), row);

		doc_row(&d);
		doc_str(&d, rows[row].head);
		add_value(doc_text(&d, (double)now), row, now);
		add_value(doc_text(&d, (double)most), row, most);
		add_blocks(doc_text(&d, (double)most), r, first, row, most);
		doc_tone(&d, TONE_BAR);
	}
	doc_table_end(&d, 0);
	doc_release(&d);
	return buf_error(out);
}

void stats_samples_json(struct json *j, const struct recent *r)
{
	json_array(j, "samples");
	for (size_t i = 0; i < r->n; i++) {
		const struct recent_sample *s = recent_at(r, i);

		json_object(j, NULL);
		json_int(j, "age_us", r->last_us - s->time_us);
		for (enum row row = 0; row < ROWS; row++) {
			int64_t value = value_of(s, row);

			if (row == CPU && value >= 0)
				json_real(j, rows[row].key, (double)value / 10, 1);
			else
				json_known(j, rows[row].key, value);
		}
		json_object_end(j);
	}
	json_array_end(j);
}

int stats_process_json(struct buf *out, const struct look *l, const struct recent *r,
		       int64_t wall_ns, bool compact)
{
	struct buf time = BUF_PART_OF(out);
	struct json j;

	clock_add_iso(&time, wall_ns);
	json_init(&j, out, compact);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat stats 1");
	json_str(&j, "time", buf_str(&time));
	json_int(&j, "pid", l->pid);
	json_str(&j, "program", l->name);
	stats_samples_json(&j, r);
	json_object_end(&j);
	buf_release(&time);
	return buf_error(out);
}
