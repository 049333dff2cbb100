/* SPDX-License-Identifier: MIT */
#include "trace/otlp.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/outfile.h"
#include "base/str.h"
#include "convert/convert.h"
#include "recording/identity.h"
#include "trace/trace_formats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ACTION "BUILD"
#define COMMAND_MAX 1000
#define EVENTS_MAX 1000		/* of one span */
#define LINKS_MAX 100		/* likewise */
#define PART_BYTES 8388608	/* about, of a file */

enum { KIND_INTERNAL = 1, KIND_SERVER = 2 };
#define STATUS_ERROR 2

static const struct otlp_request request = {
	{ 1, "resourceSpans" }, { 2, "scopeSpans" }, { 2, "spans" },
};

#define F(name_, number_, json) static const struct otlp_field name_ = { number_, json }
F(spans, 2, "spans"); F(trace_id, 1, "traceId"); F(span_id, 2, "spanId");
F(parent_id, 4, "parentSpanId"); F(span_name, 5, "name"); F(span_kind, 6, "kind");
F(span_start, 7, "startTimeUnixNano"); F(span_end, 8, "endTimeUnixNano");
F(attributes, 9, "attributes"); F(events, 11, "events");
F(dropped_events, 12, "droppedEventsCount"); F(links, 13, "links"); F(status, 15, "status");
/* of its status, events and links */
F(status_message, 2, "message"); F(status_code, 3, "code");
F(event_time, 1, "timeUnixNano"); F(event_name, 2, "name");
F(link_trace, 1, "traceId"); F(link_span, 2, "spanId");
#undef F

/* Notes by the task that they are about; those of no task are about the build. */
static int sort_notes(struct otlp *o)
{
	const struct recording *rec = o->rec;
	size_t n = rec->n_tasks;

	o->first_note = calloc(n + 3, sizeof *o->first_note);
	o->note = malloc((rec->n_notes + 1) * sizeof *o->note);
	if (!o->first_note || !o->note)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_notes; i++)
		o->first_note[(rec->note[i].task < n ? rec->note[i].task : n) + 2]++;
	for (size_t i = 2; i < n + 3; i++)
		o->first_note[i] += o->first_note[i - 1];
	for (size_t i = 0; i < rec->n_notes; i++)
		o->note[o->first_note[(rec->note[i].task < n ? rec->note[i].task : n) + 1]++] =
			(uint32_t)i;
	return 0;
}

/* An instance of which nobody saw the end ends with its last task. */
static void see_end(struct otlp *o, const struct task *t)
{
	int64_t *instance_end_us = &o->instance_end_us[t->instance];
	int64_t end_us = t->start_us < 0 ? -1 : recording_task_end_us(o->rec, t);

	if (end_us > *instance_end_us)
		*instance_end_us = end_us;
	if (end_us > o->end_us)
		o->end_us = end_us;
}

int otlp_open(struct otlp *o, const struct recording *rec, enum otlp_encoding encoding)
{
	int r;

	*o = (struct otlp){ .rec = rec, .encoding = encoding, .end_us = rec->end_us };
	identity_of(&o->id, rec);
	o->run_url = recording_build(rec, "run_url");
	if (o->end_us < 0)
		o->end_us = rec->last_us > 0 ? rec->last_us : 0;
	o->instance_end_us = calloc(rec->n_instances + 1, sizeof *o->instance_end_us);
	o->critical = calloc(rec->n_tasks + 1, sizeof *o->critical);
	if (!o->instance_end_us || !o->critical)
		return -ENOMEM;
	for (size_t i = 0; i < rec->n_tasks; i++)
		see_end(o, &rec->task[i]);
	r = sort_notes(o);
	r = r ? r : summary_make(&o->summary, rec);
	r = r ? r : chain_make(&o->chain, &o->summary);
	for (size_t i = 0; !r && i < o->chain.n_path; i++)
		o->critical[o->chain.path[i]] = true;
	return r;
}

void otlp_release(struct otlp *o)
{
	build_output_release(&o->output);
	chain_release(&o->chain);
	summary_release(&o->summary);
	free_all(o->critical, o->instance_end_us, o->first_note, o->note);
	*o = (struct otlp){ 0 };
}

int otlp_open_errors(struct otlp *o, struct error *err)
{
	return build_output_read_failure(&o->output, &o->summary, convert_formats.codec, err);
}

/* The parts of a span */

static int64_t wall_ns(const struct otlp *o, int64_t us)
{
	return o->rec->start_wall_ns + (us > 0 ? us : 0) * 1000;
}

static void add_times(const struct otlp *o, struct otlp_message *m, int64_t begin_us,
		      int64_t end_us)
{
	otlp_fixed64(m, span_start, wall_ns(o, begin_us));
	otlp_fixed64(m, span_end, wall_ns(o, end_us > begin_us ? end_us : begin_us));
}

static void add_str(struct otlp_message *m, const char *key, const char *value)
{
	if (value && *value)
		otlp_attribute(m, attributes, key, value, strlen(value));
}

static void add_known(struct otlp_message *m, const char *key, int64_t value)
{
	if (value >= 0)
		otlp_attribute_number(m, attributes, key, value);
}

/* about: a task, or n_tasks for the build. */
static void add_events(const struct otlp *o, struct otlp_message *m, size_t about)
{
	uint32_t first = o->first_note[about], end = o->first_note[about + 1];
	uint32_t last = end - first > EVENTS_MAX ? first + EVENTS_MAX : end;

	if (first == end)
		return;
	otlp_list(m, events);
	for (uint32_t i = first; i < last; i++) {
		const struct note *n = &o->rec->note[o->note[i]];

		otlp_item(m, events);
		otlp_fixed64(m, event_time, wall_ns(o, n->time_us));
		otlp_str(m, event_name, *n->text ? n->text : "note");
		otlp_end(m);
	}
	otlp_list_end(m);
	if (end > last)
		otlp_enum(m, dropped_events, end - last);
}

static void begin_span(const struct otlp *o, struct otlp_message *m, uint64_t id, uint64_t parent,
		       const char *name)
{
	char digits[IDENTITY_HEX_SIZE];

	otlp_item(m, spans);
	otlp_id(m, trace_id, o->id.trace);
	identity_hex(digits, id);
	otlp_id(m, span_id, digits);
	if (parent) {
		identity_hex(digits, parent);
		otlp_id(m, parent_id, digits);
	}
	otlp_str(m, span_name, *name ? name : "?");
}

/* The spans */

/* After its attributes. error: what failed, "" for a success; e: what it said, or NULL. */
static void end_span(struct otlp_message *m, const char *error, const struct first_error *e)
{
	otlp_list_end(m);
	if (*error) {
		otlp_begin(m, status);
		if (e && e->message.len)
			otlp_text(m, status_message, e->message.data, e->message.len);
		otlp_enum(m, status_code, STATUS_ERROR);
		otlp_end(m);
	}
	otlp_end(m);
}

static void add_build(const struct otlp *o, struct otlp_message *m)
{
	const struct recording *rec = o->rec;
	char error[ERROR_TYPE_SIZE], run[IDENTITY_HEX_SIZE];
	const char *result = otlp_result(rec, error);
	struct buf pipeline = BUF_PART_OF(m->out), name = BUF_PART_OF(m->out);

	otlp_pipeline_name(&pipeline, rec);
	buf_addf(&name, ACTION " %s", buf_str(&pipeline));
	identity_hex(run, identity_build(&o->id));
	begin_span(o, m, identity_build(&o->id), o->id.parent, buf_str(&name));
	otlp_enum(m, span_kind, KIND_SERVER);
	add_times(o, m, 0, o->end_us);
	add_events(o, m, rec->n_tasks);
	otlp_list(m, attributes);
	add_str(m, "cicd.pipeline.action.name", ACTION);
	add_str(m, "cicd.pipeline.name", buf_str(&pipeline));
	add_str(m, "cicd.pipeline.run.id", run);
	add_str(m, "cicd.pipeline.result", result);
	add_str(m, "error.type", error);
	if (o->summary.cpu_exact) {
		add_known(m, "buildbeat.user_us", o->summary.user_us);
		add_known(m, "buildbeat.system_us", o->summary.system_us);
		if (o->summary.at_least)
			add_str(m, "buildbeat.at_least", "true");
	}
	add_known(m, "buildbeat.max_rss_kb", recording_build_number(rec, "max_rss_kb"));
	end_span(m, error, first_error_of_build(&o->output.errors));
	buf_release(&pipeline);
	buf_release(&name);
}

static void add_instance(const struct otlp *o, struct otlp_message *m, uint32_t at)
{
	const struct instance *in = &o->rec->instance[at];

	begin_span(o, m, identity_instance(&o->id, o->rec, at),
		   identity_instance_parent(&o->id, o->rec, at), *in->tool ? in->tool : "build tool");
	otlp_enum(m, span_kind, KIND_INTERNAL);
	add_times(o, m, in->open_us, in->close_us >= 0 ? in->close_us : o->instance_end_us[at]);
	otlp_list(m, attributes);
	add_str(m, "buildbeat.tool.version", in->version);
	add_known(m, "process.pid", in->pid);
	add_str(m, "process.working_directory", in->cwd);
	otlp_attribute(m, attributes, "process.command_line", in->command,
		       strnlen(in->command, COMMAND_MAX));
	end_span(m, "", NULL);
}

/* cicd.pipeline.task.type */
static const char *type_of(const struct task *t)
{
	return !strcmp(t->kind, "test") ? "test" : !strcmp(t->kind, "install") ? "deploy" : "build";
}

/* The time between ready and start, and what it was spent with. */
static void add_queue(const struct otlp *o, struct otlp_message *m, uint32_t at)
{
	static const char *const names[QUEUE_CAUSES] = {
		[QUEUE_WORKER] = "buildbeat.queue_worker_us",
		[QUEUE_POOL] = "buildbeat.queue_pool_us",
		[QUEUE_LOAD] = "buildbeat.queue_load_us",
		[QUEUE_DELAYED] = "buildbeat.queue_delayed_us",
		[QUEUE_ORDER] = "buildbeat.queue_order_us",
	};

	add_known(m, "buildbeat.queue_us", wait_queue_us(&o->chain.waits, o->rec, at));
	for (unsigned i = 0; i < QUEUE_CAUSES; i++) {
		if (names[i] && o->chain.waits.task[at].us[i] > 0)
			add_known(m, names[i], o->chain.waits.task[at].us[i]);
	}
}

static void add_used(const struct otlp *o, struct otlp_message *m, const struct task *t)
{
	const struct cost_cpu *cpu = &o->summary.nest[t - o->rec->task].cpu;

	add_known(m, "buildbeat.user_us", cpu->user_us);
	add_known(m, "buildbeat.system_us", cpu->system_us);
	if (cpu->at_least)
		add_str(m, "buildbeat.at_least", "true");
}

static void add_values(const struct otlp *o, struct otlp_message *m, const struct task *t)
{
	const char *command = recording_command(o->rec, t);

	add_used(o, m, t);
	add_known(m, "buildbeat.max_rss_kb", t->max_rss_kb);
	if (t->peak_kb)
		add_known(m, "buildbeat.peak_kb", t->peak_kb);
	add_known(m, "buildbeat.in_blocks", t->in_blocks);
	add_known(m, "buildbeat.out_blocks", t->out_blocks);
	add_known(m, "buildbeat.slot", t->slot);
	if (t->pid > 0)
		add_known(m, "process.pid", t->pid);
	if (*command)
		otlp_attribute(m, attributes, "process.command_line", command,
			       strnlen(command, COMMAND_MAX));
}

static bool is_listed(const uint32_t *list, uint32_t at)
{
	for (uint32_t i = 0; i < at; i++) {
		if (list[i] == list[at])
			return true;
	}
	return false;
}

/* A link for each task that made something the task waited for. */
static void add_links(const struct otlp *o, struct otlp_message *m, uint32_t at)
{
	const struct task *t = &o->rec->task[at];
	const uint32_t *maker = o->chain.waits.needs.maker + t->first_after;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_after && n < LINKS_MAX; i++) {
		char digits[IDENTITY_HEX_SIZE];

		if (maker[i] == NO_INDEX || maker[i] == at || is_listed(maker, i))
			continue;
		if (!n++)
			otlp_list(m, links);
		otlp_item(m, links);
		otlp_id(m, link_trace, o->id.trace);
		identity_hex(digits, identity_task(&o->id, o->rec, maker[i]));
		otlp_id(m, link_span, digits);
		otlp_end(m);
	}
	if (n)
		otlp_list_end(m);
}

static void add_task(const struct otlp *o, struct otlp_message *m, uint32_t at)
{
	const struct recording *rec = o->rec;
	const struct task *t = &rec->task[at];
	struct buf name = BUF_PART_OF(m->out), run = BUF_PART_OF(m->out);
	char error[ERROR_TYPE_SIZE];
	const char *result = otlp_task_result(t, error);

	name_add_task(&name, rec, t);
	buf_addf(&run, "%s.%" PRIu64, rec->instance[t->instance].id, t->seq);
	begin_span(o, m, identity_task(&o->id, rec, at), identity_task_parent(&o->id, rec, at),
		   buf_str(&name));
	otlp_enum(m, span_kind, KIND_INTERNAL);
	add_times(o, m, t->start_us, recording_task_end_us(rec, t));
	add_events(o, m, at);
	add_links(o, m, at);
	otlp_list(m, attributes);
	add_str(m, "cicd.pipeline.task.name", *t->name ? t->name : buf_str(&name));
	add_str(m, "cicd.pipeline.task.type", type_of(t));
	add_str(m, "cicd.pipeline.task.run.id", buf_str(&run));
	add_str(m, "cicd.pipeline.task.run.result", result);
	add_str(m, "cicd.pipeline.task.run.url.full", o->run_url);
	add_str(m, "buildbeat.kind", t->kind);
	add_str(m, "buildbeat.key", t->key);
	add_str(m, "error.type", error);
	if (t->state == TASK_FAILED)
		add_known(m, "process.exit.code", t->status);
	if (o->critical[at])
		otlp_attribute_bool(m, attributes, "buildbeat.critical", true);
	add_queue(o, m, at);
	add_values(o, m, t);
	end_span(m, error, first_error_of(&o->output.errors, at));
	buf_release(&name);
	buf_release(&run);
}

static void add_inner(const struct otlp *o, struct otlp_message *m, uint32_t at)
{
	const struct recording *rec = o->rec;
	const struct span *s = &rec->span[at];
	int64_t end_us = s->end_us;

	if (end_us < 0)
		end_us = s->task < rec->n_tasks ?
			 recording_task_end_us(rec, &rec->task[s->task]) : o->end_us;
	begin_span(o, m, identity_span(&o->id, rec, at), identity_span_parent(&o->id, rec, at),
		   s->name);
	otlp_enum(m, span_kind, KIND_INTERNAL);
	add_times(o, m, s->begin_us, end_us);
	otlp_list(m, attributes);
	add_str(m, "code.location", s->place);
	end_span(m, "", NULL);
}

/* The requests */

/* What never ran is no span. */
static void add_next(const struct otlp *o, struct otlp_message *m)
{
	const struct recording *rec = o->rec;
	size_t at = o->next;

	if (!at--)
		add_build(o, m);
	else if (at < rec->n_instances && !rec->instance[at].only_spans)
		add_instance(o, m, (uint32_t)at);
	else if (at < rec->n_instances)
		return;
	else if ((at -= rec->n_instances) < rec->n_tasks && rec->task[at].start_us >= 0)
		add_task(o, m, (uint32_t)at);
	else if (at >= rec->n_tasks && rec->span[at - rec->n_tasks].begin_us >= 0)
		add_inner(o, m, (uint32_t)(at - rec->n_tasks));
}

bool otlp_next_traces(struct otlp *o, struct buf *out, size_t limit)
{
	size_t n = 1 + o->rec->n_instances + o->rec->n_tasks + o->rec->n_spans;
	struct otlp_message m;

	buf_clear(out);
	if (o->next == n)
		return false;
	otlp_message_init(&m, out, o->encoding);
	otlp_begin_request(&m, &request, o->rec, true);
	while (o->next < n && out->len < limit && !buf_error(out)) {
		add_next(o, &m);
		o->next++;
	}
	otlp_end_request(&m);
	otlp_message_release(&m);
	return true;
}

/* The files */

static enum otlp_encoding encoding_of(const char *path)
{
	return str_ends(path, ".pb") || str_ends(path, ".binpb") ? OTLP_PROTOBUF : OTLP_JSON;
}

enum signal { TRACES, METRICS, LOGS };

static bool next_part(struct otlp *o, enum signal signal, struct buf *out)
{
	switch (signal) {
	case TRACES:
		return otlp_next_traces(o, out, PART_BYTES);
	case LOGS:
		return otlp_next_logs(o, out, PART_BYTES);
	case METRICS:
		break;
	}
	if (o->next++)
		return false;
	otlp_metrics(o, out);
	return true;
}

/* A large build is written in parts. In JSON each is a line; in protobuf, messages one after the
 * other are one message. */
static int write_parts(struct otlp *o, enum signal signal, const char *path, struct error *err)
{
	struct buf out = BUF_INIT;
	struct outfile file;
	int r = outfile_begin(&file, path, err);

	while (!r && next_part(o, signal, &out)) {
		r = buf_error(&out);
		r = r ? r : recording_command_error(o->rec);
		r = r ? error_sys(err, r, path, "cannot write") :
		    outfile_add(&file, out.data, out.len, err);
	}
	buf_release(&out);
	return outfile_end(&file, r, err);
}

static int write_file(const struct recording *rec, enum signal signal, const char *path,
		      struct error *err)
{
	struct otlp o;
	int r = otlp_open(&o, rec, encoding_of(path));

	if (r)
		error_sys(err, r, path, "cannot write");
	if (!r && signal == TRACES)
		r = otlp_open_errors(&o, err);
	if (!r && signal == LOGS)
		r = otlp_open_logs(&o, err);
	r = r ? r : write_parts(&o, signal, path, err);
	otlp_release(&o);
	return r;
}

int otlp_write(const struct recording *rec, const char *path, struct error *err)
{
	return write_file(rec, TRACES, path, err);
}

int otlp_write_metrics(const struct recording *rec, const char *path, struct error *err)
{
	return write_file(rec, METRICS, path, err);
}

int otlp_write_logs(const struct recording *rec, const char *path, struct error *err)
{
	return write_file(rec, LOGS, path, err);
}
