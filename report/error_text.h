/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_ERROR_TEXT_H
#define BUILDBEAT_REPORT_ERROR_TEXT_H

#include "analyse/build_output.h"
#include "base/json.h"

/* The first error of a task or a build for people and programs. */

/* "First error, of bad.o (exit status 1)": whose message it is and how that is known. Safe to print. */
void error_add_title(struct buf *out, const struct recording *rec, const struct first_error *e);

/* "bad.c:1:24: 'x' undeclared": safe to print. */
void error_add_message(struct buf *out, const struct first_error *e);

/* Its lines, safe to print, each after this indentation. */
void error_add_lines(struct buf *out, const struct first_error *e, const char *indent);

/* A command of a GitHub workflow, with which it marks the line of the source: "::error file=a.c,line=1::x".
 * Files are relative to the directory root. */
void error_add_annotation(struct buf *out, const struct recording *rec, const struct first_error *e,
			  const char *root);

/* The members "first_error", "errors" and "warnings" of a build's object. */
void error_json_build(struct json *j, const struct first_errors *f);

/* The members "errors", "warnings" and "error" of a task's object. */
void error_json_task(struct json *j, const struct first_errors *f, uint32_t task);

#endif
