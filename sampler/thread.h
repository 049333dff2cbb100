/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_THREAD_H
#define BUILDBEAT_SAMPLER_THREAD_H

#include "sampler/netlink.h"

#include <pthread.h>
#include <stdint.h>

/* Start a thread that gets no signals. 0 or a negative errno. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/*
 * Is the life of a thread reported on this socket? next() reads a report and sets the number of
 * the thread; false: there is none now. 0 or a negative errno; -ENOTSUP: nothing is reported.
 */
int thread_is_reported(const struct netlink *n, bool (*next)(void *source, int32_t *tid),
		       void *source);

/* Let the calling thread run soon after it is woken, if the kernel supports this. Its share of
 * the processors stays the same. */
void thread_be_prompt(void);

#endif
