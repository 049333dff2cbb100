/* SPDX-License-Identifier: MIT */
#include "recording/recipe.h"

#include <string.h>

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Split s at its last dash. False: it has none. */
static bool cut_last(struct slice *s, struct slice *tail)
{
	const char *dash = memrchr(s->p, '-', s->len);

	if (!dash || dash == s->p)
		return false;
	*tail = (struct slice){ dash + 1, (size_t)(s->p + s->len - dash - 1) };
	s->len = (size_t)(dash - s->p);
	return tail->len;
}

void recipe_parse(struct recipe *out, const char *text)
{
	struct slice name = slice_of(text), version, revision;
	const struct slice none = { text + name.len, 0 };
	size_t digits = 0;

	*out = (struct recipe){ name, none, none, none };
	if (!cut_last(&name, &revision) || revision.len < 2 || revision.p[0] != 'r' ||
	    !is_digit(revision.p[1]) || !cut_last(&name, &version))
		return;
	while (digits < version.len && is_digit(version.p[digits]))
		digits++;
	*out = (struct recipe){ name, none, version, revision };
	if (digits && digits + 1 < version.len && version.p[digits] == '_') {
		out->epoch = (struct slice){ version.p, digits };
		out->version.p += digits + 1;
		out->version.len -= digits + 1;
	}
}
