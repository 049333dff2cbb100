/* SPDX-License-Identifier: MIT */
/*
 * build.ninja of any bytes, and the commands of all its edges. NUL bytes separate the input into
 * files: the first is build.ninja, the others are called 1, 2 ...
 */
#include "convert/ninja/build.h"
#include "convert/ninja/waits.h"
#include "tests/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask(const struct ninja_build *n)
{
	struct ninja_waits waits;
	struct buf text = BUF_INIT;
	uint32_t edge;

	check(!ninja_waits_init(&waits, n));
	for (size_t i = 0; i < n->n_edges; i++)
		waits.end_us[i] = i % 3 ? (int64_t)i : -1;
	for (size_t i = 0; i < n->n_edges; i++) {
		const struct ninja_edge *e = &n->edge[i];

		check(e->n_out && ninja_edge_out(n, e, 0).len);
		buf_clear(&text);
		ninja_build_command(n, e, &text);
		ninja_build_rspfile(n, e, &text);
		check(!buf_error(&text) && text.len < (size_t)300 << 20);
		for (size_t k = 0; k <= (size_t)e->n_in + e->n_implicit_in; k++) {
			check(!ninja_waits_for(&waits, e, k, &edge));
			check(edge == NO_EDGE || edge < n->n_edges);
		}
	}
	ninja_waits_release(&waits);
	buf_release(&text);
}

static struct slice input;

/* No input leads to a file of this machine. */
static int read_piece(struct buf *out, const char *path, struct error *err)
{
	struct cursor c;
	struct slice piece = { "", 0 };
	const char *name = strrchr(path, '/') + 1;
	unsigned long number = strcmp(name, NINJA_BUILD_NAME) ? strtoul(name, NULL, 10) : 0;

	cursor_init(&c, input.p, input.len);
	for (unsigned long i = 0; i <= number; i++) {
		if (!cursor_until(&c, '\0', &piece) && (i || number))
			return error_sys(err, -ENOENT, path, NULL);
	}
	buf_add(out, piece.p, piece.len);
	return buf_error(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ninja_build n;

	input = (struct slice){ (const char *)data, size };
	check(!ninja_build_read(&n, "dir", NINJA_BUILD_NAME, read_piece, NULL));
	ask(&n);
	ninja_build_release(&n);
	return 0;
}
