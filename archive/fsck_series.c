/* SPDX-License-Identifier: MIT */
#include "archive/fsck.h"

#include "archive/build.h"
#include "archive/notes.h"
#include "archive/remote_parts.h"
#include "archive/rewrite.h"
#include "base/array.h"
#include "base/clock.h"
#include "recording/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADS "refs/heads/"
#define LOST "refs/buildbeat/lost/"
#define PARTS 3
#define ID_SHOWN 12
#define NAMES_TRIED 1000
#define NS_PER_S 1000000000

/* A series, from the newest commit to the oldest. */
struct chain {
	struct fsck *f;
	const char *name;		/* of the reference */
	git_oid tip;			/* all zero: cannot be read */
	size_t n, n_whole, n_builds;
	struct link {
		git_oid id;
		char *run;		/* NULL: not a build */
		int64_t start_s;
		bool whole;
	} *link;
	bool broken;			/* not the same as its whole builds */
	struct fsck_commits all;	/* read only if a commit is missing */
};

static void chain_release(struct chain *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->link[i].run);
	free_all(c->link, c->all.commit);
}

static const char *ref_of(const struct chain *c)
{
	return c->name + strlen(HEADS);
}

static int read_whole(struct archive *a, const git_oid *id, struct error *why)
{
	struct recording rec;
	int r = archive_recording(a, git_oid_tostr_s(id), &rec, why);

	if (!r)
		recording_release(&rec);
	return r;
}

static int add_link(struct chain *c, const git_oid *id, const struct message *m, bool is_build)
{
	struct link *link = array_add(&c->link, &c->n, sizeof *link);
	struct error why;
	int r;

	if (!link)
		return -ENOMEM;
	*link = (struct link){ .id = *id, .start_s = m->start_s };
	if (!is_build) {
		fsck_found(c->f, "%s: commit %.*s is not a build", ref_of(c), ID_SHOWN,
			   git_oid_tostr_s(id));
		return 0;
	}
	c->n_builds++;
	link->run = strdup(m->run);
	if (!link->run)
		return -ENOMEM;
	r = read_whole(c->f->a, id, &why);
	if (r == -ENOMEM)
		return r;
	link->whole = !r;
	c->n_whole += link->whole;
	if (!link->whole) {
		const char *part = strcmp(why.path, c->f->a->path) ? strrchr(why.path, ':') : NULL;

		fsck_found(c->f, "%s: build %.*s (%s) is lost: %s%s%s", ref_of(c), ID_SHOWN,
			   git_oid_tostr_s(id), link->run, part ? part + 1 : "", part ? ": " : "",
			   why.message);
	}
	return 0;
}

static bool is_known(const void *context, const git_oid *id, const char *run)
{
	const struct chain *c = context;

	for (size_t i = 0; i < c->n; i++) {
		if (git_oid_equal(&c->link[i].id, id) ||
		    (c->link[i].run && !strcmp(c->link[i].run, run)))
			return true;
	}
	return false;
}

/* The newest commit below a commit that cannot be read. */
static int find_older(struct chain *c, git_oid *at)
{
	static const git_oid none;
	const struct link *last = NULL;
	int r = c->all.n ? 0 : fsck_list_commits(&c->all, c->f);

	for (size_t i = 0; i < c->n; i++) {
		if (c->link[i].run)
			last = &c->link[i];
	}
	return r ? r : fsck_find_older(c->f, at, &c->all, ref_of(c), last ? &last->id : &none,
				       last ? last->start_s : -1, is_known, c);
}

static int walk_chain(struct chain *c)
{
	git_oid at = c->tip;
	int r = 0;

	c->broken = git_oid_is_zero(&at);
	if (c->broken)
		r = find_older(c, &at);
	while (!r && !git_oid_is_zero(&at)) {
		git_oid id = at;
		struct message m;
		git_commit *commit;

		at = (git_oid){ { 0 } };
		r = build_commit(c->f->a, &commit, &m, &id, c->f->err);
		if (r == -ENOMEM)
			return r;
		if (r) {
			c->broken = true;
			fsck_found(c->f, "%s: commit %.*s is lost: %s", ref_of(c), ID_SHOWN,
				   git_oid_tostr_s(&id), c->f->err->message);
			r = find_older(c, &at);
			continue;
		}
		if (git_commit_parentcount(commit))
			at = *git_commit_parent_id(commit, 0);
		r = add_link(c, &id, &m, m.run && git_commit_parentcount(commit) < 2);
		message_release(&m);
		git_commit_free(commit);
		if (r)
			return error_sys(c->f->err, r, c->f->a->path, NULL);
	}
	return r;
}

/* Repairing */

static int save_lost(struct chain *c, struct writing *w, git_oid *id)
{
	git_treebuilder *lost;
	git_signature *by = NULL;
	git_tree *tree = NULL;
	struct buf text = BUF_INIT;
	git_oid tree_id;
	int r = git_treebuilder_new(&lost, w->git, NULL);

	if (r)
		return r;
	for (size_t i = 0; i < c->n; i++) {
		if (!c->link[i].whole)
			r = fsck_save(w, lost, &c->link[i].id);
		if (r)
			goto out;
	}
	buf_addf(&text, "Lost builds of %s\n\nThe newest commit was %s.\n", ref_of(c),
		 git_oid_tostr_s(&c->tip));
	r = git_treebuilder_write(&tree_id, lost);
	if (r)
		goto out;
	r = git_tree_lookup(&tree, w->git, &tree_id);
	if (r)
		goto out;
	r = git_signature_now(&by, "buildbeat", "buildbeat");
	if (r)
		goto out;
	r = git_commit_create(id, w->git, NULL, by, by, NULL, buf_str(&text), tree, 0, NULL);
out:
	git_signature_free(by);
	git_tree_free(tree);
	git_treebuilder_free(lost);
	buf_release(&text);
	return r;
}

/* The file of a reference that cannot be read is not removed by libgit2. */
static int delete_tip(struct chain *c)
{
	char path[PATH_MAX];

	if (!git_oid_is_zero(&c->tip))
		return repo_remove(c->f->a, c->name, c->f->err);
	snprintf(path, sizeof path, "%s%s", git_repository_commondir(c->f->a->git), c->name);
	return unlink(path) && errno != ENOENT ?
	       error_sys(c->f->err, -errno, path, "cannot remove") : 0;
}

static int set_tip(struct chain *c, const git_oid *to)
{
	int r = 0;

	if (git_oid_is_zero(to) || git_oid_is_zero(&c->tip))
		r = delete_tip(c);
	if (r || git_oid_is_zero(to))
		return r;
	r = repo_set(c->f->a, c->name, &c->tip, to, c->f->err);
	return r == -EAGAIN ? error_set(c->f->err, r, c->f->a->path, 0, 0, "%s changed meanwhile: "
					"repeat the command", ref_of(c)) : r;
}

static int rewrite(struct chain *c, struct writing *w, git_oid *to, git_oid *notes)
{
	git_oid *whole = array_new_zero(c->n, sizeof *whole);
	size_t n = 0;
	int r;

	if (!whole)
		return error_sys(c->f->err, -ENOMEM, c->f->a->path, NULL);
	for (size_t i = c->n; i--;) {
		if (c->link[i].whole)
			whole[n++] = c->link[i].id;
	}
	r = rewrite_onto(w, whole, n, to, notes, c->f->err);
	free(whole);
	return r;
}

/* Without the notes if those cannot be copied: fsck_notes() mends them. */
static int rewrite_with_notes(struct chain *c, struct writing *w, git_oid *to, git_oid *notes)
{
	int r = rewrite(c, w, to, notes);

	if (!r || r == -ENOMEM)
		return r;
	*to = *notes = (git_oid){ { 0 } };
	return rewrite(c, w, to, notes);
}

/* The name is the time. If a repair failed in the same second, it is the next second that is free. */
static int keep_lost(struct chain *c, const git_oid *lost)
{
	static const git_oid none;
	int64_t now_s = clock_wall_ns() / NS_PER_S;
	struct buf name = BUF_INIT;
	int r = -EAGAIN;

	for (int i = 0; r == -EAGAIN && i < NAMES_TRIED; i++) {
		buf_clear(&name);
		buf_addf(&name, LOST "%s/%lld", ref_of(c), (long long)now_s + i);
		r = buf_error(&name) ? error_sys(c->f->err, buf_error(&name), c->f->a->path, NULL) :
		    repo_set(c->f->a, buf_str(&name), &none, lost, c->f->err);
	}
	buf_release(&name);
	return r;
}

static int repair(struct chain *c)
{
	static const git_oid none;
	struct writing w;
	git_oid to = none, lost, notes = none, copied;
	int r = writing_begin(&w, c->f->a, c->f->err);

	if (!r && git_reference_name_to_id(&notes, c->f->a->git, NOTES_REF))
		notes = none;
	copied = notes;
	if (!r)
		r = rewrite_with_notes(c, &w, &to, &copied);
	if (!r && save_lost(c, &w, &lost))
		r = repo_fail(c->f->a, GIT_ERROR, c->f->err, "cannot save lost builds");
	if (!r)
		r = writing_keep(&w, c->f->err);
	if (!r)
		r = keep_lost(c, &lost);
	if (!r && !git_oid_is_zero(&copied) && !git_oid_equal(&notes, &copied))
		r = repo_set(c->f->a, NOTES_REF, &notes, &copied, c->f->err);
	if (!r)
		r = set_tip(c, &to);
	writing_end(&w);
	remote_forget(c->f->a);
	return r;
}

int fsck_series(struct fsck *f, const char *name)
{
	struct chain c = { .f = f, .name = name };
	size_t parts = 1;
	int r;

	for (const char *p = name + strlen(HEADS); *p; p++)
		parts += *p == '/';
	if (parts != PARTS)
		return 0;
	if (git_reference_name_to_id(&c.tip, f->a->git, name)) {
		c.tip = (git_oid){ { 0 } };
		fsck_found(f, "%s: the reference cannot be read", ref_of(&c));
	}
	r = walk_chain(&c);
	if (!r && f->out->repair && (c.broken || (c.n_builds && c.n_whole < c.n)))
		r = repair(&c);
	chain_release(&c);
	return r;
}
