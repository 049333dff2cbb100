/* SPDX-License-Identifier: MIT */
#include "convert/ninja/tasks.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/feed.h"
#include "base/field.h"
#include "base/index.h"
#include "command/ninja_hash.h"
#include "recording/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct scan {
	struct ninja_tasks *t;
	struct index runs;	/* id -> the newest run of it */
	struct index tasks;	/* run, number -> task */
	struct buf text;
	char *window;
};

bool ninja_is_tool(struct slice name)
{
	static const char *const names[] = { "ninja", "ninja-build", "samu", "samurai", "n2" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (slice_is(name, names[i]))
			return true;
	}
	return false;
}

/* An id is shorter than 16 bytes. */
static void run_key(struct slice inst, uint64_t key[2])
{
	char text[INSTANCE_ID_MAX] = "";

	memcpy(text, inst.p, inst.len);
	memcpy(key, text, sizeof text);
}

/* The newest run of that id. */
static uint32_t find_run(const struct scan *s, struct slice inst)
{
	uint64_t key[2];
	uint32_t run;

	run_key(inst, key);
	return index_find(&s->runs, key[0], key[1], &run) ? run : UINT32_MAX;
}

/* The next field as it was before it was written; it may have been cut. */
static struct slice decoded(struct scan *s, struct event *e, bool *cut)
{
	struct slice field = event_field(e);

	*cut = false;
	if (!memchr(field.p, '\\', field.len))
		return field;
	buf_clear(&s->text);
	buf_add(&s->text, field.p, field.len);
	if (buf_error(&s->text))
		return (struct slice){ "", 0 };
	return (struct slice){ s->text.data, field_decode(s->text.data, s->text.len, cut) };
}

static const char *text(struct scan *s, struct event *e)
{
	bool cut;
	struct slice field = decoded(s, e, &cut);

	return arena_text(s->t->arena, field.p, field.len);
}

static int read_open(struct scan *s, struct event *e)
{
	struct ninja_tasks *t = s->t;
	struct ninja_run *run;
	uint64_t key[2];

	for (int i = 0; i < 3; i++)	/* pid, level, ancestors */
		event_field(e);
	if (!ninja_is_tool(event_field(e)))
		return 0;
	event_field(e);			/* version */
	run = array_grow(t->run, t->n_runs, sizeof *run);
	if (!run)
		return -ENOMEM;
	t->run = run;
	run += t->n_runs;
	*run = (struct ninja_run){ .open_us = e->time_us };
	memcpy(run->inst, e->inst.p, e->inst.len);
	run->cwd = text(s, e);
	run->command = text(s, e);
	if (!run->cwd || !run->command)
		return -ENOMEM;
	run_key(e->inst, key);
	return index_put(&s->runs, key[0], key[1], (uint32_t)t->n_runs++);
}

static void hash_command(struct ninja_task *task, struct slice command)
{
	task->command = task->murmur = ninja_hash_murmur(command.p, command.len);
	task->rapid = ninja_hash_rapid(command.p, command.len);
}

static int read_start(struct scan *s, uint32_t run, struct event *e)
{
	struct ninja_tasks *t = s->t;
	struct ninja_task *grown = array_grow(t->task, t->n, sizeof *grown);
	struct ninja_task task = { .run = run, .seq = e->seq, .start_us = e->time_us,
		.end_us = -1 };
	struct slice command;
	bool cut;

	if (!grown)
		return -ENOMEM;
	t->task = grown;
	for (int i = 0; i < 5; i++)	/* pid, slot, kind, name, key */
		event_field(e);
	command = decoded(s, e, &cut);
	task.whole = task.hashed = command.len && !cut;
	hash_command(&task, command);
	grown[t->n] = task;
	return index_put(&s->tasks, run, e->seq, (uint32_t)t->n++);
}

static bool read_hash(struct cursor *c, uint64_t *n)
{
	const char *start = c->p;

	for (*n = 0; c->p < c->end && c->p - start < 16; c->p++) {
		unsigned digit = (unsigned)(*c->p - '0');

		if (digit > 9)
			digit = *c->p >= 'a' && *c->p <= 'f' ? (unsigned)(*c->p - 'a') + 10 : 16;
		if (digit > 15)
			break;
		*n = *n << 4 | digit;
	}
	return c->p > start;
}

static void read_note(struct ninja_task *task, struct slice text)
{
	uint64_t murmur, rapid;
	struct cursor c;

	cursor_init(&c, text.p, text.len);
	if (!cursor_literal(&c, NINJA_HASH_NOTE) || !read_hash(&c, &murmur) ||
	    !cursor_byte(&c, ' ') || !read_hash(&c, &rapid))
		return;
	task->hashed = true;
	task->murmur = murmur;
	task->rapid = rapid;
}

static int read_line(struct scan *s, struct slice line)
{
	struct ninja_task *task;
	uint32_t run, at;
	struct event e;

	if (event_parse(line, &e) != EVENT_PARSED)
		return 0;
	if (e.kind == EVENT_OPEN)
		return read_open(s, &e);
	if (!e.seq || (e.kind != EVENT_START && e.kind != EVENT_NOTE && e.kind != EVENT_DONE &&
		       e.kind != EVENT_FAIL && e.kind != EVENT_KILL))
		return 0;
	run = find_run(s, e.inst);
	if (run == UINT32_MAX)
		return 0;
	if (e.kind == EVENT_START)
		return read_start(s, run, &e);
	if (!index_find(&s->tasks, run, e.seq, &at))
		return 0;
	task = &s->t->task[at];
	if (e.kind == EVENT_NOTE) {
		read_note(task, event_field(&e));
		return 0;
	}
	task->end_us = e.time_us;
	task->done = e.kind == EVENT_DONE;
	return 0;
}

static int read_file(struct scan *s, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	enum feed_line kind;
	struct slice line;
	struct feed f;
	int r = 0;

	if (fd < 0)
		return -errno;
	feed_init(&f, "", 0, fd, s->window);
	while (!r && (kind = feed_line(&f, &line)) != FEED_END) {
		if (kind == FEED_WHOLE)
			r = read_line(s, line);
	}
	close(fd);
	return r ? r : f.error;
}

static bool is_tasks_log(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, LAYOUT_TASKS_PREFIX, strlen(LAYOUT_TASKS_PREFIX)) && n > 4 &&
	       !strcmp(name + n - 4, ".log");
}

static int read_files(struct scan *s, int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	int r = dir ? 0 : -errno;

	if (!dir && fd >= 0)
		close(fd);
	while (!r && (entry = readdir(dir))) {
		if (is_tasks_log(entry->d_name))
			r = read_file(s, dir_fd, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return r;
}

static int by_run(const void *a, const void *b)
{
	const struct ninja_task *one = a, *two = b;

	if (one->run != two->run)
		return one->run < two->run ? -1 : 1;
	if (one->start_us != two->start_us)
		return one->start_us < two->start_us ? -1 : 1;
	return (one->seq > two->seq) - (one->seq < two->seq);
}

static void group(struct ninja_tasks *t)
{
	if (t->n)
		qsort(t->task, t->n, sizeof *t->task, by_run);
	for (size_t i = t->n; i > 0; i--) {
		struct ninja_run *run = &t->run[t->task[i - 1].run];

		run->first_task = i - 1;
		run->n_tasks++;
	}
}

int ninja_tasks_read(struct ninja_tasks *t, int dir_fd)
{
	struct scan s = { .t = t, .window = malloc(FEED_MEMORY) };
	int r = -ENOMEM;

	*t = (struct ninja_tasks){ .arena = arena_new() };
	if (s.window && t->arena)
		r = read_files(&s, dir_fd);
	if (!r)
		r = buf_error(&s.text);
	if (!r)
		group(t);
	else
		ninja_tasks_release(t);
	index_release(&s.runs);
	index_release(&s.tasks);
	buf_release(&s.text);
	free(s.window);
	return r;
}

/* In memory */

#define NO_RUN UINT32_MAX

struct unnamed {
	struct ninja_tasks *t;
	const struct recording *rec;
	uint32_t *run;		/* of each instance; NO_RUN: none to be named */
	uint32_t *task;		/* of each task in t */
};

/* Lines tell of the newest instance of an id. */
static int find_unnamed(struct unnamed *u)
{
	const struct recording *rec = u->rec;
	struct index newest = INDEX_INIT;
	uint64_t key[2];
	uint32_t before;
	int r = 0;

	for (uint32_t i = 0; !r && i < rec->n_instances; i++) {
		const struct instance *in = &rec->instance[i];

		u->run[i] = ninja_is_tool((struct slice){ in->tool, strlen(in->tool) }) &&
			    *in->cwd == '/' ? i : NO_RUN;
		run_key((struct slice){ in->id, strlen(in->id) }, key);
		if (index_find(&newest, key[0], key[1], &before))
			u->run[before] = NO_RUN;
		r = index_put(&newest, key[0], key[1], i);
	}
	for (size_t i = 0; i < rec->n_tasks; i++) {
		if (rec->task[i].named)
			u->run[rec->task[i].instance] = NO_RUN;
	}
	index_release(&newest);
	return r;
}

static int take_runs(struct unnamed *u)
{
	for (size_t i = 0; i < u->rec->n_instances; i++) {
		const struct instance *in = &u->rec->instance[i];
		struct ninja_run *run;

		if (u->run[i] == NO_RUN)
			continue;
		run = array_grow(u->t->run, u->t->n_runs, sizeof *run);
		if (!run)
			return -ENOMEM;
		u->t->run = run;
		run += u->t->n_runs;
		*run = (struct ninja_run){ .open_us = in->open_us, .cwd = in->cwd,
			.command = in->command };
		memcpy(run->inst, in->id, strlen(in->id));
		u->run[i] = (uint32_t)u->t->n_runs++;
	}
	return 0;
}

/* A command that was cut has a hash that is no edge's. */
static int take_tasks(struct unnamed *u)
{
	const struct recording *rec = u->rec;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *of = &rec->task[i];
		const char *command;
		struct ninja_task *task;

		u->task[i] = NO_RUN;
		if (u->run[of->instance] == NO_RUN || of->start_us < 0)
			continue;
		task = array_grow(u->t->task, u->t->n, sizeof *task);
		if (!task)
			return -ENOMEM;
		u->t->task = task;
		task += u->t->n;
		command = recording_command(rec, of);
		*task = (struct ninja_task){ .run = u->run[of->instance], .seq = of->seq,
			.start_us = of->start_us, .end_us = of->end_us,
			.done = of->state == TASK_DONE, .whole = *command, .hashed = *command };
		hash_command(task, (struct slice){ command, strlen(command) });
		u->task[i] = (uint32_t)u->t->n++;
	}
	for (size_t i = 0; i < rec->n_notes; i++) {
		const struct note *note = &rec->note[i];

		if (note->task != NO_INDEX && u->task[note->task] != NO_RUN)
			read_note(&u->t->task[u->task[note->task]],
				  (struct slice){ note->text, strlen(note->text) });
	}
	return 0;
}

int ninja_tasks_unnamed(struct ninja_tasks *t, const struct recording *rec)
{
	struct unnamed u = { .t = t, .rec = rec };
	int r = -ENOMEM;

	*t = (struct ninja_tasks){ 0 };
	u.run = malloc((rec->n_instances + 1) * sizeof *u.run);
	if (u.run)
		r = find_unnamed(&u);
	if (!r)
		r = take_runs(&u);
	if (!r && t->n_runs) {
		u.task = malloc((rec->n_tasks + 1) * sizeof *u.task);
		r = u.task ? take_tasks(&u) : -ENOMEM;
	}
	if (!r)
		group(t);
	else
		ninja_tasks_release(t);
	free(u.run);
	free(u.task);
	return r;
}

void ninja_tasks_release(struct ninja_tasks *t)
{
	free(t->run);
	free(t->task);
	arena_free(t->arena);
	*t = (struct ninja_tasks){ 0 };
}
