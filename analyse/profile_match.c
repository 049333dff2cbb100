/* SPDX-License-Identifier: MIT */
#include "analyse/profile_match.h"

#include "analyse/profile_view.h"
#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

struct match {
	bool is_regex;
	bool no_memory;		/* to compare */
	regex_t regex;
	const char *part;
};

static int match_init(struct match *m, const char *filter, struct error *err)
{
	size_t n = strlen(filter);
	char message[128], *text;
	int code;

	*m = (struct match){ .is_regex = n > 1 && *filter == '/' && filter[n - 1] == '/',
		.part = filter };
	if (!m->is_regex)
		return 0;
	text = strndup(filter + 1, n - 2);
	if (!text)
		return -ENOMEM;
	code = regcomp(&m->regex, text, REG_EXTENDED | REG_ICASE | REG_NOSUB);
	free(text);
	if (!code)
		return 0;
	regerror(code, &m->regex, message, sizeof message);
	return error_set(err, -EINVAL, NULL, 0, 0, "not a regular expression: '%s': %s", filter,
			 message);
}

static bool fits_text(struct match *m, const char *text)
{
	int code;

	if (!m->is_regex)
		return strcasestr(text, m->part) != NULL;
	code = regexec(&m->regex, text, 0, NULL, 0);
	m->no_memory |= code == REG_ESPACE;
	return !code;
}

static bool fits_numbers(struct match *m, struct profile_view *v, struct profile_row *row)
{
	const struct profile_node node = { .n = 1, .first = (uint32_t)(row - v->p->row), .sum = row };
	char memory[64];
	struct buf b;

	for (int c = PROFILE_FIRST_NUMBER; c < PROFILE_COLUMNS; c++) {
		buf_init_fixed(&b, memory, sizeof memory);
		profile_view_add(&b, v, &node, (enum profile_column)c);
		if (fits_text(m, buf_str(&b)))
			return true;
	}
	return false;
}

int profile_match(bool *fits, const struct profile *p, const char *filter, struct error *err)
{
	/* a view in which the members are all rows: for the numbers */
	struct profile_view all = { .p = p };
	bool *text = malloc(p->text.n + 1), numbers = strpbrk(filter, "0123456789/");
	struct match m;
	int r = text ? match_init(&m, filter, err) : -ENOMEM;

	if (r)
		goto out;
	all.member = array_new(p->n_rows, sizeof *all.member);
	r = all.member ? 0 : -ENOMEM;
	for (size_t i = 0; !r && i < p->text.n; i++)
		text[i] = fits_text(&m, p->text.name[i].p);
	for (size_t i = 0; !r && i < p->n_rows; i++) {
		all.member[i] = (uint32_t)i;
		fits[i] = false;
		for (int k = 0; k < PROFILE_KEYS; k++)
			fits[i] |= text[p->row[i].key[k]];
		if (!fits[i] && numbers)
			fits[i] = fits_numbers(&m, &all, &p->row[i]);
	}
	r = all.no_memory || m.no_memory ? -ENOMEM : r;
	if (m.is_regex)
		regfree(&m.regex);
out:
	free_all(all.member, all.scratch, text);
	return r;
}
