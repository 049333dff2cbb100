/* SPDX-License-Identifier: MIT */
#include "command/redact.h"

#include "base/array.h"
#include "base/field.h"
#include "base/hex.h"

#include <endian.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * Each text is looked at once, for the beginnings of a few words. These are four
 * bytes or longer, so each has two pieces of three bytes of which one begins at an even
 * place: every second place is looked up in a table of such pieces, without a branch
 * that depends on the text. URLs and the user's patterns are searched apart.
 */

enum rule {
	RULE_NAME,		/* of an assignment, option or header */
	RULE_WEAK_NAME,		/* the same, where the value has to look like a secret */
	RULE_HEADER,		/* Authorization: SCHEME VALUE */
	RULE_BEARER,
	RULE_TOKEN,		/* of a service: letters and digits behind the word */
	RULE_AWS, RULE_JWT, RULE_KEY,
	RULE_MYSQL, RULE_SSHPASS, RULE_CURL,
	RULE_OPENSSL,		/* -passin pass:VALUE */
};

/* No pointers in tables: each is a relocation, paid for by every process that loads the
 * plugin. */
static const struct word {
	char text[17];		/* lower case; its case does not count where fold is set */
	unsigned char rule;	/* enum rule */
	bool fold;
	unsigned char min;	/* RULE_TOKEN: so many bytes behind it at least */
} words[] = {
	{ "token", RULE_NAME, true, 0 },
	{ "secret", RULE_NAME, true, 0 },
	{ "passw", RULE_NAME, true, 0 },
	{ "passphrase", RULE_NAME, true, 0 },
	{ "storepass", RULE_NAME, true, 0 },
	{ "keypass", RULE_NAME, true, 0 },
	{ "mysql_pwd", RULE_NAME, true, 0 },
	{ "api_key", RULE_NAME, true, 0 },
	{ "api-key", RULE_NAME, true, 0 },
	{ "apikey", RULE_NAME, true, 0 },
	{ "credential", RULE_NAME, true, 0 },
	{ "private_key", RULE_NAME, true, 0 },
	{ "private-key", RULE_NAME, true, 0 },
	{ "privatekey", RULE_NAME, true, 0 },
	{ "access_key", RULE_NAME, true, 0 },
	{ "access-key", RULE_NAME, true, 0 },
	{ "accesskey", RULE_NAME, true, 0 },
	{ "signing_key", RULE_NAME, true, 0 },
	{ "signing-key", RULE_NAME, true, 0 },
	{ "encryption_key", RULE_NAME, true, 0 },
	{ "encryption-key", RULE_NAME, true, 0 },
	{ "authorization", RULE_HEADER, true, 0 },
	{ "auth", RULE_WEAK_NAME, true, 0 },
	{ "bearer", RULE_BEARER, true, 0 },
	{ "ghp_", RULE_TOKEN, false, 20 },
	{ "gho_", RULE_TOKEN, false, 20 },
	{ "ghu_", RULE_TOKEN, false, 20 },
	{ "ghs_", RULE_TOKEN, false, 20 },
	{ "ghr_", RULE_TOKEN, false, 20 },
	{ "github_pat_", RULE_TOKEN, false, 20 },
	{ "glpat-", RULE_TOKEN, false, 16 },
	{ "npm_", RULE_TOKEN, false, 30 },
	{ "pypi-", RULE_TOKEN, false, 30 },
	{ "xoxa-", RULE_TOKEN, false, 10 },
	{ "xoxb-", RULE_TOKEN, false, 10 },
	{ "xoxe-", RULE_TOKEN, false, 10 },
	{ "xoxo-", RULE_TOKEN, false, 10 },
	{ "xoxp-", RULE_TOKEN, false, 10 },
	{ "xoxr-", RULE_TOKEN, false, 10 },
	{ "xoxs-", RULE_TOKEN, false, 10 },
	{ "sk_live_", RULE_TOKEN, false, 16 },
	{ "AIza", RULE_TOKEN, false, 35 },
	{ "AKIA", RULE_AWS, false, 0 },
	{ "ASIA", RULE_AWS, false, 0 },
	{ "eyJ0", RULE_JWT, false, 0 },
	{ "eyJh", RULE_JWT, false, 0 },
	{ "eyJj", RULE_JWT, false, 0 },
	{ "eyJl", RULE_JWT, false, 0 },
	{ "eyJr", RULE_JWT, false, 0 },
	{ "private key-----", RULE_KEY, true, 0 },
	{ "mysql", RULE_MYSQL, false, 0 },
	{ "mariadb", RULE_MYSQL, false, 0 },
	{ "sshpass", RULE_SSHPASS, false, 0 },
	{ "curl", RULE_CURL, false, 0 },
	{ "pass:", RULE_OPENSSL, false, 0 },
};

#define N_WORDS ARRAY_SIZE(words)
#define PIECES 2048

struct pattern {
	enum { PATTERN_NAME, PATTERN_NOT, PATTERN_TEXT } kind;
	char text[REDACT_PATTERN_MAX + 1];	/* without what makes it this kind; names in
						   lower case */
	size_t len;
};

/* The user's patterns. They do not change once other threads can see them: those that
 * replace them are another one of these. */
struct own {
	bool none;			/* not our own rules */
	bool has_names, has_texts;
	unsigned n;
	struct pattern pattern[REDACT_PATTERNS_MAX];
	const struct own *before;	/* the next of all_sets */
};

/* In .data, whose pages ld.so has touched anyway: every make that is recorded uses it. */
static __attribute__((section(".data"))) struct {
	pthread_once_t once;
	atomic_bool made;		/* the pieces are */
	unsigned char piece[PIECES];	/* 1 + index of a word and its offset, 0: none */
	unsigned char next[2 * N_WORDS];	/* with the same piece, as in piece[] */
	const struct own *_Atomic own;	/* NULL: none */
} rules = { .once = PTHREAD_ONCE_INIT };

static const struct own *_Atomic all_sets;

static const struct own *current_own(void)
{
	return atomic_load_explicit(&rules.own, memory_order_acquire);
}

/* Looking up */

/* Of the first three bytes of four; the case of a letter is not in it. */
static unsigned piece_of(const char *p)
{
	uint32_t four;

	memcpy(&four, p, 4);
	return (le32toh(four) & 0x1f1f1f) * 0x9e3779b1u >> 21;
}

static void make_pieces(void)
{
	_Static_assert(2 * N_WORDS < 255, "a piece is a byte");
	for (unsigned i = 0; i < 2 * N_WORDS; i++) {
		unsigned char *head = &rules.piece[piece_of(words[i / 2].text + i % 2)];

		rules.next[i] = *head;
		*head = (unsigned char)(i + 1);
	}
	atomic_store_explicit(&rules.made, true, memory_order_release);
}

void redact_prepare(void)
{
	if (!atomic_load_explicit(&rules.made, memory_order_relaxed))
		make_pieces();
}

/* Characters */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

static bool is_alnum(char c)
{
	return is_letter(c) || is_digit(c);
}

static bool is_name(char c)
{
	return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || !c;
}

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* Ends a word of a shell's command. */
static bool is_operator(char c)
{
	return c == ';' || c == '|' || c == '&' || c == '(' || c == ')' || c == '<' || c == '>';
}

static bool same(const char *p, const char *word, size_t len, bool fold)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] != word[i] && !(fold && lower(p[i]) == word[i]))
			return false;
	}
	return true;
}

/* list: words with a space between two. */
static bool is_one_of(struct slice s, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, " ");

		if (s.len == n && same(s.p, list, n, true))
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

/* The text */

struct scan {
	const char *p, *end;
	bool cut, words;	/* words: it has NUL bytes between them */
};

/* A secret: [p, end). NULL: none. */
struct span {
	const char *p, *end;
};

static bool is_word_end(const struct scan *s, const char *p)
{
	return p >= s->end || is_space(*p) || is_operator(*p);
}

/* What a quote at p opens, with the quote that ends it. */
static const char *behind_quoted(const struct scan *s, const char *p)
{
	char quote = *p++;

	while (p < s->end && *p && *p != quote)
		p += *p == '\\' && quote == '"' && p + 1 < s->end ? 2 : 1;
	return p < s->end && *p ? p + 1 : p;
}

/* A value that begins at p. quote: of the word that it is in, 0: none. */
static struct span value_at(const struct scan *s, const char *p, char quote, bool whole_word)
{
	struct span v = { p, p };

	if (whole_word && s->words) {
		v.end = memchr(p, 0, (size_t)(s->end - p));
		v.end = v.end ? v.end : s->end;
		return v;
	}
	if (quote) {
		while (v.end < s->end && *v.end && *v.end != quote)
			v.end += *v.end == '\\' && v.end + 1 < s->end && quote == '"' ? 2 : 1;
		return v;
	}
	if (p + 1 < s->end && *p == '\\' && is_quote(p[1])) {
		v.p = v.end = p + 2;
		while (v.end < s->end && !(*v.end == '\\' && v.end + 1 < s->end &&
					   v.end[1] == p[1]))
			v.end++;
		return v;
	}
	if (p < s->end && is_quote(*p)) {
		const char *end = behind_quoted(s, p);

		if (is_word_end(s, end) || *end == ',' || *end == '}') {
			v.p = p + 1;
			v.end = end > p + 1 && end[-1] == *p ? end - 1 : end;
			return v;
		}
	}
	while (!is_word_end(s, v.end)) {
		if (is_quote(*v.end)) {
			if (v.end > p && (is_word_end(s, v.end + 1) || v.end[1] == ',' ||
					  v.end[1] == '}'))
				break;
			v.end = behind_quoted(s, v.end);
		} else if (*v.end == '\\' && v.end + 1 < s->end) {
			if (is_quote(v.end[1]))
				break;
			v.end += 2;
		} else if (*v.end == '$' && v.end + 1 < s->end && v.end[1] == '(') {
			while (v.end < s->end && *v.end != ')' && *v.end)
				v.end++;
			v.end += v.end < s->end;
		} else {
			v.end++;
		}
	}
	return v;
}

/* $NAME, ${NAME}, $(NAME), $$NAME, @NAME@, <NAME>: still to be expanded, or ours. */
static bool is_reference(struct slice v)
{
	size_t i = 0;

	if (v.len >= 3 && same(v.p, REDACT_MARK, 3, false))
		return true;
	while (i < v.len && v.p[i] == '$')
		i++;
	if (!i || i == v.len)
		return false;
	if (v.p[i] == '{' || v.p[i] == '(')
		return memchr(v.p, v.p[i] == '{' ? '}' : ')', v.len) == v.p + v.len - 1;
	for (; i < v.len; i++) {
		if (!is_alnum(v.p[i]) && v.p[i] != '_')
			return false;
	}
	return true;
}

/* What no secret is: nothing, a small number, a switch. */
static bool is_harmless(struct span span)
{
	static const char switches[] =
		"on off yes no y n true false enabled disabled auto none null default "
		"required optional int char void string static shared";
	struct slice v = { span.p, (size_t)(span.end - span.p) };
	size_t digits = 0;

	while (digits < v.len && is_digit(v.p[digits]))
		digits++;
	return !v.len || v.p[-1] == '`' || *v.p == '`' || (digits == v.len && digits < 4) || is_reference(v) ||
	       is_one_of(v, switches);
}

/* Names */

/* The next piece of a name: up to _ - . or a capital behind a small letter. */
static struct slice next_piece(const char **p, const char *end)
{
	struct slice s;

	while (*p < end && !is_alnum(**p))
		++*p;
	s.p = *p;
	while (*p < end && is_alnum(**p) &&
	       !(*p > s.p && lower((*p)[-1]) == (*p)[-1] && lower(**p) != **p))
		++*p;
	s.len = (size_t)(*p - s.p);
	return s;
}

/* Of the pieces of a name, around the word that speaks of a secret: it is a switch, a
 * number or a place. */
static bool is_about(const char *p, const char *word, const char *word_end, const char *end)
{
	static const char before[] =
		"use have has enable disable no without max min num n is allow support";
	static const char after[] =
		"file files path paths dir dirs directory max min size len length count num "
		"limit url uri type types kind name names header headers timeout ttl expiry "
		"lib libs libdir include includes prefix suffix method methods mode policy "
		"format enabled enable support algorithm h hpp c cc cpp o a so in txt md py "
		"js version service store server host port prompt chars table class helper "
		"id list parser env bits bytes offset index pos cache module plugin "
		"provider backend test tests";
	bool first = true;

	if (p < word && *p == '-' && p + 1 < word && p[1] == 'D')
		p += 2;
	while (p < word) {
		struct slice piece = next_piece(&p, word);

		if (first && is_one_of(piece, before))
			return true;
		first = false;
	}
	for (p = word_end; p < end;) {
		if (is_one_of(next_piece(&p, end), after))
			return true;
	}
	return false;
}

static bool match_glob(const char *glob, const char *p, const char *end)
{
	const char *star = NULL, *retry = p;

	while (p < end) {
		if (*glob == '*') {
			star = ++glob;
			retry = p;
		} else if (*glob && *glob == lower(*p)) {
			glob++;
			p++;
		} else if (star) {
			glob = star;
			p = ++retry;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return !*glob;
}

/* Do the user's patterns of that kind have the name, with or without its - and -D. */
static bool is_named(int kind, const char *p, const char *end)
{
	const struct own *set = current_own();
	const char *bare = p;

	while (bare < end && *bare == '-')
		bare++;
	for (unsigned i = 0; set && i < set->n; i++) {
		const struct pattern *own = &set->pattern[i];

		if ((int)own->kind == kind &&
		    (match_glob(own->text, p, end) || match_glob(own->text, bare, end) ||
		     (bare == p + 1 && bare < end && *bare == 'D' && match_glob(own->text, bare + 1, end))))
			return true;
	}
	return false;
}

/* A name's first and last byte, and what lies before it. */
struct name {
	const char *p, *end;
	char quote;		/* right before it, or 0 */
	bool begins_word;
	bool may_be_spaced;	/* its value may be the next word */
};

#define NAME_LONGEST 128

static bool name_around(struct name *n, const struct scan *s, const char *text, const char *at,
			const char *end)
{
	char before;

	n->p = at;
	n->end = end;
	while (n->p > text && is_name(n->p[-1]) && at - n->p < NAME_LONGEST)
		n->p--;
	while (n->end < s->end && is_name(*n->end) && n->end - end < NAME_LONGEST)
		n->end++;
	before = n->p > text ? n->p[-1] : ' ';
	n->quote = is_quote(before) ? before : 0;
	n->begins_word = n->p == text || !before || is_space(before);
	if (before == '{' && n->p - text > 1 && n->p[-2] == '$')
		return false;
	if (before == '=')
		return !(n->p - text >= 5 && same(n->p - 5, "-map=", 5, false));
	return n->begins_word || n->quote || is_operator(before) ||
	       (before && strchr("?,{:", before));
}

/* Behind the name: where its value begins, NULL if it has none. *spaced: in the next word. */
static const char *value_begins(const struct scan *s, struct name *n, bool *spaced)
{
	const char *p = n->end;
	bool closed = false;

	*spaced = false;
	while (p < s->end && *p == '\\')
		p++;
	if (p < s->end && is_quote(*p) && (n->quote == *p || p > n->end)) {
		closed = true;
		n->quote = 0;
		p++;
	} else {
		p = n->end;
	}
	if (p >= s->end)
		return NULL;
	if (p + 1 < s->end && *p && strchr(":+?", *p) && p[1] == '=')
		p++;
	if (*p == '=')
		return p + 1 < s->end && p[1] == '=' ? NULL : p + 1;
	if (*p == ':' && (closed || (p + 1 < s->end && p[1] == ' '))) {
		for (p++; p < s->end && *p == ' ';)
			p++;
		return p;
	}
	if (!is_space(*p) || *n->p != '-' || !n->may_be_spaced)
		return NULL;
	*spaced = true;
	while (p < s->end && is_space(*p))
		p++;
	return p < s->end && *p != '-' && !is_operator(*p) ? p : NULL;
}

static bool looks_weak(struct span v)
{
	bool mixed = false;

	for (const char *p = v.p; p < v.end; p++)
		mixed |= is_digit(*p) || *p == ':' || *p == '=';
	return !mixed || v.end - v.p < 6;
}

/* --NAME, and -NAME of few names: -lsecret is a library. */
static bool is_long_option(const struct name *n, const char *at)
{
	return n->end - n->p > 3 && n->p[0] == '-' && (n->p[1] == '-' || at == n->p + 1);
}

static struct span value_of(const struct scan *s, struct name *n)
{
	bool spaced;
	const char *p = value_begins(s, n, &spaced);

	if (!p)
		return (struct span){ 0 };
	if (spaced && n->quote)
		n->quote = 0;
	return value_at(s, p, n->quote, spaced || n->begins_word);
}

/* Where the word at p, of len bytes, ends as a word; NULL if it goes on as another one. */
static const char *word_boundary(const struct scan *s, const char *p, size_t len)
{
	const char *end = p + len;

	if (len == 5 && same(p, "passw", 5, true)) {
		while (end < s->end && is_letter(*end) &&
		       !(lower(end[-1]) == end[-1] && lower(*end) != *end))
			end++;
	} else if (end < s->end && lower(*end) == 's' && (len == 6 || len == 10)) {
		end++;
	}
	if (end < s->end && is_letter(*end) &&
	    !(lower(end[-1]) == end[-1] && lower(*end) != *end))
		return NULL;
	return end;
}

static struct span secret_named(const struct scan *s, const char *text, const struct word *w,
				const char *at)
{
	const char *end = word_boundary(s, at, strlen(w->text));
	static const struct span none;
	struct name n;
	struct span v;
	bool last;

	if (!end || !name_around(&n, s, text, at, end))
		return none;
	last = n.end == end || (n.end - end <= 6 && n.end - end >= 4 &&
				(same(n.end - 4, "_key", 4, true) || same(n.end - 4, "-key", 4, true)));
	if (is_about(n.p, at, end, n.end) || is_named(PATTERN_NOT, n.p, n.end))
		return none;
	n.may_be_spaced = is_long_option(&n, at);
	v = value_of(s, &n);
	if (!v.p || is_harmless(v))
		return none;
	/* of two words only where the name says it all */
	if (v.p > n.end && is_space(v.p[-1]) && *n.p == '-' &&
	    (!last || (v.end - v.p > 3 && (same(v.p, "id=", 3, false) ||
					   same(v.p, "type=", 4, false)))))
		return none;
	if (w->rule == RULE_WEAK_NAME && (n.end != end || looks_weak(v)))
		return none;
	return v;
}

/* Headers and tokens */

static bool is_token(char c)
{
	return is_alnum(c) || c == '_' || c == '-';
}

static bool is_bearer(char c)
{
	return is_token(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}

static const char *token_end(const struct scan *s, const char *p)
{
	while (p < s->end && is_token(*p))
		p++;
	return p;
}

/* Authorization: VALUE, or SCHEME VALUE, also where the quotes around it are gone. */
static struct span authorization(const struct scan *s, const char *text, const char *at)
{
	static const char schemes[] = "bearer basic token digest negotiate apikey";
	static const struct span none;
	struct name n;
	struct span v;
	const char *p;

	if (!name_around(&n, s, text, at, at + strlen("authorization")) ||
	    n.end != at + strlen("authorization"))
		return none;
	if (n.end < s->end && *n.end == ':') {
		for (p = n.end + 1; p < s->end && *p == ' ';)
			p++;
		v = value_at(s, p, n.quote, false);
		/* a header within quotes that begin with another word */
		if (!n.quote && v.p && is_one_of((struct slice){ v.p, (size_t)(v.end - v.p) },
						 schemes)) {
			for (p = v.end; p < s->end && *p == ' ';)
				p++;
			v = value_at(s, p, 0, false);
		} else {
			size_t len;

			for (const char *w = schemes; n.quote && *w; w += len + (w[len] == ' ')) {
				len = strcspn(w, " ");
				if ((size_t)(v.end - v.p) > len && same(v.p, w, len, true) &&
				    v.p[len] == ' ') {
					v.p += len + 1;
					break;
				}
			}
		}
	} else {
		n.may_be_spaced = false;
		v = value_of(s, &n);
	}
	return v.p && !is_harmless(v) ? v : none;
}

static struct span bearer(const struct scan *s, const char *text, const char *at)
{
	const char *p = at + strlen("bearer"), *end;

	if ((at > text && is_alnum(at[-1])) || p >= s->end || (*p != ' ' && *p != '='))
		return (struct span){ 0 };
	for (end = ++p; end < s->end && is_bearer(*end);)
		end++;
	if (end - p < 12 && !(s->cut && end == s->end))
		return (struct span){ 0 };
	return (struct span){ p, end };
}

static bool begins_token(const char *text, const char *at)
{
	return at == text || !is_alnum(at[-1]);
}

static struct span token(const struct scan *s, const char *text, const struct word *w,
			 const char *at)
{
	const char *end = token_end(s, at);
	size_t len = strlen(w->text);
	size_t behind = (size_t)(end - at) - len;

	if (!begins_token(text, at) || (size_t)(end - at) < len)
		return (struct span){ 0 };
	if (behind < w->min && !(s->cut && end == s->end && behind))
		return (struct span){ 0 };
	return (struct span){ at, end };
}

static struct span aws_key(const struct scan *s, const char *text, const char *at)
{
	const char *end = at;

	while (end < s->end && (is_digit(*end) || (*end >= 'A' && *end <= 'Z')))
		end++;
	if (!begins_token(text, at) || (end < s->end && is_token(*end)) ||
	    (end - at != 20 && !(s->cut && end == s->end && end - at > 4 && end - at < 20)))
		return (struct span){ 0 };
	return (struct span){ at, end };
}

/* Three parts of base64 with dots between them. */
static struct span jwt(const struct scan *s, const char *text, const char *at)
{
	const char *first = token_end(s, at), *end = first;
	int dots = 0;

	while (end < s->end && *end == '.' && dots < 4) {
		dots++;
		end = token_end(s, end + 1);
	}
	if (!begins_token(text, at) || first - at < 10)
		return (struct span){ 0 };
	if (dots < 2 && !(s->cut && end == s->end))
		return (struct span){ 0 };
	return (struct span){ at, end };
}

/* -----BEGIN PRIVATE KEY-----: as far as the line that ends it. */
static struct span key_block(const struct scan *s, const char *at)
{
	const char *p = at + strlen("private key-----");
	const char *end = memmem(p, (size_t)(s->end - p), "-----END", 8);

	return (struct span){ p, end ? end : s->end };
}

static struct span openssl(const struct scan *s, const char *text, const char *at)
{
	const char *p = at;
	struct span v;

	if (p > text && is_quote(p[-1]))
		p--;
	while (p > text && is_space(p[-1]))
		p--;
	while (p > text && is_name(p[-1]))
		p--;
	if (p >= at || !same(p, "-pass", 5, false))
		return (struct span){ 0 };
	v = value_at(s, at + strlen("pass:"), is_quote(at[-1]) ? at[-1] : 0, true);
	return is_harmless(v) ? (struct span){ 0 } : v;
}

/* Commands whose options have a secret */

static bool is_command(const struct scan *s, const char *text, const char *at, size_t len)
{
	const char *p = at, *end = at + len;

	while (end < s->end && is_letter(*end))
		end++;
	if (end >= s->end || !is_space(*end))
		return false;
	while (p > text && !is_space(p[-1]) && !is_operator(p[-1]) && !is_quote(p[-1]))
		p--;
	return p == at || (at[-1] == '/' && *p != '-');
}

static const char *next_word(const struct scan *s, const char *p)
{
	while (!is_word_end(s, p))
		p = is_quote(*p) ? behind_quoted(s, p) : p + 1;
	while (p < s->end && (*p == ' ' || *p == '\t' || !*p))
		p++;
	return p < s->end && *p != '\n' && !is_operator(*p) ? p : NULL;
}

static struct span mysql_password(const struct scan *s, const char *p, bool ssh)
{
	static const char not[] = "-pthread -pipe -pg -pedantic";
	struct span v;

	while ((p = next_word(s, p))) {
		const char *end = p;

		while (!is_word_end(s, end))
			end++;
		if (end - p < 2 || p[0] != '-' || p[1] != 'p' ||
		    is_one_of((struct slice){ p, (size_t)(end - p) }, not)) {
			if (ssh && *p != '-')
				break;
			continue;
		}
		if (end - p == 2 && !ssh)
			continue;
		p = end - p > 2 ? p + 2 : next_word(s, p);
		if (!p)
			break;
		v = value_at(s, p, 0, true);
		return is_harmless(v) ? (struct span){ 0 } : v;
	}
	return (struct span){ 0 };
}

/* Of -u USER:PASSWORD and its likes, the password. */
static struct span curl_password(const struct scan *s, const char *p)
{
	while ((p = next_word(s, p))) {
		const char *value = NULL, *colon, *last = p;
		struct span v;

		/* -u, also as the last of several letters */
		while (last + 1 < s->end && is_letter(last[1]) && lower(*last) != 'u')
			last++;
		if (p[0] == '-' && last > p && lower(*last) == 'u')
			value = last + 1 < s->end && !is_space(last[1]) ? last + 1 :
				next_word(s, last);
		else if (s->end - p > 6 && same(p, "--user", 6, false))
			value = p[6] == '=' ? p + 7 : is_space(p[6]) ? next_word(s, p) : NULL;
		else if (s->end - p > 12 && same(p, "--proxy-user", 12, false))
			value = p[12] == '=' ? p + 13 : next_word(s, p);
		if (!value)
			continue;
		v = value_at(s, value, 0, true);
		colon = memchr(v.p, ':', (size_t)(v.end - v.p));
		if (!colon)
			continue;
		v.p = colon + 1;
		if (!is_harmless(v))
			return v;
	}
	return (struct span){ 0 };
}

/* URLs */

/* scheme://user:password@host: the password; without one, a user that is no name. */
static struct span url_password(const struct scan *s, const char *from)
{
	for (const char *p = from; p < s->end; p++) {
		const char *at = NULL, *colon = NULL, *end;

		p = memchr(p, ':', (size_t)(s->end - p));
		if (!p)
			break;
		if (s->end - p < 3 || p[1] != '/' || p[2] != '/')
			continue;
		p += 3;
		for (end = p; end < s->end && !is_space(*end) && !is_quote(*end) &&
			      *end != '/' && *end != '?' && *end != '#'; end++) {
			if (*end == '@')
				at = end;
			else if (*end == ':' && !colon)
				colon = end;
		}
		if (!at && s->cut && end == s->end && colon) {
			struct span v = { colon + 1, end };

			for (at = v.p; at < end && is_digit(*at);)
				at++;
			if (at < end)
				return v;
			continue;
		}
		if (at && colon && colon < at) {
			struct span v = { colon + 1, at };

			if (!is_harmless(v) || is_digit(*v.p))
				return v;
		} else if (at && at - p >= 20 && token_end(s, p) == at) {
			return (struct span){ p, at };
		}
	}
	return (struct span){ 0 };
}

/* The user's own */

static struct span own_text(const struct scan *s, const char *from)
{
	const struct own *set = current_own();
	struct span first = { 0 };

	for (unsigned i = 0; set && i < set->n; i++) {
		const struct pattern *own = &set->pattern[i];
		const char *p = from;

		while (own->kind == PATTERN_TEXT && p < s->end &&
		       (p = memmem(p, (size_t)(s->end - p), own->text, own->len))) {
			char quote = is_quote(p[own->len - 1]) ? p[own->len - 1] : 0;
			struct span v = value_at(s, p + own->len, quote, true);

			if (v.end > v.p && !is_reference((struct slice){
					v.p, (size_t)(v.end - v.p) })) {
				if (!first.p || v.p < first.p)
					first = v;
				break;
			}
			p += own->len;
		}
	}
	return first;
}

static struct span own_name(const struct scan *s, const char *text, const char *from)
{
	for (const char *p = from; p < s->end; p++) {
		struct name n;
		struct span v;

		if (!is_name(*p) || (p > text && is_name(p[-1])))
			continue;
		if (!name_around(&n, s, text, p, p + 1) || !is_named(PATTERN_NAME, n.p, n.end))
			continue;
		n.may_be_spaced = true;
		v = value_of(s, &n);
		if (v.p && v.p < v.end && !is_reference((struct slice){
				v.p, (size_t)(v.end - v.p) }))
			return v;
	}
	return (struct span){ 0 };
}

/* One text */

struct finder {
	struct scan s;
	const char *text;
	const char *at;			/* words are searched from here */
	struct span word, url, command, own_text, own_name;
	const char *command_at;		/* behind the command's name, or its last secret */
	enum rule command_rule;
};

static void search_command(struct finder *f)
{
	f->command = f->command_rule == RULE_CURL ? curl_password(&f->s, f->command_at) :
		mysql_password(&f->s, f->command_at, f->command_rule == RULE_SSHPASS);
}

static struct span judge(struct finder *f, const struct word *w, const char *at)
{
	const struct scan *s = &f->s;

	switch (w->rule) {
	case RULE_NAME:
	case RULE_WEAK_NAME:
		return secret_named(s, f->text, w, at);
	case RULE_HEADER:
		return authorization(s, f->text, at);
	case RULE_BEARER:
		return bearer(s, f->text, at);
	case RULE_TOKEN:
		return token(s, f->text, w, at);
	case RULE_AWS:
		return aws_key(s, f->text, at);
	case RULE_JWT:
		return jwt(s, f->text, at);
	case RULE_KEY:
		return key_block(s, at);
	case RULE_OPENSSL:
		return openssl(s, f->text, at);
	case RULE_MYSQL:
	case RULE_SSHPASS:
	case RULE_CURL:
		if (!f->command.p && is_command(s, f->text, at, strlen(w->text))) {
			f->command_rule = w->rule;
			f->command_at = at;
			search_command(f);
		}
	}
	return (struct span){ 0 };
}

/* Words of which the piece at p is one. */
static bool judge_piece(struct finder *f, const char *p, unsigned entry)
{
	for (; entry; entry = rules.next[entry - 1]) {
		const struct word *w = &words[(entry - 1) / 2];
		const char *at = p - (entry - 1) % 2;
		size_t len = strlen(w->text);

		if (at < f->at || (size_t)(f->s.end - at) < len ||
		    !same(at, w->text, len, w->fold))
			continue;
		f->word = judge(f, w, at);
		if (f->word.p)
			return true;
	}
	return false;
}

static void search_words(struct finder *f)
{
	const char *p = f->at;
	char last[4] = { 0 };
	unsigned entry;

	f->word = (struct span){ 0 };
	for (; f->s.end - p >= 4; p += 2) {
		entry = rules.piece[piece_of(p)];
		if (entry && judge_piece(f, p, entry))
			return;
	}
	if (f->s.end - p == 3) {
		memcpy(last, p, 3);
		entry = rules.piece[piece_of(last)];
		if (entry)
			judge_piece(f, p, entry);
	}
}

static void earliest(struct span *best, struct span v)
{
	if (v.p && (!best->p || v.p < best->p))
		*best = v;
}

/* Search anew whatever was found before p. */
static void search_from(struct finder *f, const char *p)
{
	const struct own *set = current_own();

	if (!set || !set->none) {
		if (f->word.p && f->word.p < p) {
			f->at = p;
			search_words(f);
		}
		if (f->url.p && f->url.p < p)
			f->url = url_password(&f->s, p);
		if (f->command.p && f->command.p < p) {
			f->command_at = p;
			search_command(f);
		}
	}
	if (f->own_text.p && f->own_text.p < p)
		f->own_text = own_text(&f->s, p);
	if (f->own_name.p && f->own_name.p < p)
		f->own_name = own_name(&f->s, f->text, p);
}

/* The earliest one, with all that overlap it. */
static struct span next_secret(const struct finder *f)
{
	const struct span *all[] = {
		&f->word, &f->url, &f->command, &f->own_text, &f->own_name,
	};
	struct span best = { 0 };

	for (size_t i = 0; i < 5; i++)
		earliest(&best, *all[i]);
	for (size_t i = 0; i < 5 && best.p; i++) {
		if (all[i]->p && all[i]->p <= best.end && all[i]->end > best.end) {
			best.end = all[i]->end;
			i = (size_t)-1;
		}
	}
	return best;
}

static void find_first(struct finder *f)
{
	const struct own *set = current_own();

	if (!set || !set->none) {
		search_words(f);
		f->url = url_password(&f->s, f->text);
	}
	if (set && set->has_texts)
		f->own_text = own_text(&f->s, f->text);
	if (set && set->has_names)
		f->own_name = own_name(&f->s, f->text, f->text);
}

size_t redact_split(struct slice part[REDACT_PARTS_MAX], const char *text, size_t len, bool cut)
{
	struct finder f = { .s = { text, text + len, cut, false }, .text = text, .at = text };
	const char *done = text;
	struct span v;
	size_t n = 0;

	part[0] = (struct slice){ text, len };
	if (len < 4)
		return 1;
	if (!atomic_load_explicit(&rules.made, memory_order_acquire))
		pthread_once(&rules.once, make_pieces);
	f.s.words = memchr(text, 0, len);
	find_first(&f);
	while ((v = next_secret(&f)).p) {
		if (n == REDACT_PARTS_MAX - 3)
			v.end = text + len;
		if (v.p > done || !n) {
			part[n++] = (struct slice){ done, (size_t)(v.p - done) };
			part[n++] = (struct slice){ REDACT_MARK, strlen(REDACT_MARK) };
		}
		if (v.end > done)
			done = v.end;
		search_from(&f, v.p + 1 > done ? v.p + 1 : done);
	}
	if (n)
		part[n] = (struct slice){ done, (size_t)(text + len - done) };
	return n + 1;
}

bool redact_field(struct buf *b, const char *text, size_t len, size_t max)
{
	struct slice part[REDACT_PARTS_MAX];
	size_t n = redact_split(part, text, len, false);

	return field_add_parts(b, part, n, max) && n == 1;
}

size_t redact_field_size(const char *text, size_t len, size_t max)
{
	struct slice part[REDACT_PARTS_MAX];
	size_t n = redact_split(part, text, len, false);

	return field_parts_size(part, n, max);
}

/* Patterns */

#define TEXT_MARK "(*)"

const char *redact_why_not(const char *pattern)
{
	size_t len = strlen(pattern), mark = strlen(TEXT_MARK);
	const char *p = pattern;

	if (!len || len > REDACT_PATTERN_MAX)
		return "expected a pattern of 1 to 64 bytes";
	if (len > mark && !strcmp(pattern + len - mark, TEXT_MARK))
		return len - mark < 2 ? "expected a text of two bytes or more before (*)" : NULL;
	for (p += *p == '!'; *p; p++) {
		if (!is_name(*p) && *p != '*')
			return "expected a name with letters, digits and _-.*, or a text and (*)";
	}
	p = pattern + (*pattern == '!');
	return p[strspn(p, "*")] ? NULL : "expected a name with characters besides *";
}

static __attribute__((cold)) void add_pattern(struct own *set, const char *text)
{
	size_t len = strlen(text), mark = strlen(TEXT_MARK);
	struct pattern *own = &set->pattern[set->n];

	if (!strcmp(text, REDACT_NONE)) {
		set->none = true;
		return;
	}
	if (redact_why_not(text) || set->n == REDACT_PATTERNS_MAX)
		return;
	set->n++;
	if (len > mark && !strcmp(text + len - mark, TEXT_MARK)) {
		own->kind = PATTERN_TEXT;
		len -= mark;
	} else if (*text == '!') {
		own->kind = PATTERN_NOT;
		text++;
		len--;
	}
	set->has_texts |= own->kind == PATTERN_TEXT;
	set->has_names |= own->kind == PATTERN_NAME;
	own->len = len;
	for (size_t i = 0; i < len; i++)
		own->text[i] = own->kind == PATTERN_TEXT ? text[i] : lower(text[i]);
}

/*
 * A set that was published once stays in memory, because another thread may be reading it. A
 * process has few different ones. The first one needs no memory; without memory for a
 * further one the patterns stay as they are.
 */
static __attribute__((cold)) const struct own *keep(const struct own *set)
{
	static struct own first;
	static atomic_flag first_is_taken = ATOMIC_FLAG_INIT;
	struct own *copy;

	for (const struct own *known = atomic_load(&all_sets); known; known = known->before) {
		if (known->none == set->none && known->n == set->n &&
		    !memcmp(known->pattern, set->pattern, sizeof set->pattern))
			return known;
	}
	copy = atomic_flag_test_and_set(&first_is_taken) ? malloc(sizeof *copy) : &first;
	if (!copy)
		return NULL;
	*copy = *set;
	copy->before = atomic_load(&all_sets);
	while (!atomic_compare_exchange_weak(&all_sets, &copy->before, copy))
		;
	return copy;
}

static __attribute__((cold)) void publish(const struct own *set)
{
	const struct own *kept = set->none || set->n ? keep(set) : NULL;

	if (kept || (!set->none && !set->n))
		atomic_store_explicit(&rules.own, kept, memory_order_release);
}

bool redact_is_default(void)
{
	return !current_own();
}

void redact_set(const char *const *pattern, size_t n)
{
	struct own set = { 0 };

	for (size_t i = 0; i < n; i++)
		add_pattern(&set, pattern[i]);
	publish(&set);
}

static void add_word(struct buf *b, const char *text)
{
	for (; *text; text++) {
		if (is_name(*text) || *text == '*' || *text == '!') {
			buf_addc(b, *text);
		} else {
			buf_addc(b, '%');
			buf_addc(b, hex_digit((unsigned char)*text >> 4));
			buf_addc(b, hex_digit((unsigned char)*text));
		}
	}
}

__attribute__((cold)) void redact_add_words(struct buf *b)
{
	static const char before[][2] = { "", "!", "" }, behind[][4] = { "", "", TEXT_MARK };
	const struct own *set = current_own();
	bool first = true;

	if (set && set->none) {
		buf_adds(b, REDACT_NONE);
		first = false;
	}
	for (unsigned i = 0; set && i < set->n; i++) {
		const struct pattern *own = &set->pattern[i];

		if (!first)
			buf_addc(b, ' ');
		first = false;
		add_word(b, before[own->kind]);
		add_word(b, own->text);
		add_word(b, behind[own->kind]);
	}
}

static int digit_value(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void redact_set_words(struct slice text)
{
	char word[REDACT_PATTERN_MAX + 1];
	struct own set = { 0 };
	size_t n = 0;

	for (size_t i = 0; i <= text.len; i++) {
		char c = i < text.len ? text.p[i] : ' ';

		if (c == ' ') {
			word[n] = '\0';
			if (n)
				add_pattern(&set, word);
			n = 0;
			continue;
		}
		if (c == '%' && text.len - i > 2 && digit_value(text.p[i + 1]) >= 0 &&
		    digit_value(text.p[i + 2]) >= 0) {
			c = (char)(digit_value(text.p[i + 1]) * 16 + digit_value(text.p[i + 2]));
			i += 2;
		}
		if (n < REDACT_PATTERN_MAX)
			word[n++] = c;
	}
	publish(&set);
}
