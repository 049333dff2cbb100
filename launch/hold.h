/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_HOLD_H
#define BUILDBEAT_LAUNCH_HOLD_H

#include <signal.h>

/*
 * What would end us waits while something is under way that has to be cleared up:
 * SIGINT, SIGTERM, SIGHUP and SIGQUIT, but for those that are ignored anyway. fd can
 * be read from once one has come; it is not to be read. At the end it takes effect.
 */
struct hold {
	sigset_t old_mask;
	int fd;			/* 0: there is none */
};

void hold_begin(struct hold *h);
void hold_end(struct hold *h);

#endif
