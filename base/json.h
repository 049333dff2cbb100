/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_JSON_H
#define BUILDBEAT_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The only place that writes JSON: it escapes, places commas and line breaks
 * and counts what is open. A name is given inside an object and is NULL inside
 * an array. Bytes that are not UTF-8 become U+FFFD.
 */
struct json {
	struct buf *out;
	unsigned depth;
	bool first;		/* nothing written yet at this depth */
	bool compact;		/* all on one line */
};

void json_init(struct json *j, struct buf *out, bool compact);

void json_object(struct json *j, const char *name);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *name);
void json_array_end(struct json *j);

void json_str(struct json *j, const char *name, const char *s);	/* NULL: null */
void json_strn(struct json *j, const char *name, const char *s, size_t len);
void json_int(struct json *j, const char *name, int64_t n);
/* A number that may not be known: below 0 becomes null. */
void json_known(struct json *j, const char *name, int64_t n);
void json_bool(struct json *j, const char *name, bool b);
void json_null(struct json *j, const char *name);

/* A number with that many decimals; not finite becomes null. */
void json_real(struct json *j, const char *name, double n, int decimals);

/* A number with twelve significant digits at most, as few as it has; not finite becomes null. */
void json_shortest(struct json *j, const char *name, double n);

#endif
