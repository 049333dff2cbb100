/* SPDX-License-Identifier: MIT */
/* The C ABI of buildbeat_plugin.h, for hosts in any language: a table of
 * functions on a session. */
#include "plugin/buildbeat_plugin.h"

#include "base/buf.h"
#include "plugin/session.h"
#include "recording/event.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define INTERVAL_MS 1000

/*
 * The host's struct may be older (shorter: what it lacks is as in out) or newer
 * (longer: what we do not know is left alone) than ours. False: there is none.
 */
static bool take(void *out, size_t out_size, const void *in)
{
	uint32_t size;

	if (!in)
		return false;
	memcpy(&size, in, sizeof size);
	if (size < sizeof size)
		return false;
	memcpy(out, in, size < out_size ? size : out_size);
	return true;
}

/* Opening */

/* DIR is BASE/NAME; NAME may not exist. */
static int begin_at(struct buildbeat_session *s, const char *dir, const struct session_host *host)
{
	char base[PATH_MAX];
	const char *slash = strrchr(dir, '/');
	size_t len = slash ? (size_t)(slash - dir) : 1;

	if (len >= sizeof base || !(slash ? slash[1] : dir[0]))
		return -EINVAL;
	memcpy(base, slash ? dir : ".", len);
	base[len] = '\0';
	return session_begin(s, len ? base : "/", slash ? slash + 1 : dir, host, NULL);
}

static int open_somewhere(struct buildbeat_session *s, const struct buildbeat_host *from,
			  const struct session_host *host)
{
	bool may_begin = !(from->flags & BUILDBEAT_JOIN_ONLY) && !from->instance;
	struct stat st;
	int r;

	if (from->dir) {
		if (!stat(from->dir, &st))
			return session_join_dir(s, from->dir, host, NULL);
		return errno == ENOENT && may_begin ? begin_at(s, from->dir, host) : -ENOENT;
	}
	r = session_join(s, host);
	return r && may_begin ? session_begin(s, NULL, NULL, host, NULL) : r;
}

static struct buildbeat_session *open_session(const struct buildbeat_host *given)
{
	struct buildbeat_host from = { 0 };
	struct session_host host;
	struct buildbeat_session *s;
	int saved = errno;

	if (!take(&from, sizeof from, given))
		return NULL;
	host = (struct session_host){
		.tool = from.tool, .version = from.version, .command = from.command,
		.level = -1, .interval_ms = from.interval_ms ? from.interval_ms : INTERVAL_MS,
		.access = session_access(from.access), .redact = from.redact,
		.instance = from.instance, .forks = from.flags & BUILDBEAT_FORKS,
	};
	s = calloc(1, sizeof *s);
	if (s && open_somewhere(s, &from, &host)) {
		free(s);
		s = NULL;
	}
	errno = saved;
	return s;
}

/* Writing. Every function below keeps errno: store_append() does, and nothing
 * else in them fails but through it. */

struct line {
	struct buf buf;
	char text[EVENT_MAX + 1];
	int64_t t;
};

/* False when there is nobody to write for. */
static bool begin_line(struct line *line, const struct buildbeat_session *s)
{
	if (!session_is_live(s))
		return false;
	buf_init_fixed(&line->buf, line->text, sizeof line->text);
	line->t = store_now_us(&s->store);
	return true;
}

static void end_line(struct line *line, struct buildbeat_session *s)
{
	store_append(&s->store, &line->buf);
}

static bool take_task(struct buildbeat_task *out, const struct buildbeat_task *given)
{
	*out = (struct buildbeat_task){ .slot = -1 };
	return take(out, sizeof *out, given);
}

static struct event_task event_task(const struct buildbeat_task *task)
{
	return (struct event_task){
		.pid = task->pid > 0 ? task->pid : -1, .slot = task->slot,
		.kind = task->kind, .name = task->name, .key = task->key,
		.command = task->command,
	};
}

static void write_after(struct line *line, struct buildbeat_session *s, uint64_t number,
			const struct buildbeat_task *task)
{
	for (size_t done = 0; task->after && done < task->n_after;) {
		if (!begin_line(line, s))
			return;
		done += event_add_after(&line->buf, line->t, s->store.inst, number,
					task->after + done, task->n_after - done);
		end_line(line, s);
	}
}

/* What this process and the children it waited for used until now. */
static void own_usage(struct rusage *sum)
{
	struct rusage self = { 0 }, children = { 0 };

	getrusage(RUSAGE_SELF, &self);
	getrusage(RUSAGE_CHILDREN, &children);
	*sum = self;
	timeradd(&self.ru_utime, &children.ru_utime, &sum->ru_utime);
	timeradd(&self.ru_stime, &children.ru_stime, &sum->ru_stime);
	if (children.ru_maxrss > self.ru_maxrss)
		sum->ru_maxrss = children.ru_maxrss;
	sum->ru_minflt += children.ru_minflt;
	sum->ru_majflt += children.ru_majflt;
	sum->ru_inblock += children.ru_inblock;
	sum->ru_oublock += children.ru_oublock;
	sum->ru_nvcsw += children.ru_nvcsw;
	sum->ru_nivcsw += children.ru_nivcsw;
}

/* The same, since the task started in it. */
static void add_own_usage(struct event_end *e, const struct rusage *before)
{
	struct rusage now;

	own_usage(&now);
	timersub(&now.ru_utime, &before->ru_utime, &now.ru_utime);
	timersub(&now.ru_stime, &before->ru_stime, &now.ru_stime);
	now.ru_minflt -= before->ru_minflt;
	now.ru_majflt -= before->ru_majflt;
	now.ru_inblock -= before->ru_inblock;
	now.ru_oublock -= before->ru_oublock;
	now.ru_nvcsw -= before->ru_nvcsw;
	now.ru_nivcsw -= before->ru_nivcsw;
	event_end_rusage(e, &now);
	if (now.ru_maxrss > before->ru_maxrss + PEAK_SLACK_KB)
		return;
	/* no more than it had when the task began */
	e->max_rss_at_most_kb = e->max_rss_kb;
	e->max_rss_kb = -1;
}

/* Of a child that the host waited for. */
static void add_usage(struct buildbeat_session *s, struct event_end *e, const struct rusage *usage)
{
	event_end_rusage(e, usage);
	peak_judge(&s->peak, e);
}

static uint64_t task_queued(struct buildbeat_session *s, const struct buildbeat_task *given)
{
	struct buildbeat_task task;
	struct event_task e;
	struct line line;
	uint64_t number;

	if (!take_task(&task, given) || !begin_line(&line, s))
		return 0;
	number = task.number ? task.number : session_next_task(s);
	e = event_task(&task);
	event_add_queue(&line.buf, line.t, s->store.inst, number, &e);
	end_line(&line, s);
	write_after(&line, s, number, &task);
	return number;
}

static uint64_t task_started(struct buildbeat_session *s, uint64_t number,
			     const struct buildbeat_task *given)
{
	struct buildbeat_task task;
	struct event_task e;
	struct line line;

	if (!take_task(&task, given) || !begin_line(&line, s))
		return 0;
	if (!number)
		number = task.number ? task.number : session_next_task(s);
	if (task.pid == s->store.pid || (s->forks && task.pid == getpid()))
		own_usage(&s->before);
	e = event_task(&task);
	event_add_start(&line.buf, line.t, s->store.inst, number, &e);
	end_line(&line, s);
	write_after(&line, s, number, &task);
	return number;
}

static void task_pid(struct buildbeat_session *s, uint64_t number, int32_t pid)
{
	struct line line;

	if (!number || !begin_line(&line, s))
		return;
	event_add_pid(&line.buf, line.t, s->store.inst, number, pid);
	end_line(&line, s);
}

static void task_finished(struct buildbeat_session *s, uint64_t number,
			  const struct buildbeat_result *given)
{
	struct buildbeat_result result = { .status = -1, .rchar = -1, .wchar = -1 };
	struct event_end e;
	struct line line;

	if (!number || !take(&result, sizeof result, given) || !begin_line(&line, s))
		return;
	event_end_init(&e, result.status);
	if (result.flags & BUILDBEAT_RAN_HERE)
		add_own_usage(&e, &s->before);
	else if (result.usage)
		add_usage(s, &e, result.usage);
	e.rchar = result.rchar;
	e.wchar = result.wchar;
	event_add_end(&line.buf, line.t, s->store.inst, number, &e);
	end_line(&line, s);
}

static uint64_t span_begin(struct buildbeat_session *s, uint64_t number, const char *name)
{
	struct line line;
	uint64_t span;

	if (!begin_line(&line, s))
		return 0;
	span = ++s->last_span;
	event_add_span_begin(&line.buf, line.t, s->store.inst, number, span, name);
	end_line(&line, s);
	return span;
}

static void span_end(struct buildbeat_session *s, uint64_t number, uint64_t span)
{
	struct line line;

	if (!span || !begin_line(&line, s))
		return;
	event_add_span_end(&line.buf, line.t, s->store.inst, number, span);
	end_line(&line, s);
}

static void note(struct buildbeat_session *s, uint64_t number, const char *text)
{
	struct line line;

	if (!text || !begin_line(&line, s))
		return;
	event_add_note(&line.buf, line.t, s->store.inst, number, text);
	end_line(&line, s);
}

/* The build as a whole */

static void build_started(struct buildbeat_session *s, const char *targets)
{
	char text[EVENT_MAX];
	int saved = errno;
	struct buf b;

	if (!session_is_live(s))
		return;
	s->build_span = span_begin(s, 0, "build");
	if (s->owner && targets) {
		buf_init_fixed(&b, text, sizeof text);
		store_add_build(&b, "targets", targets);
		store_append_build(&s->store, &b);
		beat_now(&s->beat);
	}
	errno = saved;
}

static void build_completed(struct buildbeat_session *s, int32_t status)
{
	int saved = errno;

	if (!session_is_live(s))
		return;
	span_end(s, 0, s->build_span);
	session_end_build(s, status);
	errno = saved;
}

static void heartbeat(struct buildbeat_session *s)
{
	int saved = errno;

	if (session_is_live(s))
		beat_due(&s->beat);
	errno = saved;
}

static void snapshot(struct buildbeat_session *s)
{
	int saved = errno;

	if (session_is_live(s))
		beat_now(&s->beat);
	errno = saved;
}

/* In a forked child the session stays the parent's. */
static void close_session(struct buildbeat_session *s)
{
	int saved = errno;

	if (!s || getpid() != s->store.pid)
		return;
	session_close(s, -1);
	free(s);
	errno = saved;
}

static const char *instance(const struct buildbeat_session *s)
{
	return session_is_live(s) ? s->store.inst : NULL;
}

static const char *ticket(const struct buildbeat_session *s)
{
	return session_is_live(s) && s->owner ? s->ticket.path : NULL;
}

const struct buildbeat_api *buildbeat_get_api(uint32_t major)
{
	static const struct buildbeat_api api = {
		.size = sizeof api, .major = BUILDBEAT_API_MAJOR,
		.open = open_session, .build_started = build_started,
		.task_queued = task_queued, .task_started = task_started,
		.task_pid = task_pid, .task_finished = task_finished,
		.span_begin = span_begin, .span_end = span_end, .note = note,
		.heartbeat = heartbeat, .snapshot = snapshot,
		.build_completed = build_completed, .close = close_session,
		.instance = instance, .ticket = ticket,
	};

	return major == BUILDBEAT_API_MAJOR ? &api : NULL;
}
