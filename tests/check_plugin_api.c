/* SPDX-License-Identifier: MIT */
/* The C ABI, as a host in C uses it. */
#include "plugin/buildbeat_plugin.h"
#include "plugin/ticket.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <pthread.h>
#include <sys/resource.h>

#define THREADS 8
#define TASKS_A_THREAD 1000
#define PROCESSES 8
#define TASKS_A_PROCESS 2500

static const struct buildbeat_api *api;
static char dir[4096];

static void setup(void)
{
	api = make_host_api();
	snprintf(dir, sizeof dir, "%s/recordings/one", support_tmpdir());
}

static struct buildbeat_session *open_at(const char *path, int64_t interval_ms)
{
	struct buildbeat_host host = {
		.size = sizeof host, .tool = "tool", .version = "1.2", .command = "tool all",
		.dir = path, .interval_ms = interval_ms,
	};

	return api->open(&host);
}

static void read_back(struct recording *rec)
{
	recorded_open(rec, dir, NULL);
	ck_assert_uint_eq(rec->n_warnings, 0);
}

TEST_GROUP_WITH("api", setup, NULL);

TEST(the_table)
{
	ck_assert_uint_eq(api->size, sizeof *api);
	ck_assert_uint_eq(api->major, 1);
	for (size_t at = offsetof(struct buildbeat_api, open); at < sizeof *api; at += sizeof(void *))
		ck_assert_ptr_nonnull(*(void **)((char *)api + at));
}

/* NULL, 0 and missing arguments have no effect. */
TEST(nothing_fails)
{
	struct buildbeat_task task = { .size = sizeof task, .name = "x" };
	struct buildbeat_result result = { .size = sizeof result };
	struct buildbeat_host host = { .size = 3 };
	struct buildbeat_session *s = open_at(dir, -1);
	RELEASED(recording, rec = RECORDING_INIT);

	ck_assert_ptr_nonnull(s);
	errno = 77;
	ck_assert_ptr_null(api->open(NULL));
	ck_assert_ptr_null(api->open(&host));
	api->build_started(NULL, "x");
	ck_assert_uint_eq(api->task_queued(NULL, &task), 0);
	ck_assert_uint_eq(api->task_queued(s, NULL), 0);
	ck_assert_uint_eq(api->task_started(NULL, 0, &task), 0);
	ck_assert_uint_eq(api->task_started(s, 0, NULL), 0);
	api->task_pid(NULL, 1, 1);
	api->task_pid(s, 0, 1);
	api->task_finished(NULL, 1, &result);
	api->task_finished(s, 0, &result);
	api->task_finished(s, 1, NULL);
	ck_assert_uint_eq(api->span_begin(NULL, 0, "x"), 0);
	api->span_end(NULL, 0, 1);
	api->span_end(s, 0, 0);
	api->note(NULL, 0, "x");
	api->note(s, 0, NULL);
	api->heartbeat(NULL);
	api->heartbeat(s);
	api->snapshot(NULL);
	api->snapshot(s);
	api->build_completed(NULL, 0);
	api->close(NULL);
	api->close(s);
	ck_assert_int_eq(errno, 77);
	read_back(&rec);
	ck_assert_uint_eq(rec.n_tasks + rec.n_spans + rec.n_notes + rec.n_series, 0);
}

static void tell_all(struct buildbeat_session *s)
{
	static const char *const after[] = { NULL, "first", NULL, NULL, "sec ond", NULL };
	struct buildbeat_task task = {
		.size = sizeof task, .slot = 3, .name = "do_compile", .kind = "compile",
		.key = "recipe.bb", .command = "make -C x", .after = after, .n_after = 6,
	};
	struct rusage usage = {
		.ru_utime = { 1, 5 }, .ru_stime = { 0, 7 }, .ru_maxrss = 4000000, .ru_minflt = 12,
		.ru_majflt = 13, .ru_inblock = 14, .ru_oublock = 15, .ru_nvcsw = 16, .ru_nivcsw = 17,
	};
	struct buildbeat_result result = {
		.size = sizeof result, .status = 3 << 8, .usage = &usage, .rchar = 18, .wchar = 19,
	};
	uint64_t number, span;

	api->build_started(s, "all of it");
	number = api->task_queued(s, &task);
	ck_assert_uint_ne(number, 0);
	ck_assert_uint_eq(api->task_started(s, number, &task), number);
	api->task_pid(s, number, 4711);
	span = api->span_begin(s, number, "unpack");
	api->span_end(s, number, span);
	api->note(s, number, "a\ttab");
	api->note(s, 0, "of the build");
	api->task_finished(s, number, &result);
	result = (struct buildbeat_result){ .size = sizeof result, .status = 9, .rchar = -1, .wchar = -1 };
	number = api->task_started(s, 0, &task);
	api->task_finished(s, number, &result);
	api->build_completed(s, 2 << 8);
	api->close(s);
}

TEST(all_is_recorded)
{
	RELEASED(recording, rec = RECORDING_INIT);
	const struct task *t;

	tell_all(open_at(dir, -1));
	read_back(&rec);
	ck_assert_str_eq(recording_build(&rec, "tool"), "tool");
	ck_assert_str_eq(recording_build(&rec, "version"), "1.2");
	ck_assert_str_eq(recording_build(&rec, "command"), "tool all");
	ck_assert_str_eq(recording_build(&rec, "targets"), "all of it");
	ck_assert_int_eq(recording_build_number(&rec, "status"), 2);
	ck_assert_int_ge(rec.end_us, 0);
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_str_eq(rec.instance[0].tool, "tool");
	ck_assert_int_ge(rec.instance[0].close_us, rec.instance[0].open_us);
	ck_assert_uint_eq(rec.n_tasks, 2);
	t = &rec.task[0];
	ck_assert_str_eq(t->name, "do_compile");
	ck_assert_str_eq(t->kind, "compile");
	ck_assert_str_eq(t->key, "recipe.bb");
	ck_assert_str_eq(recording_command(&rec, t), "make -C x");
	ck_assert_int_eq(t->state, TASK_FAILED);
	ck_assert_int_eq(t->status, 3);
	ck_assert_int_eq(t->slot, 3);
	ck_assert_int_eq(t->pid, 4711);
	ck_assert_int_ge(t->start_us, t->queued_us);
	ck_assert_int_ge(t->end_us, t->start_us);
	ck_assert_int_eq(t->user_us, 1000005);
	ck_assert_int_eq(t->system_us, 7);
	ck_assert_int_eq(t->max_rss_kb, 4000000);
	ck_assert_int_eq(t->minor_faults, 12);
	ck_assert_int_eq(t->major_faults, 13);
	ck_assert_int_eq(t->in_blocks, 14);
	ck_assert_int_eq(t->out_blocks, 15);
	ck_assert_int_eq(t->voluntary_switches, 16);
	ck_assert_int_eq(t->involuntary_switches, 17);
	ck_assert_int_eq(t->rchar, 18);
	ck_assert_int_eq(t->wchar, 19);
	ck_assert_uint_eq(t->n_after, 4);	/* queued and started */
	ck_assert_str_eq(rec.after[t->first_after], "first");
	ck_assert_str_eq(rec.after[t->first_after + 1], "sec ond");
	ck_assert_int_eq(rec.task[1].state, TASK_KILLED);
	ck_assert_int_eq(rec.task[1].status, 9);
	ck_assert_int_eq(rec.task[1].user_us, -1);
	ck_assert_uint_eq(rec.n_spans, 2);
	ck_assert_str_eq(rec.span[0].name, "build");
	ck_assert_uint_eq(rec.span[0].task, NO_INDEX);
	ck_assert_str_eq(rec.span[1].name, "unpack");
	ck_assert_uint_eq(rec.span[1].task, 0);
	ck_assert_uint_eq(rec.n_notes, 2);
	ck_assert_str_eq(rec.note[0].text, "a\ttab");
	ck_assert_str_eq(rec.note[1].text, "of the build");
}

/* A host built with an older header, and one with a newer. */
TEST(sizes)
{
	struct {
		struct buildbeat_task task;
		char more[64];
	} newer;
	struct buildbeat_task older;
	struct buildbeat_result result = {
		.size = offsetof(struct buildbeat_result, usage), .status = 0,
		.usage = (const struct rusage *)1, .rchar = 5, .wchar = 5,
	};
	struct buildbeat_session *s = open_at(dir, -1);
	RELEASED(recording, rec = RECORDING_INIT);
	uint64_t number;

	memset(&newer, 0xff, sizeof newer);
	newer.task = (struct buildbeat_task){ .size = sizeof newer, .name = "newer" };
	ck_assert_uint_ne(api->task_started(s, 0, &newer.task), 0);
	memset(&older, 0xff, sizeof older);
	older.size = offsetof(struct buildbeat_task, kind);
	older.pid = 5;
	older.name = "older";
	number = api->task_started(s, 0, &older);
	ck_assert_uint_ne(number, 0);
	api->task_finished(s, number, &result);
	older.size = 3;
	ck_assert_uint_eq(api->task_started(s, 0, &older), 0);
	api->close(s);
	read_back(&rec);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "newer");
	ck_assert_str_eq(rec.task[1].name, "older");
	ck_assert_str_eq(recording_command(&rec, &rec.task[1]), "");
	ck_assert_int_eq(rec.task[1].pid, 5);
	ck_assert_int_eq(rec.task[1].state, TASK_DONE);
	ck_assert_int_eq(rec.task[1].rchar, -1);
}

TEST(joining)
{
	struct buildbeat_host host = {
		.size = sizeof host, .tool = "sub", .flags = BUILDBEAT_JOIN_ONLY,
	};
	struct buildbeat_session *outer, *by_dir, *by_ticket;
	RELEASED(recording, rec = RECORDING_INIT);

	ck_assert_ptr_null(api->open(&host));
	host.dir = dir;
	ck_assert_ptr_null(api->open(&host));
	outer = open_at(dir, -1);
	by_dir = api->open(&host);
	ck_assert_ptr_nonnull(by_dir);
	setenv("MAKEFILES", support_path("%s other.mk", api->ticket(outer)), 1);
	host.dir = NULL;
	by_ticket = api->open(&host);
	ck_assert_ptr_nonnull(by_ticket);
	api->build_completed(by_ticket, 0);
	api->close(by_ticket);
	api->close(by_dir);
	api->close(outer);
	ck_assert(!support_exists(support_path("%s/buildbeat.mk", dir)));
	read_back(&rec);
	ck_assert_uint_eq(rec.n_instances, 3);
	ck_assert_int_eq(recording_build_number(&rec, "status"), -1);
}

TEST(nowhere_to_write)
{
	struct buildbeat_task task = { .size = sizeof task, .name = "x" };
	struct buildbeat_session *s;
	struct run r;

	support_writes(support_path("%s/file", support_tmpdir()), "x");
	errno = 77;
	ck_assert_ptr_null(open_at(support_path("%s/file/one", support_tmpdir()), -1));
	ck_assert_ptr_null(open_at("", -1));
	ck_assert_int_eq(errno, 77);
	s = open_at(dir, -1);
	support_run(&r, NULL, "rm -rf '%s'", dir);
	errno = 77;
	ck_assert_uint_ne(api->task_started(s, 0, &task), 0);
	api->build_completed(s, 0);
	api->close(s);
	ck_assert_int_eq(errno, 77);
}

TEST(forked)
{
	struct buildbeat_task task = { .size = sizeof task, .name = "parent" };
	struct buildbeat_session *s = open_at(dir, 20);
	RELEASED(recording, rec = RECORDING_INIT);
	int status;
	pid_t pid;

	pid = fork();
	if (!pid) {
		struct buildbeat_session *own;

		task.name = "child";
		if (api->task_started(s, 0, &task))
			_exit(1);
		api->note(s, 0, "child");
		api->snapshot(s);
		api->build_completed(s, 0);
		api->close(s);
		own = open_at(dir, 20);
		task.name = "own";
		if (!own || !api->task_started(own, 0, &task))
			_exit(2);
		api->close(own);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_uint_ne(api->task_started(s, 0, &task), 0);
	api->close(s);
	read_back(&rec);
	ck_assert_uint_eq(rec.n_instances, 2);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_str_eq(rec.task[0].name, "own");
	ck_assert_str_eq(rec.task[1].name, "parent");
	ck_assert_uint_eq(rec.n_notes, 0);
}

/* A host of several processes, as BitBake: one queues tasks, forked children of another run
 * them, and both use the same numbers. */
static void run_forked(struct buildbeat_session *s, const struct buildbeat_host *host)
{
	struct buildbeat_result result = {
		.size = sizeof result, .flags = BUILDBEAT_RAN_HERE, .rchar = -1, .wchar = -1,
	};
	struct buildbeat_session *worker = api->open(host);
	int status;

	ck_assert_ptr_nonnull(worker);
	ck_assert_str_eq(api->instance(worker), host->instance);
	ck_assert_ptr_null(api->ticket(worker));
	for (uint64_t n = 0; n < 3; n++) {
		struct buildbeat_task task = { .size = sizeof task, .slot = -1, .number = n + (1u << 30) };
		pid_t pid;

		task.name = support_path("task %d", (int)n);
		ck_assert_uint_eq(api->task_queued(s, &task), task.number);
		task.name = NULL;
		pid = fork();
		if (!pid) {
			task.pid = getpid();
			api->task_started(worker, 0, &task);
			if (system("i=0; while [ $i -lt 9000 ]; do i=$((i+1)); done"))
				_exit(1);
			api->task_finished(worker, task.number, &result);
			api->build_completed(worker, 0);
			api->close(worker);
			_exit(0);
		}
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_int_eq(status, 0);
		result.flags = n ? BUILDBEAT_RAN_HERE : 0;
	}
	api->close(worker);
}

TEST(speaks_for_another)
{
	struct buildbeat_session *s = open_at(dir, -1);
	struct buildbeat_host host = {
		.size = sizeof host, .flags = BUILDBEAT_FORKS, .dir = dir,
		.instance = api->instance(s),
	};
	RELEASED(recording, rec = RECORDING_INIT);
	const char *ticket = support_path("%s", api->ticket(s));

	ck_assert(support_exists(ticket));
	run_forked(s, &host);
	api->close(s);
	ck_assert(!support_exists(ticket));
	read_back(&rec);
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_uint_eq(rec.n_tasks, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct task *t = &rec.task[i];

		ck_assert_str_eq(t->name, support_path("task %d", (int)i));
		ck_assert_int_eq(t->state, TASK_DONE);
		ck_assert_int_ge(t->queued_us, 0);
		ck_assert_int_ge(t->start_us, t->queued_us);
		ck_assert_int_gt(t->user_us + t->system_us, i == 1 ? -3 : 0);
		ck_assert(i == 1 || t->max_rss_kb > 0 || t->max_rss_at_most_kb > 0);
		ck_assert_int_gt(t->pid, 0);
	}
	ck_assert_int_eq(rec.task[1].max_rss_kb, -1);
}

static const char *const no_instances[] = { "", "a.1", "a\t", "A", "0123456789abcdef" };

TEST_LOOP(no_such_instance, 5)
{
	struct buildbeat_host host = {
		.size = sizeof host, .dir = dir, .instance = no_instances[_i],
	};
	struct buildbeat_session *s;

	ck_assert_ptr_null(api->open(&host));
	ck_assert(!support_exists(dir));
	s = open_at(dir, -1);
	ck_assert_ptr_null(api->open(&host));
	api->close(s);
	ck_assert_ptr_null(api->instance(NULL));
	ck_assert_ptr_null(api->ticket(NULL));
}

static size_t samples(const char *name)
{
	struct recording rec = RECORDING_INIT;
	const struct series *series;
	size_t n;

	recorded_open(&rec, dir, NULL);
	series = recording_series(&rec, name);
	n = series ? series->n : 0;
	recording_release(&rec);
	return n;
}

static bool has_samples(void *least)
{
	return samples("proc_stat") >= *(size_t *)least;
}

static size_t threads_here(void)
{
	struct stat st;

	ck_assert_int_eq(stat("/proc/self/task", &st), 0);
	return st.st_nlink;
}

/* The instance that begins the recording samples, in a thread that ends with it. */
TEST(sampling)
{
	size_t least = 4, before = threads_here();
	struct buildbeat_session *s = open_at(dir, 20), *other = open_at(dir, 20);

	ck_assert_uint_eq(threads_here(), before + 1);
	support_wait_until(has_samples, &least, "samples");
	api->close(other);
	least = samples("proc_stat") + 1;
	support_wait_until(has_samples, &least, "samples after the other session");
	api->snapshot(s);
	api->heartbeat(s);
	api->close(s);
	ck_assert_uint_eq(threads_here(), before);
}

static struct buildbeat_session *shared;

static void *write_tasks(void *data)
{
	struct buildbeat_task task = { .size = sizeof task, .slot = *(int *)data, .name = "thread" };
	struct buildbeat_result result = { .size = sizeof result, .rchar = -1, .wchar = -1 };

	for (int i = 0; i < TASKS_A_THREAD; i++) {
		uint64_t number = api->task_started(shared, 0, &task);

		api->task_finished(shared, number, &result);
		if (i % 100 == 0)
			api->snapshot(shared);
	}
	return NULL;
}

TEST(threads)
{
	RELEASED(recording, rec = RECORDING_INIT);
	pthread_t thread[THREADS];
	int slot[THREADS], done[THREADS] = { 0 };

	shared = open_at(dir, 20);
	for (int i = 0; i < THREADS; i++) {
		slot[i] = i;
		ck_assert_int_eq(pthread_create(&thread[i], NULL, write_tasks, &slot[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	api->close(shared);
	read_back(&rec);
	ck_assert_uint_eq(rec.n_tasks, THREADS * TASKS_A_THREAD);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		ck_assert_int_eq(rec.task[i].state, TASK_DONE);
		done[rec.task[i].slot]++;
	}
	for (int i = 0; i < THREADS; i++)
		ck_assert_int_eq(done[i], TASKS_A_THREAD);
}

static void write_from_process(int i)
{
	char name[3000];
	struct buildbeat_task task = { .size = sizeof task, .slot = i, .name = "process",
				       .command = name };
	struct buildbeat_result result = { .size = sizeof result, .rchar = -1, .wchar = -1 };
	struct buildbeat_session *s = open_at(dir, -1);

	memset(name, 'x', sizeof name);
	for (int n = 0; n < TASKS_A_PROCESS; n++) {
		name[n % (sizeof name - 1)] = '\0';
		api->task_finished(s, api->task_started(s, 0, &task), &result);
		name[n % (sizeof name - 1)] = 'x';
	}
	api->close(s);
}

TEST(processes)
{
	struct buildbeat_session *s = open_at(dir, -1);
	RELEASED(recording, rec = RECORDING_INIT);
	size_t lines, bad;
	int status;

	for (int i = 0; i < PROCESSES; i++) {
		if (!fork()) {
			write_from_process(i);
			_exit(0);
		}
	}
	for (int i = 0; i < PROCESSES; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	api->close(s);
	tasks_count(dir, &lines, &bad);
	ck_assert_uint_eq(bad, 0);
	ck_assert_uint_eq(lines, 2 * (PROCESSES * TASKS_A_PROCESS + PROCESSES + 1));
	read_back(&rec);
	ck_assert_uint_eq(rec.n_tasks, PROCESSES * TASKS_A_PROCESS);
	for (size_t i = 0; i < rec.n_tasks; i++)
		ck_assert_int_eq(rec.task[i].state, TASK_DONE);
}

TEST_MAIN(plugin_api);
