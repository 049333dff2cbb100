/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_DIFF_VIEW_H
#define BUILDBEAT_REPORT_DIFF_VIEW_H

#include "analyse/summary.h"
#include "base/buf.h"
#include "compare/diff.h"

/* What all outputs of diff share: the lists of tasks, and texts. */
enum diff_sort {
	DIFF_SORT_CHANGE,	/* the largest first, up or down, as below */
	DIFF_SORT_SHARE,
	DIFF_SORT_BASE,
	DIFF_SORT_NEW,
	DIFF_SORT_NAME,
	DIFF_SORTS,
};

/* "change", "share" ...; ends with NULL. */
extern const char *const diff_sort_word[DIFF_SORTS + 1];

struct diff_view {
	const struct diff *diff;
	enum diff_sort sort;
	bool reverse;
	bool all;		/* include tasks without a difference */
	size_t top;		/* maximum length of lists */
	bool brief;		/* JSON has only the tasks of these lists */
	const struct summary *sum[DIFF_SIDES];	/* of the last run of a side, or NULL */
	const struct html_site *site;	/* of the page; NULL: a file */
};

/*
 * Lists the tasks of a metric: confirmed ones first, then other large ones. Free *task. *n is their
 * number before the list is cut to view->top. Returns 0 or -ENOMEM.
 */
int diff_list(const struct diff_view *v, enum metric m, uint32_t **task, size_t *n);

/* The same for tasks that are new or gone, the longest first. */
int diff_list_lost(const struct diff_view *v, enum diff_presence presence, uint32_t **task,
		   size_t *n);

static inline bool diff_is_change(const struct diff_value *f)
{
	return f->verdict == VERDICT_HIGHER || f->verdict == VERDICT_LOWER;
}

/* "machine", "directory" ... of enum diff_unlike. */
extern const char *const diff_unlike_word[DIFF_UNLIKES];

/* "these may be builds of different things: another command; only 12 of 80 tasks ..."; nothing
 * if they are alike. */
void diff_add_warning(struct buf *out, const struct diff *d);

/* The result as a sentence, with what was not tested; the common factor of all tasks, nothing if
 * unknown or small; and the scaled thresholds: "5 % and wall 1.2 s, cpu 1.1 s". */
void diff_add_verdict(struct buf *out, const struct diff *d);
void diff_add_thresholds(struct buf *out, const struct diff *d);
void diff_add_common(struct buf *out, const struct diff *d, enum metric m);

/* "10000 compared, 3 new, 1 gone". */
void diff_add_counts(struct buf *out, const struct diff *d);

/* "Wall time: 12 higher, 3 lower, 5 uncertain, 8 not tested". */
void diff_add_heading(struct buf *out, const struct diff *d, enum metric m);

/* "exit 2", "SIGKILL in 1 of 3", of all runs of a side. */
void diff_add_end(struct buf *out, const struct diff *d, const struct diff_task *t,
		  enum diff_side s);

/* The interval of a tested effect, "+2.0 % to +10 %", nothing if not tested; and its false discovery
 * rate, "<0.001", or "untested". */
void diff_add_interval(struct buf *out, const struct diff_value *f);
void diff_add_rate(struct buf *out, const struct diff_value *f);

/* A circumstance, memory with its unit; or "unknown". */
void diff_add_fact(struct buf *out, const struct diff_fact *f, enum diff_side s);

/* "below_thresholds" ..., NULL up to DIFF_NOTHING. */
extern const char *const diff_untested_word[DIFF_UNTESTEDS];

extern const char *const diff_end_title[DIFF_END_OTHER + 1];	/* NULL for DIFF_END_SAME */
extern const char *const diff_package_word[PACKAGE_REVISION + 1];
extern const char *const diff_rename_word[RENAME_SIMILAR + 1];

#endif
