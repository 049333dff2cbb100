/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TRACE_FLOWS_H
#define BUILDBEAT_TRACE_FLOWS_H

#include "analyse/chain.h"
#include "trace/sink.h"

/*
 * The arrows of a recording: from a task to those that waited for what it made, and from a task to
 * the instances that ran inside it. What they connect has a number: tasks have their index, and
 * instance i is number n_tasks + i.
 *
 * An arrow must not begin later than it ends. Times may be off by a little: if a task began before
 * the end of one that it waited for, the arrow begins before that. There is no arrow between two
 * tasks that began at the same time in the wrong order of s->order.
 */
struct flows {
	size_t n;
	/* Those that begin at a number i are from[first_from[i]] to from[first_from[i + 1]]; those
	 * that end at it likewise. us of `from` is the latest moment at which it may begin. */
	uint32_t *first_from, *first_to;
	struct sink_flow *from, *to;
};

/* Ids are first_id and above. 0 or -ENOMEM. Always release. */
int flows_make(struct flows *f, const struct summary *s, const struct chain *c,
	       uint64_t first_id);
void flows_release(struct flows *f);

#endif
