/* SPDX-License-Identifier: MIT */
#include "launch/whereabouts.h"

#include "base/file.h"
#include "base/minmax.h"
#include "base/outdir.h"
#include "recording/layout.h"
#include "recording/store_create.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void whereabouts_remember(struct whereabouts *p, const char *base)
{
	char path[PATH_MAX], link[PATH_MAX + sizeof "/" LAYOUT_LATEST];
	ssize_t n;

	*p = (struct whereabouts){ .base_len = 0 };
	if (file_absolute(path, base ? base : LAYOUT_BASE))
		return;
	strcpy(p->base, path);
	snprintf(link, sizeof link, "%s/" LAYOUT_LATEST, path);
	n = readlink(link, p->latest, sizeof p->latest - 1);
	p->latest[MAX(n, 0)] = '\0';
	while (access(path, F_OK) && strchr(path + 1, '/'))
		*strrchr(path, '/') = '\0';
	p->base_len = access(path, F_OK) ? 1 : strlen(path);
}

/* If `latest` still names our recording, let it name the one before. */
static void restore_latest(const struct whereabouts *p, const char *recording)
{
	char link[PATH_MAX + sizeof "/" LAYOUT_LATEST], now[NAME_MAX + 1], path[PATH_MAX];
	const char *own = strrchr(recording, '/') + 1;
	ssize_t n;

	snprintf(link, sizeof link, "%s/" LAYOUT_LATEST, p->base);
	n = readlink(link, now, sizeof now);
	if (n < 0 || (size_t)n != strlen(own) || memcmp(now, own, (size_t)n))
		return;
	if (!*p->latest)
		unlink(link);
	else if (snprintf(path, sizeof path, "%s/%s", p->base, p->latest) < PATH_MAX)
		store_link_latest(p->base, path);
}

void whereabouts_remove(struct whereabouts *p, const char *path)
{
	restore_latest(p, path);
	outdir_discard(path);
	while (strlen(p->base) > p->base_len && !rmdir(p->base))
		*strrchr(p->base, '/') = '\0';
}
