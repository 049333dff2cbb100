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

	calibration_run(&b->start);
	pthread_mutex_lock(&b->lock);
	while (!b->stopped) {
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

/* The thread inherits the mask: it never gets a signal of the host. */
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

	*b = (struct beat){ .start = CALIBRATION_INIT };
	if (interval_ms <= 0 || sampler_new(&b->sampler, dir_fd, start_ns, &options, NULL))
		return;
	pthread_mutex_init(&b->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&b->wake, &attr);
	pthread_condattr_destroy(&attr);
	b->started = true;
	sampler_take(b->sampler, true);
	b->threaded = start_thread(b);
}

/* forced: even if none is due. */
static void take_beat(struct beat *b, bool forced)
{
	pthread_mutex_lock(&b->lock);
	if (!b->stopped && (forced || clock_mono_ns() >= sampler_next_ns(b->sampler)))
		sampler_take(b->sampler, forced);
	pthread_mutex_unlock(&b->lock);
}

void beat_due(struct beat *b)
{
	if (b->started && !b->threaded)
		take_beat(b, false);
}

void beat_now(struct beat *b)
{
	if (b->started)
		take_beat(b, true);
}

void beat_stop(struct beat *b, bool exits)
{
	bool first;

	if (!b->started)
		return;
	pthread_mutex_lock(&b->lock);
	first = !b->stopped;
	if (first)
		sampler_take(b->sampler, true);
	b->stopped = true;
	pthread_cond_signal(&b->wake);
	pthread_mutex_unlock(&b->lock);
	if (first && b->threaded)
		pthread_join(b->thread, NULL);
	if (first && !exits)
		sampler_free(b->sampler);
}

void beat_release(struct beat *b)
{
	if (!b->started)
		return;
	pthread_cond_destroy(&b->wake);
	pthread_mutex_destroy(&b->lock);
	b->started = false;
}
