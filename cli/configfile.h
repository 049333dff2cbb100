#ifndef BUILDBEAT_CONFIGFILE_H
#define BUILDBEAT_CONFIGFILE_H

#include "error.h"
#include "options.h"

#include <limits.h>

/*
 * buildbeat.yaml: a mapping from the names of settings_options and nightly_keys (those
 * marked config) to their values.
 */

/*
 * Find it: in the working directory and upwards, then in
 * $XDG_CONFIG_HOME/buildbeat (~/.config/buildbeat), then in the system's
 * configuration directory. *project tells that it is one of the first kind. False when there
 * is none.
 */
bool config_find(char path[PATH_MAX], bool *project);

/*
 * Set those options of table that have a value in the file and were not on the
 * command line. file NULL: the one that is found, if any. A key that is a setting
 * but not in table is checked and left. Texts are kept by a. 0, or a negative
 * errno with err: -EINVAL for wrong content, the system's for a file that cannot
 * be read.
 */
int config_apply(struct args *a, const struct option *table, void *values,
		 const char *file, struct error *err);

/* The same from text in memory; path is for messages, project_dir (or NULL) what
 * relative paths are relative to. */
int config_parse(struct args *a, const struct option *table, void *values,
		 const char *text, size_t len, const char *path,
		 const char *project_dir, struct error *err);

#endif
