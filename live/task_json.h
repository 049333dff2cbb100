/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TASK_JSON_H
#define BUILDBEAT_LIVE_TASK_JSON_H

#include "analyse/chain.h"
#include "base/json.h"
#include "recording/recording.h"

/* Parts of replies about tasks, with the keys of show --json. Each is a member of the open object, or
 * with NULL as name an item of the open array. */

/* {"task": "INSTANCE.NUMBER", "name": "dir: target", "kind": "compile"}; null for NO_INDEX. */
void task_json_ref(struct json *j, const char *name, const struct recording *rec, uint32_t task);

/* The members of that object alone. */
void task_json_names(struct json *j, const struct recording *rec, uint32_t task);

/* Was it not seen to end? While the build runs it is running, later unfinished. */
bool task_json_runs(const struct task *t);

/* "state", "exit_status", "signal". */
void task_json_state(struct json *j, const struct task *t, bool build_runs);

/* "queue_us", "queue": {"worker_us": ...}, "waited_for": null, or as task_json_ref() with "why" and
 * "link". */
void task_json_wait(struct json *j, const struct recording *rec, const struct chain *c,
		    uint32_t task);

/* The arrays "values", of each "word", "title", "name", "key", "unit", "joined", "usual" and "needs"; and "metrics" of
 * comparisons, of each "word", "title" and "unit". */
void task_json_tables(struct json *j);

#endif
