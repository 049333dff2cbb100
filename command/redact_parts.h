/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_REDACT_PARTS_H
#define BUILDBEAT_COMMAND_REDACT_PARTS_H

#include "command/redact.h"

#include <stdbool.h>
#include <stddef.h>

/* The inside of redact_split(), private to redact*.c: redact.c finds the words that may begin
 * a secret, redact_find.c reads names and values and decides whether one does, redact_own.c
 * has the patterns of the user. */

enum redact_rule {
	RULE_NAME,		/* of an assignment, option or header */
	RULE_WEAK_NAME,		/* the same, where the value has to look like a secret */
	RULE_HEADER,		/* Authorization: SCHEME VALUE */
	RULE_BEARER,
	RULE_TOKEN,		/* of a service: letters and digits after the word */
	RULE_AWS, RULE_JWT, RULE_KEY,
	RULE_MYSQL, RULE_SSHPASS, RULE_CURL,
	RULE_OPENSSL,		/* -passin pass:VALUE */
	RULE_PASS,		/* DB_PASS=VALUE */
	RULE_LOGIN,		/* docker login -p VALUE; echo VALUE | ... --password-stdin */
};

struct redact_word {
	char text[17];		/* lower case; its case does not count where fold is set */
	unsigned char rule;	/* enum redact_rule */
	bool fold;
	unsigned char min;	/* RULE_TOKEN: the fewest bytes after it */
	unsigned char group;	/* for redact_wide() */
};

struct redact_pattern {
	enum { PATTERN_NAME, PATTERN_NOT, PATTERN_TEXT } kind;
	char text[REDACT_PATTERN_MAX + 1];	/* without the characters that mark its kind;
						   names in lower case */
	size_t len;
};

/* The user's patterns. They do not change once other threads can see them; new patterns are
 * another one of these. */
struct redact_own {
	bool none;			/* without the built-in rules */
	bool has_names, has_texts;
	unsigned n;
	struct redact_pattern pattern[REDACT_PATTERNS_MAX];
	const struct redact_own *before;	/* the next of all_sets */
};

struct redact_scan {
	const char *p, *end;
	bool cut, words;	/* words: it has NUL bytes between them */
};

/* A secret: [p, end). NULL: none. */
struct redact_span {
	const char *p, *end;
};

/* A name, and what is before it. */
struct redact_name {
	const char *p, *end;
	char quote;		/* right before it, or 0 */
	bool begins_word;
	bool may_be_spaced;	/* its value may be the next word */
};

/* Characters */

static inline bool redact_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline char redact_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static inline bool redact_is_letter(char c)
{
	return redact_lower(c) >= 'a' && redact_lower(c) <= 'z';
}

static inline bool redact_is_alnum(char c)
{
	return redact_is_letter(c) || redact_is_digit(c);
}

static inline bool redact_is_name(char c)
{
	return redact_is_alnum(c) || c == '_' || c == '-' || c == '.';
}

static inline bool redact_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || !c;
}

static inline bool redact_is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* Ends a word of a shell's command. */
static inline bool redact_is_operator(char c)
{
	return c == ';' || c == '|' || c == '&' || c == '(' || c == ')' || c == '<' || c == '>';
}

static inline bool redact_same(const char *p, const char *word, size_t len, bool fold)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] != word[i] && !(fold && redact_lower(p[i]) == word[i]))
			return false;
	}
	return true;
}

/* Secrets: the text around `at`, where a word of redact.c was found. Such words are rare:
 * cold means that these are compiled for size. */

struct redact_span redact_secret_named(const struct redact_scan *s, const char *text,
				       const struct redact_word *w, const char *at);

/* Authorization: VALUE, or SCHEME VALUE, also where the quotes around it are gone. */
__attribute__((cold))
struct redact_span redact_authorization(const struct redact_scan *s, const char *text,
					const char *at);

__attribute__((cold))
struct redact_span redact_bearer(const struct redact_scan *s, const char *text, const char *at);

__attribute__((cold))
struct redact_span redact_token(const struct redact_scan *s, const char *text,
				const struct redact_word *w, const char *at);

__attribute__((cold))
struct redact_span redact_aws_key(const struct redact_scan *s, const char *text, const char *at);

/* Three parts of base64 with dots between them. */
__attribute__((cold))
struct redact_span redact_jwt(const struct redact_scan *s, const char *text, const char *at);

/* -----BEGIN PRIVATE KEY-----: as far as the line that ends it. */
__attribute__((cold))
struct redact_span redact_key_block(const struct redact_scan *s, const char *at);

__attribute__((cold))
struct redact_span redact_openssl(const struct redact_scan *s, const char *text, const char *at);

__attribute__((cold))
bool redact_is_command(const struct redact_scan *s, const char *text, const char *at, size_t len);

__attribute__((cold))
struct redact_span redact_mysql_password(const struct redact_scan *s, const char *p, bool ssh);

/* Of -u USER:PASSWORD and its likes, the password. */
__attribute__((cold))
struct redact_span redact_curl_password(const struct redact_scan *s, const char *p);

/* The next password of a program's subcommand login, or that a program reads from standard input and
 * the same line has: echo VALUE | ..., ... <<< VALUE. */
__attribute__((cold))
struct redact_span redact_login(const struct redact_scan *s, const char *text, const char *from);

/* scheme://user:password@host: the password; without one, a user that is no name. */
struct redact_span redact_url_password(const struct redact_scan *s, const char *from);

__attribute__((cold))
struct redact_span redact_own_text(const struct redact_scan *s, const char *from);

__attribute__((cold))
struct redact_span redact_own_name(const struct redact_scan *s, const char *text, const char *from);

/* Words of a shell's command */

/* The word behind that at p, in the same command; or NULL. */
__attribute__((cold))
const char *redact_next_word(const struct redact_scan *s, const char *p);
/* The value at p, in quotes or not. */
struct redact_span redact_value_at(const struct redact_scan *s, const char *p, char quote,
				   bool whole_word);
/* Empty, a small number, a switch, or still to be expanded. */
bool redact_is_harmless(struct redact_span v);
/* list: words with a space between two. */
bool redact_is_one_of(struct slice s, const char *list);

/* Patterns */

/* The patterns of the user that apply now, NULL: none. */
const struct redact_own *redact_current_own(void);

/* Do the user's patterns of that kind have the name, with or without its - and -D. */
bool redact_is_named(int kind, const char *p, const char *end);

#endif
