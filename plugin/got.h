/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_GOT_H
#define BUILDBEAT_PLUGIN_GOT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Redirects functions that the executable (and nothing else in the process) calls through its
 * global offset table. found is set if the executable calls the function.
 */
struct got_hook {
	const char *symbol;
	void (*function)(void);	/* NULL: only set found */
	bool found;
};

/* The number of changed slots: 0 for a static executable or a machine whose relocations are
 * unknown here. */
size_t got_redirect(struct got_hook *hooks, size_t n);

#endif
