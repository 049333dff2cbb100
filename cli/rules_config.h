/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_RULES_CONFIG_H
#define BUILDBEAT_CLI_RULES_CONFIG_H

#include "cli/options.h"
#include "compare/rules.h"

/*
 * The key `compare` of buildbeat.yaml: the thresholds of a change. Texts belong to the
 * struct args of the configuration that was read.
 */
struct rules_config {
	struct rules rules;	/* all but its list, which rules_config_done() makes */
	bool usual;		/* no metrics were selected */
	struct rules_config_list {
		size_t n;
		struct rules_config_rule *rule;		/* as it was read */
	} list;
	struct rule *made;
};

/* The defaults; always release. */
void rules_config_init(struct rules_config *c);
void rules_config_release(struct rules_config *c);

/* Makes c->rules from what was read. 0 or -ENOMEM. */
int rules_config_done(struct rules_config *c);

extern const struct option_map rules_config_map;

#endif
