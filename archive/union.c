/* SPDX-License-Identifier: MIT */
#include "archive/union.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Dictionaries that contain each other. */
struct tasks_family {
	git_oid newest;
	struct buf text;	/* of newest */
	size_t n;
	uint32_t *task;		/* of each line */
};

void union_release(struct tasks_union *u)
{
	for (size_t i = 0; i < u->n_families; i++) {
		buf_release(&u->family[i].text);
		free(u->family[i].task);
	}
	free(u->family);
	name_table_release(&u->names);
}

const uint32_t *union_tasks(const struct tasks_union *u, const struct tasks_of *of)
{
	return u->family[of->family].task;
}

/* Tasks are identified by name; kinds may differ. */
static int find_task(struct tasks_union *u, struct builds *builds, const struct pair *pair,
		     uint32_t *task)
{
	struct builds_task *added;

	if (name_table_add(&u->names, slice_of(pair->key), task))
		return -ENOMEM;
	if (*task < builds->n_tasks)
		return 0;
	added = array_add(&builds->task, &builds->n_tasks, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct builds_task){
		.name = pair->key, .kind = pair->value,
	};
	return 0;
}

static int add_line(struct tasks_union *u, struct tasks_family *f, struct builds *builds,
		    const struct pair *pair)
{
	uint32_t *grown = array_grow(f->task, f->n, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	f->task = grown;
	return find_task(u, builds, pair, &grown[f->n++]);
}

static struct tasks_family *new_family(struct tasks_union *u)
{
	struct tasks_family *grown = array_grow(u->family, u->n_families, sizeof *grown);

	if (!grown)
		return NULL;
	u->family = grown;
	grown[u->n_families] = (struct tasks_family){ 0 };
	return &grown[u->n_families++];
}

static int read_lines(struct tasks_union *u, struct tasks_family *f, struct builds *builds,
		      const void *data, size_t len, struct pair_reader *reader)
{
	struct pair pair;
	int r;

	if (f->text.len)
		r = pair_continue(reader, &pair_tasks, builds->texts, data, len, f->text.len,
			       f->n + 1);
	else
		r = pair_begin(reader, &pair_tasks, builds->texts, data, len);
	while (!r && (r = pair_next(reader, &pair)) > 0)
		r = add_line(u, f, builds, &pair);
	if (!r) {
		buf_clear(&f->text);
		buf_add(&f->text, data, len);
		r = buf_error(&f->text);
	}
	return r;
}

void union_join(struct tasks_union *u, const uint32_t *to)
{
	for (size_t i = 0; i < u->n_families; i++) {
		struct tasks_family *f = &u->family[i];

		for (size_t line = 0; line < f->n; line++)
			f->task[line] = to[f->task[line]];
	}
}

int union_add(struct tasks_union *u, struct tasks_of *of, struct builds *builds,
	      struct archive *a, const struct build_place *place, struct error *err)
{
	struct tasks_family *f = u->n_families ? &u->family[u->n_families - 1] : NULL;
	struct build_name shown = build_name(a, place, "tasks");
	struct pair_reader reader;
	git_odb_object *blob;
	int r;

	if (!f || !git_oid_equal(&f->newest, &place->tasks)) {
		r = repo_blob(a, &blob, &place->tasks, shown.text + shown.inside, err);
		if (r)
			return r;
		if (!(f && f->text.len <= git_odb_object_size(blob) &&
		      !memcmp(f->text.data, git_odb_object_data(blob), f->text.len)))
			f = new_family(u);
		r = !f ? -ENOMEM : read_lines(u, f, builds, git_odb_object_data(blob),
					      git_odb_object_size(blob), &reader);
		git_odb_object_free(blob);
		if (r == -EINVAL)
			return error_set(err, r, shown.text, reader.line, 0,
					 "expected \"%s\"", reader.line == 1 ?
					 pair_tasks.first_line : "NAME, tab, KIND");
		if (r)
			return error_sys(err, r, shown.text, NULL);
		f->newest = place->tasks;
	}
	*of = (struct tasks_of){ (uint32_t)(u->n_families - 1), f->n };
	return 0;
}
