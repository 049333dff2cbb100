/* SPDX-License-Identifier: MIT */
#include "archive/build.h"
#include "archive/build_recording.h"
#include "archive/sys.h"
#include "base/arena.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The dictionary and its columns. The result has only the tasks of this build, by name. */
struct reader {
	struct values *f;
	size_t n;			/* number of lines of the dictionary */
	struct values_task *line;
	int64_t *column[COLUMNS];
	uint32_t *order;		/* lines of the tasks of this build */
	size_t n_tasks;
};

/* Facts, packages and tasks are structs of two texts each. */
struct texts {
	size_t n;
	const char *(*pair)[2];
};

_Static_assert(sizeof(struct values_fact) == sizeof(const char *[2]) &&
	       sizeof(struct values_package) == sizeof(const char *[2]) &&
	       sizeof(struct values_task) == sizeof(const char *[2]), "two texts each");

static int take_texts(void *context, const struct pair *pair)
{
	struct texts *t = context;
	const char *(*grown)[2] = array_grow(t->pair, t->n, sizeof *grown);

	if (!grown)
		return -ENOMEM;
	t->pair = grown;
	grown[t->n][0] = pair->key;
	grown[t->n++][1] = pair->value;
	return 0;
}

static int read_columns(struct reader *r, struct archive *a, const struct build_place *place,
			struct error *err)
{
	bool known;
	int error = 0;

	for (int c = 0; !error && c < COLUMNS; c++) {
		int64_t *value = array_new(r->n, sizeof *value);

		if (!value)
			return error_sys(err, -ENOMEM, a->path, NULL);
		error = build_column(a, place, c, value, r->n, &known, err);
		if (!error && known)
			r->column[c] = value;
		else
			free(value);
	}
	return error;
}

/* Without the column of runs, a task with any value was in the build. */
static bool was_there(const struct reader *r, size_t line)
{
	if (r->column[COLUMN_RUNS])
		return r->column[COLUMN_RUNS][line] > 0;
	for (int c = 0; c < COLUMNS; c++) {
		if (r->column[c] && r->column[c][line] >= 0)
			return true;
	}
	return false;
}

static int by_name(const void *a, const void *b, void *lines)
{
	const struct values_task *line = lines;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int r = strcmp(line[x].name, line[y].name);

	return r ? r : (x > y) - (x < y);
}

static int sort_rows(struct reader *r)
{
	size_t n = 0;

	r->order = array_new(r->n, sizeof *r->order);
	if (!r->order)
		return -ENOMEM;
	for (size_t i = 0; i < r->n; i++) {
		if (was_there(r, i))
			r->order[n++] = (uint32_t)i;
	}
	qsort_r(r->order, n, sizeof *r->order, by_name, r->line);
	/* buildbeat writes no duplicates. */
	for (size_t i = 0; i < n; i++) {
		const char *name = r->line[r->order[i]].name;

		if (!i || strcmp(r->line[r->order[r->n_tasks - 1]].name, name))
			r->order[r->n_tasks++] = r->order[i];
	}
	return 0;
}

static int set_rows(struct reader *r)
{
	struct values *f = r->f;

	f->task = array_new(r->n_tasks, sizeof *f->task);
	if (!f->task)
		return -ENOMEM;
	f->n_tasks = r->n_tasks;
	for (size_t i = 0; i < r->n_tasks; i++)
		f->task[i] = r->line[r->order[i]];
	for (int c = 0; c < COLUMNS; c++) {
		if (!r->column[c])
			continue;
		f->column[c] = array_new(r->n_tasks + 1, sizeof *f->column[c]);
		if (!f->column[c])
			return -ENOMEM;
		for (size_t i = 0; i < r->n_tasks; i++)
			f->column[c][i] = r->column[c][r->order[i]];
	}
	return 0;
}

static int read_tasks(struct values *f, struct archive *a, const struct build_place *place,
		      struct error *err)
{
	struct reader r = { .f = f };
	struct texts lines = { 0 };
	int error = build_pairs(a, place, &place->tasks, "tasks", &pair_tasks, f->texts,
				take_texts, &lines, err);

	r.line = (struct values_task *)lines.pair;
	r.n = lines.n;
	if (!error)
		error = read_columns(&r, a, place, err);
	if (!error) {
		error = sort_rows(&r);
		if (!error)
			error = set_rows(&r);
		if (error)
			error_sys(err, error, a->path, NULL);
	}
	for (int c = 0; c < COLUMNS; c++)
		free(r.column[c]);
	free_all(r.line, r.order);
	return error;
}

static int read_values(struct values *f, struct archive *a, const struct build_place *place,
		       struct error *err)
{
	struct texts facts = { 0 }, packages = { 0 };
	int r = build_pairs(a, place, &place->build, "build", &pair_build, f->texts, take_texts,
			    &facts, err);

	if (!r)
		r = build_totals(a, place, f->total, err);
	if (!r && !git_oid_is_zero(&place->packages))
		r = build_pairs(a, place, &place->packages, "packages", &pair_packages,
				f->texts, take_texts, &packages, err);
	f->fact = (struct values_fact *)facts.pair;
	f->n_facts = facts.n;
	f->package = (struct values_package *)packages.pair;
	f->n_packages = packages.n;
	return r ? r : read_tasks(f, a, place, err);
}

int build_named(struct archive *a, struct build_place *place, struct message *m,
		const char *name, struct error *err)
{
	git_object *found, *commit = NULL;
	git_oid id;
	int r = git_revparse_single(&found, a->git, name);

	*m = (struct message)MESSAGE_INIT;
	if (!r) {
		r = git_object_peel(&commit, found, GIT_OBJECT_COMMIT);
		git_object_free(found);
	}
	if (r)
		return repo_fail(a, r, err, "no build '%.200s'", name);
	id = *git_object_id(commit);
	git_object_free(commit);
	r = build_find(a, place, m, &id, err);
	if (r)
		return r < 0 ? r : 0;
	return error_set(err, -EINVAL, a->path, 0, 0, "'%.200s' is not a build", name);
}

int archive_values(struct archive *a, const char *name, struct values *f, struct error *err)
{
	struct build_place place;
	struct message m;
	int r;

	*f = (struct values)VALUES_INIT;
	f->texts = arena_new();
	if (f->texts)
		f->path = arena_text(f->texts, name, strlen(name));
	if (!f->path)
		return error_sys(err, -ENOMEM, a->path, NULL);
	r = build_named(a, &place, &m, name, err);
	f->start_s = m.start_s;
	message_release(&m);
	return r ? r : read_values(f, a, &place, err);
}

static int add_series(struct recording *rec, struct archive *a, const git_tree *sys,
		      const char *name, struct error *err)
{
	const git_tree_entry *e = git_tree_entry_byname(sys, name);
	struct buf text = BUF_INIT;
	git_odb_object *blob;
	int r;

	if (!e || git_tree_entry_type(e) != GIT_OBJECT_BLOB)
		return 0;
	r = repo_blob(a, &blob, git_tree_entry_id(e), name, err);
	if (r)
		return r;
	buf_add(&text, git_odb_object_data(blob), git_odb_object_size(blob));
	git_odb_object_free(blob);
	r = buf_error(&text) ? buf_error(&text) : sys_read(rec, name, &text);
	buf_release(&text);
	return r ? error_sys(err, r, a->path, name) : 0;
}

static int add_samples(struct recording *rec, struct archive *a, const git_oid *commit,
		       struct error *err)
{
	git_tree *sys = NULL, *tree = NULL;
	git_tree_entry *e = NULL;
	git_commit *c;
	int r = repo_commit(a, &c, commit, err);

	if (r)
		return r;
	r = repo_tree(a, &tree, git_commit_tree_id(c), "a build", err);
	git_commit_free(c);
	if (!r && !git_tree_entry_bypath(&e, tree, "sys"))
		r = repo_tree(a, &sys, git_tree_entry_id(e), "sys", err);
	for (size_t i = 0; !r && sys && sys_name[i]; i++)
		r = add_series(rec, a, sys, sys_name[i], err);
	git_tree_entry_free(e);
	git_tree_free(sys);
	git_tree_free(tree);
	return r;
}

int archive_recording(struct archive *a, const char *name, struct recording *rec,
		      struct error *err)
{
	struct values f = VALUES_INIT;
	struct build_place place;
	struct message m;
	int r = build_named(a, &place, &m, name, err);

	*rec = (struct recording)RECORDING_INIT;
	message_release(&m);
	if (!r)
		r = archive_values(a, name, &f, err);
	if (!r)
		r = build_recording(rec, &f, err);
	values_release(&f);
	if (!r) {
		r = add_samples(rec, a, &place.commit, err);
		if (r)
			recording_release(rec);
	}
	return r;
}
