/* SPDX-License-Identifier: MIT */
#include "analyse/names.h"
#include "analyse/values.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/json.h"
#include "convert/convert.h"
#include "live/route.h"
#include "live/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A task in the other recordings of a directory: the newest ones, as many as can be read in
 * TIME_NS. An archive has /api/v1/history for it, which knows changes.
 */
#define BUILDS_MAX 30
#define TIME_NS INT64_C(3000000000)

static void add_values(struct json *j, const char *name, const struct values *v, size_t task)
{
	static const struct { enum metric metric; const char *key; } columns[] = {
		{ METRIC_WALL, "wall_us" }, { METRIC_CPU, "cpu_us" }, { METRIC_MEMORY, "memory_kb" },
	};

	json_object(j, NULL);
	json_str(j, "name", name);
	json_known(j, "start_s", v->start_s);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		json_shortest(j, columns[i].key, values_get(v, task, columns[i].metric));
	json_object_end(j);
}

static void release(void *value)
{
	values_release(value);
	free(value);
}

/* Those of the recording itself, NULL: no memory. They are kept. */
static const struct values *own_values(struct source *s)
{
	struct source_kept *kept = &s->kept[SOURCE_KEEPS_VALUES];
	struct values *v = kept->value;

	if (v)
		return v;
	v = malloc(sizeof *v);
	if (!v)
		return NULL;
	*v = (struct values)VALUES_INIT;
	if (values_make(v, &s->recording)) {
		release(v);
		return NULL;
	}
	*kept = (struct source_kept){ v, release };
	return v;
}

static void add_task(struct json *j, const char *name, const struct values *v, const char *task)
{
	size_t at = values_find(v, task);

	if (at < v->n_tasks)
		add_values(j, name, v, at);
}

/* What cannot be read is left out. */
static int add_build(struct json *j, struct source *s, const struct catalogue_entry *e, const char *task)
{
	struct recording rec = RECORDING_INIT;
	struct values v = VALUES_INIT;
	const struct values *own;
	struct error ignored;
	char path[PATH_MAX];
	int r;

	if (!strcmp(e->id, s->id)) {
		own = own_values(s);
		if (own)
			add_task(j, e->id, own, task);
		return own ? 0 : -ENOMEM;
	}
	r = catalogue_directory(s->catalogue, e, path) ?
		recording_read_sums(&rec, path, &convert_formats, &ignored) : -ENOENT;
	if (!r)
		r = values_make(&v, &rec);
	if (!r)
		add_task(j, e->id, &v, task);
	values_release(&v);
	recording_release(&rec);
	return r == -ENOMEM ? r : 0;
}

static int reply_trend(struct reply *out, const struct request *q, struct error *err)
{
	int64_t until_ns = clock_mono_ns() + TIME_NS;
	const char *id = query_text(q->query, "task");
	struct source *s = q->source;
	struct buf name = BUF_INIT;
	uint32_t task = 0;
	struct json j;
	int r = id ? source_need(s, SOURCE_RECORDING, err) :
		error_say(err, -EINVAL, "parameter 'task' is missing: the id or the name of a task");

	if (!r)
		r = source_task(s, id, &task, err);
	if (r)
		return r;
	name_add_stable(&name, &s->recording, &s->recording.task[task]);
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_str(&j, "name", buf_str(&name));
	json_array(&j, "builds");
	for (size_t i = 0; !r && i < s->catalogue->n && i < BUILDS_MAX && clock_mono_ns() < until_ns; i++)
		r = add_build(&j, s, &s->catalogue->entry[i], buf_str(&name));
	json_array_end(&j);
	json_object_end(&j);
	if (!r)
		r = buf_error(&name);
	buf_release(&name);
	out->keep = true;
	return r ? error_sys(err, r, s->id, NULL) : 0;
}

const struct route api_trend_routes[] = {
	{ "/api/v1/trend", "rec, task", "The values of a task in the recordings of a directory, the newest first.",
	  reply_trend },
	{ 0 }
};
