/* SPDX-License-Identifier: MIT */
#include "report/inspect/archives_json.h"

#include "base/clock.h"

void archives_json_entry(struct json *j, const struct inspect_entry *e)
{
	struct buf start = BUF_PART_OF(j->out);

	clock_add_iso(&start, e->start_us * 1000);
	json_object(j, NULL);
	json_str(j, "archive", e->path);
	json_str(j, "host", e->host);
	json_str(j, "program", e->program);
	json_int(j, "pid", e->pid);
	json_str(j, "command", e->command);
	json_str(j, "task", *e->task ? e->task : NULL);
	json_str(j, "why", e->why);
	json_str(j, "heap", *e->heap ? e->heap : NULL);
	json_str(j, "start", buf_str(&start));
	json_int(j, "start_us", e->start_us);
	json_known(j, "duration_us", e->end_us);
	json_known(j, "snapshots", e->end_us < 0 ? -1 : (int64_t)e->n_snapshots);
	json_bool(j, "runs", e->runs);
	json_str(j, "end", *e->end ? e->end : NULL);
	json_object_end(j);
	buf_release(&start);
}
