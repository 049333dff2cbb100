/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_OUTPUT_WRITER_H
#define BUILDBEAT_RECORDING_OUTPUT_WRITER_H

#include "recording/output_log.h"

#define OUTPUT_HELD_MAX 65536
#define OUTPUT_PARTS_MAX 32
#define OUTPUT_KEPT_MAX 16384

/* One pipe whose lines are whole in the log, whatever others write meanwhile: all zero at first. */
struct output_source {
	char inst[INSTANCE_ID_MAX];	/* of the task that writes there; "": not known */
	uint64_t task;
	bool in_key;		/* between the first and the last line of a private key */
	bool open;		/* a part of its unfinished line is in the log */
	int64_t held_from_us, held_to_us;	/* when the held bytes were written */
	size_t n_held;
	char *held;		/* OUTPUT_HELD_MAX, allocated when it is needed */
};

/* A piece of the log that is not written yet. */
struct output_part {
	struct slice text;
	int64_t from_us, to_us;
	char inst[INSTANCE_ID_MAX];
	uint64_t task;
	bool ends;
};

/*
 * Appends to the output of a recording (output.h). Two processes may do so at the same time, if
 * each has opened its own writer. Secrets are replaced line by line, so an unfinished line is
 * held until it ends, or output_writer_flush() is called, or it is too long. The caller has
 * blocked SIGXFSZ.
 */
struct output_writer {
	int log_fd, index_fd;	/* -1: writing has ended */
	enum output_stream stream;
	bool shared;		/* with another process */
	int error;		/* the first failure, negative errno: nothing is written any more */
	uint64_t lost;		/* bytes that were not written since */
	uint64_t end;		/* size of the log, unless shared */
	size_t n_held;		/* sources with an unfinished line */
	size_t held_bytes;	/* of them */
	bool gather;		/* many pieces are written at once, by output_writer_write() */
	unsigned n_parts;
	struct output_part part[OUTPUT_PARTS_MAX];
	size_t n_kept;
	char kept[OUTPUT_KEPT_MAX];	/* texts of parts that their owner needs no longer */
};

/* Make both files. 0 or a negative errno. */
int output_create(int dir_fd);

/* 0 or a negative errno. */
int output_writer_open(struct output_writer *w, int dir_fd, enum output_stream stream,
		       bool shared);

/* These bytes were written between the two times. If the writer gathers, they are the caller's until
 * output_writer_write(). */
void output_writer_add(struct output_writer *w, struct output_source *s, const char *p, size_t len,
		       int64_t from_us, int64_t to_us);

/* Write what was gathered. A few large writes cost the file system less than many. */
void output_writer_write(struct output_writer *w);

/* Write the unfinished line. */
void output_writer_flush(struct output_writer *w, struct output_source *s);

/* The same, and the line does not go on: the task has ended. */
void output_writer_end(struct output_writer *w, struct output_source *s, int64_t now_us);
void output_source_release(struct output_source *s);

void output_writer_close(struct output_writer *w);

#endif
