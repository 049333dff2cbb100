/* SPDX-License-Identifier: MIT */
#include "report/inspect_page_parts.h"

#include "base/clock.h"
#include "base/text.h"
#include "report/inspect/class_shares.h"

#include <string.h>

#define COMMAND_COLUMNS 150
#define GROWTH_LEAST 0.05	/* of the peak, to be worth a sentence */

static size_t peak_of(const struct inspect_page *p)
{
	size_t peak = 0;

	for (size_t i = 1; i < p->n; i++) {
		if (p->time[i].kb[MAPPING_RSS] > p->time[peak].kb[MAPPING_RSS])
			peak = i;
	}
	return peak;
}

/* A long one as its beginning, which shows the whole when it is clicked. */
static void add_command(struct markup *h, const char *command)
{
	struct buf start = BUF_PART_OF(h->out);

	text_add_name(&start, command, COMMAND_COLUMNS);
	if (!strcmp(buf_str(&start), command)) {
		markup_open(h, "p", "facts");
	} else {
		markup_open(h, "details", "facts");
		markup_begin(h, "summary");
		markup_leaf(h, "code", NULL, buf_str(&start));
		markup_end(h);
	}
	markup_leaf(h, "code", NULL, command);
	markup_end(h);
	buf_release(&start);
}

void inspect_header_write(struct markup *h, const struct inspect_page *p)
{
	struct buf text = BUF_PART_OF(h->out);

	buf_addf(&text, "Memory of %s %d", p->in->program, p->in->pid);
	markup_leaf(h, "h1", NULL, buf_str(&text));
	add_command(h, p->in->command);
	buf_clear(&text);
	buf_addf(&text, "%s, ", p->in->host);
	clock_add_iso(&text, p->in->start_us * 1000);
	buf_addf(&text, ", %zu snapshot%s", p->n, p->n == 1 ? "" : "s");
	if (p->n > 1) {
		buf_adds(&text, " in ");
		text_add_time(&text, p->time[p->n - 1].time_us - p->time[0].time_us);
	}
	if (p->in->heap == HEAP_EXACT) {
		buf_adds(&text, ", every allocation counted");
	} else if (p->in->heap == HEAP_SAMPLED) {
		buf_adds(&text, ", allocations sampled every ");
		text_add_bytes(&text, (int64_t)p->in->heap_period);
	}
	if (*p->in->end)
		buf_addf(&text, "; end: %s", p->in->end);
	markup_leaf(h, "p", "facts faint", buf_str(&text));
	buf_release(&text);
}

static void add_size(struct buf *b, uint64_t kb)
{
	text_add_bytes(b, (int64_t)kb * 1024);
}

/* The shortest time before the peak with half of the growth or more; of those the largest
 * growth. */
static void find_growth(const struct inspect_page *p, size_t peak, size_t *from, size_t *to)
{
	const struct page_time *t = p->time;
	int64_t least = INT64_MAX, most = 0;
	uint64_t growth = t[peak].kb[MAPPING_RSS] - t[0].kb[MAPPING_RSS];

	for (size_t i = 0; i < peak; i++) {
		for (size_t j = i + 1; j <= peak; j++) {
			int64_t took = t[j].time_us - t[i].time_us;
			int64_t by = (int64_t)t[j].kb[MAPPING_RSS] - (int64_t)t[i].kb[MAPPING_RSS];

			if (by < (int64_t)(growth + 1) / 2 || took > least || (took == least && by <= most))
				continue;
			least = took;
			most = by;
			*from = i;
			*to = j;
			break;
		}
	}
}

static void add_growth(struct markup *h, const struct inspect_page *p, const struct classes *memory,
		       size_t peak)
{
	uint64_t first = p->time[0].kb[MAPPING_RSS], most = p->time[peak].kb[MAPPING_RSS];
	struct buf text = BUF_PART_OF(h->out);
	size_t from = 0, to = 0;

	if ((double)(most - first) < GROWTH_LEAST * (double)most) {
		buf_adds(&text, "It was about as large in the first snapshot.");
	} else {
		find_growth(p, peak, &from, &to);
		buf_adds(&text, "From ");
		text_add_time(&text, p->time[from].time_us);
		buf_adds(&text, " to ");
		text_add_time(&text, p->time[to].time_us);
		buf_adds(&text, " it grew by ");
		add_size(&text, p->time[to].kb[MAPPING_RSS] - p->time[from].kb[MAPPING_RSS]);
		buf_adds(&text, ", ");
		text_add_percent(&text, (double)(p->time[to].kb[MAPPING_RSS] -
						 p->time[from].kb[MAPPING_RSS]) / (double)(most - first));
		buf_adds(&text, " of its growth");
		class_shares_add(&text, &(struct class_shares){ memory, MAPPING_RSS, to, from });
	}
	markup_leaf(h, "p", NULL, buf_str(&text));
	buf_release(&text);
}

static void add_heap(struct markup *h, const struct inspect_page *p, const struct classes *heap)
{
	struct buf text = BUF_PART_OF(h->out);
	size_t most = 0;

	for (size_t i = 1; i < p->n; i++) {
		if (p->time[i].live_bytes > p->time[most].live_bytes)
			most = i;
	}
	buf_addf(&text, "Its allocations had %s", p->in->heap == HEAP_SAMPLED ? "about " : "");
	text_add_bytes(&text, (int64_t)p->time[most].live_bytes);
	buf_adds(&text, " at ");
	text_add_time(&text, p->time[most].time_us);
	class_shares_add(&text, &(struct class_shares){ heap, HEAP_LIVE_BYTES, most, SIZE_MAX });
	if (p->time[most].live_bytes / 1024 > p->time[peak_of(p)].kb[MAPPING_RSS])
		buf_adds(&text, " Not all of it was in memory: the process mapped it and did not use it.");
	markup_leaf(h, "p", NULL, buf_str(&text));
	buf_release(&text);
}

void inspect_answer_write(struct markup *h, const struct inspect_page *p,
			  const struct classes *memory, const struct classes *heap)
{
	struct buf text = BUF_PART_OF(h->out);
	size_t peak = peak_of(p);

	markup_open(h, "section", "answer");
	if (!p->n) {
		markup_leaf(h, "p", NULL, "There is no snapshot: the process ended too early, or it "
			    "could not be read.");
	} else {
		buf_adds(&text, "At ");
		text_add_time(&text, p->time[peak].time_us);
		buf_adds(&text, " the process was largest, with ");
		add_size(&text, p->time[peak].kb[MAPPING_RSS]);
		buf_adds(&text, " in memory");
		class_shares_add(&text, &(struct class_shares){ memory, MAPPING_RSS, peak, SIZE_MAX });
		markup_leaf(h, "p", NULL, buf_str(&text));
		if (peak)
			add_growth(h, p, memory, peak);
		if (heap && p->has_heap)
			add_heap(h, p, heap);
	}
	markup_end(h);
	buf_release(&text);
}
