/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TASK_JSON_H
#define BUILDBEAT_LIVE_TASK_JSON_H

#include "analyse/chain.h"
#include "analyse/summary.h"
#include "base/json.h"
#include "recording/recording.h"

/* Parts of replies about tasks, with the keys of show --json. Each is a member of the open object, or
 * with NULL as name an item of the open array. */

/* {"task": "INSTANCE.NUMBER", "name": "dir: target", "kind": "compile"}; null for NO_INDEX. */
void task_json_ref(struct json *j, const char *name, const struct recording *rec, uint32_t task);

/* The members of that object alone. */
void task_json_names(struct json *j, const struct recording *rec, uint32_t task);

/*
 * A task, the same in all replies and messages: the members of that object, "directory", "tool", "state",
 * "exit_status", "signal", "hosting", "pid", "queued_us", "start_us", "end_us". rec: of a reader or of
 * follow.h. build_runs: what was not seen to end may still run.
 */
void task_json_task(struct json *j, const struct recording *rec, uint32_t task, bool build_runs);

/* Does it run in a build that runs? Otherwise it is unfinished: its build tool has ended. */
bool task_json_runs(const struct recording *rec, const struct task *t);

/* The values of a task, each by the key of value.h, without the start. */
void task_json_values(struct json *j, const struct summary *s, uint32_t task);

/* "queue_us", "queue": {"worker_us": ...}, "waited_for": null, or as task_json_ref() with "why" and
 * "link". */
void task_json_wait(struct json *j, const struct recording *rec, const struct chain *c,
		    uint32_t task);

/* The arrays "values", of each "word", "title", "name", "key", "unit", "joined", "usual" and "needs"; and "metrics" of
 * comparisons, of each "word", "title" and "unit". */
void task_json_tables(struct json *j);

#endif
