/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_REDACT_WIDE_H
#define BUILDBEAT_COMMAND_REDACT_WIDE_H

#include <stdbool.h>

/*
 * Finds where words may begin, in many places of a text at once. The words are in eight groups, and the
 * first REDACT_WIDE_BYTES bytes of each count. A place is found if all bytes there fit one group: its lower
 * and its upper half both occur in words of that group at this position.
 */
#define REDACT_WIDE_BYTES 4
#define REDACT_WIDE_LEAST 35	/* fewer bytes are not searched */

struct redact_wide {
	/* a bit for each group, by the half of a byte */
	_Alignas(16) unsigned char low[REDACT_WIDE_BYTES][16], high[REDACT_WIDE_BYTES][16];
};

/* A word of the group has c at this position, in either case if fold is set. 0: any byte. */
void redact_wide_add(struct redact_wide *w, unsigned position, char c, bool fold, unsigned group);

/* Can this processor do it? Otherwise redact_wide() must not be called. */
bool redact_wide_usable(void);

/* The first such place. If less than REDACT_WIDE_LEAST bytes remain, none was found before it. */
const char *redact_wide(const struct redact_wide *w, const char *p, const char *end);

#endif
