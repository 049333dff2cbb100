/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SEND_HTTP_H
#define BUILDBEAT_SEND_HTTP_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Requests by libcurl. Certificates are checked, redirections are not followed: the headers, which
 * may have secrets, go to the host that the user named only.
 */

struct http;

/* For requests to one URL, each of which may take timeout_ms. NULL with err's text: out of memory,
 * or libcurl rejects a setting. */
struct http *http_new(const char *url, int64_t timeout_ms, char error[256]);
void http_free(struct http *h);

/* "NAME: VALUE". False if out of memory. */
bool http_add_header(struct http *h, const char *header);

struct http_answer {
	long status;		/* 0: there was no answer, error says why */
	enum http_failure {
		HTTP_LATER,	/* the network or the server: worth repeating */
		HTTP_TLS,	/* nor any other request before the user changes something */
		HTTP_URL,	/* no request to this URL will ever work */
	} failure;		/* without an answer */
	int64_t retry_after_ms;	/* -1: the server did not say */
	char error[256];
	char location[1024];	/* of a redirection; "" */
	struct buf body;	/* its beginning; the caller releases it */
};

/* Send a body that gzip compressed. */
void http_post(struct http *h, const struct buf *body, struct http_answer *answer);

#endif
