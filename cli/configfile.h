/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_CONFIGFILE_H
#define BUILDBEAT_CLI_CONFIGFILE_H

#include "base/error.h"
#include "cli/options.h"
#include "cli/settings_options.h"

#include <limits.h>

/*
 * buildbeat.yaml: a mapping from the names of settings_options and buildset_keys (those
 * marked config) to their values.
 */

/* Where a file was found decides which keys it may set. */
enum configfile_place {
	CONFIG_PROJECT,		/* found in the working directory or above; cannot name code
				   to execute or set trust */
	CONFIG_PERSONAL,	/* the user's own or the system's */
	CONFIG_NAMED,		/* on the command line */
};

/*
 * Find the file: in the working directory and upwards, then in $XDG_CONFIG_HOME/buildbeat
 * (~/.config/buildbeat), then in the system's configuration directory. *project: it is one
 * of the first kind. 0, -ENOENT if there is no file, or another negative errno with err if
 * the first file found must not be read: it is not a regular file, or others could have
 * written it (base/trust.h). Also applies the exceptions: the key trust of the user's and
 * the system's file.
 */
int configfile_find(char path[PATH_MAX], bool *project, struct error *err);

/*
 * Set the options of table that have a value in the file and were not on the command
 * line. file NULL: the file that configfile_find() finds, if any. A key that is a setting
 * but not in table is only checked. If a project's file is found, personal options are
 * read from the user's or the system's file. Texts live as long as a. 0, or a negative
 * errno with err: -EINVAL for wrong content, -EPERM for a file that others could have
 * written, or that of a failed system call.
 */
int configfile_apply(struct args *a, const struct option *table, void *values,
		     const char *file, struct error *err);

/* The same, and the key inspect: inspect (or NULL), which the caller has initialized and
 * releases. */
struct inspect_config;
int configfile_apply_both(struct args *a, const struct option *table, void *values,
			  struct inspect_config *inspect, const char *file, struct error *err);

/* configfile_apply() from text in memory; path is for messages, project_dir (or NULL) what
 * relative paths are relative to. */
int configfile_parse(struct args *a, const struct option *table, void *values,
		     const char *text, size_t len, const char *path, enum configfile_place place,
		     const char *project_dir, struct error *err);

/*
 * A file with other keys: those of table (marked config), from text in memory. Mappings are nested
 * to at most CONFIGFILE_DEPTH_MAX.
 */
#define CONFIGFILE_DEPTH_MAX 16

int configfile_parse_keys(struct args *a, const struct option *table, void *values,
			  const char *text, size_t len, const char *path, struct error *err);

#endif
