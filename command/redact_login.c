/* SPDX-License-Identifier: MIT */
#include "command/redact_parts.h"

#include <string.h>

/* Passwords for programs that log in somewhere. */

#define COLD __attribute__((cold))	/* compiled for size */

static const char programs[] =
	"docker podman buildah nerdctl helm oras crane regctl skopeo oc cf az";

/* Between a program and login there are options with their values, and these. */
static const char groups[] = "registry auth acr";

/* What shows that a program reads a secret from standard input. */
static const char readers[] =
	"password-stdin\0" "token-stdin\0" "with-token\0" "passphrase-fd 0\0" "passphrase-fd=0\0"
	"chpasswd\0" "sudo -S\0" "sudo --stdin\0";

COLD static bool reads_secret(const char *p, const char *end)
{
	for (const char *what = readers; *what; what += strlen(what) + 1) {
		if (memmem(p, (size_t)(end - p), what, strlen(what)))
			return true;
	}
	return false;
}

COLD static bool is_word(const struct redact_scan *s, const char *text, const char *p, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(s->end - p) >= n && !memcmp(p, word, n) &&
	       (p == text || redact_is_space(p[-1]) || redact_is_operator(p[-1]) ||
		redact_is_quote(p[-1]) || strchr("@/{", p[-1])) &&
	       (p + n == s->end || redact_is_space(p[n]));
}

/* The words before login are those of a program that has such a subcommand. */
COLD static bool is_subcommand(const char *text, const char *login)
{
	const char *p = login, *word;
	bool found = false, value = false;

	while (p > text && !redact_is_operator(p[-1]) && p[-1] != '\n' && !redact_is_quote(p[-1]))
		p--;
	while (p < login) {
		struct slice base;

		for (word = p; p < login && !redact_is_space(*p); p++)
			;
		base = (struct slice){ word, (size_t)(p - word) };
		for (const char *slash; (slash = memchr(base.p, '/', base.len));)
			base = (struct slice){ slash + 1, (size_t)(p - slash - 1) };
		if (redact_is_one_of(base, programs))
			found = true;
		else if (word < p && *word == '-')
			value = !memchr(word, '=', (size_t)(p - word));
		else if (word < p && !redact_is_one_of(base, groups)) {
			found = found && value;
			value = false;
		}
		while (p < login && redact_is_space(*p))
			p++;
	}
	return found;
}

/* -p VALUE, -p=VALUE, -pVALUE; --password has a name that says it. */
COLD static struct redact_span password_of(const struct redact_scan *s, const char *p)
{
	static const struct redact_span none;
	struct redact_span v;

	while ((p = redact_next_word(s, p))) {
		if (s->end - p < 3 || p[0] != '-' || p[1] != 'p')
			continue;
		p = redact_is_space(p[2]) ? redact_next_word(s, p) : p + 2 + (p[2] == '=');
		if (!p || p >= s->end)
			break;
		v = redact_value_at(s, p, 0, true);
		return redact_is_harmless(v) ? none : v;
	}
	return none;
}

/* The words of echo or printf at p, without its options and its format, if they go to a program that
 * reads a secret. */
COLD static struct redact_span piped(const struct redact_scan *s, const char *p)
{
	const bool format = *p == 'p';
	static const struct redact_span none;
	struct redact_span first, v;
	const char *word = redact_next_word(s, p), *end = NULL, *next;

	while (word && *word == '-' && s->end - word > 1 && strchr("neE-", word[1]))
		word = redact_next_word(s, word);
	if (word && format) {
		first = redact_value_at(s, word, 0, false);
		next = redact_next_word(s, word);
		if (next && memchr(first.p, '%', (size_t)(first.end - first.p)))
			word = next;
	}
	if (!word)
		return none;
	first = v = redact_value_at(s, word, 0, false);
	for (next = word; (next = redact_next_word(s, next));) {
		v = redact_value_at(s, next, 0, false);
		first.p = word;
	}
	for (end = v.end; end < s->end && (redact_is_quote(*end) || *end == ' '); end++)
		;
	if (s->end - end < 2 || *end != '|' || end[1] == '|')
		return none;
	for (next = end + 1; next < s->end && !strchr(";|&\n", *next); next++)
		;
	first.end = v.end;
	return !reads_secret(end, next) || redact_is_harmless(first) ? none : first;
}

/* <<< VALUE */
COLD static struct redact_span here_string(const struct redact_scan *s, const char *text, const char *p)
{
	static const struct redact_span none;
	const char *from = p, *end = p + 3;
	struct redact_span v;

	while (from > text && !strchr(";|&\n", from[-1]))
		from--;
	while (end < s->end && *end == ' ')
		end++;
	if (end >= s->end)
		return none;
	v = redact_value_at(s, end, 0, false);
	for (end = v.end; end < s->end && !strchr(";|&\n", *end); end++)
		;
	return !(reads_secret(from, p) || reads_secret(v.end, end)) || redact_is_harmless(v) ? none : v;
}

struct redact_span redact_login(const struct redact_scan *s, const char *text, const char *from)
{
	struct redact_span v = { 0 };

	for (const char *p = from; p < s->end && !v.p; p++) {
		if (*p == 'l' && is_word(s, text, p, "login") && is_subcommand(text, p))
			v = password_of(s, p);
		else if ((*p == 'e' && is_word(s, text, p, "echo")) ||
			 (*p == 'p' && is_word(s, text, p, "printf")))
			v = piped(s, p);
		else if (*p == '<' && s->end - p > 3 && p[1] == '<' && p[2] == '<')
			v = here_string(s, text, p);
	}
	return v;
}
