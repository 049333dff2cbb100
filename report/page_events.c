/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/minmax.h"
#include "report/page_parts.h"

#include "report/amount.h"
#include "report/culprits.h"
#include "report/words_change.h"

#include <math.h>
#include <string.h>

#define EVENTS_MOST 100
#define EVENTS_OPEN 3
#define CHANGES_MOST 12
#define COMMITS_MOST 25
#define SHORT_ID 10

static void add_interval(struct buf *b, const struct page *p, const struct history_event *e)
{
	words_add_day(b, p->builds, e->at);
	if (e->first == e->last)
		return;
	buf_adds(b, " (between ");
	words_add_day(b, p->builds, e->first);
	buf_adds(b, " and ");
	words_add_day(b, p->builds, e->last);
	buf_addc(b, ')');
}

static void add_heading(struct markup *h, const struct page *p, const struct history_event *e)
{
	const struct history_change *c = &p->history->change[e->first_change];
	struct buf text = BUF_PART_OF(h->out);

	markup_begin(h, "summary");
	markup_open(h, "h3", e->worse ? "worse" : "better");
	add_interval(&text, p, e);
	markup_text(h, buf_str(&text));
	markup_text(h, ": ");
	buf_clear(&text);
	if (c->task == TASK_SHARED)
		words_add_shared(&text, p->builds, &c->group, c->tasks, c->of_tasks);
	else
		buf_adds(&text, words_task(p->builds, c->task));
	markup_text(h, buf_str(&text));
	buf_clear(&text);
	buf_addf(&text, ", %s ", metric_info[c->metric].title);
	amount_add_share(&text, c->change.effect);
	if (c->creep)
		buf_adds(&text, ", gradually");
	if (e->n_changes > 1)
		buf_addf(&text, "; %zu changes in all", e->n_changes);
	markup_text(h, buf_str(&text));
	markup_end(h);
	markup_end(h);
	buf_release(&text);
}

static const char *state_of(const struct history_change *c)
{
	if (c->finding)
		return words_finding_state[c->finding->state];
	if (c->known)
		return c->known->kind == KNOWN_ACCEPTED ? "accepted" : "known";
	return "";
}

static void add_change(struct markup *h, const struct page *p, const struct history_change *c)
{
	markup_begin(h, "tr");
	if (c->task == TASK_SHARED)
		page_cell_shared(h, p, &c->group, c->tasks, c->of_tasks, c->metric);
	else
		page_cell_task(h, p, c->task, c->metric);
	page_cells_change(h, c->task, c->metric, c->change.before, c->change.after, c->change.effect);
	markup_open(h, "td", "state");
	markup_text(h, state_of(c));
	page_add_reason(h, c->known);
	if (c->finding)
		page_add_overdue(h, c->finding->overdue);
	markup_end(h);
	markup_end(h);
}

static void add_changes(struct markup *h, const struct page *p, const struct history_event *e)
{
	static const char *const head[] = {
		"task", "metric", "#before", "#after", "#change", "#difference", "state",
	};
	struct buf text = BUF_PART_OF(h->out);

	markup_open(h, "div", "scroll");
	markup_open(h, "table", "changes");
	page_row_of_heads(h, head, ARRAY_SIZE(head));
	markup_begin(h, "tbody");
	for (size_t i = 0; i < e->n_changes && i < CHANGES_MOST; i++)
		add_change(h, p, &p->history->change[e->first_change + i]);
	markup_end(h);
	markup_end(h);
	markup_end(h);
	if (e->n_changes > CHANGES_MOST) {
		buf_addf(&text, "And %zu smaller changes.", e->n_changes - CHANGES_MOST);
		markup_leaf(h, "p", "faint", buf_str(&text));
		buf_release(&text);
	}
}

static void add_files(struct markup *h, const struct culprit *c)
{
	size_t more = c->n_touched - c->n_files;
	struct buf text = BUF_PART_OF(h->out);

	markup_open(h, "td", "files");
	for (size_t i = 0; i < c->n_files; i++) {
		const struct culprit_file *file = &c->file[i];

		if (i)
			markup_text(h, ", ");
		markup_leaf(h, file->task ? "b" : "span", NULL, file->path);
		if (file->task) {
			markup_text(h, " as ");
			markup_text(h, file->task);
		}
	}
	if (c->merge)
		markup_text(h, "a merge");
	if (more) {
		buf_addf(&text, "%s%zu more", c->n_files ? ", " : "", more);
		markup_text(h, buf_str(&text));
		buf_release(&text);
	}
	markup_end(h);
}

static void add_culprit(struct markup *h, const struct culprit *c)
{
	struct buf text = BUF_PART_OF(h->out);

	markup_begin(h, "tr");
	buf_addf(&text, "%.0f %%", 100 * c->likely);
	markup_leaf(h, "td", "number", c->likely > 0 ? buf_str(&text) : "");
	buf_clear(&text);
	buf_addf(&text, "%.*s", SHORT_ID, c->id);
	markup_begin(h, "td");
	markup_leaf(h, "code", NULL, buf_str(&text));
	markup_end(h);
	buf_clear(&text);
	amount_add_day(&text, c->time_s);
	markup_leaf(h, "td", "day", buf_str(&text));
	markup_leaf(h, "td", NULL, c->author);
	markup_leaf(h, "td", "subject", c->subject);
	add_files(h, c);
	markup_end(h);
	buf_release(&text);
}

static void add_commits(struct markup *h, const struct culprit_range *r)
{
	static const char *const head[] = {
		"#likely", "commit", "written", "author", "subject", "files",
	};
	size_t n = MIN(r->n_culprits, COMMITS_MOST);
	struct buf text = BUF_PART_OF(h->out);

	markup_open(h, "div", "scroll");
	markup_open(h, "table", "commits");
	page_row_of_heads(h, head, ARRAY_SIZE(head));
	markup_begin(h, "tbody");
	for (size_t i = 0; i < n; i++)
		add_culprit(h, &r->culprit[i]);
	markup_end(h);
	markup_end(h);
	markup_end(h);
	if (r->n_commits > n) {
		buf_addf(&text, "And %zu more commits", r->n_commits - n);
		if (r->n_commits > r->n_culprits)
			buf_addf(&text, ", the oldest %zu of which were not examined",
				 r->n_commits - r->n_culprits);
		buf_addc(&text, '.');
		markup_leaf(h, "p", "faint", buf_str(&text));
		buf_release(&text);
	}
}

static void add_revision(struct buf *b, const char *commit, bool dirty)
{
	if (!commit)
		buf_adds(b, "an unknown revision");
	else
		buf_addf(b, "%.*s%s", SHORT_ID, commit, dirty ? " with uncommitted changes" : "");
}

static void add_range(struct markup *h, const struct culprit_range *r)
{
	bool same = r->from && r->to && !strcmp(r->from, r->to);
	struct buf text = BUF_PART_OF(h->out);

	markup_open(h, "div", "range");
	markup_open(h, "p", NULL);
	markup_leaf(h, "b", NULL, r->source);
	buf_adds(&text, ": from ");
	add_revision(&text, r->from, r->from_dirty);
	buf_adds(&text, " to ");
	add_revision(&text, r->to, r->to_dirty);
	if (same)
		buf_adds(&text, ": no commits");
	else if (r->n_commits)
		buf_addf(&text, ": %zu commit%s", r->n_commits, r->n_commits == 1 ? "" : "s");
	if (r->trouble)
		buf_addf(&text, ": %s", r->trouble);
	markup_text(h, buf_str(&text));
	markup_end(h);
	if (!r->n_culprits && r->from && r->to && !same) {
		buf_clear(&text);
		buf_addf(&text, "git log %.*s..%.*s", SHORT_ID, r->from, SHORT_ID, r->to);
		markup_begin(h, "p");
		markup_leaf(h, "code", NULL, buf_str(&text));
		markup_end(h);
	}
	if (r->n_culprits)
		add_commits(h, r);
	markup_end(h);
	buf_release(&text);
}

static void add_event(struct markup *h, const struct page *p, size_t i)
{
	const struct history_event *e = &p->history->event[i];
	struct buf id = BUF_PART_OF(h->out);

	buf_addf(&id, "event-%zu", i);
	markup_open(h, "details", "event");
	markup_attr(h, "id", buf_str(&id));
	if (i < EVENTS_OPEN)
		markup_attr(h, "open", "");
	add_heading(h, p, e);
	if (e->host)
		markup_leaf(h, "p", "alarm", "All tasks changed, or the machine or its tools did: "
			  "the cause may not be in the sources.");
	add_changes(h, p, e);
	for (size_t k = 0; i < p->n_culprits && k < p->culprits[i].n; k++)
		add_range(h, &p->culprits[i].range[k]);
	markup_end(h);
	buf_release(&id);
}

void page_part_events(struct markup *h, const struct page *p)
{
	size_t n = MIN(p->history->n_events, EVENTS_MOST);
	struct buf text = BUF_PART_OF(h->out);

	markup_begin(h, "section");
	markup_attr(h, "id", "events");
	markup_leaf(h, "h2", NULL, "When metrics changed");
	for (size_t i = 0; i < n; i++)
		add_event(h, p, i);
	if (!n)
		markup_leaf(h, "p", NULL, "No change was found.");
	if (p->history->n_events > n) {
		buf_addf(&text, "And %zu older events.", p->history->n_events - n);
		markup_leaf(h, "p", "faint", buf_str(&text));
		buf_release(&text);
	}
	markup_end(h);
}
