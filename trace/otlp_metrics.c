/* SPDX-License-Identifier: MIT */
#include "trace/otlp.h"

#include "base/array.h"
#include "recording/column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define POINTS_MAX 1000		/* of a column; samples in between are left out */

enum { DELTA = 1, CUMULATIVE = 2 };

static const struct otlp_request request = {
	{ 1, "resourceMetrics" }, { 2, "scopeMetrics" }, { 2, "metrics" },
};

#define F(name_, number_, json) static const struct otlp_field name_ = { number_, json }
F(metrics, 2, "metrics"); F(metric_name, 1, "name"); F(metric_unit, 3, "unit");
F(metric_gauge, 5, "gauge"); F(metric_sum, 7, "sum"); F(metric_histogram, 9, "histogram");
F(points, 1, "dataPoints"); F(temporality, 2, "aggregationTemporality");
F(is_monotonic, 3, "isMonotonic"); F(point_start, 2, "startTimeUnixNano");
F(point_time, 3, "timeUnixNano"); F(as_double, 4, "asDouble"); F(as_int, 6, "asInt");
F(attributes, 7, "attributes"); F(histogram_count, 4, "count"); F(histogram_sum, 5, "sum");
F(histogram_buckets, 6, "bucketCounts"); F(histogram_bounds, 7, "explicitBounds");
F(histogram_attributes, 9, "attributes");
#undef F

static void begin_metric(struct otlp_message *m, const char *name, const char *unit,
			 struct otlp_field kind)
{
	otlp_item(m, metrics);
	otlp_str(m, metric_name, name);
	otlp_str(m, metric_unit, unit);
	otlp_begin(m, kind);
	otlp_list(m, points);
}

/* how: DELTA, CUMULATIVE; 0 for a gauge. */
static void end_metric(struct otlp_message *m, unsigned how, bool monotonic)
{
	otlp_list_end(m);
	if (how)
		otlp_enum(m, temporality, how);
	if (monotonic)
		otlp_bool(m, is_monotonic, true);
	otlp_end(m);
	otlp_end(m);
}

static void begin_point(const struct otlp *o, struct otlp_message *m, int64_t time_us)
{
	otlp_item(m, points);
	otlp_fixed64(m, point_start, o->rec->start_wall_ns);
	otlp_fixed64(m, point_time, o->rec->start_wall_ns + time_us * 1000);
}

static void add_str(struct otlp_message *m, struct otlp_field f, const char *key,
		    const char *value)
{
	otlp_attribute(m, f, key, value, strlen(value));
}

/* The build */

static void add_pipeline(const struct otlp *o, struct otlp_message *m, struct otlp_field f)
{
	struct buf name = BUF_PART_OF(m->out);

	otlp_pipeline_name(&name, o->rec);
	otlp_attribute(m, f, "cicd.pipeline.name", buf_str(&name), name.len);
	buf_release(&name);
}

/* One build is one value. */
static void add_duration(const struct otlp *o, struct otlp_message *m)
{
	static const double bound[] = { 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200,
					14400, 28800 };
	char error[ERROR_TYPE_SIZE];
	const char *result = otlp_result(o->rec, error);
	uint64_t count[ARRAY_SIZE(bound) + 1] = { 0 };
	double s = (double)o->rec->end_us / 1e6;
	size_t at = 0;

	while (at < ARRAY_SIZE(bound) && s > bound[at])
		at++;
	count[at] = 1;
	begin_metric(m, "cicd.pipeline.run.duration", "s", metric_histogram);
	begin_point(o, m, o->rec->end_us);
	otlp_fixed64(m, histogram_count, 1);
	otlp_double(m, histogram_sum, s);
	otlp_fixed64_list(m, histogram_buckets, count, ARRAY_SIZE(count));
	otlp_double_list(m, histogram_bounds, bound, ARRAY_SIZE(bound));
	otlp_list(m, histogram_attributes);
	add_pipeline(o, m, histogram_attributes);
	add_str(m, histogram_attributes, "cicd.pipeline.run.state", "executing");
	add_str(m, histogram_attributes, "cicd.pipeline.result", result);
	if (*error)
		add_str(m, histogram_attributes, "error.type", error);
	otlp_list_end(m);
	otlp_end(m);
	end_metric(m, DELTA, false);
}

static void add_active(const struct otlp *o, struct otlp_message *m)
{
	begin_metric(m, "cicd.pipeline.run.active", "{run}", metric_sum);
	begin_point(o, m, o->end_us);
	otlp_fixed64(m, as_int, o->rec->end_us < 0);
	otlp_list(m, attributes);
	add_pipeline(o, m, attributes);
	add_str(m, attributes, "cicd.pipeline.run.state", "executing");
	otlp_list_end(m);
	otlp_end(m);
	end_metric(m, CUMULATIVE, false);
}

/* Failed tasks by what their error was. */

struct errors {
	size_t n;
	struct error_count {
		char type[ERROR_TYPE_SIZE];
		int64_t n;
	} *list;
};

static int count_error(struct errors *e, const char *type)
{
	struct error_count *added;

	for (size_t i = 0; i < e->n; i++) {
		if (!strcmp(e->list[i].type, type)) {
			e->list[i].n++;
			return 0;
		}
	}
	added = array_add(&e->list, &e->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct error_count){ .n = 1 };
	strcpy(added->type, type);
	return 0;
}

static void add_errors(const struct otlp *o, struct otlp_message *m)
{
	struct errors e = { 0 };
	char type[ERROR_TYPE_SIZE];

	for (size_t i = 0; i < o->rec->n_tasks && !buf_error(m->out); i++) {
		if (o->rec->task[i].start_us < 0)
			continue;
		otlp_task_result(&o->rec->task[i], type);
		if (*type && count_error(&e, type))
			m->out->error = -ENOMEM;
	}
	if (e.n) {
		begin_metric(m, "cicd.pipeline.run.errors", "{error}", metric_sum);
		for (size_t i = 0; i < e.n; i++) {
			begin_point(o, m, o->end_us);
			otlp_fixed64(m, as_int, e.list[i].n);
			otlp_list(m, attributes);
			add_pipeline(o, m, attributes);
			add_str(m, attributes, "error.type", e.list[i].type);
			otlp_list_end(m);
			otlp_end(m);
		}
		end_metric(m, DELTA, true);
	}
	free(e.list);
}

/* The machine */

struct host_metric {
	const char *name, *unit, *attribute;
	const char *series;
	struct { const char *column, *value; } part[6];
	bool counter;
	bool seconds;		/* from microseconds */
};

static const struct host_metric host_metrics[] = {
	{ "system.cpu.time", "s", "cpu.mode", "proc_stat",
	  { { "user", "user" }, { "system", "system" }, { "nice", "nice" }, { "iowait", "iowait" },
	    { "irq", "interrupt" }, { "steal", "steal" } }, true, true },
	{ "system.memory.usage", "By", "system.memory.state", "proc_meminfo",
	  { { "free", "free" }, { "buffers", "buffers" }, { "cached", "cached" } }, false, false },
	{ "system.memory.linux.available", "By", NULL, "proc_meminfo",
	  { { "available", NULL } }, false, false },
	{ "system.paging.usage", "By", "system.paging.state", "proc_meminfo",
	  { { "swap", "used" } }, false, false },
	{ "system.disk.io", "By", "disk.io.direction", "proc_diskstats",
	  { { "*.read", "read" }, { "*.written", "write" } }, true, false },
	{ "system.network.io", "By", "network.io.direction", "proc_net",
	  { { "*.rx", "receive" }, { "*.tx", "transmit" } }, true, false },
};

static void add_samples(const struct otlp *o, struct otlp_message *m, const struct host_metric *h,
			const struct column *c, const char *value)
{
	size_t n = c->series->n, step = (n + POINTS_MAX - 1) / POINTS_MAX;

	for (size_t i = 0; i < n; i += step) {
		int64_t level = column_level(c, i);

		if (level == SERIES_ABSENT || level < 0)
			continue;
		begin_point(o, m, c->series->time_ms[i] * 1000);
		if (h->seconds)
			otlp_double(m, as_double, (double)level / 1e6);
		else
			otlp_fixed64(m, as_int, level);
		if (h->attribute) {
			otlp_list(m, attributes);
			add_str(m, attributes, h->attribute, value);
			otlp_list_end(m);
		}
		otlp_end(m);
	}
}

static void add_host(const struct otlp *o, struct otlp_message *m, const struct host_metric *h)
{
	if (!recording_series(o->rec, h->series))
		return;
	begin_metric(m, h->name, h->unit, h->counter ? metric_sum : metric_gauge);
	for (size_t i = 0; i < ARRAY_SIZE(h->part) && h->part[i].column; i++) {
		struct column c;

		if (column_find(&c, o->rec, h->series, h->part[i].column))
			add_samples(o, m, h, &c, h->part[i].value);
	}
	end_metric(m, h->counter ? CUMULATIVE : 0, h->counter);
}

void otlp_metrics(const struct otlp *o, struct buf *out)
{
	struct otlp_message m;

	buf_clear(out);
	otlp_message_init(&m, out, o->encoding);
	otlp_begin_request(&m, &request, o->rec, false);
	if (o->rec->end_us >= 0)
		add_duration(o, &m);
	add_active(o, &m);
	add_errors(o, &m);
	for (size_t i = 0; i < ARRAY_SIZE(host_metrics); i++)
		add_host(o, &m, &host_metrics[i]);
	otlp_end_request(&m);
	otlp_message_release(&m);
}
