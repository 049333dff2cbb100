/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_SERVER_H
#define BUILDBEAT_LIVE_SERVER_H

#include "base/error.h"
#include "live/catalogue.h"
#include "live/query.h"
#include "live/route.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The server, one loop of libwebsockets. A request is decided upon by guard.h. Its reply comes from
 * the table of assets, from an endpoint, from a local route, or from a reader (route.h). For files
 * of live/ beside server.c only: others do not include libwebsockets.
 */
struct server_options {
	const char *path;	/* REC, DIR or REPO */
	const char *listen;	/* ADDR:PORT; NULL: loopback, any port */
	const char *unix_path;	/* a unix socket instead; NULL: none */
	const char *cert, *key;	/* files of TLS; NULL: none */
	bool insecure;		/* an address of the network without TLS is wanted */
	size_t n_names;
	const char *const *name;	/* further names that Host may have */
	bool control;
	int url_fd;		/* gets the URL, and is closed then */
	pid_t launcher;		/* the server ends after it; 0: after none */
	int64_t stay_ns;	/* so long after it; -1: the default of launch/serving.h */
};

struct server {
	const struct server_options *options;
	struct lws_context *context;
	struct lws_vhost *vhost;
	struct catalogue catalogue;
	struct server_private *private;
};

/* Serve until SIGINT or SIGTERM, or some time after its launcher's end. 0, or a negative errno with err. */
int server_run(const struct server_options *o, struct error *err);

/*
 * A connection on which an endpoint sends for as long as it likes: the body of a reply (SSE), or
 * messages of a websocket.
 */
struct connection {
	struct server *server;
	struct lws *wsi;
	const struct endpoint *endpoint;	/* NULL: none */
	void *state;			/* of the endpoint */
	bool websocket;
	struct connection_private *private;
};

/* What sends on connections; a table that ends with a row without a path (endpoints.c). */
struct endpoint {
	const char *path;
	const char *parameters, *summary;	/* as those of a route */
	bool websocket;
	const char *type;		/* Content-Type of one that is no websocket */
	/* Before anything is sent. last_id: Last-Event-ID, or NULL. 0, or a negative errno with err:
	 * the status of HTTP as for a route. */
	int (*begin)(struct connection *c, const struct query *q, const char *last_id,
		     struct error *err);
	/* The socket takes more, after connection_want(). Send at most one part by
	 * connection_send(); other than 0 ends the connection. */
	int (*writable)(struct connection *c);
	/* Of a begun one, however it ends. */
	void (*end)(struct connection *c);
};

extern const struct endpoint *const endpoints_all[];

/* Have writable() called once. A connection whose socket takes nothing ends within 5 s. */
void connection_want(struct connection *c);

/* Only in writable(): a text message, or a part of the body. What the socket does not take is
 * kept, so keep parts small (16 KiB). 0, or a negative errno: return it. */
int connection_send(struct connection *c, const void *data, size_t len);

/* A request that the server process itself answers, at once: nothing that reads a recording. */
struct local_request {
	const char *method;	/* "GET", "POST", "DELETE" */
	const char *rest;	/* as in struct request */
	const struct query *query;
	const char *body;	/* ended by a NUL; not NULL */
	size_t body_len;
};

struct local_route {
	const char *path, *parameters, *summary;	/* as in struct route */
	/* As of a route; -EOPNOTSUPP: 405. The server has checked that other methods than GET are
	 * allowed. */
	int (*reply)(struct server *s, struct reply *out, const struct local_request *q,
		     struct error *err);
};

extern const struct local_route *const endpoints_local[];

/*
 * Foreign descriptors in the loop: ready() is called when one is readable. The watch owns it;
 * server_unwatch() closes it, also from within ready(). NULL without memory: fd is still the caller's.
 * Timers: lws_sul_schedule(server->context, 0, ...).
 */
struct watch;
struct watch *server_watch(struct server *s, int fd, void (*ready)(void *context), void *context);

/* The same for a descriptor that the caller keeps: the watch owns a copy. NULL with errno. */
struct watch *server_watch_copy(struct server *s, int fd, void (*ready)(void *context),
				void *context);
void server_unwatch(struct watch *w);

#endif
