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
};

struct buildbeat_result {
	uint32_t size;
	int32_t status;		/* wait(2) status, -1 if unknown */
	const struct rusage *usage;	/* of its processes, NULL if unknown */
	int64_t rchar, wchar;	/* bytes by read() and write(), -1 if unknown */
	uint32_t flags;		/* BUILDBEAT_RAN_HERE */
	uint32_t reserved;
};

/* The task ran in the calling process, whose pid its start had, and in its children: what they
 * used since then is recorded instead of usage. */
#define BUILDBEAT_RAN_HERE 1u

/*
 * Tallies: what hosts count that run many short pieces of work in threads. A run is one piece. It
 * comes from a location, is born in the thread that queues it (or starts it, if it never waited),
 * and dies in the thread that finishes it. There is one tally for each location, thread of birth
 * and thread of death. Tallies belong to the process, and at most one session has them at a time.
 */
enum {
	BUILDBEAT_TALLY_UNINITIALISED = 0,	/* nothing was ever tallied */
	BUILDBEAT_TALLY_DEACTIVATED = 1,	/* calls cost one or two nanoseconds */
	BUILDBEAT_TALLY_ACTIVE = 2,
};

/* What a run is measured by. Queue times are wall time, whatever this is. */
enum {
	BUILDBEAT_CLOCK_DEFAULT = 0,	/* wall time; as the amount: nothing */
	BUILDBEAT_CLOCK_WALL = 1,	/* CLOCK_MONOTONIC, ns */
	BUILDBEAT_CLOCK_CPU = 2,	/* of the thread, ns; a system call each */
	BUILDBEAT_CLOCK_TSC = 3,	/* ns from the processor's counter; wall time if that is
					   not invariant */
	BUILDBEAT_CLOCK_FAULTS = 4,	/* page faults of the thread */
	BUILDBEAT_CLOCK_HOST = 5,	/* what now() returns */
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

	/* A phase of a task (number) or of the host itself (0). Returns the span. */
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
	 * tallies, or no room. It is valid as long as the process and its forked children. */
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
};

#if defined(__GNUC__)
/* The number of a place that stays where it is, interned once. */
static inline uint32_t buildbeat_location(const struct buildbeat_api *api,
					  struct buildbeat_place *place)
{
	uint32_t number = __atomic_load_n(&place->number, __ATOMIC_RELAXED);

	if (!number && api) {
		number = api->tally_location(place);
		__atomic_store_n(&place->number, number, __ATOMIC_RELAXED);
	}
	return number;
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
