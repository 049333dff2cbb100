/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_BEAT_H
#define BUILDBEAT_PLUGIN_BEAT_H

#include "sampler/calibration.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct sampler;

/*
 * Takes the samples of a build without a launcher, in a thread of the process that began the
 * recording. All signals are blocked in the thread, and its stack is small. If no thread can be
 * started, beat_due() takes samples when the host calls it.
 *
 * After beat_start() any thread may call the other functions, in any order, until beat_release().
 * Before beat_start() the struct is all zero, and they do nothing.
 */
struct beat {
	bool started;		/* does not change while other threads use it */
	bool threaded;		/* same */
	pthread_t thread;
	struct calibration start;	/* by the thread: read it after beat_stop() */
	pthread_mutex_t lock;	/* protects the rest */
	pthread_cond_t wake;
	struct sampler *sampler;
	bool stopped;
};

/* dir_fd and start_ns as for sampler_new(). If the machine cannot be sampled, the
 * recording has no samples. */
void beat_start(struct beat *b, int dir_fd, int64_t start_ns, int64_t interval_ms);

/* beat_due() takes a sample if one is due and there is no thread; beat_now() always. */
void beat_due(struct beat *b);
void beat_now(struct beat *b);

/* Take a last sample and end the thread. No-op the second time. exits: the process is ending,
 * perhaps in a signal handler that interrupted malloc(), so no memory is freed. */
void beat_stop(struct beat *b, bool exits);

/* Call it after beat_stop(), when no other thread uses it any more. */
void beat_release(struct beat *b);

#endif
