/* SPDX-License-Identifier: MIT */
#include "archive/seen.h"

#include "archive/build.h"
#include "base/array.h"
#include "base/name_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct seen {
	struct buf ref;
	git_oid tip;		/* the runs of this commit and its ancestors are known */
	struct arena *texts;
	struct name_table runs;
	git_oid *build;		/* of each run */
};

static void release_seen(struct seen *seen)
{
	free(seen->build);
	name_table_release(&seen->runs);
	arena_free(seen->texts);
	buf_release(&seen->ref);
	*seen = (struct seen){ 0 };
}

void seen_free(struct seen *seen)
{
	if (seen)
		release_seen(seen);
	free(seen);
}

/* archive_add() writes no run twice; of foreign duplicates any build is right. */
static int note_run(struct seen *seen, const char *run, const git_oid *build)
{
	git_oid *grown = array_grow(seen->build, seen->runs.n, sizeof *grown);
	size_t n = seen->runs.n;
	uint32_t at;

	if (grown)
		seen->build = grown;
	if (!seen->texts)
		seen->texts = seen->runs.arena = arena_new();
	if (!grown || !seen->texts || name_table_add(&seen->runs, slice_of(run), &at))
		return -ENOMEM;
	if (at == n)
		grown[at] = *build;
	return 0;
}

static int read_on(struct archive *a, const git_oid *tip, struct error *err)
{
	struct seen *seen = a->seen;
	git_oid at = *tip;
	int r = 0;

	while (!r && !git_oid_is_zero(&at) && !git_oid_equal(&at, &seen->tip)) {
		git_commit *commit;
		git_oid next = { 0 };
		struct message m;

		r = build_commit(a, &commit, &m, &at, err);
		if (r)
			return r;
		if (git_commit_parentcount(commit))
			next = *git_commit_parent_id(commit, 0);
		if (m.run && (r = note_run(seen, m.run, &at)))
			error_sys(err, r, a->path, NULL);
		message_release(&m);
		git_commit_free(commit);
		at = next;
	}
	return r;
}

int seen_find(struct archive *a, git_oid *build, const char *ref, const git_oid *tip,
	      const char *run, struct error *err)
{
	uint32_t at;
	int r;

	*build = (git_oid){ 0 };
	if (!a->seen && !(a->seen = calloc(1, sizeof *a->seen)))
		return error_sys(err, -ENOMEM, a->path, NULL);
	if (strcmp(buf_str(&a->seen->ref), ref)) {
		release_seen(a->seen);
		buf_adds(&a->seen->ref, ref);
	}
	r = read_on(a, tip, err);
	if (r) {
		release_seen(a->seen);
		return r;
	}
	a->seen->tip = *tip;
	at = name_table_find(&a->seen->runs, slice_of(run));
	if (at != NAME_TABLE_NONE)
		*build = a->seen->build[at];
	return 0;
}
