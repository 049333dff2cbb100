/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "live/server_private.h"

#include "base/clock.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * What a connection may cost. One that has not shown the token yet is a stranger: there are only so
 * many, and the oldest makes room for the next. A socket that takes nothing for a while, though
 * there is something to send, is closed.
 */
#define STUCK_NS INT64_C(4000000000)
#define TICK_US 1000000		/* so it is closed within 5 s */
#define BUSY_NS INT64_C(500000000)

struct connection *connection_new(struct server *s, struct lws *wsi)
{
	struct connection *c = calloc(1, sizeof *c);
	struct server_private *all = s->private;

	if (c)
		c->private = calloc(1, sizeof *c->private);
	if (!c || !c->private) {
		free(c);
		return NULL;
	}
	c->server = s;
	c->wsi = wsi;
	c->private->stranger = true;
	c->private->next = all->first;
	if (all->first)
		all->first->private->before = c;
	all->first = c;
	all->n_connections++;
	if (++all->n_strangers <= all->strangers_max)
		return c;
	for (struct connection *o = c, *oldest = NULL;; o = o->private->next) {
		if (o && o->private->stranger)
			oldest = o;
		if (!o->private->next) {
			lws_set_timeout(oldest->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
			oldest->private->stranger = false;
			all->n_strangers--;
			return c;
		}
	}
}

static void tell_readers(const struct server_private *all)
{
	reader_pool_alone(all->readers, all->n_connections == all->n_strangers);
}

void connection_trust(struct connection *c)
{
	struct server_private *all = c->server->private;

	if (c->private->stranger)
		all->n_strangers--;
	c->private->stranger = false;
	tell_readers(all);
}

static void clear_request(struct connection *c)
{
	struct connection_private *p = c->private;

	if (p->waits)
		reader_pool_forget(c->server->private->readers, c);
	free_all(p->path, p->query);
	p->path = p->query = NULL;
	buf_release(&p->body);
	buf_release(&p->out);
	p->sent = 0;
	p->replies = p->waits = p->close = false;
}

void connection_done(struct connection *c)
{
	if (c->endpoint)
		c->endpoint->end(c);
	c->endpoint = NULL;
	clear_request(c);
}

void connection_free(struct connection *c)
{
	struct server_private *all = c->server->private;

	connection_done(c);
	connection_trust(c);
	if (c->private->before)
		c->private->before->private->next = c->private->next;
	else
		all->first = c->private->next;
	if (c->private->next)
		c->private->next->private->before = c->private->before;
	all->n_connections--;
	tell_readers(all);
	free_all(c->private, c);
}

/*
 * While a reply is made or sent, libwebsockets 4.1 reads nothing from its socket, but polls it: it
 * would be busy all the time from the moment on when a client sends more or ends. So a connection that
 * waits for a reader is paused. A stream ends when its client sends anything or ends, which is looked
 * for here; a paused connection cannot send. Other replies end then if they are stuck for a moment.
 */
static void on_sockets(void *context)
{
	const struct server_private *all = ((struct server *)context)->private;
	struct epoll_event e[16];
	int n = epoll_wait(all->epoll_fd, e, 16, 0);

	for (int i = 0; i < n; i++) {
		struct connection *c = all->first;

		while (c && c != e[i].data.ptr)
			c = c->private->next;
		if (c && c->endpoint)
			lws_set_timeout(c->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
	}
}

int connection_begin(struct server *s)
{
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -errno;
	s->private->epoll_fd = fd;
	if (server_watch(s, fd, on_sockets, s))
		return 0;
	close(fd);
	return -ENOMEM;
}

void connection_streams(struct connection *c)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT, .data.ptr = c };

	epoll_ctl(c->server->private->epoll_fd, EPOLL_CTL_ADD, lws_get_socket_fd(c->wsi), &e);
}

void connection_pause(struct connection *c, bool paused)
{
	if (c->private->paused == paused || c->websocket)
		return;
	c->private->paused = paused;
	lws_rx_flow_control(c->wsi, !paused);
}

static int unsent(struct connection *c)
{
	int n = 0;

	ioctl(lws_get_socket_fd(c->wsi), SIOCOUTQ, &n);
	return n;
}

/* Its client sent more, or ended. */
static bool said_more(struct connection *c)
{
	char byte;

	return recv(lws_get_socket_fd(c->wsi), &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0;
}

static void on_tick(lws_sorted_usec_list_t *tick)
{
	struct server_private *all = lws_container_of(tick, struct server_private, tick);
	int64_t now = clock_mono_ns();
	struct server *s = NULL;

	for (struct connection *c = all->first; c; c = c->private->next) {
		struct connection_private *p = c->private;
		int n;

		if (!p->wants_since_ns)
			continue;
		s = c->server;
		n = unsent(c);
		if (n < p->unsent)
			p->wants_since_ns = now;
		else if (now - p->wants_since_ns >= (said_more(c) ? BUSY_NS : STUCK_NS))
			lws_set_timeout(c->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
		p->unsent = n;
	}
	if (s)
		lws_sul_schedule(s->context, 0, tick, on_tick, TICK_US);
}

void connection_want(struct connection *c)
{
	struct server_private *all = c->server->private;

	if (c->private->wants_since_ns)
		return;
	connection_pause(c, false);
	lws_callback_on_writable(c->wsi);
	c->private->wants_since_ns = clock_mono_ns();
	c->private->unsent = unsent(c);
	if (lws_dll2_is_detached(&all->tick.list))
		lws_sul_schedule(c->server->context, 0, &all->tick, on_tick, TICK_US);
}

void connection_wrote(struct connection *c)
{
	c->private->wants_since_ns = 0;
}

int connection_send(struct connection *c, const void *data, size_t len)
{
	struct buf *b = &c->private->out;
	char space[LWS_PRE] = "";
	int r;

	buf_clear(b);
	buf_add(b, space, sizeof space);
	buf_add(b, data, len);
	if (buf_error(b))
		return buf_error(b);
	r = lws_write(c->wsi, (unsigned char *)b->data + LWS_PRE, len,
		      c->websocket ? LWS_WRITE_TEXT : LWS_WRITE_HTTP);
	return r < (int)len ? -EPIPE : 0;
}
