/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_BEAT_H
#define BUILDBEAT_PLUGIN_BEAT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct sampler;

/*
 * The sampling of a build that has no launcher: a thread of the process that
 * began the recording, with every signal blocked and a small stack. Where a
 * thread cannot be had, beat_due() samples when the host calls it.
 */
struct beat {
	struct sampler *sampler;	/* NULL: this process does not sample */
	pthread_mutex_t lock;		/* around the sampler and stop */
	pthread_cond_t wake;
	pthread_t thread;
	bool threaded, stop;
};

/* dir_fd and start_ns as for sampler_new(). Not being able to sample is no
 * error: the recording goes without. */
void beat_start(struct beat *b, int dir_fd, int64_t start_ns, int64_t interval_ms);

/* A sample if one is due and no thread sees to it; a sample now. */
void beat_due(struct beat *b);
void beat_now(struct beat *b);

/* A last sample, and the thread is gone. */
void beat_stop(struct beat *b);

#endif
