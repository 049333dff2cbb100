/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_READER_POOL_H
#define BUILDBEAT_LIVE_READER_POOL_H

#include "base/buf.h"
#include "base/error.h"
#include "live/catalogue.h"
#include "live/route.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Replies to requests (route.h), made in child processes of the server, so that neither a large nor
 * a damaged recording holds up its loop. Each process reads one recording, or what is not about one
 * (the catalogue), and answers one request after the other. It is made by the first request. It
 * ends when it had none for a while, which is shorter for a large one when nobody is connected;
 * when another recording needs its place, when a request takes too long, and with the server.
 *
 * All is asynchronous, with one descriptor for any loop:
 *
 *	r = reader_pool_new(&pool, &catalogue, &reader_pool_defaults, &err);
 *	when reader_pool_fd(pool) is readable: reader_pool_run(pool);
 *	r = reader_pool_ask(pool, &question, done, client);
 *	when the client goes away: reader_pool_forget(pool, client);
 */
struct reader_pool;

struct reader_limits {
	unsigned readers;	/* at once */
	int64_t idle_ns;	/* a reader without requests ends after that */
	int64_t unused_ns;	/* and a large one after that, while the pool is alone */
	uint64_t large;		/* bytes of memory of its own */
	int64_t reply_ns;	/* a request that takes longer kills its reader */
	uint64_t memory;	/* of a reader's address space, in bytes; 0: no limit */
	size_t questions;	/* that wait; further ones get 503 at once */
};

extern const struct reader_limits reader_pool_defaults;

struct reader_question {
	const char *path;	/* "/api/v1/task", decoded */
	const char *query;	/* what follows the '?', as it came; may be NULL */
	size_t query_len;
	enum route_control control;
	bool gzip;		/* a long body may be compressed */
};

/* The answer: body can be taken over by the callee (leave BUF_INIT behind). status is of HTTP;
 * errors have a body, too: {"error": "..."}. type: of the content. */
struct reader_answer {
	int status;
	const char *type;
	bool gzip, varies;	/* the body is compressed; it could be */
	struct buf body;
};

typedef void reader_done(void *context, struct reader_answer *answer);

/* The catalogue is borrowed; the pool updates it. 0 or a negative errno. */
int reader_pool_new(struct reader_pool **pool, struct catalogue *catalogue,
		    const struct reader_limits *limits);

/* Kills the readers. No callback is called. */
void reader_pool_free(struct reader_pool *pool);

/* A descriptor (of epoll) that is readable when there is something to do, timeouts included; and
 * doing it. Callbacks are called by reader_pool_run() only. */
int reader_pool_fd(const struct reader_pool *pool);
void reader_pool_run(struct reader_pool *pool);

/* Ask. done is called once, except after reader_pool_forget() or a negative errno. -ENOMEM, or
 * -E2BIG: path or query too long. */
int reader_pool_ask(struct reader_pool *pool, const struct reader_question *q, reader_done *done,
		    void *context);

/* Do not call back with this context any more. */
void reader_pool_forget(struct reader_pool *pool, const void *context);

/* Nobody is connected, who could ask soon. So it is at the beginning. */
void reader_pool_alone(struct reader_pool *pool, bool alone);

/* Everything is read again: readers end as soon as they have answered what they were asked. */
void reader_pool_refresh(struct reader_pool *pool);

/*
 * In a reader: answer the requests that come by the socket until it is closed. id: of the recording,
 * NULL: none. reader_child.c
 */
int reader_serve(int fd, struct catalogue *catalogue, const char *id);

/* What both sides send: a question (then path and query), an answer (then type and body). */
#define READER_PATH_MAX 1024
#define READER_QUERY_MAX 8192
#define READER_BODY_MAX ((size_t)64 << 20)

struct reader_question_head {
	uint32_t path_len, query_len;
	uint32_t control, gzip;
};

struct reader_answer_head {
	uint32_t status;
	uint32_t type_len;	/* less than 128 */
	uint32_t gzip, varies;
	uint64_t body_len;
};

#endif
