/* SPDX-License-Identifier: MIT */
#include "analyse/names.h"

#include "command/command_name.h"

#include <string.h>

const char *name_relative(const struct recording *rec, const char *path)
{
	const char *cwd;
	size_t n;

	if (*path != '/')
		return path;
	cwd = recording_build(rec, "cwd");
	n = cwd ? strlen(cwd) : 0;
	if (n < 2 || strncmp(path, cwd, n))
		return path;
	if (!path[n])
		return ".";
	return path[n] == '/' && path[n + 1] ? path + n + 1 : path;
}

const char *name_place(const struct recording *rec, const struct task *t)
{
	const struct instance *i = &rec->instance[t->instance];
	const char *dir;

	if (*t->key && i->tool && !strcmp(i->tool, "bitbake"))
		return t->key;
	if (!i->cwd || !recording_build(rec, "cwd"))
		return "";
	dir = name_relative(rec, i->cwd);
	return strcmp(dir, ".") ? dir : "";
}

void name_add_task(struct buf *b, const struct recording *rec, const struct task *t)
{
	const char *place = name_place(rec, t);
	const char *command;
	size_t before;

	if (*place) {
		buf_adds(b, place);
		buf_adds(b, ": ");
	}
	before = b->len;
	if (*t->name) {
		buf_adds(b, name_relative(rec, t->name));
	} else {
		/* as the reader calls it where it reads more than sums */
		command = recording_command(rec, t);
		command_name_add(b, command, strlen(command));
	}
	if (b->len == before)
		buf_addc(b, '?');
}
