/* SPDX-License-Identifier: MIT */
#include "archive/columns.h"
#include "archive/build.h"
#include "archive/build_tasks.h"
#include "archive/remote.h"
#include "archive/seen.h"
#include "archive/sys.h"
#include "archive/writing.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 10000		/* when other writers are faster */

/* Retries of other errors: while git packs references, it removes directories into which libgit2
 * is about to put one. */
#define FAILURES 8

/* A build that is being written. */
struct writer {
	struct archive *a;
	const struct archive_build *build;
	const struct values *f;
	struct buf run;
	struct build_tasks tasks;
	struct build_place before;
	struct writing out;
	struct buf text;	/* of the current blob */
	int64_t *value;		/* of the current column */
	struct error *err;
};

static int no_memory(struct writer *w)
{
	return error_sys(w->err, -ENOMEM, w->a->path, NULL);
}

/* The same wherever the recording is. */
static void make_run(struct buf *run, const struct values *f)
{
	static const char *const identifying[] = { "host", "cwd", "command" };
	const char *host = values_fact(f, "host"), *runs = values_fact(f, VALUES_RUNS);
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(identifying); i++) {
		const char *value = values_fact(f, identifying[i]);

		buf_addf(&text, "%s\n", value ? value : "");
	}
	buf_addf(&text, "%lld %lld %zu", (long long)f->start_s,
		 (long long)f->total[TOTAL_WALL_US], f->n_tasks);
	if (runs)
		buf_addf(&text, " %s", runs);
	buf_addf(run, "%s-%lld-%016llx", host ? host : "unknown", (long long)f->start_s,
		 (unsigned long long)hash_fnv64(buf_str(&text), text.len));
	if (buf_error(&text))
		run->error = buf_error(&text);
	buf_release(&text);
}

/* Such an object needs not be written: it is reachable from the build before. */
static bool is_of_before(const struct writer *w, const git_oid *id)
{
	const struct build_place *b = &w->before;
	const git_oid *single[] = { &b->build, &b->totals, &b->tasks, &b->packages };

	for (size_t i = 0; i < ARRAY_SIZE(single); i++) {
		if (git_oid_equal(single[i], id))
			return true;
	}
	for (int c = 0; c < COLUMNS; c++) {
		if (git_oid_equal(&b->column[c], id))
			return true;
	}
	return false;
}

static int put_text(struct writer *w, git_treebuilder *tree, const char *name,
		    const struct buf *text)
{
	git_oid id;
	int r = buf_error(text) ? GIT_ERROR :
		git_odb_hash(&id, text->data, text->len, GIT_OBJECT_BLOB);

	/* The insertion fails if that of the build before is missing. */
	if (!r && is_of_before(w, &id) &&
	    !git_treebuilder_insert(NULL, tree, name, &id, GIT_FILEMODE_BLOB))
		return 0;
	if (!r)
		r = git_blob_create_from_buffer(&id, w->out.git, text->data, text->len);
	if (!r)
		r = git_treebuilder_insert(NULL, tree, name, &id, GIT_FILEMODE_BLOB);
	return r ? repo_fail(w->a, r, w->err, "cannot write %s", name) : 0;
}

static int put_file(struct writer *w, git_treebuilder *tree, const char *name)
{
	return put_text(w, tree, name, &w->text);
}

static int put_build(struct writer *w, git_treebuilder *tree)
{
	buf_clear(&w->text);
	pair_begin_write(&w->text, &pair_build);
	for (size_t i = 0; i < w->f->n_facts; i++)
		pair_write(&w->text, &pair_build, w->f->fact[i].key, w->f->fact[i].value);
	return put_file(w, tree, "build");
}

static int put_totals(struct writer *w, git_treebuilder *tree)
{
	buf_clear(&w->text);
	pair_begin_write(&w->text, &pair_totals);
	for (int i = 0; i < TOTALS; i++) {
		if (w->f->total[i] >= 0)
			buf_addf(&w->text, "%s: %lld\n", metric_total_info[i].name,
				 (long long)w->f->total[i]);
	}
	return put_file(w, tree, "totals");
}

static int put_packages(struct writer *w, git_treebuilder *tree)
{
	if (!w->f->n_packages)
		return 0;
	buf_clear(&w->text);
	pair_begin_write(&w->text, &pair_packages);
	for (size_t i = 0; i < w->f->n_packages; i++)
		pair_write(&w->text, &pair_packages, w->f->package[i].name,
			   w->f->package[i].version);
	return put_file(w, tree, "packages");
}

static int put_column(struct writer *w, git_treebuilder *tree, enum value_column c)
{
	if (!w->f->column[c] && c != COLUMN_RUNS)
		return 0;
	for (size_t i = 0; i < w->tasks.n; i++)
		w->value[i] = -1;
	for (size_t i = 0; i < w->f->n_tasks; i++) {
		int64_t value = w->f->column[c] ? w->f->column[c][i] : -1;

		/* The column of runs says whether a task is in a build. */
		w->value[w->tasks.line[i]] = c == COLUMN_RUNS && value < 1 ? 1 : value;
	}
	buf_clear(&w->text);
	column_write(&w->text, w->value, w->tasks.n);
	return put_file(w, tree, metric_column_name[c]);
}

static int put_spread(struct writer *w, git_treebuilder *tree, enum metric m)
{
	if (!w->f->spread[m])
		return 0;
	for (size_t i = 0; i < w->tasks.n; i++)
		w->value[i] = -1;
	for (size_t i = 0; i < w->f->n_tasks; i++)
		w->value[w->tasks.line[i]] = w->f->spread[m][i];
	buf_clear(&w->text);
	column_write(&w->text, w->value, w->tasks.n);
	return put_file(w, tree, metric_info[m].name);
}

static int write_tree(struct writer *w, git_oid *id, git_treebuilder *tree, const char *what)
{
	int r = git_treebuilder_write(id, tree);

	return r ? repo_fail(w->a, r, w->err, "cannot write %s", what) : 0;
}

static int new_tree(struct writer *w, git_treebuilder **tree)
{
	int r = git_treebuilder_new(tree, w->out.git, NULL);

	return r ? repo_fail(w->a, r, w->err, "cannot write a tree") : 0;
}

/* Adds a directory with the entries that fill makes; an empty one is left out. */
static int put_directory(struct writer *w, git_treebuilder *build, const char *name,
			 int (*fill)(struct writer *w, git_treebuilder *tree))
{
	git_treebuilder *tree;
	git_oid id;
	int r = new_tree(w, &tree), code = 0;

	if (r)
		return r;
	r = fill(w, tree);
	if (!r && git_treebuilder_entrycount(tree)) {
		r = write_tree(w, &id, tree, name);
		if (!r)
			code = git_treebuilder_insert(NULL, build, name, &id, GIT_FILEMODE_TREE);
		if (code)
			r = repo_fail(w->a, code, w->err, "cannot write %s", name);
	}
	git_treebuilder_free(tree);
	return r;
}

static int fill_columns(struct writer *w, git_treebuilder *tree)
{
	int r = 0;

	free(w->value);
	w->value = array_new(w->tasks.n, sizeof *w->value);
	if (!w->value)
		return no_memory(w);
	for (int c = 0; !r && c < COLUMNS; c++)
		r = put_column(w, tree, c);
	return r;
}

/* After the columns. */
static int fill_spread(struct writer *w, git_treebuilder *tree)
{
	int r = 0;

	for (enum metric m = 0; !r && m < METRICS; m++)
		r = put_spread(w, tree, m);
	return r;
}

static int fill_sys(struct writer *w, git_treebuilder *tree)
{
	int r = 0;

	for (size_t i = 0; !r && w->build->rec && sys_name[i]; i++) {
		buf_clear(&w->text);
		r = sys_write(&w->text, w->build->rec, sys_name[i]);
		if (r)
			r = no_memory(w);
		else if (w->text.len)
			r = put_file(w, tree, sys_name[i]);
	}
	return r;
}

static int put_parts(struct writer *w, git_oid *id)
{
	git_treebuilder *tree;
	int r = new_tree(w, &tree);

	if (r)
		return r;
	r = put_build(w, tree);
	if (!r)
		r = put_totals(w, tree);
	if (!r)
		r = put_text(w, tree, "tasks", &w->tasks.text);
	if (!r)
		r = put_packages(w, tree);
	if (!r)
		r = put_directory(w, tree, BUILD_COLUMNS, fill_columns);
	if (!r)
		r = put_directory(w, tree, BUILD_SPREAD, fill_spread);
	if (!r)
		r = put_directory(w, tree, "sys", fill_sys);
	if (!r)
		r = write_tree(w, id, tree, "a build");
	git_treebuilder_free(tree);
	return r;
}

/* git_commit_create() would lose the error of a failed write. */
static int put_commit(git_oid *id, git_repository *git, const git_signature *by,
		      const char *message, git_tree *tree, git_commit *before)
{
	const git_commit *parent[1] = { before };
	git_buf text = { 0 };
	git_odb *odb = NULL;
	int r = git_commit_create_buffer(&text, git, by, by, NULL, message, tree,
					 before ? 1 : 0, parent);

	if (!r)
		r = git_repository_odb(&odb, git);
	if (!r)
		r = git_odb_write(id, odb, text.ptr, text.size, GIT_OBJECT_COMMIT);
	git_odb_free(odb);
	git_buf_dispose(&text);
	return r;
}

static int write_commit(struct writer *w, git_oid *id, const git_oid *tree,
			const git_oid *parent)
{
	int64_t start_s = message_start_s(w->f);
	git_signature *by = NULL;
	git_commit *before = NULL;
	git_tree *t = NULL;
	int r = git_tree_lookup(&t, w->out.git, tree);

	if (!r && !git_oid_is_zero(parent))
		r = git_commit_lookup(&before, w->out.git, parent);
	if (!r)
		r = git_signature_new(&by, "buildbeat", "buildbeat", MAX(start_s, 0), 0);
	buf_clear(&w->text);
	message_write(&w->text, w->f, w->run.data);
	if (buf_error(&w->text))
		r = GIT_ERROR;
	if (!r)
		r = put_commit(id, w->out.git, by, w->text.data, t, before);
	git_signature_free(by);
	git_commit_free(before);
	git_tree_free(t);
	return r ? repo_fail(w->a, r, w->err, "cannot write a build") : 0;
}

/* The dictionary continues that of the build before, if that can be read. */
static int make_tasks(struct writer *w)
{
	git_odb_object *blob = NULL;
	struct error unused;
	int r;

	if (!git_oid_is_zero(&w->before.commit) &&
	    repo_blob(w->a, &blob, &w->before.tasks, "tasks", &unused))
		blob = NULL;
	r = build_tasks_make(&w->tasks, w->f, blob ? git_odb_object_data(blob) : NULL,
			    blob ? git_odb_object_size(blob) : 0);
	git_odb_object_free(blob);
	return r ? no_memory(w) : 0;
}

/* Only branches of builds are written to. */
static int find_before(struct writer *w, const char *ref, const git_oid *tip)
{
	struct message m;
	int r;

	w->before = (struct build_place){ 0 };
	if (git_oid_is_zero(tip))
		return 0;
	r = build_find(w->a, &w->before, &m, tip, w->err);
	message_release(&m);
	if (r < 0)
		return r;
	return r ? 0 : error_set(w->err, -EINVAL, w->a->path, 0, 0, "the newest commit of "
				 "branch %.200s is not a build: nothing is added to it", ref);
}

/* Looks first whether another writer was faster: the objects would be written in vain. */
static int set_tip(struct writer *w, const char *ref, const git_oid *from, const git_oid *to)
{
	git_oid tip;
	int r = repo_tip(w->a, &tip, ref, w->err);

	if (!r && !git_oid_equal(&tip, from))
		return -EAGAIN;
	if (!r)
		r = writing_keep(&w->out, w->err);
	return r ? r : repo_move(w->a, ref, from, to, w->err);
}

/* Returns -EAGAIN if another writer was faster. */
static int try(struct writer *w, const char *ref, git_oid *id, bool *added)
{
	git_oid tip, tree;
	int r = repo_tip(w->a, &tip, ref, w->err);

	*added = false;
	if (!r)
		r = find_before(w, ref, &tip);
	if (!r)
		r = seen_find(w->a, id, ref, &tip, w->run.data, w->err);
	if (r || !git_oid_is_zero(id))
		return r;
	r = writing_begin(&w->out, w->a, w->err);
	if (!r)
		r = make_tasks(w);
	if (!r)
		r = put_parts(w, &tree);
	if (!r)
		r = write_commit(w, id, &tree, &tip);
	if (!r)
		r = set_tip(w, ref, &tip, id);
	writing_end(&w->out);
	build_tasks_release(&w->tasks);
	*added = !r;
	if (*added)
		packs_tidy(w->a);
	return r;
}

/* If other writers were faster at the server, the build has another id now. */
static int find_again(struct writer *w, const char *ref, git_oid *id)
{
	git_oid tip, now;
	int r = repo_tip(w->a, &tip, ref, w->err);

	if (!r)
		r = seen_find(w->a, &now, ref, &tip, w->run.data, w->err);
	if (!r && !git_oid_is_zero(&now))
		*id = now;
	return r;
}

static int add_and_send(struct writer *w, const char *ref, git_oid *id, bool *added)
{
	struct error unsent = { 0 };
	int r = remote_begin(w->a, w->err), sent, failures = 0;

	if (r)
		return r;
	r = -EAGAIN;
	for (int i = 0; i < TRIES && (r == -EAGAIN || (r == -EIO && failures++ < FAILURES)); i++)
		r = try(w, ref, id, added);
	sent = remote_end(w->a, &unsent);
	if (!r && w->a->remote)
		r = find_again(w, ref, id);
	if (!r && sent)
		*w->err = unsent;
	return r ? r : sent;
}

int archive_add(struct archive *a, const char *ref, const struct archive_build *build,
		char id[ARCHIVE_ID_SIZE], bool *added, struct error *err)
{
	struct writer w = { .a = a, .build = build, .f = build->values, .err = err };
	git_oid oid = { { 0 } };
	int r;

	*added = false;
	if (build->run && *build->run)
		buf_adds(&w.run, build->run);
	else
		make_run(&w.run, w.f);
	r = buf_error(&w.run) ? no_memory(&w) : add_and_send(&w, ref, &oid, added);
	git_oid_tostr(id, ARCHIVE_ID_SIZE, &oid);
	buf_release(&w.run);
	buf_release(&w.text);
	free(w.value);
	return r;
}
