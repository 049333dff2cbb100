/* SPDX-License-Identifier: MIT */
#include "archive/rewrite.h"

#include "archive/notes.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

static int walk_commits(struct rewrite_commits *list, struct archive *a, git_revwalk *walk,
			const git_oid *tip, const git_oid *hidden, size_t n, struct error *err)
{
	git_oid id;
	int r;

	git_revwalk_sorting(walk, GIT_SORT_TOPOLOGICAL | GIT_SORT_REVERSE);
	git_revwalk_simplify_first_parent(walk);
	r = git_revwalk_push(walk, tip);
	for (size_t i = 0; !r && i < n; i++) {
		if (!git_oid_is_zero(&hidden[i]))
			r = git_revwalk_hide(walk, &hidden[i]);
	}
	while (!r && !(r = git_revwalk_next(&id, walk))) {
		git_oid *added = array_add(&list->id, &list->n, sizeof *added);

		if (!added)
			return error_sys(err, -ENOMEM, a->path, NULL);
		*added = id;
	}
	return r == GIT_ITEROVER ? 0 : repo_fail(a, r, err, "cannot read the commits");
}

int rewrite_list(struct rewrite_commits *list, struct archive *a, const git_oid *tip,
		 const git_oid *hidden, size_t n, struct error *err)
{
	git_revwalk *w;
	int r;

	*list = (struct rewrite_commits){ 0 };
	if (git_oid_is_zero(tip))
		return 0;
	r = git_revwalk_new(&w, a->git);
	if (r)
		return repo_fail(a, r, err, "cannot read the commits");
	r = walk_commits(list, a, w, tip, hidden, n, err);
	git_revwalk_free(w);
	return r;
}

void rewrite_release(struct rewrite_commits *list)
{
	free(list->id);
	*list = (struct rewrite_commits){ 0 };
}

static int write_on(git_repository *git, git_oid *id, const git_commit *c, const git_oid *parent)
{
	git_commit *on = NULL;
	git_tree *tree = NULL;
	int r = git_commit_tree(&tree, c);

	if (!r && !git_oid_is_zero(parent))
		r = git_commit_lookup(&on, git, parent);
	if (!r)
		r = git_commit_create(id, git, NULL, git_commit_author(c), git_commit_committer(c),
				      git_commit_message_encoding(c), git_commit_message_raw(c),
				      tree, on ? 1 : 0, (const git_commit **)&on);
	git_tree_free(tree);
	git_commit_free(on);
	return r;
}

static int rewrite(struct writing *w, const git_oid *id, git_oid *tip, git_oid *notes,
		   struct error *err)
{
	git_commit *c;
	git_oid written;
	int r = git_commit_lookup(&c, w->git, id);

	if (!r) {
		r = write_on(w->git, &written, c, tip);
		git_commit_free(c);
	}
	if (r)
		return repo_fail(w->a, r, err, "cannot rewrite a build");
	*tip = written;
	return git_oid_equal(id, &written) ? 0 : notes_copy(notes, w->git, id, &written, err);
}

int rewrite_onto(struct writing *w, const git_oid *id, size_t n, git_oid *tip, git_oid *notes,
		 struct error *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = rewrite(w, &id[i], tip, notes, err);
	return r;
}
