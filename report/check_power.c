/* SPDX-License-Identifier: MIT */
#include "report/check_power.h"

#include "base/array.h"
#include "report/amount.h"
#include "report/words_change.h"

#include <math.h>

#define USUAL 0.1		/* change that longer histories find, too */

double check_power_least(const struct power *p)
{
	double least = NAN;

	for (size_t i = 0; i < p->n; i++)
		least = fmin(least, power_least(&p->row[i]));
	return least;
}

void check_power_add_short(struct buf *text, const struct power *p)
{
	double least = p && p->n ? check_power_least(p) : 0;

	if (least <= USUAL)
		return;
	buf_addf(text, "the history is short: no change of the build or its longest tasks %s +%g %% is found "
		 "within %u builds yet", isnan(least) ? "up to" : "below",
		 100 * (isnan(least) ? power_size[POWER_SIZES - 1] : least), p->builds);
}

static void add_share(struct buf *text, double share)
{
	if (!isfinite(share))
		buf_addf(text, "none up to +%g %%", 100 * power_size[POWER_SIZES - 1]);
	else
		buf_addf(text, "+%g %%", 100 * share);
}

void check_power_add_found(struct buf *text, const struct power *p)
{
	size_t has_total = p && p->n && p->row[0].task == TASK_TOTAL;
	double low = INFINITY, high = 0;

	if (!p || !p->n)
		return;
	buf_addf(text, "smallest changes that check finds within %u builds: ", p->builds);
	if (has_total) {
		add_share(text, power_least(&p->row[0]));
		buf_adds(text, " of the build");
	}
	if (has_total && p->n > 1)
		buf_adds(text, ", ");
	for (size_t i = has_total; i < p->n; i++) {
		double least = power_least(&p->row[i]);

		low = fmin(low, least);
		high = fmax(high, isnan(least) ? INFINITY : least);
	}
	if (p->n > has_total) {
		add_share(text, low);
		if (high > low) {
			buf_adds(text, " to ");
			add_share(text, high);
		}
		buf_adds(text, p->n - has_total > 1 ? " of its longest tasks" : " of its longest task");
	}
	buf_adds(text, "; check --power tries more");
}

static void add_head(struct doc *d, const struct check_power *c)
{
	const struct power *p = c->power;
	struct buf rest = BUF_PART_OF(d->out), *text;

	buf_addf(&rest, ": %s, newest build ", c->builds->ref);
	words_add_build(&rest, c->builds, (uint32_t)c->builds->n - 1);
	doc_lead(d, TONE_TITLE, p->n ? "the changes that check finds" : p->builds ?
		 "no task has values of these metrics" : "too few builds to try what check finds",
		 buf_str(&rest));
	buf_release(&rest);
	if (!p->n)
		return;
	text = doc_sentence(d);
	buf_addf(text, "Each change was added to the values of the newest %u builds or, in other trials, of a few "
		 "more, and each of these builds was checked; %u %s.", p->builds, p->trials,
		 p->trials == 1 ? "trial" : "trials, and the median counts");
	if (p->together)
		buf_adds(text, " All tasks below changed at once, to save time, which makes small "
			 "changes easier to find.");
	text = doc_sentence(d);
	buf_addf(text, "The gain of record --repeat %u was tried in the same way, with builds that are medians of "
		 "%u %s ", c->as->runs, REPEATED_TIMES, c->as->runs > REPEATED_TIMES ? "sets." : "builds.");
	if (isnan(c->as->share))
		buf_adds(text, "It assumes that builds in a row differ as those of different days do. What slows "
			 "all builds of one day is not removed, and the gain is then smaller.");
	else
		buf_addf(text, "Only %.0f %% of the variance between the sets of this archive comes from their "
			 "runs.", 100 * c->as->share);
}

static void add_cell(struct doc *d, const struct power_cell *cell)
{
	struct buf *text = doc_text(d, cell->answer == POWER_FOUND ? (double)cell->builds : NAN);

	if (cell->answer == POWER_FOUND)
		buf_addu(text, cell->builds);
	else
		buf_adds(text, cell->answer == POWER_BELOW ? "below" : "no");
}

static void add_size(struct buf *text, size_t size)
{
	buf_addf(text, "+%g %%", 100 * power_size[size]);
}

/* "; record --repeat 3 finds +5 % after 3 builds", if that is smaller or sooner. */
static void add_repeated(struct buf *text, const struct check_power *c, size_t row, size_t least)
{
	const struct power_row *with = &c->repeated->row[row], *without = &c->power->row[row];
	size_t i = 0;

	while (i < POWER_SIZES && with->cell[i].answer != POWER_FOUND)
		i++;
	if (i > least || i == POWER_SIZES ||
	    (i == least && with->cell[i].builds >= without->cell[i].builds))
		return;
	buf_addf(text, "; record --repeat %u finds ", c->as->runs);
	add_size(text, i);
	buf_adds(text, " after ");
	words_add_count(text, with->cell[i].builds, "build", "builds");
}

/* "data/corpus.idx: +10 % is found after 4 builds, +5 % is not". */
static void add_least(struct buf *text, const struct check_power *c, size_t n)
{
	const struct power_row *row = &c->power->row[n];
	size_t i = 0;

	while (i < POWER_SIZES && row->cell[i].answer != POWER_FOUND)
		i++;
	buf_addf(text, "%s: ", words_task(c->builds, row->task));
	if (i == POWER_SIZES) {
		add_size(text, i - 1);
		buf_adds(text, row->cell[i - 1].answer == POWER_BELOW ? " is below the thresholds" :
			 " is not found");
		add_repeated(text, c, n, i);
		return;
	}
	add_size(text, i);
	buf_adds(text, " is found after ");
	words_add_count(text, row->cell[i].builds, "build", "builds");
	if (i) {
		buf_adds(text, ", ");
		add_size(text, i - 1);
		buf_adds(text, row->cell[i - 1].answer == POWER_BELOW ? " is below the thresholds" : " is not");
	}
	add_repeated(text, c, n, i);
}

int check_power_doc(struct doc *d, const struct check_power *c)
{
	static const struct doc_column columns[] = {
		{ "task", .gap = 2, .width = 40, .shorten = true }, { "now", .type = DOC_REAL, .gap = 2, .width = 10 },
		{ "+5 %", .type = DOC_REAL, .gap = 2, .width = 6 }, { "+10 %", .type = DOC_REAL, .gap = 2, .width = 6 },
		{ "+20 %", .type = DOC_REAL, .gap = 2, .width = 6 }, { "+50 %", .type = DOC_REAL, .gap = 2, .width = 6 },
		{ "+100 %", .type = DOC_REAL, .gap = 2, .width = 6 },
	};
	const struct doc_table table = {
		.title = "Builds until a change is found (no: not found; below: less than the thresholds)",
		.column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true, .tone = TONE_FAINT,
	};
	const struct power *p = c->power;

	add_head(d, c);
	for (size_t i = 0; i < p->n; i++)
		add_least(doc_item(d, 2), c, i);
	if (p->n)
		doc_table(d, &table);
	for (size_t i = 0; i < p->n; i++) {
		const struct power_row *row = &p->row[i];

		doc_row(d);
		doc_str(d, words_task(c->builds, row->task));
		amount_add(doc_text(d, row->level), metric_info[row->metric].unit, row->level);
		for (size_t k = 0; k < POWER_SIZES; k++)
			add_cell(d, &row->cell[k]);
	}
	if (p->n)
		doc_table_end(d, 0);
	return buf_error(d->out);
}
