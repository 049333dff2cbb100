/* SPDX-License-Identifier: MIT */
#include "live/guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define RANDOM_BYTES (GUARD_TOKEN_LEN / 2 + 4)
#define COOKIE "buildbeat-"
#define COOKIE_LEN (strlen(COOKIE) + 8)
#define COOKIES_MAX 20		/* of other servers, which may run */

static void add_hex(char *out, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

int guard_init(struct guard *g)
{
	unsigned char bytes[RANDOM_BYTES];
	ssize_t n;

	do
		n = getrandom(bytes, sizeof bytes, 0);
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof bytes)
		return n < 0 ? -errno : -EIO;
	add_hex(g->token, bytes, GUARD_TOKEN_LEN / 2);
	memcpy(g->cookie, COOKIE, strlen(COOKIE));
	add_hex(g->cookie + strlen(COOKIE), bytes + GUARD_TOKEN_LEN / 2, 4);
	return 0;
}

/* Takes as long for every text of the same length. */
static bool is_token(const struct guard *g, const char *text, size_t len)
{
	unsigned char differs = 0;

	if (len != GUARD_TOKEN_LEN)
		return false;
	for (size_t i = 0; i < len; i++)
		differs |= (unsigned char)(text[i] ^ g->token[i]);
	return !differs;
}

static bool read_port(const char *text, unsigned *port)
{
	*port = 0;
	if (!*text)
		return true;
	if (*text++ != ':' || !*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		*port = *port * 10 + (unsigned)(*text - '0');
		if (*port > 65535)
			return false;
	}
	return true;
}

bool guard_split_host(const char *text, const char **host, size_t *host_len, unsigned *port)
{
	bool bracket = *text == '[';

	*host = text + bracket;
	*host_len = strspn(*host, bracket ? "0123456789abcdefABCDEF:." :
			   "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-_");
	text = *host + *host_len;
	if (!*host_len || (bracket && *text++ != ']'))
		return false;
	return read_port(text, port);
}

/* A path with nothing in it that another program could read otherwise. */
static bool is_path(const char *path)
{
	if (*path != '/')
		return false;
	for (const char *p = path; *p; p++) {
		if (*p < ' ' || *p > '~' || *p == '\\' || *p == '%')
			return false;
		if (*p == '/' && (p[1] == '/' || (p[1] == '.' && (!p[2] || p[2] == '/')) ||
				  (p[1] == '.' && p[2] == '.' && (!p[3] || p[3] == '/'))))
			return false;
	}
	return strlen(path) <= GUARD_PATH_MAX;
}

static bool is_same(const char *text, size_t len, const char *other)
{
	return other && strlen(other) == len && !strncasecmp(text, other, len);
}

static bool is_our_host(const struct guard *g, const char *text)
{
	static const char *const loopback[] = { "127.0.0.1", "localhost", "::1" };
	const char *host;
	size_t len;
	unsigned port;

	if (!text || !guard_split_host(text, &host, &len, &port))
		return false;
	/* an address of IPv6 is in brackets, everything else is not */
	if ((*text == '[') != !!memchr(host, ':', len))
		return false;
	for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++) {
		if (is_same(host, len, loopback[i]))
			return true;
	}
	for (size_t i = 0; i < g->n_names; i++) {
		if (is_same(host, len, g->name[i]))
			return true;
	}
	return is_same(host, len, g->address);
}

static bool is_our_origin(const struct guard *g, const struct guard_request *q)
{
	const char *scheme = g->tls ? "https://" : "http://";
	size_t len = strlen(scheme);

	return !strncasecmp(q->origin, scheme, len) && !strcasecmp(q->origin + len, q->host);
}

static bool has_bearer(const struct guard *g, const char *text)
{
	if (!text || strncasecmp(text, "Bearer ", 7))
		return false;
	text += 7 + strspn(text + 7, " ");
	return is_token(g, text, strlen(text));
}

/* "a=b; buildbeat-12345678=TOKEN"; also when another cookie has the same name. */
static bool has_cookie(const struct guard *g, const char *text)
{
	size_t name_len = strlen(g->cookie);

	while (text && *text) {
		size_t len = strcspn(text, ";");

		if (len > name_len && text[name_len] == '=' && !strncmp(text, g->cookie, name_len) &&
		    is_token(g, text + name_len + 1, len - name_len - 1))
			return true;
		text += len;
		text += strspn(text, "; ");
	}
	return false;
}

static bool is_cookie_of_ours(const char *text, size_t len)
{
	return len > COOKIE_LEN && text[COOKIE_LEN] == '=' && !strncmp(text, COOKIE, strlen(COOKIE)) &&
	       strspn(text + strlen(COOKIE), "0123456789abcdef") == COOKIE_LEN - strlen(COOKIE);
}

size_t guard_old_cookies(const struct guard *g, const char *cookies, char (*name)[24], size_t n)
{
	size_t n_all = 0, n_old = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (const char *at = cookies; at && *at; at += strspn(at, "; ")) {
			size_t len = strcspn(at, ";");

			if (is_cookie_of_ours(at, len) && strncmp(at, g->cookie, COOKIE_LEN)) {
				/* the oldest come first (RFC 6265, 5.4) */
				if (pass && n_old + COOKIES_MAX < n_all && n_old < n)
					snprintf(name[n_old++], 24, "%.*s", (int)COOKIE_LEN, at);
				n_all += !pass;
			}
			at += len;
		}
	}
	return n_old;
}

static struct guard_verdict refuse(int status, const char *why)
{
	return (struct guard_verdict){ GUARD_REFUSED, status, why };
}

struct guard_verdict guard_check(const struct guard *g, const struct guard_request *q)
{
	bool reads = !strcmp(q->method, "GET") || !strcmp(q->method, "HEAD");
	bool bearer = has_bearer(g, q->authorization), cookie = has_cookie(g, q->cookie);
	bool token = q->token && is_token(g, q->token, strlen(q->token));

	if (!is_our_host(g, q->host))
		return refuse(421, "this server does not have the name in Host; see --host-name");
	if (q->origin && !is_our_origin(g, q) && (q->websocket || !reads))
		return refuse(403, "the request comes from the page of another site");
	if (!reads && strcmp(q->method, "POST") && strcmp(q->method, "DELETE"))
		return refuse(405, "the method is not supported");
	if (!is_path(q->path))
		return refuse(400, "the path is not valid");
	if (!bearer && !cookie && !token)
		return refuse(401, q->token || q->authorization ?
			      "the token is not that of this server, which has a new one after each start: "
			      "open the URL that it printed" :
			      "the token is missing: open the URL that the server printed");
	if (q->body_len > (reads ? 0 : GUARD_BODY_MAX))
		return refuse(413, "the body is too large");
	if ((q->websocket || !reads) && !q->origin && !bearer)
		return refuse(403, "the request has no Origin");
	if (!reads && !g->control && strcmp(q->path, GUARD_REFRESH) &&
	    !(g->stacks && !strcmp(q->method, "POST") && !strcmp(q->path, GUARD_TASKS)))
		return refuse(403, "the server was started without --allow-control");
	if (q->token && !q->websocket && reads)
		return (struct guard_verdict){ .kind = GUARD_ADMITTED, .status = 303 };
	return (struct guard_verdict){ .kind = GUARD_ALLOWED, .status = 200 };
}
