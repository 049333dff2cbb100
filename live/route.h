/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_ROUTE_H
#define BUILDBEAT_LIVE_ROUTE_H

#include "base/buf.h"
#include "base/error.h"
#include "live/query.h"

struct source;

/*
 * What the server replies to requests about recordings. Replies are made in processes of their own,
 * the readers (reader.h), one request after the other, so that neither a large nor a damaged recording
 * holds up the server. A reader keeps what it read of its recording (source.h).
 */
struct reply {
	int status;		/* of HTTP; 200 at first */
	const char *type;	/* "application/json" at first */
	bool keep;		/* same question, same reply, until the recording (without rec: the
				   list of recordings) changes: it is cached */
	struct buf body;
};

struct request {
	const struct route *route;
	const char *rest;	/* of the path, after that of a route that ends with '/' */
	const struct query *query;
	struct source *source;	/* of the parameter rec if the route has that one, first; see source.h.
				   source->catalogue is there in any case */
	bool control;		/* --allow-control */
	bool stacks;		/* call stacks of the build's processes may be taken */
};

/* What a client may do besides reading; the token is checked before. */
enum route_control {
	ROUTE_READS,
	ROUTE_CONTROLS,		/* everything: --allow-control */
	ROUTE_STACKS,		/* take call stacks of processes of the build that the server was started for */
};

struct route {
	const char *path;	/* "/api/v1/task", or "/api/v1/inspections/": with a rest */
	const char *parameters;	/* "rec, id" */
	const char *summary;	/* a sentence, for /api/v1/ and its page */
	/* 0, or a negative errno with err: -ENOENT is 404, -EINVAL 400, -EPERM 403, -ESTALE 410,
	 * others 500. */
	int (*reply)(struct reply *out, const struct request *q, struct error *err);
};

/* Tables that end with a row without a path, one a file api_NAME.c; all of them, ended by NULL
 * (routes.c). */
extern const struct route *const routes_all[];

/* NULL: none. rest: as in struct request. */
const struct route *route_find(const char *path, const char **rest);

/* The error of a path that there is not, -ENOENT: paths of before version 1 of the interface name theirs. */
int route_missing(const char *path, struct error *err);

/* May it take seconds at first? Then a reader of its own makes it, and other replies do not wait.
 * running: it is about a build that runs. */
bool route_is_slow(const struct route *route, bool running);

#endif
