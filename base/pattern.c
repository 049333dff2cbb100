/* SPDX-License-Identifier: MIT */
#include "base/minmax.h"
#include "base/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 64

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

/* What regcomp() makes of an expression: it copies what is repeated. */
struct size {
	size_t sum[GROUPS_MAX];		/* of what came before in each open group */
	size_t depth;
	size_t last;			/* of the last atom, which is part of the sum; 0: none */
	bool repeated;			/* it has a repetition */
};

static void add_size(struct size *size, size_t atom)
{
	size->sum[size->depth] += atom;
	size->last = atom;
	size->repeated = false;
}

static const char *repeat(struct size *size, size_t times)
{
	size_t more = size->last * (times - 1);

	size->sum[size->depth] += MIN(more, PATTERN_SIZE_MAX);
	size->last = MIN(size->last * times, PATTERN_SIZE_MAX);
	if (size->repeated)
		return "it repeats a repetition";
	size->repeated = true;
	return NULL;
}

/* "{2,5}": the larger number; *p becomes the end. */
static size_t times_of(const char **p)
{
	const char *close = strchr(*p, '}');
	unsigned long least, most;
	char *end;

	least = strtoul(*p + 1, &end, 10);
	most = *end == ',' ? strtoul(end + 1, &end, 10) : least;
	most = MAX(most, least);
	*p = close ? close : *p;
	return most > PATTERN_SIZE_MAX ? PATTERN_SIZE_MAX : most ? most : 1;
}

static const char *close_group(struct size *size)
{
	size_t inner = size->sum[size->depth];

	if (size->depth)
		size->depth--;
	else
		inner = 1;
	add_size(size, inner);
	return NULL;
}

static const char *open_group(struct size *size)
{
	if (size->depth + 1 == GROUPS_MAX)
		return "its groups are nested too deep";
	size->sum[++size->depth] = 1;
	size->last = 0;
	size->repeated = false;
	return NULL;
}

/* The next part of the expression; *p is its first byte, and then its last one. */
static const char *add_part(struct size *size, const char **p)
{
	switch (**p) {
	case '\\':
		++*p;
		add_size(size, 1);
		return **p >= '1' && **p <= '9' ? "a reference to a group is not supported" :
		       **p ? NULL : "it ends with a backslash";
	case '[':
		*p = skip_bracket(*p + 1);
		add_size(size, 1);
		return **p ? NULL : "a bracket is not closed";
	case '(':
		return open_group(size);
	case ')':
		return close_group(size);
	case '*':
	case '?':
		return repeat(size, 1);
	case '+':
		return repeat(size, 2);
	case '{':
		return repeat(size, times_of(p));
	default:
		add_size(size, 1);
		return NULL;
	}
}

static const char *why_not(const char *text)
{
	struct size size = { .depth = 0 };

	if (strlen(text) > PATTERN_MAX)
		return "it is too long";
	for (const char *p = text; *p; p++) {
		const char *why = add_part(&size, &p);

		if (why)
			return why;
		if (size.sum[size.depth] > PATTERN_SIZE_MAX)
			return "it repeats too much";
	}
	return NULL;
}

int pattern_init(struct pattern *p, const char *text, struct error *err)
{
	const char *why = why_not(text);
	char message[128];
	int code;

	*p = (struct pattern){ .made = false };
	if (why)
		return error_say(err, -EINVAL, "not a regular expression: '%.100s': %s", text, why);
	code = regcomp(&p->regex, text, REG_EXTENDED | REG_NOSUB);
	p->made = !code;
	if (code == REG_ESPACE)
		return -ENOMEM;
	if (!code)
		return 0;
	regerror(code, &p->regex, message, sizeof message);
	return error_say(err, -EINVAL, "not a regular expression: '%.100s': %s", text, message);
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
