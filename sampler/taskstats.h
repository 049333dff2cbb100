/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_TASKSTATS_H
#define BUILDBEAT_SAMPLER_TASKSTATS_H

#include "recording/event.h"
#include "sampler/cputime.h"
#include "sampler/netlink.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel's taskstats reports what each thread of the machine used when it ends, before its
 * process can be waited for. This needs CAP_NET_ADMIN.
 */

struct taskstats_event {
	int32_t tid;
	char name[16];		/* of its program */
	struct event_end used;	/* of this thread; the memory is that of its process, CPU times
				   are clock ticks */
	struct cputime_thread cpu;
	int64_t process_age_us;	/* since its process was born; -1: unknown */
};

/* The kernel's header has a struct taskstats. */
struct taskstats_listener {
	struct netlink netlink;
	uint16_t family;	/* number of its messages */
};

#define TASKSTATS_CLOSED { .netlink = NETLINK_CLOSED }

/* Open it, and check that it reports the end of a thread. receive_bytes as in netlink.h. 0 or a
 * negative errno. */
int taskstats_open(struct taskstats_listener *t, int receive_bytes);
void taskstats_close(struct taskstats_listener *t);

/* Parse one message of the family. True if it reports the end of a thread. */
bool taskstats_parse(struct slice message, uint16_t family, struct taskstats_event *e);

/* The next end; false: there is none now. */
bool taskstats_next(struct taskstats_listener *t, struct taskstats_event *e);

#endif
