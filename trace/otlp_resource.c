/* SPDX-License-Identifier: MIT */
#include "trace/otlp.h"

#include "analyse/path.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/hex.h"

#include <stdlib.h>
#include <string.h>

static const struct otlp_field resource = { 1, "resource" }, scope = { 1, "scope" };
static const struct otlp_field attributes = { 1, "attributes" };
static const struct otlp_field scope_name = { 1, "name" }, scope_version = { 2, "version" };

#define PIPELINE "cicd.pipeline.name"

/* The next "key=value" of OTEL_RESOURCE_ATTRIBUTES, where "%XX" is a byte of a value. */
static bool next_given(struct cursor *c, struct slice *key, struct buf *value)
{
	struct slice item;

	while (c->p < c->end) {
		const char *equal;

		cursor_until(c, ',', &item);
		while (item.len && (*item.p == ' ' || *item.p == '\t')) {
			item.p++;
			item.len--;
		}
		equal = memchr(item.p, '=', item.len);
		if (!equal || equal == item.p)
			continue;
		*key = (struct slice){ item.p, (size_t)(equal - item.p) };
		buf_clear(value);
		for (const char *p = equal + 1; p < item.p + item.len; p++) {
			int byte = *p == '%' && item.p + item.len - p > 2 ? hex_byte(p + 1) : -1;

			buf_addc(value, byte < 0 ? *p : (char)byte);
			p += byte < 0 ? 0 : 2;
		}
		return true;
	}
	return false;
}

static struct cursor given_attributes(void)
{
	const char *text = getenv("OTEL_RESOURCE_ATTRIBUTES");
	struct cursor c;

	cursor_init(&c, text ? text : "", text ? strlen(text) : 0);
	return c;
}

/* Whether the user gave an attribute; its value is in value then. */
static bool find_given(const char *key, struct buf *value)
{
	struct cursor c = given_attributes();
	struct slice name;

	while (next_given(&c, &name, value)) {
		if (slice_is(name, key))
			return true;
	}
	buf_clear(value);
	return false;
}

void otlp_pipeline_name(struct buf *out, const struct recording *rec)
{
	const char *slash;

	if (find_given(PIPELINE, out))
		return;
	path_of_build(out, rec);
	slash = strrchr(buf_str(out), '/');
	if (slash && slash[1]) {
		size_t skip = (size_t)(slash + 1 - out->data);

		memmove(out->data, slash + 1, out->len - skip);
		buf_cut(out, out->len - skip);
	}
	if (!out->len)
		buf_adds(out, "build");
}

/* An attribute of the resource, unless the user gave it. value may be NULL: not known. */
static void add(struct otlp_message *m, const char *key, const char *value)
{
	struct buf given = BUF_PART_OF(m->out);

	if (value && *value && !find_given(key, &given))
		otlp_attribute(m, attributes, key, value, strlen(value));
	buf_release(&given);
}

static void add_given(struct otlp_message *m, bool run)
{
	struct cursor c = given_attributes();
	struct buf value = BUF_PART_OF(m->out), name = BUF_PART_OF(m->out);
	const char *service = getenv("OTEL_SERVICE_NAME");
	struct slice key;

	while (next_given(&c, &key, &value)) {
		buf_clear(&name);
		buf_add(&name, key.p, key.len);
		if (!strcmp(buf_str(&name), PIPELINE) ||
		    (!run && !strncmp(name.data, "cicd.pipeline.run.", 18)) ||
		    (service && *service && !strcmp(name.data, "service.name")))
			continue;
		otlp_attribute(m, attributes, name.data, buf_str(&value), value.len);
	}
	buf_release(&value);
	buf_release(&name);
}

static const char *architecture(const char *machine)
{
	static const char *const known[][2] = {
		{ "x86_64", "amd64" }, { "aarch64", "arm64" }, { "armv7l", "arm32" },
		{ "i686", "x86" }, { "ppc64le", "ppc64" },
	};

	for (size_t i = 0; machine && i < ARRAY_SIZE(known); i++) {
		if (!strcmp(machine, known[i][0]))
			return known[i][1];
	}
	return machine;
}

static void add_run(struct otlp_message *m, const struct recording *rec)
{
	struct identity id;
	char run[IDENTITY_HEX_SIZE];

	identity_of(&id, rec);
	identity_hex(run, identity_build(&id));
	add(m, "cicd.pipeline.run.id", run);
	add(m, "cicd.pipeline.run.url.full", recording_build(rec, "run_url"));
	add(m, "process.command_line", recording_build(rec, "command"));
	add(m, "process.working_directory", recording_build(rec, "cwd"));
	add(m, "vcs.ref.head.revision", recording_build(rec, "revision"));
}

static void add_resource(struct otlp_message *m, const struct recording *rec, bool run)
{
	struct buf pipeline = BUF_PART_OF(m->out);
	const char *service = getenv("OTEL_SERVICE_NAME");
	const char *branch = recording_build(rec, "branch");

	otlp_begin(m, resource);
	otlp_list(m, attributes);
	if (service && *service)
		otlp_attribute(m, attributes, "service.name", service, strlen(service));
	else
		add(m, "service.name", "buildbeat");
	otlp_pipeline_name(&pipeline, rec);
	otlp_attribute(m, attributes, PIPELINE, buf_str(&pipeline), pipeline.len);
	add(m, "cicd.worker.name", recording_build(rec, "host"));
	add(m, "host.name", recording_build(rec, "host"));
	add(m, "host.arch", architecture(recording_build(rec, "machine")));
	add(m, "os.type", "linux");
	add(m, "os.version", recording_build(rec, "kernel"));
	add(m, "vcs.ref.head.name", branch);
	add(m, "vcs.ref.head.type", branch ? "branch" : NULL);
	if (run)
		add_run(m, rec);
	add_given(m, run);
	otlp_list_end(m);
	otlp_end(m);
	buf_release(&pipeline);
}

void otlp_begin_request(struct otlp_message *m, const struct otlp_request *q,
			const struct recording *rec, bool run)
{
	otlp_begin_all(m);
	otlp_list(m, q->of_resource);
	otlp_item(m, q->of_resource);
	add_resource(m, rec, run);
	otlp_list(m, q->of_scope);
	otlp_item(m, q->of_scope);
	otlp_begin(m, scope);
	otlp_str(m, scope_name, "buildbeat");
	otlp_str(m, scope_version, PACKAGE_VERSION);
	otlp_end(m);
	otlp_list(m, q->items);
}

void otlp_end_request(struct otlp_message *m)
{
	for (int i = 0; i < 2; i++) {
		otlp_list_end(m);
		otlp_end(m);
	}
	otlp_list_end(m);
	otlp_end_all(m);
}
