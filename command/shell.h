/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_SHELL_H
#define BUILDBEAT_COMMAND_SHELL_H

#include "base/buf.h"
#include "base/cursor.h"

/* Commands as a shell would read them, as far as it takes to find out what they do. */

/* The next word of the simple command, quotes and all; false at its end. */
bool shell_word(struct cursor *c, struct slice *word);

/* Behind this simple command, and what parts it from the next. */
void shell_next_command(struct cursor *c);

/* NAME=... */
bool shell_is_assignment(struct slice word);

/* Does a quote, backquote or $( begin at p. */
bool shell_begins_quoted(const char *p, const char *end);

/* Take the quotes off a word that is all in one pair of them. */
bool shell_unquote(struct slice *s);

/* What is behind the last slash, without quotes. */
struct slice shell_base_name(struct slice word);

/* What the word is without its quotes and backslashes; nothing else is expanded. */
void shell_add_plain(struct buf *b, struct slice word);

/* The other way: words as one types them, quoted where that is needed. argv ends
 * with NULL. */
void shell_quote_words(struct buf *b, char *const *argv);

#endif
