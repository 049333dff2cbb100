/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_WITNESS_H
#define BUILDBEAT_LAUNCH_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A process cannot know whether a signal was sent to it alone by kill() or to its whole group by
 * killpg(). The witness finds this out: it is a child of the launcher, in the same process group,
 * and only waits for signals. A signal that the witness received as well was not sent to the
 * launcher alone.
 *
 * The witness has no open descriptors. Its name and command line are those of the command, so that
 * pkill and killall select both or neither. It always ends with the launcher.
 *
 * Sets of signals are bits here, see witness_bit().
 */
struct witness {
	pid_t pid;		/* 0: there is no witness */
	struct witness_page *page;	/* memory shared with it and with the command's process */
};

/* 1 << number for the numbers 1 to 63; 0 for others. */
static inline uint64_t witness_bit(int sig)
{
	return sig > 0 && sig < 64 ? (uint64_t)1 << sig : 0;
}

/* The launcher and the witness wake each other by this signal. Without a handler the kernel
 * ignores it. */
#define WITNESS_SIGNAL SIGURG

/*
 * The caller must have blocked the watched signals and WITNESS_SIGNAL. After a failure w->pid is
 * 0, and the launcher works without a witness.
 */
void witness_start(struct witness *w, const sigset_t *watched, char *const *command);

/*
 * Get the signals that the witness has received since the last call. If one call sent a signal to
 * the whole group and the launcher has it, the witness has it as well. False: the witness does not
 * answer and was stopped.
 */
bool witness_ask(struct witness *w, uint64_t *seen);

void witness_stop(struct witness *w);

/*
 * A signal to the group can arrive while the launcher forks the command. So the command's process
 * waits in witness_hold(), its signals still blocked, until the launcher calls witness_release()
 * with the signals that it has received so far. The new process sends itself those that it has not
 * received.
 */
void witness_hold(const struct witness *w, pid_t launcher);
void witness_release(const struct witness *w, uint64_t received);

#endif
