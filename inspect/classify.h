/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_CLASSIFY_H
#define BUILDBEAT_INSPECT_CLASSIFY_H

#include "base/error.h"
#include "base/word_list.h"
#include "inspect/inspection.h"

/*
 * What a process has in memory, divided into the classes that rules name. The rules are a tree:
 * memory belongs to the first of the children of a rule that fits, and so on downwards; what fits
 * none of them belongs to the class "other" of that rule. So the values of the children of a class
 * always add up to its own.
 *
 * The same rules divide two things. The memory (CLASSIFY_MEMORY) is the mappings of the process,
 * of which anonymous ones are divided by the stack that mapped or allocated them, if the heap was
 * counted. The heap (CLASSIFY_HEAP) is the allocations by stack; their file is "[heap]" if they
 * are of malloc() and "" if they are of mmap(), and their permissions are "rw-p".
 */

/* What divides a class whose rule has no children that name them. */
enum class_split {
	SPLIT_NONE,
	SPLIT_CALLER,		/* the function that called those that `stack` names */
	SPLIT_DIRECTORY,	/* directories of sources, or the module and the prefixes of names */
};

extern const char *const class_split_words[];	/* ends with NULL */

#define CLASS_SPLIT_SHARE 0.02	/* of all in one snapshot: smaller parts are "other" */
#define CLASS_SPLIT_DEPTH 3

struct class_rules {
	size_t n;
	struct class_rule *rule;
};

/*
 * A rule and its conditions, which are POSIX extended regular expressions that fit any part of a
 * text. A missing one (NULL, an empty list) always fits.
 */
struct class_rule {
	const char *name;
	const char *file;		/* of the mapping: a path, "[heap]", "" */
	const char *permissions;
	struct word_list stack;		/* of the short names of functions (call_names.h): each fits a
					   later call, from the innermost on */
	const char *source;		/* path of the source of any call */
	int split;			/* an enum class_split; only without children */
	struct class_rules children;
};

/* A file of rules. Texts belong to whoever read it. */
struct class_rule_file {
	const char *programs;		/* names of programs, separated by blanks, as fnmatch(3) */
	const char *allocators;		/* regular expression: functions that allocate for their
					   callers; "caller" and "directory" pass over them */
	struct class_rules rules;
};

enum classify_kind { CLASSIFY_MEMORY, CLASSIFY_HEAP };

/* The values of a class: of the memory as enum mapping_value, in KiB; of the heap these. */
enum heap_value {
	HEAP_LIVE_BYTES, HEAP_LIVE, HEAP_PEAK_BYTES, HEAP_ALLOCATED_BYTES, HEAP_ALLOCATIONS,
	HEAP_TEMPORARY,
	HEAP_VALUES
};

/* Their words in JSON, with units. */
extern const char *const heap_value_words[HEAP_VALUES];

#define CLASSES_NONE UINT32_MAX

struct memory_class {
	const char *name;
	uint32_t parent;	/* CLASSES_NONE: the root, which is the first one */
	uint32_t depth;		/* the root's is 0 */
	bool other;		/* what fits no rule of its parent, or is a small share of it */
};

/* The tree, without classes that are empty in all snapshots. */
struct classes {
	size_t n;
	struct memory_class *item;	/* each behind its parent and before its parent's next child;
					   in the order of the rules, other last */
	size_t n_snapshots;
	unsigned n_values;
	int64_t *value;			/* classes_value() */
	double *variance;		/* of HEAP_LIVE_BYTES: [class * n_snapshots + snapshot]; NULL of
					   the memory */
	struct arena *arena;		/* of the names */
};

int64_t classes_value(const struct classes *c, size_t class, size_t snapshot, unsigned value);
void classes_release(struct classes *c);

/*
 * Give the snapshots in their order to one of these, then once ask for the classes. in and file
 * must outlive it, and the texts of file also the classes. 0, -ENOMEM, or -EINVAL with err: an
 * expression is wrong. Always free.
 */
struct classifier;

int classifier_new(struct classifier **c, enum classify_kind kind,
		   const struct class_rule_file *file, const struct inspection *in,
		   struct error *err);
int classifier_add(struct classifier *c, const struct snapshot *s);
int classifier_done(struct classifier *c, struct classes *out);
void classifier_free(struct classifier *c);

#endif
