/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_NINJA_NINJA_GRAPH_H
#define BUILDBEAT_CONVERT_NINJA_NINJA_GRAPH_H

#include "base/buf.h"
#include "base/error.h"
#include "base/index.h"
#include "convert/infile.h"
#include "base/name_table.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A build.ninja and the files that it includes: its edges and their commands. It is read as ninja
 * reads it, except that nothing is an error: lines that are not understood and files that cannot be
 * read are skipped. Dyndep files are not read.
 */
struct ninja_edge {
	uint32_t rule, scope;
	uint32_t first_binding, n_bindings;
	uint32_t first_path;		/* in `edge_path`: all outputs, then all inputs */
	uint32_t n_out, all_out;	/* explicit outputs; those and the implicit ones */
	uint32_t n_in, used_in, all_in;	/* explicit; and implicit; and order-only inputs */
	uint32_t file, line;		/* of its "build": an index in `file` */
};

struct ninja_pool {
	struct slice name;
	int64_t depth;
};

#define NINJA_SEEN 64

struct ninja_graph {
	size_t n_edges;
	struct ninja_edge *edge;
	size_t n_edge_paths;
	uint32_t *edge_path;	/* numbers in `path` */
	struct name_table path;	/* normalised as by ninja: without "./", "a/../" and "//" */
	uint32_t *producer;	/* of each path: an index in `edge`, or NINJA_NO_EDGE */
	size_t n_files;
	const char **file;	/* paths as they are included */
	size_t n_pools;
	struct ninja_pool *pool;
	unsigned n_skipped;	/* includes that could not be read */
	struct error skipped;	/* the reason for the first of them */
	/* private */
	const char *dir;
	infile_reader *read;
	struct arena *arena;
	struct name_table name;	/* of variables and rules */
	struct index variables;	/* of files: scope, name -> index in `binding` */
	size_t n_scopes;
	uint32_t *outer_scope;
	struct index rules;	/* scope, name -> index in `rule` */
	size_t n_rules;
	struct ninja_rule *rule;
	size_t n_bindings;
	struct ninja_binding *binding;	/* those of an edge or a rule together */
	struct ninja_seen {		/* the command of a rule is expanded for each edge */
		const char *at;		/* of a variable's name in a file */
		uint32_t name;
	} seen[NINJA_SEEN];
	struct buf scratch;
	uint64_t n_bytes;	/* in memory */
	uint64_t work;		/* bytes to which variables may still expand */
	bool no_memory;
};

#define NINJA_NO_EDGE UINT32_MAX
#define NINJA_BUILD_NAME "build.ninja"

/* Read a file, and each file that it includes, with `read`. Paths are relative to dir, which must
 * outlive the call. 0, or a negative errno with err and nothing to release. */
int ninja_graph_read(struct ninja_graph *g, const char *dir, const char *file,
		     infile_reader *read, struct error *err);
void ninja_graph_release(struct ninja_graph *g);

/* The value of a variable of build.ninja itself, empty if it has none. */
struct slice ninja_graph_variable(const struct ninja_graph *g, const char *name);

/* The edge that writes a path, NINJA_NO_EDGE if there is none or it is a phony edge. */
uint32_t ninja_graph_producer(const struct ninja_graph *g, struct slice path);

bool ninja_edge_is_phony(const struct ninja_edge *e);
struct slice ninja_edge_rule(const struct ninja_graph *g, const struct ninja_edge *e);

/* What kind of work (kind.h) an edge does, by the names that CMake, Meson and gn give their rules;
 * NULL if its rule does not have one of those. */
const char *ninja_edge_kind(const struct ninja_graph *g, const struct ninja_edge *e);

/* The pool of an edge and its depth; false: none, or it is not limited. */
bool ninja_edge_pool(struct ninja_graph *g, const struct ninja_edge *e, struct ninja_pool *pool);

/*
 * Replace the content of out with the text whose hash ninja writes to its log (ninja_hash.h): the
 * command and, if there is a response file, its content. Returns the length of the command.
 */
size_t ninja_edge_command(struct ninja_graph *g, const struct ninja_edge *e, struct buf *out);

/* Output i of all_out. */
static inline struct slice ninja_edge_out(const struct ninja_graph *g,
					  const struct ninja_edge *e, size_t i)
{
	return g->path.name[g->edge_path[e->first_path + i]];
}

/* The edge that writes input i of all_in, NINJA_NO_EDGE for a source. */
static inline uint32_t ninja_edge_maker(const struct ninja_graph *g,
					const struct ninja_edge *e, size_t i)
{
	return g->producer[g->edge_path[e->first_path + e->all_out + i]];
}

#endif
