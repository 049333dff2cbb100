/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_FACTS_H
#define BUILDBEAT_ANALYSE_FACTS_H

#include "analyse/chain.h"
#include "analyse/inspected.h"
#include "analyse/summary.h"
#include "analyse/view.h"
#include "base/text.h"

/* Facts: a label and parts, such as "tasks" and "8 for 6 targets", "1 failed". Only facts.c
 * words them; a writer decides how a fact looks. */
struct facts {
	struct buf part;	/* of the fact being made, each ended by a NUL */
	bool brief;		/* for the head of a chart: fewer details */
	bool running;		/* the build is known to run */

	/* Writes a fact with at least one part. */
	void (*write)(void *to, const char *label, enum tone tone, const struct buf *parts);
	void *to;
};

/* Errors are those of the buffer, which is not written to. */
void facts_begin(struct facts *f, struct buf *out,
		 void (*write)(void *to, const char *label, enum tone tone, const struct buf *parts), void *to);
void facts_release(struct facts *f);

/* The part being made ends here; an empty one is dropped. */
void fact_part(struct facts *f);

/* Whole parts: a number or a text between two others. Names are made safe to print. */
void fact_add_count(struct facts *f, uint64_t n, const char *after);
void fact_add_name(struct facts *f, const char *before, const char *name);

/* All parts under a label, in a tone; nothing when there are none. */
void fact_end(struct facts *f, const char *label, enum tone tone);

/* What compiler caches did for the selected tasks. */
void fact_caches(struct facts *f, const struct view *v);

/* What was built, when, where, and from which sources. */
void fact_when(struct facts *f, const struct recording *rec);
void fact_host(struct facts *f, const struct summary *s);
void fact_directory(struct facts *f, const struct recording *rec);
void fact_sources(struct facts *f, const struct recording *rec);

/* How it went, and what it used. */
void fact_result(struct facts *f, const struct summary *s);
void fact_warnings(struct facts *f, const struct recording *rec);
void fact_cpu(struct facts *f, const struct summary *s);
void fact_machine(struct facts *f, const struct summary *s);
void fact_speed(struct facts *f, const struct host *h);
/* What the processes of tasks did before the tasks started. */
void fact_setup(struct facts *f, const struct summary *s);
void fact_tasks(struct facts *f, const struct summary *s);
void fact_selected(struct facts *f, const struct view *v);	/* or what was not found */
void fact_bound(struct facts *f, const struct chain *c);	/* the time with unlimited workers */
void fact_path(struct facts *f, const struct summary *s, const struct chain *c);
void fact_memory(struct facts *f, const struct summary *s);
void fact_disk(struct facts *f, const struct summary *s);
void fact_network(struct facts *f, const struct host *h);
void fact_pressure(struct facts *f, const struct host *h);
void fact_samples(struct facts *f, const struct summary *s);
void fact_trace_errors(struct facts *f, const struct recording *rec);
void fact_output(struct facts *f, const struct recording *rec);
void fact_cache(struct facts *f, const struct recording *rec);
void fact_inspected(struct facts *f, const struct inspected *x);	/* x may be NULL */
void fact_processes(struct facts *f, const struct recording *rec);

#endif
