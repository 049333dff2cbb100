/* SPDX-License-Identifier: MIT */
#include "render/list.h"

#include "analyse/words.h"
#include "base/json.h"

static void add_entry(struct json *j, const struct listing_entry *e)
{
	bool exited = e->result == BUILD_OK || e->result == BUILD_FAILED;

	json_object(j, NULL);
	json_str(j, "name", e->name);
	json_str(j, "result", e->damaged ? "damaged" : words_result(e->result));
	json_str(j, "error", e->damaged ? e->error.message : NULL);
	json_known(j, "exit_status", exited && !e->damaged ? e->status : -1);
	json_known(j, "signal", e->result == BUILD_KILLED ? e->status : -1);
	json_str(j, "start", recording_build(&e->rec, "start"));
	json_known(j, "wall_us", e->damaged ? -1 : e->rec.end_us);
	json_bool(j, "complete", !e->rec.lost.reason);
	json_known(j, "tasks", recording_build_number(&e->rec, "tasks"));
	json_str(j, "command", recording_build(&e->rec, "command"));
	json_object_end(j);
}

int json_list(struct buf *out, const struct listing *l)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat list 1");
	json_str(&j, "directory", l->path);
	json_array(&j, "recordings");
	for (size_t i = 0; i < l->n; i++)
		add_entry(&j, &l->entry[i]);
	json_array_end(&j);
	json_object_end(&j);
	return buf_error(out);
}
