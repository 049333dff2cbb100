/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_WHEREABOUTS_H
#define BUILDBEAT_LAUNCH_WHEREABOUTS_H

#include <limits.h>
#include <stddef.h>

/* A directory of recordings as it was before a recording was made in it, so that the removal of an
 * empty recording restores it. */
struct whereabouts {
	char base[PATH_MAX];	/* absolute */
	size_t base_len;	/* the part of base that existed before, 0: base is unknown */
	char latest[NAME_MAX + 1];	/* the recording that `latest` named before, "": none */
};

/* base NULL: the default. */
void whereabouts_remember(struct whereabouts *p, const char *base);

/* Removes the recording in path, and the directories that were made for it. If `latest` names it,
 * the link names the one before again. */
void whereabouts_remove(struct whereabouts *p, const char *path);

#endif
