/* SPDX-License-Identifier: MIT */
#include "plugin/beat.h"

#include "base/clock.h"
#include "sampler/sampler.h"

#include <signal.h>
#include <time.h>

#define STACK_BYTES (256 * 1024)

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ ns / 1000000000, ns % 1000000000 };
}

static void *beat_main(void *data)
{
	struct beat *b = data;

	pthread_mutex_lock(&b->lock);
	while (!b->stop) {
		int64_t next_ns = sampler_next_ns(b->sampler);
		struct timespec next = timespec_of(next_ns);

		if (clock_mono_ns() >= next_ns)
			sampler_take(b->sampler, false);
		else
			pthread_cond_timedwait(&b->wake, &b->lock, &next);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* The thread inherits the mask: no signal of the host's is ever delivered to it. */
static bool start_thread(struct beat *b)
{
	sigset_t all, before;
	pthread_attr_t attr;
	bool ok;

	if (pthread_attr_init(&attr))
		return false;
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	ok = !pthread_create(&b->thread, &attr, beat_main, b);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return ok;
}

void beat_start(struct beat *b, int dir_fd, int64_t start_ns, int64_t interval_ms)
{
	struct sampler_options options = { .interval_ms = interval_ms, .tasks = true };
	pthread_condattr_t attr;

	*b = (struct beat){ 0 };
	if (interval_ms <= 0 || sampler_new(&b->sampler, dir_fd, start_ns, &options, NULL))
		return;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->wake, &attr);
	pthread_condattr_destroy(&attr);
	sampler_take(b->sampler, true);
	b->threaded = start_thread(b);
}

void beat_due(struct beat *b)
{
	if (!b->sampler || b->threaded)
		return;
	pthread_mutex_lock(&b->lock);
	if (clock_mono_ns() >= sampler_next_ns(b->sampler))
		sampler_take(b->sampler, false);
	pthread_mutex_unlock(&b->lock);
}

void beat_now(struct beat *b)
{
	if (!b->sampler)
		return;
	pthread_mutex_lock(&b->lock);
	sampler_take(b->sampler, true);
	pthread_mutex_unlock(&b->lock);
}

void beat_stop(struct beat *b)
{
	if (!b->sampler)
		return;
	pthread_mutex_lock(&b->lock);
	sampler_take(b->sampler, true);
	b->stop = true;
	pthread_cond_signal(&b->wake);
	pthread_mutex_unlock(&b->lock);
	if (b->threaded)
		pthread_join(b->thread, NULL);
	sampler_free(b->sampler);
	b->sampler = NULL;
	pthread_cond_destroy(&b->wake);
	pthread_mutex_destroy(&b->lock);
}
