/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_BUILD_TOOL_H
#define BUILDBEAT_COMMAND_BUILD_TOOL_H

#include "base/cursor.h"

/* How the output of a build tool shows which task a line belongs to. */
enum build_tool_output {
	BUILD_TOOL_SILENT,
	BUILD_TOOL_COMMANDS,	/* make: it prints each command that it runs */
	BUILD_TOOL_STATUS,	/* ninja: "[3/17] description" when a task ends */
	BUILD_TOOL_RECIPES,	/* BitBake: recipe and task, or the task's log */
};

/* What is known about a build tool by its name, which an instance of a recording has as its tool. */
struct build_tool {
	const char *name;
	enum build_tool_output output;
	bool messages;		/* its own messages begin with "NAME: " or "NAME[LEVEL]: " */
	bool ninja;		/* it has the options, the log and the default of -j of ninja */
	bool one_thread;	/* the preloaded object numbers its tasks in order */
	bool recipes;		/* the key of a task is a recipe, the kind follows from the task's name;
				   a server runs the tasks */
};

/* The table: ends with a row without a name, which is that of any other tool. */
extern const struct build_tool build_tools[];

/* The row of a name, with a version or without ("make-4.4"). Never NULL; the name can be. */
const struct build_tool *build_tool_find(struct slice name);

static inline const struct build_tool *build_tool_of(const char *name)
{
	return build_tool_find(slice_of(name ? name : ""));
}

#endif
