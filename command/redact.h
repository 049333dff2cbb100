/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_REDACT_H
#define BUILDBEAT_COMMAND_REDACT_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Secrets in a text are replaced by REDACT_MARK before it is written into a recording,
 * so two commands that differ only in a secret become the same. buildbeat.yaml(5)
 * describes what a secret is:
 *	the value of an assignment, option or header with such a name (TOKEN=,
 *	--password=, --api-key VALUE, Authorization:), without plain numbers, words
 *	such as yes or on, and variables that the shell is still to expand;
 *	the password in a URL, in curl's -u, in -p of mysql, sshpass and docker login;
 *	what echo or printf write into a program that reads a secret (--password-stdin);
 *	words that look like the tokens of well-known services;
 *	what the user's own patterns say.
 *
 * A pattern is one of
 *	none		do not apply the rules above; other patterns still apply
 *	NAME		the value of an assignment or option of that name
 *	!NAME		not the value of that name, whatever the rules above say
 *	TEXT(*)		the word after TEXT, or its rest
 * In NAME, case is ignored and * matches any characters.
 *
 * The patterns belong to the process. Any thread may set them while others write.
 */

#define REDACT_MARK "***"
#define REDACT_NONE "none"
#define REDACT_PATTERNS_MAX 24
#define REDACT_PATTERN_MAX 64		/* bytes */

/* NULL if the text is a valid pattern, otherwise the reason as a message for the user. */
const char *redact_why_not(const char *pattern);

/* Replace the patterns by these n. Invalid ones, and those beyond REDACT_PATTERNS_MAX, are
 * ignored. */
void redact_set(const char *const *pattern, size_t n);

/* The patterns that were set, %-escaped, a space between two: for the ticket and `build`,
 * which hand them to the other processes of a recording. */
#define REDACT_WORDS_MAX (REDACT_PATTERNS_MAX * (3 * REDACT_PATTERN_MAX + 1) + 8)
void redact_add_words(struct buf *b);
void redact_set_words(struct slice words);
bool redact_is_default(void);

/* What the first text would do otherwise, for less: only while the process has one thread. */
void redact_prepare(void);

/* After this many secrets in one text, the rest of the text is replaced as one. */
#define REDACT_SECRETS_MAX 16
#define REDACT_PARTS_MAX (2 * REDACT_SECRETS_MAX + 1)

/*
 * Split the text into parts, with REDACT_MARK in place of each secret. Returns their number, 1
 * for a text without secrets. cut: the text may end within a secret, so a possible beginning of
 * a secret at its end is replaced too. NUL bytes separate words, as in /proc/PID/cmdline.
 */
size_t redact_split(struct slice part[REDACT_PARTS_MAX], const char *text, size_t len, bool cut);

/* The first place where a secret may begin, NULL: redact_split() would find none in the text, nor in
 * any part of it. */
const char *redact_suspect(const char *text, size_t len);

/* Add an assignment of an environment, "NAME=VALUE", with its secret replaced: the whole value, which
 * may have blanks and newlines, if the name says that it is a secret. */
void redact_variable(struct buf *out, const char *text, size_t len);

/* field_add() and field_size() of the text with its secrets replaced. True if the text was
 * added unchanged and whole. */
bool redact_field(struct buf *b, const char *text, size_t len, size_t max);
size_t redact_field_size(const char *text, size_t len, size_t max);

#endif
