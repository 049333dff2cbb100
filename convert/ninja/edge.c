/* SPDX-License-Identifier: MIT */
#include "convert/ninja/edge.h"

#include "base/array.h"

#include <errno.h>
#include <string.h>

const char *ninja_rule_kind(struct slice rule)
{
	/* The first match counts. */
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

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		bool fits = rules[i].where == WHOLE ? slice_is(rule, rules[i].word) :
			    !!memmem(rule.p, rule.len, rules[i].word, strlen(rules[i].word));

		if (fits)
			return rules[i].kind;
	}
	return NULL;
}

/* The search behind a phony edge. */
struct ninja_behind {
	bool leads;		/* to an edge that ran, of the inputs followed so far */
	bool listed;		/* in `group` once */
	uint32_t input;		/* the next one to follow */
	uint32_t from;		/* the phony edge before it in the search, or NOT_FOLLOWED */
};

#define NOT_FOLLOWED (UINT32_MAX - 1)

int ninja_waits_init(struct ninja_waits *w, const struct ninja_graph *g)
{
	*w = (struct ninja_waits){ .graph = g,
		.ran = array_new_zero(g->n_edges, sizeof *w->ran),
		.behind = array_new_zero(g->n_edges, sizeof *w->behind),
		.group = array_new(g->n_edges, sizeof *w->group) };
	if (!w->ran || !w->behind || !w->group) {
		ninja_waits_release(w);
		return -ENOMEM;
	}
	for (size_t i = 0; i < g->n_edges; i++)
		w->behind[i].from = NOT_FOLLOWED;
	return 0;
}

void ninja_waits_release(struct ninja_waits *w)
{
	free_all(w->ran, w->behind, w->group);
	*w = (struct ninja_waits){ .graph = NULL };
}

/* Phony edges may be nested as deeply as there are edges, and in circles: no recursion. */
static void follow_inputs(struct ninja_waits *w, uint32_t at)
{
	w->behind[at].from = NINJA_NO_EDGE;
	while (at != NINJA_NO_EDGE) {
		const struct ninja_edge *e = &w->graph->edge[at];
		struct ninja_behind *b = &w->behind[at];
		uint32_t maker;

		if (b->input == e->all_in) {
			at = b->from;
			continue;
		}
		maker = ninja_edge_maker(w->graph, e, b->input);
		if (maker != NINJA_NO_EDGE && ninja_edge_is_phony(&w->graph->edge[maker]) &&
		    w->behind[maker].from == NOT_FOLLOWED) {
			w->behind[maker].from = at;
			at = maker;
			continue;
		}
		b->leads |= maker != NINJA_NO_EDGE && (w->ran[maker] || w->behind[maker].leads);
		b->input++;
	}
}

uint32_t ninja_waits_for(struct ninja_waits *w, const struct ninja_edge *e, size_t i)
{
	uint32_t maker = ninja_edge_maker(w->graph, e, i);
	struct ninja_behind *b;

	if (maker == NINJA_NO_EDGE || !ninja_edge_is_phony(&w->graph->edge[maker]))
		return maker == NINJA_NO_EDGE || !w->ran[maker] ? NINJA_NO_EDGE : maker;
	b = &w->behind[maker];
	if (b->from == NOT_FOLLOWED)
		follow_inputs(w, maker);
	if (!b->leads)
		return NINJA_NO_EDGE;
	if (!b->listed)
		w->group[w->n_groups++] = maker;
	b->listed = true;
	return maker;
}

uint32_t ninja_waits_group(struct ninja_waits *w)
{
	return w->n_groups ? w->group[--w->n_groups] : NINJA_NO_EDGE;
}
