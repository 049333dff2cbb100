/* SPDX-License-Identifier: MIT */
#include "report/check_replay.h"

#include "base/json.h"
#include "report/amount.h"

#include <math.h>

static const char *const why_word[] = {
	[EPISODE_LEFT] = "left", [EPISODE_BACK] = "back", [EPISODE_ACCEPTED] = "accepted",
	[EPISODE_KNOWN] = "acknowledged", [EPISODE_GONE] = "gone",
};

static void add_build(struct json *j, const char *name, const struct builds *builds, uint32_t build)
{
	if (build >= builds->n) {
		json_null(j, name);
		return;
	}
	json_object(j, name);
	json_str(j, "id", builds->build[build].id);
	json_known(j, "start_s", builds->build[build].start_s);
	json_object_end(j);
}

static void add_settings(struct json *j, const struct rules *rules)
{
	json_object(j, "settings");
	json_shortest(j, "rate", rules->rate);
	json_int(j, "agree", rules->agree);
	json_int(j, "window", rules->window);
	json_int(j, "least_history", rules->least_history);
	json_str(j, "shared", rules->shared == SHARED_REPORT ? "report" : "fail");
	json_int(j, "rules", (int64_t)rules->n);
	json_array(j, "metrics");
	for (enum metric m = 0; m < METRICS; m++) {
		if (!(rules->metrics & METRIC_BIT(m)))
			continue;
		json_object(j, NULL);
		json_str(j, "metric", metric_info[m].name);
		json_str(j, "unit", amount_unit_word[metric_info[m].unit]);
		json_shortest(j, "share", rules->gate[m].share);
		json_shortest(j, "amount", rules->gate[m].amount);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/* The episodes that begin or end with a build, as indices. */
static void add_indices(struct json *j, const char *name, const struct episodes *e, uint32_t build,
			bool begin)
{
	json_array(j, name);
	for (size_t i = 0; i < e->n; i++) {
		if ((begin ? e->episode[i].begin : e->episode[i].end) == build)
			json_int(j, NULL, (int64_t)i);
	}
	json_array_end(j);
}

static void add_builds(struct json *j, const struct check_replay *c)
{
	const struct episodes *e = c->episodes;

	json_array(j, "builds");
	for (uint32_t b = e->first; b < e->n_builds; b++) {
		const struct episodes_build *of = &e->build[b - e->first];

		json_object(j, NULL);
		json_str(j, "id", c->builds->build[b].id);
		json_known(j, "start_s", c->builds->build[b].start_s);
		json_int(j, "exit_status", check_replay_status(c, b));
		json_bool(j, "failed", of->not_judged);
		json_bool(j, "too_few_builds", !of->enough);
		json_bool(j, "limit_exceeded", c->exceeds && c->exceeds[b - e->first]);
		json_int(j, "confirmed", (int64_t)of->n_confirmed);
		json_int(j, "known", (int64_t)of->n_known);
		json_int(j, "suspected", (int64_t)of->n_suspect);
		add_indices(j, "begin", e, b, true);
		add_indices(j, "end", e, b, false);
		json_object_end(j);
	}
	json_array_end(j);
}

static double six_digits(double x)
{
	double unit = x && isfinite(x) ? pow(10, floor(log10(fabs(x))) - 5) : 1;

	return isfinite(x) ? round(x / unit) * unit : x;
}

static void add_episode(struct json *j, const struct check_replay *c, const struct episode *e)
{
	const struct verdict_finding *f = &e->finding;
	bool host = f->task == TASK_HOST;

	json_object(j, NULL);
	json_str(j, "of", host ? "host" : f->task == TASK_TOTAL ? "build" : f->task == TASK_SHARED ? "tasks" :
		 "task");
	json_str(j, "task", f->task < c->builds->n_tasks ? c->builds->task[f->task].name : NULL);
	json_str(j, "metric", metric_info[f->metric].name);
	json_str(j, "unit", host ? "ratio" : amount_unit_word[metric_info[f->metric].unit]);
	json_shortest(j, "before", six_digits(f->before));
	json_shortest(j, "now", six_digits(f->now));
	json_real(j, "effect", f->effect, 6);
	json_shortest(j, "false_rate", six_digits(f->rate));
	add_build(j, "since", c->builds, f->since);
	add_build(j, "begin", c->builds, e->begin);
	add_build(j, "end", c->builds, e->end);
	json_str(j, "ended", e->why == EPISODE_OPEN ? NULL : why_word[e->why]);
	json_int(j, "builds", e->red);
	json_object_end(j);
}

int check_replay_json(struct buf *out, const struct check_replay *c)
{
	struct check_replay_sum sum;
	int r = check_replay_sum(&sum, c);
	struct json j;

	if (r)
		return r;
	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "ref", c->builds->ref);
	json_int(&j, "failing", (int64_t)sum.n[CHECK_FAILS]);
	json_int(&j, "passing", (int64_t)sum.n[CHECK_PASSES]);
	json_int(&j, "failed_builds", (int64_t)sum.n[CHECK_FAILED_BUILD]);
	json_int(&j, "too_few_builds", (int64_t)sum.n[CHECK_TOO_FEW]);
	json_int(&j, "causes", (int64_t)sum.regressions);
	json_real(&j, "builds_of_a_cause", sum.red, 3);
	add_settings(&j, c->rules);
	add_builds(&j, c);
	json_array(&j, "regressions");
	for (size_t i = 0; i < c->episodes->n; i++)
		add_episode(&j, c, &c->episodes->episode[i]);
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}
