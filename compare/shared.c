/* SPDX-License-Identifier: MIT */
#include "compare/shared.h"

#include "compare/rules.h"

#include <string.h>

#define PLACES_MOST (SHARED_MOST - 2)
#define ENDING_MOST 9		/* ".tar.zst" has the ending ".zst" */

/* ": do_compile", or ".o" of the last part of a name; 0: it has none. */
static size_t ending_of(const char *name)
{
	size_t len = strlen(name), i = len;
	const char *colon = strstr(name, ": do_");

	if (colon && colon != name)
		return strlen(colon);
	while (i > 0 && name[i - 1] != '.' && name[i - 1] != '/' && name[i - 1] != ' ')
		i--;
	return i < 2 || name[i - 1] != '.' || i == len || len - i + 1 > ENDING_MOST || name[i - 2] == '/' ||
	       name[i - 2] == ' ' ? 0 : len - i + 1;
}

size_t shared_of_task(struct shared_group groups[SHARED_MOST], const struct builds *builds, uint32_t task)
{
	const char *name = builds->task[task].name;
	size_t n = 0, ending = ending_of(name), places = 0;

	groups[n++] = (struct shared_group){ SHARED_OF_ALL, task, 0 };
	if (ending)
		groups[n++] = (struct shared_group){ SHARED_OF_ENDING, task, (uint32_t)ending };
	for (const char *p = name + 1; *name && *p && places < PLACES_MOST; p++) {
		bool slash = p[-1] == '/', colon = p - name > 2 && p[-2] == ':' && p[-1] == ' ';

		if (!slash && !colon)
			continue;
		groups[n++] = (struct shared_group){ SHARED_OF_PLACE, task, (uint32_t)(p - name) };
		places++;
	}
	return n;
}

const char *shared_part(const struct builds *builds, const struct shared_group *g)
{
	const char *name = builds->task[g->example].name;

	return g->of == SHARED_OF_ENDING ? name + strlen(name) - g->len : name;
}

bool shared_is_same(const struct builds *builds, const struct shared_group *a, const struct shared_group *b)
{
	return a->of == b->of && a->len == b->len &&
	       !strncmp(shared_part(builds, a), shared_part(builds, b), a->len);
}

void shared_add_pattern(struct buf *b, const struct builds *builds, const struct shared_group *g)
{
	const char *part = shared_part(builds, g);

	if (g->of != SHARED_OF_PLACE)
		buf_addc(b, '*');
	rules_add_literal(b, part, g->len);
	if (g->of == SHARED_OF_PLACE)
		buf_addc(b, '*');
}
