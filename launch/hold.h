/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_HOLD_H
#define BUILDBEAT_LAUNCH_HOLD_H

#include <signal.h>

/*
 * Signals that would end this process wait until a clean-up is done: SIGINT, SIGTERM, SIGHUP and
 * SIGQUIT, except those that are ignored. fd becomes readable when one has arrived; do not read
 * from it. At the end the signal takes effect.
 */
struct hold {
	sigset_t old_mask;
	int fd;			/* 0: no signals are held */
};

void hold_begin(struct hold *h);
void hold_end(struct hold *h);

#endif
