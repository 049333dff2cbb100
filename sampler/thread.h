/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_THREAD_H
#define BUILDBEAT_SAMPLER_THREAD_H

#include <pthread.h>
#include <stdint.h>

/* A thread that no signal is ever delivered to. 0 or a negative errno. */
int thread_start(pthread_t *thread, void *(*run)(void *), void *context);

/* One that ends at once, for whoever listens to such; tid gets its number. */
int thread_come_and_go(int32_t *tid);

/* The calling one is to run soon after it was woken, where the kernel lets it; it gets no
 * larger share of the processors. */
void thread_be_prompt(void);

#endif
