/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_SOURCE_H
#define BUILDBEAT_LIVE_SOURCE_H

#include "analyse/answer.h"
#include "analyse/chain.h"
#include "analyse/summary.h"
#include "base/error.h"
#include "live/catalogue.h"
#include "recording/recording.h"

/*
 * What a reader has of one recording, made when it is first asked for. A recording that grows is read
 * again when its files changed, at most for a tenth of the time.
 */
enum source_part {
	SOURCE_RECORDING, SOURCE_SUMMARY, SOURCE_CHAIN, SOURCE_IDLE, SOURCE_ANSWER, SOURCE_PARTS
};

/* What replies keep of a recording, such as tables made once. It is released before what it was
 * made of: source.c calls source_forget() when the recording is replaced or released. */
enum source_keeper {
	SOURCE_KEEPS_TRACKER, SOURCE_KEEPS_GRAPH, SOURCE_KEEPS_TABLE, SOURCE_KEEPS_PROCESSES,
	SOURCE_KEEPS_PROFILE, SOURCE_KEEPS_OUTPUT, SOURCE_KEEPS_VALUES, SOURCE_KEEPERS
};

struct source_kept {
	void *value;		/* NULL: nothing */
	void (*release)(void *value);
};

struct source {
	struct catalogue *catalogue;
	char id[256];		/* in it, "": of nothing, for what is not about one recording */
	bool running;
	/* valid after source_need(); replaced when the recording grew */
	struct recording recording;
	struct summary summary;
	struct chain chain;
	struct idle idle;
	struct answer answer;
	uint64_t generation;	/* grows when these are replaced */
	struct source_kept kept[SOURCE_KEEPERS];
	struct source_private *private;
};

static inline void source_forget(struct source *s)
{
	for (int i = 0; i < SOURCE_KEEPERS; i++) {
		if (s->kept[i].value)
			s->kept[i].release(s->kept[i].value);
		s->kept[i].value = NULL;
	}
}

/* The catalogue is borrowed; id may be NULL. 0 or -ENOMEM. */
int source_init(struct source *s, struct catalogue *catalogue, const char *id);
void source_release(struct source *s);

/* The directory of the recording, in a buffer of PATH_MAX. False for a build of an archive, or if there
 * is no id. */
bool source_directory(const struct source *s, char *path);

/* The archive `name` of an inspection below that directory; NULL: the directory of them all. False if
 * it is not there: a symbolic link, which may lead elsewhere, is not followed. */
bool source_inspection(char path[PATH_MAX], const char *directory, const char *name);

/* Look whether the recording grew, and forget what is out of date: once before each reply. A reply does
 * not wait for the reading of a large recording that still runs unless what is known is old:
 * source_renew() does it between two replies, when source_renew_ns() says so. 0 or a negative errno with
 * err: -ENOENT if there is no such recording, -ESTALE if it was deleted. */
int source_update(struct source *s, struct error *err);
int source_renew(struct source *s, struct error *err);

/* How long until it may be read again, INT64_MAX: it is complete. */
int64_t source_renew_ns(const struct source *s);

/* Time that was taken to have what replies keep: it counts as that of reading. */
void source_took(struct source *s, int64_t ns);

/* Have this part and those before it in the enum. 0 or a negative errno with err. */
int source_need(struct source *s, enum source_part part, struct error *err);

/* The task with an id, INSTANCE.NUMBER as in tasks.log, or a unique name. -ENOENT with err. */
int source_task(struct source *s, const char *id, uint32_t *task, struct error *err);

#endif
