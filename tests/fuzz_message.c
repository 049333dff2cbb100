/* SPDX-License-Identifier: MIT */
#include "analyse/message.h"
#include "base/cursor.h"
#include "tests/fuzz.h"

static bool is_inside(struct slice part, struct slice line)
{
	return !part.len || (part.p >= line.p && part.p + part.len <= line.p + line.len);
}

static void check_line(struct slice tool, struct slice line)
{
	const struct message_rules *rules = message_rules_used();
	struct message_found m = { 0 };

	check(!message_find(rules, tool, line, &m) || (is_inside(m.text, line) && is_inside(m.file, line)));
	if (!m.tool.len)
		return;
	tool = m.tool;
	m = (struct message_found){ 0 };
	check(!message_goes_on(rules, tool, true, line, &m) || (is_inside(m.text, line) && is_inside(m.file, line)));
}

/* Rules of the user, an empty line, and the lines of an output. */
FUZZ_TARGET(message)
{
	static char *rules;
	const uint8_t *end = memmem(data, size, "\n\n", 2);
	size_t n = end ? (size_t)(end - data) + 1 : 0;
	struct slice line, tool = { "gcc", 3 };
	struct cursor c;

	/* reading the shipped rules takes longer than most inputs: they are kept while there are no others */
	if (n > 1 || rules) {
		message_rules_own(NULL, NULL);
		free(rules);
		rules = n > 1 ? strndup((const char *)data, n) : NULL;
		check(rules || n <= 1);
		message_rules_own(rules, NULL);
	}
	cursor_init(&c, (const char *)data + (end ? n + 1 : 0), size - (end ? n + 1 : 0));
	while (cursor_until(&c, '\n', &line))
		check_line(tool, line);
	return 0;
}
