/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_JSON_READER_H
#define BUILDBEAT_CONVERT_JSON_READER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The only place that reads JSON. A small document is read whole; of a large one,
 * a list of many elements, one element at a time is in memory. Files packed by gzip
 * are unpacked on the way. What is nested deeper than JSON_DEPTH_MAX, a text
 * longer than JSON_TEXT_MAX and a value that takes more memory than JSON_VALUE_MAX
 * is an error, as is what is no JSON, with the line and column where.
 */
#define JSON_DEPTH_MAX 64
#define JSON_TEXT_MAX (16u << 20)
#define JSON_VALUE_MAX (64u << 20)

enum json_type { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_LIST, JSON_OBJECT };

struct json_value {
	enum json_type type;
	const char *name;	/* of the member; NULL in a list */
	const char *text;	/* of a text, escapes undone, and of a number as it was
				   written; NUL behind. "" for the others */
	size_t len;		/* of text, where a NUL may be in it */
	struct json_value *first, *next;	/* what is in a list or object, in order */
};

/* The member of an object by its name. NULL: there is none, or value (which may be
 * NULL) is no object. */
const struct json_value *json_member(const struct json_value *value, const char *name);

/* The text, "" when value (which may be NULL) is none; and that of a member. */
const char *json_text(const struct json_value *value);
const char *json_member_text(const struct json_value *value, const char *name);

/*
 * The number times 10^decimals, rounded: with decimals 6, seconds like 1.5 or 15e-1
 * become microseconds. A text that is a number is taken for one. False: it is none,
 * value is NULL, or it does not fit.
 */
bool json_number(const struct json_value *value, int decimals, int64_t *number);

/* A number as it is; a text is none. False: it is none. What is too large is infinite. */
bool json_double(const struct json_value *value, double *number);

/* The number of a member as json_number() takes it; missing if there is none. */
int64_t json_member_number(const struct json_value *value, const char *name, int decimals,
			   int64_t missing);

/* A whole document. Its values live as long as it. */
struct json_document {
	struct json_value *root;
	struct json_memory *memory;	/* json_reader.c's */
};

/* 0, or a negative errno with err and nothing to release. first_line is that of text
 * in the file at path, 1 if it is all of it. */
int json_read_file(struct json_document *doc, const char *path, struct error *err);
int json_read_text(struct json_document *doc, const char *text, size_t len,
		   const char *path, unsigned first_line, struct error *err);
void json_document_release(struct json_document *doc);

/*
 * A large document by its parts: each element of a list or each member of an
 * object; but for the member that is called list, of which each element is a part,
 * without name. The value is gone after the call; line is where it begins. A
 * negative errno, with the reader's err filled, ends the reading.
 */
struct json_parts {
	const char *list;	/* or NULL */
	int (*part)(void *context, const struct json_value *value, unsigned line);
	void *context;
};

enum json_end {
	JSON_WHOLE,
	JSON_OPEN,		/* it ends between two parts */
	JSON_CUT,		/* it ends within a part, which was not given */
};

/* end NULL: a document that is not whole is an error. One of which not even the
 * first bracket is there always is; else *line becomes that of the end. */
int json_read_parts(const char *path, const struct json_parts *parts, enum json_end *end,
		    unsigned *line, struct error *err);

#endif
