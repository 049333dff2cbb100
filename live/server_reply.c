/* SPDX-License-Identifier: MIT */
#include "live/server_private.h"

#include <errno.h>
#include <string.h>

#include "base/json.h"
#include "base/minmax.h"
#include "report/html.h"

#define PART 65536	/* bytes that are sent at once */

static const char *status_text(int status)
{
	static const struct {
		int status;
		const char *text;
	} texts[] = {
		{ 200, "OK" }, { 202, "Accepted" }, { 204, "No Content" }, { 303, "See Other" },
		{ 304, "Not Modified" }, { 400, "Bad Request" }, { 401, "Unauthorized" },
		{ 403, "Forbidden" }, { 404, "Not Found" }, { 405, "Method Not Allowed" },
		{ 410, "Gone" }, { 411, "Length Required" }, { 413, "Content Too Large" },
		{ 421, "Misdirected Request" }, { 429, "Too Many Requests" },
		{ 503, "Service Unavailable" },
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		if (texts[i].status == status)
			return texts[i].text;
	}
	return "Internal Server Error";
}

int server_status(int r)
{
	switch (r) {
	case 0:
		return 200;
	case -ENOENT:
		return 404;
	case -EINVAL:
		return 400;
	case -EPERM:
		return 403;
	case -EOPNOTSUPP:
		return 405;
	case -ESTALE:
		return 410;
	case -EBUSY:
		return 429;
	case -EAGAIN:
		return 503;
	default:
		return 500;
	}
}

/* No other site may read, embed or frame anything, and our own pages get nothing from elsewhere. */
const struct lws_protocol_vhost_options server_headers[] = {
	{ &server_headers[1], NULL, "Content-Security-Policy:", "default-src 'none'; script-src 'self'; "
	  "style-src 'self'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; "
	  "base-uri 'none'; form-action 'self'" },
	{ &server_headers[2], NULL, "X-Content-Type-Options:", "nosniff" },
	{ &server_headers[3], NULL, "X-Frame-Options:", "DENY" },
	{ &server_headers[4], NULL, "Referrer-Policy:", "no-referrer" },
	{ &server_headers[5], NULL, "Cross-Origin-Resource-Policy:", "same-origin" },
	{ NULL, NULL, "Cross-Origin-Opener-Policy:", "same-origin" },
};

static void add_headers(struct connection *c, const char *type, const struct reply_headers *more)
{
	struct connection_private *p = c->private;
	struct buf *b = &p->out;

	buf_addf(b, "HTTP/1.1 %d %s\r\n", p->status, status_text(p->status));
	if (type)
		buf_addf(b, "Content-Type: %s\r\n", type);
	if (more && more->location)
		buf_addf(b, "Location: %s\r\n", more->location);
	if (more && more->cookie)
		buf_addf(b, "Set-Cookie: %s\r\n", more->cookie);
	if (p->status == 401)
		buf_adds(b, "WWW-Authenticate: Bearer\r\n");
	if (more && more->gzip)
		buf_adds(b, "Content-Encoding: gzip\r\n");
	if (more && more->varies)
		buf_adds(b, "Vary: Accept-Encoding\r\n");
	if (more && more->tag)
		buf_addf(b, "ETag: \"%s%s\"\r\nCache-Control: private, no-cache\r\n", more->tag,
			 more->gzip ? SERVER_TAG_GZIP : "");
	else
		buf_adds(b, "Cache-Control: no-store\r\n");
	for (const struct lws_protocol_vhost_options *o = server_headers; o; o = o->next)
		buf_addf(b, "%s %s\r\n", o->name, o->value);
	if (p->close)
		buf_adds(b, "Connection: close\r\n");
}

static int begin_reply(struct connection *c)
{
	struct connection_private *p = c->private;
	char space[LWS_PRE] = "";

	p->replies = true;
	buf_clear(&p->out);
	buf_add(&p->out, space, sizeof space);
	p->sent = LWS_PRE;
	return buf_error(&p->out) ? REPLY_CLOSE : 0;
}

int server_reply(struct connection *c, int status, const char *type, const char *body, size_t len,
		 const struct reply_headers *more)
{
	struct connection_private *p = c->private;

	c->private->status = status;
	if (begin_reply(c))
		return REPLY_CLOSE;
	add_headers(c, type, more);
	if (status != 304)
		buf_addf(&p->out, "Content-Length: %zu\r\n", len);
	buf_adds(&p->out, "\r\n");
	if (!p->head)
		buf_add(&p->out, body, len);
	if (buf_error(&p->out))
		return REPLY_CLOSE;
	connection_want(c);
	return 0;
}

static void add_error_page(struct buf *out, int status, const char *why)
{
	const struct html_site site = { .path = "/" };
	struct markup h;

	html_head(&h, out, status_text(status), &site);
	markup_end(&h);
	markup_begin(&h, "body");
	markup_begin(&h, "main");
	markup_leaf(&h, "h1", NULL, status_text(status));
	markup_leaf(&h, "p", NULL, why);
	markup_begin(&h, "p");
	markup_begin(&h, "a");
	markup_attr(&h, "href", "/");
	markup_text(&h, "Overview of the build");
	while (h.depth)
		markup_end(&h);
}

static void add_error(struct buf *out, const char *why)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j, NULL);
	json_str(&j, "error", why);
	json_object_end(&j);
	buf_addc(out, '\n');
}

/* A request that is refused may have a body, which nobody reads: the connection ends. */
int server_reply_error(struct connection *c, int status, const char *why)
{
	bool person = c->private->person;
	struct buf text = BUF_INIT;
	int r;

	if (person)
		add_error_page(&text, status, why);
	else
		add_error(&text, why);
	c->private->close = true;
	r = buf_error(&text) ? REPLY_CLOSE :
	    server_reply(c, status, person ? "text/html; charset=utf-8" : "application/json", text.data,
			 text.len, NULL);
	buf_release(&text);
	return r;
}

int server_reply_stream(struct connection *c, const char *type)
{
	c->private->status = 200;
	c->private->close = true;
	if (begin_reply(c))
		return REPLY_CLOSE;
	add_headers(c, type, NULL);
	buf_adds(&c->private->out, "\r\n");
	if (buf_error(&c->private->out))
		return REPLY_CLOSE;
	connection_want(c);
	return 0;
}

int server_reply_write(struct connection *c)
{
	struct connection_private *p = c->private;
	size_t left = p->out.len - p->sent, n = MIN(left, PART);
	unsigned char *from = (unsigned char *)p->out.data + p->sent;

	if (n && lws_write(c->wsi, from, n, p->sent == LWS_PRE ? LWS_WRITE_HTTP_HEADERS :
			   LWS_WRITE_HTTP) < (int)n)
		return REPLY_CLOSE;
	p->sent += n;
	return p->sent == p->out.len;
}
