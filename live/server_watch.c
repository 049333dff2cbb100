/* SPDX-License-Identifier: MIT */
#include "live/server_private.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>

struct watch {
	struct server *server;
	struct watch *next, *before;
	struct lws *wsi;	/* NULL: it was closed */
	void (*ready)(void *context);
	void *context;
};

struct watch *server_watch(struct server *s, int fd, void (*ready)(void *context), void *context)
{
	lws_sock_file_fd_type descriptor = { .filefd = fd };
	struct watch *w = malloc(sizeof *w);

	if (!w)
		return NULL;
	*w = (struct watch){ .server = s, .next = s->private->watches, .ready = ready,
			     .context = context };
	w->wsi = lws_adopt_descriptor_vhost(s->vhost, LWS_ADOPT_RAW_FILE_DESC, descriptor, "http", NULL);
	if (!w->wsi) {
		free(w);
		return NULL;
	}
	if (w->next)
		w->next->before = w;
	s->private->watches = w;
	lws_set_opaque_user_data(w->wsi, w);
	return w;
}

struct watch *server_watch_copy(struct server *s, int fd, void (*ready)(void *context),
				void *context)
{
	int copy = file_copy(fd);
	struct watch *w = copy < 0 ? NULL : server_watch(s, copy, ready, context);

	if (!w) {
		file_close(copy);
		errno = copy < 0 ? -copy : ENOMEM;
	}
	return w;
}

void server_unwatch(struct watch *w)
{
	if (!w)
		return;
	if (w->wsi) {
		lws_set_opaque_user_data(w->wsi, NULL);
		lws_set_timeout(w->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
	}
	if (w->before)
		w->before->next = w->next;
	else
		w->server->private->watches = w->next;
	if (w->next)
		w->next->before = w->before;
	free(w);
}

int server_watch_callback(struct lws *wsi, enum lws_callback_reasons reason)
{
	struct watch *w = lws_get_opaque_user_data(wsi);
	bool closes = reason == LWS_CALLBACK_RAW_CLOSE_FILE;

	if (!w)
		return -1;
	/* a pipe whose writers have gone, or the end of the server; its owner unwatches it */
	if (closes) {
		lws_set_opaque_user_data(wsi, NULL);
		w->wsi = NULL;
	}
	if (!w->server->private->ended)
		w->ready(w->context);
	return 0;
}
