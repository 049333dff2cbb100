/* SPDX-License-Identifier: MIT */
#include "analyse/tracker_class.h"
#include "base/json.h"
#include "base/minmax.h"
#include "live/route.h"
#include "live/source.h"
#include "live/task_json.h"
#include "render/chart/works.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 300
#define TOP 8
#define ROWS 200
#define ROWS_MAX 1000
#define PHASES_MAX 100
#define TIME_MAX_US (INT64_C(1) << 50)

/* JSON has each metric in a unit whose values are as large as people expect. */
static const struct unit_of { const char *unit; double scale, digits; } units[TRACKER_METRICS] = {
	[TRACKER_RUNNING] = { "tasks", 1, 1e3 }, [TRACKER_WAITING] = { "tasks", 1, 1e3 },
	[TRACKER_CPU] = { "cores", 1, 1e4 }, [TRACKER_MEMORY] = { "bytes", 1024, 1 },
	[TRACKER_READ] = { "bytes_per_s", 1e6, 1 }, [TRACKER_WRITTEN] = { "bytes_per_s", 1e6, 1 },
};

static const char *const roles[] = {
	[TRACKER_GROUP] = "group", [TRACKER_OTHERS] = "others", [TRACKER_HOSTS] = "build tools",
	[TRACKER_OVERHEAD] = "buildbeat",
};

static void add_value(struct json *j, const char *name, enum tracker_metric metric, double value)
{
	const struct unit_of *u = &units[metric];

	json_shortest(j, name, round(value * u->scale * u->digits) / u->digits);
}

/* The tracker of a recording is kept as long as the recording. */

struct kept {
	struct tracker *t;
	struct works works;	/* has the colours of kinds */
	/* the class that was asked for last: its next page, another order */
	struct tracker_class c;
	int by;
	char *name;		/* NULL: none */
	enum value sorted;	/* its order, if it is another one than by start */
	bool up;
};

static void release_class(struct kept *k)
{
	tracker_class_release(&k->c);
	free(k->name);
	k->name = NULL;
}

static void release_tracker(void *value)
{
	struct kept *k = value;

	release_class(k);
	tracker_free(k->t);
	works_release(&k->works);
	free(k);
}

static int need_kept(struct kept **out, struct source *s, struct error *err)
{
	struct source_kept *kept = &s->kept[SOURCE_KEEPS_TRACKER];
	int r = source_need(s, SOURCE_CHAIN, err);

	if (r)
		return r;
	*out = kept->value;
	if (*out)
		return 0;
	*out = calloc(1, sizeof **out);
	if (*out)
		(*out)->t = tracker_new(&s->summary, &s->chain.waits);
	if (!*out || !(*out)->t || works_make(&(*out)->works, &s->summary)) {
		if (*out)
			release_tracker(*out);
		return error_sys(err, -ENOMEM, NULL, "cannot divide what the build used");
	}
	*kept = (struct source_kept){ *out, release_tracker };
	return 0;
}

static int need_tracker(struct tracker **out, struct source *s, struct error *err)
{
	struct kept *k;
	int r = need_kept(&k, s, err);

	*out = r ? NULL : k->t;
	return r;
}

/* Parameters */

/* A word of a list, *at unchanged if the parameter is absent. */
static int word(const struct query *q, const char *key, const char *const *words, int *at,
		struct error *err)
{
	const char *value = query_text(q, key);

	for (int i = 0; value && words[i]; i++) {
		if (!strcmp(value, words[i])) {
			*at = i;
			return 0;
		}
	}
	return value ? error_set(err, -EINVAL, NULL, 0, 0, "%s: there is no '%s'", key, value) : 0;
}

struct asked {
	int metric, by;
	int64_t from_us, until_us, end_us;
	int64_t points, from, count;
};

/* Samples may be a little older than the end of a build that still runs. */
static int64_t end_of(const struct source *s)
{
	return s->summary.wall_us > 0 ? s->summary.wall_us : 1;
}

/* Of the groups or tasks of a reply at most `most`, and without a wish `usual`. */
static int ask(struct asked *a, const struct request *q, int64_t most, int64_t usual, struct error *err)
{
	const struct recording *rec = &q->source->recording;
	int r;

	*a = (struct asked){ .metric = rec->n_memory ? TRACKER_MEMORY : TRACKER_RUNNING,
		.by = TRACKER_KIND, .end_us = end_of(q->source) };
	if ((r = word(q->query, "metric", tracker_metric_word, &a->metric, err)) ||
	    (r = word(q->query, "by", tracker_by_word, &a->by, err)) ||
	    (r = query_number(q->query, "from_us", 0, TIME_MAX_US, 0, &a->from_us, err)) ||
	    (r = query_number(q->query, "until_us", 0, TIME_MAX_US, a->end_us, &a->until_us, err)) ||
	    (r = query_number(q->query, "points", 1, TRACKER_POINTS_MAX, POINTS, &a->points, err)) ||
	    (r = query_number(q->query, "from", 0, UINT32_MAX, 0, &a->from, err)) ||
	    (r = query_number(q->query, "count", 1, most, usual, &a->count, err)))
		return r;
	return a->from_us > a->until_us ? error_say(err, -EINVAL, "from_us is after until_us") : 0;
}

static void begin_json(struct json *j, struct reply *out, const struct asked *a)
{
	json_init(j, &out->body, true);
	json_object(j, NULL);
	json_str(j, "metric", tracker_metric_word[a->metric]);
	json_str(j, "unit", units[a->metric].unit);
	json_str(j, "by", tracker_by_word[a->by]);
	json_int(j, "from_us", a->from_us);
	json_int(j, "until_us", a->until_us);
	json_int(j, "end_us", a->end_us);
}

static int end_json(struct json *j, struct reply *out, const struct request *q, struct error *err)
{
	out->keep = !q->source->running;
	json_object_end(j);
	return buf_error(&out->body) ? error_sys(err, buf_error(&out->body), NULL, "cannot reply") : 0;
}

static int no_memory(int r, struct error *err)
{
	return r ? error_sys(err, r, NULL, "cannot divide what the build used") : 0;
}

/* /api/v1/tracker */

static void add_peak(struct json *j, const struct tracker_view *v)
{
	double total = v->total[v->peak];

	json_object(j, "peak");
	json_int(j, "point", (int64_t)v->peak);
	json_int(j, "from_us", v->edge_us[v->peak]);
	json_int(j, "until_us", v->edge_us[v->peak + 1]);
	json_known(j, "time_us", v->moment_us ? v->moment_us[v->peak] : -1);
	add_value(j, "total", v->query.metric, total);
	json_array(j, "groups");
	for (size_t i = 0; i < v->n_peak; i++) {
		json_object(j, NULL);
		json_str(j, "name", v->at_peak[i].name);
		json_str(j, "role", roles[v->at_peak[i].role]);
		add_value(j, "value", v->query.metric, v->at_peak[i].value);
		json_real(j, "share", total > 0 ? v->at_peak[i].value / total : 0, 4);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/* Only a kind has one colour in the chart: -1 for everything else. */
static int colour_of(const struct works *w, const struct tracker_view *v,
		     const struct tracker_series *s)
{
	for (size_t i = 0; v->query.by == TRACKER_KIND && s->role == TRACKER_GROUP && i < w->n; i++) {
		if (!strcmp(w->work[i].name, s->name))
			return (int)w->work[i].colour;
	}
	return -1;
}

static void add_series(struct json *j, const struct works *w, const struct tracker_view *v,
		       const struct tracker_series *s)
{
	double span_us = (double)(v->query.until_us - v->query.from_us);

	json_object(j, NULL);
	json_str(j, "name", s->name);
	json_str(j, "role", roles[s->role]);
	json_known(j, "colour", colour_of(w, v, s));
	json_int(j, "n_groups", (int64_t)s->n_groups);
	json_int(j, "n_tasks", (int64_t)s->n_tasks);
	add_value(j, "mean", v->query.metric, s->sum / span_us);
	add_value(j, "at_peak", v->query.metric, s->at_peak);
	json_array(j, "values");
	for (size_t i = 0; i < v->n; i++)
		add_value(j, NULL, v->query.metric, s->value[i]);
	json_array_end(j);
	json_object_end(j);
}

static void add_view(struct json *j, const struct works *w, const struct tracker_view *v,
		     bool running)
{
	json_bool(j, "is_running", running);
	json_bool(j, "known", v->known);
	json_int(j, "points", (int64_t)v->n);
	add_value(j, "mean", v->query.metric,
		  v->sum / (double)(v->query.until_us - v->query.from_us));
	if (v->moment_us) {
		json_array(j, "moment_us");
		for (size_t i = 0; i < v->n; i++)
			json_int(j, NULL, v->moment_us[i]);
		json_array_end(j);
	}
	json_array(j, "total");
	for (size_t i = 0; i < v->n; i++)
		add_value(j, NULL, v->query.metric, v->total[i]);
	json_array_end(j);
	add_peak(j, v);
	json_array(j, "series");
	for (size_t i = 0; i < v->n_series; i++)
		add_series(j, w, v, &v->series[i]);
	json_array_end(j);
}

static int reply_tracker(struct reply *out, const struct request *q, struct error *err)
{
	struct tracker_view v = { .n = 0 };
	struct kept *k;
	struct asked a;
	struct json j;
	int r = need_kept(&k, q->source, err);

	r = r ? r : ask(&a, q, TRACKER_TOP_MAX, TOP, err);
	if (!r && a.from_us == a.until_us)
		r = error_say(err, -EINVAL, "there is no time from from_us until until_us");
	if (r)
		return r;
	r = no_memory(tracker_view_make(&v, k->t, &(struct tracker_query){ (enum tracker_metric)a.metric,
		(enum tracker_by)a.by, a.from_us, a.until_us, (size_t)a.points, (size_t)a.count,
		NULL }), err);
	if (!r) {
		begin_json(&j, out, &a);
		add_view(&j, &k->works, &v, q->source->running);
		r = end_json(&j, out, q, err);
	}
	tracker_view_release(&v);
	return r;
}

/* /api/v1/classes */

/* The named parts of a build: spans of its instances that are in no other span and no process. */
static void add_phases(struct json *j, const struct recording *rec)
{
	size_t n = 0;

	json_array(j, "phases");
	for (size_t i = 0; i < rec->n_spans && n < PHASES_MAX; i++) {
		const struct span *s = &rec->span[i];

		if (s->task != NO_INDEX || s->parent != NO_INDEX || s->number >= SPAN_OF_PROCESS)
			continue;
		n++;
		json_object(j, NULL);
		json_str(j, "name", s->name);
		json_int(j, "from_us", s->begin_us);
		json_known(j, "until_us", s->end_us);
		json_object_end(j);
	}
	json_array_end(j);
}

static void add_rows(struct json *j, const struct asked *a, const struct tracker_table *table,
		     const struct tracker_groups *g)
{
	enum tracker_metric metric = (enum tracker_metric)a->metric;
	size_t end = (size_t)(a->from + a->count);

	json_array(j, "classes");
	for (size_t i = (size_t)a->from; i < table->n && i < end; i++) {
		const struct tracker_row *row = &table->row[i];
		bool hosts = row->group == g->n;

		json_object(j, NULL);
		json_str(j, "name", hosts ? "" : g->name[row->group]);
		json_str(j, "role", roles[hosts ? TRACKER_HOSTS : TRACKER_GROUP]);
		json_int(j, "n_tasks", row->n_tasks);
		add_value(j, "total", metric, row->total);
		if (row->n_tasks)
			add_value(j, "average", metric, row->total / row->n_tasks);
		else
			json_null(j, "average");
		json_real(j, "share", table->total > 0 ? row->total / table->total : 0, 4);
		json_object_end(j);
	}
	json_array_end(j);
}

static int reply_classes(struct reply *out, const struct request *q, struct error *err)
{
	struct tracker_table table = { .n = 0 };
	struct tracker_groups g;
	struct tracker *t;
	struct asked a;
	struct json j;
	int r = need_tracker(&t, q->source, err);

	r = r ? r : ask(&a, q, ROWS_MAX, ROWS, err);
	if (r)
		return r;
	r = tracker_table_make(&table, t, (enum tracker_by)a.by, (enum tracker_metric)a.metric,
			       a.from_us, a.until_us);
	r = no_memory(r ? r : tracker_groups(t, (enum tracker_by)a.by, &g), err);
	if (!r) {
		begin_json(&j, out, &a);
		json_bool(&j, "known", table.known);
		add_value(&j, "total", (enum tracker_metric)a.metric, table.total);
		json_int(&j, "n_classes", (int64_t)table.n);
		json_int(&j, "from", a.from);
		add_rows(&j, &a, &table, &g);
		add_phases(&j, &q->source->recording);
		r = end_json(&j, out, q, err);
	}
	tracker_table_release(&table);
	return r;
}

/* /api/v1/class */

static void add_stats(struct json *j, const struct tracker_class *c)
{
	json_object(j, "values");
	for (enum value v = VALUE_WALL; v < VALUES; v++) {
		const struct tracker_stat *s = &c->stat[v];

		json_object(j, value_info[v].key);
		json_int(j, "count", (int64_t)s->n);
		json_known(j, "sum", s->sum);
		json_known(j, "min", s->min);
		json_known(j, "mean", s->n ? s->sum / (int64_t)s->n : -1);
		json_known(j, "median", s->median);
		json_known(j, "max", s->max);
		json_object_end(j);
	}
	json_object_end(j);
}

static void add_task(struct json *j, const struct source *s, uint32_t i)
{
	json_object(j, NULL);
	task_json_task(j, &s->recording, i, s->running);
	task_json_values(j, &s->summary, i);
	json_object_end(j);
}

/* How much the class had over time, beside the total. */
static int add_over_time(struct json *j, struct tracker *t, const struct asked *a,
			 const struct tracker_class *c, const char *name)
{
	uint32_t n_tasks[TRACKER_POINTS_MAX];
	struct tracker_view v;
	int r = tracker_view_make(&v, t, &(struct tracker_query){ (enum tracker_metric)a->metric,
		(enum tracker_by)a->by, a->from_us, a->until_us, (size_t)a->points, 1, name });

	if (!r) {
		tracker_class_running(n_tasks, c, t, v.edge_us, v.n);
		json_bool(j, "known", v.known);
		json_array(j, "over_time");
	}
	for (size_t i = 0; !r && i < v.n; i++) {
		double value = v.series[0].value[i];

		json_object(j, NULL);
		json_int(j, "time_us", v.moment_us ? v.moment_us[i] : v.edge_us[i]);
		json_int(j, "n_tasks", n_tasks[i]);
		add_value(j, "total", v.query.metric, value);
		add_value(j, "all", v.query.metric, v.total[i]);
		json_real(j, "share", v.total[i] > 0 ? value / v.total[i] : 0, 4);
		json_object_end(j);
	}
	if (!r)
		json_array_end(j);
	tracker_view_release(&v);
	return r;
}

static int order_of(const struct query *q, enum value *by, bool *up, struct error *err)
{
	const char *sort = query_text(q, "sort");
	enum value v = 0;

	*up = !sort || *sort != '-';
	while (sort && v < VALUES && strcmp(sort + !*up, value_word[v]))
		v++;
	*by = v < VALUES ? v : VALUE_START;
	return v < VALUES ? 0 : error_say(err, -EINVAL, "sort: there is no '%s'", sort);
}

/* The class of a name, in this order. */
static int need_class(struct kept *k, int of, const char *name, enum value by, bool up)
{
	int r = 0;

	if (!k->name || k->by != of || strcmp(k->name, name)) {
		release_class(k);
		r = tracker_class_make(&k->c, k->t, (enum tracker_by)of, name);
		k->by = of;
		k->name = r ? NULL : strdup(name);
		k->sorted = VALUE_START;
		k->up = true;
	}
	if (!r && (by != VALUE_START || !up) && (k->sorted != by || k->up != up)) {
		r = tracker_class_sort(&k->c, k->t, by, up);
		k->sorted = by;
		k->up = up;
	}
	if (r || !k->name) {
		release_class(k);
		return r ? r : -ENOMEM;
	}
	return 0;
}

static void add_class(struct json *j, const struct source *source, const struct asked *a, const struct tracker_class *c, bool by_start)
{
	size_t from = MIN((size_t)a->from, c->n), end = from + MIN(c->n - from, (size_t)a->count);
	const uint32_t *task = by_start ? c->task : c->sorted;

	json_int(j, "n_tasks", (int64_t)c->n);
	json_int(j, "from", (int64_t)from);
	add_stats(j, c);
	json_array(j, "tasks");
	for (size_t i = from; i < end; i++)
		add_task(j, source, task[i]);
	json_array_end(j);
}

static int reply_class(struct reply *out, const struct request *q, struct error *err)
{
	const char *given = query_text(q->query, "name"), *name = given ? given : "";
	const struct recording *rec = &q->source->recording;
	enum value by = VALUE_START;
	struct kept *k;
	struct asked a;
	struct json j;
	bool up = true;
	int r = need_kept(&k, q->source, err);

	r = r ? r : ask(&a, q, ROWS_MAX, ROWS, err);
	r = r ? r : order_of(q->query, &by, &up, err);
	if (!r && a.from_us == a.until_us)
		r = error_say(err, -EINVAL, "there is no time from from_us until until_us");
	if (r)
		return r;
	r = need_class(k, a.by, name, by, up);
	if (r == -ENOENT)
		return error_say(err, r, "no task has the %s '%s'", tracker_by_word[a.by], name);
	if (r)
		return no_memory(r, err);
	begin_json(&j, out, &a);
	json_str(&j, "name", name);
	add_class(&j, q->source, &a, &k->c, by == VALUE_START && up);
	r = no_memory(recording_command_error(rec), err);
	r = r ? r : no_memory(add_over_time(&j, k->t, &a, &k->c, name), err);
	return r ? r : end_json(&j, out, q, err);
}

const struct route api_tracker_routes[] = {
	{ "/api/v1/tracker", "rec, metric, by, from_us, until_us, points, count",
	  "What the build used over time, divided by groups of its tasks.", reply_tracker },
	{ "/api/v1/classes", "rec, metric, by, from_us, until_us, from, count",
	  "All groups of tasks at a moment or for a time, as a table.", reply_classes },
	{ "/api/v1/class", "rec, by, name, metric, from_us, until_us, points, sort, from, count",
	  "One group of tasks: its values, its tasks, and what it used over time.", reply_class },
	{ 0 }
};
