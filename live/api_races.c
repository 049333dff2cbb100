/* SPDX-License-Identifier: MIT */
#include "analyse/races.h"
#include "live/route.h"
#include "live/source.h"
#include "live/task_json.h"

#include "base/minmax.h"

static void add_race(struct json *j, const struct recording *rec, const struct race *race)
{
	json_object(j, NULL);
	json_str(j, "what", race->what == RACE_READ ? "read while made" : "made twice");
	task_json_ref(j, "first", rec, race->first);
	task_json_ref(j, "second", rec, race->second);
	json_int(j, "start_us", MAX(rec->task[race->first].start_us,
				    rec->task[race->second].start_us));
	json_int(j, "overlap_us", race->overlap_us);
	json_object_end(j);
}

static int reply_races(struct reply *out, const struct request *q, struct error *err)
{
	const struct recording *rec = &q->source->recording;
	struct races races = { 0 };
	struct json j;
	int r = source_need(q->source, SOURCE_SUMMARY, err);

	if (r)
		return r;
	r = races_make(&races, &q->source->summary);
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_bool(&j, "dependencies_recorded", rec->n_after);
	json_int(&j, "n_races", (int64_t)races.n_all);
	json_array(&j, "races");
	for (size_t i = 0; i < races.n; i++)
		add_race(&j, rec, &races.race[i]);
	json_array_end(&j);
	json_object_end(&j);
	races_release(&races);
	out->keep = true;
	return r ? error_sys(err, r, rec->path, NULL) : 0;
}

const struct route api_races_routes[] = {
	{ "/api/v1/races", "rec", "Tasks that made one file at the same time, or read it while it was made.",
	  reply_races },
	{ 0 }
};
