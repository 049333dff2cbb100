/* SPDX-License-Identifier: MIT */
/*
 * build.ninja of any bytes, and the commands of all its edges. NUL bytes separate the input into
 * files: the first is build.ninja, the others are called 1, 2 ... 9. No file has two names.
 */
#include "convert/ninja/edge.h"
#include "tests/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask(struct ninja_graph *g)
{
	struct ninja_waits waits;
	struct buf text = BUF_INIT;
	size_t len, n_groups = 0;
	uint32_t edge;

	check(!ninja_waits_init(&waits, g));
	for (size_t i = 0; i < g->n_edges; i++)
		waits.ran[i] = i % 3;
	for (size_t i = 0; i < g->n_edges; i++) {
		const struct ninja_edge *e = &g->edge[i];

		check(e->n_out && e->all_out >= e->n_out && ninja_edge_out(g, e, 0).len);
		check(e->used_in >= e->n_in && e->all_in >= e->used_in);
		len = ninja_edge_command(g, e, &text);
		check(!buf_error(&text) && len <= text.len && text.len < (size_t)300 << 20);
		ninja_rule_kind(ninja_edge_rule(g, e));
		for (size_t k = 0; k < e->all_in; k++) {
			edge = ninja_waits_for(&waits, e, k);
			check(edge == NINJA_NO_EDGE || edge < g->n_edges);
		}
	}
	while ((edge = ninja_waits_group(&waits)) != NINJA_NO_EDGE)
		check(ninja_edge_is_phony(&g->edge[edge]) && n_groups++ < g->n_edges);
	ninja_waits_release(&waits);
	buf_release(&text);
}

static struct slice input;

/* No input names a file of this machine. */
static int read_piece(struct buf *out, const char *path, struct error *err)
{
	struct cursor c;
	struct slice piece = { "", 0 };
	int number = 0;

	if (strcmp(path, "dir/" NINJA_BUILD_NAME)) {
		if (strlen(path) != 5 || memcmp(path, "dir/", 4) || path[4] < '1' || path[4] > '9')
			return error_sys(err, -ENOENT, path, NULL);
		number = path[4] - '0';
	}
	cursor_init(&c, input.p, input.len);
	for (int i = 0; i <= number; i++) {
		if (!cursor_until(&c, '\0', &piece) && number)
			return error_sys(err, -ENOENT, path, NULL);
	}
	buf_add(out, piece.p, piece.len);
	return buf_error(out);
}

FUZZ_TARGET(ninja)
{
	struct ninja_graph g;

	input = (struct slice){ (const char *)data, size };
	check(!ninja_graph_read(&g, "dir", NINJA_BUILD_NAME, read_piece, NULL));
	ask(&g);
	ninja_graph_release(&g);
	return 0;
}
