/* SPDX-License-Identifier: MIT */
#include "analyse/output_excerpt.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void output_excerpt_text(struct buf *out, struct slice s)
{
	struct buf text = BUF_PART_OF(out);

	s = output_plain(&text, s);
	for (size_t i = 0; i < s.len && i < EXCERPT_WIDTH; i++)
		buf_addc(out, s.p[i] && s.p[i] != '\n' ? s.p[i] : ' ');
	buf_addc(out, '\n');
	buf_release(&text);
}

static int add_line(struct output_excerpt *x, uint32_t task, struct slice text)
{
	uint32_t *added = array_add(&x->task, &x->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = task;
	output_excerpt_text(&x->text, text);
	return buf_error(&x->text);
}

static bool has_room(const struct output_excerpt *x, const struct task *t)
{
	return x->text.len < EXCERPT_MAX * (task_has_failed(t) ? 2 : 1);
}

/* One more line of a task that wrote n. */
static int add_excerpt_line(struct output_excerpt *x, const struct output_line *line, uint32_t task,
			    uint64_t seen, uint64_t n)
{
	const uint64_t last = n > EXCERPT_LINES ? n - EXCERPT_LINES : 0;
	int r = 0;

	if (seen == EXCERPT_LINES && seen < last)
		r = add_line(x, task, slice_of("..."));
	if (!r && (seen < EXCERPT_LINES || seen >= last))
		r = add_line(x, task, line->text);
	return r;
}

int output_excerpt_make(struct output_excerpt *x, struct output *o, const struct output_tasks *t,
			const struct recording *rec)
{
	uint32_t *seen = array_new_zero(rec->n_tasks, sizeof *seen);
	struct output_line line;
	size_t at = 0;
	int r = seen ? 0 : -ENOMEM;

	*x = (struct output_excerpt){ 0 };
	while (!r && (r = output_next(o, &line, true)) > 0) {
		uint32_t task = output_task_of(t, line.number, &at);

		r = 0;
		if (task == NO_INDEX || !line.begins || !has_room(x, &rec->task[task]))
			continue;
		r = add_excerpt_line(x, &line, task, seen[task]++, t->lines[task]);
	}
	output_rewind(o);
	free(seen);
	return r;
}

void output_excerpt_release(struct output_excerpt *x)
{
	free(x->task);
	buf_release(&x->text);
}
