/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "base/json.h"
#include "compare/everywhere.h"
#include "report/amount.h"
#include "report/check_limits.h"
#include "report/check_population.h"
#include "report/check_power.h"
#include "report/revisions.h"

#include <math.h>

static const char *const state_word[] = {
	[FINDING_CONFIRMED] = "confirmed", [FINDING_KNOWN] = "known",
		[FINDING_SUSPECT] = "suspected",
};

/* To six digits: no value is more precise, and further digits differ between machines. */
static double six_digits(double x)
{
	double unit = x && isfinite(x) ? pow(10, floor(log10(fabs(x))) - 5) : 1;

	return isfinite(x) ? round(x / unit) * unit : x;
}

static void add_build(struct json *j, const char *name, const struct builds *builds, uint32_t build)
{
	json_object(j, name);
	json_str(j, "id", builds->build[build].id);
	json_known(j, "start_s", builds->build[build].start_s);
	json_int(j, "recordings", builds->build[build].repeats + 1);
	json_int(j, "runs", builds->build[build].runs ? builds->build[build].runs : 1);
	json_object_end(j);
}

static void add_host(struct json *j, const struct verdict *v)
{
	json_array(j, "host");
	for (enum metric m = 0; m < METRICS; m++) {
		if (isnan(v->host[m]))
			continue;
		json_object(j, NULL);
		json_str(j, "metric", metric_info[m].name);
		json_real(j, "ratio", v->host[m], 4);
		json_bool(j, "event", v->host_event[m]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void add_revisions(struct json *j, const struct builds *builds,
			  const struct verdict_finding *f)
{
	struct revisions_range r;
	size_t i = 0;

	json_array(j, "revisions");
	while (revisions_range_next(&r, builds, f->first, f->last, &i)) {
		json_object(j, NULL);
		json_str(j, "source", r.source);
		json_str(j, "from", r.from ? r.from->commit : NULL);
		json_str(j, "to", r.to->commit);
		json_known(j, "commits", revisions_range_commits(&r));
		json_bool(j, "dirty", r.to->dirty);
		json_object_end(j);
	}
	json_array_end(j);
}

static void add_known(struct json *j, const char *name, const struct known *k)
{
	if (!k) {
		json_null(j, name);
		return;
	}
	json_object(j, name);
	json_str(j, "reason", k->reason);
	json_str(j, "by", k->by);
	json_known(j, "time_s", k->time_s);
	json_str(j, "owner", k->owner);
	json_str(j, "bug", k->bug);
	json_str(j, "fixed_by", k->fixed_by);
	json_bool(j, "invalid", k->invalid);
	json_object_end(j);
}

/* The same change in other series. */
static void add_also(struct json *j, const struct verdict_finding *f)
{
	if (!f->also) {
		json_null(j, "also");
		return;
	}
	json_array(j, "also");
	for (size_t i = 0; i < f->also->n; i++) {
		const struct verdict_finding *of = &f->also->part[i].finding;

		json_object(j, NULL);
		json_str(j, "ref", f->also->part[i].builds->ref);
		json_str(j, "state", state_word[of->state]);
		json_bool(j, "fails", of->fails);
		json_real(j, "effect", of->effect, 6);
		json_shortest(j, "false_rate", six_digits(of->rate));
		add_build(j, "since", f->also->part[i].builds, of->since);
		json_object_end(j);
	}
	json_array_end(j);
}

static bool is_of_task(const struct verdict_finding *f)
{
	return f->task < HISTORY_ALL;
}

static const char *subject_of(const struct verdict_finding *f)
{
	return f->task == TASK_HOST ? "host" : f->task == TASK_TOTAL ? "build" :
	       f->task == TASK_SHARED ? "tasks" : "task";
}

/* The pattern of the tasks that some of changed together, and how many were compared. */
static void add_shared(struct json *j, const struct builds *builds, const struct verdict_finding *f)
{
	struct buf pattern = BUF_PART_OF(j->out);

	if (f->task == TASK_SHARED)
		shared_add_pattern(&pattern, builds, &f->group);
	json_str(j, "pattern", pattern.len ? buf_str(&pattern) : NULL);
	json_known(j, "of_tasks", f->task == TASK_SHARED ? (int64_t)f->of_tasks : -1);
	buf_release(&pattern);
}

/* What findings and groups have. */
static void add_change(struct json *j, const struct builds *builds,
		       const struct verdict_finding *f)
{
	bool host = f->task == TASK_HOST;

	add_shared(j, builds, f);
	json_str(j, "metric", metric_info[f->metric].name);
	json_str(j, "unit", host ? "ratio" : amount_unit_word[metric_info[f->metric].unit]);
	json_str(j, "state", state_word[f->state]);
	json_bool(j, "worse", f->worse);
	json_bool(j, "fails", f->fails);
	json_bool(j, "creep", f->creep);
	json_shortest(j, "before", six_digits(f->before));
	json_shortest(j, "now", six_digits(f->now));
	json_shortest(j, "newest", six_digits(f->newest));
	json_bool(j, "back", f->back);
	json_real(j, "effect", f->effect, 6);
	json_array(j, "interval");
	json_real(j, NULL, f->low, 6);
	json_real(j, NULL, f->high, 6);
	json_array_end(j);
	json_shortest(j, "false_rate", six_digits(f->rate));
	add_build(j, "since", builds, f->since);
	add_build(j, "since_first", builds, f->first);
	add_build(j, "since_last", builds, f->last);
	json_int(j, "builds", f->builds);
	add_build(j, "confirmed_at", builds, f->at);
	json_bool(j, "machine_changed", f->machine);
	add_revisions(j, builds, f);
	add_known(j, "known", f->known);
	add_known(j, "overdue", f->overdue);
	add_also(j, f);
}

/* The tasks that changed with all of them. */
static void add_moved(struct json *j, const struct check *c, const struct verdict_finding *f)
{
	if (!f->n_moved) {
		json_null(j, "moved");
		return;
	}
	json_array(j, "moved");
	for (size_t i = 0; i < f->n_moved; i++)
		json_str(j, NULL, c->builds->task[c->verdict->moved[f->first_moved + i]].name);
	json_array_end(j);
}

static void add_finding(struct json *j, const struct check *c, size_t i)
{
	const struct verdict_finding *f = &c->verdict->finding[i];

	json_object(j, NULL);
	json_str(j, "of", subject_of(f));
	json_str(j, "task", is_of_task(f) ? c->builds->task[f->task].name : NULL);
	json_known(j, "tasks", f->tasks ? (int64_t)f->tasks : -1);
	add_moved(j, c, f);
	json_int(j, "group", c->groups->of[i]);
	add_change(j, c->builds, f);
	json_object_end(j);
}

static const char *const group_word[] = {
	[GROUP_RECIPE] = "recipe", [GROUP_DIRECTORY] = "directory", [GROUP_KIND] = "kind",
};

static void add_group(struct json *j, const struct check *c, size_t i)
{
	const struct verdict_group *g = &c->groups->group[i];
	const struct builds *builds = c->builds;
	const struct verdict_finding *f = &g->whole;

	json_object(j, NULL);
	json_str(j, "of", g->of == GROUP_ONE ? subject_of(f) : group_word[g->of]);
	if (g->of != GROUP_ONE)
		json_strn(j, "name", g->name.p, g->name.len);
	else
		json_str(j, "name", is_of_task(f) ? builds->task[f->task].name : NULL);
	json_int(j, "findings", (int64_t)g->n);
	json_int(j, "cause", c->groups->cause[i]);
	json_int(j, "like", c->groups->like[i]);
	add_change(j, builds, f);
	json_object_end(j);
}

static void add_status(struct json *j, int64_t status)
{
	bool exited = status >= 0 && status < STATUS_KILLED;
	bool killed = status >= STATUS_KILLED && status < STATUS_FAILED;

	json_object(j, "status");
	json_bool(j, "unfinished", status == STATUS_UNFINISHED);
	json_known(j, "exit_status", exited ? status : -1);
	json_known(j, "signal", killed ? status - STATUS_KILLED : -1);
	json_object_end(j);
}

static const char *verdict_word(const struct check *c)
{
	const struct verdict *v = c->verdict;

	if (c->limits && c->limits->n && !v->n_confirmed)
		return "limit_exceeded";
	if (v->not_judged)
		return "not_judged";
	if (check_against_is_unknown(c->against, v))
		return "unknown";
	return !v->enough ? "too_few_builds" : v->n_confirmed ? "regression" : "no_regression";
}

static void add_check(struct json *j, const struct check *c)
{
	const struct build *newest = &c->builds->build[c->builds->n - 1];
	const struct verdict *v = c->verdict;

	json_object(j, NULL);
	json_str(j, "verdict", verdict_word(c));
	json_str(j, "ref", c->builds->ref);
	add_build(j, "build", c->builds, (uint32_t)c->builds->n - 1);
	add_status(j, v->build_status);
	json_str(j, "error", newest->error);
	if (newest->unaccounted)
		json_str(j, "unaccounted", newest->unaccounted);
	else
		json_null(j, "unaccounted");
	add_build(j, "first_build", c->builds, v->first_build);
	json_int(j, "builds", v->n_builds);
	json_int(j, "more_builds", v->more_builds);
	json_int(j, "series", (int64_t)v->n_series);
	json_int(j, "confirmed", (int64_t)v->n_confirmed);
	json_int(j, "causes", (int64_t)c->groups->n_causes);
	json_int(j, "known", (int64_t)v->n_known);
	json_int(j, "suspected", (int64_t)v->n_suspect);
	json_shortest(j, "rate", c->rules->rate);
	json_int(j, "agree", c->rules->agree);
	json_bool(j, "short_history", c->power != NULL);
	json_real(j, "least_found", c->power ? check_power_least(c->power) : NAN, 2);
	add_host(j, v);
	json_array(j, "totals");
	for (size_t i = 0; i < v->n_exact; i++) {
		json_object(j, NULL);
		json_str(j, "total", metric_total_info[v->exact[i].total].name);
		json_int(j, "before", v->exact[i].before);
		json_int(j, "now", v->exact[i].now);
		json_object_end(j);
	}
	json_array_end(j);
	check_against_json(j, c->against, c->builds);
	check_limits_json(j, c->limits);
	check_population_json(j, c->population, c->builds);
	json_array(j, "findings");
	for (size_t i = 0; i < v->n; i++)
		add_finding(j, c, i);
	json_array_end(j);
	json_array(j, "groups");
	for (size_t i = 0; i < c->groups->n; i++)
		add_group(j, c, i);
	json_array_end(j);
	json_object_end(j);
}

int check_json(struct buf *out, const struct check *c)
{
	struct json j;

	json_init(&j, out, false);
	add_check(&j, c);
	return buf_error(out);
}

int check_json_all(struct buf *out, const struct check *c, size_t n)
{
	size_t causes = 0, confirmed = 0, known = 0, suspected = 0, failed = 0;
	struct json j;

	for (size_t i = 0; i < n; i++) {
		confirmed += c[i].verdict->n_confirmed;
		causes += c[i].groups->n_causes;
		known += c[i].verdict->n_known;
		suspected += c[i].verdict->n_suspect;
		failed += c[i].verdict->not_judged;
	}
	json_init(&j, out, false);
	json_object(&j, NULL);
	json_int(&j, "confirmed", (int64_t)confirmed);
	json_int(&j, "causes", (int64_t)causes);
	json_int(&j, "known", (int64_t)known);
	json_int(&j, "suspected", (int64_t)suspected);
	json_int(&j, "not_judged", (int64_t)failed);
	json_array(&j, "series");
	for (size_t i = 0; i < n; i++)
		add_check(&j, &c[i]);
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}
