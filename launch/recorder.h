/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RECORDER_H
#define BUILDBEAT_LAUNCH_RECORDER_H

#include "base/buf.h"
#include "launch/capture.h"
#include "launch/gitstamp.h"
#include "launch/hold.h"
#include "launch/launch.h"
#include "launch/settings.h"
#include "plugin/carry.h"
#include "plugin/ticket.h"
#include "recording/store.h"

#include <limits.h>

/*
 * A recording that this process makes, from its beginning to its end: the
 * directory, the ticket for the build tools below, the sampler, the stamp. What
 * fails is reported at once, in one line, and never keeps the command from
 * running.
 */
struct recorder {
	struct store store;
	const struct settings *settings;
	bool created;		/* by us: we sample, and write the end */
	bool wrote_task;	/* the command is a task, of an instance of ours */
	bool has_ticket;	/* our own, to be removed at the end */
	struct hold hold;	/* signals wait until the ticket is removed */
	char base[PATH_MAX];	/* the absolute directory of a recording that we created */
	size_t base_len;	/* the part of base that existed before, 0: base is unknown */
	char latest[NAME_MAX + 1];	/* the recording that `latest` named before, "": none */
	struct ticket ticket;
	struct buf makefiles;	/* for the command's environment */
	struct carried carried;	/* the same for the preload; its ticket "": none */
	struct sampler *sampler;
	struct capture capture;
	struct gitstamp stamp;
	bool complained;	/* why there is nothing was said */
	/* Why a make recorded no tasks, into why; false: it does record them. May be NULL. */
	bool (*explain)(const struct settings *settings, const char *make, char *why, size_t size);
};

/*
 * Begin a recording for the command argv. 0, or a negative errno with err when
 * there is no recording: the command is then to be run alone.
 */
int recorder_create(struct recorder *rec, const struct settings *settings,
		   const char *base, const char *name, char *const *argv,
		   struct error *err);

/* Join one that exists, in the directory path. */
int recorder_join(struct recorder *rec, const struct settings *settings, const char *path,
		 struct error *err);

/* Fill what launch_run() needs for this session. */
void recorder_prepare(struct recorder *rec, struct launch *l);

/* The same inside a recorded build, for a command that runs in it. c lives as long as l. */
void recorder_carry(struct carried *c, struct launch *l);

/*
 * After launch_run(): the end is written, the files packed if asked, all closed. If the
 * command could not be executed, a recording that we created is removed instead, unless
 * another process joined it.
 */
void recorder_finish(struct recorder *rec, const struct launch *l);

/* The plugin: the setting, otherwise found from where this program is. False with err if there is
 * none. */
bool recorder_find_plugin(char path[PATH_MAX], const char *setting, struct error *err);

#endif
