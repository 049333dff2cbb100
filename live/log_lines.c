/* SPDX-License-Identifier: MIT */
#include "live/log_lines.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "report/log_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_LINES 500		/* from one place to the next */

/* The places up to this line. */
static size_t n_places_to(const struct log_lines *l, uint64_t line)
{
	struct search_range s = search_all(l->n_places);

	while (search_next(&s))
		search_past(&s, l->place[s.at].line <= line);
	return s.at;
}

static void go_to_place(struct log_lines *l, uint64_t line)
{
	size_t n = n_places_to(l, line);

	if (n)
		output_go(l->output, &l->place[n - 1]);
	else
		output_rewind(l->output);
}

static int add_place(struct log_lines *l)
{
	uint64_t last = l->n_places ? l->place[l->n_places - 1].line : 0;
	struct output_place place, *added;

	if (!output_place(l->output, &place) || (l->n_places && place.line < last + PLACE_LINES))
		return 0;
	added = array_add(&l->place, &l->n_places, sizeof *l->place);
	if (!added)
		return -ENOMEM;
	*added = place;
	return 0;
}

int log_lines_update(struct log_lines *l, bool complete)
{
	struct output_line line;
	int r = 0;

	if (!l->output || l->complete)
		return 0;
	go_to_place(l, UINT64_MAX);
	if (!l->n_places)
		r = add_place(l);
	while (!r && (r = output_next(l->output, &line, true)) > 0) {
		l->n = MAX(l->n, line.number + 1);
		/* what was not ended by a newline may go on */
		r = line.newline ? add_place(l) : 0;
	}
	l->complete = complete && !r;
	return r;
}

void log_lines_go(struct log_lines *l, uint64_t next, uint64_t line)
{
	size_t n = n_places_to(l, line);

	if (next > line || (n && l->place[n - 1].line > next))
		go_to_place(l, line);
}

/* Selections */

static void forget_selection(struct log_lines *l)
{
	free_all(l->selection.text, l->selection.range);
	l->selection = (struct log_selection){ 0 };
	l->selected = false;
}

void log_lines_release(struct log_lines *l)
{
	forget_selection(l);
	free(l->place);
	buf_release(&l->text);
	*l = (struct log_lines){ 0 };
}

static int add_range(struct log_selection *s, uint64_t line, uint64_t n)
{
	struct log_range *last = s->n_ranges ? &s->range[s->n_ranges - 1] : NULL;

	if (!n)
		return 0;
	if (last && last->line + last->n == line) {
		last->n += n;
	} else {
		last = array_add(&s->range, &s->n_ranges, sizeof *s->range);
		if (!last)
			return -ENOMEM;
		*last = (struct log_range){ line, n, s->n };
	}
	s->n += n;
	return 0;
}

/* Lines of no known task, and those that came since tasks were looked for. */
static int add_ranges_of(struct log_lines *l, const struct output_tasks *t, uint32_t task)
{
	int r = 0;

	for (size_t i = 0; !r && i < t->n_runs; i++) {
		uint64_t until = i + 1 < t->n_runs ? t->run[i + 1].first_line : t->n_lines;

		if (t->run[i].task == task)
			r = add_range(&l->selection, t->run[i].first_line, until - t->run[i].first_line);
	}
	if (!r && task == NO_INDEX && l->n > t->n_lines)
		r = add_range(&l->selection, t->n_lines, l->n - t->n_lines);
	return r;
}

/* Most lines are shown as they are. */
static bool is_plain(struct slice line)
{
	for (size_t i = 0; i < line.len; i++) {
		if (line.p[i] < ' ' || line.p[i] > '~')
			return false;
	}
	return true;
}

static bool has_text(struct log_lines *l, struct slice line)
{
	buf_clear(&l->text);
	if (is_plain(line))
		buf_add(&l->text, line.p, line.len);
	else
		log_add_text(&l->text, line, LOG_PLAIN);
	return strcasestr(buf_str(&l->text), l->selection.text);
}

static int add_ranges_with(struct log_lines *l, const struct output_tasks *t)
{
	struct log_selection *s = &l->selection;
	struct output_line line;
	size_t at = 0;
	int r;

	if (s->looked_at >= l->n)
		return 0;
	go_to_place(l, s->looked_at);
	while ((r = output_next(l->output, &line, true)) > 0) {
		if (!line.begins || line.number < s->looked_at || line.number >= l->n)
			continue;
		if (s->of_task && (line.number < t->n_lines ? output_task_of(t, line.number, &at) : NO_INDEX) != s->task)
			continue;
		r = has_text(l, line.text) ? add_range(s, line.number, 1) : 0;
		if (r)
			return r;
	}
	s->looked_at = l->n;
	return r ? r : buf_error(&l->text);
}

static bool is_selected(const struct log_lines *l, bool of_task, uint32_t task, const char *text)
{
	const struct log_selection *s = &l->selection;

	if (!l->selected || s->of_task != of_task || (of_task && s->task != task))
		return false;
	return text ? s->text && !strcmp(s->text, text) : !s->text;
}

int log_lines_select(struct log_lines *l, const struct output_tasks *tasks, bool of_task, uint32_t task,
		     const char *text)
{
	int r;

	/* those with a text are looked for in what was written since */
	if (!text || !is_selected(l, of_task, task, text)) {
		forget_selection(l);
		l->selection.task = task;
		l->selection.of_task = of_task;
		l->selection.text = text ? strdup(text) : NULL;
		if (text && !l->selection.text)
			return -ENOMEM;
	}
	if (text)
		r = l->output ? add_ranges_with(l, tasks) : 0;
	else if (of_task)
		r = add_ranges_of(l, tasks, task);
	else
		r = add_range(&l->selection, 0, l->n);
	l->selected = !r;
	return r;
}

size_t log_lines_find(const struct log_lines *l, uint64_t at)
{
	const struct log_selection *s = &l->selection;
	struct search_range search = search_all(s->n_ranges);

	while (search_next(&search))
		search_past(&search, s->range[search.at].before + s->range[search.at].n <= at);
	return search.at;
}
