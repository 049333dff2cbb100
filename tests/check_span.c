/* SPDX-License-Identifier: MIT */
/*
 * Spans of a host: several threads make random calls, one at a time. A slow model says what a
 * reader finds, and the reader computes the same ids and stacks as the plugin.
 */
#include "plugin/buildbeat_plugin.h"
#include "recording/identity.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#define THREADS 4
#define TASKS 5
#define CALLS 260
#define ROUNDS 25
#define NONE (-1)

static const struct buildbeat_api *api;
static struct buildbeat_session *session;
static char dir[4096];

static void setup(void)
{
	api = make_host_api();
	snprintf(dir, sizeof dir, "%s/recordings/one", support_tmpdir());
}

static void read_back(struct recording *rec, const char *path)
{
	recorded_open(rec, path, NULL);
	ck_assert_uint_eq(rec->n_warnings, 0);
}

/* Threads that do one call each in turn, so that its order is known */

struct order {
	enum { BEGIN, END, STOP } what;
	struct buildbeat_span span;
	uint64_t task, number;
	char traceparent[64], stack[3][512];
};

static struct worker {
	pthread_t thread;
	struct order *order;
} worker[THREADS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void obey(struct order *o)
{
	if (o->what == END) {
		api->span_end(session, o->task, o->number);
		return;
	}
	o->number = api->span_open(session, &o->span);
	ck_assert_uint_ne(o->number, 0);
	ck_assert_uint_eq(api->traceparent(session, o->task, o->traceparent, sizeof o->traceparent), 55);
	for (int kind = 0; kind < 3; kind++)
		ck_assert_uint_eq(api->span_stack(session, kind, o->stack[kind], sizeof o->stack[kind]),
				  strlen(o->stack[kind]));
}

static void *work(void *arg)
{
	struct worker *w = arg;
	bool stop = false;

	pthread_mutex_lock(&mutex);
	while (!stop) {
		while (!w->order)
			pthread_cond_wait(&changed, &mutex);
		stop = w->order->what == STOP;
		if (!stop)
			obey(w->order);
		w->order = NULL;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Two calls never have the same microsecond. */
static void next_microsecond(void)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while (now.tv_sec == from.tv_sec && now.tv_nsec / 1000 <= from.tv_nsec / 1000 + 1);
}

static void give(int thread, struct order *o)
{
	pthread_mutex_lock(&mutex);
	worker[thread].order = o;
	pthread_cond_broadcast(&changed);
	while (worker[thread].order)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	next_microsecond();
}

/* The model: when things happened, as the number of the call. */

struct known {
	int begun, thread, task, given;	/* given: explicit parent, or NONE */
	int ended, ended_by;		/* the first time; NONE: never */
	int parent;			/* as the writer knew it */
	bool open;			/* likewise */
	unsigned copy;
	char name[16];
	uint64_t number;
	char traceparent[64], stack[3][512];
	/* as the reader repairs it */
	unsigned faults;
	int repaired_parent, closed;	/* closed: when */
	bool moved;			/* from its task to the host */
};

static struct known span[CALLS];
static int n_spans, now, task_end[TASKS];
static uint64_t task_number[TASKS], expected[SPAN_FAULTS];

/* Task 0 is the host. */
static bool over(int task)
{
	return task && task_end[task] != NONE;
}

/* With what is inside it. */
static void close_tree(int i)
{
	span[i].open = false;
	for (int k = 0; k < n_spans; k++) {
		if (span[k].open && span[k].parent == i)
			close_tree(k);
	}
}

static int innermost(int thread, int task)
{
	for (int i = n_spans; i-- > 0;) {
		if (span[i].thread == thread && span[i].task == task && span[i].open)
			return i;
	}
	return NONE;
}

static unsigned lowest_copy(const char *name)
{
	for (unsigned copy = 1;; copy++) {
		bool taken = false;

		for (int i = 0; i < n_spans; i++)
			taken |= span[i].open && !strcmp(span[i].name, name) && span[i].copy == copy;
		if (!taken)
			return copy;
	}
}

static void begin(int thread, int task, int given)
{
	struct known *k = &span[n_spans];
	struct order o = { .what = BEGIN, .task = task_number[task] };

	*k = (struct known){ .begun = now, .thread = thread, .task = task, .given = given,
		.ended = NONE, .open = true, .parent = given == NONE ? innermost(thread, task) : given };
	snprintf(k->name, sizeof k->name, rand() % 8 ? "n%d" : "n#%d", rand() % 3);
	k->copy = lowest_copy(k->name);
	o.span = (struct buildbeat_span){ .size = sizeof o.span, .name = k->name,
		.task = task_number[task], .parent = given == NONE ? 0 : span[given].number };
	give(thread, &o);
	k->number = o.number;
	strcpy(k->traceparent, o.traceparent);
	memcpy(k->stack, o.stack, sizeof k->stack);
	n_spans++;
}

static void end(int thread, int i)
{
	struct order o = { .what = END, .task = task_number[span[i].task], .number = span[i].number };

	give(thread, &o);
	if (span[i].open)
		close_tree(i);
	if (span[i].ended == NONE) {
		span[i].ended = now;
		span[i].ended_by = thread;
		return;
	}
	span[i].faults |= 1u << SPAN_TWICE;
	expected[SPAN_TWICE]++;
}

static void finish(int task)
{
	struct buildbeat_result result = { .size = sizeof result, .rchar = -1, .wchar = -1 };

	if (!task || over(task))
		return;
	api->task_finished(session, task_number[task], &result);
	task_end[task] = now;
	for (int i = 0; i < n_spans; i++)
		span[i].open &= span[i].task != task;
	next_microsecond();
}

static void end_unknown(int thread)
{
	struct order o = { .what = END, .task = task_number[rand() % TASKS], .number = 1000000 };

	give(thread, &o);
	expected[SPAN_NO_BEGIN]++;
}

static void call(void)
{
	int thread = rand() % THREADS, task = rand() % TASKS, i = n_spans ? rand() % n_spans : NONE;

	switch (rand() % 20) {
	case 0:
		if (!(rand() % 8))
			finish(task);
		return;
	case 1:
		end_unknown(thread);
		return;
	case 2:
		if (i != NONE)
			end(rand() % THREADS, i);
		return;
	case 3:
		if (i != NONE)
			begin(thread, span[i].task, i);
		return;
	case 4: case 5: case 6: case 7: case 8: case 9: case 10: case 11:
		i = innermost(thread, task);
		if (i != NONE)
			end(thread, i);
		return;
	default:
		begin(thread, task, NONE);
	}
}

static void fault(struct known *k, enum span_fault f)
{
	k->faults |= 1u << f;
	expected[f]++;
}

/* In the order of their begins, which is that of the array. */
static void repair(struct known *k)
{
	int limit = k->task ? task_end[k->task] : NONE;
	bool outlived_parent = false;

	k->repaired_parent = k->parent;
	k->moved = k->task && over(k->task) && k->begun > task_end[k->task];
	if (k->moved) {
		fault(k, SPAN_OUTSIDE);
		k->repaired_parent = limit = NONE;
	}
	while (k->repaired_parent != NONE) {
		const struct known *p = &span[k->repaired_parent];

		if (p->closed < k->begun)
			outlived_parent = true;
		else if (!p->moved || !k->task)
			break;
		k->repaired_parent = p->repaired_parent;
	}
	if (outlived_parent)
		fault(k, SPAN_OUTSIDE);
	if (k->repaired_parent != NONE)
		limit = span[k->repaired_parent].closed;
	if (limit == NONE)
		limit = CALLS + 1;
	k->closed = k->ended != NONE && k->ended < limit ? k->ended : limit;
	if (k->ended == NONE)
		fault(k, SPAN_UNENDED);
	else if (k->ended > limit)
		fault(k, SPAN_OUTLIVED);
	if (k->ended != NONE && k->ended_by != k->thread)
		fault(k, SPAN_OTHER_THREAD);
}

static uint32_t find(const struct recording *rec, uint64_t number)
{
	for (uint32_t i = 0; i < rec->n_spans; i++) {
		if (rec->span[i].number == number)
			return i;
	}
	ck_abort_msg("no span %llu", (unsigned long long)number);
}

/* The writer does not know that an explicit parent has ended. */
static bool parents_known(const struct known *k)
{
	return !(k->faults & 1u << SPAN_OUTSIDE) &&
	       (k->parent == NONE || parents_known(&span[k->parent]));
}

static void compare_ids(const struct recording *rec, const struct known *k, uint32_t at)
{
	char expect[IDENTITY_TRACEPARENT_SIZE];
	RELEASED(buf, b = BUF_INIT);
	struct identity id;

	identity_of(&id, rec);
	identity_traceparent(expect, &id, identity_span(&id, rec, at));
	ck_assert_str_eq(k->traceparent, expect);
	for (int kind = 0; kind < 3 && parents_known(k); kind++) {
		buf_clear(&b);
		identity_add_stack(&b, &id, rec, NO_INDEX, at, (enum identity_kind)kind);
		ck_assert_str_eq(k->stack[kind], buf_str(&b));
	}
}

static void compare(const struct recording *rec, const struct known *k)
{
	uint32_t at = find(rec, k->number);
	const struct span *s = &rec->span[at];

	ck_assert_str_eq(s->name, k->name);
	ck_assert_uint_eq(s->copy, k->copy);
	ck_assert_msg(s->faults == k->faults, "span %u: faults %#x, expected %#x", at, s->faults,
		      k->faults);
	ck_assert_uint_eq(s->parent, k->repaired_parent == NONE ? NO_INDEX :
			  find(rec, span[k->repaired_parent].number));
	ck_assert_uint_eq(s->task == NO_INDEX ? 0 : rec->task[s->task].seq,
			  k->moved ? 0 : task_number[k->task]);
	ck_assert_int_ge(s->end_us, s->begin_us);
	if (s->parent != NO_INDEX) {
		const struct span *p = &rec->span[s->parent];

		ck_assert(s->task == p->task && s->begin_us >= p->begin_us && s->end_us <= p->end_us);
		ck_assert((s->end_us == p->end_us) == (k->closed == span[k->repaired_parent].closed));
	}
	if (s->task != NO_INDEX)
		ck_assert(s->begin_us >= rec->task[s->task].start_us &&
			  s->end_us <= recording_task_end_us(rec, &rec->task[s->task]));
	compare_ids(rec, k, at);
}

static void start_tasks(void)
{
	struct buildbeat_task task = { .size = sizeof task, .slot = -1, .name = "a task" };

	for (int i = 1; i < TASKS; i++) {
		task_number[i] = api->task_started(session, 0, &task);
		task_end[i] = NONE;
	}
	task_end[0] = NONE;
	next_microsecond();
}

TEST_GROUP_WITH("host", setup, NULL);

TEST_LOOP(random_calls, ROUNDS)
{
	struct order stop = { .what = STOP };
	RELEASED(recording, rec = RECORDING_INIT);

	srand((unsigned)_i);
	session = make_host_open(api, dir, 0);
	start_tasks();
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&worker[i].thread, NULL, work, &worker[i]), 0);
	for (now = 0; now < CALLS; now++)
		call();
	for (int i = 0; i < THREADS; i++)
		give(i, &stop);
	for (int i = 0; i < THREADS; i++)
		pthread_join(worker[i].thread, NULL);
	api->close(session);
	read_back(&rec, dir);
	ck_assert_uint_eq(rec.n_spans, n_spans);
	for (int i = 0; i < n_spans; i++)
		repair(&span[i]);
	for (int i = 0; i < n_spans; i++)
		compare(&rec, &span[i]);
	for (int i = 0; i < SPAN_FAULTS; i++)
		ck_assert_uint_eq(rec.span_faults[i], expected[i]);
}

/* The macros of the header */

static void step(bool leave_early)
{
	BUILDBEAT_SPAN(api, session, 0, NULL);
	if (leave_early)
		return;
	for (int i = 0; i < 2; i++) {
		BUILDBEAT_SPAN(api, session, 0, "round");
	}
}

static const struct span *named(const struct recording *rec, const char *name)
{
	for (size_t i = 0; i < rec->n_spans; i++) {
		if (!strcmp(rec->span[i].name, name))
			return &rec->span[i];
	}
	ck_abort_msg("no span %s", name);
}

TEST(macros)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct buildbeat_group group;

	session = make_host_open(api, dir, 0);
	step(true);
	step(false);
	group = buildbeat_group_open(api, session, "group");
	for (int i = 0; i < 3; i++)
		buildbeat_group_finish(&group, buildbeat_group_start(&group, "in it"), i << 8);
	buildbeat_group_close(&group);
	next_microsecond();
	{
		BUILDBEAT_TASK_AND_SPAN(api, session, "task", "its span");
		next_microsecond();
	}
	{
		BUILDBEAT_TASK_AND_SPAN((const struct buildbeat_api *)NULL, NULL, "task", "nothing");
	}
	api->close(session);
	read_back(&rec, dir);
	ck_assert_uint_eq(rec.n_spans, 6);
	ck_assert_uint_eq(rec.n_tasks, 4);
	ck_assert_uint_eq(recording_trace_errors(&rec), 0);
	ck_assert_str_eq(rec.span[0].name, "step");
	ck_assert_uint_eq(rec.span[2].parent, 1);
	ck_assert_uint_eq(rec.span[3].parent, 1);
	ck_assert_str_eq(rec.span[3].name, "round");
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(rec.task_span[i], named(&rec, "group") - rec.span);
	ck_assert_int_eq(rec.task[2].state, TASK_FAILED);
	ck_assert_uint_eq(named(&rec, "its span")->task, 3);
	ck_assert_uint_eq(rec.task_span[3], NO_INDEX);
}

/* A table of an older plugin: nothing is readable behind its end. */
static const struct buildbeat_api *older_table(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *room = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct buildbeat_api *table = (void *)(room + page - size);
	uint32_t its_size = (uint32_t)size;

	ck_assert_ptr_ne(room, MAP_FAILED);
	ck_assert_int_eq(mprotect(room + page, page, PROT_NONE), 0);
	memcpy(table, api, size);
	memcpy(table, &its_size, sizeof its_size);
	return table;
}

static void use_macros(const struct buildbeat_api *table)
{
	BUILDBEAT_SPAN(table, session, 0, "span");
	BUILDBEAT_TASK_AND_SPAN(table, session, "task", NULL);

	ck_assert_int_eq(BUILDBEAT_HAS(table, tally_location),
			 table->size > offsetof(struct buildbeat_api, tally_location));
	ck_assert_uint_eq(BUILDBEAT_LOCATION(table), 0);
}

/* The tables of every version since the first, which ended with close(). */
TEST(older_tables)
{
	const size_t first = offsetof(struct buildbeat_api, instance);
	RELEASED(recording, rec = RECORDING_INIT);
	size_t n = 0;

	session = make_host_open(api, dir, 0);
	for (size_t size = first; size <= sizeof *api; size += sizeof api->close, n++)
		use_macros(older_table(size));
	api->close(session);
	read_back(&rec, dir);
	ck_assert_uint_eq(rec.n_tasks, n);
	ck_assert_uint_eq(rec.n_spans, 2 * n);
	for (size_t i = 0; i < rec.n_spans; i++)
		ck_assert_str_eq(rec.span[i].name, i % 2 ? "use_macros" : "span");
}

/* Callbacks */

static struct {
	unsigned begun, ended;
	char stack[512];
	int64_t begin_ns, end_ns;
} seen;

static void see(const struct buildbeat_span_event *event, void *data)
{
	ck_assert_ptr_eq(data, &seen);
	ck_assert_uint_eq(event->size, sizeof *event);
	seen.begun += event->end_ns < 0;
	seen.ended += event->end_ns >= 0;
	seen.begin_ns = event->begin_ns;
	seen.end_ns = event->end_ns;
	snprintf(seen.stack, sizeof seen.stack, "%s", event->stack);
}

TEST(callbacks)
{
	RELEASED(recording, rec = RECORDING_INIT);
	RELEASED(buf, b = BUF_INIT);
	struct identity id;
	uint64_t outer, inner;

	session = make_host_open(api, dir, 0);
	api->span_watch(session, see, &seen);
	outer = api->span_begin(session, 0, "outer");
	inner = api->span_begin(session, 0, "outer");
	api->span_end(session, 0, inner);
	ck_assert_uint_eq(seen.begun, 2);
	ck_assert_uint_eq(seen.ended, 1);
	ck_assert_int_ge(seen.end_ns, seen.begin_ns);
	api->span_end(session, 0, inner);
	ck_assert_uint_eq(seen.ended, 1);
	api->span_watch(session, NULL, NULL);
	api->span_end(session, 0, outer);
	ck_assert_uint_eq(seen.ended, 1);
	api->close(session);
	read_back(&rec, dir);
	identity_of(&id, &rec);
	identity_add_stack(&b, &id, &rec, NO_INDEX, 1, IDENTITY_COMBINED);
	ck_assert_str_eq(seen.stack, buf_str(&b));
	ck_assert_ptr_nonnull(strstr(seen.stack, "\"outer\").("));
	ck_assert_ptr_nonnull(strstr(seen.stack, "\"outer#2\")"));
	ck_assert_int_eq(seen.end_ns, rec.start_mono_ns + rec.span[1].end_us * 1000);
}

TEST(places)
{
	struct buildbeat_span here = { .size = sizeof here, .name = "b", .file = "file.c", .line = 7,
		.function = "f" };
	RELEASED(recording, rec = RECORDING_INIT);

	setenv("BUILDBEAT_PLACES", "1", 1);
	session = make_host_open(api, dir, 0);
	unsetenv("BUILDBEAT_PLACES");
	api->span_begin(session, 0, "a");
	api->span_open(session, &here);
	ck_assert_int_eq(api->span_places(session, 0), 1);
	ck_assert_int_eq(api->span_places(session, 0), 0);
	api->span_open(session, &here);
	api->close(session);
	read_back(&rec, dir);
	ck_assert_ptr_nonnull(strstr(rec.span[0].place, "check_span+0x"));
	ck_assert_str_eq(rec.span[1].place, "file.c:7 f");
	ck_assert_str_eq(rec.span[2].place, "");
}

/* A child of a host that forks has no open spans of its own, whatever its parent was doing. */
TEST(forks)
{
	struct buildbeat_host host = {
		.size = sizeof host, .tool = "spans", .dir = dir, .interval_ms = -1,
	}, child = host;
	struct buildbeat_session *parent;
	struct recording rec = RECORDING_INIT;
	char text[64];
	pid_t pid;
	int status;

	parent = api->open(&host);
	child.instance = api->instance(parent);
	child.flags = BUILDBEAT_FORKS;
	session = api->open(&child);
	ck_assert_ptr_nonnull(session);
	api->span_begin(session, 0, "parent");
	pid = fork();
	if (!pid) {
		bool empty = !api->span_stack(session, 1, text, sizeof text);

		for (int i = 0; i < 200; i++)
			api->span_begin(session, 0, "child");	/* more than there is room for */
		_exit(!empty);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_eq(api->span_stack(session, 1, text, sizeof text), strlen("parent"));
	read_back(&rec, dir);
	ck_assert_uint_eq(rec.n_spans, 201);
	ck_assert_str_eq(rec.span[200].name, "child");
	ck_assert_int_ne(rec.span[200].thread, rec.span[0].thread);
	recording_release(&rec);
	api->close(session);
	api->close(parent);
}

TEST_MAIN(span);
