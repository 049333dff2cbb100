/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_INSPECT_H
#define BUILDBEAT_CLI_INSPECT_H

#include "base/error.h"
#include "cli/options.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The command inspect: its options, and its actions, each in a file cli/inspect_NAME.c. To add an
 * action: its option in cmd_inspect.c and here, its function here and in actions[] there.
 */
struct inspect_config;
struct inspect_arguments {
	const char *config;
	struct inspect_config *settings;	/* read from it by inspect_start() */
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
	/* of the actions */
	bool json;
	bool status;
	const char *wait, *cancel;
	const char *show;	/* archive */
	unsigned view;		/* a bit of each enum inspect_part */
	int format;		/* enum inspect_format */
	bool keep;
	const char *snapshot, *address;
	const char *rules, *file, *permissions, *stack;
	int64_t top;
	bool list;
	const char *delete;
	bool capabilities, show_settings;
};

#define INSPECT_TOP 15

/* The actions. An exit status, or a negative errno with err. */
int inspect_start(struct args *a, struct inspect_arguments *o, struct error *err);
int inspect_status(struct args *a, struct inspect_arguments *o, struct error *err);
int inspect_wait(struct args *a, struct inspect_arguments *o, struct error *err);
int inspect_cancel(struct args *a, struct inspect_arguments *o, struct error *err);
int inspect_show(struct args *a, struct inspect_arguments *o, struct error *err);
int inspect_archives(struct args *a, struct inspect_arguments *o, struct error *err);
int inspect_delete(struct args *a, struct inspect_arguments *o, struct error *err);
int inspect_capabilities(struct args *a, struct inspect_arguments *o, struct error *err);
int inspect_settings(struct args *a, struct inspect_arguments *o, struct error *err);

#endif
