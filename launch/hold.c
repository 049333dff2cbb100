/* SPDX-License-Identifier: MIT */
#include "launch/hold.h"

#include "base/array.h"
#include "base/file.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int held[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

/* The descriptor must not be a standard one that was closed: 0 means that there is none. */
static int open_signals(const sigset_t *set)
{
	return file_move_up(signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void hold_begin(struct hold *h)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(held); i++) {
		struct sigaction now;

		/* An ignored signal that is blocked would make the descriptor readable. */
		if (!sigaction(held[i], NULL, &now) && now.sa_handler != SIG_IGN)
			sigaddset(&set, held[i]);
	}
	sigprocmask(SIG_BLOCK, &set, &h->old_mask);
	h->fd = open_signals(&set);
	if (h->fd > 0)
		return;
	/* Without a descriptor, signals are not held. */
	sigprocmask(SIG_SETMASK, &h->old_mask, NULL);
	h->fd = 0;
}

void hold_end(struct hold *h)
{
	if (h->fd)
		close(h->fd);
	h->fd = 0;
	sigprocmask(SIG_SETMASK, &h->old_mask, NULL);
}
