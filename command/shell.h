/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_SHELL_H
#define BUILDBEAT_COMMAND_SHELL_H

#include "base/buf.h"
#include "base/cursor.h"

/* Commands, parsed as a shell does, as far as needed to find out what they do. */

/* The next word of the simple command, with its quotes; false at its end. */
bool shell_word(struct cursor *c, struct slice *word);

/* Move past this simple command and the operator after it. */
void shell_next_command(struct cursor *c);

/* NAME=... */
bool shell_is_assignment(struct slice word);

/* Is there a quote, backquote or $( at p? */
bool shell_begins_quoted(const char *p, const char *end);

/* Remove the quotes from a word that is in one pair of them. */
bool shell_unquote(struct slice *s);

/* The part after the last slash, without quotes. */
struct slice shell_base_name(struct slice word);

/* Add the word without its quotes and backslashes; nothing else is expanded. */
void shell_add_plain(struct buf *b, struct slice word);

/* Add words as a user types them, quoted where needed. argv ends with NULL. */
void shell_quote_words(struct buf *b, char *const *argv);

/* Add a word for a command that is printed to be pasted into a shell: like those of
 * shell_quote_words(), but a terminal does not obey any byte of it. */
void shell_add_shown(struct buf *b, const char *word);

#endif
