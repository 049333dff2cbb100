/* SPDX-License-Identifier: MIT */
/*
 * The cost of tallies through the shared object, beside the clocks that they read and beside a
 * table that a mutex protects. Each number is the least of many short rounds, in CPU time of the
 * thread.
 */
#include "plugin/buildbeat_plugin.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#define HAS_TSC 1
#else
#define HAS_TSC 0
#define __builtin_ia32_rdtsc() UINT64_C(0)
#endif

#define PLUGIN TOP_BUILDDIR "/plugin/buildbeat.so"
#define RUNS 4000
#define ROUNDS 400
#define TRIES 4000		/* of rounds of two threads at the same time */
#define MANY 10000
#define THREADS 8

static const struct buildbeat_api *api;
static uint32_t locations[MANY];
static unsigned n_locations;	/* a power of two */
static volatile uint64_t sink;

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The things to measure: RUNS of each. */

static void two_clocks(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 2 * RUNS; i++)
		sum += read_clock(CLOCK_MONOTONIC);
	sink = sum;
}

static void two_counters(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < 2 * RUNS; i++)
		sum += __builtin_ia32_rdtsc();
	sink = sum;
}

static void nothing(void)
{
	for (int i = 0; i < RUNS; i++)
		sink = (uint64_t)i;
}

static void start_and_finish(void)
{
	struct buildbeat_run run;

	for (unsigned i = 0; i < RUNS; i++) {
		api->tally_started(&run, locations[i & (n_locations - 1)]);
		api->tally_finished(&run);
	}
}

static void queue_start_and_finish(void)
{
	struct buildbeat_run run;

	for (unsigned i = 0; i < RUNS; i++) {
		api->tally_queued(&run, locations[i & (n_locations - 1)], 0);
		api->tally_started(&run, 0);
		api->tally_finished(&run);
	}
}

/* What a host would write itself. */
static struct {
	pthread_mutex_t lock;
	struct { uint32_t key; uint64_t count, total, max, histogram[40]; } row[8192];
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void with_a_mutex(void)
{
	for (unsigned i = 0; i < RUNS; i++) {
		uint32_t key = locations[i & (n_locations - 1)], h = (key * 2654435769u) >> 19;
		uint64_t start = read_clock(CLOCK_MONOTONIC), time;

		time = read_clock(CLOCK_MONOTONIC) - start;
		pthread_mutex_lock(&table.lock);
		while (table.row[h].key && table.row[h].key != key)
			h = (h + 1) % 8192;
		table.row[h].key = key;
		table.row[h].count++;
		table.row[h].total += time;
		if (time > table.row[h].max)
			table.row[h].max = time;
		table.row[h].histogram[time ? 63 - __builtin_clzll(time) : 0]++;
		pthread_mutex_unlock(&table.lock);
	}
}

/* Measuring: ns for one of RUNS. */

static double least(void (*work)(void))
{
	double best = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t start = read_clock(CLOCK_THREAD_CPUTIME_ID), ns;

		work();
		ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - start;
		if ((double)ns / RUNS < best)
			best = (double)ns / RUNS;
	}
	return best;
}

struct racer {
	pthread_barrier_t *gate;
	void (*work)(void);
	int rounds;
	struct { double cpu_ns, wall_ns; } *took;
};

static void *race(void *data)
{
	struct racer *r = data;

	for (int i = 0; i < r->rounds; i++) {
		uint64_t cpu, wall;

		pthread_barrier_wait(r->gate);
		cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
		wall = read_clock(CLOCK_MONOTONIC);
		for (int k = 0; k < 4; k++)
			r->work();
		r->took[i].wall_ns = (double)(read_clock(CLOCK_MONOTONIC) - wall) / RUNS / 4;
		r->took[i].cpu_ns = (double)(read_clock(CLOCK_THREAD_CPUTIME_ID) - cpu) / RUNS / 4;
	}
	return NULL;
}

/* Of two threads at the same time; 0: they never ran at the same time. */
static double least_of_two(void (*work)(void))
{
	pthread_barrier_t gate;
	pthread_t thread[2];
	struct racer r[2];
	double best = 1e9;

	pthread_barrier_init(&gate, NULL, 2);
	for (int i = 0; i < 2; i++) {
		r[i] = (struct racer){ .gate = &gate, .work = work, .rounds = TRIES / 10 };
		r[i].took = calloc((size_t)r[i].rounds, sizeof *r[i].took);
		pthread_create(&thread[i], NULL, race, &r[i]);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < r[0].rounds; i++) {
		double slow = r[0].took[i].wall_ns > r[1].took[i].wall_ns ? r[0].took[i].wall_ns :
			r[1].took[i].wall_ns;
		double cpu = (r[0].took[i].cpu_ns + r[1].took[i].cpu_ns) / 2;

		/* Neither waited for a processor. */
		if (slow < 1.1 * cpu && cpu < best)
			best = cpu;
	}
	free(r[0].took);
	free(r[1].took);
	return best < 1e9 ? best : 0;
}

/* Snapshots while others tally */

static _Atomic bool stop;

static void *all_locations(void *data)
{
	pthread_barrier_t *gate = data;
	struct buildbeat_run run;

	for (unsigned i = 0; i < MANY; i++) {
		api->tally_started(&run, locations[i]);
		api->tally_finished(&run);
	}
	pthread_barrier_wait(gate);	/* each has its slot */
	return NULL;
}

static void count_row(const struct buildbeat_tally *row, void *data)
{
	sink = row->run_total;
	++*(unsigned *)data;
}

struct snapshots {
	struct buildbeat_session *s;
	double best_ms;
	unsigned n_rows;
};

static void *take_snapshots(void *data)
{
	static const struct timespec nap = { 0, 100000000 };
	struct snapshots *n = data;

	n->best_ms = 1e9;
	while (!stop) {
		uint64_t start = read_clock(CLOCK_THREAD_CPUTIME_ID);
		double ms;

		n->n_rows = 0;
		api->tally_snapshot(n->s, count_row, &n->n_rows);
		ms = (double)(read_clock(CLOCK_THREAD_CPUTIME_ID) - start) / 1e6;
		if (ms < n->best_ms)
			n->best_ms = ms;
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static double mean_for(double seconds)
{
	uint64_t start = read_clock(CLOCK_THREAD_CPUTIME_ID), ns, n = 0;

	do {
		start_and_finish();
		n += RUNS;
		ns = read_clock(CLOCK_THREAD_CPUTIME_ID) - start;
	} while ((double)ns < seconds * 1e9);
	return (double)ns / (double)n;
}

static void bench_snapshots(struct buildbeat_session *s)
{
	struct snapshots n = { .s = s };
	pthread_t thread[THREADS], other;
	pthread_barrier_t gate;
	double ratio[5], without, with;

	pthread_barrier_init(&gate, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, all_locations, &gate);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	n_locations = 64;
	for (int i = 0; i < 5; i++) {
		without = mean_for(0.4);
		stop = false;
		pthread_create(&other, NULL, take_snapshots, &n);
		with = mean_for(0.4);
		stop = true;
		pthread_join(other, NULL);
		ratio[i] = with / without;
		for (int k = i; k && ratio[k] < ratio[k - 1]; k--) {
			double swap = ratio[k];

			ratio[k] = ratio[k - 1];
			ratio[k - 1] = swap;
		}
	}
	printf("tally snapshot: %u rows of %d locations in %d threads in %.2f ms CPU (bar: 5); tallying "
	       "meanwhile, ten snapshots a second: %.3f x (bar: 1.02)\n",
	       n.n_rows, MANY, THREADS, n.best_ms, ratio[2]);
}

/* All clocks */

static void set(struct buildbeat_session *s, int32_t status, int32_t clock)
{
	struct buildbeat_tallies t = { .size = sizeof t, .status = status, .clock = clock };

	api->tally_set(s, &t);
}

static struct buildbeat_session *begin(const char *dir, int32_t clock)
{
	struct buildbeat_host host = {
		.size = sizeof host, .tool = "bench", .dir = dir, .interval_ms = -1,
	};
	struct buildbeat_session *s = api->open(&host);

	if (!s)
		return NULL;
	set(s, BUILDBEAT_TALLY_ACTIVE, clock);
	for (unsigned i = 0; i < MANY; i++) {
		struct buildbeat_place place = {
			.size = sizeof place, .line = (int32_t)i, .function = "function", .file = "file.c",
		};

		locations[i] = api->tally_location(&place);
	}
	return s;
}

static void bench_clock(const char *word, void (*bare)(void), double full_bar)
{
	double clocks = least(bare), one, two, full, many, two_clocks_at_once;

	n_locations = 64;
	one = least(start_and_finish);
	two = least_of_two(start_and_finish);
	two_clocks_at_once = least_of_two(bare);
	full = least(queue_start_and_finish);
	n_locations = 4096;
	many = least(start_and_finish);
	printf("tally, %s: start and finish %.1f ns over its two bare clock reads of %.1f (bar: 15), "
	       "%.1f over them in each of 2 threads; 2 threads %.2f x the throughput of 1 (bar: 1.9); "
	       "4096 locations %.1f over; queue, start and finish %.1f ns (bar: %.0f)\n",
	       word, one - clocks, clocks, two ? two - two_clocks_at_once : 0, two ? 2 * one / two : 0,
	       many - clocks, full, full_bar);
}

static int bench(const char *dir)
{
	const struct buildbeat_api *(*get)(uint32_t);
	void *so = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);
	struct buildbeat_session *s;
	char path[4096];
	double mutex, off;

	if (!so)
		return 1;
	*(void **)&get = dlsym(so, "buildbeat_get_api");
	api = get(BUILDBEAT_API_MAJOR);
	snprintf(path, sizeof path, "%s/one", dir);
	s = begin(path, BUILDBEAT_CLOCK_WALL);
	if (!s)
		return 1;
	bench_clock("wall time", two_clocks, 80);
	n_locations = 64;
	mutex = least(with_a_mutex);
	printf("a table with a mutex: %.1f ns, %.2f x that of a tally; in each of 2 threads %.1f\n",
	       mutex, mutex / least(start_and_finish), least_of_two(with_a_mutex));
	set(s, BUILDBEAT_TALLY_DEACTIVATED, 0);
	off = least(start_and_finish) - least(nothing);
	printf("tallies off: %.1f ns for start and finish, %.1f a call (bar: 2)\n", off, off / 2);
	set(s, BUILDBEAT_TALLY_ACTIVE, 0);
	bench_snapshots(s);
	api->close(s);
	snprintf(path, sizeof path, "%s/two", dir);
	s = HAS_TSC ? begin(path, BUILDBEAT_CLOCK_TSC) : NULL;
	if (s) {
		bench_clock("processor's counter", two_counters, 40);
		api->close(s);
	}
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(bench, "tallies");
}
