/* SPDX-License-Identifier: MIT */
#include "recording/follow.h"

#include "base/field.h"
#include "command/build_tool.h"
#include "command/command_name.h"
#include "command/kind.h"

#include <string.h>

/* Kinds are few: one text for each. */

/* The unescaped text, valid until the next call. */
static struct slice scratch_text(struct follow *f, struct slice field)
{
	struct buf *b = &f->scratch;

	if (!memchr(field.p, '\\', field.len))
		return field;
	buf_clear(b);
	buf_add(b, field.p, field.len);
	if (buf_error(b)) {
		f->no_memory = true;
		return (struct slice){ "", 0 };
	}
	return (struct slice){ b->data, field_decode(b->data, b->len, NULL) };
}

static const char *common_text(struct follow *f, struct slice text)
{
	uint32_t at;

	f->kinds.arena = f->rec->arena;
	if (name_table_add(&f->kinds, text, &at)) {
		f->no_memory = true;
		return "";
	}
	return f->kinds.name[at].p;
}

const char *follow_common(struct follow *f, struct slice field)
{
	struct slice text;

	if (!field.len)
		return "";
	text = scratch_text(f, field);
	text.len = strnlen(text.p, text.len);
	return text.len ? common_text(f, text) : "";
}

/* Programs and kinds: most are like those of the command before. */

static const char *program_text(struct follow *f, struct slice program)
{
	if (!program.len)
		return "";
	if (program.len != f->last_program_len ||
	    memcmp(program.p, f->last_program, program.len)) {
		f->last_program = common_text(f, program);
		f->last_program_len = program.len;
	}
	return f->last_program;
}

/* Is every backslash one that stands for itself? */
static bool is_plain(struct slice field)
{
	const char *p = field.p, *end = field.p + field.len;

	while ((p = memchr(p, '\\', (size_t)(end - p)))) {
		if (p + 1 == end || p[1] != '\\')
			return false;
		p += 2;
	}
	return true;
}

static void keep_compiler(struct follow *f, struct slice command, const char *program)
{
	struct slice word = kind_compiler(command);

	if (word.len > sizeof f->compiler || !kind_compiles(command, word))
		word.len = 0;
	memcpy(f->compiler, word.p, word.len);
	f->compiler_len = word.len;
	f->compiler_kind = f->last_kind_text;
	f->compiler_program = program;
}

const char *follow_kind_of_command(struct follow *f, struct slice field, const char **program)
{
	struct slice command, name;
	const char *kind;

	if (kind_compiles(field, (struct slice){ f->compiler, f->compiler_len }) &&
	    is_plain(field)) {
		*program = f->compiler_program;
		return f->compiler_kind;
	}
	command = scratch_text(f, field);
	kind = kind_and_program(command.p, command.len, &name);
	*program = program_text(f, name);
	if (kind != f->last_kind) {
		f->last_kind = kind;
		f->last_kind_text = common_text(f, slice_of(kind));
	}
	keep_compiler(f, command, *program);
	return f->last_kind_text;
}

void follow_name_by_command(struct follow *f, struct task *t, const char *command, size_t len)
{
	struct buf *b = &f->scratch;
	const char *name = "";

	buf_clear(b);
	command_name_add(b, command, len);
	if (!b->len && !buf_error(b))
		return;
	if (!buf_error(b))
		name = f->forgets ? strdup(buf_str(b)) : arena_text(f->rec->arena, b->data, b->len);
	if (!name || !*name) {
		f->no_memory = true;
		return;
	}
	t->name = name;
	t->nameless = true;
}

/*
 * Without a close line, which has the number of tasks, the highest number counts if only one
 * thread writes: the plugin in make, the preload in ninja. Hosts of the C interface can choose
 * any numbers.
 */
bool follow_has_all_numbers(const struct instance *i)
{
	return i->level >= 0 || (!*i->version && i->pid >= 0 && build_tool_of(i->tool)->one_thread);
}
