/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_GUARD_H
#define BUILDBEAT_LIVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Which requests the server answers. Nothing here looks at a socket.
 *
 * Host must be a loopback name or address, the address of --listen or a name of --host-name: a page
 * of another site whose name was made to point at this machine (DNS rebinding) has its own name
 * there. Who asks must have the token: in the cookie, as "Authorization: Bearer", or in the URL,
 * which is answered by the cookie and a redirection to the URL without it. A websocket, and a method
 * other than GET and HEAD, must come from our own page: Origin is what Host says; without Origin only
 * a Bearer token is enough.
 */
#define GUARD_TOKEN_LEN 32		/* hexadecimal digits */
#define GUARD_HEADERS_MAX 8192		/* bytes: request line and headers */
#define GUARD_PATH_MAX 1024
#define GUARD_BODY_MAX 65536

struct guard {
	char token[GUARD_TOKEN_LEN + 1];
	char cookie[24];		/* its name; see guard_init() */
	bool tls;
	bool control;			/* methods other than GET and HEAD are allowed */
	bool stacks;			/* of these, only POST to GUARD_TASKS */
	const char *address;		/* of --listen, without port and brackets; NULL: none */
	size_t n_names;
	const char *const *name;	/* of --host-name */
};

/* Headers: NULL if they are not there. */
struct guard_request {
	const char *method;
	const char *path;		/* decoded, without the query */
	const char *host, *origin, *cookie, *authorization;
	const char *token;		/* of the query */
	bool websocket;
	long long body_len;		/* -1: not known */
};

enum guard_kind {
	GUARD_REFUSED,		/* status and why */
	GUARD_ALLOWED,
	GUARD_ADMITTED,		/* set the cookie and redirect to the URL without the token */
};

struct guard_verdict {
	enum guard_kind kind;
	int status;		/* of HTTP */
	const char *why;
};

/* A new random token, and a cookie's name that is this server's: cookies do not know ports. 0 or a
 * negative errno. */
int guard_init(struct guard *g);

/* The only path to which a POST changes nothing but what the server has kept: it needs no control. */
#define GUARD_REFRESH "/api/v1/refresh"

/* Background tasks. Without control, the server takes requests for call stacks of its own build only. */
#define GUARD_TASKS "/api/v1/tasks"

struct guard_verdict guard_check(const struct guard *g, const struct guard_request *q);

/* A browser sends the cookies of all servers that it has seen on a host until it ends. The names of the
 * oldest of other servers beyond some, to be removed: at most n, as many as returned. */
size_t guard_old_cookies(const struct guard *g, const char *cookies, char (*name)[24], size_t n);

/* ADDR:PORT, [ADDR]:PORT or NAME, of Host: false if it is none of these. The port is 0 if there
 * is none. host and host_len: without brackets. */
bool guard_split_host(const char *text, const char **host, size_t *host_len, unsigned *port);

#endif
