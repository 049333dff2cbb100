/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_BUILD_PARTS_H
#define BUILDBEAT_CONVERT_NINJA_BUILD_PARTS_H

#include "convert/ninja/build.h"

/* The inside of struct ninja_build, private to ninja_*.c. */

/* The first names. */
enum {
	NAME_IN, NAME_IN_NEWLINE, NAME_OUT, NAME_COMMAND, NAME_RSPFILE_CONTENT,
	NAME_PHONY, N_NAMES
};

#define RULE_PHONY 0

/* What all files together may have, what variables in them become included. */
#define NINJA_BYTES_MAX ((uint64_t)1 << 30)
#define NINJA_VALUE_MAX ((size_t)16 << 20)	/* and a value */

/* A variable of an edge, with its value; or of a rule, not expanded yet. */
struct ninja_binding {
	uint32_t name;
	uint32_t n;		/* bytes of the value; or parts */
	union {
		const char *value;	/* of an edge's */
		size_t first_part;	/* of a rule's */
	};
};

/* A piece of a text that is not expanded yet: a variable, or else itself. */
struct ninja_part {
	struct slice text;
	uint32_t variable;	/* NO_TEXT: none */
};

struct ninja_rule {
	uint32_t name;
	uint32_t first_binding, n_bindings;
};

#define NO_SCOPE UINT32_MAX

/* A new scope within another. */
uint32_t ninja_scope(struct ninja_build *n, uint32_t parent);

/* A variable as files see it: in the scope or those around it. Empty: none. */
struct slice ninja_lookup(const struct ninja_build *n, uint32_t scope, uint32_t name);
void ninja_assign(struct ninja_build *n, uint32_t scope, uint32_t name, struct slice value);

/* The next piece of a text: a variable's name, or what stands for itself. False at the
 * end. */
bool ninja_next_part(struct cursor *c, struct slice *text, bool *variable);

/* What a text means: variables from n_bindings of the edges' list, then from the scope.
 * The text itself, or memory of the arena. */
struct slice ninja_evaluate(struct ninja_build *n, struct slice text, uint32_t scope,
			    const struct ninja_binding *binding, size_t n_bindings);

/* Read a file and those that it includes into the outermost scope. */
int ninja_parse_file(struct ninja_build *n, struct slice file, struct error *err);

#endif
