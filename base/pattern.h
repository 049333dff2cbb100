/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_PATTERN_H
#define BUILDBEAT_BASE_PATTERN_H

#include "base/error.h"

#include <regex.h>
#include <stdbool.h>

/*
 * A POSIX extended regular expression from a file, which fits any part of a text. What lets a
 * short expression need much time or memory is an error: references to groups, and repetitions
 * (+ is two) that make more than PATTERN_SIZE_MAX copies of its parts.
 */
#define PATTERN_MAX 1024
#define PATTERN_SIZE_MAX 2000

struct pattern {
	regex_t regex;
	bool made;
};

/* 0, -ENOMEM, or -EINVAL with err's message. */
int pattern_init(struct pattern *p, const char *text, struct error *err);
void pattern_release(struct pattern *p);

/* False also if there is no memory to compare. */
bool pattern_fits(const struct pattern *p, const char *text);

#endif
