/* SPDX-License-Identifier: MIT */
#include "analyse/cycles.h"
#include "recording/output_log.h"
#include "tests/fuzz.h"

#include <stdio.h>
#include <unistd.h>

/* The output of a build without tasks: each cycle has nodes, and edges between these. */

FUZZ_TARGET(cycles)
{
	char dir[] = "/tmp/fuzz-cycles-XXXXXX", log[64], index[64];
	struct recording rec = RECORDING_INIT;
	struct summary s = { .rec = &rec };
	struct chain chain = { .n_path = 0 };
	struct graph g;
	struct cycles c;
	struct error err;

	check(mkdtemp(dir));
	snprintf(log, sizeof log, "%s/" OUTPUT_LOG, dir);
	snprintf(index, sizeof index, "%s/" OUTPUT_INDEX, dir);
	fuzz_write(log, data, size);
	fuzz_write(index, OUTPUT_HEADER, sizeof OUTPUT_HEADER - 1);
	check(!graph_make(&g, &s, &chain));
	check(!cycles_read(&c, &g, dir, NULL, &err));
	check(c.n_reported <= CYCLES_REPORTED_MAX && (!c.n_reported || c.n));
	for (size_t i = 0; i < c.n; i++) {
		const struct cycles_item *item = &c.cycle[i];

		check(item->n_nodes && item->n_edges);
		for (uint32_t k = item->first_edge; k < item->first_edge + item->n_edges; k++)
			check(c.edge[k].from - item->first_node < item->n_nodes &&
			      c.edge[k].to - item->first_node < item->n_nodes);
	}
	cycles_release(&c);
	graph_release(&g);
	unlink(log);
	unlink(index);
	rmdir(dir);
	return 0;
}
