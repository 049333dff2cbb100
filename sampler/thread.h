/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_THREAD_H
#define BUILDBEAT_SAMPLER_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* Start a thread that gets no signals. 0 or a negative errno. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* Start one that ends at once, so that its reports can be read; tid is set to its number. */
int thread_come_and_go(int32_t *tid);

/* Let the calling thread run soon after it is woken, if the kernel supports this. Its share of
 * the processors stays the same. */
void thread_be_prompt(void);

#endif
