/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RELAY_TTY_H
#define BUILDBEAT_LAUNCH_RELAY_TTY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <termios.h>

/*
 * A pseudoterminal that stands for a terminal as the output of a command: it has the same size
 * and modes. It is not the command's controlling terminal, and nothing is read from it.
 */
struct relay_tty {
	int real_fd, master_fd;
	struct winsize size;
	struct termios own, real;	/* as seen last */
	bool held;		/* a carriage return, until the next byte is known */
};

/* Open one for the terminal real_fd. 0 or a negative errno. Whoever follows it may begin later, in
 * another process: *t has the size and the modes of now, so that no change is missed. */
int relay_tty_open(struct relay_tty *t, int real_fd, int *command_fd);

/* Carry changes of size and modes over: call it before output is written. */
void relay_tty_follow(struct relay_tty *t);

/*
 * What read() returned, n bytes at p[1], without what the pseudoterminal added. *begin is 0 or 1:
 * the first byte that remains. Returns the end.
 */
size_t relay_tty_plain(struct relay_tty *t, char *p, size_t n, size_t *begin);

/* The carriage return that was held, as nothing follows it. False: there is none. */
bool relay_tty_release(struct relay_tty *t);

#endif
