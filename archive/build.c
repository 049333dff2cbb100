/* SPDX-License-Identifier: MIT */
#include "archive/build.h"

#include "archive/columns.h"
#include "archive/message.h"
#include "base/arena.h"
#include "base/cursor.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ID_SHOWN 12

struct build_name build_name(const struct archive *a, const struct build_place *place,
			     const char *part)
{
	struct build_name n;

	n.inside = snprintf(n.text, sizeof n.text, "%.400s: ", a->path);
	snprintf(n.text + n.inside, sizeof n.text - n.inside, "%.*s:%s", ID_SHOWN,
		 git_oid_tostr_s(&place->commit), part);
	return n;
}

/* The entry of that name and type, or all zero. */
static git_oid entry(const git_tree *tree, const char *name, git_object_t type)
{
	const git_tree_entry *e = git_tree_entry_byname(tree, name);

	return e && git_tree_entry_type(e) == type ? *git_tree_entry_id(e) : (git_oid){ 0 };
}

static int find_columns(struct archive *a, struct build_place *place, const git_oid *id,
			struct error *err)
{
	struct build_name name = build_name(a, place, BUILD_COLUMNS);
	git_tree *tree;
	int r = repo_tree(a, &tree, id, name.text + name.inside, err);

	if (r)
		return r;
	for (int c = 0; c < COLUMNS; c++)
		place->column[c] = entry(tree, metric_column_name[c], GIT_OBJECT_BLOB);
	git_tree_free(tree);
	return 1;
}

/* Only a set has them. */
static int find_spread(struct archive *a, struct build_place *place, const git_oid *id,
		       struct error *err)
{
	struct build_name name = build_name(a, place, BUILD_SPREAD);
	git_tree *tree;
	int r = git_oid_is_zero(id) ? 0 : repo_tree(a, &tree, id, name.text + name.inside, err);

	if (r || git_oid_is_zero(id))
		return r;
	for (enum metric m = 0; m < METRICS; m++)
		place->spread[m] = entry(tree, metric_info[m].name, GIT_OBJECT_BLOB);
	git_tree_free(tree);
	return 0;
}

static int find_parts(struct archive *a, struct build_place *place, const git_oid *id,
		      struct error *err)
{
	struct build_name name = build_name(a, place, "");
	git_tree *tree;
	git_oid columns, spread;
	int r = repo_tree(a, &tree, id, name.text + name.inside, err);

	if (r)
		return r;
	place->build = entry(tree, "build", GIT_OBJECT_BLOB);
	place->totals = entry(tree, "totals", GIT_OBJECT_BLOB);
	place->tasks = entry(tree, "tasks", GIT_OBJECT_BLOB);
	place->packages = entry(tree, "packages", GIT_OBJECT_BLOB);
	columns = entry(tree, BUILD_COLUMNS, GIT_OBJECT_TREE);
	spread = entry(tree, BUILD_SPREAD, GIT_OBJECT_TREE);
	git_tree_free(tree);
	if (git_oid_is_zero(&place->build) || git_oid_is_zero(&place->totals) ||
	    git_oid_is_zero(&place->tasks) || git_oid_is_zero(&columns))
		return 0;
	r = find_spread(a, place, &spread, err);
	return r ? r : find_columns(a, place, &columns, err);
}

int build_commit(struct archive *a, git_commit **commit, struct message *m, const git_oid *id,
		 struct error *err)
{
	int r = repo_commit(a, commit, id, err);

	*m = (struct message)MESSAGE_INIT;
	if (r)
		return r;
	r = message_read(m, git_commit_message_raw(*commit));
	if (!r)
		return 0;
	message_release(m);
	git_commit_free(*commit);
	return error_sys(err, r, a->path, NULL);
}

int build_find(struct archive *a, struct build_place *place, struct message *m,
	       const git_oid *commit, struct error *err)
{
	unsigned n_parents;
	git_commit *c;
	git_oid tree;
	int r;

	*place = (struct build_place){ .commit = *commit };
	r = build_commit(a, &c, m, commit, err);
	if (r)
		return r;
	n_parents = git_commit_parentcount(c);
	if (n_parents)
		place->parent = *git_commit_parent_id(c, 0);
	tree = *git_commit_tree_id(c);
	git_commit_free(c);
	return m->run && n_parents < 2 ? find_parts(a, place, &tree, err) : 0;
}

static int read_pairs(struct pair_reader *reader,
		      int (*take)(void *context, const struct pair *pair), void *context)
{
	struct pair pair;
	int r, taken = 0;

	while (!taken && (r = pair_next(reader, &pair)) > 0)
		taken = take(context, &pair);
	return taken ? taken : r;
}

int build_pairs(struct archive *a, const struct build_place *place, const git_oid *part,
		const char *name, const struct pair_format *format, struct arena *texts,
		int (*take)(void *context, const struct pair *pair), void *context,
		struct error *err)
{
	struct build_name shown = build_name(a, place, name);
	struct pair_reader reader;
	git_odb_object *blob;
	int r = repo_blob(a, &blob, part, shown.text + shown.inside, err);

	if (r)
		return r;
	r = pair_begin(&reader, format, texts, git_odb_object_data(blob),
		       git_odb_object_size(blob));
	git_odb_object_free(blob);
	if (!r)
		r = read_pairs(&reader, take, context);
	if (r == -EINVAL)
		return error_set(err, r, shown.text, reader.line, 0, "expected \"%s\"",
				 reader.line == 1 ? format->first_line : "KEY VALUE");
	return r ? error_sys(err, r, shown.text, NULL) : 0;
}

static int take_total(void *context, const struct pair *pair)
{
	int64_t *total = context, n;

	for (int i = 0; i < TOTALS; i++) {
		if (strcmp(metric_total_info[i].name, pair->key))
			continue;
		if (!cursor_slice_i64(slice_of(pair->value), &n) || n < 0)
			return -EINVAL;
		total[i] = n;
	}
	return 0;
}

int build_totals(struct archive *a, const struct build_place *place, int64_t *total,
		 struct error *err)
{
	struct arena *texts = arena_new();
	int r;

	if (!texts)
		return error_sys(err, -ENOMEM, a->path, NULL);
	for (int i = 0; i < TOTALS; i++)
		total[i] = -1;
	r = build_pairs(a, place, &place->totals, "totals", &pair_totals, texts, take_total,
			total, err);
	arena_free(texts);
	return r;
}

static int read_column(const git_odb_object *blob, int64_t *value, size_t n)
{
	const void *data = git_odb_object_data((git_odb_object *)blob);
	size_t len = git_odb_object_size((git_odb_object *)blob), count;

	if (column_count(data, len, &count) || count != n)
		return -EINVAL;
	return column_read(data, len, value, n);
}

static int column_at(struct archive *a, const struct build_place *place, const git_oid *id,
		     const char *part, int64_t *value, size_t n, bool *known, struct error *err)
{
	struct build_name shown;
	git_odb_object *blob;
	int r;

	*known = !git_oid_is_zero(id);
	if (!*known)
		return 0;
	shown = build_name(a, place, part);
	r = repo_blob(a, &blob, id, shown.text + shown.inside, err);
	if (r)
		return r;
	r = read_column(blob, value, n);
	git_odb_object_free(blob);
	return r ? error_set(err, r, shown.text, 1, 0,
			     "expected a column of %zu values, one for each task", n) : 0;
}

int build_column(struct archive *a, const struct build_place *place, enum value_column c,
		 int64_t *value, size_t n, bool *known, struct error *err)
{
	char part[64];

	snprintf(part, sizeof part, BUILD_COLUMNS "/%s", metric_column_name[c]);
	return column_at(a, place, &place->column[c], part, value, n, known, err);
}

int build_spread(struct archive *a, const struct build_place *place, enum metric m, int64_t *value,
		 size_t n, bool *known, struct error *err)
{
	char part[64];

	snprintf(part, sizeof part, BUILD_SPREAD "/%s", metric_info[m].name);
	return column_at(a, place, &place->spread[m], part, value, n, known, err);
}
