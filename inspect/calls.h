/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CALLS_H
#define BUILDBEAT_INSPECT_CALLS_H

#include "base/buf.h"
#include "base/pattern.h"
#include "inspect/inspection.h"

/* The functions of call stacks. */

/* A call; one that was inlined is a call of its own. */
struct call {
	uint32_t function;	/* number in names; not below names.n: the frame has no name */
	uint32_t source;	/* number in names: the source file, INSPECTION_NONE */
	uint32_t line;		/* 0: unknown */
	uint32_t module;	/* INSPECTION_NONE: in no module */
};

struct calls {
	size_t n;
	struct call *call;	/* the innermost first */
	/* private */
	size_t cap;
	const struct inspection *in;
	struct buf *unnamed;	/* of each module and of no module: its text */
};

/* 0 or -ENOMEM; always release. in must outlive it. */
int calls_init(struct calls *c, const struct inspection *in);
void calls_release(struct calls *c);

/* Read the calls of a stack, INSPECTION_NONE: none. 0 or -ENOMEM. */
int calls_read(struct calls *c, uint32_t stack);

/* The name of a function; "MODULE!?" or "?" if the frame has no name. */
const char *calls_function(const struct calls *c, uint32_t function);

/* Does the name of any function fit? No filter (NULL) fits always, and one that fits "" also fits
 * no calls. */
bool calls_fit(const struct calls *c, const struct pattern *filter);

#endif
