/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_GOT_H
#define BUILDBEAT_PLUGIN_GOT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Functions the executable (and nothing else in the process) calls through its
 * global offset table, redirected. found tells whether it calls them at all.
 */
struct got_hook {
	const char *symbol;
	void (*function)(void);	/* NULL: only look whether it is there */
	bool found;
};

/* The number of slots rewritten: 0 for a static executable or a machine whose
 * relocations are not known here. */
size_t got_redirect(struct got_hook *hooks, size_t n);

#endif
