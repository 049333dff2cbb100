/* SPDX-License-Identifier: MIT */
/* Replies about the archives of inspections of a recording. */
#include "inspect/archive_list.h"
#include "live/route.h"
#include "live/source.h"
#include "report/inspect/archives_json.h"

#include <limits.h>

#define ARCHIVES_MAX 5000

static int list(struct inspect_list *l, const struct source *s, struct error *err)
{
	char directory[PATH_MAX], path[PATH_MAX];

	if (!source_directory(s, directory) || !source_inspection(path, directory, NULL))
		return 0;
	return inspect_list_add(l, path, err);
}

static int reply_list(struct reply *out, const struct request *q, struct error *err)
{
	struct inspect_list l = INSPECT_LIST_INIT;
	struct json j;
	int r = list(&l, q->source, err);

	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat inspections 1");
	json_int(&j, "n_inspections", (int64_t)l.n);
	json_array(&j, "inspections");
	for (size_t i = 0; i < l.n && i < ARCHIVES_MAX; i++)
		archives_json_entry(&j, &l.entry[i]);
	json_array_end(&j);
	json_object_end(&j);
	inspect_list_release(&l);
	return r ? r : buf_error(&out->body);
}

const struct route api_inspections_routes[] = {
	{ "/api/v1/inspections", "rec", "The archives of inspections in a recording, the newest first.",
	  reply_list },
	{ 0 }
};
