/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_WRITER_H
#define BUILDBEAT_RECORDING_WRITER_H

#include "base/buf.h"
#include "recording/event.h"
#include "recording/recording.h"

/*
 * The inside of recording_write(), private to recording_write*.c: a file being
 * written. Errors are sticky, as those of a buffer.
 */
struct out {
	struct buf b;		/* what is not written yet */
	int fd;			/* -1: all of it stays in b */
	int error;
	char (*id)[INSTANCE_ID_MAX];	/* of each instance, lent */
};

/* The ids, each there once: where a process got the id of one that was no more, the later
 * one gets another. 0 or -ENOMEM. */
int make_ids(char (*id)[INSTANCE_ID_MAX], const struct recording *rec);

/* Write the buffer if it is large; called repeatedly. */
void out_flow(struct out *o);

/* Each writes all of one file. What is wrong is in o. */
void write_tasks(struct out *o, const struct recording *rec);
void write_series(struct out *o, const struct series *s);
void write_usage(struct out *o, const struct recording *rec);

#endif
