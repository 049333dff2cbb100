/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_LIMITS_CONFIG_H
#define BUILDBEAT_CLI_LIMITS_CONFIG_H

#include "cli/options.h"
#include "compare/limits.h"

/*
 * The key `limits` of buildbeat.yaml: a mapping from `build` and patterns of task names to the
 * largest values allowed. Begins as all zero. Texts belong to the struct args of the
 * configuration that was read.
 */
struct limits_config {
	size_t n;
	struct limits_config_item *item;	/* as it was read */
	struct limits limits;
	struct limit *made;
};

/* Makes c->limits from what was read. 0 or -ENOMEM. */
int limits_config_done(struct limits_config *c);
void limits_config_release(struct limits_config *c);

extern const struct option_map limits_config_map;

#endif
