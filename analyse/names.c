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

void name_add_signal(struct buf *b, int signal)
{
	const char *name = sigabbrev_np(signal);

	if (name)
		buf_addf(b, "SIG%s", name);
	else
		buf_addf(b, "signal %d", signal);
}

void name_add_end(struct buf *b, const struct task *t)
{
	switch (t->state) {
	case TASK_QUEUED:
		buf_adds(b, "never started");
		return;
	case TASK_RUNNING:
		buf_adds(b, "unfinished");
		return;
	case TASK_KILLED:
		name_add_signal(b, t->status);
		return;
	default:
		break;
	}
	if (t->status < 0)
		buf_adds(b, t->state == TASK_FAILED ? "failed" : "done");
	else
		buf_addf(b, "exit status %d", t->status);
}

void name_add_result(struct buf *b, enum build_result result, int status)
{
	switch (result) {
	case BUILD_OK:
		buf_adds(b, "ok");
		break;
	case BUILD_FAILED:
		buf_addf(b, "failed with exit status %d", status);
		break;
	case BUILD_KILLED:
		buf_adds(b, "killed by ");
		name_add_signal(b, status);
		break;
	case BUILD_ENDED:
		buf_adds(b, "ended");
		break;
	case BUILD_OPEN:
		buf_adds(b, "no end recorded: killed or still running");
		break;
	}
}
