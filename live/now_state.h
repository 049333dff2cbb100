/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_NOW_STATE_H
#define BUILDBEAT_LIVE_NOW_STATE_H

#include "base/index.h"
#include "live/now.h"

/* The inside of now.h, private to now*.c. */

#define NOW_NONE UINT32_MAX

/* A task that is queued or was not seen to end. */
struct now_live {
	struct now_task task;
	uint32_t at;		/* index in now_private.live */
	uint32_t instance;
	uint64_t seq;
	bool used, named;
};

struct now_instance {
	char id[INSTANCE_ID_MAX];
	char *tool;
	bool made_up;		/* its first line did not come yet */
	bool only_spans;
	bool has_host;
	int64_t open_us, close_us;	/* close -1: it is open */
	char *ancestors;	/* while it may get a host, or NULL */
	size_t n_ended;		/* bytes of a bit for each task that ended */
	uint8_t *ended;
};

enum { NOW_DISK, NOW_MEMORY, NOW_TASKS, NOW_SOURCES };

/* What one file has at one time. */
struct now_part {
	int64_t time_ms;
	int64_t value[2];
};

struct now_parts {
	bool seen;
	size_t n, first;	/* the first is the next to be taken */
	struct now_part *part;
};

struct now_private {
	size_t n_instances;
	struct now_instance *instance;
	struct index instances;	/* newest instance of an id */
	size_t n_live, n_free;
	struct now_live **live;
	uint32_t *free_live;	/* unused ones */
	struct index tasks;	/* by instance and number */
	struct index pids;	/* newest running task of a process */
	size_t n_orphans;
	uint32_t *orphan;	/* instances without a host, with ancestors */
	struct now_live *ended;	/* the task that the last line ended, until the next line */
	struct buf text[4];
	struct now_parts parts[NOW_SOURCES];
	struct now_parts cpu;	/* permille, load */
	int64_t load_centi;
	struct now_sample newest;
};

/* From growing.h. 0 or -ENOMEM. */
int now_take_sample(struct now *n, const struct growing_sample *s);
int now_take_memory(struct now *n, int64_t time_ms, int64_t kb);
void now_release_samples(struct now *n);

#endif
