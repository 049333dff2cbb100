/* SPDX-License-Identifier: MIT */
#include "command/redact_parts.h"

#include <string.h>

bool redact_is_one_of(struct slice s, const char *list)
{
	while (*list) {
		size_t n = strcspn(list, " ");

		if (s.len == n && redact_same(s.p, list, n, true))
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

/* Names and values */

static bool is_word_end(const struct redact_scan *s, const char *p)
{
	return p >= s->end || redact_is_space(*p) || redact_is_operator(*p);
}

/* What a quote at p opens, with the quote that ends it. */
static const char *behind_quoted(const struct redact_scan *s, const char *p)
{
	char quote = *p++;

	while (p < s->end && *p && *p != quote)
		p += *p == '\\' && quote == '"' && p + 1 < s->end ? 2 : 1;
	return p < s->end && *p ? p + 1 : p;
}

/* quote is that of the word around it, 0: none. */
struct redact_span redact_value_at(const struct redact_scan *s, const char *p, char quote,
				   bool whole_word)
{
	struct redact_span v = { p, p };

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
	if (p + 1 < s->end && *p == '\\' && redact_is_quote(p[1])) {
		v.p = v.end = p + 2;
		while (v.end < s->end && !(*v.end == '\\' && v.end + 1 < s->end &&
					   v.end[1] == p[1]))
			v.end++;
		return v;
	}
	if (p < s->end && redact_is_quote(*p)) {
		const char *end = behind_quoted(s, p);

		if (is_word_end(s, end) || *end == ',' || *end == '}') {
			v.p = p + 1;
			v.end = end > p + 1 && end[-1] == *p ? end - 1 : end;
			return v;
		}
	}
	while (!is_word_end(s, v.end)) {
		if (redact_is_quote(*v.end)) {
			if (v.end > p && (is_word_end(s, v.end + 1) || v.end[1] == ',' ||
					  v.end[1] == '}'))
				break;
			v.end = behind_quoted(s, v.end);
		} else if (*v.end == '\\' && v.end + 1 < s->end) {
			if (redact_is_quote(v.end[1]))
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

	if (v.len >= 3 && redact_same(v.p, REDACT_MARK, 3, false))
		return true;
	while (i < v.len && v.p[i] == '$')
		i++;
	if (!i || i == v.len)
		return false;
	if (v.p[i] == '{' || v.p[i] == '(')
		return memchr(v.p, v.p[i] == '{' ? '}' : ')', v.len) == v.p + v.len - 1;
	for (; i < v.len; i++) {
		if (!redact_is_alnum(v.p[i]) && v.p[i] != '_')
			return false;
	}
	return true;
}

bool redact_is_harmless(struct redact_span span)
{
	static const char switches[] =
		"on off yes no y n true false enabled disabled auto none null default "
		"required optional int char void string static shared";
	struct slice v = { span.p, (size_t)(span.end - span.p) };
	size_t digits = 0;

	while (digits < v.len && redact_is_digit(v.p[digits]))
		digits++;
	return !v.len || v.p[-1] == '`' || *v.p == '`' || (digits == v.len && digits < 4) ||
	       is_reference(v) ||
	       redact_is_one_of(v, switches);
}

/* The next piece of a name: up to _ - . or a capital letter after a small one. */
static struct slice next_piece(const char **p, const char *end)
{
	struct slice s;

	while (*p < end && !redact_is_alnum(**p))
		++*p;
	s.p = *p;
	while (*p < end && redact_is_alnum(**p) &&
	       !(*p > s.p && redact_lower((*p)[-1]) == (*p)[-1] && redact_lower(**p) != **p))
		++*p;
	s.len = (size_t)(*p - s.p);
	return s;
}

/* Do the other pieces of the name show that its value is a switch, a number or a place? */
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

		if (first && redact_is_one_of(piece, before))
			return true;
		first = false;
	}
	for (p = word_end; p < end;) {
		if (redact_is_one_of(next_piece(&p, end), after))
			return true;
	}
	return false;
}

#define NAME_LONGEST 128

static bool name_around(struct redact_name *n, const struct redact_scan *s, const char *text,
			const char *at, const char *end)
{
	char before;

	n->p = at;
	n->end = end;
	while (n->p > text && redact_is_name(n->p[-1]) && at - n->p < NAME_LONGEST)
		n->p--;
	while (n->end < s->end && redact_is_name(*n->end) && n->end - end < NAME_LONGEST)
		n->end++;
	before = n->p > text ? n->p[-1] : ' ';
	n->quote = redact_is_quote(before) ? before : 0;
	n->begins_word = n->p == text || !before || redact_is_space(before);
	if (before == '{' && n->p - text > 1 && n->p[-2] == '$')
		return false;
	if (before == '=')
		return !(n->p - text >= 5 && redact_same(n->p - 5, "-map=", 5, false));
	return n->begins_word || n->quote || redact_is_operator(before) ||
	       (before && strchr("?,{:", before));
}

/* The beginning of the value after a name, NULL without one. *spaced: it is the next word. */
static const char *value_begins(const struct redact_scan *s, struct redact_name *n, bool *spaced)
{
	const char *p = n->end;
	bool closed = false;

	*spaced = false;
	while (p < s->end && *p == '\\')
		p++;
	if (p < s->end && redact_is_quote(*p) && (n->quote == *p || p > n->end)) {
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
	if (!redact_is_space(*p) || *n->p != '-' || !n->may_be_spaced)
		return NULL;
	*spaced = true;
	while (p < s->end && redact_is_space(*p))
		p++;
	return p < s->end && *p != '-' && !redact_is_operator(*p) ? p : NULL;
}

static struct redact_span value_of(const struct redact_scan *s, struct redact_name *n)
{
	bool spaced;
	const char *p = value_begins(s, n, &spaced);

	if (!p)
		return (struct redact_span){ 0 };
	if (spaced && n->quote)
		n->quote = 0;
	return redact_value_at(s, p, n->quote, spaced || n->begins_word);
}

static bool looks_weak(struct redact_span v)
{
	bool mixed = false;

	for (const char *p = v.p; p < v.end; p++)
		mixed |= redact_is_digit(*p) || *p == ':' || *p == '=';
	return !mixed || v.end - v.p < 6;
}

/* --NAME, or -NAME for a few names: -lsecret is a library. */
static bool is_long_option(const struct redact_name *n, const char *at)
{
	return n->end - n->p > 3 && n->p[0] == '-' && (n->p[1] == '-' || at == n->p + 1);
}

/* The end of the word at p, which has len bytes; NULL if it is part of a longer word. */
static const char *word_boundary(const struct redact_scan *s, const char *p, size_t len)
{
	const char *end = p + len;

	if (len == 5 && redact_same(p, "passw", 5, true)) {
		while (end < s->end && redact_is_letter(*end) &&
		       !(redact_lower(end[-1]) == end[-1] && redact_lower(*end) != *end))
			end++;
	} else if (end < s->end && redact_lower(*end) == 's' && (len == 6 || len == 10)) {
		end++;
	}
	if (end < s->end && redact_is_letter(*end) &&
	    !(redact_lower(end[-1]) == end[-1] && redact_lower(*end) != *end))
		return NULL;
	return end;
}

/* NAME_PASS and namePass; PASS alone needs a value that looks like a secret. */
__attribute__((cold, noinline)) static bool is_pass(const struct redact_name *n, const char *at, const char *end,
		    struct redact_span v)
{
	static const char passes[] = "first second last one two three multi single each per lto";
	const char *name = n->p, *first;

	if (n->end != end || v.p[-1] == ' ')
		return false;
	while (name < at && *name == '-')
		name++;
	if (name > n->p && *name == 'D')
		name++;
	if (at == name)
		return !looks_weak(v);
	first = name;
	return (at[-1] == '_' || (*at == 'P' && redact_lower(at[-1]) == at[-1] &&
				  redact_is_letter(at[-1]))) &&
	       !redact_is_one_of(next_piece(&first, at), passes);
}

struct redact_span redact_secret_named(const struct redact_scan *s, const char *text,
				       const struct redact_word *w, const char *at)
{
	const char *end = word_boundary(s, at, strlen(w->text));
	static const struct redact_span none;
	struct redact_name n;
	struct redact_span v;
	bool last;

	if (!end || !name_around(&n, s, text, at, end))
		return none;
	last = n.end == end || (n.end - end <= 6 && n.end - end >= 4 &&
				(redact_same(n.end - 4, "_key", 4, true) || redact_same(n.end - 4, "-key", 4, true)));
	if (is_about(n.p, at, end, n.end) || redact_is_named(PATTERN_NOT, n.p, n.end))
		return none;
	n.may_be_spaced = is_long_option(&n, at);
	v = value_of(s, &n);
	if (!v.p || redact_is_harmless(v))
		return none;
	/* in the next word only if the name is unambiguous */
	if (v.p > n.end && redact_is_space(v.p[-1]) && *n.p == '-' &&
	    (!last || (v.end - v.p > 3 && (redact_same(v.p, "id=", 3, false) ||
					   redact_same(v.p, "type=", 4, false)))))
		return none;
	if (w->rule == RULE_PASS && !is_pass(&n, at, end, v))
		return none;
	if (w->rule == RULE_WEAK_NAME && (n.end != end || looks_weak(v)))
		return none;
	return v;
}

/* Headers and tokens */

static bool is_token(char c)
{
	return redact_is_alnum(c) || c == '_' || c == '-';
}

static bool is_bearer(char c)
{
	return is_token(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}

static const char *token_end(const struct redact_scan *s, const char *p)
{
	while (p < s->end && is_token(*p))
		p++;
	return p;
}

struct redact_span redact_authorization(const struct redact_scan *s, const char *text,
					const char *at)
{
	static const char schemes[] = "bearer basic token digest negotiate apikey";
	static const struct redact_span none;
	struct redact_name n;
	struct redact_span v;
	const char *p;

	if (!name_around(&n, s, text, at, at + strlen("authorization")) ||
	    n.end != at + strlen("authorization"))
		return none;
	if (n.end < s->end && *n.end == ':') {
		for (p = n.end + 1; p < s->end && *p == ' ';)
			p++;
		v = redact_value_at(s, p, n.quote, false);
		/* a header within quotes that begin with another word */
		if (!n.quote && v.p && redact_is_one_of((struct slice){ v.p, (size_t)(v.end - v.p) },
						 schemes)) {
			for (p = v.end; p < s->end && *p == ' ';)
				p++;
			v = redact_value_at(s, p, 0, false);
		} else {
			size_t len;

			for (const char *w = schemes; n.quote && *w; w += len + (w[len] == ' ')) {
				len = strcspn(w, " ");
				if ((size_t)(v.end - v.p) > len && redact_same(v.p, w, len, true) &&
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
	return v.p && !redact_is_harmless(v) ? v : none;
}

struct redact_span redact_bearer(const struct redact_scan *s, const char *text, const char *at)
{
	const char *p = at + strlen("bearer"), *end;

	if ((at > text && redact_is_alnum(at[-1])) || p >= s->end || (*p != ' ' && *p != '='))
		return (struct redact_span){ 0 };
	for (end = ++p; end < s->end && is_bearer(*end);)
		end++;
	if (end - p < 12 && !(s->cut && end == s->end))
		return (struct redact_span){ 0 };
	return (struct redact_span){ p, end };
}

static bool begins_token(const char *text, const char *at)
{
	return at == text || !redact_is_alnum(at[-1]);
}

struct redact_span redact_token(const struct redact_scan *s, const char *text,
				const struct redact_word *w, const char *at)
{
	const char *end = token_end(s, at);
	size_t len = strlen(w->text);
	size_t behind = (size_t)(end - at) - len;

	if (!begins_token(text, at) || (size_t)(end - at) < len)
		return (struct redact_span){ 0 };
	if (behind < w->min && !(s->cut && end == s->end && behind))
		return (struct redact_span){ 0 };
	return (struct redact_span){ at, end };
}

struct redact_span redact_aws_key(const struct redact_scan *s, const char *text, const char *at)
{
	const char *end = at;

	while (end < s->end && (redact_is_digit(*end) || (*end >= 'A' && *end <= 'Z')))
		end++;
	if (!begins_token(text, at) || (end < s->end && is_token(*end)) ||
	    (end - at != 20 && !(s->cut && end == s->end && end - at > 4 && end - at < 20)))
		return (struct redact_span){ 0 };
	return (struct redact_span){ at, end };
}

struct redact_span redact_jwt(const struct redact_scan *s, const char *text, const char *at)
{
	const char *first = token_end(s, at), *end = first;
	int dots = 0;

	while (end < s->end && *end == '.' && dots < 4) {
		dots++;
		end = token_end(s, end + 1);
	}
	if (!begins_token(text, at) || first - at < 10)
		return (struct redact_span){ 0 };
	if (dots < 2 && !(s->cut && end == s->end))
		return (struct redact_span){ 0 };
	return (struct redact_span){ at, end };
}

struct redact_span redact_key_block(const struct redact_scan *s, const char *at)
{
	const char *p = at + strlen("private key-----");
	const char *end = memmem(p, (size_t)(s->end - p), "-----END", 8);

	return (struct redact_span){ p, end ? end : s->end };
}

struct redact_span redact_openssl(const struct redact_scan *s, const char *text, const char *at)
{
	const char *p = at;
	struct redact_span v;

	if (p > text && redact_is_quote(p[-1]))
		p--;
	while (p > text && redact_is_space(p[-1]))
		p--;
	while (p > text && redact_is_name(p[-1]))
		p--;
	if (p >= at || !redact_same(p, "-pass", 5, false))
		return (struct redact_span){ 0 };
	v = redact_value_at(s, at + strlen("pass:"), redact_is_quote(at[-1]) ? at[-1] : 0, true);
	return redact_is_harmless(v) ? (struct redact_span){ 0 } : v;
}

/* Commands whose options have a secret */

bool redact_is_command(const struct redact_scan *s, const char *text, const char *at, size_t len)
{
	const char *p = at, *end = at + len;

	while (end < s->end && redact_is_letter(*end))
		end++;
	if (end >= s->end || !redact_is_space(*end))
		return false;
	while (p > text && !redact_is_space(p[-1]) && !redact_is_operator(p[-1]) &&
	       !redact_is_quote(p[-1]))
		p--;
	return p == at || (at[-1] == '/' && *p != '-');
}

const char *redact_next_word(const struct redact_scan *s, const char *p)
{
	while (!is_word_end(s, p))
		p = redact_is_quote(*p) ? behind_quoted(s, p) : p + 1;
	while (p < s->end && (*p == ' ' || *p == '\t' || !*p))
		p++;
	return p < s->end && *p != '\n' && !redact_is_operator(*p) ? p : NULL;
}

struct redact_span redact_mysql_password(const struct redact_scan *s, const char *p, bool ssh)
{
	static const char not[] = "-pthread -pipe -pg -pedantic";
	struct redact_span v;

	while ((p = redact_next_word(s, p))) {
		const char *end = p;

		while (!is_word_end(s, end))
			end++;
		if (end - p < 2 || p[0] != '-' || p[1] != 'p' ||
		    redact_is_one_of((struct slice){ p, (size_t)(end - p) }, not)) {
			if (ssh && *p != '-')
				break;
			continue;
		}
		if (end - p == 2 && !ssh)
			continue;
		p = end - p > 2 ? p + 2 : redact_next_word(s, p);
		if (!p)
			break;
		v = redact_value_at(s, p, 0, true);
		return redact_is_harmless(v) ? (struct redact_span){ 0 } : v;
	}
	return (struct redact_span){ 0 };
}

struct redact_span redact_curl_password(const struct redact_scan *s, const char *p)
{
	while ((p = redact_next_word(s, p))) {
		const char *value = NULL, *colon, *last = p;
		struct redact_span v;

		/* -u, also as the last of several letters */
		while (last + 1 < s->end && redact_is_letter(last[1]) && redact_lower(*last) != 'u')
			last++;
		if (p[0] == '-' && last > p && redact_lower(*last) == 'u')
			value = last + 1 < s->end && !redact_is_space(last[1]) ? last + 1 :
				redact_next_word(s, last);
		else if (s->end - p > 6 && redact_same(p, "--user", 6, false))
			value = p[6] == '=' ? p + 7 : redact_is_space(p[6]) ? redact_next_word(s, p) : NULL;
		else if (s->end - p > 12 && redact_same(p, "--proxy-user", 12, false))
			value = p[12] == '=' ? p + 13 : redact_next_word(s, p);
		if (!value)
			continue;
		v = redact_value_at(s, value, 0, true);
		colon = memchr(v.p, ':', (size_t)(v.end - v.p));
		if (!colon)
			continue;
		v.p = colon + 1;
		if (!redact_is_harmless(v))
			return v;
	}
	return (struct redact_span){ 0 };
}

/* URLs */

/* A password with a slash, ? or #, which should be %2F ...: the text behind the colon is no port. */
__attribute__((cold, noinline)) static const char *late_at(const struct redact_scan *s, const char *p, const char *colon,
			   const char *end)
{
	const char *port = colon + 1, *at = NULL;

	while (port < end && redact_is_digit(*port))
		port++;
	if (*p == '[' || port == end || strchr("$%{<", *port))
		return NULL;
	for (; end < s->end && !redact_is_space(*end) && !redact_is_quote(*end); end++) {
		if (*end == '@')
			at = end;
	}
	return at;
}

struct redact_span redact_url_password(const struct redact_scan *s, const char *from)
{
	for (const char *p = from; p < s->end; p++) {
		const char *at = NULL, *colon = NULL, *end;

		p = memchr(p, ':', (size_t)(s->end - p));
		if (!p)
			break;
		if (s->end - p < 3 || p[1] != '/' || p[2] != '/')
			continue;
		p += 3;
		for (end = p; end < s->end && !redact_is_space(*end) && !redact_is_quote(*end) &&
			      *end != '/' && *end != '?' && *end != '#'; end++) {
			if (*end == '@')
				at = end;
			else if (*end == ':' && !colon)
				colon = end;
		}
		if (!at && s->cut && end == s->end && colon) {
			struct redact_span v = { colon + 1, end };

			for (at = v.p; at < end && redact_is_digit(*at);)
				at++;
			if (at < end)
				return v;
			continue;
		}
		if (!at && colon && end < s->end)
			at = late_at(s, p, colon, end);
		if (at && colon && colon < at) {
			struct redact_span v = { colon + 1, at };

			if (!redact_is_harmless(v) || redact_is_digit(*v.p))
				return v;
		} else if (at && at - p >= 20 && token_end(s, p) == at) {
			return (struct redact_span){ p, at };
		}
	}
	return (struct redact_span){ 0 };
}

/* The user's patterns */

struct redact_span redact_own_text(const struct redact_scan *s, const char *from)
{
	const struct redact_own *set = redact_current_own();
	struct redact_span first = { 0 };

	for (unsigned i = 0; set && i < set->n; i++) {
		const struct redact_pattern *own = &set->pattern[i];
		const char *p = from;

		while (own->kind == PATTERN_TEXT && p < s->end &&
		       (p = memmem(p, (size_t)(s->end - p), own->text, own->len))) {
			char quote = redact_is_quote(p[own->len - 1]) ? p[own->len - 1] : 0;
			struct redact_span v = redact_value_at(s, p + own->len, quote, true);

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

struct redact_span redact_own_name(const struct redact_scan *s, const char *text, const char *from)
{
	for (const char *p = from; p < s->end; p++) {
		struct redact_name n;
		struct redact_span v;

		if (!redact_is_name(*p) || (p > text && redact_is_name(p[-1])))
			continue;
		if (!name_around(&n, s, text, p, p + 1) || !redact_is_named(PATTERN_NAME, n.p, n.end))
			continue;
		n.may_be_spaced = true;
		v = value_of(s, &n);
		if (v.p && v.p < v.end && !is_reference((struct slice){
				v.p, (size_t)(v.end - v.p) }))
			return v;
	}
	return (struct redact_span){ 0 };
}
