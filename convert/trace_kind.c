/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/cursor.h"
#include "convert/converters.h"

#include <string.h>

/* Whose trace a file is, by its beginning */

enum kind { NO_TRACE, BAZEL, CHROME, CLANG };

static void skip_blank(struct cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static bool has_text(const struct convert_file *file, const char *text)
{
	return memmem(file->head, file->len, text, strlen(text));
}

/* Only clang's traces have these phases of the compiler. */
static bool is_clang(const struct convert_file *file)
{
	static const char *const phases[] = {
		"\"Source\"", "\"Frontend\"", "\"ExecuteCompiler\"", "\"ParseClass\"",
		"\"ParseTemplate\"", "\"InstantiateClass\"", "\"InstantiateFunction\"",
		"\"OptFunction\"", "\"OptModule\"", "\"CodeGen Function\"", "\"beginningOfTime\"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++) {
		if (has_text(file, phases[i]))
			return true;
	}
	return false;
}

/* Does a member have this text, or one that begins with it if it ends with '*'? */
static bool has_member(const struct convert_file *file, const char *name, const char *text)
{
	size_t len = strcspn(text, "*");
	struct cursor c;

	for (cursor_init(&c, file->head, file->len); c.p < c.end;) {
		const char *at = memmem(c.p, (size_t)(c.end - c.p), name, strlen(name));

		if (!at)
			return false;
		c.p = at + strlen(name);
		skip_blank(&c);
		if (!cursor_byte(&c, ':'))
			continue;
		skip_blank(&c);
		if (cursor_byte(&c, '"') && (size_t)(c.end - c.p) > len &&
		    !memcmp(c.p, text, len) && (text[len] == '*' || c.p[len] == '"'))
			return true;
	}
	return false;
}

/*
 * Bazel before 6.0 (2022) did not write its version. Its profile has events of categories that no
 * other program has, and either the number of the build or threads of Bazel.
 */
static bool is_bazel(const struct convert_file *file)
{
	static const char *const categories[] = {
		"build phase marker", "action processing", "critical path component",
		"skyframe evaluator", "complete action execution",
	};
	static const char *const threads[] = {
		"Critical Path", "skyframe evaluator*", "skyframe-evaluator*", "grpc-command*",
	};
	bool its_event = false, its_thread = false;

	for (size_t i = 0; i < ARRAY_SIZE(categories); i++)
		its_event |= has_member(file, "\"cat\"", categories[i]);
	if (!its_event)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		its_thread |= has_member(file, "\"name\"", threads[i]);
	return (its_thread && has_member(file, "\"name\"", "thread_name")) ||
	       (has_text(file, "\"otherData\"") && has_member(file, "\"build_id\"", "*") &&
		has_member(file, "\"output_base\"", "*"));
}

/* A trace is an object that has a list of events, or such a list. */
static enum kind kind_of(const struct convert_file *file)
{
	struct cursor c;
	bool list;

	cursor_init(&c, file->head, file->len);
	cursor_literal(&c, "\xef\xbb\xbf");
	skip_blank(&c);
	list = cursor_byte(&c, '[');
	if (file->is_dir || (!list && !cursor_byte(&c, '{')))
		return NO_TRACE;
	skip_blank(&c);
	if (list)
		return cursor_byte(&c, '{') && has_text(file, "\"ph\"") ? CHROME : NO_TRACE;
	if (has_text(file, "\"otherData\"") && has_text(file, "\"bazel_version\""))
		return BAZEL;
	if (!has_text(file, "\"traceEvents\""))
		return NO_TRACE;
	if (is_bazel(file))
		return BAZEL;
	return cursor_literal(&c, "\"traceEvents\"") && is_clang(file) ? CLANG : CHROME;
}

bool trace_is_bazel(const struct convert_file *file)
{
	return kind_of(file) == BAZEL;
}

bool trace_is_chrome(const struct convert_file *file)
{
	return kind_of(file) == CHROME;
}

bool trace_is_clang(const struct convert_file *file)
{
	return kind_of(file) == CLANG;
}
