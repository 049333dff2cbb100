/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_OTLP_MESSAGE_H
#define BUILDBEAT_TRACE_OTLP_MESSAGE_H

#include "base/buf.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A message of OTLP in one of its two encodings, so that the code that says what is in a message
 * is the same for both. In protobuf a field has a number, in JSON a name. In JSON, ids are
 * hexadecimal, and 64-bit numbers are texts. Texts that are not UTF-8 are repaired, because
 * a collector may reject the whole request otherwise. Errors are those of the buffer.
 */

enum otlp_encoding { OTLP_PROTOBUF, OTLP_JSON };

struct otlp_message {
	struct buf *out;
	enum otlp_encoding encoding;
	struct json json;
	struct buf text;	/* a repaired one */
	unsigned depth;
	size_t begin[12];	/* of the open messages */
};

struct otlp_field {
	unsigned number;
	const char *name;
};

/* Release with otlp_message_release(), which leaves out as it is. */
void otlp_message_init(struct otlp_message *m, struct buf *out, enum otlp_encoding encoding);
void otlp_message_release(struct otlp_message *m);

/* The outermost message, which is no field. */
void otlp_begin_all(struct otlp_message *m);
void otlp_end_all(struct otlp_message *m);

/* A message as a field. A repeated one is a list of items. */
void otlp_begin(struct otlp_message *m, struct otlp_field f);
void otlp_end(struct otlp_message *m);
void otlp_list(struct otlp_message *m, struct otlp_field f);
void otlp_list_end(struct otlp_message *m);
void otlp_item(struct otlp_message *m, struct otlp_field f);

void otlp_text(struct otlp_message *m, struct otlp_field f, const char *s, size_t len);
void otlp_str(struct otlp_message *m, struct otlp_field f, const char *s);
/* An id of a trace or span, from its hexadecimal digits. */
void otlp_id(struct otlp_message *m, struct otlp_field f, const char *digits);
void otlp_enum(struct otlp_message *m, struct otlp_field f, unsigned value);
void otlp_bool(struct otlp_message *m, struct otlp_field f, bool value);
void otlp_fixed64(struct otlp_message *m, struct otlp_field f, int64_t n);
void otlp_double(struct otlp_message *m, struct otlp_field f, double n);
void otlp_fixed64_list(struct otlp_message *m, struct otlp_field f, const uint64_t *n, size_t count);
void otlp_double_list(struct otlp_message *m, struct otlp_field f, const double *n, size_t count);

/* An item of a list of attributes, whose field is f. */
void otlp_attribute(struct otlp_message *m, struct otlp_field f, const char *key,
		    const char *value, size_t len);
void otlp_attribute_number(struct otlp_message *m, struct otlp_field f, const char *key,
			   int64_t value);
void otlp_attribute_bool(struct otlp_message *m, struct otlp_field f, const char *key,
			 bool value);

#endif
