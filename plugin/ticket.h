#ifndef BUILDBEAT_TICKET_H
#define BUILDBEAT_TICKET_H

#include "buf.h"
#include "store.h"

#include <limits.h>

/*
 * Write the ticket of a recording (see core/store.h): the makefile through which
 * every GNU make below loads the plugin, transparently. It lies in the
 * recording's directory, or, where that path or the plugin's has bytes in it that
 * mean something to make (MAKEFILES is a list of words), in a fresh private
 * directory below $XDG_RUNTIME_DIR or /tmp; outside tells so. plugin: absolute
 * path of the shared object; NULL: no make is to load anything, and the ticket only
 * leads other buildbeats to the recording. 0 or a negative errno, and then nothing is left:
 * -ENOENT and the like when there is no such object, -ENOEXEC when it is damaged.
 */
struct ticket {
	char path[PATH_MAX];
	bool outside;
};

int ticket_write(struct ticket *t, const struct store *s, const char *plugin);

/* Remove the ticket, and the private directory if there is one. */
void ticket_remove(struct ticket *t);

/* The new value of MAKEFILES: the ticket before what was there (may be NULL). */
void ticket_add_makefiles(struct buf *b, const struct ticket *t, const char *makefiles);

#endif
