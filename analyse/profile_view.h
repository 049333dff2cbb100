/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_PROFILE_VIEW_H
#define BUILDBEAT_ANALYSE_PROFILE_VIEW_H

#include "analyse/profile.h"
#include "base/buf.h"

/*
 * A profile as a person asked for it: rows filtered, merged, grouped by some columns and sorted.
 */

enum profile_column {
	PROFILE_FIRST_NUMBER = PROFILE_KEYS,	/* before it: the keys */
	PROFILE_C_COUNT = PROFILE_FIRST_NUMBER, PROFILE_C_LIVING,
	PROFILE_C_RUN, PROFILE_C_MEAN, PROFILE_C_MAX, PROFILE_C_P50, PROFILE_C_P95,
	PROFILE_C_SAMPLE, PROFILE_C_SELF,
	PROFILE_C_QUEUE, PROFILE_C_QUEUE_MEAN, PROFILE_C_QUEUE_MAX, PROFILE_C_QUEUE_P50,
	PROFILE_C_QUEUE_P95, PROFILE_C_QUEUE_SAMPLE,
	PROFILE_C_WORKER, PROFILE_C_POOL, PROFILE_C_LOAD, PROFILE_C_DELAYED, PROFILE_C_OTHER, PROFILE_C_ORDER,
	PROFILE_C_AMOUNT, PROFILE_C_AMOUNT_MAX,
	PROFILE_C_VALUES, PROFILE_COLUMNS = PROFILE_C_VALUES + PROFILE_VALUES	/* those of analyse/value.h */
};

/* The column of a value from VALUE_CPU on. */
#define PROFILE_C_VALUE(v) (PROFILE_C_VALUES + (v) - VALUE_CPU)

/* PROFILE_RUN_UNIT, PROFILE_AMOUNT_UNIT: that of the rows */
enum profile_unit {
	PROFILE_TEXT, PROFILE_PLAIN, PROFILE_NS, PROFILE_BYTES, PROFILE_RUN_UNIT,
	PROFILE_AMOUNT_UNIT
};

struct profile_column_info {
	const char *word;	/* in options and JSON */
	const char *title;	/* short, for a table */
	enum profile_unit unit;
};

struct profile_column_info profile_column(int c);
/* The words of all columns, and of those that can be grouped; they end with NULL. */
extern const char *const profile_column_word[], *const profile_key_word[];

#define PROFILE_LIST_MAX PROFILE_COLUMNS

struct profile_list {
	size_t n;
	uint8_t column[PROFILE_LIST_MAX];
};

/* A list of words "born,dir". 0 or -EINVAL with err's message. */
int profile_list_parse(struct profile_list *l, const char *text, bool keys_only,
		       struct error *err);

struct profile_wish {
	const char *filter;	/* part of any column; /REGEX/; NULL: all rows */
	struct profile_list group, sort;	/* sort: the largest first, names from a to z */
	bool reverse;
	unsigned merged;	/* bit of each key that does not keep rows apart */
	bool similar;		/* digits of threads become "*" */
};

/* Rows that have something in common, and those that nothing keeps apart, one below the other. */
struct profile_node {
	uint32_t parent;	/* index, or NO_INDEX */
	uint32_t first, n;	/* in profile_view.member */
	uint32_t first_child, n_children;	/* in profile_view.child */
	uint32_t depth;		/* number of columns of the group that it fixes; 0: all rows */
	struct profile_row *sum;	/* keys are those of the first member */
};

struct profile_view {
	const struct profile *p;
	struct profile_wish wish;
	struct arena *memory;
	size_t n_members;
	uint32_t *member;	/* rows of the profile that fit the filter */
	size_t n_nodes;
	struct profile_node *node;	/* the first is that of all rows; a node is behind its parent */
	uint32_t *child;
	uint32_t *shown;	/* of each text of the profile: that of the merged threads */
	struct name_table similar;
	struct profile_value *scratch;
	size_t scratch_cap;
	bool no_memory;		/* for a value or an order: outputs fail with -ENOMEM */
};

/* The usual groups: a task that ran once says little, many of one rule or kind do. Rules if all rows
 * have one, no groups of tallies alone or of a difference. */
void profile_group_usually(struct profile_wish *w, const struct profile *p);

/* The usual order, if none is wished: what is often repeated matters by its count, as in Chromium;
 * the tasks of a build run once. */
void profile_sort_usually(struct profile_wish *w, const struct profile *p);

/* 0, -ENOMEM, or -EINVAL with err's message: a wrong regular expression. Always release. */
int profile_view_make(struct profile_view *v, const struct profile *p,
		      const struct profile_wish *wish, struct error *err);
void profile_view_release(struct profile_view *v);

/* Is it a row, which no further column splits? Otherwise it has children. */
static inline bool profile_is_row(const struct profile_view *v, const struct profile_node *n)
{
	return n->depth > v->wish.group.n;
}

/* The indices of the first `most` children of a node in order; their number. They come to the front
 * of v->child + first_child. */
size_t profile_view_sort(struct profile_view *v, const struct profile_node *n, size_t most);

/* The unit of a number of a node: "ns", "bytes", another one of a host; "" of a count. NULL if its
 * rows have different ones: then there is no number. */
const char *profile_view_unit(const struct profile_view *v, const struct profile_node *n,
			      enum profile_column c);

/* cost_bounds() of the node. A difference of bounds is not a bound. */
unsigned profile_view_bounds(const struct profile_view *v, const struct profile_node *n);

/* A number of a node for people: "12", "0.4 s", "24 ns", "17 faults", ">0.4 s" of a lower bound,
 * "-" if it is unknown. */
void profile_view_add(struct buf *b, struct profile_view *v, const struct profile_node *n,
		      enum profile_column c);

/* A number; NAN if it is unknown. */
double profile_view_number(struct profile_view *v, const struct profile_node *n,
			   enum profile_column c);

/* The text of a key. If the rows below differ in it, NULL and *n_unique different ones. */
const char *profile_view_text(struct profile_view *v, const struct profile_node *n,
			      enum profile_key key, size_t *n_unique);

#endif
