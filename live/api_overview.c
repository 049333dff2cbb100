/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/sort.h"
#include "live/api_parts.h"
#include "live/earlier.h"
#include "live/route.h"
#include "live/source.h"
#include "live/task_json.h"
#include "report/error_text.h"
#include "report/show_output.h"

#include <errno.h>
#include <stdlib.h>

/* All that overviews show of one build, as it is at one moment. */

#define RUNNING_MAX 1000	/* in a reply */
#define FAILURES_MAX 100

/* A task that hosts a build tool fails because one inside it did: it comes after all others. */
static bool failed_before(const void *context, uint32_t a, uint32_t b)
{
	const struct task *task = context;

	if (task[a].hosts != task[b].hosts)
		return task[b].hosts;
	return task[a].end_us != task[b].end_us ? task[a].end_us > task[b].end_us : a > b;
}

static void add_failure(struct json *j, const struct recording *rec, uint32_t task,
			const struct build_output *output)
{
	json_object(j, NULL);
	task_json_task(j, rec, task, false);
	if (output->output)
		error_json_task(j, &output->errors, task);
	json_object_end(j);
}

static int add_failures(struct json *j, const struct summary *s, size_t most,
			const struct build_output *output)
{
	const struct recording *rec = s->rec;
	uint32_t *failed = array_new(rec->n_tasks, sizeof *failed);
	size_t n = 0;

	if (!failed)
		return -ENOMEM;
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		if (task_has_failed(&rec->task[i]))
			failed[n++] = i;
	}
	json_int(j, "n_failures", (int64_t)n);
	json_array(j, "failures");
	n = sort_top(failed, n, most, failed_before, rec->task);
	for (size_t i = 0; i < n; i++)
		add_failure(j, rec, failed[i], output);
	json_array_end(j);
	if (output->output) {
		const struct first_error *e = first_error_of_build(&output->errors);

		task_json_ref(j, "first_error_task", rec, e ? e->task : NO_INDEX);
		error_json_build(j, &output->errors);
	}
	free(failed);
	return 0;
}

/* A build that hangs. */
static void add_idle(struct json *j, const struct source *s)
{
	struct buf words = BUF_PART_OF(j->out);
	const struct idle *i = &s->idle;

	if (!i->us) {
		json_null(j, "idle");
		return;
	}
	json_object(j, "idle");
	json_int(j, "us", i->us);
	json_int(j, "since_us", i->since_us);
	json_int(j, "tasks", (int64_t)i->n_tasks);
	task_json_ref(j, "first", &s->recording, i->task);
	json_known(j, "pid", i->pid ? i->pid : -1);
	json_known(j, "start_ticks", i->pid ? (int64_t)i->start_ticks : -1);
	json_str(j, "process", *i->process ? i->process : NULL);
	idle_words(&words, i, &s->recording);
	json_str(j, "words", buf_str(&words));
	json_object_end(j);
	buf_release(&words);
}

/* By their start, as in summary.order. */
static void add_running(struct json *j, const struct source *s)
{
	const struct recording *rec = &s->recording;
	int64_t since_us;
	size_t n = 0;

	json_array(j, "running");
	for (size_t i = 0; s->running && i < s->summary.n_ran && n < RUNNING_MAX; i++) {
		uint32_t task = s->summary.order[i];

		if (!task_json_runs(rec, &rec->task[task]))
			continue;
		n++;
		json_object(j, NULL);
		task_json_task(j, rec, task, true);
		since_us = idle_task_since_us(&rec->task[task]);
		json_known(j, "idle_us", since_us < 0 || rec->last_us < since_us ? -1 : rec->last_us - since_us);
		task_json_wait(j, rec, &s->chain, task);
		json_object_end(j);
	}
	json_array_end(j);
}

/* A reply does not wait for earlier recordings: the reader reads them after it. */
static int add_remaining(struct json *j, struct source *s, struct error *err)
{
	bool learnt = !s->running || api_remaining_has_learnt(s);
	struct remaining_estimate e = { 0 };
	int r = learnt ? api_remaining_of(s, &e, err) : 0;

	json_bool(j, "has_learnt", learnt);
	earlier_json(j, &e);
	return r;
}

/* What only a running build has. */
static int add_present(struct json *j, const struct request *q, struct error *err)
{
	struct source *s = q->source;

	if (!s->running) {
		json_null(j, "now");
		json_null(j, "pressure");
		return 0;
	}
	api_process_pressure(j);
	return api_now_add(j, q, err);
}

static void add_summary(struct json *j, const struct source *s)
{
	json_object(j, "summary");
	show_json_summary(j, &s->summary, &s->answer);
	json_object_end(j);
}

static int reply_overview(struct reply *out, const struct request *q, struct error *err)
{
	struct build_output none = { 0 }, *output = &none;
	struct source *s = q->source;
	int64_t most = 0;
	struct json j;
	int r = query_number(q->query, "count", 0, FAILURES_MAX, 20, &most, err);

	if (!r)
		r = source_need(s, SOURCE_ANSWER, err);
	if (!r && build_output_matters(&s->summary))
		r = api_log_output(s, &output, err);
	if (r)
		return r;
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_bool(&j, "is_running", s->running);
	json_int(&j, "last_us", s->recording.last_us);
	json_bool(&j, "output_recorded", api_log_is_recorded(s));
	add_summary(&j, s);
	r = add_present(&j, q, err);
	if (!r)
		r = add_remaining(&j, s, err);
	if (!r)
		r = add_failures(&j, &s->summary, (size_t)most, output);
	add_idle(&j, s);
	add_running(&j, s);
	json_object_end(&j);
	return r ? r : buf_error(&out->body);
}

const struct route api_overview_routes[] = {
	{ "/api/v1/overview", "rec, count",
	  "All that the overview shows: how the build goes, what remains, what failed, what runs and what it "
	  "waited for, and whether it hangs.",
	  reply_overview },
	{ 0 }
};
