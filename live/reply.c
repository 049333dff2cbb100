/* SPDX-License-Identifier: MIT */
#include "live/reply.h"

#include "base/json.h"
#include "base/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void reply_error(struct buf *body, const char *message)
{
	struct json j;

	buf_clear(body);
	json_init(&j, body, false);
	json_object(&j, NULL);
	json_str(&j, "error", message);
	json_object_end(&j);
}

static int status_of(int r)
{
	switch (r) {
	case -EINVAL:
		return 400;
	case -EPERM:
		return 403;
	case -ENOENT:
		return 404;
	case -ESTALE:
		return 410;
	default:
		return 500;
	}
}

bool reply_needs_recording(const struct route *route)
{
	return !strcmp(route->parameters, "rec") || str_starts(route->parameters, "rec,");
}

/* A misspelt parameter must not be ignored. */
static int check_keys(const struct query *q, const struct route *route, struct error *err)
{
	for (size_t i = 0; i < q->n; i++) {
		size_t len = strlen(q->key[i]);
		const char *at = route->parameters;

		while (at && (strncmp(at, q->key[i], len) || (at[len] && at[len] != ','))) {
			at = strchr(at, ',');
			at = at ? at + strspn(at, ", ") : NULL;
		}
		if (!at || !len)
			return error_say(err, -EINVAL, "unknown parameter '%.100s'; %s has %.200s",
					 q->key[i], route->path,
					 *route->parameters ? route->parameters : "none");
	}
	return 0;
}

static int make(struct reply *out, struct request *q, struct query *parsed, const char *path,
		const char *query, size_t query_len, struct error *err)
{
	int r;

	q->route = route_find(path, &q->rest);
	if (!q->route)
		return route_missing(path, err);
	if (query_parse(parsed, query, query_len))
		return error_say(err, -EINVAL, "damaged, too long or repeated parameters");
	r = check_keys(parsed, q->route, err);
	if (!r)
		r = q->route->reply(out, q, err);
	return r ? r : buf_error(&out->body);
}

void reply_make(struct reply *out, struct source *source, const char *path, const char *query,
		size_t query_len, enum route_control control)
{
	struct query parsed;
	struct request q = { .query = &parsed, .source = source, .control = control == ROUTE_CONTROLS,
			     .stacks = control != ROUTE_READS };
	struct error err = { .message = "" };
	char text[sizeof err.path + sizeof err.message];
	int r;

	*out = (struct reply){ .status = 200, .type = "application/json" };
	r = make(out, &q, &parsed, path, query, query_len, &err);
	if (!r)
		return;
	*out = (struct reply){ .status = status_of(r), .type = "application/json", .body = out->body };
	if (!err.message[0])
		error_sys(&err, r, NULL, NULL);
	snprintf(text, sizeof text, "%s%s%s", err.path, err.path[0] ? ": " : "", err.message);
	reply_error(&out->body, text);
}
