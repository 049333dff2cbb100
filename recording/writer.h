/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_WRITER_H
#define BUILDBEAT_RECORDING_WRITER_H

#include "base/buf.h"
#include "recording/event.h"
#include "recording/recording.h"
#include "recording/recording_write.h"

/*
 * The inside of recording_write(), private to writer*.c: a file being
 * written. Errors are sticky, as those of a buffer.
 */
struct writer {
	struct buf b;		/* text that is not written yet */
	int fd;			/* -1: all text stays in b */
	int error;
	char (*id)[INSTANCE_ID_MAX];	/* of each instance, borrowed */
	const struct recording_parts *parts;	/* NULL: all is in the recording */
};

/* Make unique ids: if a process got the id of an earlier one, it gets another. 0 or -ENOMEM. */
int writer_ids(char (*id)[INSTANCE_ID_MAX], const struct recording *rec);

/* Write the buffer if it is large; called repeatedly. */
void writer_flow(struct writer *o);

/* Each writes one whole file. Errors are in o. */
void writer_add_tasks(struct writer *o, const struct recording *rec);
void writer_add_series(struct writer *o, const struct series *s);
void writer_add_results(struct writer *o, const struct recording *rec);
void writer_add_usage(struct writer *o, const struct recording *rec);

#endif
