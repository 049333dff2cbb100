/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_H
#define BUILDBEAT_PLUGIN_H

/*
 * The buildbeat plugin ABI: how any build tool tells buildbeat what it does.
 * The whole of it is buildbeat-plugin(3).
 *
 *	void *so = dlopen("/usr/lib/buildbeat/buildbeat.so", RTLD_NOW | RTLD_LOCAL);
 *	const struct buildbeat_api *(*get)(uint32_t) = dlsym(so, "buildbeat_get_api");
 *	const struct buildbeat_api *api = get ? get(BUILDBEAT_API_MAJOR) : NULL;
 *	if (!api)
 *		... no statistics, the build goes on ...
 *
 * Rules that never change within a major version:
 *   - every struct starts with its size in bytes, set by whoever fills it, and
 *     only grows at its end: a field beyond the size does not exist;
 *   - texts are borrowed for the call, may be NULL, and may hold any bytes;
 *   - no call fails the host: a NULL session, a 0 task or a NULL struct is a
 *     no-op. errno is kept. Nothing is printed, no signal disposition, working
 *     directory, locale or environment variable is changed;
 *   - any thread may call any function at any time; what others are doing when a session
 *     is closed is completed;
 *   - a session belongs to the process that opened it: in a forked child the
 *     calls do nothing until the child opens a session of its own, unless the
 *     host said BUILDBEAT_FORKS.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BUILDBEAT_API_MAJOR 1

struct buildbeat_session;	/* opaque */
struct rusage;

/* What the host is. */
struct buildbeat_host {
	uint32_t size;
	uint32_t flags;		/* BUILDBEAT_JOIN_ONLY, BUILDBEAT_FORKS */
	const char *tool;	/* "bitbake", ... */
	const char *version;
	const char *command;	/* how it was called */
	const char *dir;	/* the recording; NULL: the one the environment names, else
				   a new one below ./buildstats */
	int64_t interval_ms;	/* between samples where this session samples; 0: 1000,
				   negative: it never samples */
	const char *instance;	/* a part of the host in another process: the instance() of
				   the session it speaks for, in dir; NULL: for itself */
	const char *access;	/* who may read a recording that this session begins: "user",
				   "group" or "all"; NULL: the user */
	const char *redact;	/* additional patterns of secrets, separated by spaces: see
				   buildbeat.yaml(5). Characters other than letters, digits
				   and _-.*! are written %HH. NULL: none */
};

/* Do not begin a recording: join the one there is, or be a no-op. */
#define BUILDBEAT_JOIN_ONLY 1u
/* Forked children go on with the session: tasks run in them. They give their tasks
 * numbers of the host's own (buildbeat_task.number). */
#define BUILDBEAT_FORKS 2u

struct buildbeat_task {
	uint32_t size;
	int32_t pid;		/* of the process that runs it, 0 when not known */
	int32_t slot;		/* worker slot from 0, -1 where there are none */
	uint32_t reserved;
	const char *name;	/* what the user calls it: target, recipe task */
	const char *kind;	/* compile, link, ...; NULL: told from the command */
	const char *key;	/* the host's own key: rule, recipe, multiconfig */
	const char *command;
	const char *const *after;	/* names of the tasks it had to wait for; NULL ones are
					   skipped */
	size_t n_after;
	uint64_t number;	/* the host's own, below 2^63, where several processes have to
				   agree on it without a word; 0: the next. Not both in one
				   instance */
};

struct buildbeat_result {
	uint32_t size;
	int32_t status;		/* wait(2) status, -1 when not known */
	const struct rusage *usage;	/* of its processes, NULL when not known */
	int64_t rchar, wchar;	/* bytes through read() and write(), -1 when not known */
	uint32_t flags;		/* BUILDBEAT_RAN_HERE */
	uint32_t reserved;
};

/* The task ran in the calling process, as the pid of its start said, and in its
 * children: what those used since is taken, instead of usage. */
#define BUILDBEAT_RAN_HERE 1u

struct buildbeat_api {
	uint32_t size;
	uint32_t major;

	/* NULL when there is nothing to record into. */
	struct buildbeat_session *(*open)(const struct buildbeat_host *host);

	/* The build proper begins (targets is free text). */
	void (*build_started)(struct buildbeat_session *s, const char *targets);

	/* A task that waits for a slot. Returns its number, never 0 but on error. */
	uint64_t (*task_queued)(struct buildbeat_session *s, const struct buildbeat_task *task);

	/* A task starts now: queued before, or number 0 for one that was not.
	 * Returns its number. */
	uint64_t (*task_started)(struct buildbeat_session *s, uint64_t number,
				 const struct buildbeat_task *task);

	/* Its process, where that is known only after the start. */
	void (*task_pid)(struct buildbeat_session *s, uint64_t number, int32_t pid);

	void (*task_finished)(struct buildbeat_session *s, uint64_t number,
			      const struct buildbeat_result *result);

	/* A phase of a task (number) or of the host itself (0). Returns the span. */
	uint64_t (*span_begin)(struct buildbeat_session *s, uint64_t number, const char *name);
	void (*span_end)(struct buildbeat_session *s, uint64_t number, uint64_t span);

	/* A remark kept with a task (number) or with the build (0). */
	void (*note)(struct buildbeat_session *s, uint64_t number, const char *text);

	/* Call about once a second: takes a sample when one is due and nobody else
	 * (the launcher, the plugin's own thread) does. */
	void (*heartbeat)(struct buildbeat_session *s);

	/* Take a sample now, whatever the time. */
	void (*snapshot)(struct buildbeat_session *s);

	/* The build is over, with this wait(2) status or -1. */
	void (*build_completed)(struct buildbeat_session *s, int32_t status);

	void (*close)(struct buildbeat_session *s);

	/* The name of the session's part in the recording, for buildbeat_host.instance
	 * of another process. Until close(). */
	const char *(*instance)(const struct buildbeat_session *s);

	/* The path of a makefile. A host that puts it in front of the value of MAKEFILES in
	 * the environment of its children has the makes below it recorded, too. NULL for a
	 * session that joined. Valid until build_completed(). */
	const char *(*ticket)(const struct buildbeat_session *s);
};

/* The one entry: the table of a major version, NULL when it is not supported. */
const struct buildbeat_api *buildbeat_get_api(uint32_t major);

#ifdef __cplusplus
}
#endif

#endif
