/* SPDX-License-Identifier: MIT */
#include "trace/otlp.h"

#include "convert/convert.h"

#include <errno.h>
#include <string.h>

static const struct otlp_request request = {
	{ 1, "resourceLogs" }, { 2, "scopeLogs" }, { 2, "logRecords" },
};

#define F(name_, number_, json) static const struct otlp_field name_ = { number_, json }
F(records, 2, "logRecords"); F(record_time, 1, "timeUnixNano"); F(severity_number, 2, "severityNumber");
F(severity_text, 3, "severityText"); F(record_body, 5, "body");
F(string_value, 1, "stringValue"); F(attributes, 6, "attributes"); F(trace_id, 9, "traceId");
F(span_id, 10, "spanId");
#undef F

int otlp_open_logs(struct otlp *o, struct error *err)
{
	int r = build_output_read(&o->output, &o->summary, convert_formats.codec, err);

	if (!r && !o->output.output)
		return error_set(err, -ENOENT, o->rec->path, 0, 0, "has no output of the build: record "
				 "it with --log");
	return r;
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

/* OpenTelemetry's numbers of WARN and ERROR. Most lines have no severity that is known. */
static void add_severity(const struct otlp *o, struct otlp_message *m, uint32_t task,
			 const struct output_line *line)
{
	struct buf plain = BUF_PART_OF(m->out);
	struct message_found said;

	if (line->begins && first_error_line(o->rec, task, line->text, &plain, &said) &&
	    said.is <= MESSAGE_WARNING) {
		otlp_enum(m, severity_number, said.is == MESSAGE_ERROR ? 17 : 13);
		otlp_str(m, severity_text, said.is == MESSAGE_ERROR ? "ERROR" : "WARN");
	}
	buf_release(&plain);
}

/* A line belongs to the span of its task or, if that is not known, of the build. */
static void add_line(struct otlp *o, struct otlp_message *m, const struct output_line *line)
{
	uint32_t task = output_task_of(&o->output.tasks, line->number, &o->line_at);
	const struct first_error *e = first_error_of_build(&o->output.errors);
	bool first = e && e->line == line->number;
	const char *stream = stream_of(line);
	char span[IDENTITY_HEX_SIZE];

	identity_hex(span, task < o->rec->n_tasks ? identity_task(&o->id, o->rec, task) :
						    identity_build(&o->id));
	otlp_item(m, records);
	if (line->first_us >= 0)
		otlp_fixed64(m, record_time, o->rec->start_wall_ns + line->first_us * 1000);
	add_severity(o, m, task, line);
	otlp_begin(m, record_body);
	otlp_text(m, string_value, line->text.p, line->text.len);
	otlp_end(m);
	if (stream || first) {
		otlp_list(m, attributes);
		if (stream)
			otlp_attribute(m, attributes, "log.iostream", stream, strlen(stream));
		if (first)
			otlp_attribute_bool(m, attributes, "buildbeat.first_error", true);
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
	int r = o->output.output ? output_next(o->output.output, &line, true) : 0;

	buf_clear(out);
	if (r <= 0) {
		out->error = r;
		return r < 0;
	}
	otlp_message_init(&m, out, o->encoding);
	otlp_begin_request(&m, &request, o->rec, true);
	while (r > 0 && !buf_error(out)) {
		add_line(o, &m, &line);
		r = out->len < limit ? output_next(o->output.output, &line, true) : 0;
	}
	otlp_end_request(&m);
	otlp_message_release(&m);
	if (r < 0 && !out->error)
		out->error = r;
	return true;
}
