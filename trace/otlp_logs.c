/* SPDX-License-Identifier: MIT */
#include "trace/otlp.h"

#include "convert/convert.h"

#include <errno.h>
#include <string.h>

static const struct otlp_request request = {
	{ 1, "resourceLogs" }, { 2, "scopeLogs" }, { 2, "logRecords" },
};

#define F(name_, number_, json) static const struct otlp_field name_ = { number_, json }
F(records, 2, "logRecords"); F(record_time, 1, "timeUnixNano"); F(record_body, 5, "body");
F(string_value, 1, "stringValue"); F(attributes, 6, "attributes"); F(trace_id, 9, "traceId");
F(span_id, 10, "spanId");
#undef F

int otlp_open_logs(struct otlp *o, struct error *err)
{
	int r = output_open(&o->output, o->rec->path, convert_formats.codec, err);

	if (r == -ENOENT)
		return error_set(err, r, o->rec->path, 0, 0, "has no output of the build: record "
				 "it with --log");
	if (r)
		return r;
	r = output_find_tasks(&o->line_tasks, o->output, o->rec);
	return r ? error_sys(err, r, o->rec->path, NULL) : 0;
}

static const char *stream_of(const struct output_line *line)
{
	switch (line->stream) {
	case OUTPUT_STDOUT:
		return "stdout";
	case OUTPUT_STDERR:
		return "stderr";
	case OUTPUT_BOTH:
		break;
	}
	return NULL;
}

/* A line belongs to the span of its task or, if that is not known, of the build. */
static void add_line(struct otlp *o, struct otlp_message *m, const struct output_line *line)
{
	uint32_t task = output_task_of(&o->line_tasks, line->number, &o->line_at);
	const char *stream = stream_of(line);
	char span[IDENTITY_HEX_SIZE];

	identity_hex(span, task < o->rec->n_tasks ? identity_task(&o->id, o->rec, task) :
						    identity_build(&o->id));
	otlp_item(m, records);
	if (line->first_us >= 0)
		otlp_fixed64(m, record_time, o->rec->start_wall_ns + line->first_us * 1000);
	otlp_begin(m, record_body);
	otlp_text(m, string_value, line->text.p, line->text.len);
	otlp_end(m);
	if (stream) {
		otlp_list(m, attributes);
		otlp_attribute(m, attributes, "log.iostream", stream, strlen(stream));
		otlp_list_end(m);
	}
	otlp_id(m, trace_id, o->id.trace);
	otlp_id(m, span_id, span);
	otlp_end(m);
}

bool otlp_next_logs(struct otlp *o, struct buf *out, size_t limit)
{
	struct output_line line;
	struct otlp_message m;
	int r = o->output ? output_next(o->output, &line, true) : 0;

	buf_clear(out);
	if (r <= 0) {
		out->error = r;
		return r < 0;
	}
	otlp_message_init(&m, out, o->encoding);
	otlp_begin_request(&m, &request, o->rec, true);
	while (r > 0 && !buf_error(out)) {
		add_line(o, &m, &line);
		r = out->len < limit ? output_next(o->output, &line, true) : 0;
	}
	otlp_end_request(&m);
	otlp_message_release(&m);
	if (r < 0 && !out->error)
		out->error = r;
	return true;
}
