/* SPDX-License-Identifier: MIT */
#include "convert/builder.h"
#include "convert/callgrind.h"
#include "convert/formats.h"
#include "convert/infile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The profiles that `remake --profile` writes, one file for each make, in the format of callgrind.
 * They have the duration of each target's recipe and its prerequisites, but no time at which it
 * ran. Therefore the recipes are placed one after the other; or, if their sum is longer than the
 * whole make, each one as soon as its prerequisites have ended.
 */

bool callgrind_recognise(const struct convert_file *file)
{
	static const char mark[] = "\ncreator: remake";

	return !file->is_dir && file->len && memmem(file->head, file->len, mark, strlen(mark));
}

/* Times of the recipes: prerequisites first. Chains may be long: no recursion. */

struct walk {
	struct callgrind_target *target;
	uint32_t *stack;
	size_t depth;
	int64_t now_us;		/* of the last that ended */
	bool parallel;
};

static void place(struct walk *w, struct callgrind_target *t, const uint32_t *need)
{
	int64_t start_us = w->parallel ? 0 : w->now_us;

	for (size_t i = 0; w->parallel && i < t->n_needs; i++) {
		const struct callgrind_target *other = &w->target[need[t->first_need + i]];

		if (other->state == CALLGRIND_PLACED && other->end_us > start_us)
			start_us = other->end_us;
	}
	t->start_us = start_us;
	t->end_us = start_us + t->recipe_us;
	t->state = CALLGRIND_PLACED;
	if (t->end_us > w->now_us)
		w->now_us = t->end_us;
}

static void visit(struct walk *w, uint32_t from, const uint32_t *need)
{
	w->stack[w->depth++] = from;
	w->target[from].state = CALLGRIND_OPEN;
	while (w->depth) {
		struct callgrind_target *t = &w->target[w->stack[w->depth - 1]];
		uint32_t next;

		if (t->n_seen == t->n_needs) {
			place(w, t, need);
			w->depth--;
			continue;
		}
		next = need[t->first_need + t->n_seen++];
		if (w->target[next].state == CALLGRIND_NEW) {
			w->target[next].state = CALLGRIND_OPEN;
			w->stack[w->depth++] = next;
		}
	}
}

static int place_all(struct callgrind *c)
{
	struct walk w = { .target = c->target };
	int64_t sum_us = 0;

	w.stack = calloc(c->n_targets + 1, sizeof *w.stack);
	if (!w.stack)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_targets && sum_us < INT64_MAX / 4; i++)
		sum_us += c->target[i].recipe_us;
	c->parallel = w.parallel = sum_us > c->summary_us + c->summary_us / 20;
	for (size_t i = 0; i < c->n_targets; i++) {
		if (c->target[i].state == CALLGRIND_NEW)
			visit(&w, (uint32_t)i, c->need);
	}
	free(w.stack);
	return 0;
}

/* Into the recording */

static void add_target(struct builder *b, const struct callgrind *c, uint32_t instance,
		       struct callgrind_target *t, int64_t from_us)
{
	struct builder_task task;

	builder_task_init(&task);
	task.name = t->name;
	task.start_us = from_us + t->start_us;
	task.end_us = from_us + t->end_us;
	task.state = TASK_DONE;
	t->task = builder_task(b, instance, &task);
	for (size_t i = 0; i < t->n_needs; i++)
		builder_after(b, t->task, c->target[c->need[t->first_need + i]].name);
}

static void add_make(struct builder *b, struct callgrind *c, int64_t from_us, uint32_t parent)
{
	uint32_t instance = builder_instance(b, "remake", c->version, c->command, parent);

	for (size_t i = 0; i < c->n_targets; i++) {
		if (c->target[i].recipe_us > 0)
			add_target(b, c, instance, &c->target[i], from_us);
	}
	builder_note(b, instance, NO_INDEX, from_us, c->parallel ?
		     "the times of the recipes are not recorded: each is shown as early as possible" :
		     "the times of the recipes are not recorded: they are shown one after the other");
	c->from_us = from_us;
	c->added = true;
}

/* The profile of a sub-make does not name the recipe that ran it. We assume the target with the
 * name of the sub-make's directory, if its recipe took at least as long as the sub-make. */
static struct callgrind_target *find_parent(struct callgrind *make, size_t n, size_t child,
					    struct callgrind **in)
{
	struct callgrind *c = &make[child];

	for (size_t i = 0; i < n; i++) {
		if (i == child || !make[i].added)
			continue;
		for (size_t k = 0; k < make[i].n_targets; k++) {
			struct callgrind_target *t = &make[i].target[k];

			if (t->recipe_us && t->recipe_us >= c->summary_us && !t->hosts &&
			    !strcmp(t->name, c->directory)) {
				*in = &make[i];
				return t;
			}
		}
	}
	return NULL;
}

/* Add sub-makes below the recipes that ran them. If none is found, they are on the top level. */
static void add_makes(struct builder *b, struct callgrind *make, size_t n)
{
	bool more = true;

	add_make(b, &make[0], 0, NO_INDEX);
	while (more) {
		more = false;
		for (size_t i = 1; i < n; i++) {
			struct callgrind *in = NULL;
			struct callgrind_target *t;

			if (make[i].added)
				continue;
			t = find_parent(make, n, i, &in);
			if (!t)
				continue;
			t->hosts = true;
			add_make(b, &make[i], in->from_us + t->start_us, t->task);
			more = true;
		}
	}
	for (size_t i = 1; i < n; i++) {
		if (!make[i].added)
			add_make(b, &make[i], 0, NO_INDEX);
	}
}

/* The top-level make is the one that took longest. */
static void longest_first(struct callgrind *make, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (make[i].summary_us > make[0].summary_us) {
			struct callgrind first = make[0];

			make[0] = make[i];
			make[i] = first;
		}
	}
}

static int build(struct recording *rec, struct callgrind *make, size_t n, const char *path,
		 struct error *err)
{
	struct builder b;
	int r = 0;

	longest_first(make, n);
	for (size_t i = 0; !r && i < n; i++)
		r = place_all(&make[i]);
	if (r)
		return error_sys(err, r, path, NULL);
	builder_init(&b, rec, path);
	builder_build(&b, "tool", "remake");
	builder_build(&b, "version", make[0].version);
	builder_build(&b, "command", make[0].command);
	add_makes(&b, make, n);
	return builder_end(&b, 0, path, err);
}

static int read_one(struct callgrind *c, const char *path, struct error *err)
{
	struct buf text = BUF_INIT;
	int r = infile_read(&text, path, err);

	if (!r)
		r = callgrind_parse(c, buf_str(&text), text.len, path, err);
	buf_release(&text);
	return r;
}

int callgrind_read(struct recording *rec, const char *const *path, size_t n, struct error *err)
{
	struct callgrind *make = calloc(n, sizeof *make);
	int r = 0;

	if (!make)
		return error_sys(err, -ENOMEM, path[0], NULL);
	for (size_t i = 0; !r && i < n; i++)
		r = read_one(&make[i], path[i], err);
	if (!r)
		r = build(rec, make, n, path[0], err);
	for (size_t i = 0; i < n; i++)
		callgrind_release(&make[i]);
	free(make);
	return r;
}
