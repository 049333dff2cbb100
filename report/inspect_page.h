/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_PAGE_H
#define BUILDBEAT_REPORT_INSPECT_PAGE_H

#include "base/buf.h"
#include "inspect/call_tree.h"
#include "inspect/classify.h"

/*
 * An inspection as one HTML page: classes of memory over time, the live heap by call stack with a
 * slider over the snapshots, and tables of call sites and mappings. It takes the snapshots one at
 * a time, and keeps what changed.
 *
 * The page has #head (JSON: facts, times, names of classes) and #data (report/packed.h), with
 * n = number of snapshots:
 *	class0 ...		per value of mapping_value_words: KiB [class * n + snapshot]
 *	heap			live bytes of the classes of the heap [class * n + snapshot]
 *	parent, function	of the nodes of the tree, plus 1; function 0: calls of less than 0.1 %
 *				of the heap in every snapshot, in one
 *	live			bytes of the node itself [node * (n + 1) + snapshot]; last: when the
 *				heap was largest
 *	spread			square of the standard error, divided by live bytes
 *	allocations, allocated, temporary	of the node itself, in the last snapshot
 *	module, source, line	of the functions; module and source plus 1, line of the first call
 *	allocates		of the functions: 1 if it allocates for its caller, by the rules
 *	high, low, offset	of the mappings: address and offset in pages, the address in two
 *				parts of 20 bits
 *	file, permissions	of the mappings: numbers of texts
 *	kb0 ...			per value: [mapping * n + snapshot]; a mapping without size is not
 *				there
 * and the texts function, module, source, file, permissions.
 */
struct inspect_page;

/* All must outlive it. */
int inspect_page_new(struct inspect_page **p, const struct inspection *in,
		     const struct call_tree *tree, const struct class_rule_file *rules);
void inspect_page_free(struct inspect_page *p);

/* The next snapshot. */
int inspect_page_add(struct inspect_page *p, const struct snapshot *s);

/* After the last one. heap: NULL without a heap; site: NULL for a file (html.h). 0 or -ENOMEM. */
struct html_site;
int inspect_page_write(struct buf *out, const struct inspect_page *p, const struct classes *memory,
		       const struct classes *heap, const struct html_site *site);

#endif
