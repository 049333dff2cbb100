/* SPDX-License-Identifier: MIT */
#include "report/culprits.h"

#include "base/arena.h"
#include "base/array.h"
#include "report/culprit_names.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMED 0.5		/* likeness from which a file is shown with its task */
#define TASKS_MOST 100		/* of an event, the largest */

/* The share of each task in the changes of an event. */
struct costs {
	size_t n;
	struct cost_of {
		const char *task;
		double share;
	} of[TASKS_MOST];
};

struct finder {
	struct culprits *c;
	struct culprit_range *range;
	struct costs costs;
};

static void add_cost(struct costs *costs, const char *task, double share)
{
	size_t i = 0;

	while (i < costs->n && costs->of[i].task != task)
		i++;
	if (i == TASKS_MOST)
		return;
	if (i == costs->n)
		costs->of[costs->n++] = (struct cost_of){ .task = task };
	costs->of[i].share += share;
}

static void set_costs(struct costs *costs, const struct builds *builds,
		      const struct history_change *change, size_t n)
{
	double metric[METRICS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		metric[change[i].metric] += fabs(change[i].change.after - change[i].change.before);
	for (size_t i = 0; i < n; i++) {
		double all = metric[change[i].metric];

		if (change[i].task < builds->n_tasks && all > 0)
			add_cost(costs, builds->task[change[i].task].name,
				 fabs(change[i].change.after - change[i].change.before) / all);
	}
	for (size_t i = 0; i < costs->n; i++)
		sum += costs->of[i].share;
	for (size_t i = 0; i < costs->n; i++)
		costs->of[i].share /= sum;
}

static void keep_file(struct culprit *culprit, const struct culprit_file *file)
{
	size_t at = culprit->n_files;

	while (at && culprit->file[at - 1].likely < file->likely)
		at--;
	if (at == CULPRIT_FILES)
		return;
	if (culprit->n_files < CULPRIT_FILES)
		culprit->n_files++;
	memmove(&culprit->file[at + 1], &culprit->file[at],
		(culprit->n_files - 1 - at) * sizeof *file);
	culprit->file[at] = *file;
}

/* best: of each task, the largest likeness of a file so far. */
static void judge_file(struct culprit *culprit, const char *path, const struct costs *costs,
		       double *best)
{
	struct culprit_file file = { .path = path };
	double most = 0;

	for (size_t i = 0; i < costs->n; i++) {
		double like = culprit_likeness(path, costs->of[i].task);
		double part = like * costs->of[i].share;

		best[i] = fmax(best[i], like);
		file.likely += part;
		if (like >= NAMED && part > most) {
			most = part;
			file.task = costs->of[i].task;
		}
	}
	keep_file(culprit, &file);
}

static int judge(struct culprit *culprit, const struct source_commit *commit,
		 const struct costs *costs, struct arena *texts)
{
	double best[TASKS_MOST] = { 0 };

	for (size_t i = 0; i < commit->n_files; i++)
		judge_file(culprit, commit->file[i], costs, best);
	for (size_t i = 0; i < costs->n; i++)
		culprit->likely += best[i] * costs->of[i].share;
	for (size_t i = 0; i < culprit->n_files; i++) {
		struct culprit_file *file = &culprit->file[i];

		file->path = arena_text(texts, file->path, strlen(file->path));
		if (!file->path)
			return -ENOMEM;
	}
	return 0;
}

static int add_commit(void *context, const struct source_commit *commit)
{
	struct finder *f = context;
	struct arena *texts = f->c->texts;
	struct culprit_range *range = f->range;
	struct culprit *grown = array_grow(range->culprit, range->n_culprits, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	range->culprit = grown;
	grown += range->n_culprits;
	*grown = (struct culprit){
		.id = arena_text(texts, commit->id, strlen(commit->id)),
		.subject = arena_text(texts, commit->subject, strlen(commit->subject)),
		.author = arena_text(texts, commit->author, strlen(commit->author)),
		.time_s = commit->time_s, .merge = commit->merge, .n_touched = commit->n_touched,
	};
	if (!grown->id || !grown->subject || !grown->author)
		return -ENOMEM;
	range->n_culprits++;
	return judge(grown, commit, &f->costs, texts);
}

static const char *why_missing(const struct culprit_range *range, struct source_log *const *log,
			       size_t n_logs)
{
	for (size_t i = 0; i < n_logs; i++) {
		if (source_log_has(log[i], range->from) || source_log_has(log[i], range->to))
			return source_log_is_shallow(log[i]) ?
			       "one of the two is missing from the shallow clone" :
			       "one of the two is missing: not fetched, or rewritten";
	}
	return "no source repository has them";
}

static int find_commits(struct finder *f, struct source_log *const *log, size_t n_logs)
{
	struct culprit_range *range = f->range;
	struct source_log *mine = NULL;
	struct error err;
	int r;

	if (!n_logs || !range->from || !range->to || !strcmp(range->from, range->to))
		return 0;
	for (size_t i = 0; !mine && i < n_logs; i++) {
		if (source_log_has(log[i], range->from) && source_log_has(log[i], range->to))
			mine = log[i];
	}
	if (!mine) {
		range->trouble = why_missing(range, log, n_logs);
		return 0;
	}
	if (source_log_is_shallow(mine))
		range->trouble = "shallow clone: only commits along first parents are listed";
	else if (!source_log_follows(mine, range->from, range->to))
		range->trouble = "the newer one is not a descendant of the older one (another branch, or "
				 "rewritten); only commits of the newer one are listed";
	r = source_log_between(mine, range->from, range->to, CULPRIT_COMMITS, add_commit, f,
			       &range->n_commits, &err);
	if (r && r != -ENOMEM) {
		range->trouble = arena_text(f->c->texts, err.message, strlen(err.message));
		r = range->trouble ? 0 : -ENOMEM;
	}
	/* A stable sort. */
	for (size_t i = 1; i < range->n_culprits; i++) {
		struct culprit moved = range->culprit[i];
		size_t at = i;

		for (; at && range->culprit[at - 1].likely < moved.likely; at--)
			range->culprit[at] = range->culprit[at - 1];
		range->culprit[at] = moved;
	}
	return r;
}

static void set_range(struct culprit_range *range, const struct build *from,
		      const struct build *to, const char *source)
{
	const struct revision *old = from ? build_revision(from, source) : NULL;
	const struct revision *new = build_revision(to, source);

	*range = (struct culprit_range){ .source = source };
	if (old) {
		range->from = old->commit;
		range->from_dirty = old->dirty;
	}
	if (new) {
		range->to = new->commit;
		range->to_dirty = new->dirty;
	}
}

int culprits_find(struct culprits *c, const struct builds *builds,
		  const struct history *history, const struct history_event *event,
		  struct source_log *const *log, size_t n_logs)
{
	const struct build *from = event->first ? &builds->build[event->first - 1] : NULL;
	const struct build *to = &builds->build[event->last];
	struct finder f = { .c = c };
	int r = 0;

	*c = (struct culprits){ .texts = arena_new() };
	c->range = array_new_zero(to->n_revisions, sizeof *c->range);
	if (!c->texts || !c->range)
		return -ENOMEM;
	set_costs(&f.costs, builds, history->change + event->first_change, event->n_changes);
	for (size_t i = 0; !r && i < to->n_revisions; i++) {
		f.range = &c->range[c->n++];
		set_range(f.range, from, to, to->revision[i].source);
		r = find_commits(&f, log, n_logs);
	}
	return r;
}

void culprits_release(struct culprits *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->range[i].culprit);
	free(c->range);
	arena_free(c->texts);
}
