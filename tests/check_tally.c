/* SPDX-License-Identifier: MIT */
/*
 * Tallies. Random schedules of runs over threads, nested, queued, given to other threads, with
 * clocks that step, resets, phases and snapshots: what the host, tally.log and the memory of the
 * living host say equals a slow reference.
 */
#include "plugin/buildbeat_plugin.h"
#include "recording/recording.h"
#include "recording/tally.h"
#include "recording/tally_image.h"
#include "tests/make_host.h"
#include "tests/support.h"

#include <inttypes.h>

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#define THREADS 4
#define LOCATIONS 6
#define STEPS 3000
#define RUNS 24
#define DEPTH 8
#define PHASES 3
#define STILL_ALIVE "Still_Alive"

static const struct buildbeat_api *api;
static char dir[4096];

static void setup(void)
{
	api = make_host_api();
	snprintf(dir, sizeof dir, "%s/recordings/one", support_tmpdir());
}

static int32_t set(struct buildbeat_session *s, int32_t status, int32_t clock, int32_t amount,
		   uint64_t (*now)(void *data))
{
	struct buildbeat_tallies t = {
		.size = sizeof t, .status = status, .clock = clock, .amount = amount, .now = now,
		.unit = "ticks",
	};

	return api->tally_set(s, &t);
}

static uint32_t location(const char *function, int line)
{
	struct buildbeat_place place = {
		.size = sizeof place, .line = line, .function = function, .file = "dir/file.c",
	};

	return api->tally_location(&place);
}

/* A table of rows, by the reference or from one of the sources */

struct row {
	char function[32], birth[32], death[32];
	uint64_t count, run, self, max, queued;
	uint64_t histogram[64];
};

struct table {
	struct row row[2048];
	size_t n;
};

static struct row *row_of(struct table *t, const char *function, const char *birth,
			  const char *death)
{
	struct row *r;

	for (size_t i = 0; i < t->n; i++) {
		r = &t->row[i];
		if (!strcmp(r->function, function) && !strcmp(r->birth, birth) &&
		    !strcmp(r->death, death))
			return r;
	}
	ck_assert_uint_lt(t->n, ARRAY_SIZE(t->row));
	r = &t->row[t->n++];
	*r = (struct row){ .count = 0 };
	snprintf(r->function, sizeof r->function, "%s", function);
	snprintf(r->birth, sizeof r->birth, "%s", birth);
	snprintf(r->death, sizeof r->death, "%s", death);
	return r;
}

static void take_row(const struct buildbeat_tally *given, void *data)
{
	struct row *r;

	ck_assert_uint_eq(given->size, sizeof *given);
	ck_assert_str_eq(given->file, "dir/file.c");
	r = row_of(data, given->function, given->birth_thread, given->death_thread);
	r->count += given->count;
	r->run += given->run_total;
	r->self += given->run_self;
	r->max = r->max > given->run_max ? r->max : given->run_max;
	ck_assert_uint_le(given->run_sample, given->run_total);
	for (int i = 0; given->run_histogram && i < BUILDBEAT_TALLY_BUCKETS; i++)
		r->histogram[i] += __atomic_load_n(&given->run_histogram[i], __ATOMIC_RELAXED);
	for (int i = 0; given->queue_histogram && i < BUILDBEAT_TALLY_BUCKETS; i++)
		r->queued += __atomic_load_n(&given->queue_histogram[i], __ATOMIC_RELAXED);
}

/* Phases are added up. */
static void take_table(struct table *to, const struct tally_table *t)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct tally_row *from = &t->row[i];
		struct row *r = row_of(to, t->location[from->location].function,
				       t->thread[from->birth].name,
				       from->death == TALLY_STILL_ALIVE ? STILL_ALIVE :
				       t->thread[from->death].name);

		r->count += from->count;
		r->run += from->run.total;
		r->self += from->self_total;
		r->max = r->max > from->run.max ? r->max : from->run.max;
		for (int k = 0; from->run.histogram && k < TALLY_BUCKETS; k++)
			r->histogram[k] += from->run.histogram[k];
		for (int k = 0; from->queue.histogram && k < TALLY_BUCKETS; k++)
			r->queued += from->queue.histogram[k];
	}
}

static void same(struct table *a, const struct table *b, bool maxima, const char *what)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct row *r = &b->row[i];
		struct row *other = row_of(a, r->function, r->birth, r->death);
		const char *where = support_path("%s: %s %s %s", what, r->function, r->birth, r->death);

		ck_assert_msg(other->count == r->count, "%s: count %lu, not %lu", where,
			      (unsigned long)other->count, (unsigned long)r->count);
		ck_assert_msg(other->run == r->run && other->self == r->self,
			      "%s: run %lu (self %lu), not %lu (%lu)", where, (unsigned long)other->run,
			      (unsigned long)other->self, (unsigned long)r->run, (unsigned long)r->self);
		/* of larger ones the first 27 bits are exact */
		ck_assert_msg(!maxima || tally_pack(other->max) == tally_pack(r->max), "%s: max %lu, not %lu", where,
			      (unsigned long)other->max, (unsigned long)r->max);
		ck_assert_msg(other->queued == r->queued, "%s: queued %lu, not %lu", where,
			      (unsigned long)other->queued, (unsigned long)r->queued);
		ck_assert_msg(!memcmp(other->histogram, r->histogram, sizeof r->histogram),
			      "%s: histogram", where);
		n += r->count != 0;
	}
	for (size_t i = 0; i < a->n; i++)
		n -= a->row[i].count != 0;
	ck_assert_msg(!n, "%s: other rows", what);
}

/* The reference */

struct frame {
	int run;		/* -1: it ended in another thread */
	uint64_t nested;
};

struct model_run {
	struct buildbeat_run run;
	bool alive, started, queued;
	int location, birth, thread;
	uint64_t start;
};

struct model {
	pthread_mutex_t lock;
	unsigned seed;
	struct buildbeat_session *s;
	struct table died;
	struct model_run run[RUNS];
	struct frame frame[THREADS][DEPTH * 4];
	size_t depth[THREADS];
	uint64_t clock[THREADS];
	uint32_t location[LOCATIONS];
	bool phases;		/* there was one: maxima are those of the last one */
	int left;
};

static struct model model;

static unsigned pick(unsigned n)
{
	return (unsigned)rand_r(&model.seed) % n;
}

static __thread int me;

static uint64_t fake_now(void *data)
{
	(void)data;
	return model.clock[me];
}

static const char *function_name(int i)
{
	static const char names[LOCATIONS][8] = { "f0", "f1", "f2", "f3", "f4", "f5" };

	return names[i];
}

static const char *thread_name(int i)
{
	static const char names[THREADS][8] = { "t0", "t1", "t2", "t3" };

	return names[i];
}

static void pop_ended(void)
{
	while (model.depth[me] && model.frame[me][model.depth[me] - 1].run < 0)
		model.depth[me]--;
}

static void model_start(struct model_run *r)
{
	pop_ended();
	if (model.depth[me] >= DEPTH)
		return;
	if (!r->alive) {
		r->location = (int)pick(LOCATIONS);
		r->birth = me;
		r->alive = true;
		r->queued = false;
		api->tally_started(&r->run, model.location[r->location]);
	} else {
		api->tally_started(&r->run, 0);
	}
	r->started = true;
	r->thread = me;
	r->start = model.clock[me];
	model.frame[me][model.depth[me]++] = (struct frame){ (int)(r - model.run), 0 };
}

/* The time of the runs that were nested in it. */
static uint64_t model_pop(const struct model_run *r, uint64_t total)
{
	int run = (int)(r - model.run);
	size_t depth = 0;
	uint64_t nested;

	while (depth < model.depth[r->thread] && model.frame[r->thread][depth].run != run)
		depth++;
	if (depth == model.depth[r->thread])
		return 0;
	if (r->thread != me) {
		model.frame[r->thread][depth].run = -1;
		return 0;
	}
	nested = model.frame[me][depth].nested;
	model.depth[me] = depth;
	pop_ended();
	if (model.depth[me])
		model.frame[me][model.depth[me] - 1].nested += total;
	return nested;
}

static void model_finish(struct model_run *r)
{
	uint64_t now = model.clock[me], total = now > r->start ? now - r->start : 0, nested;
	struct row *row;

	api->tally_finished(&r->run);
	r->alive = false;
	if (!r->started)
		return;
	r->started = false;
	nested = model_pop(r, total);
	row = row_of(&model.died, function_name(r->location), thread_name(r->birth), thread_name(me));
	row->count++;
	row->run += total;
	row->self += total > nested ? total - nested : 0;
	row->max = total > row->max ? total : row->max;
	row->queued += r->queued;
	row->histogram[total ? 64 - __builtin_clzll(total) : 0]++;
}

static void add_living(struct table *t)
{
	for (int i = 0; i < RUNS; i++) {
		const struct model_run *r = &model.run[i];

		if (r->alive)
			row_of(t, function_name(r->location), thread_name(r->birth),
			       STILL_ALIVE)->count++;
	}
}

static void check_now(void)
{
	struct table seen = { .n = 0 }, expected = model.died;

	add_living(&expected);
	api->tally_snapshot(model.s, take_row, &seen);
	same(&seen, &expected, !model.phases, "snapshot");
}

static void forget(void)
{
	model.died.n = 0;
	model.phases = false;
	api->tally_reset(model.s);
}

static void step(void)
{
	static const char *const phases[PHASES] = { "parse", "configure", "compile" };
	struct model_run *r = &model.run[pick(RUNS)];

	model.clock[me] += pick(10) ? pick(1000) : pick(100000000);
	if (!pick(20))
		model.clock[me] -= pick(2000);
	switch (pick(12)) {
	case 0: case 1: case 2:
		if (!r->alive || !r->started)
			model_start(r);
		return;
	case 3:
		if (r->alive)
			return;
		r->location = (int)pick(LOCATIONS);
		r->birth = me;
		r->alive = r->queued = true;
		r->started = false;
		api->tally_queued(&r->run, model.location[r->location], pick(2) ? 0 : INT64_MAX);
		return;
	case 4:
		if (!pick(100))
			forget();
		else if (!pick(100))
			api->tally_phase(model.s, phases[pick(PHASES)]), model.phases = true;
		else if (!pick(50))
			check_now();
		return;
	default:
		if (r->alive)
			model_finish(r);
	}
}

static void *run_schedule(void *data)
{
	me = (int)(intptr_t)data;
	api->tally_thread(thread_name(me));
	for (int i = 0;; i++) {
		pthread_mutex_lock(&model.lock);
		if (--model.left < 0) {
			pthread_mutex_unlock(&model.lock);
			return NULL;
		}
		step();
		pthread_mutex_unlock(&model.lock);
		if (!(i & 15))
			sched_yield();
	}
}

static void read_all(struct table *to, bool live)
{
	struct tally_table t = TALLY_TABLE_INIT;
	struct error err = { 0 };
	size_t n_live = 0;
	int r = live ? tally_read_live(&t, dir, -1, NULL, &n_live, &err) :
		tally_read(&t, dir, -1, INT64_MAX, NULL, &err);

	ck_assert_msg(!r, "%s: %s", err.path, err.message);
	ck_assert_uint_eq(n_live, live);
	ck_assert_uint_eq(t.n_damaged, 0);
	ck_assert_uint_eq(t.process[0].n_lost, 0);
	take_table(to, &t);
	tally_release(&t);
}

TEST_GROUP_WITH("tally", setup, NULL);

TEST_LOOP(schedules, 12)
{
	struct table expected, seen;
	pthread_t thread[THREADS];

	memset(&model, 0, sizeof model);
	pthread_mutex_init(&model.lock, NULL);
	model.seed = (unsigned)_i;
	model.left = STEPS;
	model.s = make_host_open(api, dir, 0);
	ck_assert_int_eq(set(model.s, BUILDBEAT_TALLY_ACTIVE, BUILDBEAT_CLOCK_HOST, 0, fake_now),
			 BUILDBEAT_TALLY_ACTIVE);
	for (int i = 0; i < LOCATIONS; i++)
		model.location[i] = location(function_name(i), i);
	for (int i = 0; i < THREADS; i++) {
		model.clock[i] = 1000000;
		pthread_create(&thread[i], NULL, run_schedule, (void *)(intptr_t)i);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	check_now();
	expected = model.died;
	add_living(&expected);
	seen.n = 0;
	read_all(&seen, true);
	same(&seen, &expected, true, "live");
	api->close(model.s);
	seen.n = 0;
	read_all(&seen, false);
	same(&seen, &expected, true, "tally.log");
}

/* States */

TEST(states)
{
	struct buildbeat_session *s, *other;
	struct table seen = { .n = 0 };
	struct buildbeat_run run, late;

	api->tally_queued(NULL, 1, 0);
	api->tally_started(NULL, 1);
	api->tally_finished(NULL);
	memset(&run, 0xff, sizeof run);
	api->tally_started(&run, 1);
	api->tally_finished(&run);
	ck_assert_uint_eq(location("before", 1), 0);
	ck_assert_int_eq(api->tally_set(NULL, NULL), BUILDBEAT_TALLY_UNINITIALISED);
	s = make_host_open(api, dir, 0);
	ck_assert_int_eq(api->tally_set(s, NULL), BUILDBEAT_TALLY_UNINITIALISED);
	ck_assert_int_eq(set(s, BUILDBEAT_TALLY_DEACTIVATED, 0, 0, NULL), BUILDBEAT_TALLY_DEACTIVATED);
	api->tally_started(&run, location("off", 1));
	api->tally_finished(&run);
	ck_assert_int_eq(set(s, BUILDBEAT_TALLY_ACTIVE, 0, 0, NULL), BUILDBEAT_TALLY_ACTIVE);
	ck_assert_int_eq(api->tally_set(s, NULL), BUILDBEAT_TALLY_ACTIVE);
	other = make_host_open(api, dir, 0);
	ck_assert_int_eq(set(other, BUILDBEAT_TALLY_ACTIVE, 0, 0, NULL), BUILDBEAT_TALLY_UNINITIALISED);
	api->close(other);
	ck_assert_uint_eq(location("on", 1), location("on", 1));
	ck_assert_uint_ne(location("on", 1), location("on", 2));
	api->tally_started(&run, location("on", 1));
	api->tally_started(&late, location("on", 1));
	/* A run that began while tallies were on is counted. */
	ck_assert_int_eq(set(s, BUILDBEAT_TALLY_DEACTIVATED, 0, 0, NULL), BUILDBEAT_TALLY_DEACTIVATED);
	api->tally_finished(&run);
	api->tally_finished(&run);
	api->tally_snapshot(s, take_row, &seen);
	ck_assert_uint_eq(seen.n, 2);
	ck_assert_uint_eq(row_of(&seen, "on", "WorkerThread-1", "WorkerThread-1")->count, 1);
	ck_assert_uint_eq(row_of(&seen, "on", "WorkerThread-1", STILL_ALIVE)->count, 1);
	api->close(s);
	/* Runs of an earlier session are not counted. */
	api->tally_finished(&late);
	support_run(&(struct run){ 0 }, NULL, "rm -rf '%s'", dir);
	s = make_host_open(api, dir, 0);
	set(s, BUILDBEAT_TALLY_ACTIVE, 0, 0, NULL);
	api->tally_started(&run, location("on", 1));
	api->tally_finished(&run);
	seen.n = 0;
	api->tally_snapshot(s, take_row, &seen);
	ck_assert_uint_eq(seen.n, 1);
	ck_assert_uint_eq(seen.row[0].count, 1);
	api->close(s);
}

/* Clocks */

struct times { struct buildbeat_tally row; };

static void take_times(const struct buildbeat_tally *row, void *data)
{
	((struct times *)data)->row = *row;
}

static void burn(clockid_t clock, int64_t ns)
{
	struct timespec start, now;

	clock_gettime(clock, &start);
	do {
		clock_gettime(clock, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000000000 + now.tv_nsec - start.tv_nsec < ns);
}

TEST_LOOP(of_each_clock, 5)
{
	static const struct timespec nap = { 0, 20000000 };
	const int32_t clocks[] = {
		BUILDBEAT_CLOCK_DEFAULT, BUILDBEAT_CLOCK_WALL, BUILDBEAT_CLOCK_TSC,
		BUILDBEAT_CLOCK_CPU, BUILDBEAT_CLOCK_FAULTS,
	};
	struct buildbeat_session *s = make_host_open(api, dir, 0);
	struct times t = { .row = { .size = 0 } };
	struct timespec before, after;
	struct buildbeat_run run;
	uint64_t wall;
	volatile char *memory;

	set(s, BUILDBEAT_TALLY_ACTIVE, clocks[_i], BUILDBEAT_CLOCK_FAULTS, NULL);
	clock_gettime(CLOCK_MONOTONIC, &before);
	api->tally_queued(&run, location("f", 1), 0);
	nanosleep(&nap, NULL);
	api->tally_started(&run, 0);
	nanosleep(&nap, NULL);
	burn(CLOCK_THREAD_CPUTIME_ID, 10000000);
	memory = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 100; i++)
		memory[i * 4096] = 1;
	munmap((void *)(uintptr_t)memory, 100 * 4096);
	api->tally_finished(&run);
	clock_gettime(CLOCK_MONOTONIC, &after);
	wall = (uint64_t)((after.tv_sec - before.tv_sec) * 1000000000 + after.tv_nsec - before.tv_nsec);
	api->tally_snapshot(s, take_times, &t);
	ck_assert_uint_eq(t.row.count, 1);
	ck_assert_uint_ge(t.row.queue_total, 19900000);
	ck_assert_uint_le(t.row.queue_total, wall + wall / 100);
	ck_assert_uint_eq(t.row.queue_max, t.row.queue_sample);
	ck_assert_uint_ge(t.row.amount_total, 90);
	ck_assert_uint_eq(t.row.amount_total, t.row.amount_max);
	if (clocks[_i] == BUILDBEAT_CLOCK_FAULTS)
		ck_assert_uint_ge(t.row.run_total, 90);
	else
		ck_assert_uint_ge(t.row.run_total, clocks[_i] == BUILDBEAT_CLOCK_CPU ? 10000000 : 29700000);
	ck_assert_uint_le(t.row.run_total, wall + wall / 100);
	api->close(s);
}

/* Links, names, texts and JSON */

TEST(links_and_json)
{
	struct buildbeat_session *s = make_host_open(api, dir, 0);
	struct tally_table t = TALLY_TABLE_INIT;
	struct buildbeat_run outer, inner;
	int fd;

	set(s, BUILDBEAT_TALLY_ACTIVE, 0, 0, NULL);
	api->tally_thread("main \"thread\"");
	api->tally_started(&outer, location("outer\n\t\"", 7));
	api->tally_started(&inner, BUILDBEAT_LOCATION(api));
	api->tally_finished(&inner);
	api->tally_finished(&outer);
	fd = open(support_path("%s/t.json", support_tmpdir()), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(api->tally_dump(s, fd), 0);
	close(fd);
	ck_assert_int_eq(api->tally_dump(s, 1000), -EBADF);
	api->close(s);
	ck_assert_int_eq(tally_read(&t, dir, -1, INT64_MAX, NULL, NULL), 0);
	ck_assert_uint_eq(t.n_links, 1);
	ck_assert_str_eq(t.location[t.link[0].parent].function, "outer\n\t\"");
	ck_assert_int_eq(t.location[t.link[0].parent].line, 7);
	ck_assert_ptr_nonnull(strstr(t.location[t.link[0].child].file, "check_tally.c"));
	ck_assert_str_eq(t.thread[0].name, "main \"thread\"");
	ck_assert_str_eq(t.process[0].clock, "wall");
	ck_assert_int_eq(t.process[0].pid, getpid());
	tally_release(&t);
	SKIP_IF(!support_has("python3"));
	support_writes(support_path("%s/t.py", support_tmpdir()),
		       "import json\n"
		       "j = json.load(open('t.json'))\n"
		       "l = {d['location']['function_name']: d for d in j['list']}\n"
		       "d = l['outer\\n\\t\"']\n"
		       "print(j['process_type'], len(j['list']), d['birth_thread'],\n"
		       "      d['death_data']['count'], d['location']['line_number'],\n"
		       "      d['death_data']['self_ms'] <= d['death_data']['run_ms'],\n"
		       "      j['descendants'][0]['parent_location'] == d['location'])\n");
	support_expect(support_tmpdir(), ANY_STATUS, "host 2 main \"thread\" 1 7 True True\n", "",
		       "python3 t.py");
}

TEST(similar_names)
{
	static const char *const rows[][2] = {
		{ "", "" }, { "a", "a" }, { "a0", "a*" }, { "0", "*" }, { "a10b09c", "a*b*c" }, { "999", "*" },
	};
	char to[16];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		to[tally_similar_name(to, sizeof to - 1, rows[i][0])] = '\0';
		ck_assert_str_eq(to, rows[i][1]);
	}
	ck_assert_uint_eq(tally_similar_name(to, 2, "abc"), 2);
}

/* What is read from known files, for windows of known times. */

static void add_times(struct buf *b, const struct tally_times *t)
{
	buf_addf(b, " [%" PRIu64 " %" PRIu64 " %" PRIu64, t->total, t->max, t->sample);
	for (unsigned i = 0; t->histogram && i < TALLY_BUCKETS; i++) {
		if (t->histogram[i])
			buf_addf(b, " %u:%" PRIu64, i, t->histogram[i]);
	}
	buf_addc(b, ']');
}

static void add_table(struct buf *b, const struct tally_table *t)
{
	buf_addf(b, "%" PRId64 " to %" PRId64 ", damaged %zu, moments", t->from_us, t->to_us, t->n_damaged);
	for (size_t i = 0; i < t->n_moments; i++)
		buf_addf(b, " %" PRId64, t->moment_us[i]);
	buf_addc(b, '\n');
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct tally_process *p = &t->process[i];

		buf_addf(b, "process %s %d %s %s %s %s %" PRIu64 " %d %d\n", p->instance, p->pid, p->clock, p->unit,
			 p->amount, p->amount_unit, p->n_lost, p->unfinished, p->incomplete);
	}
	for (size_t i = 0; i < t->n_locations; i++)
		buf_addf(b, "location %s|%s|%d|%u\n", t->location[i].function, t->location[i].file,
			 t->location[i].line, t->location[i].process);
	for (size_t i = 0; i < t->n_threads; i++)
		buf_addf(b, "thread %s|%u\n", t->thread[i].name, t->thread[i].process);
	for (size_t i = 0; i < t->n_links; i++)
		buf_addf(b, "link %u %u\n", t->link[i].parent, t->link[i].child);
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct tally_row *r = &t->row[i];

		buf_addf(b, "row %u %u %u '%s' %" PRIu64 " self %" PRIu64 " amount %" PRIu64 " %" PRIu64,
			 r->location, r->birth, r->death, t->phase[r->phase], r->count, r->self_total,
			 r->amount_total, r->amount_max);
		add_times(b, &r->run);
		add_times(b, &r->queue);
		buf_addc(b, '\n');
	}
}

static const char *const known[] = { "phases", "all-threads", "damaged", "reset" };

TEST_EACH(known_files, known)
{
	static const int64_t window[][2] = {
		{ -1, INT64_MAX }, { -1, 500 }, { 499, 500 }, { 500, 2000 }, { 500, 1999 }, { 2000, 3000 },
		{ 3000, INT64_MAX }, { 0, 0 },
	};
	struct buf b = BUF_INIT;

	support_write(support_path("%s/tally.log", support_tmpdir()),
		      support_text(support_path(TOP_SRCDIR "/tests/corpus/tally/%s", known[_i])),
		      strlen(support_text(support_path(TOP_SRCDIR "/tests/corpus/tally/%s", known[_i]))));
	for (size_t i = 0; i < 2 * ARRAY_SIZE(window); i++) {
		const int64_t *w = window[i / 2];
		struct tally_table t = TALLY_TABLE_INIT;
		struct error err = { 0 };

		t.merge_threads = i % 2;
		ck_assert_msg(!tally_read(&t, support_tmpdir(), w[0], w[1], NULL, &err), "%s", err.message);
		add_table(&b, &t);
		tally_release(&t);
	}
	support_is_golden(&b, support_path("read/tally-%s.txt", known[_i]));
	buf_release(&b);
}

/* The message names the file and says why. */
TEST(file_that_cannot_be_opened)
{
	struct tally_table t = TALLY_TABLE_INIT;
	struct error err = { 0 };

	ck_assert_int_eq(symlink("tally.log", support_path("%s/tally.log", support_tmpdir())), 0);
	ck_assert_int_eq(tally_read(&t, support_tmpdir(), -1, INT64_MAX, NULL, &err), -ELOOP);
	ck_assert_str_eq(err.message, strerror(ELOOP));
	tally_release(&t);
}

TEST_MAIN(tally);
