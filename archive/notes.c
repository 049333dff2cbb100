#include "notes.h"

#include "archive.h"
#include "notes_text.h"

#include <errno.h>
#include <string.h>

#define NOBODY "buildbeat", "buildbeat@localhost"

static int git_failed(struct error *err, const char *what)
{
	const git_error *e = git_error_last();

	return error_set(err, -EIO, NOTES_REF, 0, 0, "%s: %s", what,
			 e && e->message ? e->message : "unknown error");
}

/* One state of the notes: commit NULL before the first. */
struct notes {
	git_repository *repo;
	git_commit *commit;
};

static int notes_open(struct notes *n, git_repository *repo, const git_oid *id,
		      struct error *err)
{
	*n = (struct notes){ .repo = repo };
	if (git_oid_is_zero(id))
		return 0;
	return git_commit_lookup(&n->commit, repo, id) ? git_failed(err, "cannot read notes") : 0;
}

static void notes_close(struct notes *n)
{
	git_commit_free(n->commit);
	n->commit = NULL;
}

/* The note on a night, or nothing. *note is the caller's, who frees it. */
static int note_read(struct slice *text, git_note **note, const struct notes *n,
		     const git_oid *night, struct error *err)
{
	int r = GIT_ENOTFOUND;

	*note = NULL;
	*text = (struct slice){ "", 0 };
	if (n->commit)
		r = git_note_commit_read(note, n->repo, n->commit, night);
	if (r)
		return r == GIT_ENOTFOUND ? 0 : git_failed(err, "cannot read a note");
	*text = (struct slice){ git_note_message(*note), strlen(git_note_message(*note)) };
	return 0;
}

/* The next state: with text on a night, or with none if it is empty. */
static int notes_put(struct notes *n, const git_oid *night, struct buf *text,
		     const git_signature *who, struct error *err)
{
	git_oid commit, blob;
	int r;

	if (buf_error(text))
		return error_sys(err, buf_error(text), NOTES_REF, NULL);
	if (text->len)
		r = git_note_commit_create(&commit, &blob, n->repo, n->commit, who, who, night,
					   buf_str(text), 1);
	else
		r = git_note_commit_remove(&commit, n->repo, n->commit, who, who, night);
	if (r == GIT_ENOTFOUND)
		return 0;
	if (r)
		return git_failed(err, "cannot write notes");
	notes_close(n);
	return notes_open(n, n->repo, &commit, err);
}

/* Merging */

struct merge {
	struct notes base, ours, theirs, merged;
	git_signature *who;
	struct error *err;
};

static int merge_note(struct merge *m, const git_oid *night)
{
	const struct notes *side[3] = { &m->base, &m->ours, &m->theirs };
	git_note *note[3] = { NULL };
	struct slice is[3];
	struct buf text = BUF_INIT;
	int r = 0;

	for (int i = 0; i < 3 && !r; i++)
		r = note_read(&is[i], &note[i], side[i], night, m->err);
	if (!r) {
		note_merge(&text, is[0], is[1], is[2]);
		if (buf_error(&text) || text.len != is[1].len ||
		    memcmp(buf_str(&text), is[1].p, is[1].len))
			r = notes_put(&m->merged, night, &text, m->who, m->err);
	}
	buf_release(&text);
	for (int i = 0; i < 3; i++)
		git_note_free(note[i]);
	return r;
}

/* Every note that one side has. One on both sides is done twice, to the same end. */
static int merge_notes_of(struct merge *m, const struct notes *side)
{
	git_note_iterator *it;
	git_oid blob, night;
	int r = 0;

	if (git_note_commit_iterator_new(&it, side->commit))
		return git_failed(m->err, "cannot read notes");
	while (!r && !git_note_next(&blob, &night, it))
		r = merge_note(m, &night);
	git_note_iterator_free(it);
	return r;
}

/* The same commit from the same two, in whatever order and whenever. */
static int commit_merge(struct merge *m, git_oid *id)
{
	const git_commit *parents[2] = { m->ours.commit, m->theirs.commit };
	git_tree *tree;
	int r;

	if (git_commit_tree(&tree, m->merged.commit))
		return git_failed(m->err, "cannot read notes");
	r = git_commit_create(id, m->merged.repo, NULL, m->who, m->who, NULL, "Notes merged\n",
			      tree, 2, parents);
	git_tree_free(tree);
	return r ? git_failed(m->err, "cannot write notes") : 0;
}

static int merge_open(struct merge *m, git_repository *repo, const git_oid *base,
		      const git_oid *ours, const git_oid *theirs)
{
	int r = notes_open(&m->base, repo, base, m->err);
	git_time_t at;

	r = r ? r : notes_open(&m->ours, repo, ours, m->err);
	r = r ? r : notes_open(&m->theirs, repo, theirs, m->err);
	r = r ? r : notes_open(&m->merged, repo, ours, m->err);
	if (r)
		return r;
	at = git_commit_time(m->ours.commit);
	if (git_commit_time(m->theirs.commit) > at)
		at = git_commit_time(m->theirs.commit);
	return git_signature_new(&m->who, NOBODY, at, 0) ?
	       git_failed(m->err, "cannot write notes") : 0;
}

int notes_merge(git_oid *merged, git_repository *repo, const git_oid *ours,
		const git_oid *theirs, struct error *err)
{
	struct merge m = { .err = err };
	git_oid base = { { 0 } };
	int r;

	/* Nobody's commit is the first of both, whoever merges. */
	if (git_oid_cmp(ours, theirs) > 0) {
		const git_oid *other = ours;

		ours = theirs;
		theirs = other;
	}
	r = git_merge_base(&base, repo, ours, theirs);
	if (r && r != GIT_ENOTFOUND)
		return git_failed(err, "cannot read notes");
	if (git_oid_equal(&base, ours) || git_oid_equal(&base, theirs)) {
		git_oid_cpy(merged, git_oid_equal(&base, ours) ? theirs : ours);
		return 0;
	}
	r = merge_open(&m, repo, &base, ours, theirs);
	r = r ? r : merge_notes_of(&m, &m.ours);
	r = r ? r : merge_notes_of(&m, &m.theirs);
	r = r ? r : commit_merge(&m, merged);
	git_signature_free(m.who);
	notes_close(&m.base);
	notes_close(&m.ours);
	notes_close(&m.theirs);
	notes_close(&m.merged);
	return r;
}

/* What both say, on the second. */
static int copy(struct notes *n, const git_oid *from, const git_oid *to, struct error *err)
{
	struct slice nothing = { "", 0 }, old, there;
	git_note *note[2] = { NULL };
	git_signature *who = NULL;
	struct buf text = BUF_INIT;
	int r = note_read(&old, &note[0], n, from, err);

	r = r ? r : note_read(&there, &note[1], n, to, err);
	if (!r && old.len) {
		note_merge(&text, nothing, there, old);
		r = git_signature_new(&who, NOBODY, git_commit_time(n->commit), 0) ?
		    git_failed(err, "cannot write notes") : notes_put(n, to, &text, who, err);
	}
	git_signature_free(who);
	git_note_free(note[0]);
	git_note_free(note[1]);
	buf_release(&text);
	return r;
}

int notes_copy(git_oid *notes, git_repository *repo, const git_oid *from, const git_oid *to,
	       struct error *err)
{
	struct notes n;
	int r = notes_open(&n, repo, notes, err);

	if (!r && n.commit)
		r = copy(&n, from, to, err);
	if (!r && n.commit)
		git_oid_cpy(notes, git_commit_id(n.commit));
	notes_close(&n);
	return r;
}
