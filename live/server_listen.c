/* SPDX-License-Identifier: MIT */
#include "live/server_private.h"

#include "base/file.h"
#include "live/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define NO_ROOM_US 100000	/* before the next try */

/* There is no descriptor for the next connection: with the spare one it is closed, for it would be
 * reported again and again. */
static bool turn_away(struct server_private *p)
{
	int fd;

	if ((errno != EMFILE && errno != ENFILE) || p->spare_fd < 0)
		return false;
	close(p->spare_fd);
	fd = accept4(p->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	file_close(fd);
	p->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0;
}

static void on_connection(void *context);

/* libwebsockets closes the descriptor of a watch: the listener keeps its own. */
static int watch_listener(struct server *s)
{
	struct server_private *p = s->private;

	p->listening = server_watch_copy(s, p->listener.fd, on_connection, s);
	return p->listening ? 0 : -errno;
}

static void on_no_room(lws_sorted_usec_list_t *no_room)
{
	struct server_private *p = lws_container_of(no_room, struct server_private, no_room);

	if (p->spare_fd < 0)
		p->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (watch_listener(p->server))
		lws_sul_schedule(p->server->context, 0, no_room, on_no_room, NO_ROOM_US);
}

/* The connection stays in the queue, and would be reported again and again. */
static void wait_for_room(struct server *s)
{
	struct server_private *p = s->private;

	if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return;
	server_unwatch(p->listening);
	p->listening = NULL;
	lws_sul_schedule(s->context, 0, &p->no_room, on_no_room, NO_ROOM_US);
}

static void on_connection(void *context)
{
	struct server *s = context;
	struct server_private *p = s->private;
	int fd;

	while ((fd = accept4(p->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0 ||
	       turn_away(p)) {
		const int on = 1;
		struct connection *c;
		struct lws *wsi;

		if (fd < 0)
			continue;
		if (p->n_connections >= p->connections_max) {
			close(fd);
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		wsi = lws_adopt_socket_vhost(s->vhost, fd);
		if (!wsi)
			continue;
		c = connection_new(s, wsi);
		if (c)
			lws_set_opaque_user_data(wsi, c);
		else
			lws_set_timeout(wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
	}
	wait_for_room(s);
}

int server_listen(struct server *s, struct error *err)
{
	int r = watch_listener(s);

	return r ? error_sys(err, r, NULL, "the server cannot listen") : 0;
}

static void write_url(struct server *s, struct buf *out)
{
	const struct server_options *o = s->options;
	const struct listener *l = &s->private->listener;

	listener_url(l, o->cert, !l->loopback && o->n_names ? o->name[0] : NULL, out);
	buf_addf(out, "?token=%s", s->private->guard.token);
}

int server_tell_url(struct server *s, struct error *err)
{
	struct buf url = BUF_INIT;
	int r;

	write_url(s, &url);
	r = buf_error(&url) ? error_sys(err, -ENOMEM, NULL, NULL) :
	    registry_add(s->catalogue.path, url.data, err);
	if (r >= 0) {
		s->private->registry_fd = r;
		buf_addc(&url, '\n');
		r = buf_error(&url) ? -ENOMEM : file_write(s->options->url_fd, url.data, url.len);
		if (r)
			error_sys(err, r, NULL, "the URL cannot be written");
	}
	buf_release(&url);
	return r < 0 ? r : 0;
}
