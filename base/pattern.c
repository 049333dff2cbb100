/* SPDX-License-Identifier: MIT */
#include "base/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A bracket expression, from behind its '[': p, or its last byte. */
static const char *skip_bracket(const char *p)
{
	p += *p == '^';
	p += *p == ']';
	while (*p && *p != ']') {
		if (*p == '[' && (p[1] == ':' || p[1] == '.' || p[1] == '=')) {
			const char end[3] = { p[1], ']', '\0' }, *found = strstr(p + 2, end);

			p = found ? found + 1 : p;
		}
		p++;
	}
	return p;
}

/* The product of all repetitions, nested or not, is a limit of what the nested ones cost. */
static const char *too_much(const char *text)
{
	unsigned long product = 1;

	for (const char *p = text; *p; p++) {
		if (*p == '\\') {
			p++;
			if (*p >= '1' && *p <= '9')
				return "a reference to a group is not supported";
			if (!*p)
				return "it ends with a backslash";
		} else if (*p == '[') {
			p = skip_bracket(p + 1);
			if (!*p)
				return "a bracket is not closed";
		} else if (*p == '{') {
			unsigned long least, most;
			char *end;

			least = strtoul(p + 1, &end, 10);
			most = *end == ',' ? strtoul(end + 1, &end, 10) : least;
			most = most > least ? most : least;
			product *= most && most <= PATTERN_REPEATS_MAX ? most :
				   most ? PATTERN_REPEATS_MAX + 1 : 1;
			if (product > PATTERN_REPEATS_MAX)
				return "it repeats too much";
		}
	}
	return strlen(text) > PATTERN_MAX ? "it is too long" : NULL;
}

int pattern_init(struct pattern *p, const char *text, struct error *err)
{
	const char *why = too_much(text);
	char message[128];
	int code;

	*p = (struct pattern){ .made = false };
	if (why)
		return error_set(err, -EINVAL, NULL, 0, 0, "not a regular expression: '%.100s': %s",
				 text, why);
	code = regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB);
	p->made = !code;
	if (code == REG_ESPACE)
		return -ENOMEM;
	if (!code)
		return 0;
	regerror(code, &p->regex, message, sizeof message);
	return error_set(err, -EINVAL, NULL, 0, 0, "not a regular expression: '%.100s': %s", text,
			 message);
}

void pattern_release(struct pattern *p)
{
	if (p->made)
		regfree(&p->regex);
	p->made = false;
}

bool pattern_fits(const struct pattern *p, const char *text)
{
	return !regexec(&p->regex, text, 0, NULL, 0);
}
