/* SPDX-License-Identifier: MIT */
#include "live/server_private.h"

#include "base/file.h"
#include "live/registry.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* There is no descriptor for the next connection: with the spare one it is closed, for it would be
 * reported again and again. */
static bool turn_away(struct server_private *p)
{
	int fd;

	if ((errno != EMFILE && errno != ENFILE) || p->spare_fd < 0)
		return false;
	close(p->spare_fd);
	fd = accept4(p->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	p->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return fd >= 0;
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
}

/* libwebsockets closes the descriptor of a watch: the listener keeps its own. */
int server_listen(struct server *s, struct error *err)
{
	int fd = dup(s->private->listener.fd);

	if (fd >= 0 && server_watch(s, fd, on_connection, s))
		return 0;
	return error_sys(err, fd < 0 ? -errno : -ENOMEM, NULL, "the server cannot listen");
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
