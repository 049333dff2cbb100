/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_MESSAGE_H
#define BUILDBEAT_ANALYSE_MESSAGE_H

#include "base/cursor.h"
#include "base/error.h"

/*
 * What compilers, linkers, test programs, shells and build tools print about errors. Rules have templates of
 * whole lines without colours, whose pieces in braces are:
 *
 *	{file}:{line}:{column}: error: {message}
 *
 * {file} is text without ": " that does not begin with a blank, and the ending behind it: "{file}.java".
 * {line} and {column} are numbers. {word} is text without blanks, or nothing. {any} is any text, or nothing.
 * {blank} is blanks and tabs; alone, an empty line. {message} is where the message begins, which goes up to
 * the end of the line. Without it, the whole line is the message, and {message} in MESSAGE_AFTER is its text.
 * A template of MESSAGE_AFTER that is only {message} fits the next line, whatever that is.
 */
enum message_is {
	MESSAGE_ERROR,
	MESSAGE_WARNING,
	MESSAGE_REPORT,		/* that something failed, without the reason: "Error 1" */
	MESSAGE_BEFORE,		/* lines that begin a message: "In file included from" */
	MESSAGE_AFTER,		/* that go on with one: pieces of source, notes */
	MESSAGE_CHAIN,		/* behind a message, that the next one of the tool counts instead */
	MESSAGE_KINDS
};

extern const char *const message_word[MESSAGE_KINDS];

/* In a template: bytes of plain text in a row that it needs, by which it is found. After a message that
 * does not matter. */
#define MESSAGE_PLAIN_LEAST 3

struct message_rules;

struct message_found {
	struct slice tool;
	enum message_is is;
	struct slice file, text;	/* of the line; a file may be empty */
	uint64_t line, column;		/* 0: not said */
	bool whole;			/* the template has no {message} */
};

/* Is this a template? 0, or -EINVAL with err. */
int message_template_check(const char *template, enum message_is is, struct error *err);

/* The rules that all outputs of a program follow: its user's and then the shipped ones, read when they are
 * first needed. NULL if out of memory. */
const struct message_rules *message_rules_used(void);

/* The user's rules: a line "KIND<tab>TOOL<tab>TEMPLATE" for each template. The text lives as long as the
 * program. `read`, which may be NULL, makes it when it is needed. */
void message_rules_own(const char *text, const char *(*read)(void));

/* What a line is by the first template that fits, of the tool first (empty: none). */
bool message_find(const struct message_rules *m, struct slice tool, struct slice line,
		  struct message_found *found);

/* Does the line go on with a message of the tool? next: it is the first line behind. *found is changed
 * only if it does. */
bool message_goes_on(const struct message_rules *m, struct slice tool, bool next, struct slice line,
		     struct message_found *found);

#endif
