/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_SETTINGS_OPTIONS_H
#define BUILDBEAT_CLI_SETTINGS_OPTIONS_H

#include "cli/options.h"
#include "launch/settings.h"
#include "recording/layout.h"

/* The options of record that are also keys of buildbeat.yaml, into a struct settings. */
extern const struct option settings_options[];

/* Their default values. */
#define SETTINGS_INIT { \
	.output = LAYOUT_BASE, .interval_ms = 1000, .task_memory = true, .git = true, \
	.stay_us = -1, \
}

#endif
