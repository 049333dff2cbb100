/* SPDX-License-Identifier: MIT */
#include "live/task_json.h"

#include "analyse/cost.h"
#include "analyse/names.h"
#include "analyse/words.h"
#include "recording/follow.h"
#include "report/amount.h"

#include <inttypes.h>

void task_json_names(struct json *j, const struct recording *rec, uint32_t task)
{
	const struct task *t = &rec->task[task];
	struct buf text = BUF_PART_OF(j->out);

	buf_addf(&text, "%s.%" PRIu64, rec->instance[t->instance].id, t->seq);
	json_strn(j, "task", text.data, text.len);
	buf_clear(&text);
	name_add_task(&text, rec, t);
	json_strn(j, "name", text.len ? text.data : "", text.len);
	json_str(j, "kind", t->kind);
	buf_release(&text);
}

void task_json_ref(struct json *j, const char *name, const struct recording *rec, uint32_t task)
{
	if (task == NO_INDEX) {
		json_null(j, name);
		return;
	}
	json_object(j, name);
	task_json_names(j, rec, task);
	json_object_end(j);
}

bool task_json_runs(const struct recording *rec, const struct task *t)
{
	return t->state == TASK_UNFINISHED && follow_runs(rec, t);
}

void task_json_task(struct json *j, const struct recording *rec, uint32_t task, bool build_runs)
{
	const struct task *t = &rec->task[task];
	const struct instance *i = &rec->instance[t->instance];
	bool exited = t->state == TASK_DONE || t->state == TASK_FAILED;

	task_json_names(j, rec, task);
	json_str(j, "directory", i->cwd ? name_relative(rec, i->cwd) : NULL);
	json_str(j, "tool", i->tool);
	json_str(j, "state", build_runs && task_json_runs(rec, t) ? "running" : words_state(t->state));
	json_known(j, "exit_status", exited ? t->status : -1);
	json_known(j, "signal", t->state == TASK_KILLED && t->status > 0 ? t->status : -1);
	json_bool(j, "hosting", t->hosts);
	json_known(j, "pid", t->pid);
	json_known(j, "queued_us", t->queued_us);
	json_known(j, "start_us", t->start_us);
	json_known(j, "end_us", t->end_us);
}

void task_json_values(struct json *j, const struct summary *s, uint32_t task)
{
	for (enum value v = 0; v < VALUES; v++) {
		if (v != VALUE_START)
			json_known(j, value_info[v].key, value_get(v, &s->nest[task].cost));
	}
}

void task_json_wait(struct json *j, const struct recording *rec, const struct chain *c,
		    uint32_t task)
{
	static const char *const cause[QUEUE_CAUSES] = {
		[QUEUE_WORKER] = "worker_us", [QUEUE_POOL] = "pool_us", [QUEUE_LOAD] = "load_us",
		[QUEUE_DELAYED] = "delayed_us", [QUEUE_OTHER] = "other_us",
		[QUEUE_ORDER] = "order_us",
	};
	uint32_t before = c->waits.task[task].before;

	json_known(j, "queue_us", task_ran(&rec->task[task]) ? wait_queue_us(&c->waits, rec, task) : -1);
	json_object(j, "queue");
	for (int i = 0; i < QUEUE_CAUSES; i++)
		json_int(j, cause[i], c->waits.task[task].us[i]);
	json_object_end(j);
	if (before == NO_INDEX) {
		json_null(j, "waited_for");
		return;
	}
	json_object(j, "waited_for");
	task_json_names(j, rec, before);
	json_str(j, "why", wait_word[c->waits.task[task].why]);
	json_str(j, "link", chain_link_word[chain_link(c->waits.task[task].why)]);
	json_object_end(j);
}

void task_json_tables(struct json *j)
{
	static const char *const joined[] = {
		[VALUE_SUM] = "sum", [VALUE_LARGEST] = "largest", [VALUE_FIRST] = "first",
	};

	json_array(j, "values");
	for (enum value v = 0; v < VALUES; v++) {
		const struct value_info *i = &value_info[v];

		json_object(j, NULL);
		json_str(j, "word", i->word);
		json_str(j, "title", i->title);
		json_str(j, "name", i->name);
		json_str(j, "key", i->key);
		json_str(j, "unit", amount_unit_word[i->unit]);
		json_str(j, "joined", joined[i->joined]);
		json_bool(j, "usual", i->stays > 0);
		json_str(j, "needs", i->needs);
		json_object_end(j);
	}
	json_array_end(j);
	json_array(j, "metrics");
	for (enum metric m = 0; m < METRICS; m++) {
		json_object(j, NULL);
		json_str(j, "word", metric_info[m].name);
		json_str(j, "title", metric_info[m].title);
		json_str(j, "unit", amount_unit_word[metric_info[m].unit]);
		json_object_end(j);
	}
	json_array_end(j);
}
