/* SPDX-License-Identifier: MIT */
#include "report/list_output.h"

#include "analyse/words.h"
#include "base/json.h"
#include "recording/layout.h"

/* Members of a set only. */
static void add_set(struct json *j, const struct runs *r)
{
	json_object(j, "runs");
	json_known(j, "asked", r->asked);
	json_int(j, "recorded", (int64_t)r->n);
	json_int(j, "good", (int64_t)r->n_good);
	json_known(j, "wall_least_us", r->least_us);
	json_known(j, "wall_most_us", r->most_us);
	json_known(j, "wall_deviation_us", r->deviation_us);
	json_str(j, "prepare", r->prepare);
	json_object_end(j);
}

static void add_object(struct json *j, const struct listing_entry *e)
{
	bool exited = e->result == BUILD_OK || e->result == BUILD_FAILED;

	json_object(j, NULL);
	json_str(j, "name", e->name);
	json_str(j, "result", e->damaged ? "damaged" : words_result(e->result));
	json_str(j, "error", e->damaged ? e->error.message : NULL);
	json_bool(j, "running", e->running);
	json_known(j, "exit_status", exited && !e->damaged ? e->status : -1);
	json_known(j, "signal", e->result == BUILD_KILLED ? e->status : -1);
	json_str(j, "start", recording_build(&e->rec, "start"));
	json_known(j, "wall_us", e->damaged ? -1 : e->set && e->runs.n_good ? e->runs.median_us :
		   e->rec.end_us);
	json_bool(j, "complete", !e->rec.lost.reason);
	json_str(j, "unaccounted", recording_build(&e->rec, LAYOUT_UNACCOUNTED));
	json_known(j, "tasks", recording_build_number(&e->rec, "tasks"));
	json_str(j, "command", recording_build(&e->rec, "command"));
	if (e->set)
		add_set(j, &e->runs);
	json_object_end(j);
}

int list_json(struct buf *out, const struct listing *l)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat list 1");
	json_str(&j, "directory", l->path);
	json_array(&j, "recordings");
	for (size_t i = 0; i < l->n; i++)
		add_object(&j, &l->entry[i]);
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}
