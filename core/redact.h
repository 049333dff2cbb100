#ifndef BUILDBEAT_REDACT_H
#define BUILDBEAT_REDACT_H

#include "buf.h"
#include "cursor.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Secrets are taken out of a text before it is written into a recording: each is
 * replaced by REDACT_MARK, so that two commands that differ in a secret alone stay
 * the same. What is taken for a secret is said in buildbeat-recording(5):
 *	the value of an assignment, option or header whose name says so (TOKEN=,
 *	--password=, --api-key VALUE, Authorization:), without plain numbers, words
 *	such as yes or on, and variables that the shell is still to expand;
 *	the password in a URL, in curl's -u and in -p of mysql and sshpass;
 *	words that look like the tokens of well-known services;
 *	what the user's own patterns say.
 *
 * A pattern is one of
 *	none		not the rules above; what comes with it still counts
 *	NAME		the value of an assignment or option of that name
 *	!NAME		no secret, whatever the rules above say of that name
 *	TEXT(*)		the word behind TEXT, or its rest
 * In NAME an upper-case letter is the same as a lower-case one, and * stands for any
 * characters.
 *
 * The patterns are the process's: set once, while it has one thread.
 */

#define REDACT_MARK "***"
#define REDACT_NONE "none"
#define REDACT_PATTERNS_MAX 24
#define REDACT_PATTERN_MAX 64		/* bytes */

/* 0, or why a text is no pattern: words for the user. */
const char *redact_why_not(const char *pattern);

/* Replace the patterns by these n; further ones than REDACT_PATTERNS_MAX, and what is
 * no pattern, are left out. */
void redact_set(const char *const *pattern, size_t n);

/* The patterns that were set, %-escaped, a space between two: for the ticket and `build`,
 * which hand them to the other processes of a recording. */
#define REDACT_WORDS_MAX (REDACT_PATTERNS_MAX * (3 * REDACT_PATTERN_MAX + 1) + 8)
void redact_add_words(struct buf *b);
void redact_set_words(struct slice words);
bool redact_is_default(void);

/* More secrets in one text than this: its rest is one. */
#define REDACT_SECRETS_MAX 16
#define REDACT_PARTS_MAX (2 * REDACT_SECRETS_MAX + 1)

/*
 * The text in parts, of which each secret's is REDACT_MARK; their number, 1 for a text
 * that has none. cut: the text may end within a secret, so what may be the beginning of
 * one there is one. NUL bytes part words, as in /proc/PID/cmdline.
 */
size_t redact_split(struct slice part[REDACT_PARTS_MAX], const char *text, size_t len, bool cut);

/* field_add() and field_size() of the text without its secrets. True if all of it is
 * there, word by word. */
bool redact_field(struct buf *b, const char *text, size_t len, size_t max);
size_t redact_field_size(const char *text, size_t len, size_t max);

#endif
