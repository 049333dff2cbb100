/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_TICKET_H
#define BUILDBEAT_PLUGIN_TICKET_H

#include "base/buf.h"
#include "recording/store.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/un.h>

/*
 * Write the ticket of a recording (see recording/store.h): the makefile through which every GNU
 * make below loads the plugin, transparently. It is beside a link to the preload in a new
 * directory that only the effective user may enter, below $XDG_RUNTIME_DIR, $TMPDIR or /tmp: users
 * who can write to the recording must not be able to change what a build loads. Its path has only
 * bytes without a meaning for make (MAKEFILES is a list of words).
 *
 * plugin: absolute path of the shared object; NULL: makes load nothing, and the ticket only leads
 * other buildbeats to the recording. 0 or a negative errno, and then nothing is left: -ENOENT and
 * the like if the object does not exist, -ENOEXEC if it is damaged, -EPERM if others can write to
 * it or no directory is private.
 */
struct ticket {
	char path[PATH_MAX];	/* "": none */
};

int ticket_write(struct ticket *t, const struct store *s, const char *plugin);

/* Remove the ticket and its directory. */
void ticket_remove(struct ticket *t);

/* Remove the directories of this user's processes that were killed. */
void ticket_clean(void);

/* The socket of a relay beside a ticket, see plugin/pipes.h. False: the path is too long. */
bool ticket_relay_address(struct sockaddr_un *address, struct slice ticket, unsigned relay);

/* The new value of MAKEFILES: the ticket in front of the old value (may be NULL). */
void ticket_add_makefiles(struct buf *b, const struct ticket *t, const char *makefiles);

#endif
