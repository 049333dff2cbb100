/* SPDX-License-Identifier: MIT */
#include "live/reader_pool.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/readfile.h"
#include "live/compressed.h"
#include "live/reply.h"
#include "live/source.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_BYTES ((size_t)32 << 20)
#define REST 10			/* times as long as reading the catalogue took, before the next time */

#define QUIET_MS 100		/* without a question, before replies are made that nobody asked for yet */

/*
 * What pages show, in the order of its use. It is made when no question waits, so that a page that is
 * opened next need not wait. While a build runs, only what was asked for is made again after it grew.
 */
static const char *const ready_path[] = {
	"/api/v1/overview", "/api/v1/now", "/api/v1/chart", "/api/v1/tracker", "/api/v1/show", "/api/v1/garbage", "/api/v1/races",
	"/api/v1/ps", "/profile", "/api/v1/profile", "/api/v1/remaining", "/metrics",
};

struct ready {
	bool asked;
	char query[256];	/* the last one */
};

/* A reply that was made before, for a path with its query. */
struct cached {
	char *question;
	size_t len;
	struct reply reply;	/* owns its body */
	struct buf gzip;	/* the same, if it was asked for */
	uint64_t used;		/* counts requests */
};

struct server {
	int fd;
	struct catalogue *catalogue;
	struct source bound, newest;
	struct source *source;	/* one of them */
	int64_t catalogue_ns;	/* when it may be read again */
	uint64_t generation;	/* of the source or the catalogue, of all cached */
	uint64_t n_requests;
	size_t n_cached, cached_bytes;
	struct cached *cached;
	struct ready ready[ARRAY_SIZE(ready_path)];
	size_t next_ready;	/* those before it are made, of this generation: */
	uint64_t ready_generation;
	char rec[sizeof "rec=" + 256];	/* as the last question has it, or "" */
	bool quiet, renewed, slow;	/* since the last question; it is about a slow route */
	bool gzip;			/* the last question accepts it */
};

/* The cache */

static void drop_cached(struct server *s, size_t i)
{
	struct cached *c = &s->cached[i];

	s->cached_bytes -= c->reply.body.len + c->gzip.len;
	buf_release(&c->reply.body);
	buf_release(&c->gzip);
	free(c->question);
	*c = s->cached[--s->n_cached];
}

static void drop_all(struct server *s)
{
	while (s->n_cached)
		drop_cached(s, s->n_cached - 1);
}

static struct cached *find_cached(struct server *s, const char *question, size_t len)
{
	uint64_t generation = *s->bound.id ? s->bound.generation :
			      s->catalogue->generation;

	if (s->generation != generation)
		drop_all(s);
	s->generation = generation;
	for (size_t i = 0; i < s->n_cached; i++) {
		struct cached *c = &s->cached[i];

		if (c->len == len && !memcmp(c->question, question, len))
			return c;
	}
	return NULL;
}

/* Takes the body over if there is room. NULL: it does not. */
static struct cached *keep_reply(struct server *s, const char *question, size_t len, struct reply *reply)
{
	struct cached *c;
	char *copy;

	if (reply->status != 200 || !reply->keep || reply->body.len > CACHE_BYTES / 4)
		return NULL;
	while (s->n_cached && s->cached_bytes + reply->body.len > CACHE_BYTES) {
		size_t oldest = 0;

		for (size_t i = 1; i < s->n_cached; i++)
			oldest = s->cached[i].used < s->cached[oldest].used ? i : oldest;
		drop_cached(s, oldest);
	}
	copy = malloc(len + 1);
	c = copy ? array_add(&s->cached, &s->n_cached, sizeof *c) : NULL;
	if (!c) {
		free(copy);
		return NULL;
	}
	memcpy(copy, question, len);
	*c = (struct cached){ .question = copy, .len = len, .reply = *reply,
			      .used = s->n_requests };
	s->cached_bytes += reply->body.len;
	return c;
}

/* Answering */

static bool can_compress(const struct reply *reply)
{
	return reply->status == 200 && compressed_pays(reply->body.len);
}

static int send_reply(int fd, const struct reply *reply, const struct buf *gzip)
{
	const struct buf *body = gzip ? gzip : &reply->body;
	struct reader_answer_head head = {
		.status = (uint32_t)reply->status, .type_len = (uint32_t)strlen(reply->type),
		.gzip = gzip != NULL, .varies = can_compress(reply), .body_len = body->len,
	};
	int r = file_write_all(fd, &head, sizeof head);

	if (!r)
		r = file_write_all(fd, reply->type, head.type_len);
	return r || !body->len ? r : file_write_all(fd, body->data, body->len);
}

/* Compressed once; without memory it is sent as it is. */
static const struct buf *compress_cached(struct server *s, struct cached *c)
{
	if (!can_compress(&c->reply))
		return NULL;
	if (c->gzip.len)
		return &c->gzip;
	if (compressed_add(&c->gzip, c->reply.body.data, c->reply.body.len, COMPRESSED_FAST)) {
		buf_release(&c->gzip);
		return NULL;
	}
	s->cached_bytes += c->gzip.len;
	return &c->gzip;
}

static int send_once(int fd, struct reply *reply, bool gzip)
{
	struct buf packed = BUF_INIT;
	bool made = gzip && can_compress(reply) &&
		    !compressed_add(&packed, reply->body.data, reply->body.len, COMPRESSED_FAST);
	int r = send_reply(fd, reply, made ? &packed : NULL);

	buf_release(&packed);
	buf_release(&reply->body);
	return r;
}

static void reply_failure(struct reply *reply, int status, const char *message)
{
	reply->status = status;
	reply->type = "application/json";
	reply_error(&reply->body, message);
}

static int update(struct server *s, struct error *err)
{
	int64_t start_ns = clock_mono_ns();
	int r;

	if (*s->bound.id)
		return source_update(&s->bound, err);
	if (start_ns < s->catalogue_ns)
		return 0;
	r = catalogue_update(s->catalogue, err);
	s->catalogue_ns = clock_mono_ns();
	s->catalogue_ns += REST * (s->catalogue_ns - start_ns);
	return r;
}

static void make(struct server *s, struct reply *reply, const struct reader_question_head *head,
		 const char *question)
{
	reply_make(reply, s->source, question, question + head->path_len + 1, head->query_len,
		   (enum route_control)head->control);
	if (reply->body.len > READER_BODY_MAX)
		reply_failure(reply, 500, "the reply is larger than 64 MiB: ask for less of it");
}

/* The recording of a question. Of an archive, only its readers know which build is the newest. */
static int choose(struct server *s, const char *path, struct error *err)
{
	const struct catalogue_entry *first = catalogue_find(s->catalogue, NULL);
	const char *rest;
	const struct route *route = route_find(path, &rest);
	int r = 0;

	s->source = &s->bound;
	if (*s->bound.id || s->catalogue->kind != CATALOGUE_ARCHIVE || !first || !route ||
	    !reply_needs_recording(route))
		return 0;
	s->source = &s->newest;
	if (strcmp(first->id, s->newest.id)) {
		source_release(&s->newest);
		drop_all(s);
		r = source_init(&s->newest, s->catalogue, first->id);
	}
	return r ? error_sys(err, r, NULL, NULL) : source_update(&s->newest, err);
}

static int answer(struct server *s, const struct reader_question_head *head, const char *question)
{
	size_t len = head->path_len + 1 + head->query_len;
	struct error err = { .message = "" };
	struct reply reply = { .status = 200 };
	struct cached *c;
	int r = update(s, &err);

	s->n_requests++;
	if (!r)
		r = choose(s, question, &err);
	if (r) {
		reply_failure(&reply, r == -ESTALE ? 410 : r == -ENOENT ? 404 : 500, err.message);
		return send_once(s->fd, &reply, false);
	}
	c = find_cached(s, question, len);
	if (!c) {
		make(s, &reply, head, question);
		c = keep_reply(s, question, len, &reply);
	}
	if (!c)
		return send_once(s->fd, &reply, head->gzip);
	c->used = s->n_requests;
	return send_reply(s->fd, &c->reply, head->gzip ? compress_cached(s, c) : NULL);
}

/* The NUL of the path is within. */
static int read_question(struct server *s, struct reader_question_head *head, char *question)
{
	ssize_t n = readfile_some(s->fd, head, sizeof *head);

	if (n <= 0)
		return (int)n;
	if ((size_t)n < sizeof *head || head->path_len > READER_PATH_MAX ||
	    head->query_len > READER_QUERY_MAX)
		return -EPROTO;
	if (readfile_some(s->fd, question, head->path_len) != head->path_len)
		return -EPROTO;
	question[head->path_len] = '\0';
	if (readfile_some(s->fd, question + head->path_len + 1, head->query_len) != head->query_len)
		return -EPROTO;
	return 1;
}

/* Before a question comes */

static void note_ready(struct server *s, const char *path, const char *query, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(ready_path); i++) {
		struct ready *ready = &s->ready[i];

		if (strcmp(ready_path[i], path) != 0 || len >= sizeof ready->query)
			continue;
		ready->asked = true;
		snprintf(ready->query, sizeof ready->query, "%.*s", (int)len, query);
	}
}

static void note_question(struct server *s, const struct reader_question_head *head, const char *question)
{
	const char *query = question + head->path_len + 1, *end = memchr(query, '&', head->query_len);
	size_t len = end ? (size_t)(end - query) : head->query_len;
	const char *rest;
	const struct route *route = route_find(question, &rest);

	s->quiet = s->renewed = false;
	s->gzip = head->gzip;
	s->slow = route && route_is_slow(route, s->bound.running);
	*s->rec = '\0';
	if (len < sizeof s->rec && len >= 4 && !memcmp(query, "rec=", 4))
		snprintf(s->rec, sizeof s->rec, "%.*s", (int)len, query);
	note_ready(s, question, query, head->query_len);
	/* which the next overview has, too */
	if (s->slow && !strcmp(question, "/api/v1/overview"))
		note_ready(s, "/api/v1/remaining", s->rec, strlen(s->rec));
}

/* The next one to make, ARRAY_SIZE(ready_path): none. */
static size_t next_ready(struct server *s)
{
	if (s->ready_generation != s->bound.generation)
		s->next_ready = 0;
	s->ready_generation = s->bound.generation;
	while (s->next_ready < ARRAY_SIZE(ready_path) && !s->ready[s->next_ready].asked &&
	       (s->bound.running || s->slow || s->next_ready >= ARRAY_SIZE(ready_path) - 2))
		s->next_ready++;
	return s->next_ready;
}

static void make_ready(struct server *s, size_t i)
{
	const char *query = s->ready[i].asked ? s->ready[i].query : s->rec;
	char question[64 + sizeof s->ready[i].query + sizeof s->rec];
	int path_len = snprintf(question, 64, "%s", ready_path[i]);
	size_t len = (size_t)path_len + 1 + strlen(query);
	int64_t start_ns = clock_mono_ns();
	struct reply reply;
	struct cached *c;

	strcpy(question + path_len + 1, query);
	s->next_ready++;
	if (find_cached(s, question, len))
		return;
	reply_make(&reply, &s->bound, ready_path[i], query, strlen(query), false);
	c = keep_reply(s, question, len, &reply);
	if (!c)
		buf_release(&reply.body);
	else if (s->gzip)
		compress_cached(s, c);
	source_took(&s->bound, clock_mono_ns() - start_ns);
}

/* How long to wait for a question before something is to be done, -1: until one comes. */
static int patience_ms(struct server *s)
{
	int64_t renew_ns = source_renew_ns(&s->bound);

	if (!*s->bound.id || !s->n_requests)
		return -1;
	if (next_ready(s) < ARRAY_SIZE(ready_path))
		return s->quiet ? 0 : QUIET_MS;
	if (s->renewed || renew_ns == INT64_MAX)
		return -1;
	return renew_ns < 0 ? QUIET_MS : (int)(renew_ns / 1000000) % 60000 + QUIET_MS;
}

static void work_ahead(struct server *s)
{
	size_t i = next_ready(s);
	struct error ignored;

	s->quiet = true;
	if (i < ARRAY_SIZE(ready_path)) {
		make_ready(s, i);
	} else {
		source_renew(&s->bound, &ignored);
		s->renewed = true;
	}
}

int reader_serve(int fd, struct catalogue *catalogue, const char *id)
{
	struct server s = { .fd = fd, .catalogue = catalogue };
	struct reader_question_head head;
	char question[READER_PATH_MAX + 1 + READER_QUERY_MAX];
	int r = source_init(&s.bound, catalogue, id);

	while (!r) {
		struct pollfd more = { .fd = fd, .events = POLLIN };

		if (!poll(&more, 1, patience_ms(&s))) {
			work_ahead(&s);
			continue;
		}
		r = read_question(&s, &head, question);
		if (r <= 0)
			break;
		r = answer(&s, &head, question);
		note_question(&s, &head, question);
	}
	drop_all(&s);
	free(s.cached);
	source_release(&s.newest);
	source_release(&s.bound);
	return r;
}
