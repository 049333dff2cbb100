/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_CHAIN_BOUND_H
#define BUILDBEAT_ANALYSE_CHAIN_BOUND_H

#include "analyse/chain.h"

/*
 * How long the build takes at least, with any number of workers on free cores. In order happen, and their times
 * are added up:
 *	the tasks that made the targets of a task, also through groups, and the task
 *	the lines of one recipe of make
 *	what the host runs in its own order (QUEUE_ORDER)
 *	what a host does before its first task, with the commands of $(shell) in it
 *	what it does after its last task
 *	the instances in one task, or those in none, if one closed before the next one opened,
 *	and what the task does before, between and after them
 * Every task takes what it needs on a free core, and hosts, the part of a core that they would have got
 * (free_cores.h). Nothing else is waited for.
 *
 * Fills c->dependency and c->dependency_us if c->waits.has_dependencies; c->waits and c->free must be known. 0 or -ENOMEM. Private to chain.c.
 */
int chain_bound_fill(struct chain *c, const struct summary *s);

#endif
