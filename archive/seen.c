/* SPDX-License-Identifier: MIT */
#include "archive/seen.h"

#include "archive/message.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct seen {
	struct buf ref;
	git_oid tip;		/* everything from there on down is known */
	struct index by_run;
	size_t n;
	struct seen_run *run;
};

struct seen_run {
	char *run;
	git_oid build;
};

static void forget(struct seen *seen)
{
	for (size_t i = 0; i < seen->n; i++)
		free(seen->run[i].run);
	free(seen->run);
	index_release(&seen->by_run);
	buf_release(&seen->ref);
	*seen = (struct seen){ 0 };
}

void seen_free(struct seen *seen)
{
	if (seen)
		forget(seen);
	free(seen);
}

/* The entry of a run, seen->n if there is none; turn becomes the next free one. */
static size_t find(const struct seen *seen, const char *run, uint64_t hash, uint64_t *turn)
{
	uint32_t i;

	for (*turn = 0; index_find(&seen->by_run, hash, *turn, &i); ++*turn) {
		if (!strcmp(seen->run[i].run, run))
			return i;
	}
	return seen->n;
}

/* Of several builds of one run, which nobody wrote by archive_add(), any will do. */
static int note(struct seen *seen, const char *run, const git_oid *build)
{
	uint64_t hash = hash_fnv64(run, strlen(run)), turn;
	struct seen_run *grown;

	if (find(seen, run, hash, &turn) < seen->n)
		return 0;
	grown = array_grow(seen->run, seen->n, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	seen->run = grown;
	grown[seen->n] = (struct seen_run){ strdup(run), *build };
	if (!grown[seen->n].run)
		return -ENOMEM;
	return index_put(&seen->by_run, hash, turn, (uint32_t)seen->n++);
}

static int read_on(struct archive *a, const git_oid *tip, struct error *err)
{
	struct seen *seen = a->seen;
	git_oid at = *tip;
	int r = 0;

	while (!r && !git_oid_is_zero(&at) && !git_oid_equal(&at, &seen->tip)) {
		struct message m = MESSAGE_INIT;
		git_commit *commit;
		git_oid next = { 0 };

		r = repo_commit(a, &commit, &at, err);
		if (r)
			return r;
		if (git_commit_parentcount(commit))
			next = *git_commit_parent_id(commit, 0);
		r = message_read(&m, git_commit_message_raw(commit));
		if (!r && m.run)
			r = note(seen, m.run, &at);
		if (r)
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
	uint64_t turn;
	size_t i;
	int r;

	*build = (git_oid){ 0 };
	if (!a->seen && !(a->seen = calloc(1, sizeof *a->seen)))
		return error_sys(err, -ENOMEM, a->path, NULL);
	if (strcmp(buf_str(&a->seen->ref), ref)) {
		forget(a->seen);
		buf_adds(&a->seen->ref, ref);
	}
	r = read_on(a, tip, err);
	if (r) {
		forget(a->seen);
		return r;
	}
	a->seen->tip = *tip;
	i = find(a->seen, run, hash_fnv64(run, strlen(run)), &turn);
	if (i < a->seen->n)
		*build = a->seen->run[i].build;
	return 0;
}
