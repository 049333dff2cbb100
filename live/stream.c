/* SPDX-License-Identifier: MIT */
#include "live/stream.h"

#include "base/field.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/str.h"
#include "convert/zstd.h"
#include "live/task_json.h"
#include "recording/layout.h"
#include "trace/live.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

/* <linux/magic.h> has them since Linux 5.12 to 5.17. */
#define CEPH_MAGIC 0x00c36400
#define FUSE_MAGIC 0x65735546
#define SMB2_MAGIC 0xfe534d42

#define READ_SOME ((uint64_t)512 << 10)	/* some milliseconds */
#define EVENTS_MAX ((uint64_t)2 << 30)
#define TRACE_MAX ((uint64_t)4 << 30)
#define PIECE_MAX ((size_t)8 << 10)	/* of the trace in one message */
#define LOOK_NS INT64_C(1000000000)	/* whether it has ended */
#define POLL_NS INT64_C(500000000)	/* of files without notifications */
#define NOTE_MAX 4000

/* The trace is read on its own, from the start. */
struct trace {
	struct sink sink;
	struct live *live;
	struct growing *growing;
	bool ended;
};

struct stream_private {
	char *dir;
	struct growing *growing;
	int inotify_fd;
	bool notified;		/* files are on a file system that tells us */
	bool told_damage;
	uint64_t sample;	/* S */
	struct buf message, text;
	int error;		/* of a callback */
	struct trace *trace;
};

/* Messages */

static void begin_message(struct stream *s, struct json *j, const char *event, uint64_t lines)
{
	struct buf *b = &s->private->message;

	buf_clear(b);
	buf_addf(b, "id: %llu.%llu\nevent: %s\ndata: ", (unsigned long long)lines,
		 (unsigned long long)s->private->sample, event);
	json_init(j, b, true);
	json_object(j, NULL);
}

static void end_message(struct stream *s, struct json *j, unsigned class, uint64_t number)
{
	struct buf *b = &s->private->message;
	int r;

	json_object_end(j);
	while (b->len && b->data[b->len - 1] == '\n')
		buf_cut(b, b->len - 1);
	buf_adds(b, "\n\n");
	r = buf_error(b);
	/* a lost message is a gap, which consumers are told */
	if (!r)
		channel_add(s->events, class, number, b->data, b->len);
	s->private->error = r ? r : s->private->error;
}

static void add_note(struct stream *s, struct event e)
{
	struct buf *text = &s->private->text;
	struct slice field = event_field(&e);
	char id[40];
	struct json j;

	buf_clear(text);
	buf_add(text, field.p, MIN(field.len, NOTE_MAX));
	if (text->len)
		buf_cut(text, field_decode(text->data, text->len, NULL));
	snprintf(id, sizeof id, "%.*s.%llu", (int)e.inst.len, e.inst.p, (unsigned long long)e.seq);
	begin_message(s, &j, "note", s->now->n_events);
	json_int(&j, "time_us", e.time_us);
	json_str(&j, "task", e.seq ? id : NULL);
	json_strn(&j, "text", buf_str(text), text->len);
	end_message(s, &j, 0, s->now->n_events);
}

static int on_build(void *context, struct slice key, struct slice value)
{
	struct stream *s = context;

	return now_growing.build(s->now, key, value);
}

static int on_event(void *context, struct event *e)
{
	struct stream *s = context;
	struct event copy = *e;
	struct json j;
	int r = now_growing.event(s->now, e);

	if (r)
		return r;
	if (copy.kind == EVENT_NOTE) {
		add_note(s, copy);
	} else if (s->now->changed) {
		begin_message(s, &j, "task", s->now->n_events);
		task_json_task(&j, s->now->rec, (uint32_t)(s->now->changed - s->now->rec->task), true);
		end_message(s, &j, 0, s->now->n_events);
	}
	return s->private->error;
}

static int on_sample(void *context, const struct growing_sample *sample)
{
	struct stream *s = context;

	return now_growing.sample(s->now, sample);
}

static int on_lost(void *context, uint64_t tasks)
{
	struct stream *s = context;

	return now_growing.lost(s->now, tasks);
}

static int on_memory(void *context, int64_t time_ms, int64_t kb)
{
	struct stream *s = context;

	return now_growing.memory(s->now, time_ms, kb);
}

static const struct growing_to to_stream = {
	.build = on_build, .event = on_event, .sample = on_sample, .memory = on_memory,
	.lost = on_lost,
};

static void on_sampled(void *context, const struct now_sample *sample)
{
	struct stream *s = context;
	struct json j;

	s->private->sample = sample->time_ms > 1 ? (uint64_t)sample->time_ms : 1;
	begin_message(s, &j, "sample", s->now->n_events);
	now_sample_json(&j, sample);
	end_message(s, &j, 1, s->private->sample);
}

static void tell_damage(struct stream *s)
{
	uint64_t lines = growing_damage(s->private->growing)->lines;
	struct json j;

	if (!lines || s->private->told_damage)
		return;
	s->private->told_damage = true;
	begin_message(s, &j, "note", s->now->n_events);
	json_int(&j, "time_us", s->now->last_us);
	json_str(&j, "task", NULL);
	json_str(&j, "text", "damaged lines of the recording were left out");
	end_message(s, &j, CHANNEL_ALWAYS, 0);
}

static void add_end(struct stream *s, const char *reason)
{
	struct json j;

	s->now->ended = true;
	begin_message(s, &j, "end", s->now->n_events);
	json_str(&j, "reason", reason);
	json_known(&j, "exit_status", s->now->exit_status);
	json_known(&j, "signal", s->now->signal > 0 ? s->now->signal : -1);
	json_int(&j, "elapsed_us", now_elapsed_us(s->now, 0));
	json_int(&j, "damaged_lines", (int64_t)growing_damage(s->private->growing)->lines);
	end_message(s, &j, CHANNEL_ALWAYS, 0);
	s->ended = true;
}

void stream_add_gap(const struct stream *s, struct buf *out)
{
	buf_addf(out, "id: %llu.%llu\nevent: gap\ndata: {}\n\n", (unsigned long long)s->now->n_events,
		 (unsigned long long)s->private->sample);
}

void stream_as_lines(const struct buf *messages, struct buf *out)
{
	const char *p = messages->data, *end = p + messages->len;

	while (p < end) {
		const char *id = p + strlen("id: "), *id_end = memchr(id, '\n', (size_t)(end - id));
		const char *event = id_end + strlen("\nevent: ");
		const char *event_end = memchr(event, '\n', (size_t)(end - event));
		const char *data = event_end + strlen("\ndata: {");
		const char *data_end = memchr(data, '\n', (size_t)(end - data));

		buf_adds(out, "{\"event\":\"");
		buf_add(out, event, (size_t)(event_end - event));
		buf_adds(out, "\",\"at\":\"");
		buf_add(out, id, (size_t)(id_end - id));
		buf_adds(out, *data == '}' ? "\"" : "\",");
		buf_add(out, data, (size_t)(data_end - data));
		buf_addc(out, '\n');
		p = data_end + 2;
	}
}

/* The trace */

/* Messages begin with the comma and the newline between two events, or with the bracket. */
static int flush_trace(void *context, struct buf *out)
{
	struct stream *s = context;
	size_t at = 0;
	int r = buf_error(out);

	while (!r && at < out->len) {
		size_t len = out->len - at;

		if (len > PIECE_MAX) {
			const char *cut = memrchr(out->data + at + 2, '\n', PIECE_MAX);

			if (!cut)
				cut = memchr(out->data + at + 2, '\n', len - 2);
			if (cut && cut[-1] == ',')
				len = (size_t)(cut - 1 - (out->data + at));
		}
		channel_add(s->trace, CHANNEL_ALWAYS, 0, out->data + at, len);
		at += len;
	}
	buf_clear(out);
	return r;
}

int stream_want_trace(struct stream *s, struct error *err)
{
	struct trace *t;
	int r;

	if (s->trace)
		return 0;
	s->private->trace = t = calloc(1, sizeof *t);
	r = t ? channel_new(&s->trace, TRACE_MAX) : -ENOMEM;
	if (!r)
		r = sink_init(&t->sink, &sink_chrome);
	if (!r)
		r = live_new(&t->live, &t->sink, flush_trace, s);
	if (r)
		return error_sys(err, r, s->private->dir, "cannot write a trace");
	return growing_open(&t->growing, s->private->dir, &zstd_codec, &live_growing, t->live, err);
}

/* Returns whether there is more already. */
static bool run_trace(struct stream *s)
{
	struct trace *t = s->private->trace;
	struct error err = { 0 };
	int r;

	if (!t || t->ended)
		return false;
	r = t->growing ? growing_read_some(t->growing, READ_SOME, &err) : -EINVAL;
	if (r > 0 && t->sink.out.len)
		flush_trace(s, &t->sink.out);
	if (r > 0 && growing_is_behind(t->growing))
		return true;
	if (r > 0 && !s->ended)
		return false;
	t->ended = true;
	if (r >= 0 && !live_end(t->live, growing_damage(t->growing)->lines))
		flush_trace(s, &t->sink.out);
	return false;
}

static void free_trace(struct trace *t)
{
	if (!t)
		return;
	growing_close(t->growing);
	live_free(t->live);
	sink_release(&t->sink);
	free(t);
}

/* The recording */

/* Does the kernel see what others write there? */
static bool has_notifications(const char *dir)
{
	struct statfs fs;

	if (statfs(dir, &fs))
		return false;
	switch (fs.f_type) {
	case NFS_SUPER_MAGIC: case SMB_SUPER_MAGIC: case V9FS_MAGIC: case CEPH_MAGIC:
	case FUSE_MAGIC: case 0xff534d42: case SMB2_MAGIC:
		return false;
	default:
		return true;
	}
}

/* The next change of a file only: a build writes often, and we read every 20 ms. */
static void watch(struct stream *s)
{
	if (s->private->inotify_fd >= 0 &&
	    inotify_add_watch(s->private->inotify_fd, s->private->dir,
			      IN_MODIFY | IN_CREATE | IN_DELETE_SELF | IN_MOVED_TO | IN_ONESHOT) < 0)
		s->private->notified = false;
}

int stream_new(struct stream **out, const char *dir, struct error *err)
{
	struct stream *s = calloc(1, sizeof *s);
	int r;

	*out = s;
	if (!s)
		return error_sys(err, -ENOMEM, dir, "cannot follow");
	s->private = calloc(1, sizeof *s->private);
	if (!s->private)
		return error_sys(err, -ENOMEM, dir, "cannot follow");
	s->private->inotify_fd = -1;
	s->private->dir = strdup(dir);
	r = s->private->dir ? now_new(&s->now) : -ENOMEM;
	if (!r)
		r = channel_new(&s->events, EVENTS_MAX);
	if (r)
		return error_sys(err, r, dir, "cannot follow");
	s->private->notified = has_notifications(dir);
	if (s->private->notified)
		s->private->inotify_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return growing_open(&s->private->growing, dir, &zstd_codec, &to_stream, s, err);
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	if (s->private) {
		free_trace(s->private->trace);
		growing_close(s->private->growing);
		buf_release(&s->private->message);
		buf_release(&s->private->text);
		file_close(s->private->inotify_fd);
		free(s->private->dir);
		free(s->private);
	}
	channel_free(s->events);
	channel_free(s->trace);
	now_free(s->now);
	free(s);
}

int stream_fd(const struct stream *s)
{
	return s->private->inotify_fd;
}

void stream_woken(struct stream *s)
{
	char events[4096];

	while (s->private->inotify_fd >= 0 && read(s->private->inotify_fd, events, sizeof events) > 0)
		;
}

/* What has an end is read once more to see that it has ended. */
static int64_t wait_ns(const struct stream *s)
{
	if (s->now->ended)
		return STREAM_PERIOD_NS;
	return s->private->notified && s->private->inotify_fd >= 0 ? LOOK_NS : POLL_NS;
}

int64_t stream_run(struct stream *s)
{
	struct stream_private *p = s->private;
	struct error err = { 0 };
	bool more;
	int r = 1;

	if (!s->ended) {
		watch(s);
		r = growing_read_some(p->growing, READ_SOME, &err);
		s->behind = r > 0 && growing_is_behind(p->growing);
		if (!s->behind) {
			now_settle(s->now, on_sampled, s);
			tell_damage(s);
		}
		if (growing_is_removed(p->growing))
			add_end(s, "deleted");
		else if (r <= 0)
			add_end(s, r ? err.message : "ended");
	}
	more = run_trace(s);
	if (more || (!s->ended && s->behind))
		return 0;
	return s->ended ? -1 : wait_ns(s);
}

/* Consumers */

bool stream_is_over(const struct stream *s, bool trace)
{
	return s->ended && (!trace || s->private->trace->ended);
}

static bool several_files(const struct stream *s)
{
	DIR *dir = opendir(s->private->dir);
	struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir)))
		found = str_starts(e->d_name, LAYOUT_TASKS_PREFIX "-");
	if (dir)
		closedir(dir);
	return found;
}

int stream_place(const struct stream *s, struct channel_place *place, const char *id, bool history)
{
	struct cursor c;

	*place = (struct channel_place){ .offset = history ? channel_first(s->events) :
							    channel_end(s->events) };
	if (!id || !*id)
		return 0;
	cursor_init(&c, id, strlen(id));
	if (!cursor_u64(&c, &place->after[0]) || !cursor_byte(&c, '.') ||
	    !cursor_u64(&c, &place->after[1]) || !cursor_at_end(&c))
		return -EINVAL;
	if (several_files(s)) {
		place->after[0] = place->after[1] = 0;
		return 0;
	}
	channel_seek(s->events, place);
	return 0;
}

/* Replace the ids of messages that are before those that the consumer had. */
static void raise_ids(struct channel_place *place, const struct buf *in, struct buf *out)
{
	uint64_t *after = place->after;

	for (size_t at = 0; at < in->len; ) {
		const char *from = in->data + at;
		const char *end = memmem(from, in->len - at, "\n\n", 2), *eol = memchr(from, '\n', in->len - at);
		uint64_t id[2] = { 0 };
		struct cursor c;

		cursor_init(&c, from + strlen("id: "), (size_t)(eol - from) - strlen("id: "));
		cursor_u64(&c, &id[0]);
		cursor_byte(&c, '.');
		cursor_u64(&c, &id[1]);
		if (id[0] >= after[0] && id[1] >= after[1])
			after[0] = after[1] = 0;
		buf_addf(out, "id: %llu.%llu", (unsigned long long)MAX(id[0], after[0]),
			 (unsigned long long)MAX(id[1], after[1]));
		buf_add(out, eol, (size_t)(end + 2 - eol));
		at += (size_t)(end + 2 - from);
	}
}

int stream_read(const struct stream *s, struct channel_place *place, size_t most, struct buf *out)
{
	struct buf in = BUF_INIT;
	int r;

	if (!place->after[0] && !place->after[1])
		return channel_read(s->events, place, most, out);
	r = channel_read(s->events, place, most, &in);
	if (!r)
		raise_ids(place, &in, out);
	buf_release(&in);
	return r;
}
