/* SPDX-License-Identifier: MIT */
#include "analyse/output.h"

#include "analyse/output_bitbake.h"
#include "analyse/output_evidence.h"
#include "analyse/output_marks.h"
#include "analyse/output_says.h"
#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More failed tasks with one name are not compared. */
#define FAILED_MAX 1000

/* What a task may have written: lines from a number on, in a time. */
struct span_of {
	int64_t begin_us, end_us;
	uint64_t min_line;
	uint32_t task;
	uint32_t pipe;		/* only lines in this pipe, see output_pipes.h */
	bool within;		/* it is known only if the line was written entirely in this time */
	bool apart;		/* another build tool's, of which no line is known here */
};

struct sweep {
	const struct recording *rec;
	struct output_marks marks;
	struct output_pipes *pipes;
	struct output_bitbake bitbake;
	uint32_t *failed;	/* tasks of makes that failed, by name */
	size_t n_failed;
	struct output_tasks *result;
	/* of one stream */
	bool errors;		/* standard error */
	bool both;		/* or both */
	uint32_t pipe;		/* of the line */
	uint64_t last_number;	/* of the line before in this pipe, UINT64_MAX: of another one */
	uint32_t last_pipe;
	/* those that may have written, by their begin */
	struct span_of *span;
	size_t n_spans, at;
	struct span_of *active;
	size_t n_active;
	size_t mark;		/* the next */
	int64_t from_us, to_us;	/* of the line before */
	int64_t after_us;	/* by the last mark */
	bool known;		/* the next two are those of the time and the pipe of the line before */
	uint32_t known_pipe;
	size_t n_others, n_apart;
	const struct span_of *other;
	struct output_evidence evidence;
	bool compared;		/* it has the tasks of this time */
	bool before;		/* the line before is of the same task */
	uint32_t block;		/* whose output follows, NO_INDEX */
	int64_t block_end_us;
	uint32_t block_pipe;
	uint64_t mark_until;	/* lines of the mark itself */
	uint32_t mark_task, mark_pipe;
	bool report;		/* the line is make's, about a failed task */
};

/* Failed tasks, by the line in which make names one: "make: *** [Makefile:5: a.o] Error 1",
 * "make: *** [Makefile:5: a.o] Segmentation fault (core dumped)" */

static int name_order(const void *a, const void *b, void *context)
{
	const struct recording *rec = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int r = strcmp(rec->task[x].name, rec->task[y].name);

	return r ? r : array_order(x, y);
}

static int find_failed(struct sweep *s)
{
	const struct recording *rec = s->rec;

	s->failed = array_new_zero(rec->n_tasks, sizeof *s->failed);
	if (!s->failed)
		return -ENOMEM;
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (task_has_failed(t) && output_is(&rec->instance[t->instance], BUILD_TOOL_COMMANDS))
			s->failed[s->n_failed++] = i;
	}
	qsort_r(s->failed, s->n_failed, sizeof *s->failed, name_order, (void *)(uintptr_t)rec);
	return 0;
}

static int order_of_name(struct slice name, const char *of)
{
	size_t len = strlen(of);
	int r = memcmp(name.p, of, MIN(name.len, len));

	return r ? r : array_order(name.len, len);
}

/* The first failed task that is not before the name. */
static size_t first_failed(const struct sweep *s, struct slice name)
{
	struct search_range search = search_all(s->n_failed);

	while (search_next(&search))
		search_past(&search, order_of_name(name, s->rec->task[s->failed[search.at]].name) > 0);
	return search.at;
}

/* The place, name and end of a task that make reports: "*** [Makefile:5: a.o] Error 1". */
static bool read_report(struct slice text, struct slice *name, struct slice *how)
{
	const char *begin, *end = NULL, *next, *colon;
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	cursor_literal(&c, "*** ");
	if (!cursor_byte(&c, '['))
		return false;
	begin = c.p;
	/* a name can have the same text, how it ended cannot */
	while ((next = memmem(c.p, (size_t)(c.end - c.p), "] ", 2))) {
		end = next;
		c.p = next + 2;
	}
	if (!end)
		return false;
	colon = memmem(begin, (size_t)(end - begin), ": ", 2);
	begin = colon ? colon + 2 : begin;
	*name = (struct slice){ begin, (size_t)(end - begin) };
	*how = (struct slice){ c.p, (size_t)(c.end - c.p) };
	return true;
}

/* Does make say of this task that it ended so? "Error 1 (ignored)", "Aborted (core dumped)" */
static bool ended_so(const struct task *t, struct slice how)
{
	uint64_t status;
	struct cursor c;

	cursor_init(&c, how.p, how.len);
	if (t->state == TASK_KILLED)
		return cursor_literal(&c, strsignal(t->status));
	return cursor_literal(&c, "Error ") && cursor_u64(&c, &status) && status == (uint64_t)t->status;
}

/* The only failed task with the name, status and level that make prints, or NO_INDEX. */
static uint32_t failed_task(const struct sweep *s, const struct output_line *line,
			    struct slice text, uint64_t level)
{
	const struct recording *rec = s->rec;
	bool own = output_pipes_is_own(s->pipes, s->pipe);
	uint32_t found = NO_INDEX;
	struct slice name, how;

	if (!read_report(text, &name, &how))
		return NO_INDEX;
	for (size_t i = first_failed(s, name), n = 0; i < s->n_failed && n < FAILED_MAX; i++, n++) {
		const struct task *t = &rec->task[s->failed[i]];
		int32_t host = rec->instance[t->instance].level;

		if (order_of_name(name, t->name))
			break;
		if (!ended_so(t, how) || (host >= 0 && (uint64_t)host != level) ||
		    (own ? t->instance != rec->task[s->pipe].instance :
			   s->pipes->outer[s->errors][t->instance] != s->pipe) ||
		    (line->to_us >= 0 && t->end_us > line->to_us))
			continue;
		if (found != NO_INDEX)
			return NO_INDEX;
		found = s->failed[i];
	}
	return found;
}

/* Which tasks may write when */

static int add_span(struct sweep *s, const struct span_of *of)
{
	struct span_of *span;

	if (of->begin_us > of->end_us)
		return 0;
	span = array_add(&s->span, &s->n_spans, sizeof *s->span);
	if (!span)
		return -ENOMEM;
	*span = *of;
	return 0;
}

/* The time in which a task hosts build tools, which write themselves. */
static int find_hosting(struct output_window *hosting, const struct recording *rec)
{
	for (uint32_t i = 0; i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];
		int64_t close_us = in->close_us < 0 ? rec->last_us : in->close_us;
		struct output_window *w;

		if (in->parent_task == NO_INDEX || in->only_spans)
			continue;
		w = &hosting[in->parent_task];
		/* the task is the build tool */
		if (in->pid > 0 && in->pid == rec->task[in->parent_task].pid) {
			*w = (struct output_window){ 0, INT64_MAX };
			continue;
		}
		if (!w->end_us || in->open_us < w->begin_us)
			w->begin_us = in->open_us;
		if (close_us > w->end_us)
			w->end_us = close_us;
	}
	return 0;
}

static int add_direct(struct sweep *s, struct span_of span, const struct output_window *hosting)
{
	const struct task *t = &s->rec->task[span.task];
	int r = 0;

	span.begin_us = t->start_us;
	span.end_us = recording_task_end_us(s->rec, t);
	/* in a pipe of its own there is nothing of other tasks, and what its build tools print is its own */
	if (t->hosts && hosting->end_us && (span.pipe != span.task || s->pipes->shared[s->errors][span.task])) {
		struct span_of before = span;

		before.end_us = hosting->begin_us;
		r = add_span(s, &before);
		span.begin_us = hosting->end_us;
	}
	return r ? r : add_span(s, &span);
}

static int add_task(struct sweep *s, uint32_t i, const struct output_mark *mark,
		    const struct output_window *hosting, bool errors_only)
{
	const struct recording *rec = s->rec;
	const struct task *t = &rec->task[i];
	const struct instance *in = &rec->instance[t->instance];
	const struct output_marks *m = &s->marks;
	bool known = mark && !errors_only;
	uint8_t piped = s->pipes->piped[i];
	uint32_t pipe = output_pipes_of_task(s->pipes, i, errors_only);

	if (t->start_us < 0 || m->buried[t->instance])
		return 0;
	/* nothing of it is anywhere else, but its standard error may come here in another way */
	if (pipe == i && !s->pipes->hosts[i]) {
		if (!s->both || piped == 6)
			return 0;
		pipe = s->pipes->outer[errors_only][t->instance];
	}
	if (in->tool && !strcmp(in->tool, "buildbeat task"))
		return add_direct(s, (struct span_of){ .task = i, .pipe = pipe, .within = true }, hosting);
	if (output_is(in, BUILD_TOOL_SILENT))
		return add_direct(s, (struct span_of){ .task = i, .pipe = pipe, .apart = true }, hosting);
	if (!output_is(in, BUILD_TOOL_COMMANDS))
		return 0;
	if (!m->collected[i])
		return add_direct(s, (struct span_of){ .task = i, .pipe = pipe,
						       .min_line = known ? mark->line : 0 }, hosting);
	/* what follows its command is known; see pass_marks() */
	return known || t->end_us < 0 ? 0 :
		add_span(s, &(struct span_of){ m->synced[i].begin_us, m->synced[i].end_us, .task = i,
						.pipe = pipe });
}

/* Build tools that print the output of their tasks later. */
static int add_apart(struct sweep *s, bool errors_only)
{
	const struct recording *rec = s->rec;
	int r = 0;

	for (uint32_t i = 0; i < rec->n_instances && !r; i++) {
		const struct instance *in = &rec->instance[i];

		if (!s->marks.buried[i] && (output_is(in, BUILD_TOOL_STATUS) ||
					    output_is(in, BUILD_TOOL_RECIPES)))
			r = add_span(s, &(struct span_of){
				.begin_us = in->open_us, .task = NO_INDEX, .apart = true,
				.pipe = s->pipes->outer[errors_only][i],
				.end_us = in->close_us < 0 ? rec->last_us : in->close_us });
	}
	return r;
}

static int begin_order(const void *a, const void *b)
{
	const struct span_of *x = a, *y = b;

	return array_order(x->begin_us, y->begin_us);
}

/* errors_only: the stream has no commands. */
static int find_spans(struct sweep *s, bool errors_only)
{
	const struct recording *rec = s->rec;
	const struct output_mark **mark = array_new_zero(rec->n_tasks, sizeof *mark);
	struct output_window *hosting = array_new_zero(rec->n_tasks, sizeof *hosting);
	int r = mark && hosting ? find_hosting(hosting, rec) : -ENOMEM;

	s->n_spans = s->at = s->n_active = s->mark = 0;
	s->block = s->mark_task = NO_INDEX;
	s->last_number = UINT64_MAX;
	s->mark_until = 0;
	s->after_us = 0;
	s->known = false;
	free(s->span);
	s->span = NULL;
	if (r)
		goto out;
	for (size_t i = 0; i < s->marks.n; i++) {
		const struct output_mark *k = &s->marks.mark[i];

		if (!k->ninja && k->task != NO_INDEX)
			mark[k->task] = k;
	}
	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		r = add_task(s, i, mark[i], &hosting[i], errors_only);
		if (r)
			goto out;
	}
	r = add_apart(s, errors_only);
	if (s->n_spans)
		qsort(s->span, s->n_spans, sizeof *s->span, begin_order);
out:
	free(s->active);
	s->active = array_new_zero(s->n_spans, sizeof *s->active);
	free_all(mark, hosting);
	return s->active ? r : -ENOMEM;
}

/* The lines of one stream in order */

/* The time of a line, between those of the marks around it. */
static void find_time(const struct sweep *s, const struct output_line *line, int64_t *from_us,
		      int64_t *to_us)
{
	const struct output_marks *m = &s->marks;

	*from_us = MAX(line->from_us, s->after_us);
	*to_us = line->to_us;
	if (s->mark < m->n && m->mark[s->mark].before_us < *to_us)
		*to_us = m->mark[s->mark].before_us;
	if (*from_us <= *to_us)
		return;
	*from_us = line->from_us;
	*to_us = line->to_us;
}

static bool is_within(const struct sweep *s, const struct span_of *span)
{
	return !span->within || (s->from_us >= span->begin_us && s->to_us <= span->end_us);
}

static void look_at_time(struct sweep *s, const struct output_line *line)
{
	int64_t from_us, to_us;
	size_t n = 0, n_before;

	find_time(s, line, &from_us, &to_us);
	if (s->known && s->known_pipe == s->pipe && s->from_us == from_us && s->to_us == to_us)
		return;
	s->compared &= s->known_pipe == s->pipe;
	s->known_pipe = s->pipe;
	s->from_us = from_us;
	s->to_us = to_us;
	n_before = s->n_active;
	for (; s->at < s->n_spans && s->span[s->at].begin_us <= to_us; s->at++)
		s->active[s->n_active++] = s->span[s->at];
	for (size_t i = 0; i < s->n_active; i++) {
		if (s->active[i].end_us >= from_us)
			s->active[n++] = s->active[i];
	}
	/* as many as before: the same, or as many others */
	s->compared &= s->known && n == s->n_active && n == n_before;
	s->n_active = n;
	s->n_others = s->n_apart = 0;
	s->other = NULL;
	s->known = true;
	for (size_t i = 0; i < n; i++) {
		if (s->active[i].pipe != s->pipe)
			continue;
		if (s->active[i].apart)
			s->n_apart++;
		else if (s->active[i].min_line > line->number)
			s->known = false;	/* again with the next line */
		/* one that hosts a build tool may be there twice, before and after */
		else if ((!s->other || s->other->task != s->active[i].task) && !s->n_others++)
			s->other = &s->active[i];
	}
	s->compared &= s->known;
}

static bool has_task(const uint32_t *list, size_t n, uint32_t task)
{
	while (n && list[n - 1] != task)
		n--;
	return n;
}

/* Of several tasks that can have written it. */
static uint32_t task_by_evidence(struct sweep *s, const struct output_line *line)
{
	uint32_t task[EVIDENCE_CANDIDATES + 1], found;
	size_t n = 0;

	if (s->n_apart || s->n_others > EVIDENCE_CANDIDATES)
		return NO_INDEX;
	for (size_t i = 0; i < s->n_active && !s->compared; i++) {
		/* one that hosts a build tool may be there twice, before and after */
		if (s->active[i].min_line <= line->number && s->active[i].pipe == s->pipe &&
		    !(s->rec->task[s->active[i].task].hosts && has_task(task, n, s->active[i].task)))
			task[n++] = s->active[i].task;
	}
	if (!s->compared)
		output_evidence_candidates(&s->evidence, task, n);
	s->compared = s->known;
	found = output_evidence_task(&s->evidence, line, &s->before);
	for (size_t i = 0; i < s->n_active && found != NO_INDEX; i++) {
		if (s->active[i].task == found && !is_within(s, &s->active[i])) {
			s->before = false;
			return NO_INDEX;
		}
	}
	return found;
}

/* A mark begins: the lines of it, and of what follows. */
static void pass_marks(struct sweep *s, const struct output_line *line)
{
	const struct output_marks *m = &s->marks;

	for (; s->mark < m->n && m->mark[s->mark].line <= line->number; s->mark++) {
		const struct output_mark *k = &m->mark[s->mark];

		s->after_us = k->after_us;
		if (k->line != line->number)
			continue;
		s->mark_pipe = k->pipe;
		s->mark_task = k->mixed ? NO_INDEX : k->task;
		s->mark_until = k->line + k->n_lines;
		/* what follows in a pipe of its own is known */
		if (output_pipes_is_own(s->pipes, k->pipe))
			continue;
		s->block_pipe = k->pipe;
		s->block = k->task != NO_INDEX && (k->ninja || m->collected[k->task]) ? k->task :
			NO_INDEX;
		s->block_end_us = k->ninja || s->block == NO_INDEX ? INT64_MAX :
			m->synced[k->task].end_us;
	}
}

static uint32_t find_task(struct sweep *s, const struct output_line *line, bool *evident)
{
	struct slice rest;
	uint64_t level;
	uint32_t task;

	pass_marks(s, line);
	if (line->number < s->mark_until && s->pipe == s->mark_pipe)
		return s->mark_task;
	task = output_bitbake_task(&s->bitbake, line);
	if (task != NO_INDEX)
		return task;
	if (output_tool_line(line->text, &rest, &level)) {
		/* the lines of a make inside are a part of the piece */
		if (s->block != NO_INDEX && s->pipe == s->block_pipe && !s->rec->task[s->block].hosts)
			s->block = NO_INDEX;
		s->report = true;
		return failed_task(s, line, rest, level);
	}
	if (line->from_us < 0)
		return NO_INDEX;
	look_at_time(s, line);
	if (s->block != NO_INDEX && s->pipe == s->block_pipe && s->from_us <= s->block_end_us)
		return s->n_others ? NO_INDEX : s->block;
	if (s->n_others > 1) {
		*evident = true;
		return task_by_evidence(s, line);
	}
	return s->n_others && is_within(s, s->other) ? s->other->task : NO_INDEX;
}

static bool is_of_mark(const struct sweep *s, const struct output_line *line)
{
	return line->number < s->mark_until && s->pipe == s->mark_pipe;
}

/* What make has collected of a task has its command and the report of its failure, too, or that of the next
 * task of the target. */
static uint32_t task_of_collected(struct sweep *s, const struct output_line *line)
{
	struct slice rest;
	uint64_t level;
	uint32_t failed;

	pass_marks(s, line);
	if (!output_tool_line(line->text, &rest, &level))
		return s->pipe;
	failed = failed_task(s, line, rest, level);
	s->report = failed != NO_INDEX;
	return s->report ? failed : s->pipe;
}

static uint32_t task_of(struct sweep *s, const struct output_line *line)
{
	bool evident = false;
	uint32_t task;

	s->before = s->report = false;
	s->pipe = output_pipes_of_line(s->pipes, line);
	if (output_pipes_is_own(s->pipes, s->pipe))
		return s->marks.collected[s->pipe] ? task_of_collected(s, line) : s->pipe;
	task = find_task(s, line, &evident);
	if (!evident)
		output_evidence_known(&s->evidence, line, is_of_mark(s, line) || s->report ? NO_INDEX : task);
	if (s->last_pipe != s->pipe || s->last_number + 1 != line->number)
		s->before = false;
	s->last_pipe = s->pipe;
	s->last_number = line->number;
	return task;
}

/* Results */

static int add_line_to_run(struct output_tasks *t, uint64_t line, uint32_t task)
{
	struct output_run *run = t->n_runs ? &t->run[t->n_runs - 1] : NULL;

	if (run && run->first_line == line) {
		t->n_runs--;	/* it was not known */
		run = t->n_runs ? run - 1 : NULL;
	}

	if (run && run->task == task)
		return 0;
	run = array_add(&t->run, &t->n_runs, sizeof *t->run);
	if (!run)
		return -ENOMEM;
	*run = (struct output_run){ line, task };
	return 0;
}

static void count_line(struct output_tasks *t, uint64_t line, uint32_t task, bool report)
{
	t->n_lines++;
	if (task == NO_INDEX)
		return;
	t->n_known++;
	if (!report && !t->lines[task]++)
		t->first[task] = line;
}

static void count_said(const struct sweep *s, const struct output_line *line, uint32_t task)
{
	if (task != NO_INDEX && !s->report && !is_of_mark(s, line) &&
	    task_has_failed(&s->rec->task[task]) && line->text.len &&
	    output_says(line->text).what != SAYS_ANNOUNCEMENT)
		s->result->said[task] = true;
}

static int find_marks(struct sweep *s, struct output *o, bool *two)
{
	struct output_line line;
	int r;

	while ((r = output_next(o, &line, true)) > 0) {
		*two |= line.stream == OUTPUT_STDERR;
		s->both |= line.stream == OUTPUT_BOTH;
		r = output_marks_add(&s->marks, &line);
		if (r)
			return r;
	}
	output_rewind(o);
	return r ? r : output_marks_resolve(&s->marks);
}

/* A line has the task of its first part. */
static int sweep(struct sweep *s, struct sweep *errors, struct output *o)
{
	const struct sweep *last = NULL;
	struct output_line line;
	int r;

	while ((r = output_next(o, &line, true)) > 0) {
		struct sweep *of = line.stream == OUTPUT_STDERR ? errors : s;
		uint32_t task;

		if (!line.begins)
			continue;
		task = task_of(of, &line);
		if (of->before && last == of && line.number) {
			s->result->n_lines--;
			count_line(s->result, line.number - 1, task, false);
			r = add_line_to_run(s->result, line.number - 1, task);
			if (r)
				return r;
		}
		last = of;
		count_line(s->result, line.number, task, of->report);
		count_said(of, &line, task);
		r = add_line_to_run(s->result, line.number, task);
		if (r)
			return r;
	}
	output_rewind(o);
	return r;
}

static void release_sweep(struct sweep *s)
{
	free_all(s->span, s->active);
	output_evidence_release(&s->evidence);
}

int output_find_tasks(struct output_tasks *t, struct output *o, const struct recording *rec)
{
	struct output_pipes pipes;
	struct sweep s = { .rec = rec, .result = t, .pipes = &pipes }, errors;
	bool two = false;
	int r;

	*t = (struct output_tasks){ 0 };
	r = output_bitbake_init(&s.bitbake, rec);
	pipes = (struct output_pipes){ 0 };
	t->lines = array_new_zero(rec->n_tasks, sizeof *t->lines);
	t->first = array_new_zero(rec->n_tasks + 1, sizeof *t->first);
	t->said = array_new_zero(rec->n_tasks, sizeof *t->said);
	t->whole = array_new_zero(rec->n_tasks, sizeof *t->whole);
	if (!r)
		r = output_pipes_init(&pipes, rec);
	if (!r)
		r = t->lines && t->first && t->said && t->whole ? output_marks_init(&s.marks, rec, &pipes) : -ENOMEM;
	for (uint32_t i = 0; !r && i < rec->n_tasks; i++)
		t->whole[i] = output_pipes_of_task(&pipes, i, false) == i && output_pipes_of_task(&pipes, i, true) == i &&
			!pipes.hosts[i];
	if (!r)
		r = find_failed(&s);
	if (!r)
		r = find_marks(&s, o, &two);
	if (!r)
		r = find_spans(&s, false);
	if (!r)
		r = output_evidence_init(&s.evidence, rec);
	errors = s;
	errors.errors = true;
	errors.span = NULL;
	errors.active = NULL;
	errors.evidence = (struct output_evidence){ 0 };
	errors.marks.n = 0;
	if (!r && two) {
		errors.marks.n = s.marks.n;
		r = find_spans(&errors, true);
		errors.marks.n = 0;
		if (!r)
			r = output_evidence_init(&errors.evidence, rec);
	}
	if (!r)
		r = sweep(&s, &errors, o);
	release_sweep(&s);
	release_sweep(&errors);
	output_marks_release(&s.marks);
	output_bitbake_release(&s.bitbake);
	output_pipes_release(&pipes);
	free(s.failed);
	return r;
}

void output_tasks_release(struct output_tasks *t)
{
	free_all(t->run, t->lines, t->first, t->said, t->whole);
	*t = (struct output_tasks){ 0 };
}

uint32_t output_task_of(const struct output_tasks *t, uint64_t line, size_t *at)
{
	if (*at >= t->n_runs || t->run[*at].first_line > line)
		*at = 0;
	while (*at + 1 < t->n_runs && t->run[*at + 1].first_line <= line)
		++*at;
	return t->n_runs && t->run[*at].first_line <= line ? t->run[*at].task : NO_INDEX;
}
