/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_QUERY_H
#define BUILDBEAT_LIVE_QUERY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The parameters of a request, "a=1&b=%20": decoded, at most QUERY_MAX of them in at most
 * QUERY_TEXT bytes. Keys and values have no NUL.
 */
#define QUERY_MAX 32
#define QUERY_TEXT 4096

struct query {
	size_t n;
	const char *key[QUERY_MAX], *value[QUERY_MAX];	/* in text */
	char text[QUERY_TEXT];
};

/* 0, or -EINVAL: not decodable, too many or too long, or one key twice. */
int query_parse(struct query *q, const char *text, size_t len);

/* NULL if it is not there. */
const char *query_text(const struct query *q, const char *key);

/* A decimal number from min to max, or `otherwise` if it is not there. 0, or -EINVAL with err. */
int query_number(const struct query *q, const char *key, int64_t min, int64_t max,
		 int64_t otherwise, int64_t *out, struct error *err);

/* "1" or an empty value: true. */
bool query_flag(const struct query *q, const char *key);

#endif
