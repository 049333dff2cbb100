/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_GROWING_FILES_H
#define BUILDBEAT_RECORDING_GROWING_FILES_H

#include "recording/reader.h"
#include "recording/growing.h"
#include "recording/suspended.h"

/* The inside of growing.h, private to growing*.c. */

/* One proc_*.log. */
struct growing_series {
	struct reader_samples d;
	unsigned section;	/* counts the first lines */
	int64_t *newest, *before;	/* of the newest sample, and of the one before it */
	int64_t time_ms, before_ms;	/* -1: there is none; before_ms: or some are missing */
	int64_t delivered_ms;	/* of the last one, without suspended times; -1: none */
};

enum growing_kind { GROWING_BUILD, GROWING_USAGE, GROWING_TASKS, GROWING_LOST, GROWING_PROCESSES, GROWING_SERIES };

struct growing_file {
	char name[256];		/* the plain one */
	char word[256];		/* of the first line */
	enum growing_kind kind;
	bool plain, packed;	/* seen in the directory */
	bool unpacked;		/* the packed one was delivered */
	bool begun;		/* the first line was */
	bool left_out;		/* it is another one */
	bool too_long;		/* inside a line that is too long */
	int fd;			/* -1: not open */
	uint64_t offset;	/* of what follows in the plain one */
	struct buf rest;	/* a line without its newline */
	struct growing_series series;
	struct usage_decoder usage;
};

/* An instance whose end has not come. */
struct growing_instance {
	char id[INSTANCE_ID_MAX];
	int32_t pid;
	int64_t open_us;
};

/* What `build` says about who writes the recording. */
struct growing_writers {
	int64_t start_wall_ns, start_mono_ns, end_us, interval_ms;
	int32_t pid;		/* of the launcher, or the host that began it; 0: unknown */
	bool described;		/* all of these are there */
	bool is_host;		/* it may live longer than the build */
	bool imported;
	bool same_host, same_boot;
	size_t n_open;
	struct growing_instance *open;
};

/* Take over the first line, or a further one, and then the samples, without suspended times.
 * -EBADMSG: damaged. The result of growing_to's function otherwise. */
int growing_series_begin(struct growing_series *s, struct slice rest);
int growing_series_line(struct growing_series *s, const char *name, struct slice line,
			const struct suspended *out, const struct growing_to *to, void *context);
/* One more suspended time became known, or that it ended, after samples from then may have been delivered. */
void growing_series_suspended(struct growing_series *s, int64_t from_us);
void growing_series_release(struct growing_series *s);

/* Notice a line of `build` and of tasks.log. 0 or -ENOMEM. */
void growing_writers_init(struct growing_writers *w);
void growing_writers_build(struct growing_writers *w, struct slice key, struct slice value);
int growing_writers_event(struct growing_writers *w, struct event e);

bool growing_writers_are_stopped(const struct growing_writers *w);

/* Can anything be appended yet to the recording in this directory? idle_ns: for how long its files
 * were unchanged. */
bool growing_writers_exist(const struct growing_writers *w, int dir_fd, int64_t idle_ns);

#endif
