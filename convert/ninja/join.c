/* SPDX-License-Identifier: MIT */
#include "convert/ninja/join.h"

#include "base/arena.h"
#include "convert/ninja/match.h"
#include "convert/ninja/rule.h"
#include "convert/ninja/waits.h"
#include "recording/event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 65536		/* bytes */
#define IN_MEMORY_MAX ((size_t)256 << 20)

/* Names one after the other, for the lines that list them. */
struct list {
	struct buf text;
	size_t n;
	const char **name;	/* while they are collected, only how many there are counts */
	size_t cap;
};

struct join {
	struct store *store;	/* where lines go; NULL: they stay */
	infile_reader *read;
	const struct ninja_tasks *tasks;
	struct ninja_place *places;	/* of each run */
	struct buf lines;
	struct list list;
	uint32_t number;	/* of the run, from 1 */
};

static void list_clear(struct list *l)
{
	buf_clear(&l->text);
	l->n = 0;
}

static void list_add(struct list *l, struct slice name)
{
	buf_add(&l->text, name.p, name.len);
	buf_addc(&l->text, '\0');
	l->n++;
}

/* The names, now that their text moves no more. */
static int list_finish(struct list *l)
{
	const char *p = l->text.data;

	if (l->n > l->cap) {
		const char **grown = realloc(l->name, l->n * sizeof *grown);

		if (!grown)
			return -ENOMEM;
		l->name = grown;
		l->cap = l->n;
	}
	for (size_t i = 0; i < l->n && !buf_error(&l->text); i++, p += strlen(p) + 1)
		l->name[i] = p;
	return buf_error(&l->text);
}

/* Lines */

static int64_t when(const struct ninja_task *t)
{
	return t->end_us >= 0 ? t->end_us : t->start_us;
}

static int append(struct join *j)
{
	if (j->store)
		store_append(j->store, &j->lines);
	return j->lines.len > IN_MEMORY_MAX ? -EFBIG : buf_error(&j->lines);
}

static int add_list(struct join *j, const struct ninja_task *t,
		    size_t add(struct buf *, int64_t, const char *, uint64_t,
			       const char *const *, size_t))
{
	const char *inst = j->tasks->run[t->run].inst;
	int r = list_finish(&j->list);

	for (size_t done = 0; !r && done < j->list.n;) {
		done += add(&j->lines, when(t), inst, t->seq,
			    (const char *const *)j->list.name + done, j->list.n - done);
		if (j->lines.len > AT_ONCE)
			r = append(j);
	}
	return r;
}

/* Its first output is the task's name, the others follow. */
static int add_name(struct join *j, const struct ninja_task *t, struct slice name,
		    struct slice rule)
{
	const char *inst = j->tasks->run[t->run].inst;
	int r;

	list_clear(&j->list);
	list_add(&j->list, name);
	list_add(&j->list, rule);
	r = list_finish(&j->list);
	if (!r)
		event_add_name(&j->lines, when(t), inst, t->seq, j->list.name[0],
			       j->list.name[1], ninja_rule_kind(rule));
	return r;
}

static int add_edge(struct join *j, const struct ninja_build *n, const struct ninja_task *t,
		    const struct ninja_edge *e)
{
	int r = add_name(j, t, ninja_edge_out(n, e, 0), ninja_build_rule(n, e));

	list_clear(&j->list);
	for (size_t i = 1; i < (size_t)e->n_out + e->n_implicit_out; i++)
		list_add(&j->list, ninja_edge_out(n, e, i));
	return r ? r : add_list(j, t, event_add_out);
}

static int add_waits(struct join *j, struct ninja_waits *w, const struct ninja_task *t,
		     const struct ninja_edge *e)
{
	uint32_t before = NO_EDGE, edge;
	int r = 0;

	list_clear(&j->list);
	for (size_t i = 0; !r && i <= (size_t)e->n_in + e->n_implicit_in; i++) {
		r = ninja_waits_for(w, e, i, &edge);
		if (!r && edge != NO_EDGE && edge != before)
			list_add(&j->list, ninja_edge_out(w->n, &w->n->edge[edge], 0));
		before = edge;
	}
	return r ? r : add_list(j, t, event_add_after);
}

static int add_logged(struct join *j, const struct ninja_log *log, const struct ninja_task *t,
		      size_t line)
{
	size_t n = ninja_log_run(log, line);
	int r = add_name(j, t, log->line[line].output, (struct slice){ "", 0 });

	list_clear(&j->list);
	for (size_t i = 1; i < n; i++)
		list_add(&j->list, log->line[line + i].output);
	return r ? r : add_list(j, t, event_add_out);
}

/* Runs */

static int add_run(struct join *j, struct ninja_place *p, const struct ninja_run *run,
		   const struct ninja_match *match)
{
	const struct ninja_task *task = &j->tasks->task[run->first_task];
	struct ninja_waits waits = { .n = NULL };
	int r = p->has_build ? ninja_waits_init(&waits, &p->build) : 0;

	for (size_t i = 0; !r && i < run->n_tasks; i++) {
		if (match[i].edge != NO_EDGE)
			waits.end_us[match[i].edge] = when(&task[i]);
	}
	for (size_t i = 0; !r && i < run->n_tasks; i++) {
		if (match[i].edge != NO_EDGE) {
			r = add_edge(j, &p->build, &task[i], &p->build.edge[match[i].edge]);
			if (!r)
				r = add_waits(j, &waits, &task[i],
					      &p->build.edge[match[i].edge]);
		} else if (match[i].line != NO_LINE) {
			r = add_logged(j, &p->log, &task[i], match[i].line);
		}
	}
	ninja_waits_release(&waits);
	return r;
}

static int join_run(struct join *j, struct ninja_place *p, const struct ninja_run *run)
{
	struct ninja_match *match = malloc((run->n_tasks + 1) * sizeof *match);
	int r = -ENOMEM;

	if (match)
		r = ninja_match(p, run, ++j->number, j->tasks->task + run->first_task, match);
	if (!r)
		r = add_run(j, p, run, match);
	free(match);
	return r;
}

static bool is_same(const struct ninja_place *a, const struct ninja_place *b)
{
	return !strcmp(a->dir, b->dir) && !strcmp(a->file, b->file);
}

/* All runs of the place of run i, read once. */
static int join_place(struct join *j, size_t i)
{
	struct ninja_place *p = &j->places[i];
	int r = ninja_place_read(p);

	for (size_t k = i; !r && k < j->tasks->n_runs; k++) {
		if (k != i && (!j->places[k].dir || !is_same(p, &j->places[k])))
			continue;
		r = join_run(j, p, &j->tasks->run[k]);
		if (k != i)
			ninja_place_release(&j->places[k]);
	}
	ninja_place_release(p);
	return r;
}

static int join_all(struct join *j)
{
	size_t n = j->tasks->n_runs;
	int r = 0;

	j->places = calloc(n + 1, sizeof *j->places);
	if (!j->places)
		return -ENOMEM;
	for (size_t i = 0; !r && i < n; i++)
		r = ninja_place_find(&j->places[i], &j->tasks->run[i], j->read);
	for (size_t i = 0; !r && i < n; i++) {
		if (j->places[i].dir)
			r = join_place(j, i);
	}
	for (size_t i = 0; i < n; i++)
		ninja_place_release(&j->places[i]);
	free(j->places);
	return r ? r : append(j);
}

static int join_tasks(struct join *j, struct ninja_tasks *tasks)
{
	int r = 0;

	j->tasks = tasks;
	if (tasks->n)
		r = join_all(j);
	ninja_tasks_release(tasks);
	buf_release(&j->list.text);
	free(j->list.name);
	return r;
}

int ninja_join(struct store *s)
{
	struct join j = { .store = s, .read = infile_read_regular };
	struct ninja_tasks tasks;
	int r = ninja_tasks_read(&tasks, s->dir_fd);

	if (!r)
		r = join_tasks(&j, &tasks);
	buf_release(&j.lines);
	return r ? r : store_error(s);
}

int ninja_join_unnamed(struct buf *lines, const struct recording *rec)
{
	struct join j = { .read = infile_read_ours };
	struct ninja_tasks tasks;
	int r = ninja_tasks_unnamed(&tasks, rec);

	if (!r)
		r = join_tasks(&j, &tasks);
	*lines = j.lines;
	return r == -EFBIG ? 0 : r;
}
