/* SPDX-License-Identifier: MIT */
#include "analyse/output_nearby.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int find_silent(struct output_nearbies *all, const struct output_tasks *t,
		       const struct recording *rec)
{
	for (uint32_t i = 0; i < rec->n_tasks && all->n < NEARBY_TASKS; i++) {
		struct output_nearby *of;

		if (!task_has_failed(&rec->task[i]) || rec->task[i].hosts || t->said[i] ||
		    t->whole[i])
			continue;
		of = array_add(&all->of, &all->n, sizeof *of);
		if (!of)
			return -ENOMEM;
		*of = (struct output_nearby){ .task = i };
	}
	return 0;
}

static int keep_line(struct output_nearby *of, const struct output_line *line)
{
	struct output_nearby_line *to = &of->line[NEARBY_LINES - 1], first;

	if (of->n < NEARBY_LINES) {
		to = &of->line[of->n++];
	} else {
		first = of->line[0];
		memmove(of->line, of->line + 1, (NEARBY_LINES - 1) * sizeof *of->line);
		*to = first;
	}
	to->number = line->number;
	buf_clear(&to->text);
	buf_add(&to->text, line->text.p, line->text.len);
	return buf_error(&to->text);
}

static int add_line(struct output_nearbies *all, const struct output_line *line,
		    const struct recording *rec)
{
	int r = 0;

	for (size_t i = 0; i < all->n && !r; i++) {
		const struct task *t = &rec->task[all->of[i].task];
		int64_t end_us = recording_task_end_us(rec, t);

		if (line->from_us <= end_us && line->to_us >= MAX(t->start_us, end_us - NEARBY_US))
			r = keep_line(&all->of[i], line);
	}
	return r;
}

int output_nearby_find(struct output_nearbies *all, struct output *o, const struct output_tasks *t,
		       const struct recording *rec)
{
	struct output_line line;
	size_t at = 0;
	int r;

	*all = (struct output_nearbies){ 0 };
	r = find_silent(all, t, rec);
	if (r || !all->n)
		return r;
	while ((r = output_next(o, &line, true)) > 0) {
		if (!line.begins || line.from_us < 0 || output_task_of(t, line.number, &at) != NO_INDEX ||
		    output_is_of_tool(line.text))
			continue;
		r = add_line(all, &line, rec);
		if (r)
			break;
	}
	output_rewind(o);
	return r;
}

void output_nearby_release(struct output_nearbies *all)
{
	for (size_t i = 0; i < all->n; i++) {
		for (size_t k = 0; k < NEARBY_LINES; k++)
			buf_release(&all->of[i].line[k].text);
	}
	free(all->of);
	*all = (struct output_nearbies){ 0 };
}

bool output_nearby_has(const struct output_nearby *of, uint64_t line)
{
	for (size_t i = 0; i < of->n; i++) {
		if (of->line[i].number == line)
			return true;
	}
	return false;
}

const struct output_nearby *output_nearby_of(const struct output_nearbies *all, uint32_t task)
{
	for (size_t i = 0; i < all->n; i++) {
		if (all->of[i].task == task)
			return &all->of[i];
	}
	return NULL;
}
