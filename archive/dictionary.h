#ifndef BUILDBEAT_DICTIONARY_H
#define BUILDBEAT_DICTIONARY_H

#include "figures.h"
#include "buf.h"

#include <stdbool.h>

/*
 * The tasks of the night that is to be written, in the order its columns are in: that of
 * the night before, new ones at the end; or anew, where more than half of the lines would
 * be of tasks that are gone.
 */
struct dictionary {
	struct buf text;	/* the blob */
	bool same;		/* as it was before */
	size_t n;		/* lines */
	uint32_t *line;		/* of each of the figures' tasks */
};

#define DICTIONARY_INIT { 0 }

/* before: the blob of the night before, NULL if there is none; one that is damaged is as
 * good as none. 0 or -ENOMEM. Always release. */
int dictionary_make(struct dictionary *d, const struct figures *f, const void *before,
		    size_t len);
void dictionary_release(struct dictionary *d);

#endif
