/* SPDX-License-Identifier: MIT */
#include "convert/ninja/rule.h"

#include "base/array.h"

#include <stdbool.h>
#include <string.h>

/* The first that fits counts. */
static const struct {
	const char *word;
	enum { WHOLE, INSIDE } where;
	const char *kind;
} rules[] = {
	{ "_STATIC_LIBRARY_LINKER_", INSIDE, "archive" },	/* CMake */
	{ "STATIC_LINKER", WHOLE, "archive" },			/* Meson */
	{ "STATIC_LINKER_RSP", WHOLE, "archive" },
	{ "_LINKER", INSIDE, "link" },
	{ "_COMPILER", INSIDE, "compile" },
	{ "_PCH", INSIDE, "compile" },
	{ "RERUN_CMAKE", WHOLE, "configure" },
	{ "REGENERATE_BUILD", WHOLE, "configure" },
	{ "alink", WHOLE, "archive" },				/* gn */
	{ "asm", WHOLE, "compile" },
	{ "cc", WHOLE, "compile" },
	{ "cxx", WHOLE, "compile" },
	{ "gn", WHOLE, "configure" },
	{ "link", WHOLE, "link" },
	{ "objc", WHOLE, "compile" },
	{ "objcxx", WHOLE, "compile" },
	{ "solink", WHOLE, "link" },
	{ "solink_module", WHOLE, "link" },
};

const char *ninja_rule_kind(struct slice rule)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		bool fits = rules[i].where == WHOLE ? slice_is(rule, rules[i].word) :
			    !!memmem(rule.p, rule.len, rules[i].word, strlen(rules[i].word));

		if (fits)
			return rules[i].kind;
	}
	return NULL;
}
