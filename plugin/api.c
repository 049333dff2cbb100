/* SPDX-License-Identifier: MIT */
/* The C ABI of buildbeat_plugin.h, for hosts in any language: a table of functions with a
 * session as their first argument. */
#include "plugin/api.h"
#include "plugin/tally_count.h"

#include "base/minmax.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_MS 1000
#define JOIN_TRIES 50		/* a millisecond apart */

static struct api_session *_Atomic closed;

/* cold: seldom called, so optimised for size. Taking all of them at once keeps two threads from
 * taking the same one. */
static __attribute__((cold)) struct api_session *take_memory(void)
{
	struct api_session *o = atomic_exchange(&closed, NULL), *rest = o ? o->next : NULL, *last = rest;

	if (!o)
		return calloc(1, sizeof *o);
	while (last && last->next)
		last = last->next;
	if (last) {
		last->next = atomic_load(&closed);
		while (!atomic_compare_exchange_weak(&closed, &last->next, rest))
			;
	}
	memset(&o->session, 0, sizeof o->session);
	o->build_span = 0;
	o->n_starts = 0;
	o->forgot = false;
	o->watched = false;
	o->identified = 0;
	span_table_clear(&o->spans);
	for (size_t i = 0; i < API_STARTS; i++)
		o->start[i].task = 0;
	return o;
}

static void keep_memory(struct api_session *o)
{
	o->next = atomic_load(&closed);
	while (!atomic_compare_exchange_weak(&closed, &o->next, o))
		;
}

__attribute__((noinline)) void api_leave(struct buildbeat_session *s, const struct api_guest *guest)
{
	struct api_session *o = api_session_of(s);
	int unused;

	if (atomic_fetch_sub(&o->users, 1) == 1 && atomic_exchange(&o->closing, false)) {
		tally_close(s);
		session_close(s, -1);
		keep_memory(o);
	}
	pthread_setcancelstate(guest->cancel_state, &unused);
	errno = guest->saved_errno;
}

__attribute__((noinline)) bool api_enter(struct buildbeat_session *s, struct api_guest *guest)
{
	struct api_session *o = api_session_of(s);

	if (!s)
		return false;
	guest->saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guest->cancel_state);
	atomic_fetch_add(&o->users, 1);
	if (atomic_load(&o->open) && session_is_live(s))
		return true;
	api_leave(s, guest);
	return false;
}

bool api_take(void *out, size_t out_size, const void *in)
{
	uint32_t size;

	if (!in)
		return false;
	memcpy(&size, in, sizeof size);
	if (size < sizeof size)
		return false;
	memcpy(out, in, MIN(size, out_size));
	return true;
}

/* Opening */

/* DIR is BASE/NAME; NAME may not exist. */
static __attribute__((cold)) int begin_at(struct buildbeat_session *s, const char *dir,
					  const struct session_host *host)
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

/* Another process is beginning this recording right now. */
static __attribute__((cold)) int join_begun(struct buildbeat_session *s, const char *dir,
		      const struct session_host *host)
{
	static const struct timespec nap = { 0, 1000000 };
	int r = session_join_dir(s, dir, host, NULL);

	for (int i = 0; i < JOIN_TRIES && (r == -ENOENT || r == -EINVAL); i++) {
		nanosleep(&nap, NULL);
		r = session_join_dir(s, dir, host, NULL);
	}
	return r;
}

static __attribute__((cold)) int open_somewhere(struct buildbeat_session *s,
						const struct buildbeat_host *from,
						const struct session_host *host)
{
	bool may_begin = !(from->flags & BUILDBEAT_JOIN_ONLY) && !from->instance;
	struct stat st;
	int r;

	if (from->dir) {
		if (!stat(from->dir, &st))
			return join_begun(s, from->dir, host);
		r = errno == ENOENT && may_begin ? begin_at(s, from->dir, host) : -ENOENT;
		return r == -EEXIST ? join_begun(s, from->dir, host) : r;
	}
	r = session_join(s, host);
	return r && may_begin ? session_begin(s, NULL, NULL, host, NULL) : r;
}

static __attribute__((cold)) struct buildbeat_session *
open_session(const struct buildbeat_host *given)
{
	struct buildbeat_host from = { 0 };
	struct session_host host;
	const char *places = getenv("BUILDBEAT_PLACES");
	struct api_session *o;
	int saved = errno, cancel_state;

	if (!api_take(&from, sizeof from, given))
		return NULL;
	host = (struct session_host){
		.tool = from.tool, .version = from.version, .command = from.command,
		.level = -1, .interval_ms = from.interval_ms ? from.interval_ms : INTERVAL_MS,
		.access = session_access(from.access), .redact = from.redact,
		.instance = from.instance, .forks = from.flags & BUILDBEAT_FORKS,
	};
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	o = take_memory();
	if (o && open_somewhere(&o->session, &from, &host)) {
		keep_memory(o);
		o = NULL;
	}
	if (o) {
		o->places = places && !strcmp(places, "1");
		atomic_fetch_add(&o->users, 1);
		atomic_store(&o->open, true);
	}
	pthread_setcancelstate(cancel_state, &cancel_state);
	errno = saved;
	return o ? &o->session : NULL;
}

/* Writing */

static void next_line(struct api_line *line, const struct buildbeat_session *s)
{
	buf_init_fixed(&line->buf, line->text, sizeof line->text);
	line->t = store_now_us(&s->store);
}

__attribute__((noinline)) bool api_begin_line(struct api_line *line, struct buildbeat_session *s)
{
	if (!api_enter(s, &line->guest))
		return false;
	next_line(line, s);
	return true;
}

static __attribute__((noinline)) void end_line(struct api_line *line, struct buildbeat_session *s)
{
	store_append(&s->store, &line->buf);
	api_leave(s, &line->guest);
}

static bool take_task(struct buildbeat_task *out, const struct buildbeat_task *given)
{
	*out = (struct buildbeat_task){ .slot = -1 };
	return api_take(out, sizeof *out, given);
}

static struct event_task event_task(const struct buildbeat_session *s,
				    const struct buildbeat_task *task)
{
	return (struct event_task){
		.pid = task->pid > 0 ? task->pid : -1, .inner = s->store.inner, .slot = task->slot,
		.kind = task->kind, .name = task->name, .key = task->key,
		.command = task->command,
	};
}

/* The number of names up to the next NULL. */
static size_t names_in_a_row(const char *const *name, size_t n)
{
	size_t i = 0;

	while (i < n && name[i])
		i++;
	return i;
}

static __attribute__((noinline)) void write_after(struct api_line *line, struct buildbeat_session *s,
						  uint64_t number,
			const struct buildbeat_task *task)
{
	for (size_t done = 0; task->after && done < task->n_after;) {
		const char *const *name = task->after + done;
		size_t n = names_in_a_row(name, task->n_after - done);

		if (!n) {
			done++;
			continue;
		}
		next_line(line, s);
		done += event_add_after(&line->buf, line->t, s->store.inst, number, name, n);
		store_append(&s->store, &line->buf);
	}
}

/* The resources used by this process and the children that it waited for. */
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

/* The same, since the task started. */
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
	/* not above the peak when the task began */
	e->max_rss_at_most_kb = e->max_rss_kb;
	e->max_rss_kb = -1;
}

static int64_t since_us(int64_t born_ns)
{
	struct timespec now;

	if (born_ns <= 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec * INT64_C(1000000000) + now.tv_nsec - born_ns) / 1000;
}

/* What the process used before the task is in no other field. */
static void add_setup(struct event_end *e, const struct rusage *before, int64_t setup_us)
{
	struct event_end setup;

	event_end_init(&setup, -1);
	event_end_rusage(&setup, before);
	e->setup_us = setup_us;
	e->setup_user_us = setup.user_us;
	e->setup_system_us = setup.system_us;
}

/* No lock: a thread might hold it while another one forks. */
static void remember_start(struct api_session *o, uint64_t number, int64_t born_ns)
{
	for (int i = 0; i < API_STARTS; i++) {
		struct api_start *start = &o->start[atomic_fetch_add(&o->n_starts, 1) % API_STARTS];
		uint64_t was = atomic_exchange(&start->task, UINT64_MAX);

		if (was == UINT64_MAX)
			continue;
		if (was && was != number)
			o->forgot = true;
		own_usage(&start->usage);
		start->setup_us = since_us(born_ns);
		atomic_store(&start->task, number);
		return;
	}
	o->forgot = true;
}

/* False: its start was recorded and has been overwritten. */
static bool take_start(struct api_session *o, uint64_t number, struct rusage *before,
		       int64_t *setup_us)
{
	for (int i = 0; i < API_STARTS; i++) {
		uint64_t was = number;

		if (!atomic_compare_exchange_strong(&o->start[i].task, &was, UINT64_MAX))
			continue;
		*before = o->start[i].usage;
		*setup_us = o->start[i].setup_us;
		atomic_store(&o->start[i].task, 0);
		return true;
	}
	*before = (struct rusage){ 0 };
	*setup_us = 0;
	return !o->forgot;
}

static uint64_t task_queued(struct buildbeat_session *s, const struct buildbeat_task *given)
{
	struct buildbeat_task task;
	struct event_task e;
	struct api_line line;
	uint64_t number;

	if (!take_task(&task, given) || !api_begin_line(&line, s))
		return 0;
	number = task.number ? task.number : session_next_task(s);
	e = event_task(s, &task);
	event_add_queue(&line.buf, line.t, s->store.inst, number, &e);
	store_append(&s->store, &line.buf);
	write_after(&line, s, number, &task);
	api_leave(s, &line.guest);
	return number;
}

static uint64_t task_started(struct buildbeat_session *s, uint64_t number,
			     const struct buildbeat_task *given)
{
	struct buildbeat_task task;
	struct event_task e;
	struct api_line line;

	if (!take_task(&task, given) || !api_begin_line(&line, s))
		return 0;
	if (!number)
		number = task.number ? task.number : session_next_task(s);
	if (task.pid == s->store.pid || (s->forks && task.pid == getpid()))
		remember_start(api_session_of(s), number, task.born_ns);
	e = event_task(s, &task);
	event_add_start(&line.buf, line.t, s->store.inst, number, &e);
	store_append(&s->store, &line.buf);
	span_table_add_task(&api_session_of(s)->spans, api_pid(s), number, task.name ? task.name : "");
	write_after(&line, s, number, &task);
	api_leave(s, &line.guest);
	return number;
}

static void task_pid(struct buildbeat_session *s, uint64_t number, int32_t pid)
{
	struct api_line line;

	if (!number || !api_begin_line(&line, s))
		return;
	event_add_pid(&line.buf, line.t, s->store.inst, number,
		      &(struct event_task){ .pid = pid, .inner = s->store.inner });
	end_line(&line, s);
}

static void task_finished(struct buildbeat_session *s, uint64_t number,
			  const struct buildbeat_result *given)
{
	struct buildbeat_result result = { .status = -1, .rchar = -1, .wchar = -1 };
	struct rusage before;
	int64_t setup_us;
	struct event_end e;
	struct api_line line;

	if (!number || !api_take(&result, sizeof result, given) || !api_begin_line(&line, s))
		return;
	event_end_init(&e, result.status);
	if (result.flags & BUILDBEAT_RAN_HERE) {
		if (take_start(api_session_of(s), number, &before, &setup_us))
			add_own_usage(&e, &before);
		if (setup_us > 0)
			add_setup(&e, &before, setup_us);
	} else if (result.usage) {
		event_end_rusage(&e, result.usage);
		peak_judge(&s->peak, &e);
	}
	e.rchar = result.rchar;
	e.wchar = result.wchar;
	e.at_most = result.flags & BUILDBEAT_AT_MOST;
	event_add_end(&line.buf, line.t, s->store.inst, number, &e);
	store_append(&s->store, &line.buf);
	span_table_remove_task(&api_session_of(s)->spans, api_pid(s), number);
	api_leave(s, &line.guest);
}

static void note(struct buildbeat_session *s, uint64_t number, const char *text)
{
	struct api_line line;

	if (!text || !api_begin_line(&line, s))
		return;
	event_add_note(&line.buf, line.t, s->store.inst, number, text);
	end_line(&line, s);
}

/* The build as a whole */

static void build_started(struct buildbeat_session *s, const char *targets)
{
	char text[EVENT_MAX];
	struct api_guest guest;
	struct buf b;

	if (!api_enter(s, &guest))
		return;
	api_session_of(s)->build_span = api_spans_begin(s, 0, "build");
	if (s->owner && targets) {
		buf_init_fixed(&b, text, sizeof text);
		store_add_build(&b, "targets", targets);
		store_append_build(&s->store, &b);
		beat_now(&s->beat);
	}
	api_leave(s, &guest);
}

static void build_completed(struct buildbeat_session *s, int32_t status)
{
	struct api_guest guest;

	if (!api_enter(s, &guest))
		return;
	api_spans_end(s, 0, atomic_exchange(&api_session_of(s)->build_span, 0));
	session_end_build(s, status);
	api_leave(s, &guest);
}

static void used(struct buildbeat_session *s, const struct buildbeat_used *given)
{
	struct buildbeat_used used = { .in_blocks = -1, .out_blocks = -1 };
	struct event_end e;
	struct api_line line;

	if (!api_take(&used, sizeof used, given) || !api_begin_line(&line, s))
		return;
	event_end_init(&e, -1);
	e.user_us = used.user_us;
	e.system_us = used.system_us;
	e.in_blocks = used.in_blocks;
	e.out_blocks = used.out_blocks;
	event_add_used(&line.buf, line.t, s->store.inst, &e);
	end_line(&line, s);
}

static void heartbeat(struct buildbeat_session *s)
{
	struct api_guest guest;

	if (!api_enter(s, &guest))
		return;
	beat_due(&s->beat);
	tally_due(s);
	api_leave(s, &guest);
}

static void snapshot(struct buildbeat_session *s)
{
	struct api_guest guest;

	if (!api_enter(s, &guest))
		return;
	beat_now(&s->beat);
	api_leave(s, &guest);
}

/* In a forked child the session remains the parent's. A session that could no longer be written
 * is closed as well. */
static __attribute__((cold)) void close_session(struct buildbeat_session *s)
{
	struct api_session *o = api_session_of(s);
	struct api_guest guest;

	if (!s)
		return;
	guest.saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guest.cancel_state);
	atomic_fetch_add(&o->users, 1);
	if (atomic_load(&o->open) && getpid() == s->store.pid && atomic_exchange(&o->open, false)) {
		session_end_build(s, -1);
		o->closing = true;
		atomic_fetch_sub(&o->users, 1);	/* open_session()'s */
	}
	api_leave(s, &guest);
}

static const char *instance(const struct buildbeat_session *given)
{
	struct buildbeat_session *s = (struct buildbeat_session *)(uintptr_t)given;
	struct api_guest guest;

	if (!api_enter(s, &guest))
		return NULL;
	api_leave(s, &guest);
	return s->store.inst;
}

static const char *ticket(const struct buildbeat_session *given)
{
	struct buildbeat_session *s = (struct buildbeat_session *)(uintptr_t)given;
	struct api_guest guest;
	bool owner;

	if (!api_enter(s, &guest))
		return NULL;
	owner = s->owner;
	api_leave(s, &guest);
	return owner ? s->ticket.path : NULL;
}

const struct buildbeat_api *buildbeat_get_api(uint32_t major)
{
	static const struct buildbeat_api api = {
		.size = sizeof api, .major = BUILDBEAT_API_MAJOR,
		.open = open_session, .build_started = build_started,
		.task_queued = task_queued, .task_started = task_started,
		.task_pid = task_pid, .task_finished = task_finished,
		.span_begin = api_spans_begin, .span_end = api_spans_end, .note = note,
		.heartbeat = heartbeat, .snapshot = snapshot,
		.build_completed = build_completed, .close = close_session,
		.instance = instance, .ticket = ticket,
		.span_open = api_spans_open, .span_stack = api_spans_stack,
		.span_watch = api_spans_watch, .span_places = api_spans_places,
		.traceparent = api_spans_traceparent, .used = used,
		.tally_set = api_tallies_set, .tally_location = tally_location,
		.tally_thread = tally_thread, .tally_queued = tally_queued,
		.tally_started = tally_started, .tally_finished = tally_finished,
		.tally_phase = api_tallies_phase, .tally_snapshot = api_tallies_snapshot,
		.tally_dump = api_tallies_dump, .tally_reset = api_tallies_reset,
	};

	return major == BUILDBEAT_API_MAJOR ? &api : NULL;
}
