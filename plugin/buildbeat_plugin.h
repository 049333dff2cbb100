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
};

/* The only entry point: the table of a major version, or NULL if it is not supported. */
const struct buildbeat_api *buildbeat_get_api(uint32_t major);

#ifdef __cplusplus
}
#endif

#endif
