/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SEND_PARTIAL_H
#define BUILDBEAT_SEND_PARTIAL_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/*
 * What a collector answers to a request that it accepted: how many of its spans or points it
 * rejected all the same, and a message about that, which is a warning if there are none. Both are
 * 0 and "" if the answer, of any bytes, does not say.
 */
struct partial {
	int64_t rejected;
	char message[256];
};

void partial_read(struct partial *p, const char *body, size_t len);

#endif
