/* SPDX-License-Identifier: MIT */
#include "report/words_change.h"

#include "compare/everywhere.h"
#include "report/amount.h"
#include "report/revisions.h"

#include <math.h>

#define SHORT_ID 8
#define MOST_TASKS 0.95

const char *const words_finding_state[] = {
	[FINDING_CONFIRMED] = "confirmed", [FINDING_KNOWN] = "known", [FINDING_SUSPECT] = "suspect",
};

const struct words_section words_sections[WORDS_SECTIONS] = {
	{ FINDING_CONFIRMED, true, "Worse" },
	{ FINDING_KNOWN, true, "Worse, known (does not fail)" },
	{ FINDING_SUSPECT, true, "Suspects: worse in the newest build (do not fail)" },
	{ FINDING_CONFIRMED, false, "Better" },
	{ FINDING_KNOWN, false, "Better, known" },
	{ FINDING_SUSPECT, false, "Suspects: better in the newest build" },
};

void words_add_count(struct buf *b, size_t n, const char *one, const char *more)
{
	buf_addu(b, n);
	buf_addc(b, ' ');
	buf_adds(b, n == 1 ? one : more);
}

void words_add_end(struct buf *b, int64_t status)
{
	if (status == STATUS_UNFINISHED) {
		buf_adds(b, "the build did not finish");
		return;
	}
	buf_adds(b, status >= STATUS_KILLED && status < STATUS_FAILED ? "the build was killed" :
		 status ? "the build failed" : "the build succeeded");
	if (status > 0 && status < STATUS_FAILED) {
		buf_adds(b, " (");
		amount_add(b, UNIT_STATUS, (double)status);
		buf_addc(b, ')');
	} else if (status) {
		buf_adds(b, " (unknown status)");
	}
}

void words_add_verdict(struct buf *b, const struct verdict *v, size_t n_causes)
{
	if (v->not_judged) {
		buf_adds(b, "not judged: ");
		words_add_end(b, v->build_status);
		if (v->n_confirmed)
			buf_adds(b, ", ");
	} else if (!v->enough) {
		buf_adds(b, "too few builds for a verdict");
	} else if (!v->n_confirmed) {
		buf_adds(b, v->n_elsewhere ? "no other regression" : "no regression");
	}
	if (v->n_confirmed && (v->not_judged || v->enough)) {
		words_add_count(b, n_causes, "regression confirmed", "regressions confirmed");
		if (n_causes < v->n_confirmed)
			buf_addf(b, " (%zu changes)", v->n_confirmed);
	}
	if (v->n_known)
		buf_addf(b, ", %zu known", v->n_known);
	if (v->n_suspect)
		buf_addf(b, ", %zu suspected", v->n_suspect);
	if (v->n_elsewhere)
		buf_addf(b, ", %zu changes reported with another series", v->n_elsewhere);
}

void words_add_judged(struct buf *b, const struct verdict *v, const struct rules *rules)
{
	words_add_count(b, v->n_series, "series", "series");
	buf_adds(b, " checked over ");
	words_add_count(b, v->n_builds, "build", "builds");
	if (v->n_series)
		buf_addf(b,
			 "; at most %g %% of the reported changes are expected to be false alarms",
			100 * rules->rate);
}

void words_add_builds_to_come(struct buf *b, const struct verdict *v)
{
	if (!v->more_builds)
		return;
	buf_adds(b, v->enough ? "suspects can be confirmed in " :
		 "a verdict is possible in ");
	words_add_count(b, v->more_builds, "more build", "more builds");
}

bool words_host_event(const struct verdict *v, enum metric m)
{
	for (size_t i = 0; i < v->n; i++) {
		if (v->finding[i].task == TASK_HOST && v->finding[i].metric == m)
			return false;
	}
	return v->host_event[m];
}

void words_add_host(struct buf *b, const struct verdict *v, enum metric m)
{
	buf_addf(b, "all tasks: %s ", metric_info[m].title);
	amount_add_share(b, v->host[m] - 1);
	buf_adds(b,
		 " in the newest build, beyond the usual variation; removed from the changes below");
}

void words_add_unaccounted(struct buf *b, const struct builds *builds)
{
	const char *unaccounted = builds->n ? builds->build[builds->n - 1].unaccounted : NULL;

	if (unaccounted)
		buf_addf(b, "Not recorded: %s", unaccounted);
}

void words_add_error(struct buf *b, const struct builds *builds)
{
	const char *error = builds->n ? builds->build[builds->n - 1].error : NULL;

	if (error)
		buf_addf(b, "First error: %s", error);
}

void words_add_exact(struct buf *b, const struct exact_change *e)
{
	const struct metric_total_info *info = &metric_total_info[e->total];

	buf_addf(b, "%s: ", info->title);
	amount_add(b, info->unit, (double)e->before);
	buf_adds(b, " -> ");
	amount_add(b, info->unit, (double)e->now);
}

bool words_last_good(const struct builds *builds, const struct verdict *v, uint32_t *build)
{
	if (!v->not_judged)
		return false;
	for (size_t i = builds->n - 1; i-- > 0; ) {
		if (builds->build[i].total[TOTAL_STATUS] > 0)
			continue;
		*build = (uint32_t)i;
		return true;
	}
	return false;
}

void words_add_before_failure(struct buf *b, const struct builds *builds, uint32_t build)
{
	buf_adds(b, "the changes are those of the last good build, ");
	words_add_build(b, builds, build);
}

const char *words_task(const struct builds *builds, uint32_t task)
{
	if (task == TASK_HOST)
		return "all tasks";
	if (task == TASK_SHARED)
		return "tasks";
	return task == TASK_TOTAL ? "the build" : builds->task[task].name;
}

static void add_tasks_of(struct buf *b, const struct builds *builds, const struct shared_group *group)
{
	buf_adds(b, "tasks");
	if (group->of != SHARED_OF_ALL) {
		buf_adds(b, " of ");
		shared_add_pattern(b, builds, group);
	}
}

/* Some tasks cannot be compared: nearly all are called all. */
static bool are_some(uint32_t tasks, int64_t of)
{
	return (double)tasks < MOST_TASKS * (double)of;
}

void words_add_shared(struct buf *b, const struct builds *builds, const struct shared_group *group,
		      uint32_t tasks, uint32_t of)
{
	if (are_some(tasks, of))
		buf_addf(b, "%u of %u ", tasks, of);
	else
		buf_addf(b, "%s%u ", group->of == SHARED_OF_ALL ? "all " : "", tasks);
	add_tasks_of(b, builds, group);
}

bool words_is_part(const struct builds *builds, const struct verdict_finding *f)
{
	return f->n_moved && are_some(f->tasks, f->task == TASK_SHARED ? f->of_tasks :
				      builds->build[builds->n - 1].total[TOTAL_TASKS]);
}

void words_add_subject(struct buf *b, const struct builds *builds, const struct verdict_finding *f)
{
	int64_t all = builds->build[builds->n - 1].total[TOTAL_TASKS];

	if (f->task == TASK_SHARED)
		words_add_shared(b, builds, &f->group, f->tasks, f->of_tasks);
	else if (f->task != TASK_HOST || !f->tasks)
		buf_adds(b, words_task(builds, f->task));
	else if (are_some(f->tasks, all))
		buf_addf(b, "%u of %lld tasks", f->tasks, (long long)all);
	else
		buf_addf(b, "all %u tasks", f->tasks);
}

static const char *const group_word[] = {
	[GROUP_RECIPE] = "recipe ", [GROUP_DIRECTORY] = "directory ", [GROUP_KIND] = "kind ",
};

void words_add_group_name(struct buf *b, const struct builds *builds,
			  const struct verdict_group *g)
{
	if (g->of == GROUP_ONE && g->whole.task == TASK_SHARED) {
		add_tasks_of(b, builds, &g->whole.group);
		return;
	}
	if (g->of == GROUP_ONE) {
		buf_adds(b, words_task(builds, g->whole.task));
		return;
	}
	buf_adds(b, group_word[g->of]);
	buf_add(b, g->name.p, g->name.len);
}

void words_add_group(struct buf *b, const struct builds *builds, const struct verdict_group *g)
{
	if (g->of == GROUP_ONE) {
		words_add_subject(b, builds, &g->whole);
		return;
	}
	words_add_group_name(b, builds, g);
	buf_adds(b, ": ");
	words_add_count(b, g->n, "task", "tasks");
}

void words_add_group_amounts(struct buf *b, const struct verdict_group *g)
{
	enum unit unit = metric_info[g->whole.metric].unit;

	if (g->n == 1 && g->whole.task != TASK_SHARED) {
		words_add_amounts(b, &g->whole);
	} else if (unit == UNIT_KB) {	/* tasks do not have their peaks at the same time */
		buf_adds(b, "up to ");
		amount_add_change(b, unit, g->largest);
	} else {
		amount_add_change(b, unit, g->whole.now - g->whole.before);
		buf_adds(b, " in all");
	}
}

const char *words_shared(const struct verdict_finding *f)
{
	return f->task == TASK_HOST && f->fails ?
	       "a flag, header or tool that all tasks share, or the machine" : NULL;
}

void words_add_known(struct buf *b, const struct known *known)
{
	buf_addf(b, "%s: %s", known->invalid ? "invalid" : "known", known->reason);
}

static void begin_part(struct buf *b, size_t from)
{
	if (b->len > from)
		buf_adds(b, ", ");
}

static void add_owner(struct buf *b, const struct known *known)
{
	size_t from = b->len;

	if (known->owner)
		buf_addf(b, "owner %s", known->owner);
	if (known->bug) {
		begin_part(b, from);
		buf_adds(b, known->bug);
	}
}

void words_add_handling(struct buf *b, const struct known *known)
{
	size_t from = b->len;

	add_owner(b, known);
	if (known->fixed_by) {
		begin_part(b, from);
		buf_addf(b, "to be fixed by %.*s", SHORT_ID, known->fixed_by);
	}
}

void words_add_overdue(struct buf *b, const struct known *known)
{
	size_t from;

	buf_addf(b, "not fixed by %.*s: %s", SHORT_ID, known->fixed_by, known->reason);
	from = b->len;
	buf_adds(b, "; ");
	add_owner(b, known);
	if (b->len == from + 2)
		buf_cut(b, from);
}

void words_add_also(struct buf *b, const struct verdict_finding *f, bool effects)
{
	if (!f->also)
		return;
	buf_adds(b, f->also->joined ? "confirmed by the same suspect in " : "also in ");
	for (size_t i = 0; i < f->also->n; i++) {
		const struct everywhere_part *part = &f->also->part[i];

		buf_addf(b, "%s%s", i ? ", " : "", part->builds->ref);
		if (!effects)
			continue;
		buf_adds(b, " (");
		amount_add_share(b, part->finding.effect);
		if (part->finding.state == FINDING_SUSPECT && !f->also->joined)
			buf_adds(b, ", suspect");
		if (part->finding.state == FINDING_KNOWN)
			buf_adds(b, ", known");
		buf_addc(b, ')');
	}
}

void words_add_newest(struct buf *b, const struct verdict_finding *f)
{
	if (f->task == TASK_HOST || f->state == FINDING_SUSPECT || !isfinite(f->newest))
		return;
	buf_adds(b, ", newest ");
	amount_add(b, metric_info[f->metric].unit, f->newest);
}

void words_add_back(struct buf *b, const struct verdict_finding *f)
{
	buf_adds(b, "the newest build is back");
	if (f->task != TASK_HOST && isfinite(f->newest)) {
		buf_adds(b, " at ");
		amount_add(b, metric_info[f->metric].unit, f->newest);
	}
}

void words_add_notes(struct buf *b, const struct verdict_finding *f)
{
	const char *shared = words_shared(f);

	if (shared)
		buf_addf(b, "; %s", shared);
	if (f->machine)
		buf_adds(b, "; the machine or its tools changed at that time");
	if (f->back) {
		buf_adds(b, "; ");
		words_add_back(b, f);
	}
	if (f->known) {
		size_t from;

		buf_adds(b, "; ");
		words_add_known(b, f->known);
		from = b->len;
		buf_adds(b, "; ");
		words_add_handling(b, f->known);
		if (b->len == from + 2)
			buf_cut(b, from);
	}
	if (f->overdue) {
		buf_adds(b, "; ");
		words_add_overdue(b, f->overdue);
	}
	if (f->also) {
		buf_adds(b, "; ");
		words_add_also(b, f, false);
	}
}

void words_add_day(struct buf *b, const struct builds *builds, uint32_t build)
{
	amount_add_day(b, builds->build[build].start_s);
}

void words_add_build(struct buf *b, const struct builds *builds, uint32_t build)
{
	words_add_day(b, builds, build);
	buf_addf(b, " (%.*s", SHORT_ID, builds->build[build].id);
	if (builds->build[build].repeats)
		buf_addf(b, ", %u recordings", builds->build[build].repeats + 1);
	else if (builds->build[build].runs)
		buf_addf(b, ", %u runs", builds->build[build].runs);
	buf_addc(b, ')');
}

void words_add_amounts(struct buf *b, const struct verdict_finding *f)
{
	enum unit unit = metric_info[f->metric].unit;

	if (f->task == TASK_HOST) {
		buf_addf(b, "x %.2f -> x %.2f", f->before, f->now);
		return;
	}
	amount_add(b, unit, f->before);
	buf_adds(b, " -> ");
	amount_add(b, unit, f->now);
}

void words_add_interval(struct buf *b, const struct verdict_finding *f)
{
	if (!isfinite(f->low) || !isfinite(f->high))
		return;
	buf_adds(b, " (");
	amount_add_interval(b, f->effect, f->low, f->high);
	buf_addc(b, ')');
}

void words_add_since(struct buf *b, const struct builds *builds, const struct verdict_finding *f)
{
	if (f->creep) {
		buf_adds(b, "slowly, between ");
		words_add_build(b, builds, f->first);
		buf_adds(b, " and ");
		words_add_build(b, builds, f->last);
		return;
	}
	buf_adds(b, "since ");
	words_add_build(b, builds, f->since);
	if (f->first < f->last) {
		buf_adds(b, ", possibly ");
		words_add_day(b, builds, f->first);
		buf_adds(b, " to ");
		words_add_day(b, builds, f->last);
	}
}

void words_add_ranges(struct buf *b, const struct builds *builds, const struct verdict_finding *f)
{
	struct revisions_range r;
	size_t from = b->len, i = 0;

	while (revisions_range_next(&r, builds, f->first, f->last, &i)) {
		int64_t commits = revisions_range_commits(&r);

		if (b->len > from)
			buf_adds(b, ", ");
		buf_addf(b, "%s ", r.source);
		if (r.from)
			buf_addf(b, "%.*s..", SHORT_ID, r.from->commit);
		buf_addf(b, "%.*s", SHORT_ID, r.to->commit);
		if (commits >= 0) {
			buf_adds(b, " (");
			words_add_count(b, (size_t)commits, "commit", "commits");
			buf_addc(b, ')');
		}
		if (r.to->dirty)
			buf_adds(b, " with uncommitted changes");
	}
}
