/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_EXPAND_H
#define BUILDBEAT_CONVERT_NINJA_EXPAND_H

#include "convert/ninja/ninja_graph.h"

/* Texts in build.ninja: their characters, the variables in them, and paths. For graph.c only. */

/* The first names of g->name. */
enum {
	NAME_IN, NAME_IN_NEWLINE, NAME_OUT, NAME_COMMAND, NAME_RSPFILE_CONTENT, NAME_PHONY,
	NAME_POOL,
	N_NAMES
};

#define NO_SCOPE UINT32_MAX
#define NINJA_BYTES_MAX ((uint64_t)1 << 30)	/* of all files and the values in them */

/* A variable. Only the values of rules' variables are not expanded yet. */
struct ninja_binding {
	uint32_t name, len;
	const char *value;
};

struct ninja_rule {
	uint32_t name;
	uint32_t first_binding, n_bindings;
	const char *kind;	/* see ninja_edge_kind() */
};

/* Classes of characters. */
enum { NINJA_WORD = 1, NINJA_DOT = 2, NINJA_BARE = 4, NINJA_PATH_END = 8 };
extern const uint8_t ninja_class[256];

/* Where the characters of these classes end. */
static inline const char *ninja_pass(const char *p, const char *end, unsigned classes)
{
	while (p < end && ninja_class[(unsigned char)*p] & classes)
		p++;
	return p;
}

/* The value of a variable in this scope or those around it, empty if it has none. */
struct slice ninja_variable(const struct ninja_graph *g, uint32_t scope, uint32_t name);

/* Expand a text with the variables of a scope and, unless it is NULL, of an edge. The result is
 * the text itself or in the arena. On lack of memory g->no_memory is set. */
struct slice ninja_expand(struct ninja_graph *g, struct slice text, uint32_t scope,
			  const struct ninja_edge *edge);

/* The number of an expanded path in g->path. On lack of memory g->no_memory is set. */
uint32_t ninja_path_number(struct ninja_graph *g, struct slice path);

#endif
