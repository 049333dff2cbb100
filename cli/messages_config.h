/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_MESSAGES_CONFIG_H
#define BUILDBEAT_CLI_MESSAGES_CONFIG_H

#include "analyse/message.h"
#include "cli/options.h"

/*
 * The key `messages` of buildbeat.yaml and of the shipped rules: how tools say what went wrong. Begins
 * as all zero. Texts belong to the struct args of the file that was read.
 */
struct messages_config {
	size_t n;
	struct messages_config_tool *tool;
};

extern const struct option messages_config_keys[];
void messages_config_release(struct messages_config *c);

/*
 * Messages follow the rules of this configuration file (NULL: the one that is found) and then the
 * shipped ones. They are read when they are needed; wrong ones are a notice then.
 */
void messages_config_use(const char *file);

/* The rules of that file, read now, as for message_rules_own(); the server gets them. "": none. */
const char *messages_config_lines(void);

#endif
