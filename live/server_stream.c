/* SPDX-License-Identifier: MIT */
#include "live/server_stream.h"

#include "base/clock.h"
#include "live/stream.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if LWS_LIBRARY_VERSION_MAJOR == 4 && LWS_LIBRARY_VERSION_MINOR < 1
#define lws_sul_cancel(sul) lws_dll2_remove(&(sul)->list)
#endif

/*
 * One follower a recording, whatever the number of its clients: a client is a place in a channel.
 * A client gets what is there when its socket takes it, and nothing waits for a client. One that
 * is far behind what happens now is told that it missed something, and goes on from now. What we
 * read faster than it happened is history, also for a client that had all before.
 */
#define CLIENTS_MAX 4096
#define FOLLOWERS_MAX 64
#define BEHIND_MAX ((uint64_t)8 << 20)
#define PART ((size_t)16 << 10)
#define LINGER_US (5 * LWS_US_PER_SEC)	/* a page that is loaded again comes back soon */

enum format { AS_EVENTS, AS_LINES, AS_TRACE };

struct client {
	struct follower *follower;
	struct client *next, *before;
	struct connection *connection;
	enum format format;
	struct channel_place place;
	bool live;		/* it had all there was, and what came since is news */
	bool gap;		/* it missed something */
	bool middle;		/* of a trace: begins where it joins */
	bool done;
};

struct follower {
	struct follower *next;
	struct server *server;
	char id[256];
	struct stream *stream;
	struct watch *watch;
	lws_sorted_usec_list_t timer, linger;
	int64_t ran_ns;
	struct client *first;
	size_t n_clients;
};

static struct follower *followers;
static size_t n_followers, n_all_clients;

/* Followers */

static void end_follower(struct follower *f)
{
	struct follower **at = &followers;

	while (*at && *at != f)
		at = &(*at)->next;
	if (*at)
		*at = f->next;
	lws_sul_cancel(&f->timer);
	lws_sul_cancel(&f->linger);
	server_unwatch(f->watch);
	stream_free(f->stream);
	free(f);
	n_followers--;
}

static void on_linger(lws_sorted_usec_list_t *timer)
{
	end_follower(lws_container_of(timer, struct follower, linger));
}

static struct channel *channel_of(const struct client *k)
{
	return k->format == AS_TRACE ? k->follower->stream->trace : k->follower->stream->events;
}

static void on_timer(lws_sorted_usec_list_t *timer);

static void run_follower(struct follower *f)
{
	uint64_t had = channel_end(f->stream->events);
	int64_t wait_ns = stream_run(f->stream);

	f->ran_ns = clock_mono_ns();
	for (struct client *k = f->first; k; k = k->next) {
		if (f->stream->behind && k->place.offset >= had)
			k->live = false;
		if (k->place.offset < channel_end(channel_of(k)) || f->stream->ended)
			connection_want(k->connection);
	}
	if (wait_ns >= 0)
		lws_sul_schedule(f->server->context, 0, &f->timer, on_timer, wait_ns / 1000 + 1);
}

static void on_timer(lws_sorted_usec_list_t *timer)
{
	run_follower(lws_container_of(timer, struct follower, timer));
}

/* Soon, and not too often. */
static void on_change(void *context)
{
	struct follower *f = context;
	int64_t wait_ns = f->ran_ns + STREAM_PERIOD_NS - clock_mono_ns();

	stream_woken(f->stream);
	if (!f->stream->ended)
		lws_sul_schedule(f->server->context, 0, &f->timer, on_timer,
				 wait_ns > 0 ? wait_ns / 1000 : 1);
}

static void end_unwatched(void)
{
	for (struct follower *f = followers; f; f = f->next) {
		if (!f->n_clients) {
			end_follower(f);
			return;
		}
	}
}

static int new_follower(struct follower **out, struct server *s, const struct catalogue_entry *e,
			struct error *err)
{
	struct follower *f;
	char dir[PATH_MAX];
	int r;

	if (!catalogue_directory(&s->catalogue, e, dir))
		return error_say(err, -EINVAL, "a build of an archive has no stream");
	if (n_followers == FOLLOWERS_MAX)
		end_unwatched();
	if (n_followers == FOLLOWERS_MAX)
		return error_say(err, -EAGAIN, "too many recordings are followed");
	f = calloc(1, sizeof *f);
	if (!f)
		return -ENOMEM;
	n_followers++;
	f->server = s;
	strcpy(f->id, e->id);
	r = stream_new(&f->stream, dir, err);
	if (!r && stream_fd(f->stream) >= 0)
		f->watch = server_watch_copy(s, stream_fd(f->stream), on_change, f);
	if (r) {
		end_follower(f);
		return r;
	}
	f->next = followers;
	followers = f;
	*out = f;
	return 0;
}

static int find_follower(struct follower **out, struct server *s, const char *id, struct error *err)
{
	const struct catalogue_entry *e = catalogue_find(&s->catalogue, id);

	if (!e && !catalogue_update(&s->catalogue, err))
		e = catalogue_find(&s->catalogue, id);
	if (!e)
		return error_say(err, -ENOENT, "there is no such recording");
	for (*out = followers; *out; *out = (*out)->next) {
		if (!strcmp((*out)->id, e->id))
			return 0;
	}
	return new_follower(out, s, e, err);
}

/* Clients */

static int begin_client(struct connection *c, const struct query *q, const char *last_id,
			enum format format, struct error *err)
{
	const char *history = query_text(q, "history"), *since = query_text(q, "since");
	bool all = !history || strcmp(history, "0") != 0;
	struct follower *f;
	struct client *k;
	int r = 0;

	if (n_all_clients >= CLIENTS_MAX)
		return error_say(err, -EAGAIN, "too many clients");
	r = find_follower(&f, c->server, query_text(q, "rec"), err);
	if (!r && format == AS_TRACE)
		r = stream_want_trace(f->stream, err);
	k = r ? NULL : calloc(1, sizeof *k);
	if (!k)
		return r ? r : -ENOMEM;
	*k = (struct client){ .follower = f, .connection = c, .format = format };
	if (format == AS_TRACE)
		k->place.offset = all ? channel_first(f->stream->trace) : channel_end(f->stream->trace);
	else
		r = stream_place(f->stream, &k->place, last_id ? last_id : since, all);
	k->middle = format == AS_TRACE && k->place.offset > 0;
	if (r) {
		free(k);
		return error_say(err, r, "the id of the last message is not one of ours");
	}
	k->next = f->first;
	if (f->first)
		f->first->before = k;
	f->first = k;
	c->state = k;
	f->n_clients++;
	n_all_clients++;
	lws_sul_cancel(&f->linger);
	lws_sul_schedule(c->server->context, 0, &f->timer, on_timer, 1);
	connection_want(c);
	return 0;
}

static int begin_events(struct connection *c, const struct query *q, const char *last_id,
			struct error *err)
{
	return begin_client(c, q, last_id, AS_EVENTS, err);
}

static int begin_trace(struct connection *c, const struct query *q, const char *last_id,
		       struct error *err)
{
	const char *format = query_text(q, "format");

	if (format && strcmp(format, "chrome") && strcmp(format, "events"))
		return error_say(err, -EINVAL, "format: neither chrome nor events");
	return begin_client(c, q, last_id, format && *format == 'e' ? AS_LINES : AS_TRACE, err);
}

static void end_client(struct connection *c)
{
	struct client *k = c->state;
	struct follower *f = k->follower;

	if (k->before)
		k->before->next = k->next;
	else
		f->first = k->next;
	if (k->next)
		k->next->before = k->before;
	free(k);
	c->state = NULL;
	n_all_clients--;
	if (!--f->n_clients)
		lws_sul_schedule(c->server->context, 0, &f->linger, on_linger, LINGER_US);
}

/* A trace in the middle begins with the bracket instead of a comma. */
static void add_trace(struct client *k, const struct buf *in, struct buf *out)
{
	size_t cut = 0;

	if (!in->len)
		return;
	if (k->middle) {
		buf_adds(out, "[\n");
		cut = in->data[0] == ',' ? 2 : 0;
		k->middle = false;
	}
	buf_add(out, in->data + cut, in->len - cut);
}

static void add_messages(struct client *k, struct buf *in, struct buf *out)
{
	const struct stream *s = k->follower->stream;

	if (k->gap && k->format != AS_TRACE) {
		struct buf gap = BUF_PART_OF(out);

		stream_add_gap(s, &gap);
		buf_add(&gap, in->data, in->len);
		buf_release(in);
		*in = gap;
	}
	k->gap = false;
	if (k->format == AS_EVENTS)
		buf_add(out, in->data, in->len);
	else if (k->format == AS_LINES)
		stream_as_lines(in, out);
	else
		add_trace(k, in, out);
}

static int read_part(struct client *k, struct buf *in)
{
	if (k->format == AS_TRACE)
		return channel_read(channel_of(k), &k->place, PART, in);
	return stream_read(k->follower->stream, &k->place, PART, in);
}

static int writable(struct connection *c)
{
	struct client *k = c->state;
	struct channel *channel = channel_of(k);
	struct buf in = BUF_INIT, out = BUF_INIT;
	uint64_t end = channel_end(channel);
	int r;

	if (k->done)
		return -1;
	if (k->live && k->format != AS_TRACE && end - k->place.offset > BEHIND_MAX) {
		k->gap = true;
		k->place.offset = end;
	}
	r = read_part(k, &in);
	if (r == -ESTALE) {
		k->gap = true;
		r = read_part(k, &in);
	}
	if (!r)
		add_messages(k, &in, &out);
	if (!r)
		r = buf_error(&out);
	if (!r && out.len)
		r = connection_send(c, out.data, out.len);
	k->live |= k->place.offset >= end && !k->follower->stream->behind;
	if (!r && k->place.offset < channel_end(channel))
		connection_want(c);
	else if (!r && stream_is_over(k->follower->stream, k->format == AS_TRACE)) {
		k->done = true;
		connection_want(c);
	}
	buf_release(&in);
	buf_release(&out);
	return r;
}

const struct endpoint server_stream_endpoints[] = {
	{ .path = "/api/v1/events", .parameters = "rec, history, since",
	  .summary = "the messages of a recording, as server-sent events", .type = "text/event-stream",
	  .begin = begin_events, .writable = writable, .end = end_client },
	{ .path = "/api/v1/trace", .parameters = "rec, format, history, since", .websocket = true,
	  .summary = "the trace or the messages of a recording, by a websocket",
	  .begin = begin_trace, .writable = writable, .end = end_client },
	{ .path = NULL }
};
