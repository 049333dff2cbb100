/* SPDX-License-Identifier: MIT */
#include "base/field.h"
#include "base/texts.h"
#include "recording/event.h"
#include "recording/recording.h"

#include <string.h>

#define FIELDS_BEFORE 5		/* pid, slot, kind, name, key */

/* The field of the line that started the task; the file may be another by now. */
static bool find_command(const struct task *t, struct slice line, struct slice *command)
{
	struct event e;

	if (event_parse(line, &e) != EVENT_PARSED || e.kind != EVENT_START || e.seq != t->seq)
		return false;
	for (int i = 0; i < FIELDS_BEFORE; i++)
		event_field(&e);
	*command = event_field(&e);
	return true;
}

const char *recording_command(const struct recording *rec, const struct task *t)
{
	struct slice line, command;
	struct buf *b;

	if (t->command & TEXT_BARE)
		return texts_bare(rec->texts, t->command);
	if (!t->command || !texts_line(rec->texts, t->command, &line) ||
	    !find_command(t, line, &command))
		return "";
	b = &rec->texts->decoded;
	buf_clear(b);
	buf_add(b, command.p, command.len);
	if (buf_error(b))
		rec->texts->error = buf_error(b);
	if (buf_error(b) || !b->len)
		return "";
	buf_cut(b, field_decode(b->data, b->len, NULL));
	return b->data;
}

int recording_command_error(const struct recording *rec)
{
	return rec->texts ? rec->texts->error : 0;
}
