/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_REGISTRY_H
#define BUILDBEAT_LIVE_REGISTRY_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The servers of this user that run, for `serve --list` and for tools: a file PID of mode 0600 in
 * the private directory buildbeat-serve (base/private_dir.h) with the lines "path: ", what is served,
 * and "url: ", with the token. The server holds a lock on it; without that it is of one that
 * was killed.
 */
struct registry_entry {
	int32_t pid;
	char path[PATH_MAX];
	char url[PATH_MAX + 128];
	bool left;		/* its build has ended: it can make room for another one */
};

/* This process serves path at url. A descriptor that is closed by registry_remove(), or a negative
 * errno with err. */
int registry_add(const char *path, const char *url, struct error *err);
void registry_remove(int fd);
/* The build of this one has ended. */
void registry_leave(int fd);

/* All that run, by pid; the caller frees them. Files of killed ones are removed. 0 or a negative errno. */
int registry_list(struct registry_entry **entry, size_t *n);

/* Have the server end, and wait for that. 0 or a negative errno. */
int registry_stop(const struct registry_entry *e);

#endif
