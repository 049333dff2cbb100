/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_IDENTITY_H
#define BUILDBEAT_RECORDING_IDENTITY_H

#include "base/buf.h"
#include "base/cursor.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The ids of W3C's trace context. They are computed and not recorded: the plugin, a reader and
 * an exporter find the same ones.
 *
 * - The trace id of a recording is that of the key `traceparent` of its `build`. Without the key
 * it is a hash of the start of the recording.
 * - The id of a span is a hash of the trace id, the instance that wrote its lines, and the numbers
 * of its task and itself in these lines. A task has no span, an instance no task, and the build no
 * instance. No id is 0.
 */

#define IDENTITY_TRACE_SIZE 33	/* 32 hexadecimal digits and a NUL */
#define IDENTITY_HEX_SIZE 17	/* 16 of an id */
#define IDENTITY_SHORT 6	/* digits of the short form, the first of the 16 */

struct identity {
	char trace[IDENTITY_TRACE_SIZE];
	uint8_t flags;		/* the trace flags; bit 0: sampled */
	uint64_t seed;		/* of all ids */
	uint64_t parent;	/* what the build ran in, by `traceparent`; 0: nothing */
};

/* The identity of a recording that was read, or whose `build` was. */
void identity_of(struct identity *id, const struct recording *rec);

/* The same from the text of `build`, which may be truncated after any line. False: it has no
 * start. */
bool identity_of_build(struct identity *id, const char *build, size_t len);

/* The same for a process that writes to the recording in that directory: reads the beginning of
 * `build`. False: it has no start. */
bool identity_of_path(struct identity *id, const char *path);

/*
 * Parse "00-TRACE-PARENT-FLAGS". As the standard demands, versions above 00 may continue after
 * another dash, version ff and ids of only zeros are wrong, and so are upper-case digits. False:
 * it is wrong, and *id is unchanged.
 */
bool identity_parse(struct identity *id, struct slice traceparent);

/* The text of `traceparent` for what runs in something with this id. */
#define IDENTITY_TRACEPARENT_SIZE 56
void identity_traceparent(char out[IDENTITY_TRACEPARENT_SIZE], const struct identity *id,
			  uint64_t parent);

/* May the text be recorded and given on as `tracestate`: at most 512 printable characters? */
bool identity_is_tracestate(struct slice text);

/* The ids: of anything, of the build, and of what a recording has. */
uint64_t identity_hash(const struct identity *id, const char *inst, uint64_t task, uint64_t span);
uint64_t identity_build(const struct identity *id);
uint64_t identity_instance(const struct identity *id, const struct recording *rec, uint32_t at);
uint64_t identity_task(const struct identity *id, const struct recording *rec, uint32_t at);
uint64_t identity_span(const struct identity *id, const struct recording *rec, uint32_t at);

/* And of what they ran in: a span, a task, an instance or the build. An instance that only wrote
 * spans (instance.only_spans) is never a parent. */
uint64_t identity_instance_parent(const struct identity *id, const struct recording *rec,
				  uint32_t at);
uint64_t identity_task_parent(const struct identity *id, const struct recording *rec, uint32_t at);
uint64_t identity_span_parent(const struct identity *id, const struct recording *rec, uint32_t at);

void identity_hex(char out[IDENTITY_HEX_SIZE], uint64_t id);

/*
 * A stack of ids, from the outermost task to the innermost span: "task$task$span.span". Each is
 * shown as the short form of its id, its name, or (id "name"). The name has the number of its
 * copy, so that it is unique among simultaneous spans of an instance: "name#2" for the second one.
 * A name that itself ends in # and a number always has another one.
 */
enum identity_kind { IDENTITY_IDS, IDENTITY_NAMES, IDENTITY_COMBINED };

/* One of them. before: '$' or '.', 0 for the first. */
void identity_add(struct buf *b, enum identity_kind kind, char before, uint64_t id,
		  const char *name, uint32_t copy);

/* That of a task (NO_INDEX: none) or of a span (NO_INDEX: none), which has its task. "" for the
 * build. */
void identity_add_stack(struct buf *b, const struct identity *id, const struct recording *rec,
			uint32_t task, uint32_t span, enum identity_kind kind);

#endif
