/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BASE_ERROR_H
#define BUILDBEAT_BASE_ERROR_H

/*
 * An error and its place. Rooms below cli/ fill it; the command prints it once:
 * "buildbeat: path:line:column: message".
 */
struct error {
	char path[512];		/* empty: not about a file */
	unsigned line;		/* 0: not about a line */
	unsigned column;	/* 0: not about a column */
	char message[512];
};

/*
 * Fill err (which may be NULL) and return code, a negative errno, so that a
 * caller can write "return error_set(err, -EINVAL, path, line, 0, ...)".
 * path may be NULL. Long texts are shortened.
 */
int error_set(struct error *err, int code, const char *path, unsigned line,
	      unsigned column, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* The same for an error that is about no file. */
int error_say(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for a failed system call: the message is "what: strerror(-code)". */
int error_sys(struct error *err, int code, const char *path, const char *what);

#endif
