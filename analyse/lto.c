/* SPDX-License-Identifier: MIT */
#include "analyse/lto.h"

#include <string.h>

bool lto_is_part(const struct summary *s, uint32_t task)
{
	uint32_t parent = s->nest[task].parent;

	return parent != NO_INDEX && !strcmp(s->rec->task[parent].kind, "link") &&
	       strstr(s->rec->task[task].name, ".ltrans");
}

bool lto_is_serial(const struct summary *s, uint32_t task)
{
	static const char flag[] = " -flto";
	const struct task *t = &s->rec->task[task];
	const char *found;

	if (strcmp(t->kind, "link") || t->hosts || strstr(t->program, "clang") ||
	    (!strstr(t->program, "cc") && !strstr(t->program, "++")))
		return false;
	found = strstr(recording_command(s->rec, t), flag);
	return found && (found[strlen(flag)] == ' ' || !found[strlen(flag)]);
}
