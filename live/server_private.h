/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_SERVER_PRIVATE_H
#define BUILDBEAT_LIVE_SERVER_PRIVATE_H

#include "base/buf.h"
#include "live/assets.h"
#include "live/guard.h"
#include "live/listener.h"
#include "live/reader_pool.h"
#include "live/server.h"

/* Of the files server*.c. */
struct server_private {
	struct server *server;
	struct guard guard;
	struct assets assets;
	struct reader_pool *readers;
	struct connection *first;	/* of all */
	size_t n_connections, n_strangers;
	size_t connections_max, strangers_max;
	int spare_fd;			/* for a connection that is closed at once */
	int epoll_fd;			/* of sockets that libwebsockets does not look at */
	lws_sorted_usec_list_t tick;	/* while a connection waits for its socket */
	struct watch *watches;
	struct listener listener;
	struct watch *listening;	/* NULL: not now */
	lws_sorted_usec_list_t no_room;	/* until it listens again */
	struct watch *launcher;
	lws_sorted_usec_list_t linger;	/* after the launcher's end */
	int64_t linger_until_ns;
	int64_t asked_ns;		/* the newest request */
	int registry_fd;
	bool ended;
};

struct connection_private {
	struct connection *next, *before;
	bool stranger;			/* nobody with a token has asked here yet */
	/* the request */
	char *path, *query;
	const char *method;		/* constant */
	bool head;
	bool person;			/* its client shows HTML: errors are pages */
	bool gzip;			/* it accepts compressed replies */
	struct buf body;
	/* the reply */
	int status;
	struct buf out;			/* LWS_PRE bytes, then headers and body */
	size_t sent;
	bool replies, waits;		/* for a reader */
	bool close;			/* after the reply */
	/* the socket */
	bool paused;			/* nothing is read from it */
	int64_t wants_since_ns;		/* 0: does not want to send */
	int unsent;			/* bytes in the kernel when it was last looked at */
};

/* connection.c: sockets that are too slow, and too many of them */
struct connection *connection_new(struct server *s, struct lws *wsi);
/* The request is over, also one that is not answered yet. */
void connection_done(struct connection *c);
void connection_free(struct connection *c);
/* To be called once before the others; 0 or a negative errno. */
int connection_begin(struct server *s);
/* It sends now: more from its client ends it. */
void connection_streams(struct connection *c);
void connection_pause(struct connection *c, bool paused);
void connection_wrote(struct connection *c);
void connection_trust(struct connection *c);

/* server_reply.c */
#define REPLY_CLOSE (-1)
#define SERVER_TAG_GZIP "-gzip"	/* end of the tag of a compressed body, which is another text */
struct reply_headers {
	const char *location, *cookie;
	const char *tag;		/* of ETag: a client keeps it, and asks again; NULL: no-store */
	bool varies;			/* other clients get it compressed, or not */
	bool gzip;			/* the body is */
};

/* Of each reply, also of those that libwebsockets makes itself: a list. */
extern const struct lws_protocol_vhost_options server_headers[];

/* Begin to send: the body is copied. */
int server_reply(struct connection *c, int status, const char *type, const char *body, size_t len,
		 const struct reply_headers *more);
int server_reply_error(struct connection *c, int status, const char *why);
/* The headers of an endpoint, whose body has no known length. */
int server_reply_stream(struct connection *c, const char *type);
/* More of the reply: 0, 1 at its end, or REPLY_CLOSE. */
int server_reply_write(struct connection *c);
int server_status(int r);		/* of a negative errno */

/* server_http.c */
int server_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
		    size_t len);

/* server_watch.c */
int server_watch_callback(struct lws *wsi, enum lws_callback_reasons reason);

/* server_jobs.c */
void server_jobs_end(void);

/* server_listen.c */
int server_listen(struct server *s, struct error *err);
int server_tell_url(struct server *s, struct error *err);

#endif
