/* SPDX-License-Identifier: MIT */
#include "convert/trace_kind.h"

#include "base/array.h"
#include "base/cursor.h"

static void skip_blank(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static bool has(const struct convert_file *file, const char *text)
{
	return memmem(file->head, file->len, text, strlen(text));
}

/* What clang's traces have and no others do: phases of the compiler, by name. */
static bool is_clang(const struct convert_file *file)
{
	static const char *const phases[] = {
		"\"Source\"", "\"Frontend\"", "\"ExecuteCompiler\"", "\"ParseClass\"",
		"\"ParseTemplate\"", "\"InstantiateClass\"", "\"InstantiateFunction\"",
		"\"OptFunction\"", "\"OptModule\"", "\"CodeGen Function\"", "\"beginningOfTime\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		if (has(file, phases[i]))
			return true;
	return false;
}

/* An object of the list, or a list that begins with an event. */
enum trace_kind trace_kind(const struct convert_file *file)
{
	struct cursor c;
	bool list;

	cursor_init(&c, file->head, file->len);
	cursor_literal(&c, "\xef\xbb\xbf");
	skip_blank(&c);
	list = cursor_byte(&c, '[');
	if (file->is_dir || (!list && !cursor_byte(&c, '{')))
		return TRACE_NONE;
	skip_blank(&c);
	if (list)
		return cursor_byte(&c, '{') && has(file, "\"ph\"") ? TRACE_CHROME : TRACE_NONE;
	if (has(file, "\"otherData\"") && has(file, "\"bazel_version\""))
		return TRACE_BAZEL;
	if (!has(file, "\"traceEvents\""))
		return TRACE_NONE;
	return cursor_literal(&c, "\"traceEvents\"") && is_clang(file) ? TRACE_CLANG : TRACE_CHROME;
}
