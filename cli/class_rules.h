/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_CLASS_RULES_H
#define BUILDBEAT_CLI_CLASS_RULES_H

#include "cli/options.h"
#include "inspect/classify.h"

/* Rules of classes of memory, in YAML. */
struct class_rules_read {
	struct class_rule_file file;
	char name[256];			/* of the shipped rules or the file */
	struct args args;		/* has the texts */
};

/*
 * Read the rules that `wanted` names: one of shipped_rules, or a file. NULL: the shipped rules for
 * the program. 0, or a negative errno with err, which has the path and the line. Always release.
 */
int class_rules_read(struct class_rules_read *c, const char *wanted, const char *program,
		     struct error *err);

/* The same from text in memory; path is for messages. */
int class_rules_parse(struct class_rules_read *c, const char *text, size_t len, const char *path,
		      struct error *err);
void class_rules_release(struct class_rules_read *c);

#endif
