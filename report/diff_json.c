/* SPDX-License-Identifier: MIT */
#include "report/diff_output.h"

#include "base/array.h"
#include "base/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const side_word[DIFF_SIDES] = { "base", "new" };

/* "wall_us", "io_bytes", "instructions" ... */
static void metric_key(char *key, size_t size, enum metric m)
{
	static const char *const unit[] = {
		[UNIT_US] = "_us", [UNIT_KB] = "_kb", [UNIT_BYTES] = "_bytes", [UNIT_COUNT] = "",
	};

	snprintf(key, size, "%s%s", metric_info[m].name, unit[metric_info[m].unit]);
}

static void add_interval(struct json *j, struct interval in)
{
	json_array(j, "interval");
	json_shortest(j, NULL, in.low);
	json_shortest(j, NULL, in.high);
	json_array_end(j);
}

static void add_value(struct json *j, const char *key, const struct diff_value *f)
{
	const char *untested = diff_untested_word[f->untested];
	const struct samples *s = f->test;

	json_object(j, key);
	json_shortest(j, "base", f->value[DIFF_BASE]);
	json_shortest(j, "new", f->value[DIFF_NOW]);
	json_shortest(j, "change", f->change);
	json_shortest(j, "share", f->share);
	json_bool(j, "large", f->large);
	if (s) {
		json_str(j, "verdict", samples_verdict_word[f->verdict]);
		json_shortest(j, "effect", s->effect);
		add_interval(j, s->in);
		json_shortest(j, "p", s->p);
		json_shortest(j, "t_p", s->t_p);
		json_shortest(j, "rate", s->rate);
	}
	if (untested)
		json_str(j, "not_tested", untested);
	json_object_end(j);
}

static bool is_known(const struct diff_value *f)
{
	return !isnan(f->value[DIFF_BASE]) || !isnan(f->value[DIFF_NOW]);
}

static void add_runs(struct json *j, const struct diff *d, enum diff_side s)
{
	json_array(j, side_word[s]);
	for (size_t i = 0; i < d->n_runs[s]; i++) {
		json_object(j, NULL);
		json_str(j, "recording", d->run[s][i].path);
		json_known(j, "start_s", d->run[s][i].start_s);
		json_object_end(j);
	}
	json_array_end(j);
}

static void add_task(struct json *j, const struct diff *d, size_t task)
{
	static const char *const presence[] = { "both", "new", "gone" };
	static const char *const end[] = { "same", "fails", "fixed", "other" };
	const struct diff_task *t = &d->task[task];
	char key[32];

	json_object(j, NULL);
	json_str(j, "name", t->name);
	json_str(j, "kind", t->kind);
	json_str(j, "in", presence[t->presence]);
	if (t->was) {
		json_str(j, "was", t->was);
		json_str(j, "renamed", diff_rename_word[t->renamed]);
	}
	json_str(j, "end", end[t->end]);
	json_array(j, "status");
	for (enum diff_side s = 0; s < DIFF_SIDES; s++) {
		json_object(j, NULL);
		json_bool(j, "unfinished", t->status[s] == STATUS_UNFINISHED);
		json_known(j, "exit_status", t->status[s] < STATUS_KILLED ? t->status[s] : -1);
		json_known(j, "signal", t->status[s] >= STATUS_KILLED &&
			   t->status[s] < STATUS_FAILED ? t->status[s] - STATUS_KILLED : -1);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "failed_runs");
	for (enum diff_side s = 0; s < DIFF_SIDES; s++)
		json_int(j, NULL, (int64_t)t->n_failed[s]);
	json_array_end(j);
	json_array(j, "parts");
	for (enum diff_side s = 0; s < DIFF_SIDES; s++)
		json_known(j, NULL, t->parts[s]);
	json_array_end(j);
	for (enum metric m = 0; m < METRICS; m++) {
		metric_key(key, sizeof key, m);
		if (d->value[m] && is_known(&d->value[m][task]))
			add_value(j, key, &d->value[m][task]);
	}
	json_object_end(j);
}

static void add_whole(struct json *j, const struct diff *d)
{
	char key[32];

	json_object(j, "build");
	for (enum metric m = 0; m < METRICS; m++) {
		metric_key(key, sizeof key, m);
		if (d->value[m] && is_known(&d->whole[m]))
			add_value(j, key, &d->whole[m]);
	}
	json_object_end(j);
	json_object(j, "totals");
	for (enum total t = 0; t < TOTALS; t++) {
		if (!is_known(&d->total[t]))
			continue;
		json_object(j, metric_total_info[t].name);
		json_shortest(j, "base", d->total[t].value[DIFF_BASE]);
		json_shortest(j, "new", d->total[t].value[DIFF_NOW]);
		json_object_end(j);
	}
	json_object_end(j);
	json_object(j, "common");
	for (enum metric m = 0; m < METRICS; m++) {
		if (!isnan(d->common[m])) {
			snprintf(key, sizeof key, "%s_share", metric_info[m].name);
			json_shortest(j, key, d->common[m] - 1);
		}
	}
	json_object_end(j);
}

static void add_thresholds(struct json *j, const struct diff *d)
{
	char key[32];

	json_object(j, "thresholds");
	for (enum metric m = 0; m < METRICS; m++) {
		if (!d->value[m])
			continue;
		metric_key(key, sizeof key, m);
		json_object(j, key);
		json_shortest(j, "share", d->gate[m].share);
		json_shortest(j, "amount", d->gate[m].amount);
		json_shortest(j, "floor", d->gate[m].floor);
		json_bool(j, "ignored", d->gate[m].ignored);
		json_object_end(j);
	}
	json_object_end(j);
}

static void add_facts(struct json *j, const struct diff *d)
{
	json_array(j, "circumstances");
	for (size_t i = 0; i < d->n_facts; i++) {
		json_object(j, NULL);
		json_str(j, "key", d->fact[i].key);
		json_str(j, "base", *d->fact[i].value[DIFF_BASE] ? d->fact[i].value[DIFF_BASE] :
			 NULL);
		json_str(j, "new", *d->fact[i].value[DIFF_NOW] ? d->fact[i].value[DIFF_NOW] : NULL);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "recipes");
	for (size_t i = 0; i < d->n_packages; i++) {
		json_object(j, NULL);
		json_str(j, "name", d->package[i].name);
		json_str(j, "recipe_change", diff_package_word[d->package[i].change]);
		json_str(j, "base", d->package[i].version[DIFF_BASE]);
		json_str(j, "new", d->package[i].version[DIFF_NOW]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void take_list(bool *listed, uint32_t *task, size_t n, size_t most)
{
	for (size_t i = 0; i < n && i < most; i++)
		listed[task[i]] = true;
	free(task);
}

/* The tasks that are in any list. 0 or -ENOMEM. */
static int find_listed(bool *listed, const struct diff_view *v)
{
	static const enum diff_presence lost[] = { DIFF_NEW, DIFF_GONE };
	uint32_t *task;
	size_t n;
	int r = 0;

	for (enum metric m = 0; !r && m < METRICS; m++) {
		if (!v->diff->value[m])
			continue;
		r = diff_list(v, m, &task, &n);
		if (!r)
			take_list(listed, task, n, v->top);
	}
	for (size_t i = 0; !r && i < ARRAY_SIZE(lost); i++) {
		r = diff_list_lost(v, lost[i], &task, &n);
		if (!r)
			take_list(listed, task, n, v->top);
	}
	return r;
}

static int add_tasks(struct json *j, const struct diff_view *v)
{
	bool *listed = v->brief ? array_new_zero(v->diff->n_tasks + 1, sizeof *listed) : NULL;
	int r = !v->brief ? 0 : !listed ? -ENOMEM : find_listed(listed, v);

	json_array(j, "tasks");
	for (size_t i = 0; !r && i < v->diff->n_tasks; i++) {
		if (!listed || listed[i] || v->diff->task[i].end != DIFF_END_SAME)
			add_task(j, v->diff, i);
	}
	json_array_end(j);
	free(listed);
	return r;
}

int diff_json(struct buf *out, const struct diff_view *v)
{
	const struct diff *d = v->diff;
	struct json j;
	int r;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat diff 1");
	add_runs(&j, d, DIFF_BASE);
	add_runs(&j, d, DIFF_NOW);
	json_bool(&j, "tested", d->tested);
	json_bool(&j, "worse", diff_is_worse(d));
	json_array(&j, "unlike");
	for (enum diff_unlike u = 0; u < DIFF_UNLIKES; u++) {
		if (d->unlike & DIFF_UNLIKE_BIT(u))
			json_str(&j, NULL, diff_unlike_word[u]);
	}
	json_array_end(&j);
	if (d->tested)
		json_shortest(&j, "false_discovery_rate", d->rate);
	add_thresholds(&j, d);
	json_object(&j, "counts");
	json_int(&j, "tasks", (int64_t)d->n_tasks);
	json_int(&j, "new_tasks", (int64_t)d->n_new);
	json_int(&j, "gone_tasks", (int64_t)d->n_gone);
	json_int(&j, "renamed_tasks", (int64_t)d->n_renamed);
	json_int(&j, "failing_tasks", (int64_t)d->n_fails);
	json_int(&j, "fixed_tasks", (int64_t)d->n_fixed);
	json_int(&j, "tests", (int64_t)d->n_tests);
	json_int(&j, "uncertain", (int64_t)d->n_uncertain);
	for (enum diff_untested u = DIFF_IGNORED; u < DIFF_UNTESTEDS; u++)
		json_int(&j, diff_untested_word[u], (int64_t)d->n_untested[u]);
	json_object_end(&j);
	add_whole(&j, d);
	add_facts(&j, d);
	r = add_tasks(&j, v);
	json_object_end(&j);
	return r ? r : buf_error(out);
}
