/* SPDX-License-Identifier: MIT */
#include "report/inspect_parts.h"

#include "base/clock.h"
#include "base/text.h"

#define CLASSES_NAMED 4
#define SHARE_NAMED 0.02
#define ALL_OF_IT 0.98
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

void inspect_header_write(struct markup *h, const struct inspect_page *p)
{
	struct buf text = BUF_PART_OF(h->out);

	buf_addf(&text, "Memory of %s %d", p->in->program, p->in->pid);
	markup_leaf(h, "h1", NULL, buf_str(&text));
	markup_open(h, "p", "facts");
	markup_leaf(h, "code", NULL, p->in->command);
	markup_end(h);
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

struct shares {
	const struct classes *c;
	size_t from, to;		/* snapshots: the difference; from == SIZE_MAX: the value */
	unsigned value;
};

static int64_t value_of(const struct shares *s, size_t class)
{
	int64_t v = classes_value(s->c, class, s->to, s->value);

	return s->from == SIZE_MAX ? v : v - classes_value(s->c, class, s->from, s->value);
}

/* The largest class directly below its parent that is smaller than the last one, or the next of its
 * size. 0: there is none. */
static size_t next_class(const struct shares *s, size_t parent, size_t last)
{
	size_t found = 0;

	for (size_t i = 1; i < s->c->n; i++) {
		int64_t v = value_of(s, i);

		if (s->c->item[i].parent != parent ||
		    (last && (v > value_of(s, last) || (v == value_of(s, last) && i <= last))))
			continue;
		if (!found || v > value_of(s, found))
			found = i;
	}
	return found;
}

/* "73 % ggc (make_node 30 %), 15 % code" of the classes directly below one, in parts of the whole.
 * Below the whole, the largest one has its own. */
static void add_classes(struct buf *b, const struct shares *s, size_t parent)
{
	double whole = s->c->n ? (double)value_of(s, 0) : 0;
	size_t class = 0;
	unsigned n = 0;

	for (; n < CLASSES_NAMED; n++) {
		double share;

		do
			class = next_class(s, parent, class);
		while (parent && class && s->c->item[class].other);
		share = class && whole > 0 ? (double)value_of(s, class) / whole : 0;
		if (!class || ((n || parent) && share < SHARE_NAMED))
			break;
		if (parent && !n && (double)value_of(s, class) > ALL_OF_IT * (double)value_of(s, parent))
			break;
		buf_adds(b, n ? ", " : parent ? " (" : ": ");
		text_add_percent(b, share);
		buf_addc(b, ' ');
		text_add_name(b, s->c->item[class].name, 0);
		if (!n && !parent)
			add_classes(b, s, class);
	}
	if (n && parent)
		buf_addc(b, ')');
}

static void add_shares(struct buf *b, const struct shares *s)
{
	add_classes(b, s, 0);
	buf_addc(b, '.');
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
		add_shares(&text, &(struct shares){ memory, from, to, MAPPING_RSS });
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
	add_shares(&text, &(struct shares){ heap, SIZE_MAX, most, HEAP_LIVE_BYTES });
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
		add_shares(&text, &(struct shares){ memory, SIZE_MAX, peak, MAPPING_RSS });
		markup_leaf(h, "p", NULL, buf_str(&text));
		if (peak)
			add_growth(h, p, memory, peak);
		if (heap && p->has_heap)
			add_heap(h, p, heap);
	}
	markup_end(h);
	buf_release(&text);
}
