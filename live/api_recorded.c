/* SPDX-License-Identifier: MIT */
/* Replies about the processes of a recording: processes.log. */
#include "live/api_parts.h"

#include "analyse/process_tree.h"
#include "base/json.h"
#include "convert/zstd.h"
#include "live/source.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#define PROCESSES_MAX 20000

static void release_tree(void *value)
{
	process_tree_release(value);
	free(value);
}

int api_recorded_tree(struct source *s, const struct process_tree **tree, struct error *err)
{
	struct source_kept *kept = &s->kept[SOURCE_KEEPS_PROCESSES];
	struct process_tree *new;
	char path[PATH_MAX];
	int r = source_need(s, SOURCE_RECORDING, err);

	if (r)
		return r;
	*tree = kept->value;
	if (*tree)
		return 0;
	new = calloc(1, sizeof *new);
	if (!new)
		return error_sys(err, -ENOMEM, NULL, NULL);
	if (source_directory(s, path))
		r = process_tree_read(new, path, &s->recording, &zstd_codec, err);
	/* that of another tool, which could be read, has none */
	if (r && r != -EINVAL) {
		release_tree(new);
		return r;
	}
	*kept = (struct source_kept){ new, release_tree };
	*tree = new;
	return 0;
}

static const char *state_of(const struct tree_process *p)
{
	if (p->runs)
		return "running";
	if (p->status < 0)
		return "ended";
	return WIFSIGNALED(p->status) ? "killed" : p->status ? "failed" : "done";
}

static void add_process(struct json *j, const struct recording *rec, const struct tree_process *p)
{
	const struct task *t = p->task == NO_INDEX ? NULL : &rec->task[p->task];
	char id[64];

	json_object(j, NULL);
	json_int(j, "pid", p->pid);
	json_int(j, "parent", p->parent_pid);
	json_known(j, "parent_row", p->parent == NO_INDEX ? -1 : (int64_t)p->parent);
	json_int(j, "start_us", p->start_us);
	json_int(j, "wall_us", p->end_us - p->start_us);
	json_known(j, "exec_us", p->exec_us);
	json_str(j, "state", state_of(p));
	json_known(j, "cpu_us", p->user_us < 0 || p->system_us < 0 ? -1 : p->user_us + p->system_us);
	json_known(j, "max_rss_kb", p->max_rss_kb);
	json_str(j, "task", t ? t->name : NULL);
	snprintf(id, sizeof id, "%s.%" PRIu64, t ? rec->instance[t->instance].id : "", t ? t->seq : 0);
	json_str(j, "task_id", t ? id : NULL);
	json_known(j, "outlived_us", p->outlived_us ? p->outlived_us : -1);
	json_str(j, "command", p->command);
	json_object_end(j);
}

/* Parents are before their children, so the first ones are a tree, too. */
static int write_tree(struct reply *out, const struct source *s, const struct process_tree *t,
		      bool outlived)
{
	struct json j;
	size_t n = 0;

	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat processes 1");
	json_str(&j, "recording", s->id);
	json_int(&j, "n_processes", (int64_t)t->n);
	json_int(&j, "n_outlived", (int64_t)t->n_outlived);
	json_int(&j, "events_lost", (int64_t)t->n_lost);
	json_array(&j, "processes");
	for (size_t i = 0; i < t->n && n < PROCESSES_MAX; i++) {
		if (outlived && !t->process[i].outlived_us)
			continue;
		add_process(&j, &s->recording, &t->process[i]);
		n++;
	}
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(&out->body);
}

int api_recorded_processes(struct reply *out, const struct request *q, struct error *err)
{
	const struct process_tree *t;
	int r;

	if (!*q->source->id)
		return error_say(err, -ENOENT, "there is no recording");
	r = api_recorded_tree(q->source, &t, err);
	out->keep = !q->source->running;
	return r ? r : write_tree(out, q->source, t, query_flag(q->query, "outlived"));
}
