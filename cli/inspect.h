/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_INSPECT_H
#define BUILDBEAT_CLI_INSPECT_H

#include "base/error.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The parts of the command inspect, each in a file cli/inspect_NAME.c, with the tables of options in
 * cmd_inspect.c. They share one struct, in which those of other parts have their defaults.
 */
struct inspect_config;
struct inspect_arguments {
	const char *config;
	struct inspect_config *settings;	/* read from it by inspect run */
	/* which process is inspected */
	int64_t pid;
	const char *match, *task, *follow;
	bool heaviest;
	/* how */
	int64_t interval_us;	/* 0: as often as its cost allows */
	int64_t count;		/* 0: until the process ends */
	int heap;		/* enum heap_mode */
	bool freeze, pages;
	bool background, progress;
	const char *site;
	const char *output;	/* directory of the archive, NULL: by the process */
	/* of the other parts */
	bool json;
	unsigned view;		/* a bit of each enum inspect_part */
	int format;		/* enum inspect_format */
	bool keep;
	const char *snapshot, *address;
	const char *rules, *file, *permissions, *stack;
	int64_t top;
};

#define INSPECT_TOP 15

struct command;
extern const struct command cmd_inspect_run, cmd_inspect_show, cmd_inspect_list, cmd_inspect_delete, cmd_inspect_status,
	cmd_inspect_wait, cmd_inspect_cancel, inspect_maps, inspect_stats, cmd_inspect_capabilities, cmd_inspect_settings;

/* Their functions: values is a struct inspect_arguments. */
int inspect_run_start(struct args *a, void *values, struct error *err);
int inspect_run_show(struct args *a, void *values, struct error *err);
int inspect_run_list(struct args *a, void *values, struct error *err);
int inspect_run_delete(struct args *a, void *values, struct error *err);
int inspect_run_status(struct args *a, void *values, struct error *err);
int inspect_run_wait(struct args *a, void *values, struct error *err);
int inspect_run_cancel(struct args *a, void *values, struct error *err);
int inspect_run_capabilities(struct args *a, void *values, struct error *err);
int inspect_run_settings(struct args *a, void *values, struct error *err);

#endif
