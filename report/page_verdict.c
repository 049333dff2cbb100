#include "page_parts.h"

#include "amount.h"

#include <math.h>

#define FINDINGS_MOST 200	/* in the table; the one of all tasks has the rest */

static void add_count(struct buf *b, size_t n, const char *one, const char *more)
{
	buf_addu(b, n);
	buf_addc(b, ' ');
	buf_adds(b, n == 1 ? one : more);
}

/* The verdict in a line. */
static void add_sentence(struct buf *b, const struct verdict *v)
{
	if (!v->enough)
		buf_adds(b, "Too few nights for a verdict");
	else if (v->n_confirmed)
		add_count(b, v->n_confirmed, "regression confirmed", "regressions confirmed");
	else
		buf_adds(b, "No regression");
	if (v->n_known) {
		buf_adds(b, ", ");
		add_count(b, v->n_known, "known", "known");
	}
	if (v->n_suspect) {
		buf_adds(b, ", ");
		add_count(b, v->n_suspect, "suspected", "suspected");
	}
}

static void add_nights(struct buf *b, const struct nights *nights)
{
	buf_adds(b, nights->ref);
	buf_adds(b, ": ");
	add_count(b, nights->n, "night", "nights");
	buf_adds(b, ", ");
	if (nights->n > 1) {
		add_night_day(b, nights, 0);
		buf_adds(b, " to ");
	}
	add_night_day(b, nights, (uint32_t)nights->n - 1);
	if (nights->night[nights->n - 1].n_revisions) {
		buf_adds(b, ", the newest of revision ");
		add_night_revisions(b, nights, (uint32_t)nights->n - 1);
	}
	buf_addc(b, '.');
}

/* What was looked at, and how sure what is told is. */
static void add_judged(struct buf *b, const struct page *p)
{
	const struct verdict *v = p->verdict;

	add_count(b, v->n_series, "figure", "figures");
	buf_adds(b, " judged over ");
	add_count(b, v->n_nights, "night", "nights");
	buf_addf(b, "; of what is told, %g %% at most is by chance.", 100 * p->rules->rate);
	if (v->more_nights) {
		buf_adds(b, v->enough ? " What is suspected can be confirmed in " :
			 " A verdict can be given in ");
		add_count(b, v->more_nights, "more night.", "more nights.");
	}
}

static void add_host(struct html *h, const struct verdict *v)
{
	for (enum metric m = 0; m < METRICS; m++) {
		struct buf text = BUF_INIT;

		if (!v->host_event[m])
			continue;
		buf_addf(&text, "All tasks together: %s ", metric_info[m].title);
		amount_add_share(&text, v->host[m] - 1);
		buf_adds(&text, " that night, more than usual nights differ: a busy or another "
			 "machine. It is taken out of what follows.");
		html_leaf(h, "p", "alarm", buf_str(&text));
		buf_release(&text);
	}
}

static void add_exact(struct html *h, const struct verdict *v)
{
	for (size_t i = 0; i < v->n_exact; i++) {
		const struct exact_change *e = &v->exact[i];
		struct buf text = BUF_INIT;

		buf_addf(&text, "%s: ", total_info[e->total].title);
		amount_add(&text, total_info[e->total].unit, (double)e->before);
		buf_adds(&text, " before, now ");
		amount_add(&text, total_info[e->total].unit, (double)e->now);
		buf_addc(&text, '.');
		html_leaf(h, "p", NULL, buf_str(&text));
		buf_release(&text);
	}
}

void part_header(struct html *h, const struct page *p)
{
	struct buf text = BUF_INIT;

	html_begin(h, "header");
	add_sentence(&text, p->verdict);
	html_leaf(h, "h1", p->verdict->n_confirmed ? "verdict worse" : "verdict", buf_str(&text));
	buf_clear(&text);
	add_nights(&text, p->nights);
	html_leaf(h, "p", "facts", buf_str(&text));
	buf_clear(&text);
	add_judged(&text, p);
	html_leaf(h, "p", "facts faint", buf_str(&text));
	add_host(h, p->verdict);
	add_exact(h, p->verdict);
	html_end(h);
	buf_release(&text);
}

/* The table */

static void add_state(struct html *h, const struct finding *f)
{
	static const char *const word[] = {
		[FINDING_CONFIRMED] = "confirmed", [FINDING_KNOWN] = "known",
		[FINDING_SUSPECT] = "suspected",
	};

	html_open(h, "td", word[f->state]);
	html_text(h, word[f->state]);
	if (f->known && *f->known->reason) {
		html_text(h, ": ");
		html_text(h, f->known->reason);
	}
	if (f->machine)
		html_text(h, ", the machine is another");
	html_end(h);
}

static void add_interval(struct html *h, const struct finding *f)
{
	struct buf text = BUF_INIT;

	if (!isfinite(f->low) || !isfinite(f->high)) {
		buf_addc(&text, '-');
	} else {
		amount_add_share(&text, f->low);
		buf_adds(&text, " to ");
		amount_add_share(&text, f->high);
	}
	html_leaf(h, "td", "number", buf_str(&text));
	buf_release(&text);
}

static void add_since(struct html *h, const struct page *p, const struct finding *f)
{
	struct buf text = BUF_INIT;

	add_night_day(&text, p->nights, f->since);
	html_open(h, "td", "day");
	html_text(h, buf_str(&text));
	buf_clear(&text);
	if (f->first < f->last) {
		buf_adds(&text, " (");
		add_night_day(&text, p->nights, f->first);
		buf_adds(&text, " to ");
		add_night_day(&text, p->nights, f->last);
		buf_addc(&text, ')');
		html_leaf(h, "small", "faint", buf_str(&text));
	}
	html_end(h);
	buf_release(&text);
}

static void add_finding(struct html *h, const struct page *p, const struct finding *f)
{
	html_begin(h, "tr");
	add_state(h, f);
	cell_task(h, p, f->task, f->metric);
	if (f->task == TASK_HOST) {
		html_leaf(h, "td", NULL, "");
		html_leaf(h, "td", NULL, "");
	} else {
		cell_amount(h, f->metric, f->before);
		cell_amount(h, f->metric, f->now);
	}
	cell_change(h, f->metric, f->before, f->now, f->effect);
	add_interval(h, f);
	add_since(h, p, f);
	cell_rate(h, f->rate);
	html_end(h);
}

static void add_findings(struct html *h, const struct page *p)
{
	static const char *const head[] = {
		"", "task", "figure", "#before", "#now", "#change", "#", "#95 % sure", "since",
		"#by chance",
	};
	const struct verdict *v = p->verdict;

	html_open(h, "div", "scroll");
	html_open(h, "table", "findings");
	row_of_heads(h, head, sizeof head / sizeof *head);
	html_begin(h, "tbody");
	for (size_t i = 0; i < v->n && i < FINDINGS_MOST; i++)
		add_finding(h, p, &v->finding[i]);
	html_end(h);
	html_end(h);
	html_end(h);
}

void part_verdict(struct html *h, const struct page *p)
{
	struct buf text = BUF_INIT;

	html_begin(h, "section");
	html_attr(h, "id", "verdict");
	html_leaf(h, "h2", NULL, "The newest nights");
	if (p->verdict->n)
		add_findings(h, p);
	else
		html_leaf(h, "p", NULL, p->verdict->enough ?
			  "Nothing differs from the nights before by more than they do from each other." :
			  "There is nothing to tell yet.");
	if (p->verdict->n > FINDINGS_MOST) {
		buf_addf(&text, "And %zu more: in the table of tasks.",
			 p->verdict->n - FINDINGS_MOST);
		html_leaf(h, "p", "faint", buf_str(&text));
	}
	html_end(h);
	buf_release(&text);
}
