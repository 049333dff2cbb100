/* SPDX-License-Identifier: MIT */
#include "archive/import_oe_run.h"

#include "base/array.h"
#include "base/minmax.h"
#include "command/kind.h"
#include "convert/builder.h"

#include <string.h>

#define BLOCK_BYTES 512
#define MICRO 6			/* decimals of seconds */

/* A nested member; name ends with NULL. */
static const struct json_value *at(const struct json_value *v, const char *const *name)
{
	while (v && *name)
		v = json_member(v, *name++);
	return v;
}

static const char *text_at(const struct json_value *v, const char *const *name)
{
	const char *text = json_text(at(v, name));

	return *text ? text : NULL;
}

const char *import_oe_host(const struct import_oe_run *run)
{
	const char *host = text_at(run->metadata, (const char *const[]){ "hostname", NULL });

	return host ? host : text_at(run->results, (const char *const[]){ "tester_host", NULL });
}

const char *import_oe_branch(const struct import_oe_run *run)
{
	return text_at(run->metadata, (const char *const[]){ "layers", "meta", "branch", NULL });
}

const char *import_oe_machine(const struct import_oe_run *run)
{
	return text_at(run->metadata, (const char *const[]){ "config", "MACHINE", NULL });
}

static void add_layer(struct builder *b, const struct json_value *layer)
{
	static const char *const keys[][2] = {
		{ "revision", "commit" }, { "branch", "branch" }, { "commit_count",
			"commit_count" },
	};

	if (!layer || !layer->name || layer->type != JSON_OBJECT)
		return;
	builder_build(b, "source", layer->name);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct json_value *v = json_member(layer, keys[i][1]);

		if (v && *v->text)
			builder_build(b, keys[i][0], v->text);
	}
}

/* The first layer is the one that counts. */
static void add_sources(struct builder *b, const struct import_oe_run *run)
{
	const struct json_value *layers = json_member(run->metadata, "layers");
	const struct json_value *meta = json_member(layers, "meta");

	add_layer(b, meta);
	for (const struct json_value *v = layers ? layers->first : NULL; v; v = v->next) {
		if (v != meta)
			add_layer(b, v);
	}
	add_layer(b, json_member(run->metadata, "bitbake"));
}

static void begin_recording(struct builder *b, struct recording *rec,
			    const struct import_oe_run *run, const char *tool)
{
	builder_init(b, rec, run->path);
	builder_build(b, "host", import_oe_host(run));
	builder_build(b, "machine", import_oe_machine(run));
	builder_build(b, "tool", tool);
	add_sources(b, run);
	builder_instance(b, tool, NULL, NULL, NO_INDEX);
}

static void set_start(struct builder *b, int64_t start_us)
{
	if (start_us > 0 && start_us < INT64_MAX / 1000)
		builder_start_wall(b, start_us * 1000);
}

/* Implausibly large numbers are unknown, so that sums do not overflow. */
static int64_t number_of(const struct json_value *v, const char *name, int decimals)
{
	int64_t n = json_member_number(v, name, decimals, -1);

	return n > INT64_MAX / 16 ? -1 : n;
}

static int64_t us_of(const struct json_value *v, const char *name)
{
	return number_of(v, name, MICRO);
}

static int64_t count_of(const struct json_value *v, const char *name)
{
	return number_of(v, name, 0);
}

static int64_t sum(int64_t a, int64_t b)
{
	return a < 0 ? b : b < 0 ? a : a + b;
}

static int64_t blocks(const struct json_value *io, const char *bytes, int64_t otherwise)
{
	int64_t n = count_of(io, bytes);

	return n >= 0 ? n / BLOCK_BYTES : otherwise;
}

/* "rusage", "iostat" and possibly "child_rusage" of a task or a measurement. */
static void set_usage(struct builder_task *t, const struct json_value *v)
{
	const struct json_value *self = json_member(v, "rusage");
	const struct json_value *child = json_member(v, "child_rusage");
	const struct json_value *io = json_member(v, "iostat");
	int64_t own_kb = count_of(self, "ru_maxrss"), child_kb = count_of(child, "ru_maxrss");

	t->user_us = sum(us_of(self, "ru_utime"), us_of(child, "ru_utime"));
	t->system_us = sum(us_of(self, "ru_stime"), us_of(child, "ru_stime"));
	t->max_rss_kb = MAX(own_kb, child_kb);
	t->in_blocks = blocks(io, "read_bytes", sum(count_of(self, "ru_inblock"),
						    count_of(child, "ru_inblock")));
	t->out_blocks = blocks(io, "write_bytes", sum(count_of(self, "ru_oublock"),
						      count_of(child, "ru_oublock")));
	t->rchar = count_of(io, "rchar");
	t->wchar = count_of(io, "wchar");
}

static void set_times(struct builder_task *t, const struct json_value *v, int64_t zero_us)
{
	int64_t start_us = us_of(v, "start_time"), elapsed_us = us_of(v, "elapsed_time");

	t->start_us = start_us > zero_us && zero_us > 0 ? start_us - zero_us : 0;
	t->end_us = t->start_us + MAX(elapsed_us, 0);
}

static bool is_good(const char *status)
{
	return !strcmp(status, "SUCCESS") || !strcmp(status, "EXPECTED_FAILURE") || !*status;
}

static void add_measurement(struct builder *b, const struct json_value *test,
			    const struct json_value *m, int64_t zero_us, bool failed)
{
	const struct json_value *values = json_member(m, "values");
	struct builder_task t;
	struct buf name = BUF_INIT;
	int64_t size_kb = count_of(values, "size");

	buf_addf(&name, "%s: %s", test->name, m->name);
	builder_task_init(&t);
	t.name = buf_str(&name);
	t.kind = "measurement";
	t.state = failed ? TASK_FAILED : TASK_DONE;
	if (size_kb >= 0) {
		set_times(&t, test, zero_us);
		t.end_us = t.start_us;
		t.user_us = t.system_us = 0;
		t.out_blocks = size_kb * (1024 / BLOCK_BYTES);
	} else {
		set_times(&t, values, zero_us);
		set_usage(&t, values);
	}
	builder_task(b, 0, &t);
	if (buf_error(&name))
		b->error = buf_error(&name);
	buf_release(&name);
}

/* Returns false if it failed. */
static bool add_test(struct builder *b, const struct json_value *test, int64_t zero_us)
{
	const struct json_value *list = json_member(test, "measurements");
	const char *status = json_member_text(test, "status");
	bool failed = !is_good(status);
	struct builder_task t;

	if (!strcmp(status, "SKIPPED"))
		return true;
	builder_task_init(&t);
	t.name = test->name;
	t.kind = "test";
	t.state = failed ? TASK_FAILED : TASK_DONE;
	set_times(&t, test, zero_us);
	builder_task(b, 0, &t);
	for (const struct json_value *m = list ? list->first : NULL; m; m = m->next) {
		if (m->name && m->type == JSON_OBJECT)
			add_measurement(b, test, m, zero_us, failed);
	}
	return !failed;
}

int import_oe_tests(struct recording *rec, const struct import_oe_run *run, struct error *err)
{
	const struct json_value *tests = json_member(run->results, "tests");
	int64_t zero_us = us_of(run->results, "start_time");
	int64_t elapsed_us = us_of(run->results, "elapsed_time");
	struct builder b;
	bool good = true;

	begin_recording(&b, rec, run, "oe-build-perf-test");
	set_start(&b, zero_us);
	for (const struct json_value *t = tests ? tests->first : NULL; t; t = t->next) {
		if (t->name && t->type == JSON_OBJECT)
			good &= add_test(&b, t, zero_us);
	}
	if (elapsed_us >= 0)
		builder_build_number(&b, "end_us", elapsed_us);
	builder_build_number(&b, "status", !good);
	return builder_end(&b, 0, run->path, err);
}

static void add_recipe(struct builder *b, const struct json_value *recipe, int64_t zero_us,
		       struct buf *key)
{
	const struct json_value *tasks = json_member(recipe, "tasks");
	const struct json_value *epoch = json_member(recipe, "epoch");

	/* "name-[epoch_]version-revision" */
	buf_clear(key);
	buf_addf(key, "%s-", json_member_text(recipe, "name"));
	if (epoch && *epoch->text)
		buf_addf(key, "%s_", epoch->text);
	buf_addf(key, "%s-%s", json_member_text(recipe, "version"),
		 json_member_text(recipe, "revision"));
	for (const struct json_value *v = tasks ? tasks->first : NULL; v; v = v->next) {
		struct builder_task t;

		if (!v->name || v->type != JSON_OBJECT)
			continue;
		builder_task_init(&t);
		t.name = v->name;
		t.kind = kind_of_oe_task(v->name, strlen(v->name));
		t.key = buf_str(key);
		t.state = strstr(json_member_text(v, "status"), "FAIL") ? TASK_FAILED : TASK_DONE;
		set_times(&t, v, zero_us);
		set_usage(&t, v);
		builder_task(b, 0, &t);
	}
}

static int64_t earliest(const struct json_value *recipes)
{
	int64_t first = INT64_MAX;

	for (const struct json_value *r = recipes->first; r; r = r->next) {
		const struct json_value *tasks = json_member(r, "tasks");

		for (const struct json_value *v = tasks ? tasks->first : NULL; v; v = v->next) {
			int64_t us = us_of(v, "start_time");

			first = us > 0 && us < first ? us : first;
		}
	}
	return first < INT64_MAX ? first : 0;
}

static void add_totals(struct builder *b, const struct import_oe_run *run, const char *measurement)
{
	const struct json_value *tests = json_member(run->results, "tests"), *values, *test;
	const char *dot = strchr(measurement, '.');
	struct builder_task all;
	struct buf name = BUF_INIT;

	buf_add(&name, measurement, dot ? (size_t)(dot - measurement) : strlen(measurement));
	test = json_member(tests, buf_str(&name));
	values = json_member(json_member(json_member(test, "measurements"), dot ? dot + 1 : ""),
			     "values");
	builder_task_init(&all);
	set_usage(&all, values);
	if (us_of(values, "elapsed_time") >= 0)
		builder_build_number(b, "end_us", us_of(values, "elapsed_time"));
	if (all.user_us >= 0) {
		builder_build_number(b, "user_us", all.user_us);
		builder_servers_included(b);
	}
	if (all.system_us >= 0)
		builder_build_number(b, "system_us", all.system_us);
	if (all.max_rss_kb >= 0)
		builder_build_number(b, "max_rss_kb", all.max_rss_kb);
	if (test)
		builder_build_number(b, "status", !is_good(json_member_text(test, "status")));
	buf_release(&name);
}

int import_oe_build(struct recording *rec, const struct import_oe_run *run, const char *measurement,
		    const struct json_value *buildstats, struct error *err)
{
	int64_t zero_us = earliest(buildstats);
	struct buf key = BUF_INIT;
	struct builder b;

	begin_recording(&b, rec, run, "bitbake");
	set_start(&b, zero_us);
	add_totals(&b, run, measurement);
	for (const struct json_value *r = buildstats->first; r; r = r->next) {
		if (r->type == JSON_OBJECT)
			add_recipe(&b, r, zero_us, &key);
	}
	buf_release(&key);
	return builder_end(&b, 0, run->path, err);
}
