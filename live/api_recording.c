/* SPDX-License-Identifier: MIT */
#include "analyse/groups.h"
#include "analyse/listing.h"
#include "analyse/view.h"
#include "archive/archive.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/json.h"
#include "convert/convert.h"
#include "live/parameters.h"
#include "live/api_parts.h"
#include "live/route.h"
#include "live/source.h"
#include "live/task_json.h"
#include "report/list_output.h"
#include "report/inspected_find.h"
#include "report/show_output.h"

#include <errno.h>
#include <string.h>

#define TOP_MAX 100000

/* /api/v1/: what there is */

static int index_reply(struct reply *out, const struct request *q, struct error *err)
{
	static const char *const kind[] = { "recording", "directory", "archive" };
	struct json j;

	if (*q->rest)
		return route_missing(q->route->path, err);
	json_init(&j, &out->body, false);
	json_object(&j, NULL);
	json_str(&j, "serves", kind[q->source->catalogue->kind]);
	json_str(&j, "path", q->source->catalogue->path);
	json_bool(&j, "control", q->control);
	json_bool(&j, "stacks", q->stacks);
	json_array(&j, "routes");
	for (size_t i = 0; routes_all[i]; i++) {
		for (const struct route *r = routes_all[i]; r->path; r++) {
			json_object(&j, NULL);
			json_str(&j, "path", r->path);
			json_str(&j, "parameters", r->parameters);
			json_str(&j, "summary", r->summary);
			json_object_end(&j);
		}
	}
	json_array_end(&j);
	task_json_tables(&j);
	json_object_end(&j);
	return 0;
}

/* /api/v1/recordings */

/* A series is HOST/BRANCH/MACHINE, and its branch may have slashes. */
static void add_place(struct json *j, const char *series)
{
	const char *branch = strchr(series, '/'), *machine = strrchr(series, '/');

	json_str(j, "series", series);
	if (!branch || machine == branch)
		return;
	json_strn(j, "host", series, (size_t)(branch - series));
	json_strn(j, "branch", branch + 1, (size_t)(machine - branch - 1));
	json_str(j, "machine", machine + 1);
}

/* Of the first source tree. */
static void add_revision(struct json *j, const struct build *b)
{
	json_str(j, "revision", b->n_revisions ? b->revision[0].commit : NULL);
	json_bool(j, "dirty", b->n_revisions && b->revision[0].dirty);
}

static void add_build(struct json *j, const char *series, const struct build *b)
{
	static const struct { int64_t from; const char *word; } result[] = {
		{ STATUS_UNFINISHED, "unfinished" }, { STATUS_FAILED, "failed" },
		{ STATUS_KILLED + 1, "killed" }, { 1, "failed" }, { 0, "ok" }, { INT64_MIN, "ended" },
	};
	int64_t status = b->total[TOTAL_STATUS];
	bool killed = status > STATUS_KILLED && status < STATUS_FAILED;
	struct buf start = BUF_INIT;
	size_t i = 0;

	while (status < result[i].from)
		i++;
	if (b->start_s >= 0)
		clock_add_iso(&start, b->start_s * 1000000000);
	json_object(j, NULL);
	json_str(j, "name", b->id);
	add_place(j, series);
	add_revision(j, b);
	json_str(j, "command", b->command);
	json_str(j, "result", result[i].word);
	json_bool(j, "running", false);
	json_known(j, "exit_status", status < STATUS_KILLED ? status : -1);
	json_known(j, "signal", killed ? status - STATUS_KILLED : -1);
	json_str(j, "start", start.len ? start.data : NULL);
	json_known(j, "wall_us", b->total[TOTAL_WALL_US]);
	json_known(j, "tasks", b->total[TOTAL_TASKS]);
	json_object_end(j);
	buf_release(&start);
}

static int add_series(struct json *j, struct archive *a, const char *ref, struct error *err)
{
	struct builds builds = { 0 };
	int r = archive_builds(a, ref, 0, &builds, err);

	for (size_t i = 0; !r && i < builds.n; i++)
		add_build(j, ref, &builds.build[i]);
	builds_release(&builds);
	return r;
}

/* As the list of a directory, with builds in the place of recordings. */
static int list_archive(struct buf *out, const char *repo, struct error *err)
{
	struct arena *texts = arena_new();
	struct archive *a = NULL;
	const char **ref = NULL;
	struct json j;
	size_t n = 0;
	int r = texts ? archive_open(&a, repo, ARCHIVE_READ, err) :
		error_sys(err, -ENOMEM, repo, NULL);

	if (!r)
		r = archive_refs(a, texts, &ref, &n, err);
	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat list 1");
	json_str(&j, "archive", repo);
	json_array(&j, "recordings");
	for (size_t i = 0; !r && i < n; i++)
		r = add_series(&j, a, ref[i], err);
	json_array_end(&j);
	json_object_end(&j);
	archive_close(a);
	arena_free(texts);
	return r;
}

/* One recording is listed as if it were alone in a directory. */
static int read_listing(struct listing *l, struct catalogue *c, struct error *err)
{
	const struct recording_options options = { .sums_only = true };
	struct recording rec = RECORDING_INIT;
	struct error unused;
	int r;

	if (c->kind == CATALOGUE_DIRECTORY) {
		r = listing_read(l, c->path, &convert_formats, err);
		listing_drop_sets(l);	/* their runs are pages of the set's own directory */
		return r;
	}
	l->path = strdup(c->path);
	r = recording_read_build(&rec, c->path, &convert_formats, &unused);
	if (r) {
		recording_release(&rec);
		r = converter_read_any(&rec, c->path, &options, err);
	}
	if (r || !c->n) {
		recording_release(&rec);
		return r;
	}
	return listing_add(l, c->entry[0].id, &rec);
}

static int recordings_reply(struct reply *out, const struct request *q, struct error *err)
{
	struct catalogue *c = q->source->catalogue;
	struct listing l = LISTING_INIT;
	int r;

	out->keep = !c->n || !c->entry[0].running;
	if (c->kind == CATALOGUE_ARCHIVE)
		return list_archive(&out->body, c->path, err);
	r = read_listing(&l, c, err);
	if (!r)
		r = list_json(&out->body, &l);
	listing_release(&l);
	return r;
}

/* /api/v1/show */

static int show(struct reply *out, struct source *s, const struct selection *selection,
		struct show_options *o, struct error *err)
{
	struct build_output none = { 0 }, *output = &none;
	struct groups programs = { 0 };
	struct view view = { 0 };
	int r = view_make(&view, &s->summary, selection);

	if (!r && selection->task && !view.n_tasks)
		r = error_say(err, -ENOENT, "no task has the name or id '%.200s'", selection->task);
	if (!r && build_output_matters(&s->summary))
		r = api_log_output(s, &output, err);
	o->output = output;
	if (!r && s->summary.rec->n_programs)
		r = groups_make(&programs, &s->summary, view.task, view.n_tasks, true,
				GROUPS_PROGRAM);
	o->programs = &programs;
	if (!r)
		r = show_json(&out->body, &view, o);
	groups_release(&programs);
	view_release(&view);
	return r;
}

static int show_reply(struct reply *out, const struct request *q, struct error *err)
{
	struct source *s = q->source;
	const struct selection selection = {
		.filter = query_text(q->query, "filter"), .kind = query_text(q->query, "kind"),
		.task = query_text(q->query, "task"),
		.unsuccessful = query_flag(q->query, "failed"),
	};
	struct inspected_found inspected = INSPECTED_INIT;
	struct show_options o = { .tasks = query_flag(q->query, "tasks") };
	int sort = VALUE_SORTS;
	int64_t top = 0;
	int r = query_number(q->query, "top", 1, TOP_MAX, 10, &top, err);

	if (!r)
		r = parameter_word(q->query, "sort", value_word, VALUE_SORTS, &sort, err);
	if (!r)
		r = source_need(s, SOURCE_ANSWER, err);
	if (!r)
		r = inspected_find(&inspected, &s->recording, err);
	o.sort = (enum value)sort;
	o.top = (size_t)top;
	o.chain = &s->chain;
	o.answer = &s->answer;
	o.inspected = &inspected.inspected;
	if (!r)
		r = show(out, s, &selection, &o, err);
	inspected_release(&inspected);
	out->keep = true;
	return r;
}

const struct route api_recording_routes[] = {
	{ "/api/v1/recordings", "", "The recordings that this server serves.", recordings_reply },
	{ "/api/v1/show", "rec, filter, kind, task, failed, sort, top, tasks",
	  "What a recording comes to, as buildbeat show --json prints it.", show_reply },
	{ 0 }
};

const struct route api_index_routes[] = {
	{ "/api/v1/", "", "All paths, with their parameters.", index_reply },
	{ 0 }
};
