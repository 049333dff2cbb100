/* SPDX-License-Identifier: MIT */
#include "report/source_log.h"

#include <errno.h>
#include <git2.h>
#include <stdlib.h>
#include <string.h>

struct source_log {
	git_repository *repo;
	const char *file[SOURCE_FILES];
};

static int git_failed(struct error *err, int r, const char *dir)
{
	const git_error *e = git_error_last();

	return error_set(err, r == GIT_ENOTFOUND ? -ENOENT : -EIO, dir, 0, 0, "%s",
			 e && e->message ? e->message : "git failed");
}

int source_log_open(struct source_log **log, const char *dir, struct error *err)
{
	int r;

	*log = calloc(1, sizeof **log);
	if (!*log)
		return error_sys(err, -ENOMEM, NULL, NULL);
	git_libgit2_init();
	r = git_repository_open_ext(&(*log)->repo, dir, 0, NULL);
	if (!r)
		return 0;
	r = git_failed(err, r, dir);
	source_log_close(*log);
	*log = NULL;
	return r;
}

void source_log_close(struct source_log *log)
{
	if (!log)
		return;
	git_repository_free(log->repo);
	git_libgit2_shutdown();
	free(log);
}

static int find(git_oid *id, struct source_log *log, const char *commit)
{
	size_t n = strlen(commit);
	git_object *object = NULL;
	git_oid wanted;
	int r;

	if (n < GIT_OID_MINPREFIXLEN || n > GIT_OID_HEXSZ)
		return GIT_ENOTFOUND;
	r = git_oid_fromstrn(&wanted, commit, n);
	if (!r)
		r = git_object_lookup_prefix(&object, log->repo, &wanted, n, GIT_OBJECT_COMMIT);
	if (!r)
		git_oid_cpy(id, git_object_id(object));
	git_object_free(object);
	return r;
}

bool source_log_has(struct source_log *log, const char *commit)
{
	git_oid id;

	return !find(&id, log, commit);
}

bool source_log_find(struct source_log *log, const char *name, char *id)
{
	git_object *named = NULL, *commit = NULL;
	int r = git_revparse_single(&named, log->repo, name);

	if (!r)
		r = git_object_peel(&commit, named, GIT_OBJECT_COMMIT);
	if (!r)
		git_oid_tostr(id, SOURCE_ID_SIZE, git_object_id(commit));
	git_object_free(commit);
	git_object_free(named);
	return !r;
}

bool source_log_follows(struct source_log *log, const char *from, const char *to)
{
	git_oid old, new;

	if (find(&old, log, from) || find(&new, log, to))
		return false;
	return git_oid_equal(&old, &new) || git_graph_descendant_of(log->repo, &new, &old) == 1;
}

bool source_log_is_shallow(struct source_log *log)
{
	return git_repository_is_shallow(log->repo) == 1;
}

static int changes(git_diff **diff, struct source_log *log, git_commit *commit)
{
	git_diff_options options;
	git_tree *new = NULL, *old = NULL;
	git_commit *parent = NULL;
	int r = git_commit_tree(&new, commit);

	git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
	options.flags = GIT_DIFF_SKIP_BINARY_CHECK;
	if (!r && git_commit_parentcount(commit)) {
		r = git_commit_parent(&parent, commit, 0);
		if (!r)
			r = git_commit_tree(&old, parent);
		/* A shallow clone ends here. */
		if (r == GIT_ENOTFOUND && source_log_is_shallow(log))
			r = 0;
	}
	if (!r)
		r = git_diff_tree_to_tree(diff, log->repo, old, new, &options);
	git_commit_free(parent);
	git_tree_free(old);
	git_tree_free(new);
	return r;
}

/* A merge has no files: they are listed with its commits. */
static int read_commit(struct source_log *log, const git_oid *id,
		       int (*emit)(void *, const struct source_commit *), void *context,
		       struct error *err)
{
	char hex[GIT_OID_HEXSZ + 1];
	git_commit *commit = NULL;
	git_diff *diff = NULL;
	struct source_commit c;
	int r = git_commit_lookup(&commit, log->repo, id);

	if (r)
		return git_failed(err, r, git_repository_path(log->repo));
	c = (struct source_commit){
		.id = git_oid_tostr(hex, sizeof hex, id), .subject = git_commit_summary(commit),
		.author = git_commit_author(commit)->name,
		.time_s = git_commit_author(commit)->when.time,
		.merge = git_commit_parentcount(commit) > 1,
	};
	if (!c.subject)
		c.subject = "";
	if (!c.merge && !changes(&diff, log, commit)) {
		c.n_touched = git_diff_num_deltas(diff);
		c.file = log->file;
		for (size_t i = 0; i < c.n_touched && c.n_files < SOURCE_FILES; i++) {
			const git_diff_delta *delta = git_diff_get_delta(diff, i);

			log->file[c.n_files++] = delta->new_file.path ? delta->new_file.path :
						  delta->old_file.path;
		}
	}
	r = emit(context, &c);
	git_diff_free(diff);
	git_commit_free(commit);
	return r;
}

static int walk(struct source_log *log, git_revwalk *walker, size_t most,
		int (*emit)(void *, const struct source_commit *), void *context, size_t *n,
		struct error *err)
{
	git_oid id;
	int r = 0;

	while (!r && !git_revwalk_next(&id, walker)) {
		if (*n < most)
			r = read_commit(log, &id, emit, context, err);
		++*n;
	}
	return r;
}

/* libgit2 does not know where a shallow clone ends: this follows first parents as far as they
 * exist. */
static int walk_shallow(struct source_log *log, const git_oid *old, const git_oid *new, size_t most,
			int (*emit)(void *, const struct source_commit *), void *context,
			size_t *n, struct error *err)
{
	git_commit *commit = NULL, *parent;
	int r = git_commit_lookup(&commit, log->repo, new) ? -ENOENT : 0;

	while (!r && commit && !git_oid_equal(git_commit_id(commit), old)) {
		if (*n < most)
			r = read_commit(log, git_commit_id(commit), emit, context, err);
		++*n;
		if (git_commit_parent(&parent, commit, 0))
			parent = NULL;
		git_commit_free(commit);
		commit = parent;
	}
	git_commit_free(commit);
	return r;
}

int source_log_between(struct source_log *log, const char *from, const char *to, size_t most,
		       int (*emit)(void *context, const struct source_commit *commit),
		       void *context, size_t *n, struct error *err)
{
	const char *path = git_repository_path(log->repo);
	git_revwalk *walker = NULL;
	git_oid old, new;
	int r;

	*n = 0;
	if (find(&old, log, from) || find(&new, log, to))
		return error_set(err, -ENOENT, path, 0, 0, "does not have both %s and %s", from,
				 to);
	if (source_log_is_shallow(log))
		return walk_shallow(log, &old, &new, most, emit, context, n, err);
	r = git_revwalk_new(&walker, log->repo);
	if (!r)
		r = git_revwalk_sorting(walker, GIT_SORT_TOPOLOGICAL | GIT_SORT_TIME);
	if (!r)
		r = git_revwalk_push(walker, &new);
	if (!r)
		r = git_revwalk_hide(walker, &old);
	r = r ? git_failed(err, r, path) : walk(log, walker, most, emit, context, n, err);
	git_revwalk_free(walker);
	return r;
}
