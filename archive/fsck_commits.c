/* SPDX-License-Identifier: MIT */
#include "archive/fsck.h"

#include "archive/build.h"
#include "archive/writing.h"
#include "base/arena.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TREES_MAX 4		/* directories in each other */

static int by_id(const void *a, const void *b)
{
	return git_oid_cmp(&((const struct fsck_commit *)a)->id,
			   &((const struct fsck_commit *)b)->id);
}

struct listing {
	git_odb *odb;
	size_t n;
	git_oid *id;
};

static int list_id(const git_oid *id, void *context)
{
	struct listing *l = context;
	git_object_t type;
	git_oid *grown;
	size_t len;

	if (git_odb_read_header(&len, &type, l->odb, id) || type != GIT_OBJECT_COMMIT)
		return 0;
	grown = array_add(&l->id, &l->n, sizeof *grown);
	if (grown)
		*grown = *id;
	return grown ? 0 : -ENOMEM;
}

static int add_commit(struct fsck_commits *all, struct fsck *f, const git_oid *id)
{
	struct fsck_commit *added;
	struct message m;
	git_commit *c;
	int r = build_commit(f->a, &c, &m, id, f->err);

	if (r)
		return r == -ENOMEM ? r : 0;
	added = array_add(&all->commit, &all->n, sizeof *added);
	if (added) {
		*added = (struct fsck_commit){ .id = *id, .start_s = m.run ? m.start_s : -2 };
		if (git_commit_parentcount(c))
			added->parent = *git_commit_parent_id(c, 0);
	}
	message_release(&m);
	git_commit_free(c);
	return added ? 0 : error_sys(f->err, -ENOMEM, f->a->path, NULL);
}

static void mark(struct fsck_commits *all, const git_oid *id)
{
	struct fsck_commit key = { .id = *id };
	struct fsck_commit *c = all->n ? bsearch(&key, all->commit, all->n, sizeof key, by_id) : NULL;

	if (c)
		c->has_place = true;
}

static int mark_tips(struct fsck_commits *all, struct fsck *f)
{
	git_strarray names;
	int r = git_reference_list(&names, f->a->git);
	git_oid id;

	if (r)
		return repo_fail(f->a, r, f->err, "cannot list branches");
	for (size_t i = 0; i < names.count; i++) {
		if (!git_reference_name_to_id(&id, f->a->git, names.strings[i]))
			mark(all, &id);
	}
	git_strarray_dispose(&names);
	return 0;
}

int fsck_list_commits(struct fsck_commits *all, struct fsck *f)
{
	struct listing l = { 0 };
	int r = git_repository_odb(&l.odb, f->a->git);

	if (r)
		return repo_fail(f->a, r, f->err, "cannot list the commits");
	r = git_odb_foreach(l.odb, list_id, &l) == -ENOMEM ?
	    error_sys(f->err, -ENOMEM, f->a->path, NULL) : 0;
	git_odb_free(l.odb);
	if (r)
		goto out;
	for (size_t i = 0; i < l.n; i++) {
		r = add_commit(all, f, &l.id[i]);
		if (r)
			goto out;
	}
out:
	free(l.id);
	if (all->n)
		qsort(all->commit, all->n, sizeof *all->commit, by_id);
	for (size_t i = 0; i < all->n; i++)
		mark(all, &all->commit[i].parent);
	return r ? r : mark_tips(all, f);
}

struct facts {
	const char *host, *branch, *machine;
};

static int take_fact(void *context, const struct pair *pair)
{
	struct facts *facts = context;
	const char **fact = !strcmp(pair->key, "host") ? &facts->host :
			    !strcmp(pair->key, "branch") ? &facts->branch :
			    !strcmp(pair->key, "machine") ? &facts->machine : NULL;

	if (fact && !*fact)
		*fact = pair->value;
	return 0;
}

/* "HOST/BRANCH/MACHINE" as recorded, or "" if that cannot be read. */
static void series_of(struct fsck *f, struct buf *series, const git_oid *id)
{
	struct arena *texts = arena_new();
	struct build_place place;
	struct facts facts = { 0 };
	struct error unused;
	struct message m;

	buf_clear(series);
	build_find(f->a, &place, &m, id, &unused);
	message_release(&m);
	if (texts && !git_oid_is_zero(&place.build) &&
	    !build_pairs(f->a, &place, &place.build, "build", &pair_build, texts, take_fact, &facts,
			 &unused))
		archive_ref(series, facts.host, facts.branch, facts.machine);
	arena_free(texts);
}

static bool is_candidate(struct fsck *f, const struct fsck_commit *c, int64_t before_s,
			 bool (*is_known)(const void *context, const git_oid *id, const char *run),
			 const void *context)
{
	struct error unused;
	struct message m;
	git_commit *commit;
	bool fits;

	if (c->has_place || c->start_s < -1 || (before_s >= 0 && c->start_s > before_s) ||
	    build_commit(f->a, &commit, &m, &c->id, &unused))
		return false;
	fits = git_commit_parentcount(commit) < 2 && !is_known(context, &c->id, m.run);
	message_release(&m);
	git_commit_free(commit);
	return fits;
}

int fsck_find_older(struct fsck *f, git_oid *found, const struct fsck_commits *all, const char *ref,
		    const git_oid *like, int64_t before_s,
		    bool (*is_known)(const void *context, const git_oid *id, const char *run),
		    const void *context)
{
	struct buf wanted = BUF_INIT, series = BUF_INIT;
	const struct fsck_commit *best = NULL, *any = NULL;
	int r;

	if (!git_oid_is_zero(like))
		series_of(f, &wanted, like);
	if (!wanted.len)
		buf_adds(&wanted, ref);
	for (size_t i = 0; i < all->n; i++) {
		const struct fsck_commit *c = &all->commit[i];

		if ((best && c->start_s <= best->start_s) ||
		    !is_candidate(f, c, before_s, is_known, context))
			continue;
		if (!any || c->start_s > any->start_s)
			any = c;
		series_of(f, &series, &c->id);
		if (!series.len || !strcmp(series.data, buf_str(&wanted)))
			best = c;
	}
	/* The options --host, --branch and --machine can name a series in any way. */
	if (!best && git_oid_is_zero(like))
		best = any;
	*found = best ? best->id : (git_oid){ { 0 } };
	r = buf_error(&wanted) ? buf_error(&wanted) : buf_error(&series);
	buf_release(&wanted);
	buf_release(&series);
	return r ? error_sys(f->err, r, f->a->path, NULL) : 0;
}

/* What is saved */

static int save_tree(git_repository *git, git_treebuilder *to, const git_oid *id, unsigned depth);

static int save_directory(git_repository *git, git_treebuilder *to, const char *name,
			  const git_oid *from, unsigned depth)
{
	git_treebuilder *directory;
	git_oid id;
	int r = git_treebuilder_new(&directory, git, NULL);

	if (r)
		return r;
	r = save_tree(git, directory, from, depth);
	if (!r && git_treebuilder_entrycount(directory)) {
		r = git_treebuilder_write(&id, directory);
		if (!r)
			r = git_treebuilder_insert(NULL, to, name, &id, GIT_FILEMODE_TREE);
	}
	git_treebuilder_free(directory);
	return r;
}

/* The entries that can be read. */
static int save_tree(git_repository *git, git_treebuilder *to, const git_oid *id, unsigned depth)
{
	git_tree *from;
	int r = 0;

	if (!depth || git_tree_lookup(&from, git, id))
		return 0;
	for (size_t i = 0; !r && i < git_tree_entrycount(from); i++) {
		const git_tree_entry *e = git_tree_entry_byindex(from, i);
		git_blob *blob;

		if (git_tree_entry_type(e) == GIT_OBJECT_TREE) {
			r = save_directory(git, to, git_tree_entry_name(e), git_tree_entry_id(e),
					   depth - 1);
		} else if (!git_blob_lookup(&blob, git, git_tree_entry_id(e))) {
			git_blob_free(blob);
			r = git_treebuilder_insert(NULL, to, git_tree_entry_name(e),
						   git_tree_entry_id(e), GIT_FILEMODE_BLOB);
		}
	}
	git_tree_free(from);
	return r;
}

int fsck_save(struct writing *w, git_treebuilder *lost, const git_oid *commit)
{
	char name[GIT_OID_HEXSZ + 1];
	git_treebuilder *to = NULL;
	git_commit *c;
	git_oid id;
	int r;

	if (git_commit_lookup(&c, w->git, commit))
		return 0;
	git_oid_tostr(name, sizeof name, commit);
	r = git_treebuilder_new(&to, w->git, NULL);
	if (!r)
		r = save_tree(w->git, to, git_commit_tree_id(c), TREES_MAX);
	if (!r)
		r = git_blob_create_from_buffer(&id, w->git, git_commit_message_raw(c),
						strlen(git_commit_message_raw(c)));
	if (!r)
		r = git_treebuilder_insert(NULL, to, "message", &id, GIT_FILEMODE_BLOB);
	if (!r)
		r = git_treebuilder_write(&id, to);
	if (!r)
		r = git_treebuilder_insert(NULL, lost, name, &id, GIT_FILEMODE_TREE);
	git_treebuilder_free(to);
	git_commit_free(c);
	return r;
}
