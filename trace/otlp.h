/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_OTLP_H
#define BUILDBEAT_TRACE_OTLP_H

#include "analyse/queue.h"
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
	struct summary summary;
	struct chain chain;
	struct queue queue;
	bool *critical;		/* the tasks of the critical path */
	int64_t end_us;		/* of the build and everything in it */
	int64_t *instance_end_us;	/* the last end of its tasks */
	uint32_t *first_note;	/* of each task, then of the build, then the end: in note */
	uint32_t *note;
	size_t next;		/* span: 0 the build, then instances, tasks, spans */
};

/* 0 or -ENOMEM. Always release. */
int otlp_open(struct otlp *o, const struct recording *rec, enum otlp_encoding encoding);
void otlp_release(struct otlp *o);

/* Replace out by the next request of traces: all spans, or as many until it has limit bytes.
 * False: there are no more. Errors are those of out. */
bool otlp_next_traces(struct otlp *o, struct buf *out, size_t limit);

/* Replace out by the one request of metrics. */
void otlp_metrics(const struct otlp *o, struct buf *out);

/* For the parts above. */

/* The resource, a field of ResourceSpans and the like: where the build ran, and what it built.
 * run: and which run it is; metrics do not say that because each run would be new series. */
void otlp_resource(struct otlp_message *m, const struct recording *rec, bool run);
void otlp_scope(struct otlp_message *m);

/* Replace out by cicd.pipeline.name: from OTEL_RESOURCE_ATTRIBUTES, otherwise the build's directory. */
void otlp_pipeline_name(struct buf *out, const struct recording *rec);

/* The result of the build, or of a task that ran: cicd.pipeline.result or .task.run.result. error
 * becomes error.type: an exit status, a signal's name, "unfinished"; "" for a success. */
#define ERROR_TYPE_SIZE 16
const char *otlp_result(const struct recording *rec, char error[ERROR_TYPE_SIZE]);
const char *otlp_task_result(const struct task *t, char error[ERROR_TYPE_SIZE]);

#endif
