/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_TICKET_H
#define BUILDBEAT_PLUGIN_TICKET_H

#include "base/buf.h"
#include "recording/store.h"

#include <limits.h>

/*
 * Write the ticket of a recording (see recording/store.h): the makefile through which
 * every GNU make below loads the plugin, transparently. It is beside a link to the
 * preload in a new directory that only the effective user may enter, below
 * $XDG_RUNTIME_DIR, $TMPDIR or /tmp: users who can write to the recording must not be able
 * to change what a build loads. Its path has no byte that means something to make
 * (MAKEFILES is a list of words). plugin: absolute path of the shared object; NULL: no
 * make is to load anything, and the ticket only leads other buildbeats to the recording.
 * 0 or a negative errno, and then nothing is left: -ENOENT and the like when there is no
 * such object, -ENOEXEC when it is damaged, -EPERM when others can write to it or no
 * directory is private.
 */
struct ticket {
	char path[PATH_MAX];	/* "": none */
};

int ticket_write(struct ticket *t, const struct store *s, const char *plugin);

/* Remove the ticket and its directory. */
void ticket_remove(struct ticket *t);

/* Remove the directories of this user whose processes were killed. */
void ticket_clean(void);

/* The new value of MAKEFILES: the ticket before what was there (may be NULL). */
void ticket_add_makefiles(struct buf *b, const struct ticket *t, const char *makefiles);

#endif
