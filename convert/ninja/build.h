/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_BUILD_H
#define BUILDBEAT_CONVERT_NINJA_BUILD_H

#include "base/buf.h"
#include "base/error.h"
#include "base/index.h"
#include "convert/infile.h"
#include "convert/text_table.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A build.ninja and what it includes: its edges, and their commands. Read as ninja
 * does, but that nothing in it is an error: what is not understood is passed over, a
 * file that is not there adds nothing. What a dyndep file would add is not known.
 */
struct ninja_edge {
	uint32_t rule;		/* see ninja_build_rule() */
	uint32_t scope;
	uint32_t first_binding, n_bindings;
	uint32_t first_path;	/* in `paths`: all outputs, then all inputs, in this order */
	uint32_t n_out, n_implicit_out;
	uint32_t n_in, n_implicit_in, n_order_only;
};

struct ninja_binding;
struct ninja_part;
struct ninja_rule;

struct ninja_build {
	size_t n_edges;
	struct ninja_edge *edge;
	size_t n_paths;
	uint32_t *paths;	/* numbers in `path` */
	struct text_table path;	/* as ninja has them: without "./" and the like */
	uint32_t *producer;	/* of each of these: its edge, NO_EDGE for none */
	unsigned n_skipped;	/* includes that could not be read */
	struct error skipped;	/* the first of them */
	/* private */
	const char *dir;
	infile_reader *read;
	struct arena *arena;
	struct text_table name;	/* of variables and rules */
	struct index variables;	/* scope, name -> value */
	size_t n_values;
	struct slice *value;
	size_t n_scopes;
	uint32_t *parent;	/* of each scope */
	struct index rules;	/* scope, name -> rule */
	size_t n_rules;
	struct ninja_rule *rule;
	size_t n_bindings;
	struct ninja_binding *binding;	/* of edges and rules */
	size_t n_parts;
	struct ninja_part *part;	/* of the bindings of rules */
	struct buf scratch;
	uint64_t n_bytes;	/* so far, of n_files */
	unsigned n_files;
	bool no_memory;
};

#define NO_EDGE UINT32_MAX

#define NINJA_BUILD_NAME "build.ninja"

/* Read the file, which is relative to dir as all paths in it, and those that it includes, each
 * with `read`. 0, or a negative errno with
 * err and nothing to release. */
int ninja_build_read(struct ninja_build *n, const char *dir, const char *file,
		     infile_reader *read, struct error *err);
void ninja_build_release(struct ninja_build *n);

/* A variable of the outermost file; empty if there is none. */
struct slice ninja_build_variable(const struct ninja_build *n, const char *name);

/* What the edge's rule is called; phony edges have no command. */
struct slice ninja_build_rule(const struct ninja_build *n, const struct ninja_edge *e);
bool ninja_edge_is_phony(const struct ninja_edge *e);

/* Append the edge's command as ninja runs it; what ninja writes to its response file,
 * nothing where it has none. */
void ninja_build_command(const struct ninja_build *n, const struct ninja_edge *e,
			 struct buf *out);
void ninja_build_rspfile(const struct ninja_build *n, const struct ninja_edge *e,
			 struct buf *out);

/* Its i-th output, of n_out + n_implicit_out. */
static inline struct slice ninja_edge_out(const struct ninja_build *n,
					  const struct ninja_edge *e, size_t i)
{
	return n->path.text[n->paths[e->first_path + i]];
}

/* The edge that makes its i-th input, of n_in + n_implicit_in + n_order_only; NO_EDGE
 * for a source. */
static inline uint32_t ninja_edge_maker(const struct ninja_build *n,
					const struct ninja_edge *e, size_t i)
{
	return n->producer[n->paths[e->first_path + e->n_out + e->n_implicit_out + i]];
}

#endif
