/* SPDX-License-Identifier: MIT */
#include "cli/messages_config.h"

#include "analyse/shipped_messages.h"
#include "base/array.h"
#include "cli/configfile.h"
#include "launch/notice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An item of `messages`. */
struct messages_config_tool {
	const char *name;
	struct word_list text[MESSAGE_KINDS];
};

#define OPTIONS struct messages_config_tool
static const struct option tool_keys[] = {
	{ OPT_KEY(OPTION_TEXT, const char *, "tool", name) },
	{ OPT_KEY(OPTION_WORDS, struct word_list, "error", text[MESSAGE_ERROR]) },
	{ OPT_KEY(OPTION_WORDS, struct word_list, "warning", text[MESSAGE_WARNING]) },
	{ OPT_KEY(OPTION_WORDS, struct word_list, "report", text[MESSAGE_REPORT]) },
	{ OPT_KEY(OPTION_WORDS, struct word_list, "before", text[MESSAGE_BEFORE]) },
	{ OPT_KEY(OPTION_WORDS, struct word_list, "after", text[MESSAGE_AFTER]) },
	{ 0 }
};

_Static_assert(ARRAY_SIZE(tool_keys) == MESSAGE_KINDS + 2, "a key for each kind");

static void *add_tool(void *list)
{
	struct messages_config *c = list;
	struct messages_config_tool *tool = array_add(&c->tool, &c->n, sizeof *tool);

	if (tool)
		*tool = (struct messages_config_tool){ 0 };
	return tool;
}

/* m NULL: only check them. */
static int add_texts(struct message_rules *m, const struct messages_config_tool *tool, struct error *err)
{
	for (enum message_is is = 0; is < MESSAGE_KINDS; is++) {
		for (size_t i = 0; i < tool->text[is].n; i++) {
			int r = message_rules_add(m, tool->name, is, tool->text[is].item[i], err);

			if (r)
				return r;
		}
	}
	return 0;
}

static int check_tool(void *values, struct error *err)
{
	const struct messages_config_tool *tool = values;

	if (!tool->name)
		return error_say(err, -EINVAL, "expected the name of a tool");
	if (!tool->text[MESSAGE_ERROR].n && !tool->text[MESSAGE_WARNING].n && !tool->text[MESSAGE_REPORT].n)
		return error_say(err, -EINVAL, "'%.64s': expected error, warning or report", tool->name);
	return add_texts(NULL, tool, err);
}

static const struct option_map tool_map = { tool_keys, add_tool, check_tool };

#undef OPTIONS
#define OPTIONS struct messages_config
const struct option messages_config_keys[] = {
	{ .name = "messages", .kind = OPTION_MAPS, .map = &tool_map, .config = true },
	{ 0 }
};

void messages_config_release(struct messages_config *c)
{
	free(c->tool);
	*c = (struct messages_config){ 0 };
}

/* The rules of this run of the program. Their texts live as long. */
static struct {
	const char *file;
	struct args args;
	struct message_rules *rules;
} own;

static int add_all(struct messages_config *c, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < c->n && !r; i++)
		r = add_texts(own.rules, &c->tool[i], err);
	messages_config_release(c);
	return r;
}

static const struct message_rules *read_rules(void)
{
	struct messages_config c = { 0 };
	struct error err = { 0 };
	int r;

	if (own.rules)
		return own.rules;
	own.rules = message_rules_new();
	r = own.rules ? configfile_apply(&own.args, messages_config_keys, &c, own.file, &err) :
		error_sys(&err, -ENOMEM, NULL, NULL);
	if (!r)
		r = add_all(&c, &err);
	messages_config_release(&c);
	if (r)
		notice_error(&err);
	r = own.rules ? configfile_parse_keys(&own.args, messages_config_keys, &c, shipped_messages,
					      strlen(shipped_messages), "messages.yaml", &err) : 0;
	if (!r)
		r = add_all(&c, &err);
	if (r)
		notice_error(&err);
	return own.rules;
}

void messages_config_use(const char *file)
{
	message_rules_free(own.rules);
	options_release(&own.args);
	own.rules = NULL;
	own.args = (struct args){ 0 };
	own.file = file;
	message_rules_from(read_rules);
}
