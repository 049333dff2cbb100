/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_JSON_READER_H
#define BUILDBEAT_CONVERT_JSON_READER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads JSON (RFC 8259). A small document is read whole; of a large one, a list with many
 * elements, one element at a time is in memory. Files packed by gzip are unpacked.
 *
 * Errors have line and column: the text is not JSON, values are nested deeper than JSON_DEPTH_MAX,
 * a string is longer than JSON_TEXT_MAX, or a value takes more memory than JSON_VALUE_MAX. Strings
 * need not be UTF-8, because file names need not be.
 */
#define JSON_DEPTH_MAX 64
#define JSON_TEXT_MAX (16u << 20)
#define JSON_VALUE_MAX (64u << 20)

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

struct json_value {
	enum json_type type;
	const char *name;	/* of the member; NULL in a list */
	const char *text;	/* a text without its escapes, or a number as written, with a
				   NUL behind it; "" for other types */
	size_t len;		/* of text, which may contain NULs */
	struct json_value *first, *next;	/* the values of a list or object, in order */
};

/* The first member of an object with this name; NULL without one. value may be NULL or of
 * another type. */
const struct json_value *json_member(const struct json_value *value, const char *name);

/* The text of a value, or of a member; "" if it is NULL or of another type. */
const char *json_text(const struct json_value *value);
const char *json_member_text(const struct json_value *value, const char *name);

/*
 * The number times 10^decimals, rounded: with decimals 6, seconds like 1.5 or 15e-1 become
 * microseconds. A text may contain the number. False if there is no number or it does not fit.
 */
bool json_number(const struct json_value *value, int decimals, int64_t *number);

/* The number, infinite if it is too large. False for other types. */
bool json_double(const struct json_value *value, double *number);

/* json_number() of a member; missing if that is false. */
int64_t json_member_number(const struct json_value *value, const char *name, int decimals,
			   int64_t missing);

/* A whole document. Its values live as long as it. */
struct json_document {
	struct json_value *root;
	struct json_memory *memory;	/* json_reader.c's */
};

/* 0, or a negative errno with err and nothing to release. first_line is the line of the file at
 * path with which text begins, 1 for a whole file. */
int json_read_file(struct json_document *doc, const char *path, struct error *err);
int json_read_text(struct json_document *doc, const char *text, size_t len,
		   const char *path, unsigned first_line, struct error *err);
void json_document_release(struct json_document *doc);

/*
 * A large document by its parts: each element of a list or each member of an object is a part.
 * Of the member called list each element is a part instead, without a name. The value is gone
 * after the call; line is where it begins. Reading ends with what the call returns if that is a
 * negative errno; the call fills the reader's err then.
 */
struct json_parts {
	const char *list;	/* or NULL */
	int (*part)(void *context, const struct json_value *value, unsigned line);
	void *context;
};

enum json_end {
	JSON_WHOLE,
	JSON_OPEN,		/* truncated between two parts */
	JSON_CUT,		/* truncated within a part, for which there was no call */
};

/* A truncated document is an error if end is NULL, or if there is not even its first bracket.
 * *line becomes the line where reading ended. */
int json_read_parts(const char *path, const struct json_parts *parts, enum json_end *end,
		    unsigned *line, struct error *err);

#endif
