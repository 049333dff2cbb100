/* SPDX-License-Identifier: MIT */
#include "report/inspect/heaptrack.h"

#include "base/array.h"
#include "base/sort.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define FUNCTIONS_MOST 10	/* of a section, as heaptrack_print has */
#define BACKTRACES_MOST 5	/* of a function */

enum cost { COST_CALLS, COST_PEAK, COST_LIVE, COST_TEMPORARY, COSTS };

struct costs {
	uint64_t n[COSTS];
};

struct heaptrack {
	struct buf *out;
	const struct inspection *in;
	const struct call_tree *t;
	struct costs *node, *function, total;	/* function: those that it allocated itself */
	uint32_t *functions;			/* sorted */
	uint32_t *by_function, *first;		/* nodes of each function */
};

struct ranking {
	const struct costs *costs;
	enum cost by;
};

static bool is_before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct ranking *r = ctx;
	uint64_t x = r->costs[a].n[r->by], y = r->costs[b].n[r->by];

	return x != y ? x > y : a < b;
}

/* "1.02K": as heaptrack writes sizes. */
static void add_size(struct buf *b, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	double n = (double)bytes;
	int i = 0;

	for (; n >= 1000 && i < 6; i++)
		n /= 1000;
	buf_addf(b, i ? "%.2f%c" : "%.0f%c", n, units[i]);
}

static void add_function(struct heaptrack *h, uint32_t function, const char *indent)
{
	const struct call_function *f = &h->t->function[function];

	buf_adds(h->out, indent);
	text_add_name(h->out, f->name, 0);
	buf_addc(h->out, '\n');
	if (f->source != INSPECTION_NONE && h->in->names.name[f->source].len) {
		buf_addf(h->out, "%s  at ", indent);
		text_add_name(h->out, h->in->names.name[f->source].p, 0);
		buf_addf(h->out, ":%" PRIu32 "\n", f->line);
	}
	if (f->module != INSPECTION_NONE) {
		buf_addf(h->out, "%s  in ", indent);
		text_add_name(h->out, h->in->names.name[h->in->module[f->module].file].p, 0);
		buf_addc(h->out, '\n');
	}
}

/* whole: of a function; otherwise of one of its backtraces. */
static void add_costs(struct heaptrack *h, const struct costs *c, enum cost by, bool whole)
{
	struct buf *b = h->out;
	uint64_t calls = c->n[COST_CALLS], temporary = c->n[COST_TEMPORARY];

	switch (by) {
	case COST_CALLS:
		buf_addf(b, "%" PRIu64 " calls%s with ", calls,
			 whole ? " to allocation functions" : "");
		add_size(b, c->n[COST_PEAK]);
		buf_adds(b, " peak consumption");
		break;
	case COST_TEMPORARY:
		buf_addf(b, "%" PRIu64 " temporary allocations of %" PRIu64
			 " allocations in total (%.2f%%)", temporary, calls,
			 calls ? 100.0 * (double)temporary / (double)calls : 0);
		break;
	default:
		add_size(b, c->n[by]);
		buf_addf(b, " %s over %" PRIu64 " calls", by == COST_LIVE ? "leaked" :
			 whole ? "peak memory consumed" : "consumed", calls);
	}
	buf_adds(b, whole ? " from\n" : " from:\n");
}

static void add_backtraces(struct heaptrack *h, uint32_t function, enum cost by)
{
	const struct ranking ranking = { h->node, by };
	uint32_t *nodes = h->by_function + h->first[function];
	size_t n = h->first[function + 1] - h->first[function], top;

	top = sort_top(nodes, n, BACKTRACES_MOST, is_before, &ranking);
	for (size_t i = 0; i < top && h->node[nodes[i]].n[by]; i++) {
		uint32_t node = h->t->node[nodes[i]].parent;

		add_costs(h, &h->node[nodes[i]], by, false);
		for (; node != INSPECTION_NONE; node = h->t->node[node].parent)
			add_function(h, h->t->node[node].function, "    ");
	}
	if (n > top)
		buf_addf(h->out, "  and %zu more backtraces\n", n - top);
}

static void add_section(struct heaptrack *h, const char *title, enum cost by)
{
	const struct ranking ranking = { h->function, by };
	size_t top = sort_top(h->functions, h->t->n_functions, FUNCTIONS_MOST, is_before, &ranking);

	buf_addf(h->out, "%s\n", title);
	for (size_t i = 0; i < top && h->function[h->functions[i]].n[by]; i++) {
		add_costs(h, &h->function[h->functions[i]], by, true);
		add_function(h, h->functions[i], "");
		add_backtraces(h, h->functions[i], by);
		buf_addc(h->out, '\n');
	}
	buf_addc(h->out, '\n');
}

static void add_site(struct heaptrack *h, const struct site *site)
{
	const uint64_t n[COSTS] = {
		[COST_CALLS] = site->allocations, [COST_PEAK] = site->peak_bytes,
		[COST_LIVE] = site->live_bytes, [COST_TEMPORARY] = site->temporary,
	};
	uint32_t node = h->t->of_stack[site->stack];

	for (int c = 0; c < COSTS; c++) {
		h->node[node].n[c] += n[c];
		h->function[h->t->node[node].function].n[c] += n[c];
		h->total.n[c] += n[c];
	}
}

/* The nodes of a function are by_function[first[function]] to those of the next one. */
static void sort_nodes(struct heaptrack *h)
{
	uint32_t at = 0;

	for (size_t i = 0; i < h->t->n; i++)
		h->first[h->t->node[i].function] += h->node[i].n[COST_CALLS] > 0;
	for (size_t f = 0; f <= h->t->n_functions; f++) {
		at += h->first[f];
		h->first[f] = at;
	}
	for (size_t i = h->t->n; i-- > 0;) {
		if (h->node[i].n[COST_CALLS])
			h->by_function[--h->first[h->t->node[i].function]] = (uint32_t)i;
	}
	for (size_t f = 0; f < h->t->n_functions; f++)
		h->functions[f] = (uint32_t)f;
}

static void add_total(struct heaptrack *h, const struct snapshot *s)
{
	double seconds = (double)s->time_us / 1e6, per = seconds > 0 ? seconds : 1;

	buf_addf(h->out, "total runtime: %.2fs.\n", seconds);
	buf_addf(h->out, "calls to allocation functions: %" PRIu64 " (%.0f/s)\n",
		 h->total.n[COST_CALLS], (double)h->total.n[COST_CALLS] / per);
	buf_addf(h->out, "temporary memory allocations: %" PRIu64 " (%.0f/s)\n",
		 h->total.n[COST_TEMPORARY], (double)h->total.n[COST_TEMPORARY] / per);
	buf_adds(h->out, "peak heap memory consumption: ");
	add_size(h->out, h->total.n[COST_PEAK]);
	buf_adds(h->out, "\npeak RSS (including heaptrack overhead): ");
	add_size(h->out, s->process.rss_kb * 1024);
	buf_adds(h->out, "\ntotal memory leaked: ");
	add_size(h->out, h->total.n[COST_LIVE]);
	buf_addc(h->out, '\n');
}

static void add_all(struct heaptrack *h, const struct snapshot *s)
{
	buf_adds(h->out, "Debuggee command was: ");
	text_add_name(h->out, h->in->command, 0);
	buf_addc(h->out, '\n');
	if (h->in->heap == HEAP_SAMPLED)
		buf_addf(h->out, "All values are estimates: one sample every %" PRIu64
			 " allocated bytes on average.\n", h->in->heap_period);
	buf_addc(h->out, '\n');
	add_section(h, "MOST CALLS TO ALLOCATION FUNCTIONS", COST_CALLS);
	add_section(h, "PEAK MEMORY CONSUMERS", COST_PEAK);
	add_section(h, "MEMORY LEAKS", COST_LIVE);
	add_section(h, "MOST TEMPORARY ALLOCATIONS", COST_TEMPORARY);
	add_total(h, s);
}

int heaptrack_write(struct buf *out, const struct inspection *in, const struct call_tree *t,
		    const struct snapshot *s)
{
	struct heaptrack h = {
		.out = out, .in = in, .t = t,
		.node = array_new_zero(t->n, sizeof *h.node),
		.function = array_new_zero(t->n_functions + 1, sizeof *h.function),
		.functions = array_new_zero(t->n_functions + 1, sizeof *h.functions),
		.by_function = array_new_zero(t->n, sizeof *h.by_function),
		.first = calloc(t->n_functions + 2, sizeof *h.first),
	};
	int r = h.node && h.function && h.functions && h.by_function && h.first ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < s->n_sites; i++)
		add_site(&h, &s->site[i]);
	if (!r) {
		sort_nodes(&h);
		add_all(&h, s);
		r = buf_error(out);
	}
	free_all(h.node, h.function, h.functions, h.by_function, h.first);
	return r;
}
