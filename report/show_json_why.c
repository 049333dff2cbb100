/* SPDX-License-Identifier: MIT */
#include "report/show_json_parts.h"

#include "analyse/names.h"
#include "report/error_text.h"

#include <stdio.h>

/* Why the build took so long, and what it failed of. */

void show_json_line(struct json *j, const char *name)
{
	json_object(j, name);
	j->compact = true;
}

void show_json_line_end(struct json *j)
{
	json_object_end(j);
	j->compact = false;
}

void show_json_name(struct json *j, const struct recording *rec, const struct task *t)
{
	const struct instance *i = &rec->instance[t->instance];
	struct buf name = BUF_PART_OF(j->out);

	name_add_bare(&name, rec, t);
	json_str(j, "name", buf_str(&name));
	buf_release(&name);
	json_str(j, "directory", i->cwd ? name_relative(rec, i->cwd) : NULL);
}

void show_json_id(struct json *j, const char *name, const struct recording *rec, uint32_t task)
{
	const struct task *t = task == NO_INDEX ? NULL : &rec->task[task];
	char id[64];

	if (!t) {
		json_null(j, name);
		return;
	}
	snprintf(id, sizeof id, "%s.%llu", rec->instance[t->instance].id,
		 (unsigned long long)t->seq);
	json_str(j, name, id);
}

void show_json_answer(struct json *j, const struct recording *rec, const struct answer *a)
{
	json_array(j, "answer");
	for (size_t i = 0; i < a->n; i++) {
		const struct answer_sentence *s = &a->sentence[i];

		show_json_line(j, NULL);
		json_str(j, "about", answer_word[s->about]);
		json_str(j, "text", s->text);
		json_known(j, "from_us", s->from_us);
		json_known(j, "until_us", s->until_us);
		show_json_id(j, "task", rec, s->task);
		json_known(j, "explains_us", s->explains_us);
		show_json_line_end(j);
	}
	json_array_end(j);
}

static void begin_path_task(struct json *j, const struct recording *rec, uint32_t task)
{
	const struct task *t = &rec->task[task];

	show_json_line(j, NULL);
	show_json_id(j, "task", rec, task);
	show_json_name(j, rec, t);
	json_int(j, "start_us", t->start_us);
	json_int(j, "end_us", recording_task_end_us(rec, t));
}

void show_json_paths(struct json *j, const struct recording *rec, const struct chain *c)
{
	json_object(j, "path");
	json_int(j, "wall_us", c->path_us);
	json_int(j, "dependency_links", (int64_t)c->n_link[LINK_DEPENDENCY]);
	json_int(j, "worker_links", (int64_t)c->n_link[LINK_WORKER]);
	json_int(j, "pool_links", (int64_t)c->n_link[LINK_POOL]);
	json_int(j, "load_links", (int64_t)c->n_link[LINK_LOAD]);
	json_int(j, "order_links", (int64_t)c->n_link[LINK_ORDER]);
	json_int(j, "unknown_links", (int64_t)c->n_unknown);
	json_array(j, "tasks");
	for (size_t i = 0; i < c->n_path; i++) {
		begin_path_task(j, rec, c->path[i]);
		json_str(j, "waited_for", wait_word[c->path_why[i]]);
		json_str(j, "link", chain_link_word[c->path_link[i]]);
		show_json_line_end(j);
	}
	json_array_end(j);
	json_object_end(j);
	json_object(j, "dependencies");
	json_bool(j, "recorded", c->waits.has_dependencies);
	json_known(j, "least_wall_us", c->dependency_us);
	if (c->waits.has_dependencies)
		json_bool(j, "free_cores", c->free.known);
	json_array(j, "tasks");
	for (size_t i = 0; i < c->n_dependency; i++) {
		begin_path_task(j, rec, c->dependency[i]);
		show_json_line_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

void show_json_error(struct json *j, const struct recording *rec, const struct build_output *output)
{
	const struct first_error *e = first_error_of_build(&output->errors);

	if (!output->output)
		return;
	show_json_id(j, "first_error_task", rec, e ? e->task : NO_INDEX);
	error_json_build(j, &output->errors);
}
