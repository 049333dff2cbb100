/* SPDX-License-Identifier: MIT */
#include "archive/fsck.h"

#include "archive/notes.h"
#include "archive/writing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A state of the notes: all that can be read of it is copied. */
struct copy {
	struct writing w;
	git_commit *from, *to;
	size_t n, n_lost;
};

/* What cannot be read for want of memory is not lost. */
static bool lacks_memory(void)
{
	const git_error *e = git_error_last();

	return e && e->klass == GIT_ERROR_NOMEMORY;
}

static int copy_note(struct copy *c, git_oid *to, const git_oid *build)
{
	git_oid blob;
	git_note *note;
	int r;

	c->n++;
	if (git_note_commit_read(&note, c->w.git, c->from, build)) {
		c->n_lost++;
		return lacks_memory() ? -ENOMEM : 0;
	}
	r = git_note_commit_create(to, &blob, c->w.git, c->to, git_note_author(note),
				   git_note_committer(note), build, git_note_message(note), 1);
	git_note_free(note);
	if (r)
		return r;
	git_commit_free(c->to);
	c->to = NULL;
	return git_commit_lookup(&c->to, c->w.git, to);
}

/* GIT_ENOTFOUND if this state cannot be read. */
static int copy_all(struct copy *c, git_oid *to)
{
	git_note_iterator *it;
	git_oid blob, build;
	git_tree *tree;
	int r;

	if (git_commit_tree(&tree, c->from))
		return GIT_ENOTFOUND;
	git_tree_free(tree);
	if (git_note_commit_iterator_new(&it, c->from))
		return GIT_ENOTFOUND;
	while (!(r = git_note_next(&blob, &build, it))) {
		r = copy_note(c, to, &build);
		if (r)
			break;
	}
	git_note_iterator_free(it);
	return r == GIT_ITEROVER ? 0 : r;
}

/* From the newest state to the oldest, until one can be read. */
static int find_state(struct copy *c, git_oid *to, const git_oid *tip, bool *is_tip)
{
	git_oid at = *tip;
	int r = GIT_ENOTFOUND;

	*is_tip = true;
	while (r == GIT_ENOTFOUND && !git_oid_is_zero(&at) &&
	       !git_commit_lookup(&c->from, c->w.git, &at)) {
		*to = (git_oid){ { 0 } };
		c->n = c->n_lost = 0;
		r = copy_all(c, to);
		*is_tip = git_oid_equal(&at, tip);
		at = git_commit_parentcount(c->from) ? *git_commit_parent_id(c->from, 0) :
		     (git_oid){ { 0 } };
		git_commit_free(c->from);
		c->from = NULL;
		git_commit_free(c->to);
		c->to = NULL;
	}
	return r;
}

static int read_entry(const char *root, const git_tree_entry *e, void *git)
{
	git_object *object;

	(void)root;
	if (git_tree_entry_to_object(&object, git, e))
		return -1;
	git_object_free(object);
	return 0;
}

/* Git reads the older states too when it repacks. */
static bool has_history(git_repository *git, const git_oid *tip)
{
	git_revwalk *walk;
	git_commit *c;
	git_tree *tree;
	git_oid id;
	int r = git_revwalk_new(&walk, git);

	if (r)
		return false;
	r = git_revwalk_push(walk, tip);
	while (!r && !(r = git_revwalk_next(&id, walk)) && !(r = git_commit_lookup(&c, git, &id))) {
		r = git_commit_tree(&tree, c);
		git_commit_free(c);
		if (!r) {
			r = git_tree_walk(tree, GIT_TREEWALK_PRE, read_entry, git);
			git_tree_free(tree);
		}
	}
	git_revwalk_free(walk);
	return r == GIT_ITEROVER;
}

static int set_notes(struct fsck *f, struct copy *c, const git_oid *from, const git_oid *to)
{
	char path[PATH_MAX];
	int r = 0;

	if (!git_oid_is_zero(to) && (r = writing_keep(&c->w, f->err)))
		return r;
	if (git_oid_is_zero(from)) {
		snprintf(path, sizeof path, "%s" NOTES_REF, git_repository_commondir(f->a->git));
		r = unlink(path) && errno != ENOENT ? -errno : 0;
		if (r)
			return error_sys(f->err, r, path, "cannot remove");
	} else if (git_oid_is_zero(to)) {
		return repo_remove(f->a, NOTES_REF, f->err);
	}
	return git_oid_is_zero(to) ? 0 : repo_set(f->a, NOTES_REF, from, to, f->err);
}

int fsck_notes(struct fsck *f)
{
	struct copy c = { 0 };
	git_oid tip = { { 0 } }, to = { { 0 } };
	size_t before = f->out->n;
	bool is_tip = false;
	int r = git_reference_name_to_id(&tip, f->a->git, NOTES_REF), found;

	if (r == GIT_ENOTFOUND)
		return 0;
	if (r)
		tip = (git_oid){ { 0 } };
	r = writing_begin(&c.w, f->a, f->err);
	if (r)
		return r;
	git_error_clear();
	found = find_state(&c, &to, &tip, &is_tip);
	if (found && lacks_memory()) {
		writing_end(&c.w);
		return error_sys(f->err, -ENOMEM, f->a->path, NULL);
	}
	if (found)
		fsck_found(f, NOTES_REF ": the notes are lost");
	else if (!is_tip)
		fsck_found(f, NOTES_REF ": the newest notes are lost, older ones are not");
	if (!found && c.n_lost)
		fsck_found(f, NOTES_REF ": %zu of %zu notes are lost", c.n_lost, c.n);
	else if (!found && is_tip && !has_history(f->a->git, &tip))
		fsck_found(f, NOTES_REF ": an older state of the notes is lost");
	if (f->out->repair && f->out->n > before)
		r = set_notes(f, &c, &tip, found ? &(git_oid){ { 0 } } : &to);
	writing_end(&c.w);
	return r;
}
