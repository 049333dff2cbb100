/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "report/page_parts.h"

#include "report/amount.h"
#include "report/check_limits.h"
#include "report/check_population.h"
#include "report/check_power.h"
#include "report/words_change.h"

#include <math.h>
#include <string.h>

#define LIMITS_MOST 10
#define FINDINGS_MOST 200	/* in this table; the table of all tasks has the rest */

/* For the beginning of a sentence. */
static void capitalize(struct buf *b)
{
	if (b->len && *b->data >= 'a' && *b->data <= 'z')
		*b->data += 'A' - 'a';
}

static void add_builds(struct buf *b, const struct builds *builds)
{
	size_t before, day;

	buf_adds(b, builds->ref);
	buf_adds(b, ": ");
	words_add_count(b, builds->n, "build", "builds");
	buf_adds(b, ", ");
	before = b->len;
	words_add_day(b, builds, 0);
	day = b->len - before;
	buf_adds(b, " to ");
	words_add_day(b, builds, (uint32_t)builds->n - 1);
	if (!buf_error(b) && !memcmp(b->data + before, b->data + b->len - day, day))
		buf_cut(b, before + day);
	if (builds->build[builds->n - 1].n_revisions) {
		buf_adds(b, ", newest revision ");
		page_add_build_revisions(b, builds, (uint32_t)builds->n - 1);
	}
	buf_addc(b, '.');
}

static void add_limits(struct markup *h, const struct limits_check *l)
{
	struct buf text = BUF_PART_OF(h->out);

	for (size_t i = 0; l && i < l->n && i < LIMITS_MOST; i++) {
		buf_clear(&text);
		check_limits_add_excess(&text, &l->excess[i]);
		markup_leaf(h, "p", "alarm", buf_str(&text));
	}
	if (l && l->n > LIMITS_MOST) {
		buf_clear(&text);
		buf_addf(&text, "And %zu more exceed their limits.", l->n - LIMITS_MOST);
		markup_leaf(h, "p", "alarm", buf_str(&text));
	}
	buf_release(&text);
}

void page_part_header(struct markup *h, const struct page *p)
{
	struct buf text = BUF_PART_OF(h->out), to_come = BUF_PART_OF(h->out);
	uint32_t good;

	markup_begin(h, "header");
	check_limits_add_verdict(&text, p->limits);
	words_add_verdict(&text, p->verdict, p->n_causes);
	capitalize(&text);
	markup_leaf(h, "h1", p->verdict->n_confirmed || p->verdict->not_judged ||
		    (p->limits && p->limits->n) ? "verdict worse" : "verdict", buf_str(&text));
	buf_clear(&text);
	add_builds(&text, p->builds);
	markup_leaf(h, "p", "facts", buf_str(&text));
	buf_clear(&text);
	if (words_last_good(p->builds, p->verdict, &good)) {
		words_add_before_failure(&text, p->builds, good);
		capitalize(&text);
		buf_adds(&text, ". ");
	}
	words_add_judged(&text, p->verdict, p->rules);
	buf_addc(&text, '.');
	words_add_builds_to_come(&to_come, p->verdict);
	capitalize(&to_come);
	if (to_come.len)
		buf_addf(&text, " %s.", buf_str(&to_come));
	buf_release(&to_come);
	markup_leaf(h, "p", "facts faint", buf_str(&text));
	buf_clear(&text);
	if (p->is_short)
		check_power_add_short(&text, p->power);
	else
		check_power_add_found(&text, p->power);
	capitalize(&text);
	if (text.len)
		markup_leaf(h, "p", "facts", buf_str(&text));
	add_limits(h, p->limits);
	for (enum metric m = 0; m < METRICS; m++) {
		if (!words_host_event(p->verdict, m))
			continue;
		buf_clear(&text);
		words_add_host(&text, p->verdict, m);
		capitalize(&text);
		buf_addc(&text, '.');
		markup_leaf(h, "p", "alarm", buf_str(&text));
	}
	for (size_t i = 0; i < p->verdict->n_exact; i++) {
		buf_clear(&text);

		words_add_exact(&text, &p->verdict->exact[i]);
		capitalize(&text);
		buf_addc(&text, '.');
		markup_leaf(h, "p", NULL, buf_str(&text));
	}
	buf_clear(&text);
	check_population_add_summary(&text, p->population, p->builds);
	capitalize(&text);
	if (text.len)
		markup_leaf(h, "p", NULL, buf_str(&text));
	markup_end(h);
	buf_release(&text);
}

static void add_interval(struct markup *h, const struct verdict_finding *f)
{
	struct buf text = BUF_PART_OF(h->out);

	if (!isfinite(f->low) || !isfinite(f->high)) {
		buf_addc(&text, '-');
	} else {
		amount_add_interval(&text, f->effect, f->low, f->high);
	}
	markup_leaf(h, "td", "number interval", buf_str(&text));
	buf_release(&text);
}

static void add_since(struct markup *h, const struct page *p, const struct verdict_finding *f)
{
	struct buf text = BUF_PART_OF(h->out);

	words_add_day(&text, p->builds, f->since);
	markup_open(h, "td", "day since");
	markup_text(h, buf_str(&text));
	buf_clear(&text);
	if (f->first < f->last) {
		buf_adds(&text, " (");
		words_add_day(&text, p->builds, f->first);
		buf_adds(&text, " to ");
		words_add_day(&text, p->builds, f->last);
		buf_addc(&text, ')');
		markup_leaf(h, "small", "faint", buf_str(&text));
	}
	markup_end(h);
	buf_release(&text);
}

static void add_state(struct markup *h, const struct verdict_finding *f)
{
	struct buf class = BUF_PART_OF(h->out), also = BUF_PART_OF(h->out);

	buf_addf(&class, "state %s", words_finding_state[f->state]);
	markup_open(h, "td", buf_str(&class));
	markup_text(h, words_finding_state[f->state]);
	page_add_reason(h, f->known);
	page_add_overdue(h, f->overdue);
	if (f->machine)
		markup_text(h, "; the machine or its tools changed");
	words_add_also(&also, f, true);
	if (also.len)
		markup_leaf(h, "small", "faint", buf_str(&also));
	markup_end(h);
	buf_release(&also);
	buf_release(&class);
}

static void add_finding(struct markup *h, const struct page *p, const struct verdict_finding *f)
{
	markup_begin(h, "tr");
	if (f->task == TASK_SHARED)
		page_cell_shared(h, p, &f->group, f->tasks, f->of_tasks, f->metric);
	else
		page_cell_task(h, p, f->task, f->metric);
	page_cells_change(h, f->task, f->metric, f->before, f->now, f->effect);
	add_interval(h, f);
	add_since(h, p, f);
	page_cell_rate(h, f->rate);
	add_state(h, f);
	markup_end(h);
}

static void add_findings(struct markup *h, const struct page *p)
{
	static const char *const head[] = {
		"task", "metric", "#before", "#now", "#change", "#difference", "#95 % interval",
		"since", "#FDR", "state",
	};
	const struct verdict *v = p->verdict;

	markup_open(h, "div", "scroll");
	markup_open(h, "table", "findings");
	page_row_of_heads(h, head, ARRAY_SIZE(head));
	markup_begin(h, "tbody");
	for (size_t i = 0; i < v->n && i < FINDINGS_MOST; i++)
		add_finding(h, p, &v->finding[i]);
	markup_end(h);
	markup_end(h);
	markup_end(h);
}

void page_part_verdict(struct markup *h, const struct page *p)
{
	struct buf text = BUF_PART_OF(h->out);

	markup_begin(h, "section");
	markup_attr(h, "id", "verdict");
	markup_leaf(h, "h2", NULL, "Changes in the newest builds");
	if (p->verdict->n)
		add_findings(h, p);
	else
		markup_leaf(h, "p", NULL, p->verdict->enough ?
			  "No change exceeds the usual variation between builds." :
			  "There are too few builds yet.");
	if (p->verdict->n > FINDINGS_MOST) {
		buf_addf(&text, "And %zu more in the table of tasks.",
			 p->verdict->n - FINDINGS_MOST);
		markup_leaf(h, "p", "faint", buf_str(&text));
	}
	markup_end(h);
	buf_release(&text);
}
