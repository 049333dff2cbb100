/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_SHIPPED_RULES_H
#define BUILDBEAT_INSPECT_SHIPPED_RULES_H

/*
 * The rules of inspect/rules/: YAML, as buildbeat-inspection(5) describes it. The first whose
 * `programs` fits a program is its own; the last one fits all.
 */
struct shipped_rules {
	const char *name, *text;
};

extern const struct shipped_rules shipped_rules[];	/* ends with a name NULL */

#endif
