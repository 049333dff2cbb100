/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_H
#define BUILDBEAT_PLUGIN_H

/*
 * The buildbeat plugin ABI, by which any build tool reports to buildbeat what it does. Complete
 * description: buildbeat-plugin(3).
 *
 *	void *so = dlopen("/usr/lib/buildbeat/buildbeat.so", RTLD_NOW | RTLD_LOCAL);
 *	const struct buildbeat_api *(*get)(uint32_t) = dlsym(so, "buildbeat_get_api");
 *	const struct buildbeat_api *api = get ? get(BUILDBEAT_API_MAJOR) : NULL;
 *	if (!api)
 *		... no statistics, the build goes on ...
 *
 * Rules that never change within a major version:
 *
 * - Every struct starts with its size in bytes, set by its writer, and only grows at its end. A
 * field beyond the size does not exist.
 * - Texts are borrowed for the call, may be NULL, and may contain any bytes.
 * - No call fails the host: a NULL session, a task 0 or a NULL struct is a no-op. errno is kept.
 * Nothing is printed. No signal disposition, working directory, locale or environment variable is
 * changed.
 * - Any thread may call any function at any time. If a session is closed meanwhile, calls in
 * progress are completed.
 * - A session belongs to the process that opened it. In a forked child the calls do nothing until
 * the child opens a session of its own, unless the host set BUILDBEAT_FORKS.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BUILDBEAT_API_MAJOR 1

struct buildbeat_session;	/* opaque */
struct rusage;

/* The host. */
struct buildbeat_host {
	uint32_t size;
	uint32_t flags;		/* BUILDBEAT_JOIN_ONLY, BUILDBEAT_FORKS */
	const char *tool;	/* "bitbake", ... */
	const char *version;
	const char *command;	/* its command line */
	const char *dir;	/* the recording; NULL: that of the environment, otherwise a new
				   one below ./buildstats */
	int64_t interval_ms;	/* between samples, if this session samples; 0: 1000, negative:
				   no samples */
	const char *instance;	/* the instance() of a session in another process, of which this
				   one is a part, in dir; NULL: an instance of its own */
	const char *access;	/* who may read a recording that this session begins: "user",
				   "group" or "all"; NULL: the user */
	const char *redact;	/* additional patterns of secrets, separated by spaces: see
				   buildbeat.yaml(5). Characters other than letters, digits
				   and _-.*! are written %HH. NULL: none */
};

/* Do not begin a recording: join an existing one, or be a no-op. */
#define BUILDBEAT_JOIN_ONLY 1u
/* Forked children use the session: tasks run in them. The host numbers their tasks
 * (buildbeat_task.number). */
#define BUILDBEAT_FORKS 2u

struct buildbeat_task {
	uint32_t size;
	int32_t pid;		/* of the process that runs it, 0 if unknown */
	int32_t slot;		/* worker slot from 0, -1 if there are none */
	uint32_t reserved;
	const char *name;	/* what the user calls it: target, recipe task */
	const char *kind;	/* compile, link, ...; NULL: detected from the command */
	const char *key;	/* the host's own key: rule, recipe, multiconfig */
	const char *command;
	const char *const *after;	/* names of the tasks it had to wait for; NULL ones are
					   skipped */
	size_t n_after;
	uint64_t number;	/* the host's own number, below 2^63, on which several processes
				   agree; 0: the next one. Use one way in an instance */
	int64_t born_ns;	/* when the calling process was started for this task alone,
				   CLOCK_MONOTONIC: what it used before the start is recorded as
				   its setup, if the task has BUILDBEAT_RAN_HERE; 0: it was not */
};

struct buildbeat_result {
	uint32_t size;
	int32_t status;		/* wait(2) status, -1 if unknown */
	const struct rusage *usage;	/* of its processes, NULL if unknown */
	int64_t rchar, wchar;	/* bytes by read() and write(), -1 if unknown */
	uint32_t flags;		/* BUILDBEAT_RAN_HERE, BUILDBEAT_AT_MOST */
	uint32_t reserved;
};

/* The task ran in the calling process, whose pid its start had, and in its children: what they
 * used since then is recorded instead of usage. */
#define BUILDBEAT_RAN_HERE 1u
/* The end of the task was not seen: it is now or earlier. */
#define BUILDBEAT_AT_MOST 2u

/* What the processes of a server used during a build. */
struct buildbeat_used {
	uint32_t size;
	uint32_t reserved;
	int64_t user_us, system_us;
	int64_t in_blocks, out_blocks;	/* of 512 bytes, -1 if unknown */
};

/*
 * Tallies: what hosts count that run many short pieces of work in threads. A run is one piece. It
 * comes from a location, is born in the thread that queues it (or starts it, if it never waited),
 * and dies in the thread that finishes it. There is one tally for each location, thread of birth
 * and thread of death. Tallies belong to the process, and at most one session has them at a time.
 */
enum {
	BUILDBEAT_TALLY_UNINITIALISED = 0,	/* nothing was ever tallied */
	BUILDBEAT_TALLY_DEACTIVATED = 1,	/* calls cost one or two nanoseconds */
	BUILDBEAT_TALLY_ACTIVE = 2
};

/* What a run is measured by. Queue times are wall time, whatever this is. */
enum {
	BUILDBEAT_CLOCK_DEFAULT = 0,	/* wall time; as the amount: nothing */
	BUILDBEAT_CLOCK_WALL = 1,	/* CLOCK_MONOTONIC, ns */
	BUILDBEAT_CLOCK_CPU = 2,	/* of the thread, ns; a system call each */
	BUILDBEAT_CLOCK_TSC = 3,	/* ns from the processor's counter; wall time if that is
					   not invariant */
	BUILDBEAT_CLOCK_FAULTS = 4,	/* page faults of the thread */
	BUILDBEAT_CLOCK_HOST = 5	/* what now() returns */
};

struct buildbeat_tallies {
	uint32_t size;
	int32_t status;		/* BUILDBEAT_TALLY_DEACTIVATED or _ACTIVE */
	/* The rest is read by the first call of a session. */
	int32_t clock;		/* of run times */
	int32_t amount;		/* a second clock, whose total and maximum are tallied too */
	uint64_t (*now)(void *data);	/* for BUILDBEAT_CLOCK_HOST: any quantity of the
					   calling thread that grows, such as bytes allocated */
	void *data;
	const char *unit;	/* of now(); NULL: "ns" */
};

/* A location. Either of file and line and function, or what a build has: makefile and line and
 * target, build.ninja and rule, recipe and "recipe:task". */
struct buildbeat_place {
	uint32_t size;
	int32_t line;		/* 0: unknown */
	const char *function;
	const char *file;
	uint32_t number;	/* for buildbeat_location(): 0 */
	uint32_t reserved;
};

/* A run, in memory of the host that it keeps from the first call to tally_finished(). Only the
 * plugin reads and writes it. It may be uninitialised before. */
struct buildbeat_run {
	uint64_t reserved[8];
};

#define BUILDBEAT_TALLY_BUCKETS 40

/* A row of tally_snapshot(). Times are in ns, or in the clock's unit. */
struct buildbeat_tally {
	uint32_t size;
	int32_t line;
	const char *function, *file;
	const char *birth_thread;
	const char *death_thread;	/* "Still_Alive": of the runs that were born there and have
					   not died; "*": of all threads, only amount and
					   histograms */
	uint64_t count;		/* of deaths, or of the living */
	uint64_t run_total, run_self;	/* self: without the runs nested in it */
	uint64_t run_max, run_sample;	/* sample: of one random run. Both are exact below 2^27,
					   and to 27 bits above */
	uint64_t queue_total, queue_max, queue_sample;
	uint64_t amount_total, amount_max;
	/* BUILDBEAT_TALLY_BUCKETS counts each, or NULL. Bucket 0 is below 2^s, bucket i from
	 * 2^(s+i-1) and the last one has no end; s is 4 for times and 0 for other clocks. */
	const uint32_t *run_histogram, *queue_histogram;
};

/* A span: a named part of a task, or of the host. */
struct buildbeat_span {
	uint32_t size;
	int32_t line;		/* where it begins; recorded if places are, see below */
	const char *file, *function;
	const char *name;	/* NULL: function */
	uint64_t task;		/* its number, 0: the host itself */
	uint64_t parent;	/* a span of this task that another thread began; 0: the innermost
				   one of this task that this thread began, if any */
};

/* What span_stack() shows of each task and span: the first six digits of its id, its name with
 * the number of its copy, or both: (id "name"). */
#define BUILDBEAT_STACK_IDS 0
#define BUILDBEAT_STACK_NAMES 1
#define BUILDBEAT_STACK_COMBINED 2

/* A span has begun or ended, see span_watch(). */
struct buildbeat_span_event {
	uint32_t size;
	uint32_t reserved;
	uint64_t task, span;	/* their numbers */
	const char *name;	/* of at most 47 bytes */
	const char *stack;	/* BUILDBEAT_STACK_COMBINED, with this span as the last one */
	int64_t begin_ns;	/* CLOCK_MONOTONIC; -1: unknown */
	int64_t end_ns;		/* -1: it has begun */
};

struct buildbeat_api {
	uint32_t size;
	uint32_t major;

	/* NULL if there is no recording to write to. */
	struct buildbeat_session *(*open)(const struct buildbeat_host *host);

	/* The build itself begins (targets is free text). */
	void (*build_started)(struct buildbeat_session *s, const char *targets);

	/* A task waits for a slot. Returns its number; 0 only on error. */
	uint64_t (*task_queued)(struct buildbeat_session *s, const struct buildbeat_task *task);

	/* A task starts now; number is 0 if it was not queued. Returns its number. */
	uint64_t (*task_started)(struct buildbeat_session *s, uint64_t number,
				 const struct buildbeat_task *task);

	/* Its process, if that is known only after the start. */
	void (*task_pid)(struct buildbeat_session *s, uint64_t number, int32_t pid);

	void (*task_finished)(struct buildbeat_session *s, uint64_t number,
			      const struct buildbeat_result *result);

	/* A span of a task (number) or of the host itself (0). Returns its number. Spans that a
	 * thread begins in a task nest. A span may be ended by any thread, at any time, and more
	 * than once: what is wrong is repaired and counted when the recording is read. */
	uint64_t (*span_begin)(struct buildbeat_session *s, uint64_t number, const char *name);
	void (*span_end)(struct buildbeat_session *s, uint64_t number, uint64_t span);

	/* A remark about a task (number) or the build (0). */
	void (*note)(struct buildbeat_session *s, uint64_t number, const char *text);

	/* Call this about once a second: it takes a sample if one is due and neither the
	 * launcher nor the plugin's own thread takes them. */
	void (*heartbeat)(struct buildbeat_session *s);

	/* Take a sample now. */
	void (*snapshot)(struct buildbeat_session *s);

	/* The build has ended with this wait(2) status, or -1. */
	void (*build_completed)(struct buildbeat_session *s, int32_t status);

	void (*close)(struct buildbeat_session *s);

	/* The name of the session's instance in the recording, for buildbeat_host.instance in
	 * another process. Valid until close(). */
	const char *(*instance)(const struct buildbeat_session *s);

	/* The path of a makefile. If a host puts it in front of the value of MAKEFILES in the
	 * environment of its children, the makes below are recorded, too. NULL if the session
	 * joined a recording. Valid until build_completed(). */
	const char *(*ticket)(const struct buildbeat_session *s);

	/* Tallies. The functions without a session apply to the session that has the tallies, and
	 * do nothing if there is none. They are not async-signal-safe. */

	/* Switch the tallies on or off. Returns the status since then; NULL: only return it. If
	 * another session has the tallies, the result is BUILDBEAT_TALLY_UNINITIALISED. */
	int32_t (*tally_set)(struct buildbeat_session *s, const struct buildbeat_tallies *given);

	/* The number of a location, the same for the same texts and line; 0: there are no
	 * tallies. Locations without room have one number for all of them. It is valid as long
	 * as the process and its forked children. */
	uint32_t (*tally_location)(const struct buildbeat_place *place);

	/* The name of the calling thread. Without it, threads are WorkerThread-1 and so on; a
	 * number is reused when its thread has ended. */
	void (*tally_thread)(const char *name);

	/* A run is born and waits. It is not meant to start in the next delay_ns, which do not
	 * count as queue time. */
	void (*tally_queued)(struct buildbeat_run *run, uint32_t location, int64_t delay_ns);

	/* A run starts: one that was queued (location 0), or a new one. */
	void (*tally_started)(struct buildbeat_run *run, uint32_t location);

	/* A run ends. If it never started, it only ceases to live. */
	void (*tally_finished)(struct buildbeat_run *run);

	/* A phase of the build begins: parse, configure, compile, package. */
	void (*tally_phase)(struct buildbeat_session *s, const char *name);

	/* Call row() for every tally. Other threads may tally meanwhile: a row can lack the last
	 * run, or part of it. The row and its texts are valid during the call. */
	void (*tally_snapshot)(struct buildbeat_session *s,
			       void (*row)(const struct buildbeat_tally *row, void *data), void *data);

	/* Write the tallies to a file descriptor as JSON, with the keys of Chromium's
	 * about:profiler. Returns 0 or a negative errno. */
	int32_t (*tally_dump)(struct buildbeat_session *s, int32_t fd);

	/* Everything but the living starts at 0 again. */
	void (*tally_reset)(struct buildbeat_session *s);

	/* Spans. */

	/* The same as span_begin(), with more. Returns the number for span_end(), 0 only on
	 * error. */
	uint64_t (*span_open)(struct buildbeat_session *s, const struct buildbeat_span *span);

	/* Write the innermost span of this thread, what is around it and their task as
	 * "task$span.span" and a NUL, truncated to size bytes. kind is a BUILDBEAT_STACK_ value.
	 * Returns the length without the NUL of the whole text, 0 if the thread is in no span. */
	size_t (*span_stack)(struct buildbeat_session *s, int32_t kind, char *out, size_t size);

	/* Call event() in the thread that begins or ends a span, after that was recorded. It may
	 * call any function. NULL: no longer. Calls in progress are completed. */
	void (*span_watch)(struct buildbeat_session *s,
			   void (*event)(const struct buildbeat_span_event *event, void *data),
			   void *data);

	/* Record where each span is begun: file and line and function, or the address of the
	 * caller. Initially they are recorded if the environment has BUILDBEAT_PLACES=1. Returns
	 * 1 if they were, otherwise 0. */
	int32_t (*span_places)(struct buildbeat_session *s, int32_t on);

	/* Write the W3C traceparent for what this thread starts in the task (0: the host): the
	 * innermost span or the task itself. It has 55 characters and a NUL. Returns 55, or 0
	 * and "" if size is too small or the session cannot be used. */
	size_t (*traceparent)(struct buildbeat_session *s, uint64_t task, char *out, size_t size);

	/* What the host and its children used for this build, if the host is a server: no
	 * process that records the build has started it, and its tasks. The last call counts. */
	void (*used)(struct buildbeat_session *s, const struct buildbeat_used *used);
};

/* Does the table have this function? A plugin older than this header has a shorter table, which
 * ends before the functions that were added later: those after close(). api may be NULL. */
#define BUILDBEAT_HAS(api, function) \
	((api) && (api)->size >= offsetof(struct buildbeat_api, function) + sizeof (api)->function)

#if defined(__GNUC__)
/* The number of a place that stays where it is, interned once. */
static __inline__ uint32_t buildbeat_location(const struct buildbeat_api *api,
					  struct buildbeat_place *place)
{
	uint32_t number = __atomic_load_n(&place->number, __ATOMIC_RELAXED);

	if (!number && BUILDBEAT_HAS(api, tally_location)) {
		number = api->tally_location(place);
		__atomic_store_n(&place->number, number, __ATOMIC_RELAXED);
	}
	return number;
}

/* A span that ends with the block in which it is declared, also by return or break:
 *
 *	BUILDBEAT_SPAN(api, session, task, "unpack");
 *
 * api may be NULL. A name of NULL means the function. */
struct buildbeat_scope {
	const struct buildbeat_api *api;
	struct buildbeat_session *session;
	uint64_t task, span;
	int own_task;		/* the task, too, ends with the block */
};

static __inline__ struct buildbeat_scope
buildbeat_scope_begin(const struct buildbeat_api *api, struct buildbeat_session *session,
		      const char *task_name, uint64_t task_number, const char *name,
		      const char *file, int32_t line, const char *function)
{
	struct buildbeat_task task = { sizeof task, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	struct buildbeat_span span = { sizeof span, 0, 0, 0, 0, 0, 0 };
	struct buildbeat_scope scope = { 0, 0, 0, 0, 0 };

	scope.api = api;
	scope.session = session;
	scope.task = task_number;
	if (api && task_name) {
		task.name = task_name;
		scope.task = api->task_started(session, 0, &task);
		scope.own_task = 1;
	}
	if (!api || (!scope.task && task_name))
		return scope;
	span.line = line;
	span.file = file;
	span.function = function;
	span.name = name;
	span.task = scope.task;
	scope.span = BUILDBEAT_HAS(api, span_open) ? api->span_open(session, &span) :
		     api->span_begin(session, scope.task, name ? name : function);
	return scope;
}

static __inline__ void buildbeat_scope_end(struct buildbeat_scope *scope)
{
	struct buildbeat_result result = { sizeof result, 0, 0, -1, -1, 0, 0 };

	if (!scope->api)
		return;
	scope->api->span_end(scope->session, scope->task, scope->span);
	if (scope->own_task)
		scope->api->task_finished(scope->session, scope->task, &result);
}

#define BUILDBEAT_JOIN_(a, b) a##b
#define BUILDBEAT_SCOPE_(counter) BUILDBEAT_JOIN_(buildbeat_scope_, counter)
#define BUILDBEAT_BEGIN_(api, session, task_name, task, name) \
	__attribute__((cleanup(buildbeat_scope_end), unused)) \
	struct buildbeat_scope BUILDBEAT_SCOPE_(__COUNTER__) = \
		buildbeat_scope_begin(api, session, task_name, task, name, __FILE__, __LINE__, \
				      __extension__ __func__)

#define BUILDBEAT_SPAN(api, session, task, name) \
	BUILDBEAT_BEGIN_(api, session, 0, task, name)

/* A task with one span in it, both for the block. */
#define BUILDBEAT_TASK_AND_SPAN(api, session, task_name, name) \
	BUILDBEAT_BEGIN_(api, session, task_name, 0, name)

/* Tasks that belong together, such as those of several threads: a span of the host. The thread
 * that opened the group closes it when its tasks have ended. */
struct buildbeat_group {
	const struct buildbeat_api *api;
	struct buildbeat_session *session;
	uint64_t span;
};

static __inline__ struct buildbeat_group buildbeat_group_open(const struct buildbeat_api *api,
							  struct buildbeat_session *session,
							  const char *name)
{
	struct buildbeat_group group = { 0, 0, 0 };

	group.api = api;
	group.session = session;
	if (api)
		group.span = api->span_begin(session, 0, name);
	return group;
}

/* A task of the group begins, in any thread. Returns its number. */
static __inline__ uint64_t buildbeat_group_start(const struct buildbeat_group *group, const char *name)
{
	struct buildbeat_task task = { sizeof task, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

	task.name = name;
	return group->api ? group->api->task_started(group->session, 0, &task) : 0;
}

/* It ends with a wait(2) status. */
static __inline__ void buildbeat_group_finish(const struct buildbeat_group *group, uint64_t task,
					  int32_t status)
{
	struct buildbeat_result result = { sizeof result, -1, 0, -1, -1, 0, 0 };

	result.status = status;
	if (group->api)
		group->api->task_finished(group->session, task, &result);
}

static __inline__ void buildbeat_group_close(const struct buildbeat_group *group)
{
	if (group->api)
		group->api->span_end(group->session, 0, group->span);
}

/* The location of this line. */
#define BUILDBEAT_LOCATION(api) __extension__({ \
	static struct buildbeat_place buildbeat_here = \
		{ sizeof buildbeat_here, __LINE__, __func__, __FILE__, 0, 0 }; \
	buildbeat_location(api, &buildbeat_here); })
#endif

/* The only entry point: the table of a major version, or NULL if it is not supported. */
const struct buildbeat_api *buildbeat_get_api(uint32_t major);

#ifdef __cplusplus
}
#endif

#endif
