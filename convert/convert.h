/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CONVERT_H
#define BUILDBEAT_CONVERT_CONVERT_H

#include "base/error.h"
#include "recording/recording.h"
#include "recording/recording_write.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Reads the files of other tools about a build into a recording in memory, and writes a recording
 * in their formats. convert/converters.h lists all formats. Files are not trusted: their content is
 * checked, and damage is an error with path and line. If a tool is known to leave truncated files,
 * the part before is kept, with a warning in the recording.
 */

struct convert_file {
	const char *path;
	bool is_dir;
	const char *head;	/* its first bytes, unpacked if it was gzip; "" for a directory */
	size_t len;
};

/* Is this a file of the format? The content decides, not the name. */
typedef bool converter_recogniser(const struct convert_file *file);

/* Read a build from one path, or from all of them. 0, or a negative errno with err and rec
 * empty. */
typedef int converter_reader(struct recording *rec, const char *path, struct error *err);
typedef int converter_all_reader(struct recording *rec, const char *const *path, size_t n,
				 struct error *err);

/* What the caller does with a recording: write it. parts is NULL if all of it is in memory. 0 or a
 * negative errno with err. */
typedef int converter_taker(void *context, struct recording *rec,
			    const struct recording_parts *parts, struct error *err);

/* Write a recording to a file or directory that does not exist yet: all of it or nothing. */
typedef int converter_writer(const struct recording *rec, const char *path, struct error *err);

struct converter {
	const char *name;	/* of --from and --to */
	converter_recogniser *recognise;
	converter_reader *read;	/* one of these two */
	converter_all_reader *read_all;
	/* NULL, or the same as read with less memory: take() writes the recording in parts. */
	int (*pass)(const char *path, converter_taker *take, void *context, struct error *err);
	converter_writer *write;	/* NULL: cannot be written */
	/* Add the spans of the n files to the tasks of an existing recording (rec, in the
	 * directory dir). Returns the number of tasks found. NULL: not possible. */
	int (*read_into)(const struct recording *rec, const char *dir,
			 const char *const *path, size_t n, struct error *err);
};

extern const struct converter converter_list[];	/* ends without a name */

/* The names of all formats; ends with NULL. */
extern const char *const converter_word[];

/* Read a build from n paths, and add to the recording's `build` what it was imported from. */
int converter_read(const struct converter *c, struct recording *rec,
		   const char *const *path, size_t n, struct error *err);

/* The same of a format with pass, for a caller that only writes the recording. */
int converter_pass(const struct converter *c, const char *const *path, size_t n,
		   converter_taker *take, void *context, struct error *err);

/* Read what a path has: a recording, as the options demand (recording_read_as(), with these formats
 * and the names that ninja knows), or a file or directory of another tool. 0 or a negative errno
 * with err; always release rec. */
int converter_read_any(struct recording *rec, const char *path,
		       const struct recording_options *options, struct error *err);

/* Find a format by its name, or by the content of a file. NULL if there is none. */
const struct converter *converter_named(const char *name);
const struct converter *converter_of(const char *path, struct error *err);

/* For recording_read(): packed files, and directories of OpenEmbedded. */
extern const struct recording_formats convert_formats;

#endif
