/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CONVERT_H
#define BUILDBEAT_CONVERT_CONVERT_H

#include "base/error.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the files of other tools about a build into a recording in memory, and writes a recording
 * in their formats. convert/formats.h lists all formats. Files are not trusted: their content is
 * checked, and damage is an error with path and line. If a tool is known to leave truncated files,
 * the part before is kept, with a warning in the recording.
 */

struct convert_file {
	const char *path;
	bool is_dir;
	const char *head;	/* its first bytes, unpacked if it was gzip; "" for a directory */
	size_t len;
};

struct converter {
	const char *name;	/* of --from and --to: ninja, cmake, bazel, clang, cargo,
				   chrome, callgrind, oe */
	const char *what;	/* for the usage and the page */
	/* Is this one's, by content and not by name. NULL: only when it is asked for. */
	bool (*recognise)(const struct convert_file *file);
	/* rec becomes the build of the n paths (most formats: one). 0, or a negative
	 * errno with err and rec empty. NULL: cannot be read. */
	int (*read)(struct recording *rec, const char *const *path, size_t n,
		    struct error *err);
	/* Add the spans of the n files to the tasks of an existing recording (rec, in the
	 * directory dir). Returns the number of tasks found. NULL: not possible. */
	int (*read_into)(const struct recording *rec, const char *dir,
			 const char *const *path, size_t n, struct error *err);
	/* The recording as a file or directory that does not exist yet; whole or not at
	 * all. NULL: cannot be written. */
	int (*write)(const struct recording *rec, const char *path, struct error *err);
};

extern const struct converter *const converters[];	/* ends with NULL */

/* The names of all; and of those that can be written. They end with NULL. */
extern const char *const converter_word[];
extern const char *const converter_written_word[];

/* c->read(), which must not be NULL; and the recording says in `build` what it was
 * imported from. */
int converter_read(const struct converter *c, struct recording *rec,
		   const char *const *path, size_t n, struct error *err);

/* By name; by content. NULL: none. */
const struct converter *converter_named(const char *name);
const struct converter *converter_of(const char *path, struct error *err);

/* All that recording_read() can be given: packed files, and OpenEmbedded's directories. */
extern const struct recording_formats convert_formats;

#endif
