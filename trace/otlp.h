/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_OTLP_H
#define BUILDBEAT_TRACE_OTLP_H

#include "analyse/build_output.h"
#include "analyse/chain.h"
#include "recording/identity.h"
#include "recording/recording.h"
#include "trace/otlp_message.h"

/*
 * A recording as OpenTelemetry's traces and metrics, with the names of its conventions for CI/CD:
 * the build is a pipeline run, a task is a task run. Ids depend on the recording alone, so that a
 * collector recognises what is sent twice.
 */
struct otlp {
	const struct recording *rec;
	enum otlp_encoding encoding;
	struct identity id;
	const char *run_url;	/* of the CI job; NULL: not known */
	struct summary summary;
	struct chain chain;
	bool *critical;		/* the tasks that the end of the build waited for */
	int64_t end_us;		/* of the build and everything in it */
	int64_t *instance_end_us;	/* the last end of its tasks */
	uint32_t *first_note;	/* of each task, then of the build, then the end: in note */
	uint32_t *note;
	size_t next;		/* span: 0 the build, then instances, tasks, spans */
	struct build_output output;	/* empty: none, or it was not asked for */
	size_t line_at;		/* in its tasks */
};

/* 0 or -ENOMEM. Always release. */
int otlp_open(struct otlp *o, const struct recording *rec, enum otlp_encoding encoding);
void otlp_release(struct otlp *o);

/* Replace out by the next request of traces: all spans, or as many until it has limit bytes.
 * False: there are no more. Errors are those of out. */
bool otlp_next_traces(struct otlp *o, struct buf *out, size_t limit);

/* Replace out by the one request of metrics. */
void otlp_metrics(const struct otlp *o, struct buf *out);

/* What failed tasks said, for traces, if the output of the build was recorded. 0 or a negative errno with
 * err. */
int otlp_open_errors(struct otlp *o, struct error *err);

/* Prepare for the output of the build. 0, or a negative errno with err: -ENOENT if the recording has
 * none; then there are no requests. */
int otlp_open_logs(struct otlp *o, struct error *err);

/* Replace out by the next request of logs, as for traces. */
bool otlp_next_logs(struct otlp *o, struct buf *out, size_t limit);

/* For the parts above. */

/*
 * The messages around the items of a request: for a resource, which says where the build ran and
 * what it built, and for a scope. run: and which run it is; metrics do not say that because each
 * run would be new series.
 */
struct otlp_request {
	struct otlp_field of_resource, of_scope, items;
};
void otlp_begin_request(struct otlp_message *m, const struct otlp_request *q,
			const struct recording *rec, bool run);
void otlp_end_request(struct otlp_message *m);

/* Replace out by cicd.pipeline.name: from OTEL_RESOURCE_ATTRIBUTES, otherwise the build's directory. */
void otlp_pipeline_name(struct buf *out, const struct recording *rec);

/* The result of the build, or of a task that ran: cicd.pipeline.result or .task.run.result. error
 * becomes error.type: an exit status, a signal's name, "unfinished"; "" for a success. */
#define ERROR_TYPE_SIZE 16
const char *otlp_result(const struct recording *rec, char error[ERROR_TYPE_SIZE]);
const char *otlp_task_result(const struct task *t, char error[ERROR_TYPE_SIZE]);

#endif
