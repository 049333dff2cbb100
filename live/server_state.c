/* SPDX-License-Identifier: MIT */
/* The server about itself. */
#include "live/server_private.h"

#include "base/json.h"

#include <errno.h>
#include <string.h>

static size_t count_streams(const struct server_private *p)
{
	size_t n = 0;

	for (const struct connection *c = p->first; c; c = c->private->next)
		n += c->endpoint != NULL;
	return n;
}

static int reply_server(struct server *s, struct reply *out, const struct local_request *q, struct error *err)
{
	struct json j;

	if (strcmp(q->method, "GET") && strcmp(q->method, "HEAD"))
		return error_say(err, -EOPNOTSUPP, "expected GET");
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_str(&j, "version", PACKAGE_VERSION);
	json_int(&j, "connections", (int64_t)s->private->n_connections);
	json_int(&j, "streams", (int64_t)count_streams(s->private));
	json_object_end(&j);
	return 0;
}

const struct local_route server_state_routes[] = {
	{ "/api/v1/server", "", "The server itself: its version, connections and streams.", reply_server },
	{ 0 }
};
