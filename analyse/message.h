/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_MESSAGE_H
#define BUILDBEAT_ANALYSE_MESSAGE_H

#include "base/cursor.h"
#include "base/error.h"

/*
 * What compilers, linkers, test programs, shells and build tools say of errors. Rules tell, which are
 * templates of whole lines without colours:
 *
 *	{file}:{line}:{column}: error: {message}
 *
 * {line} and {column} are numbers, {file} is text that does not begin with a blank, {word} text without
 * blanks, {blank} blanks and tabs or, alone, an empty line, {any} any text, which may be empty. {message} is where the message
 * begins, which goes up to the end of the line; without it, the whole line is the message.
 */
enum message_is {
	MESSAGE_ERROR,
	MESSAGE_WARNING,
	MESSAGE_REPORT,		/* that something failed, without the reason: "Error 1" */
	MESSAGE_BEFORE,		/* lines that begin a message: "In file included from" */
	MESSAGE_AFTER,		/* that go on with one: pieces of source, notes */
	MESSAGE_KINDS
};

extern const char *const message_word[MESSAGE_KINDS];

/* In a template: bytes of plain text in a row that it needs, by which it is found. After a message that
 * does not matter. */
#define MESSAGE_PLAIN_LEAST 3

struct message_rules;

struct message {
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

/* What a line is. An error comes before a warning, then the first rule that fits. */
bool message_find(const struct message_rules *m, struct slice line, struct message *found);

/* Does the line go on with a message of the tool? *found is changed only if it does. */
bool message_goes_on(const struct message_rules *m, struct slice tool, struct slice line,
		     struct message *found);

#endif
