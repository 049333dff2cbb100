/* SPDX-License-Identifier: MIT */
#include "archive/remote_parts.h"

#include "archive/build.h"
#include "archive/notes.h"
#include "archive/rewrite.h"
#include "archive/seen.h"
#include "archive/sync.h"

#include <errno.h>
#include <string.h>

int remote_get(struct archive *a, git_oid *id, const char *prefix, const char *name,
	       struct error *err)
{
	struct buf full = BUF_INIT;
	int r;

	*id = (git_oid){ { 0 } };
	buf_adds(&full, prefix);
	buf_adds(&full, name);
	if (buf_error(&full))
		return error_sys(err, buf_error(&full), a->path, NULL);
	r = git_reference_name_to_id(id, a->git, full.data);
	if (r && r != GIT_ENOTFOUND)
		r = repo_fail(a, r, err, "%s", full.data);
	buf_release(&full);
	return r == GIT_ENOTFOUND ? 0 : r;
}

int remote_put(struct archive *a, const char *prefix, const char *name, const git_oid *id,
	       struct error *err)
{
	struct buf full = BUF_INIT;
	git_reference *ref = NULL;
	int r;

	/* Under the lock of the copy. */
	buf_adds(&full, prefix);
	buf_adds(&full, name);
	if (buf_error(&full))
		return error_sys(err, buf_error(&full), a->path, NULL);
	if (git_oid_is_zero(id))
		r = git_reference_remove(a->git, full.data);
	else
		r = git_reference_create(&ref, a->git, full.data, id, 1, "buildbeat");
	git_reference_free(ref);
	if (r)
		r = repo_fail(a, r, err, "cannot write %s", full.data);
	buf_release(&full);
	return r;
}

void remote_forget(struct archive *a)
{
	seen_free(a->seen);
	a->seen = NULL;
}

int remote_state(struct archive *a, struct remote_state *s, const char *ref, struct error *err)
{
	int r = remote_get(a, &s->ours, REMOTE_HEADS, ref, err);

	if (!r)
		r = remote_get(a, &s->server, SYNC_HEADS, ref, err);
	return r ? r : remote_get(a, &s->agreed, REMOTE_AGREED, ref, err);
}

/* Sets *known if the server has the run of that commit. */
static int is_known(struct archive *a, bool *known, const char *ref, const git_oid *server,
		    const git_oid *id, struct error *err)
{
	git_oid build = { { 0 } };
	struct message m;
	git_commit *c;
	int r = build_commit(a, &c, &m, id, err);

	if (r)
		return r;
	if (m.run)
		r = seen_find(a, &build, ref, server, m.run, err);
	message_release(&m);
	git_commit_free(c);
	*known = !git_oid_is_zero(&build);
	return r;
}

static int drop_known(struct archive *a, struct rewrite_commits *list, const char *ref,
		      const git_oid *server, struct error *err)
{
	bool known = false;
	size_t n = 0;
	int r = 0;

	remote_forget(a);
	for (size_t i = 0; !r && i < list->n; i++) {
		r = is_known(a, &known, ref, server, &list->id[i], err);
		if (!r && !known)
			list->id[n++] = list->id[i];
	}
	list->n = n;
	return r;
}

/* Rewrites local commits on top of *tip, the server's, which becomes the last of them, and sets the
 * branch to it, which was at `is`. */
static int put_on_top(struct archive *a, const char *ref, struct rewrite_commits *list,
		      git_oid *tip, const git_oid *is, struct error *err)
{
	struct writing w = WRITING_INIT;
	git_oid notes;
	int r = remote_get(a, &notes, "", NOTES_REF, err);

	if (!r)
		r = drop_known(a, list, ref, tip, err);
	if (!r)
		r = writing_begin(&w, a, err);
	if (!r)
		r = rewrite_onto(&w, list->id, list->n, tip, &notes, err);
	if (!r)
		r = writing_keep(&w, err);
	if (!r && !git_oid_is_zero(&notes))
		r = remote_put(a, "", NOTES_REF, &notes, err);
	if (!r && !git_oid_equal(tip, is))
		r = remote_put(a, REMOTE_HEADS, ref, tip, err);
	writing_end(&w);
	return r;
}

static int settle_ref(struct archive *a, const char *ref, void *context, struct error *err)
{
	struct rewrite_commits list = { 0 };
	struct remote_state s;
	git_oid tip;
	int r = remote_state(a, &s, ref, err);

	(void)context;
	if (!r && !git_oid_equal(&s.ours, &s.server)) {
		git_oid hidden[] = { s.server, s.agreed };

		r = rewrite_list(&list, a, &s.ours, hidden, 2, err);
		tip = s.server;
		if (!r)
			r = put_on_top(a, ref, &list, &tip, &s.ours, err);
		rewrite_release(&list);
	}
	if (!r && !git_oid_equal(&s.agreed, &s.server))
		r = remote_put(a, REMOTE_AGREED, ref, &s.server, err);
	return r;
}

static int merge_notes(struct archive *a, const git_oid *ours, const git_oid *server,
		       struct error *err)
{
	struct writing w;
	git_oid merged;
	int r = writing_begin(&w, a, err);

	if (!r)
		r = notes_merge(&merged, w.git, ours, server, err);
	if (!r)
		r = writing_keep(&w, err);
	if (!r && !git_oid_equal(&merged, ours))
		r = remote_put(a, "", NOTES_REF, &merged, err);
	writing_end(&w);
	return r;
}

static int settle_notes(struct archive *a, struct error *err)
{
	git_oid ours, server;
	int r = remote_get(a, &ours, "", NOTES_REF, err);

	if (!r)
		r = remote_get(a, &server, "", SYNC_NOTES, err);
	if (r || git_oid_is_zero(&server) || git_oid_equal(&ours, &server))
		return r;
	return git_oid_is_zero(&ours) ? remote_put(a, "", NOTES_REF, &server, err) :
	       merge_notes(a, &ours, &server, err);
}

int remote_visit(struct archive *a, const char *prefix,
			int (*visit)(struct archive *, const char *ref, void *, struct error *),
			void *context, struct error *err)
{
	git_reference_iterator *it;
	struct buf glob = BUF_INIT, names = BUF_INIT;
	const char *name;
	int r;

	buf_addf(&glob, "%s*", prefix);
	r = git_reference_iterator_glob_new(&it, a->git, buf_str(&glob));
	if (r) {
		r = repo_fail(a, r, err, "cannot read the branches");
	} else {
		while (!git_reference_next_name(&name, it))
			buf_add(&names, name + strlen(prefix), strlen(name + strlen(prefix)) + 1);
		git_reference_iterator_free(it);
		if (buf_error(&names))
			r = error_sys(err, -ENOMEM, a->path, NULL);
	}
	for (size_t at = 0; !r && at < names.len; at += strlen(names.data + at) + 1)
		r = visit(a, names.data + at, context, err);
	buf_release(&glob);
	buf_release(&names);
	return r;
}

int remote_settle(struct archive *a, struct error *err)
{
	int r = remote_visit(a, REMOTE_HEADS, settle_ref, NULL, err);

	if (!r)
		r = remote_visit(a, SYNC_HEADS, settle_ref, NULL, err);
	if (!r)
		r = settle_notes(a, err);
	remote_forget(a);
	return r;
}

