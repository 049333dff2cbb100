/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_RULES_CONFIG_H
#define BUILDBEAT_CLI_RULES_CONFIG_H

#include "cli/options.h"
#include "compare/rules.h"

/*
 * The key `compare` of buildbeat.yaml: what counts as a difference. Texts are those that
 * were read, and belong to whoever keeps these.
 */
struct rules_config {
	struct rules rules;	/* all but its list, which rules_config_done() makes */
	struct rules_config_list {
		size_t n;
		struct rules_config_rule *rule;		/* as it was read */
	} list;
	struct rule *made;
};

/* As it is without configuration; always release. */
void rules_config_init(struct rules_config *c);
void rules_config_release(struct rules_config *c);

/* Once all is read: rules become complete. 0 or -ENOMEM. */
int rules_config_done(struct rules_config *c);

extern const struct option_map rules_config_map;

#endif
