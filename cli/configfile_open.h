/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_CONFIGFILE_OPEN_H
#define BUILDBEAT_CLI_CONFIGFILE_OPEN_H

#include "cli/configfile.h"

/*
 * Private to configfile*.c: opens the files. Checks and reads use one descriptor, because the name
 * can change in between.
 */
struct configfile_source {
	char path[PATH_MAX];
	enum configfile_place place;
	int fd;
};

/* The nearest file in the working directory and above it, the user's, the system's, and one named
 * on the command line. Return 0 and s is open, -ENOENT if there is no file, or another negative
 * errno with err. The user's own tree is the working directory and the directories above it, as far as
 * only the user can write to them. A file there that cannot be read or trusted is an error; above it,
 * such as in /tmp, it is ignored with a warning. */
int configfile_open_upwards(struct configfile_source *s, struct error *err);
int configfile_open_users(struct configfile_source *s, struct error *err);
int configfile_open_systems(struct configfile_source *s, struct error *err);
int configfile_open_named(struct configfile_source *s, const char *file, struct error *err);

int configfile_cannot_read(const char *path, int r, struct error *err);

#endif
