/* SPDX-License-Identifier: MIT */
#include "plugin/session.h"

#include "base/cursor.h"
#include "base/readfile.h"
#include "command/redact.h"
#include "recording/layout.h"
#include "recording/store_create.h"
#include "recording/store_join.h"
#include "sampler/ancestors.h"
#include "sampler/buildinfo.h"
#include "sampler/calibration.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BUILD_LINES_MAX 16384

bool session_is_live(const struct buildbeat_session *s)
{
	return s && s->live && (s->forks || getpid() == s->store.pid);
}

uint64_t session_next_task(struct buildbeat_session *s)
{
	return ++s->last_task;
}

static void add_open_in(struct buildbeat_session *s, const struct session_host *host,
			struct buf *b, const char *cwd)
{
	char ancestors[120];
	struct event_open e = {
		.pid = s->store.outer_pid, .level = host->level, .ancestors = ancestors,
		.tool = host->tool, .version = host->version, .command = host->command,
		.cwd = cwd,
	};

	ancestors_of(&s->store, ancestors, sizeof ancestors);
	event_add_open(b, store_now_us(&s->store), s->store.inst, &e);
}

/* Not inline: few processes are in such a deep directory, and touching a page of the stack for
 * the first time costs time. */
static __attribute__((noinline)) void add_open_deep(struct buildbeat_session *s,
						    const struct session_host *host,
						    struct buf *b)
{
	char cwd[PATH_MAX];

	add_open_in(s, host, b, getcwd(cwd, sizeof cwd));
}

static void add_open(struct buildbeat_session *s, const struct session_host *host,
		     struct buf *b)
{
	char cwd[512];

	if (getcwd(cwd, sizeof cwd))
		add_open_in(s, host, b, cwd);
	else
		add_open_deep(s, host, b);
}

static __attribute__((noinline)) void open_now(struct buildbeat_session *s,
					       const struct session_host *host)
{
	char text[EVENT_MAX + 1];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	add_open(s, host, &b);
	store_append(&s->store, &b);
}

void session_note(struct buildbeat_session *s, const char *text)
{
	char line[EVENT_MAX + 1];
	struct buf b;

	buf_init_fixed(&b, line, sizeof line);
	event_add_note(&b, store_now_us(&s->store), s->store.inst, 0, text);
	store_append(&s->store, &b);
}

static void start_beat(struct buildbeat_session *s, const struct session_host *host)
{
	beat_start(&s->beat, s->store.dir_fd, s->store.start_ns, host->interval_ms);
}

/* Joining */

/* The number after key in `build`, or 0. */
static __attribute__((noinline, cold)) int64_t
read_build_number(const struct buildbeat_session *s, const char *key)
{
	char text[BUILD_LINES_MAX];
	struct cursor c;
	struct slice line;
	bool complete;
	int64_t value;
	ssize_t n = readfile_start(s->store.dir_fd, LAYOUT_BUILD, text, sizeof text);

	cursor_init(&c, text, n > 0 ? (size_t)n : 0);
	while (cursor_line(&c, &line, &complete)) {
		struct cursor l;

		cursor_init(&l, line.p, line.len);
		if (cursor_literal(&l, key) && cursor_literal(&l, ": ") &&
		    cursor_i64(&l, &value))
			return value;
	}
	return 0;
}

/* A make that began a recording has rebuilt its makefiles and executed itself. Its sampling
 * thread has gone and is started again. */
static __attribute__((cold)) void take_over_again(struct buildbeat_session *s,
						  const struct session_host *host)
{
	struct session_host owner = *host;
	const char *word;
	size_t len;

	if (!(s->store.flags & STORE_NO_LAUNCHER))
		return;
	word = store_ticket_path(getenv("MAKEFILES"), &len);
	if (!word || len >= sizeof s->ticket.path || store_open_dir(&s->store) || read_build_number(s, "sampler_pid") != s->store.pid)
		return;
	memcpy(s->ticket.path, word, len);
	s->ticket.path[len] = '\0';
	owner.interval_ms = read_build_number(s, "interval_ms");
	s->owner = true;
	start_beat(s, &owner);
}

static void joined(struct buildbeat_session *s, const struct session_host *host)
{
	s->forks = host->forks && !s->owner;
	s->live = true;
	if (host->first)
		add_open(s, host, host->first);
	else
		open_now(s, host);
}

/* In the preload: if that is in this process, it has the ticket. */
const char *buildbeat_preload_ticket(void) __attribute__((weak));

static int join_carried(struct store *store)
{
	const char *ticket = buildbeat_preload_ticket ? buildbeat_preload_ticket() : NULL;

	return ticket ? store_join_ticket(store, ticket) : -ENOENT;
}

int session_join(struct buildbeat_session *s, const struct session_host *host)
{
	int r = store_join_env(&s->store);

	if (r == -ENOENT)
		r = join_carried(&s->store);
	if (r)
		return r;
	joined(s, host);
	take_over_again(s, host);
	return 0;
}

/* Could text be the result of event_instance_id()? */
static bool is_instance(const char *text)
{
	size_t len = strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz");

	return len && len < INSTANCE_ID_MAX && !text[len];
}

int session_join_dir(struct buildbeat_session *s, const char *dir,
		     const struct session_host *host, struct error *err)
{
	int r = store_join_dir(&s->store, dir, err);

	if (r)
		return r;
	if (!host->instance) {
		joined(s, host);
		return 0;
	}
	if (!is_instance(host->instance)) {
		store_close(&s->store);
		return -EINVAL;
	}
	strcpy(s->store.inst, host->instance);
	s->guest = true;
	s->forks = host->forks;
	s->live = true;
	return 0;
}

/* Beginning */

/* The path of this object, for the processes below. */
static __attribute__((cold)) int own_path(char out[PATH_MAX])
{
	Dl_info info;

	if (!dladdr((void *)(uintptr_t)session_begin, &info) || !info.dli_fname)
		return -ENOENT;
	return realpath(info.dli_fname, out) ? 0 : -errno;
}

static __attribute__((cold)) int write_build(struct buildbeat_session *s,
					     const struct session_host *host)
{
	struct buildinfo info = {
		.command = host->command, .tool = host->tool, .version = host->version,
		.interval_ms = host->interval_ms,
		.sampler_pid = host->interval_ms > 0 ? s->store.pid : 0,
	};
	char text[BUILD_LINES_MAX];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	buildinfo_add(&b, &info);
	return store_append_build(&s->store, &b);
}

enum store_access session_access(const char *word)
{
	int access = STORE_ACCESS_ALL;

	while (access > STORE_ACCESS_USER && (!word || strcmp(word, store_access_words[access])))
		access--;
	return (enum store_access)access;
}

int session_begin(struct buildbeat_session *s, const char *base, const char *name,
		  const struct session_host *host, struct error *err)
{
	char plugin[PATH_MAX];
	int r;

	if (host->redact)
		redact_set_words(slice_of(host->redact));
	r = store_create_for(&s->store, host->access, base, name, err);
	if (r)
		return r;
	s->store.flags |= STORE_NO_LAUNCHER;
	r = write_build(s, host);
	if (!r)
		r = own_path(plugin);
	if (!r)
		r = ticket_write(&s->ticket, &s->store, plugin);
	if (r) {
		error_sys(err, r, s->store.path, "cannot write the recording");
		store_abandon(&s->store);
		return r;
	}
	store_begun(&s->store);
	s->owner = true;
	joined(s, host);
	start_beat(s, host);
	return 0;
}

/* Ending */

/* After the end was written: this is no part of the build. Not without the thread, which
 * measured the start. */
static void calibrate(struct buildbeat_session *s)
{
	struct calibration end;
	char text[256];
	struct buf b;

	if (s->beat.start.least_ns <= 0)
		return;
	calibration_run(&end);
	buf_init_fixed(&b, text, sizeof text);
	calibration_add(&b, "start", &s->beat.start);
	calibration_add(&b, "end", &end);
	store_append_build(&s->store, &b);
}

static void end_build(struct buildbeat_session *s, int32_t status, bool exits)
{
	char text[256];
	struct buf b;

	if (!atomic_exchange(&s->owner, false))
		return;
	beat_stop(&s->beat, exits);
	buf_init_fixed(&b, text, sizeof text);
	buildinfo_add_end(&b, store_now_us(&s->store), status);
	store_append_build(&s->store, &b);
	store_tell_lost(&s->store);
	lost_end(s->store.dir_fd);
	ticket_remove(&s->ticket);
	calibrate(s);
}

void session_end_build(struct buildbeat_session *s, int32_t status)
{
	end_build(s, status, false);
}

void session_follow_children(struct buildbeat_session *s)
{
	s->follows_children = !getrusage(RUSAGE_CHILDREN, &s->before);
}

static void add_close_line(struct buildbeat_session *s, struct buf *b)
{
	struct event_children children = { .reaped = s->reaped };
	struct rusage now;
	bool known = s->follows_children && !getrusage(RUSAGE_CHILDREN, &now);

	if (known)
		event_children_between(&children, &s->before, &now);
	event_add_close(b, store_now_us(&s->store), s->store.inst, s->last_task,
			known ? &children : NULL);
}

void session_add_close(struct buildbeat_session *s, struct buf *b)
{
	add_close_line(s, b);
	s->closed = true;
}

static void add_close(struct buildbeat_session *s)
{
	char text[256];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	add_close_line(s, &b);
	store_append(&s->store, &b);
}

void session_exit(struct buildbeat_session *s, int32_t status)
{
	end_build(s, status, true);
	if (!s->guest && !s->closed)
		add_close(s);
	s->live = false;
	store_close(&s->store);
}

void session_close(struct buildbeat_session *s, int32_t status)
{
	session_end_build(s, status);
	session_exit(s, status);
	beat_release(&s->beat);
}

void session_suspend(struct buildbeat_session *s)
{
	beat_now(&s->beat);
	add_close(s);
}
