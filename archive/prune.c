/* SPDX-License-Identifier: MIT */
#include "archive/archive.h"

#include "archive/build.h"
#include "archive/notes.h"
#include "archive/remote_parts.h"
#include "archive/rewrite.h"

#include <errno.h>

#define TRIES 100		/* when other writers are faster */

/* The start of a build; for other commits their time. */
static int start_of(struct archive *a, int64_t *start_s, const git_oid *id, struct error *err)
{
	struct message m;
	git_commit *c;
	int r = build_commit(a, &c, &m, id, err);

	if (r)
		return r;
	*start_s = m.start_s >= 0 ? m.start_s : git_commit_time(c);
	message_release(&m);
	git_commit_free(c);
	return 0;
}

/* Removes the builds to delete from the list. */
static int drop_old(struct archive *a, struct rewrite_commits *list, int64_t before_s, size_t keep,
		    struct error *err)
{
	size_t n = 0, surely = list->n > keep ? list->n - keep : 0;
	int r = 0;

	for (size_t i = 0; !r && i < list->n; i++) {
		int64_t start_s = 0;

		if (i < surely && before_s >= 0)
			r = start_of(a, &start_s, &list->id[i], err);
		if (i >= surely || (before_s >= 0 && start_s >= before_s))
			list->id[n++] = list->id[i];
	}
	list->n = n;
	return r;
}

static int rewrite(struct archive *a, const char *ref, const struct rewrite_commits *list,
		   const git_oid *from, struct error *err)
{
	git_oid notes, copied, to = { { 0 } };
	struct writing w = WRITING_INIT;
	int r = remote_get(a, &notes, "", NOTES_REF, err);

	copied = notes;
	if (!r)
		r = writing_begin(&w, a, err);
	if (!r)
		r = rewrite_onto(&w, list->id, list->n, &to, &copied, err);
	if (!r)
		r = writing_keep(&w, err);
	if (!r && !git_oid_equal(&notes, &copied))
		r = repo_set(a, NOTES_REF, &notes, &copied, err);
	if (!r)
		r = remote_replace(a, ref, from, &to, err);
	writing_end(&w);
	return r;
}

static int prune(struct archive *a, const char *ref, const struct archive_prune *what,
		 struct archive_pruned *done, struct error *err)
{
	static const git_oid nothing;
	struct rewrite_commits list;
	git_oid tip;
	int r = repo_tip(a, &tip, ref, err);

	if (!r && git_oid_is_zero(&tip))
		return error_set(err, -ENOENT, a->path, 0, 0, "no series %.200s", ref);
	if (r)
		return r;
	r = rewrite_list(&list, a, &tip, &nothing, 1, err);
	done->gone = list.n;
	if (!r)
		r = drop_old(a, &list, what->before_s, what->keep, err);
	done->kept = list.n;
	done->gone -= list.n;
	if (!r && done->gone && !what->pretend)
		r = rewrite(a, ref, &list, &tip, err);
	rewrite_release(&list);
	return r;
}

int archive_prune(struct archive *a, const char *ref, const struct archive_prune *what,
		  struct archive_pruned *done, struct error *err)
{
	int r = remote_begin(a, err), sent;

	*done = (struct archive_pruned){ 0 };
	if (r)
		return r;
	r = -EAGAIN;
	for (unsigned i = 0; r == -EAGAIN && i < TRIES; i++)
		r = prune(a, ref, what, done, err);
	if (r == -EAGAIN)
		error_set(err, r, a->path, 0, 0, "other writers keep changing %.200s", ref);
	sent = remote_end(a, r ? &(struct error){ 0 } : err);
	return r ? r : sent;
}
