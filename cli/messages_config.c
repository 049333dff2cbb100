/* SPDX-License-Identifier: MIT */
#include "cli/messages_config.h"

#include "base/array.h"
#include "base/buf.h"
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
	{ OPT_KEY(OPTION_WORDS, struct word_list, "chain", text[MESSAGE_CHAIN]) },
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

static int check_texts(const struct messages_config_tool *tool, struct error *err)
{
	for (enum message_is is = 0; is < MESSAGE_KINDS; is++) {
		for (size_t i = 0; i < tool->text[is].n; i++) {
			int r = message_template_check(tool->text[is].item[i], is, err);

			if (r)
				return r;
		}
	}
	return 0;
}

static int check_tool(void *values, struct error *err)
{
	const struct messages_config_tool *tool = values;

	if (!tool->name || strpbrk(tool->name, "\t\n"))
		return error_say(err, -EINVAL, "expected the name of a tool");
	if (!tool->text[MESSAGE_ERROR].n && !tool->text[MESSAGE_WARNING].n && !tool->text[MESSAGE_REPORT].n)
		return error_say(err, -EINVAL, "'%.64s': expected error, warning or report", tool->name);
	return check_texts(tool, err);
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

/* Of a tool the exceptions come first. messages.yaml has them in this order. */
static void add_lines(struct buf *out, const struct messages_config *c)
{
	static const enum message_is order[MESSAGE_KINDS] = {
		MESSAGE_CHAIN, MESSAGE_BEFORE, MESSAGE_REPORT, MESSAGE_ERROR, MESSAGE_WARNING, MESSAGE_AFTER,
	};

	for (size_t i = 0; i < c->n; i++) {
		const struct messages_config_tool *tool = &c->tool[i];

		for (size_t k = 0; k < MESSAGE_KINDS; k++) {
			const struct word_list *texts = &tool->text[order[k]];

			for (size_t t = 0; t < texts->n; t++)
				buf_addf(out, "%s\t%s\t%s\n", message_word[order[k]], tool->name, texts->item[t]);
		}
	}
}

/* Of this run of the program. */
static struct {
	const char *file;
	struct buf lines;
} own;

const char *messages_config_lines(void)
{
	struct messages_config c = { 0 };
	struct args args = { 0 };
	struct error err = { 0 };
	int r = configfile_apply(&args, messages_config_keys, &c, own.file, &err);

	buf_clear(&own.lines);
	if (!r)
		add_lines(&own.lines, &c);
	else
		notice_error(&err);
	messages_config_release(&c);
	options_release(&args);
	return buf_str(&own.lines);
}

void messages_config_use(const char *file)
{
	own.file = file;
	message_rules_own(NULL, messages_config_lines);
}
