/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CLASS_TREE_H
#define BUILDBEAT_INSPECT_CLASS_TREE_H

#include "inspect/class_nodes.h"
#include "inspect/class_paths.h"

/*
 * Private to classify.c: from the values of slots to the tree of classes. A slot is what is
 * counted: a class without children, or a part of a class that its rule splits.
 */
struct class_slot {
	uint32_t node;		/* of class_nodes */
	uint32_t key;		/* caller: number in texts of its short name; directory: number of
				   its path; CLASSES_NONE: nothing is known */
};

/* The slots that were there, and their values, in one snapshot. */
struct class_row {
	size_t n;		/* slots */
	double *value;		/* [slot * columns + value] */
};

struct class_counts {
	const struct class_nodes *nodes;
	const struct class_paths *paths;
	const struct name_table *texts;
	size_t n_slots;
	const struct class_slot *slot;
	size_t n_rows;		/* snapshots */
	const struct class_row *row;
	unsigned columns, n_values;	/* columns are values and perhaps a variance */
};

/* 0 or -ENOMEM. */
int class_tree_make(struct classes *out, const struct class_counts *counts);

#endif
