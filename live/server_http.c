/* SPDX-License-Identifier: MIT */
#include "live/server_private.h"

#include "base/clock.h"
#include "base/hex.h"
#include "convert/json_reader.h"
#include "live/compressed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_MAX 4096

static const struct {
	enum lws_token_indexes token;
	const char *name;
} methods[] = {
	{ WSI_TOKEN_GET_URI, "GET" }, { WSI_TOKEN_POST_URI, "POST" },
	{ WSI_TOKEN_HEAD_URI, "HEAD" }, { WSI_TOKEN_DELETE_URI, "DELETE" },
};

/* What a request's headers say; the texts are here. */
struct headers {
	struct guard_request request;
	char path[GUARD_PATH_MAX + 1], host[512], origin[512], cookie[HEADER_MAX],
	     authorization[128], token[64], last_id[128], etag[256];
	struct buf query;	/* encoded, without the token */
	bool too_long, two_lengths;
};

static const char *take(struct headers *h, struct lws *wsi, enum lws_token_indexes token, char *out,
			size_t size)
{
	if (!lws_hdr_total_length(wsi, token))
		return NULL;
	if (lws_hdr_copy(wsi, out, (int)size, token) >= 0)
		return out;
	h->too_long = true;
	return NULL;
}

/* libwebsockets has decoded the parameters; readers get them encoded. */
static void add_encoded(struct buf *b, const char *text, size_t len)
{
	bool value = false;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    strchr("-._~", c) || (c == '=' && !value))
			buf_addc(b, (char)c);
		else
			buf_addf(b, "%%%02X", c);
		value |= c == '=';
	}
}

static void take_query(struct headers *h, struct lws *wsi)
{
	char part[GUARD_HEADERS_MAX];
	int len;

	for (int i = 0; (len = lws_hdr_copy_fragment(wsi, part, sizeof part, WSI_TOKEN_HTTP_URI_ARGS, i)) >= 0; i++) {
		if (!strncmp(part, "token=", 6)) {
			/* a longer one is wrong too */
			part[sizeof h->token] = '\0';
			memcpy(h->token, part + 6, strlen(part + 6) + 1);
			h->request.token = h->token;
			continue;
		}
		if (h->query.len)
			buf_addc(&h->query, '&');
		add_encoded(&h->query, part, (size_t)len);
	}
}

/* A longer one is not taken. */
static bool accepts_gzip(struct lws *wsi)
{
	char accept[256];

	return lws_hdr_copy(wsi, accept, sizeof accept, WSI_TOKEN_HTTP_ACCEPT_ENCODING) > 0 &&
	       compressed_accepted(accept);
}

/* A longer one is not a browser's. */
static bool wants_page(struct lws *wsi)
{
	char accept[1024];

	return lws_hdr_copy(wsi, accept, sizeof accept, WSI_TOKEN_HTTP_ACCEPT) > 0 && strstr(accept, "text/html");
}

static bool take_headers(struct headers *h, struct lws *wsi)
{
	struct guard_request *q = &h->request;
	char number[24];

	*q = (struct guard_request){ .method = "", .path = "", .body_len = 0 };
	h->query = (struct buf)BUF_INIT;
	h->too_long = h->two_lengths = false;
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
		const char *path = take(h, wsi, methods[i].token, h->path, sizeof h->path);

		if (!path)
			continue;
		q->path = path;
		q->method = methods[i].name;
	}
	q->host = take(h, wsi, WSI_TOKEN_HOST, h->host, sizeof h->host);
	q->origin = take(h, wsi, WSI_TOKEN_ORIGIN, h->origin, sizeof h->origin);
	q->cookie = take(h, wsi, WSI_TOKEN_HTTP_COOKIE, h->cookie, sizeof h->cookie);
	q->authorization = take(h, wsi, WSI_TOKEN_HTTP_AUTHORIZATION, h->authorization,
				sizeof h->authorization);
	if (take(h, wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, number, sizeof number))
		q->body_len = strspn(number, "0123456789") == strlen(number) && strlen(number) < 16 ?
			      atoll(number) : GUARD_BODY_MAX + 1;
	else if (!strcmp(q->method, "POST"))
		q->body_len = -1;
	h->two_lengths = lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) &&
			 lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING);
	take_query(h, wsi);
	return !h->too_long && !buf_error(&h->query);
}

/* To the URL without the token. The cookie is only sent to this server's pages. */
static int admit(struct connection *c, struct headers *h)
{
	const struct guard *g = &c->server->private->guard;
	struct buf location = BUF_INIT;
	char cookie[2048], old[20][24];
	size_t n_old = guard_old_cookies(g, h->request.cookie, old, 20);
	int r, n;

	buf_adds(&location, h->path);
	if (h->query.len)
		buf_addf(&location, "?%s", buf_str(&h->query));
	n = snprintf(cookie, sizeof cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s", g->cookie,
		     g->token, g->tls ? "; Secure" : "");
	for (size_t i = 0; i < n_old; i++)
		n += snprintf(cookie + n, sizeof cookie - (size_t)n, "\r\nSet-Cookie: %s=; Path=/; Max-Age=0",
			      old[i]);
	r = buf_error(&location) ? REPLY_CLOSE :
	    server_reply(c, 303, "text/plain", "", 0,
			 &(struct reply_headers){ .location = location.data, .cookie = cookie });
	buf_release(&location);
	return r;
}

static const char *content_type(const char *type)
{
	return type ? type : "application/json";
}

/* Of a reader, which replies in JSON. */
static int reply_error_page(struct connection *c, const struct reader_answer *a)
{
	struct json_document doc;
	const char *why;
	struct error unused;
	int r = json_read_text(&doc, a->body.data, a->body.len, NULL, 1, &unused);

	if (r)
		return server_reply(c, a->status, a->type, a->body.data, a->body.len, NULL);
	why = json_member_text(doc.root, "error");
	r = server_reply_error(c, a->status, why ? why : "");
	json_document_release(&doc);
	return r;
}

static void on_answer(void *context, struct reader_answer *a)
{
	struct connection *c = context;
	const struct reply_headers more = { .varies = a->varies, .gzip = a->gzip };
	int r;

	c->private->waits = false;
	r = a->status >= 400 && c->private->person ? reply_error_page(c, a) :
	    server_reply(c, a->status, a->type, a->body.data, a->body.len, &more);
	if (r)
		lws_set_timeout(c->wsi, PENDING_TIMEOUT_KILLED_BY_PARENT, LWS_TO_KILL_ASYNC);
}

static enum route_control control_of(const struct server *s)
{
	const struct guard *g = &s->private->guard;

	return g->control ? ROUTE_CONTROLS : g->stacks ? ROUTE_STACKS : ROUTE_READS;
}

static int ask_reader(struct connection *c, const char *path, const struct buf *query)
{
	struct reader_question q = { path, query->data, query->len, control_of(c->server), c->private->gzip };

	if (reader_pool_ask(c->server->private->readers, &q, on_answer, c))
		return server_reply_error(c, 503, "the request cannot be answered");
	c->private->waits = true;
	connection_pause(c, true);
	return 0;
}

static const struct endpoint *find_endpoint(const char *path, bool websocket)
{
	for (size_t i = 0; endpoints_all[i]; i++) {
		for (const struct endpoint *e = endpoints_all[i]; e->path; e++) {
			if (!strcmp(e->path, path) && e->websocket == websocket)
				return e;
		}
	}
	return NULL;
}

/* 0, or a status of HTTP with err. */
static int begin_endpoint(struct connection *c, const struct endpoint *e, const struct headers *h,
			  struct error *err)
{
	struct query *q = calloc(1, sizeof *q);
	int r = q ? query_parse(q, buf_str((struct buf *)&h->query), h->query.len) : -ENOMEM;

	if (r)
		error_say(err, r, "the parameters cannot be read");
	else
		r = e->begin(c, q, *h->last_id ? h->last_id : NULL, err);
	free(q);
	if (!r)
		c->endpoint = e;
	return r ? server_status(r) : 0;
}

static const struct local_route *find_local(const char *path, const char **rest)
{
	for (size_t i = 0; endpoints_local[i]; i++) {
		for (const struct local_route *l = endpoints_local[i]; l->path; l++) {
			size_t len = strlen(l->path);

			*rest = path + len;
			if (!strncmp(path, l->path, len) && (l->path[len - 1] == '/' || !**rest))
				return l;
		}
	}
	return NULL;
}

static int reply_local(struct connection *c, const struct local_route *l, const char *rest,
		       const char *query, size_t query_len)
{
	struct reply out = { .status = 200 };
	struct query *q = malloc(sizeof *q);
	struct error err = { 0 };
	struct local_request request = { c->private->method, rest, q, buf_str(&c->private->body),
					 c->private->body.len };
	int r = q ? query_parse(q, query, query_len) : -ENOMEM;

	if (r)
		error_say(&err, r, "the parameters cannot be read");
	else
		r = l->reply(c->server, &out, &request, &err);
	free(q);
	if (!r)
		r = buf_error(&out.body);
	r = r ? server_reply_error(c, server_status(r), err.message) :
	    server_reply(c, out.status, content_type(out.type), out.body.data, out.body.len, NULL);
	buf_release(&out.body);
	return r;
}

/* Has the client one of this tag? If-None-Match is a list, whose tags may be weak, or '*'. */
static bool has_tag(const char *list, const char *tag, const char *more)
{
	size_t len = strlen(tag), more_len = strlen(more);

	for (const char *at = list; *at; at += strcspn(at, ",")) {
		at += strspn(at, ", \t");
		if (*at == '*')
			return true;
		at += 2 * !strncmp(at, "W/", 2);
		if (*at == '"' && !strncmp(at + 1, tag, len) && !strncmp(at + 1 + len, more, more_len) &&
		    at[1 + len + more_len] == '"')
			return true;
	}
	return false;
}

static int reply_asset(struct connection *c, const struct asset *a, const char *had)
{
	bool gzip = c->private->gzip;
	struct reply_headers more = { .tag = a->tag, .varies = true, .gzip = gzip };

	if (has_tag(had, a->tag, gzip ? SERVER_TAG_GZIP : ""))
		return server_reply(c, 304, NULL, "", 0, &more);
	return gzip ? server_reply(c, 200, a->type, a->gzip.data, a->gzip.len, &more) :
	       server_reply(c, 200, a->type, a->text, a->len, &more);
}

/* A request whose body, if it has one, has come. */
static int dispatch(struct connection *c, const char *path, const struct buf *query, const char *etag)
{
	const char *rest;
	const struct local_route *l = find_local(path, &rest);
	const struct asset *asset;

	if (l)
		return reply_local(c, l, rest, query->data ? query->data : "", query->len);
	if (strcmp(c->private->method, "GET") && strcmp(c->private->method, "HEAD"))
		return server_reply_error(c, 405, "this is read only");
	asset = assets_find(&c->server->private->assets, path);
	return asset ? reply_asset(c, asset, etag) : ask_reader(c, path, query);
}

static int accept_request(struct connection *c, struct headers *h)
{
	struct connection_private *p = c->private;
	const struct endpoint *e = find_endpoint(h->path, false);
	struct error err = { 0 };
	int status;

	connection_trust(c);
	c->server->private->asked_ns = clock_mono_ns();
	if (e && strcmp(h->request.method, "GET"))
		return server_reply_error(c, 405, "a stream can only be read");
	if (e) {
		status = begin_endpoint(c, e, h, &err);
		if (!status)
			connection_streams(c);
		return status ? server_reply_error(c, status, err.message) :
		       server_reply_stream(c, e->type);
	}
	if (strcmp(h->request.method, "POST"))
		return dispatch(c, h->path, &h->query, h->etag);
	if (h->request.body_len < 0)
		return server_reply_error(c, 411, "Content-Length is missing");
	p->path = strdup(h->path);
	p->query = strdup(buf_str(&h->query));
	return p->path && p->query ? 0 : REPLY_CLOSE;
}

static int on_request(struct connection *c)
{
	struct connection_private *p = c->private;
	struct headers *h = calloc(1, sizeof *h);
	struct guard_verdict v;
	int r;

	if (!h)
		return REPLY_CLOSE;
	lws_set_timeout(c->wsi, NO_PENDING_TIMEOUT, 0);
	p->person = wants_page(c->wsi);
	p->gzip = accepts_gzip(c->wsi);
	if (!take_headers(h, c->wsi)) {
		r = server_reply_error(c, 413, "a header is too long");
		goto out;
	}
	if (h->two_lengths) {
		r = server_reply_error(c, 400, "Content-Length and Transfer-Encoding exclude each other");
		goto out;
	}
	v = guard_check(&c->server->private->guard, &h->request);
	p->method = h->request.method;
	p->head = !strcmp(p->method, "HEAD");
	take(h, c->wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH, h->etag, sizeof h->etag);
	lws_hdr_custom_copy(c->wsi, h->last_id, sizeof h->last_id, "last-event-id:", 14);
	if (v.kind == GUARD_REFUSED)
		r = server_reply_error(c, v.status, v.why);
	else if (v.kind == GUARD_ADMITTED)
		r = admit(c, h);
	else
		r = accept_request(c, h);
out:
	buf_release(&h->query);
	free(h);
	return r;
}

static int on_body(struct connection *c, const void *data, size_t len)
{
	if (!c->private->path)
		return 0;
	if (c->private->body.len + len > GUARD_BODY_MAX)
		return REPLY_CLOSE;
	buf_add(&c->private->body, data, len);
	return buf_error(&c->private->body) ? REPLY_CLOSE : 0;
}

static int on_body_end(struct connection *c)
{
	struct connection_private *p = c->private;
	struct buf query = BUF_INIT;
	int r;

	if (!p->path)
		return 0;
	buf_adds(&query, p->query);
	r = buf_error(&query) ? REPLY_CLOSE : dispatch(c, p->path, &query, "");
	buf_release(&query);
	return r;
}

static int on_writable(struct connection *c)
{
	struct connection_private *p = c->private;
	bool close = p->close;
	int r;

	connection_wrote(c);
	if (!p->replies)
		return c->endpoint ? c->endpoint->writable(c) : 0;
	r = server_reply_write(c);
	if (r < 0)
		return r;
	/* the end of the reply may still be in libwebsockets: a client may never take it */
	if (!r || lws_partial_buffered(c->wsi)) {
		connection_want(c);
		return 0;
	}
	p->replies = false;
	if (c->endpoint) {
		buf_release(&p->out);
		connection_want(c);
		return 0;
	}
	connection_done(c);
	return close || lws_http_transaction_completed(c->wsi) ? REPLY_CLOSE : 0;
}

/* 0: go on with the upgrade. 1: it is answered. */
static int on_upgrade(struct connection *c, const char *what)
{
	struct headers *h;
	struct guard_verdict v;
	const struct endpoint *e;
	struct error err = { 0 };
	int status = 0;

	if (strcasecmp(what, "websocket"))
		return -1;
	h = calloc(1, sizeof *h);
	if (!h)
		return -1;
	if (!take_headers(h, c->wsi))
		status = 413;
	h->request.websocket = true;
	v = guard_check(&c->server->private->guard, &h->request);
	if (!status && v.kind == GUARD_REFUSED) {
		status = v.status;
		error_say(&err, 0, "%s", v.why);
	}
	if (!status) {
		connection_trust(c);
		e = find_endpoint(h->path, true);
		if (!e)
			error_say(&err, 0, "there is no websocket here");
		status = e ? begin_endpoint(c, e, h, &err) : 404;
		c->websocket = !status;
	}
	buf_release(&h->query);
	free(h);
	if (!status)
		return 0;
	/* libwebsockets ends the transaction itself after this; nothing is left to be written then */
	if (server_reply_error(c, status, err.message) || server_reply_write(c) < 0)
		return -1;
	connection_done(c);
	return -1;
}

int server_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
		    size_t len)
{
	struct connection *c = lws_get_opaque_user_data(wsi);

	(void)user;
	switch (reason) {
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
		return c ? on_upgrade(c, in) : -1;
	case LWS_CALLBACK_HTTP:
		return c ? on_request(c) : -1;
	case LWS_CALLBACK_HTTP_BODY:
		return c ? on_body(c, in, len) : -1;
	case LWS_CALLBACK_HTTP_BODY_COMPLETION:
		return c ? on_body_end(c) : -1;
	case LWS_CALLBACK_HTTP_WRITEABLE:
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return c ? on_writable(c) : -1;
	case LWS_CALLBACK_RECEIVE:
		return -1;	/* whatever a client of a websocket says ends it */
	case LWS_CALLBACK_RAW_ADOPT:	/* CONNECT makes libwebsockets go there */
	case LWS_CALLBACK_RAW_RX:
	case LWS_CALLBACK_RAW_WRITEABLE:
		return -1;
	case LWS_CALLBACK_RAW_RX_FILE:
	case LWS_CALLBACK_RAW_CLOSE_FILE:
		return server_watch_callback(wsi, reason);
	case LWS_CALLBACK_WSI_DESTROY:
		if (c && c->wsi == wsi)
			connection_free(c);
		return 0;
	default:
		return 0;
	}
}
