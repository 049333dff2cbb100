/* SPDX-License-Identifier: MIT */
#include "report/whatif_output.h"

#include "analyse/names.h"
#include "analyse/words.h"
#include "base/array.h"
#include "base/minmax.h"
#include "report/show_parts.h"

#include <math.h>

#define NAMED 3			/* tasks with the most memory */
#define CHAIN_LEAST 0.01	/* of the wall time: shorter tasks of the chain are added up */
#define CHAIN_MOST 12
#define CHANGE_LEAST 0.005	/* of the wall time: a smaller change is not mentioned */

static void add_cores(struct buf *b, const struct rerun *r, double cores)
{
	double whole = cores + r->chain->free.others;

	if (cores <= 0)
		return;
	if (whole >= 1 && fabs(whole - floor(whole + .5)) < .01)
		buf_addf(b, " on %.0f core%s", whole, whole < 1.5 ? "" : "s");
	else
		buf_addf(b, " on %.1f cores", whole);
}

/* "-j4 on 2 cores" */
static void add_conditions(struct buf *b, const struct rerun *r, int64_t jobs, double cores)
{
	if (jobs > 0 && jobs < INT32_MAX)
		buf_addf(b, "with %lld worker%s", (long long)jobs, jobs == 1 ? "" : "s");
	else
		buf_adds(b, "with any number of workers");
	add_cores(b, r, cores);
}

static void add_lead(struct doc *d, const struct forecast *f, const struct rerun *r)
{
	struct buf strong = BUF_PART_OF(d->out), rest = BUF_PART_OF(d->out);
	double ratio = f->wall_us > 0 ? (double)r->s->wall_us / (double)f->wall_us : 0;

	buf_adds(&strong, "about ");
	text_add_time(&strong, f->wall_us);
	buf_adds(&rest, " (");
	text_add_time(&rest, f->low_us);
	buf_adds(&rest, " to ");
	text_add_time(&rest, f->high_us);
	buf_adds(&rest, ") ");
	add_conditions(&rest, r, f->jobs, f->cores);
	buf_adds(&rest, ", instead of ");
	text_add_time(&rest, r->s->wall_us);
	if (fabs(ratio - 1) < CHANGE_LEAST)
		buf_adds(&rest, ": no change");
	else if (ratio > 1)
		buf_addf(&rest, ": %.2f times as fast", ratio);
	else if (ratio > 0)
		buf_addf(&rest, ": %.2f times as long", 1 / ratio);
	doc_lead(d, TONE_TITLE, buf_str(&strong), buf_str(&rest));
	buf_release(&strong);
	buf_release(&rest);
}

/* What it did not run may have taken longer than all that it ran. */
static void add_unfinished(struct doc *d, const struct rerun *r)
{
	struct buf *b;

	if (build_is_good(r->s->result))
		return;
	b = doc_sentence(d);
	buf_adds(b, "Only what ran is replayed: the build ");
	if (r->s->result == BUILD_UNFINISHED)
		buf_adds(b, "did not end");
	else
		words_add_result(b, r->s->result, r->s->status);
	buf_adds(b, ".");
	doc_line_tone(d, TONE_ALARM);
}

static void add_task_name(struct buf *b, const struct rerun *r, uint32_t task)
{
	struct buf name = BUF_PART_OF(b);

	name_add_task(&name, r->s->rec, &r->s->rec->task[task]);
	text_add_name(b, buf_str(&name), 40);
	buf_release(&name);
}

static void add_memory(struct doc *d, const struct forecast *f, const struct rerun *r, int64_t memory_kb)
{
	struct buf *b;

	if (f->memory_kb < 0)
		return;
	b = doc_item(d, 2);
	buf_adds(b, "memory  at most ");
	text_add_bytes(b, f->memory_kb * 1024);
	buf_adds(b, " at ");
	text_add_time(b, f->memory_us);
	for (size_t i = 0; i < MIN(f->n_largest, NAMED); i++) {
		buf_adds(b, i ? ", " : ": ");
		add_task_name(b, r, f->largest[i]);
	}
	if (f->n_largest > NAMED)
		buf_adds(b, " ...");
	if (memory_kb <= 0)
		return;
	b = doc_item(d, 2);
	if (f->memory_kb > memory_kb) {
		buf_adds(b, "        That is more than ");
		text_add_bytes(b, memory_kb * 1024);
		buf_adds(b, ": the build would swap, or the kernel would kill processes");
		doc_line_tone(d, TONE_ALARM);
	} else {
		buf_adds(b, "        That fits into ");
		text_add_bytes(b, memory_kb * 1024);
	}
}

static void add_facts(struct doc *d, const struct forecast *f)
{
	struct buf *b;

	if (f->busy >= 0) {
		b = doc_item(d, 2);
		buf_adds(b, "CPU     ");
		text_add_percent(b, f->busy);
		buf_adds(b, f->cores == 1 ? " of the core that the build can use" :
			 " of the cores that the build can use");
	}
	b = doc_item(d, 2);
	buf_addf(b, "tasks   %lld at once at most", (long long)f->running_most);
}

static const struct doc_column chain_columns[] = {
	{ .title = "start", .key = "start_us", .type = DOC_US, .gap = 2, .width = 8 },
	{ .title = "wall", .key = "wall_us", .type = DOC_US, .gap = 2, .width = 8 },
	{ .title = "waited for", .type = DOC_STRING, .gap = 2, .width = 11 },
	{ .title = "task", .key = "task", .type = DOC_STRING, .gap = 2, .last = true, .shorten = true },
};

static const struct doc_table chain_table = {
	.title = "What the end of that build waits for", .key = "chain", .column = chain_columns,
	.n_columns = ARRAY_SIZE(chain_columns), .heads = true, .tone = TONE_FAINT, .least = SHOW_NAME_LEAST,
};

/* The longest tasks of the chain; the others are counted. */
static void add_chain(struct doc *d, const struct forecast *f, const struct rerun *r)
{
	int64_t least_us = (int64_t)(CHAIN_LEAST * (double)f->wall_us), longest[CHAIN_MOST] = { 0 };
	size_t more = 0;

	for (size_t i = 0; i < f->n_chain; i++) {
		int64_t us = f->chain[i].end_us - f->chain[i].start_us;

		for (size_t k = 0; k < CHAIN_MOST; k++) {
			if (us > longest[k]) {
				int64_t other = longest[k];

				longest[k] = us;
				us = other;
			}
		}
	}
	least_us = MAX(least_us, longest[CHAIN_MOST - 1]);
	doc_table(d, &chain_table);
	for (size_t i = 0; i < f->n_chain; i++) {
		const struct forecast_link *l = &f->chain[i];

		if (l->end_us - l->start_us < least_us) {
			more++;
			continue;
		}
		doc_row(d);
		doc_num(d, l->start_us);
		doc_num(d, l->end_us - l->start_us);
		doc_str(d, !i ? "" : l->for_worker ? "a worker" : "the task above");
		show_task_name(d, r->s->rec, &r->s->rec->task[l->task]);
	}
	doc_table_end(d, more);
}

int whatif_doc(struct doc *d, const struct forecast *f, const struct rerun *r, int64_t memory_kb)
{
	add_lead(d, f, r);
	add_unfinished(d, r);
	doc_empty_line(d);
	add_facts(d, f);
	add_memory(d, f, r, memory_kb);
	add_chain(d, f, r);
	doc_flush(d);
	return buf_error(d->out);
}

/* The curve */

static const struct doc_column curve_columns[] = {
	{ .title = "workers", .key = "jobs", .type = DOC_COUNT, .gap = 0, .width = 7 },
	{ .title = "wall", .key = "wall_us", .type = DOC_US, .gap = 2, .width = 8 },
	{ .title = "memory", .key = "memory_kb", .type = DOC_KB, .gap = 2, .width = 8 },
	{ .title = "", .type = DOC_STRING, .gap = 2, .last = true, .shorten = true },
};

static const struct doc_table curve_table = {
	.key = "points", .column = curve_columns, .n_columns = ARRAY_SIZE(curve_columns), .heads = true,
	.tone = TONE_FAINT, .least = 10,
};

static void add_bar(struct buf *b, double share)
{
	static const char *const eighth[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int n = (int)(share * 8 * 30 + .5);

	for (; n >= 8; n -= 8)
		buf_adds(b, "█");
	buf_adds(b, eighth[n]);
}

int whatif_curve_doc(struct doc *d, const struct rerun_curve *c, const struct rerun *r, int64_t memory_kb)
{
	const struct rerun_point *best = &c->point[c->best], *knee = &c->point[c->knee];
	int64_t most_us = 1, safe = memory_kb > 0 ? rerun_curve_safe(c, memory_kb) : -1;
	struct buf strong = BUF_PART_OF(d->out), rest = BUF_PART_OF(d->out);

	buf_addf(&strong, "-j%lld", (long long)knee->jobs);
	buf_adds(&rest, " is enough: about ");
	text_add_time(&rest, knee->wall_us);
	add_cores(&rest, r, r->chain->free.cores);
	if (best->jobs != knee->jobs) {
		buf_addf(&rest, "; the best, -j%lld, takes ", (long long)best->jobs);
		text_add_time(&rest, best->wall_us);
	}
	doc_lead(d, TONE_TITLE, buf_str(&strong), buf_str(&rest));
	add_unfinished(d, r);
	if (safe >= 0) {
		struct buf *b = doc_sentence(d);

		if (safe)
			buf_addf(b, "At most -j%lld fits into ", (long long)safe);
		else
			buf_adds(b, "Not even -j1 fits into ");
		text_add_bytes(b, memory_kb * 1024);
		buf_adds(b, safe == c->point[c->n - 1].jobs ? " of memory: all that was tried." : " of memory.");
		if (safe < c->point[c->n - 1].jobs)
			doc_line_tone(d, TONE_ALARM);
	}
	doc_empty_line(d);
	for (size_t i = 0; i < c->n; i++)
		most_us = MAX(most_us, c->point[i].wall_us);
	doc_table(d, &curve_table);
	for (size_t i = 0; i < c->n; i++) {
		doc_row(d);
		doc_num(d, c->point[i].jobs);
		doc_num(d, c->point[i].wall_us);
		doc_num(d, c->point[i].memory_kb);
		add_bar(doc_text(d, NAN), (double)c->point[i].wall_us / (double)most_us);
	}
	doc_table_end(d, 0);
	doc_flush(d);
	buf_release(&strong);
	buf_release(&rest);
	return buf_error(d->out);
}
