/* SPDX-License-Identifier: MIT */
/*
 * The C ABI, called by many threads at once in random order, also while another thread
 * closes the session. No recorded task is lost. A build with --enable-sanitizers=thread
 * finds races.
 */
#include "plugin/buildbeat_plugin.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <pthread.h>
#include <sys/resource.h>

#define THREADS 8
#define ROUNDS 6
#define CALLS 100
#define OPEN_MAX 32	/* unfinished tasks of a thread at a time */

static const struct buildbeat_api *api;
static char dir[4096];

static void setup(void)
{
	api = make_host_api();
	snprintf(dir, sizeof dir, "%s/recordings/one", support_tmpdir());
}

/* What one thread did, and the recording must contain. */
struct caller {
	pthread_t thread;
	unsigned seed, id;
	struct buildbeat_session *shared;
	bool closes;
	uint64_t open[OPEN_MAX];
	size_t n_open;
	size_t n_started, n_finished, n_queued, n_opened;
};

static unsigned pick(struct caller *c, unsigned n)
{
	return (unsigned)rand_r(&c->seed) % n;
}

static struct buildbeat_session *open_one(struct caller *c, bool redacts)
{
	struct buildbeat_host host = {
		.size = sizeof host, .tool = "threads", .dir = dir, .interval_ms = 10,
		.redact = redacts ? "MY_*" : NULL,
	};
	struct buildbeat_session *s = api->open(&host);

	c->n_opened += s != NULL;
	return s;
}

static void start_one(struct caller *c, struct buildbeat_session *s)
{
	const char *const after[] = { NULL, "one", NULL, NULL, "two", "three", NULL };
	char name[32];
	struct buildbeat_task task = {
		.size = sizeof task, .slot = (int32_t)c->id, .name = name,
		.command = "cc MY_KEY=abcdefgh TOKEN=0123456789abcdef -c a.c",
		.pid = pick(c, 2) ? getpid() : 0,
		.after = after, .n_after = pick(c, 8),
	};
	uint64_t number = 0;

	snprintf(name, sizeof name, "task of %u", c->id);
	if (c->n_open == OPEN_MAX)
		return;
	if (pick(c, 2)) {
		number = api->task_queued(s, &task);
		c->n_queued += number != 0;
		if (!number)
			return;
	}
	number = api->task_started(s, number, &task);
	if (!number)
		return;
	c->n_started++;
	if (s == c->shared)
		c->open[c->n_open++] = number;
}

static void finish_one(struct caller *c, struct buildbeat_session *s)
{
	struct rusage usage = { .ru_maxrss = 1 + (long)pick(c, 100000) };
	struct buildbeat_result result = {
		.size = sizeof result, .rchar = -1, .wchar = -1, .usage = &usage,
		.flags = pick(c, 2) ? BUILDBEAT_RAN_HERE : 0,
	};

	if (!c->n_open || s != c->shared)
		return;
	api->task_finished(s, c->open[--c->n_open], &result);
	c->n_finished++;
}

static void saw_span(const struct buildbeat_span_event *event, void *data)
{
	char stack[64];

	ck_assert(event->span && event->begin_ns > 0);
	api->span_stack(data, BUILDBEAT_STACK_IDS, stack, sizeof stack);
}

/* In any order, by any thread; the numbers of two threads are the same ones. */
static void use_spans(struct caller *c, struct buildbeat_session *s)
{
	struct buildbeat_span span = { .size = sizeof span, .name = "open", .function = "f",
		.file = "file.c", .task = pick(c, 3), .parent = pick(c, 4) ? 0 : pick(c, 50) };
	char text[64];

	switch (pick(c, 6)) {
	case 0: case 1:
		api->span_open(s, &span);
		return;
	case 2: case 3:
		api->span_end(s, pick(c, 3), pick(c, 200));
		return;
	case 4:
		api->span_stack(s, (int32_t)pick(c, 4), text, pick(c, sizeof text));
		api->traceparent(s, pick(c, 3), text, sizeof text);
		return;
	case 5:
		api->span_watch(s, pick(c, 2) ? saw_span : NULL, s);
		api->span_places(s, (int32_t)pick(c, 2));
	}
}

static void call(struct caller *c, struct buildbeat_session *s)
{
	const char *text;

	switch (pick(c, 16)) {
	case 0: case 1: case 2:
		start_one(c, s);
		return;
	case 3: case 4:
		finish_one(c, s);
		return;
	case 5:
		api->span_end(s, 0, api->span_begin(s, 0, "span"));
		return;
	case 6:
		api->note(s, 0, "a note");
		return;
	case 7:
		api->heartbeat(s);
		return;
	case 8:
		api->snapshot(s);
		return;
	case 9:
		api->task_pid(s, c->n_open && s == c->shared ? c->open[0] : 0, 4711);
		return;
	case 10:
		api->build_started(s, "all");
		return;
	case 11:
		text = pick(c, 2) ? api->instance(s) : api->ticket(s);
		(void)text;
		return;
	case 12:
		if (!pick(c, 10))
			api->build_completed(s, 0);
		return;
	case 13: case 14: case 15:
		use_spans(c, s);
	}
}

static void *run(void *data)
{
	struct caller *c = data;

	for (int i = 0; i < CALLS; i++) {
		call(c, c->shared);
		if (!c->closes && !pick(c, 12)) {
			struct buildbeat_session *own = open_one(c, pick(c, 2));

			for (int n = 0; n < 4; n++)
				call(c, own);
			api->close(own);
		}
		if (c->closes && i > CALLS / 2 && !pick(c, 40))
			api->close(c->shared);
	}
	return NULL;
}

static void check_recording(const struct caller *caller, bool whole)
{
	size_t started[THREADS] = { 0 }, ended[THREADS] = { 0 }, opened = 1, bad, lines;
	RELEASED(recording, rec = RECORDING_INIT);

	tasks_count(dir, &lines, &bad);
	ck_assert_uint_eq(bad, 0);
	recorded_open(&rec, dir, NULL);
	ck_assert_msg(!rec.n_warnings, "%s", rec.n_warnings ? rec.warning->text : "");
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		if (t->start_us < 0)
			continue;	/* the session was closed before it started */
		ck_assert_int_ge(t->slot, 0);
		ck_assert_int_lt(t->slot, THREADS);
		ck_assert_str_eq(t->name, support_path("task of %d", t->slot));
		ck_assert_str_eq(recording_command(&rec, t), "cc MY_KEY=*** TOKEN=*** -c a.c");
		started[t->slot]++;
		ended[t->slot] += t->state == TASK_DONE;
	}
	for (size_t i = 0; i < THREADS; i++) {
		ck_assert_uint_eq(started[i], caller[i].n_started);
		if (whole)
			ck_assert_uint_eq(ended[i], caller[i].n_finished);
		opened += caller[i].n_opened;
	}
	ck_assert_uint_eq(rec.n_instances, opened);
	ck_assert_int_ge(rec.end_us, 0);
}

TEST_GROUP_WITH("threads", setup, NULL);

/* _i: 0: the session is closed after all threads; 1: every thread closes it */
TEST_LOOP(every_entry, 2)
{
	struct buildbeat_host host = {
		.size = sizeof host, .tool = "threads", .dir = dir, .interval_ms = 10,
		.redact = "MY_*",
	};
	struct run r;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct buildbeat_session *s = api->open(&host);
		struct caller caller[THREADS] = { 0 };

		ck_assert_ptr_nonnull(s);
		for (unsigned i = 0; i < THREADS; i++) {
			caller[i] = (struct caller){ .seed = round * THREADS + i, .id = i,
						     .shared = s, .closes = _i };
			ck_assert_int_eq(pthread_create(&caller[i].thread, NULL, run, &caller[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(caller[i].thread, NULL);
		api->close(s);
		check_recording(caller, !_i);
		support_run(&r, NULL, "rm -rf '%s'", dir);
	}
}

static void *open_the_same(void *data)
{
	struct caller *c = data;
	struct buildbeat_session *s = open_one(c, true);

	start_one(c, s);
	finish_one(c, s);
	api->close(s);
	return NULL;
}

/* One thread begins the recording, the others join it. */
TEST(begun_at_once)
{
	struct run r;

	for (unsigned round = 0; round < 10 * ROUNDS; round++) {
		struct caller caller[THREADS] = { 0 };
		struct recording rec = RECORDING_INIT;

		for (unsigned i = 0; i < THREADS; i++) {
			caller[i].id = i;
			ck_assert_int_eq(pthread_create(&caller[i].thread, NULL, open_the_same,
							&caller[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			pthread_join(caller[i].thread, NULL);
			ck_assert_uint_eq(caller[i].n_opened, 1);
		}
		recorded_open(&rec, dir, NULL);
		ck_assert_uint_eq(rec.n_instances, THREADS);
		ck_assert_uint_eq(rec.n_tasks, THREADS);
		ck_assert_uint_eq(rec.n_warnings, 0);
		recording_release(&rec);
		support_run(&r, NULL, "rm -rf '%s'", dir);
	}
}

/* A cancelled thread leaves no lock behind. */
static void *until_cancelled(void *data)
{
	struct caller *c = data;

	for (;;) {
		api->snapshot(c->shared);
		api->note(c->shared, 0, "a note");
		pthread_testcancel();
	}
	return NULL;
}

TEST(cancelled)
{
	struct caller caller[THREADS] = { 0 };
	RELEASED(recording, rec = RECORDING_INIT);
	struct buildbeat_session *s;

	s = open_one(&caller[0], false);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < THREADS; i++) {
			caller[i].shared = s;
			ck_assert_int_eq(pthread_create(&caller[i].thread, NULL, until_cancelled,
							&caller[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			pthread_cancel(caller[i].thread);
			pthread_join(caller[i].thread, NULL);
		}
	}
	api->build_completed(s, 0);
	api->close(s);
	recorded_open(&rec, dir, NULL);
	ck_assert_int_ge(rec.end_us, 0);
}

TEST_MAIN(plugin_threads);
