/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_JSON_H
#define BUILDBEAT_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The only writer of JSON. It escapes texts, places commas and line breaks, and knows the open
 * objects and arrays. A value in an object has a name; in an array, and outside of both, the name
 * is NULL. Bytes that are not UTF-8 become U+FFFD.
 *
 * A call that would write something else than JSON sets the buffer's error to -EINVAL: a name
 * where none belongs, a missing name, an end of what is not open, a second value outside of all.
 */
struct json {
	struct buf *out;
	unsigned depth;
	uint64_t objects;	/* bit i: an object is open at depth i + 1; deeper ones are not checked */
	bool first;		/* nothing written yet at this depth */
	bool compact;		/* all on one line */
};

/* Called for such a call, if there is a function of that name. Tests have one that aborts, which shows
 * who made the call. */
void json_misused(void) __attribute__((weak, visibility("hidden")));

void json_init(struct json *j, struct buf *out, bool compact);

void json_object(struct json *j, const char *name);
void json_object_end(struct json *j);
void json_array(struct json *j, const char *name);
void json_array_end(struct json *j);

void json_str(struct json *j, const char *name, const char *s);	/* NULL: null */
void json_strn(struct json *j, const char *name, const char *s, size_t len);
void json_int(struct json *j, const char *name, int64_t n);
/* A number that may be unknown: a negative one becomes null. */
void json_known(struct json *j, const char *name, int64_t n);
void json_bool(struct json *j, const char *name, bool b);
void json_null(struct json *j, const char *name);

/* A number with that many decimals; null if it is not finite. */
void json_real(struct json *j, const char *name, double n, int decimals);

/* A number with as few digits as it needs, at most twelve; null if it is not finite. */
void json_shortest(struct json *j, const char *name, double n);

/*
 * Write the text of a string, without its quotes, to memory that has room for JSON_TEXT_ROOM(len)
 * bytes. Returns its end. For writers of very many small objects, whose other parts are known.
 */
#define JSON_TEXT_ROOM(len) (6 * (len) + 8)
char *json_put_text(char *to, const char *s, size_t len);

#endif
