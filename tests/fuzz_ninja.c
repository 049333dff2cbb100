/* SPDX-License-Identifier: MIT */
/* build.ninja of any bytes, and the commands of all its edges. */
#include "convert/ninja/build.h"
#include "convert/ninja/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ninja_build n;
	char name[16];
	int fd = memfd_create("fuzz", 0);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(name, sizeof name, "%d", fd);
	if (!ninja_build_read(&n, "/proc/self/fd", name, infile_read, NULL)) {
		ask(&n);
		ninja_build_release(&n);
	}
	close(fd);
	return 0;
}
