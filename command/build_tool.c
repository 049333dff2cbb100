/* SPDX-License-Identifier: MIT */
#include "command/build_tool.h"

/* samurai prints its status lines when a task starts, so that they do not show what has ended. */
const struct build_tool build_tools[] = {
	{ "make", BUILD_TOOL_COMMANDS, .messages = true },
	{ "gmake", BUILD_TOOL_COMMANDS, .messages = true },
	{ "remake", BUILD_TOOL_COMMANDS, .messages = true },
	{ "ninja", BUILD_TOOL_STATUS, .messages = true, .ninja = true, .one_thread = true },
	{ "ninja-build", BUILD_TOOL_STATUS, .ninja = true, .one_thread = true },
	{ "samu", .ninja = true, .one_thread = true },
	{ "samurai", .ninja = true, .one_thread = true },
	{ "n2", .ninja = true },
	{ "bitbake", BUILD_TOOL_RECIPES, .recipes = true },
	{ 0 }
};

const struct build_tool *build_tool_find(struct slice name)
{
	const struct build_tool *t = build_tools;

	for (; t->name; t++) {
		size_t n = strlen(t->name);

		if (name.len < n || memcmp(name.p, t->name, n))
			continue;
		if (name.len == n || (name.len > n + 1 && name.p[n] == '-' && name.p[n + 1] >= '0' &&
				      name.p[n + 1] <= '9'))
			break;
	}
	return t;
}
