/* SPDX-License-Identifier: MIT */
/*
 * Tallies by many threads at once. They come and go, give runs to each other, and are cancelled,
 * while others take snapshots, begin phases and switch tallies off and on. Also in forked children
 * and with many locations. A build with --enable-sanitizers=thread finds races.
 */
#include "plugin/buildbeat_plugin.h"
#include "recording/tally.h"
#include "tests/make_host.h"
#include "tests/support.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define THREADS 6
#define ROUNDS 12
#define RUNS 400
#define LOCATIONS 16
#define MANY_LOCATIONS 10000
#define MANY_THREADS 100
#define MEMORY_MAX_KB 65536

static const struct buildbeat_api *api;
static char dir[4096];

static void setup(void)
{
	api = make_host_api();
	snprintf(dir, sizeof dir, "%s/recordings/one", support_tmpdir());
}

/* Runs that wait for whichever thread takes them. */
static struct {
	pthread_mutex_t lock;
	struct buildbeat_run run[64];
	size_t n;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint32_t locations[LOCATIONS];
static _Atomic uint64_t n_born, n_died;
static _Atomic bool stop;

static void give(uint32_t where)
{
	struct buildbeat_run run;

	api->tally_queued(&run, where, 1000);
	pthread_mutex_lock(&queue.lock);
	if (queue.n < ARRAY_SIZE(queue.run)) {
		queue.run[queue.n++] = run;
		n_born++;
		run.reserved[0] = 0;
	}
	pthread_mutex_unlock(&queue.lock);
	if (run.reserved[0])
		api->tally_finished(&run);	/* it never started */
}

static bool take(void)
{
	struct buildbeat_run run;
	bool taken = false;

	pthread_mutex_lock(&queue.lock);
	if (queue.n) {
		run = queue.run[--queue.n];
		taken = true;
	}
	pthread_mutex_unlock(&queue.lock);
	if (!taken)
		return false;
	api->tally_started(&run, 0);
	api->tally_finished(&run);
	n_died++;
	return true;
}

static void *work(void *data)
{
	unsigned seed = (unsigned)(uintptr_t)data;
	struct buildbeat_run outer, run;

	if (seed % 3 == 0)
		api->tally_thread(seed % 2 ? "reader" : "writer");
	for (int i = 0; i < RUNS; i++) {
		uint32_t where = locations[(unsigned)rand_r(&seed) % LOCATIONS];

		api->tally_started(&outer, where);
		api->tally_started(&run, locations[(unsigned)rand_r(&seed) % LOCATIONS]);
		if (rand_r(&seed) % 2)
			give(where);
		else
			take();
		api->tally_finished(&run);
		api->tally_finished(&outer);
		n_born += 2;
		n_died += 2;
	}
	return NULL;
}

struct sums { uint64_t died, living; };

static void add_row(const struct buildbeat_tally *row, void *data)
{
	struct sums *sums = data;

	if (!strcmp(row->death_thread, "Still_Alive"))
		sums->living += row->count;
	else
		sums->died += row->count;
}

static void *watch(void *data)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	while (!stop) {
		struct sums sums = { 0, 0 };
		uint64_t born;

		api->tally_snapshot(data, add_row, &sums);
		born = n_born;
		ck_assert_uint_le(sums.died, born + 64 * THREADS);
		ck_assert_int_eq(api->tally_dump(data, fd), 0);
		api->tally_phase(data, "compile");
		api->heartbeat(data);
		sched_yield();
	}
	close(fd);
	return NULL;
}

static size_t count_slots(struct buildbeat_session *s)
{
	struct tally_table t = TALLY_TABLE_INIT;
	size_t n;

	api->tally_phase(s, "end");
	ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
	n = t.n_threads;
	tally_release(&t);
	return n;
}

static void check_sums(struct buildbeat_session *s)
{
	struct tally_table t = TALLY_TABLE_INIT;
	struct sums sums = { 0, 0 };
	uint64_t died = 0;

	api->tally_snapshot(s, add_row, &sums);
	ck_assert_uint_eq(sums.died, n_died);
	ck_assert_uint_eq(sums.living, 0);
	api->close(s);
	ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
	for (size_t i = 0; i < t.n_rows; i++) {
		ck_assert_uint_ne(t.row[i].death, TALLY_STILL_ALIVE);
		died += t.row[i].count;
	}
	ck_assert_uint_eq(died, n_died);
	ck_assert_uint_eq(t.n_damaged, 0);
	tally_release(&t);
}

TEST_GROUP_WITH("tally_threads", setup, NULL);

TEST(churn)
{
	struct buildbeat_session *s = make_host_open(api, dir, 0);
	pthread_t thread[THREADS], watcher;

	make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
	for (int i = 0; i < LOCATIONS; i++)
		locations[i] = make_host_location(api, i);
	pthread_create(&watcher, NULL, watch, s);
	for (uintptr_t round = 0; round < ROUNDS; round++) {
		for (uintptr_t i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, work, (void *)(round * THREADS + i));
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
	}
	while (take())
		;
	stop = true;
	pthread_join(watcher, NULL);
	/* Slots are reused: two names of six threads at most, and a worker each. */
	ck_assert_uint_le(count_slots(s), 3 * THREADS + 1);
	check_sums(s);
}

static void *toggle(void *data)
{
	for (int i = 0; !stop; i++) {
		make_host_tally(api, data, i % 2 ? BUILDBEAT_TALLY_DEACTIVATED : BUILDBEAT_TALLY_ACTIVE);
		if (!(i % 7))
			api->tally_reset(data);
		sched_yield();
	}
	return NULL;
}

/* Numbers may be lost by resets; nothing breaks, and nobody lives on. */
TEST(resets)
{
	struct buildbeat_session *s = make_host_open(api, dir, 0);
	pthread_t thread[THREADS], watcher, toggler;
	struct sums sums = { 0, 0 };

	make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
	for (int i = 0; i < LOCATIONS; i++)
		locations[i] = make_host_location(api, i);
	pthread_create(&watcher, NULL, watch, s);
	pthread_create(&toggler, NULL, toggle, s);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	stop = true;
	pthread_join(watcher, NULL);
	pthread_join(toggler, NULL);
	while (take())
		;
	api->tally_snapshot(s, add_row, &sums);
	ck_assert_uint_le(sums.died, n_died);
	ck_assert_uint_eq(sums.living, 0);
	api->close(s);
}

static void *until_cancelled(void *data)
{
	struct buildbeat_run run;

	for (;;) {
		api->tally_started(&run, *(uint32_t *)data);
		api->tally_finished(&run);
		pthread_testcancel();
	}
	return NULL;
}

TEST(cancelled)
{
	struct buildbeat_session *s = make_host_open(api, dir, 0);
	pthread_t thread[THREADS];

	/* a sanitizer writes to the stack of a thread that was cancelled */
	SKIP_IF(!support_can_be_loaded());
	make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
	for (int round = 0; round < 20; round++) {
		uint32_t where = make_host_location(api, round % 3);

		for (int i = 0; i < THREADS; i++)
			pthread_create(&thread[i], NULL, until_cancelled, &where);
		for (int i = 0; i < THREADS; i++) {
			pthread_cancel(thread[i]);
			pthread_join(thread[i], NULL);
		}
	}
	ck_assert_uint_le(count_slots(s), THREADS);
	api->close(s);
}

/* Processes */

static void tally(uint32_t where, int n)
{
	struct buildbeat_run run;

	for (int i = 0; i < n; i++) {
		api->tally_started(&run, where);
		api->tally_finished(&run);
	}
}

/* _i: 0: the child does nothing; 1: it tallies, too; 2: it opens a session of its own */
TEST_LOOP(forked, 3)
{
	uint64_t expected[] = { 15, 35, 15 };
	struct tally_table t = TALLY_TABLE_INIT;
	struct buildbeat_session *s, *first = NULL;
	struct sums sums = { 0, 0 };
	uint32_t where;
	int status;
	pid_t pid;

	/* Only sessions that join a recording share it with their children. */
	if (_i == 1)
		first = make_host_open(api, dir, 0);
	s = make_host_open(api, dir, _i == 1 ? BUILDBEAT_FORKS : 0);
	make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
	where = make_host_location(api, 1);
	tally(where, 10);
	pid = fork();
	if (!pid) {
		struct buildbeat_session *own;

		if (_i == 2) {
			own = make_host_open(api, dir, 0);
			if (make_host_tally(api, own, BUILDBEAT_TALLY_ACTIVE) != BUILDBEAT_TALLY_ACTIVE ||
			    make_host_location(api, 1) != where || make_host_location(api, 2) == where)
				_exit(1);
			tally(where, 20);
			api->close(own);
		} else {
			tally(where, 20);
			tally(make_host_location(api, 2), 0);
		}
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	tally(where, 5);
	api->tally_snapshot(s, add_row, &sums);
	ck_assert_uint_eq(sums.died, expected[_i]);
	api->close(s);
	if (first)
		api->close(first);
	ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
	ck_assert_uint_eq(t.n_processes, _i == 2 ? 2 : 1);
	ck_assert_uint_eq(t.n_rows, _i == 0 ? 1 : 2);
	ck_assert_uint_eq(t.row[0].count + (_i ? t.row[1].count : 0), _i ? 35 : 15);
	tally_release(&t);
}

/* Memory */

struct many {
	pthread_barrier_t *gate;
	const uint32_t *location;
};

static void *all_locations(void *data)
{
	const struct many *m = data;

	for (int i = 0; i < MANY_LOCATIONS; i++)
		tally(m->location[i], 1);
	pthread_barrier_wait(m->gate);
	return NULL;
}

static long private_kb(void)
{
	struct buf text;
	const char *at;
	long sum = 0;

	support_read(&text, "/proc/self/smaps_rollup");
	at = strstr(text.data, "\nRss:");
	sum = at ? strtol(at + 5, NULL, 10) : 0;
	buf_release(&text);
	return sum;
}

/* Stacks of the threads are no part of it. */
TEST(memory)
{
	static uint32_t where[MANY_LOCATIONS];
	struct buildbeat_session *s;
	pthread_t thread[MANY_THREADS];
	pthread_barrier_t gate;
	struct many m = { &gate, where };
	struct sums sums = { 0, 0 };
	long before;

	SKIP_IF(!make_host_can());		/* the memory of sanitizers */
	s = make_host_open(api, dir, 0);
	before = private_kb();
	make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
	for (int i = 0; i < MANY_LOCATIONS; i++)
		where[i] = make_host_location(api, i);
	pthread_barrier_init(&gate, NULL, MANY_THREADS + 1);
	for (int i = 0; i < MANY_THREADS; i++)
		pthread_create(&thread[i], NULL, all_locations, &m);
	pthread_barrier_wait(&gate);
	for (int i = 0; i < MANY_THREADS; i++)
		pthread_join(thread[i], NULL);
	ck_assert_int_lt(private_kb() - before, MEMORY_MAX_KB);
	api->tally_snapshot(s, add_row, &sums);
	ck_assert_uint_eq(sums.died, (uint64_t)MANY_LOCATIONS * MANY_THREADS);
	api->close(s);
}

/* More locations than there is room for are counted. */
TEST(full)
{
	struct tally_table t = TALLY_TABLE_INIT;
	struct buildbeat_session *s = make_host_open(api, dir, 0);
	uint64_t n = 0;

	make_host_tally(api, s, BUILDBEAT_TALLY_ACTIVE);
	for (int i = 1; i < 70000; i++)
		tally(make_host_location(api, i), 1);
	for (int i = 1; i < 70000; i++)
		tally(make_host_location(api, i), 1);
	api->close(s);
	ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
	ck_assert_uint_gt(t.process[0].n_lost, 0);
	for (size_t i = 0; i < t.n_rows; i++)
		n += t.row[i].count;
	ck_assert_uint_eq(n + t.process[0].n_lost, 2 * 69999);
	tally_release(&t);
}

TEST_MAIN(tally_threads);
