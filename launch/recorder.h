/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RECORDER_H
#define BUILDBEAT_LAUNCH_RECORDER_H

#include "base/buf.h"
#include "launch/capture.h"
#include "launch/compiler_cache.h"
#include "launch/gitstamp.h"
#include "launch/hold.h"
#include "launch/launch.h"
#include "launch/whereabouts.h"
#include "launch/relay.h"
#include "launch/settings.h"
#include "launch/tracer.h"
#include "plugin/carry.h"
#include "plugin/ticket.h"
#include "recording/identity.h"
#include "recording/store.h"
#include "sampler/pidserver.h"

/*
 * A recording by this process, from its beginning to its end: the directory, the ticket for the
 * build tools below, the sampler, the revision. A failure is reported at once, in one line, and
 * the command runs anyway.
 */
struct recorder {
	struct store store;
	const struct settings *settings;
	bool created;		/* by us: we take samples and write the end; false if
				   recorder_finish() removed it */
	bool wrote_task;	/* the command is a task of our instance */
	bool has_ticket;	/* we have a ticket and must remove it */
	struct hold hold;	/* signals wait until the ticket is removed */
	struct whereabouts where;	/* of a recording that we created */
	struct ticket ticket;
	struct pidserver pidserver;
	int64_t asleep_ns;	/* how long the machine was suspended since its boot */
	struct buf makefiles;	/* the value for the command's environment */
	char traceparent[IDENTITY_TRACEPARENT_SIZE];	/* for it, "": unchanged */
	struct carried carried;	/* the same for the preload; ticket "": none */
	struct sampler *sampler;
	struct capture capture;
	struct compiler_cache cache;
	struct relay relay;
	struct gitstamp stamp;
	struct tracer tracer;
	bool complained;	/* the reason for missing data was reported */
	/* Write into why the reason that a make recorded no tasks; false: it does record them.
	 * May be NULL. */
	bool (*explain)(const struct settings *settings, const char *make, char *why, size_t size);
};

/*
 * Begin a recording of the command argv. 0, or a negative errno with err if there is no recording:
 * the command then runs alone.
 */
int recorder_create(struct recorder *rec, const struct settings *settings,
		   const char *base, const char *name, char *const *argv,
		   struct error *err);

/* Join the recording in the directory path. */
int recorder_join(struct recorder *rec, const struct settings *settings, const char *path,
		 struct error *err);

/* Write a trace to a file while the build runs. A failure is reported. */
void recorder_trace(struct recorder *rec, const char *file, tracer_function *function);

/* Set the fields of l that this recording needs. */
void recorder_prepare(struct recorder *rec, struct launch *l);

/* The same inside a recorded build, for a command in it. c lives as long as l. */
void recorder_carry(struct carried *c, struct launch *l);

/*
 * Call it after launch_run(): writes the end, compresses the files if asked, and closes
 * everything. If the command could not be executed, a recording that we created is removed
 * instead, unless another process joined it.
 */
void recorder_finish(struct recorder *rec, const struct launch *l);

#endif
