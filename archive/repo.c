/* SPDX-License-Identifier: MIT */
#include "archive/repo.h"

#include "archive/loose.h"
#include "archive/packs.h"
#include "archive/ref_lock.h"
#include "archive/remote.h"
#include "archive/seen.h"
#include "base/array.h"
#include "base/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PACK_WINDOW (512 << 10)
#define PACK_MAPPED (2 << 20)
#define HEADS "refs/heads/"
#define BLOB_MAX (256u << 20)	/* a few bytes can unpack to any size */

/* Its owner needs git's lock only to write a line; one that a killed git left is known after
 * REF_LOCK_LOOK_S. The flock is waited for until its owner has done that too. */
#define LOCK_WAIT_S (REF_LOCK_LOOK_S + 2)
#define FLOCK_WAIT_S (3 * LOCK_WAIT_S)
#define NS_PER_S 1000000000

static int errno_of(int code)
{
	const git_error *e = git_error_last();

	switch (code) {
	case GIT_ENOTFOUND:
		return -ENOENT;
	case GIT_EEXISTS:
		return -EEXIST;
	case GIT_EMODIFIED:
		return -EAGAIN;
	case GIT_ELOCKED:
		return -EBUSY;
	case GIT_EINVALIDSPEC:
	case GIT_EAMBIGUOUS:
		return -EINVAL;
	}
	return e && e->klass == GIT_ERROR_NOMEMORY ? -ENOMEM : -EIO;
}

int repo_fail(const struct archive *a, int code, struct error *err, const char *what, ...)
{
	const git_error *e = git_error_last();
	struct buf text = BUF_INIT;
	char first[256];
	va_list args;
	int r;

	va_start(args, what);
	vsnprintf(first, sizeof first, what, args);
	va_end(args);
	buf_adds(&text, first);
	if (e && e->message)
		buf_addf(&text, ": %s", e->message);
	else if (errno)
		buf_addf(&text, ": %s", strerror(errno));
	r = error_set(err, errno_of(code), a->path, 0, 0, "%s", buf_str(&text));
	buf_release(&text);
	return r;
}

/*
 * libgit2 trusts only the caller's own repositories and those that safe.directory names.
 * Some of its versions then say that they did not find that setting.
 */
static bool is_foreign(int code)
{
	const git_error *e = git_error_last();

	return code == GIT_EOWNER ||
	       (code == GIT_ENOTFOUND && e && e->klass == GIT_ERROR_CONFIG);
}

static bool says(const char *what)
{
	const git_error *e = git_error_last();

	return e && e->message && strcasestr(e->message, what);
}

static int open_here(struct archive *a, struct error *err)
{
	int r = git_repository_open_ext(&a->git, a->path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);

	if (!r && git_repository_is_shallow(a->git) == 1)
		return error_set(err, -EINVAL, a->path, 0, 0, "a shallow clone, which lacks older "
				 "builds: complete it with git -C DIRECTORY fetch --unshallow");
	if (!r) {
		r = loose_guard(a->git);
		return r ? repo_fail(a, r, err, "cannot open the repository") :
		       a->fsck ? 0 : packs_check(a, err);
	}
	a->git = NULL;
	if (is_foreign(r))
		return error_set(err, -EACCES, a->path, 0, 0, "belongs to another user; trust "
				 "it with: git config --global --add safe.directory DIRECTORY");
	if (r == GIT_ENOTFOUND)
		return error_set(err, -EINVAL, a->path, 0, 0, "not a git repository");
	if (says("objectformat") || says("object format"))
		return error_set(err, -EINVAL, a->path, 0, 0, "the repository uses SHA-256, which "
				 "this libgit2 cannot read: make one with SHA-1, by "
				 "git init --bare --object-format=sha1");
	return repo_fail(a, r, err, "cannot open the repository");
}

int repo_open(struct archive *a, enum archive_use use, struct error *err)
{
	int r = use == ARCHIVE_WRITE ? repo_create(a, err) : 0;
	struct stat st;

	if (!r && stat(a->path, &st))
		r = error_sys(err, -errno, a->path, NULL);
	else if (!r && !S_ISDIR(st.st_mode))
		r = error_sys(err, -ENOTDIR, a->path, NULL);
	return r ? r : open_here(a, err);
}

int archive_open(struct archive **out, const char *repo, enum archive_use use,
		 struct error *err)
{
	struct archive *a = calloc(1, sizeof *a);
	int r;

	*out = NULL;
	if (git_libgit2_init() < 0 || !a) {
		archive_close(a);
		return error_sys(err, -ENOMEM, repo, NULL);
	}
	/* zlib's checksum detects damage. */
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, use == ARCHIVE_FSCK);
	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, use != ARCHIVE_WRITE_FAST);
	/* Builds are read once, from old to new: what was read of packs is not kept in memory. */
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_SIZE, (size_t)PACK_WINDOW);
	git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, (size_t)PACK_MAPPED);
	a->fast = use == ARCHIVE_WRITE_FAST;
	a->fsck = use == ARCHIVE_FSCK;
	use = a->fsck || use == ARCHIVE_READ ? ARCHIVE_READ : ARCHIVE_WRITE;
	r = remote_find(a, repo, err);
	if (!r) {
		size_t n = strlen(a->path);

		while (n > 1 && a->path[n - 1] == '/')
			a->path[--n] = '\0';
		r = repo_open(a, a->remote ? ARCHIVE_WRITE : use, err);
	}
	if (!r)
		r = remote_open(a, use, err);
	if (r) {
		archive_close(a);
		return r;
	}
	*out = a;
	return 0;
}

void archive_close(struct archive *a)
{
	if (!a)
		return;
	seen_free(a->seen);
	remote_free(a->remote);
	git_repository_free(a->git);
	git_libgit2_shutdown();
	free(a->path);
	free(a);
}

int repo_reopen(struct archive *a)
{
	git_repository *fresh;
	int r = git_repository_open_ext(&fresh, git_repository_path(a->git),
					GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);

	if (r)
		return r;
	r = loose_guard(fresh);
	if (r) {
		git_repository_free(fresh);
		return r;
	}
	git_repository_free(a->git);
	a->git = fresh;
	return 0;
}

static int missing(const struct archive *a, int code, const git_oid *id, const char *what,
		   struct error *err)
{
	int r = repo_fail(a, code, err, "%s (object %s)", what, git_oid_tostr_s(id));

	return r == -ENOMEM ? r : -EIO;
}

int repo_commit(struct archive *a, git_commit **commit, const git_oid *id, struct error *err)
{
	int r = git_commit_lookup(commit, a->git, id);

	if (r && !repo_reopen(a))
		r = git_commit_lookup(commit, a->git, id);
	return r ? missing(a, r, id, "cannot read a commit", err) : 0;
}

int repo_tree(struct archive *a, git_tree **tree, const git_oid *id, const char *what,
	      struct error *err)
{
	int r = git_tree_lookup(tree, a->git, id);

	if (r && !repo_reopen(a))
		r = git_tree_lookup(tree, a->git, id);
	return r ? missing(a, r, id, what, err) : 0;
}

static int read_blob(struct archive *a, git_odb_object **blob, const git_oid *id)
{
	git_object_t type;
	git_odb *odb;
	size_t len;
	int r = git_repository_odb(&odb, a->git);

	if (r)
		return r;
	if (!git_odb_read_header(&len, &type, odb, id) && len > BLOB_MAX) {
		git_error_set_str(GIT_ERROR_ODB, "the file is larger than 256 MiB, the limit for "
				  "a file of a build");
		r = GIT_ERROR;
	} else {
		r = git_odb_read(blob, odb, id);
	}
	git_odb_free(odb);
	return r;
}

int repo_blob(struct archive *a, git_odb_object **blob, const git_oid *id, const char *what,
	      struct error *err)
{
	int r = read_blob(a, blob, id);

	if (r && !repo_reopen(a))
		r = read_blob(a, blob, id);
	return r ? missing(a, r, id, what, err) : 0;
}

static int ref_name(struct buf *name, const char *ref, struct error *err)
{
	buf_clear(name);
	buf_adds(name, HEADS);
	buf_adds(name, ref);
	if (buf_error(name))
		return error_sys(err, buf_error(name), NULL, NULL);
	if (!git_reference_is_valid_name(name->data))
		return error_say(err, -EINVAL, "'%.200s' is not a valid branch name", ref);
	return 0;
}

int repo_tip(struct archive *a, git_oid *id, const char *ref, struct error *err)
{
	struct buf name = BUF_INIT;
	int r = ref_name(&name, ref, err), code;

	*id = (git_oid){ 0 };
	if (!r) {
		code = git_reference_name_to_id(id, a->git, name.data);
		if (code && code != GIT_ENOTFOUND)
			r = repo_fail(a, code, err, "%s", ref);
	}
	buf_release(&name);
	return r;
}

static int move_once(struct archive *a, const char *name, const git_oid *from,
		     const git_oid *to)
{
	git_reference *moved = NULL;
	int r = git_reference_create_matching(&moved, a->git, name, to, 1, from,
					      "buildbeat archive");

	git_reference_free(moved);
	return r;
}

static int locked(const struct archive *a, const char *name, struct error *err)
{
	return error_set(err, -EBUSY, a->path, 0, 0, "%s%s.lock is there for more than %d s: a "
			 "program that changes the repository runs, or was killed. buildbeat archive "
			 "removes it when it is ten minutes old", git_repository_commondir(a->git),
			 name, LOCK_WAIT_S);
}

/* A change of a reference, which waits for locks of others. */
struct change {
	const char *lock[2];	/* which libgit2 makes, without ".lock" */
	struct ref_lock_watch watch[2];
	const char *in_use;	/* one of them, or NULL */
	int code;		/* libgit2's */
};

/* Locks that remain while we have the flock are git's or of a killed git. */
static int remove_left(struct archive *a, struct change *c, struct error *err)
{
	c->in_use = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(c->lock); i++) {
		enum ref_lock_state is = ref_lock_look(&c->watch[i], a, c->lock[i], NULL);
		int r = is == REF_LOCK_LEFT ? ref_lock_remove(a, c->lock[i]) : 0;

		if (r)
			return error_set(err, r, a->path, 0, 0, "cannot remove %s%s.lock, which a "
					 "killed process left: %s", git_repository_commondir(a->git),
					 c->lock[i], strerror(-r));
		if (is == REF_LOCK_IN_USE)
			c->in_use = c->lock[i];
	}
	return 0;
}

static int change(struct archive *a, struct change *c, const char *name, const git_oid *from,
		  const git_oid *to, struct error *err)
{
	int64_t until_ns = clock_mono_ns() + (int64_t)LOCK_WAIT_S * NS_PER_S;
	int r;

	while ((c->code = to ? move_once(a, name, from, to) :
		git_reference_remove(a->git, name)) == GIT_ELOCKED) {
		r = remove_left(a, c, err);
		if (!r && clock_mono_ns() >= until_ns)
			r = locked(a, c->in_use ? c->in_use : name, err);
		if (r)
			return r;
		ref_lock_nap();
	}
	return 0;
}

static int change_locked(struct archive *a, const char *name, const char *names,
			 const git_oid *from, const git_oid *to, struct error *err)
{
	struct change c = { .lock = { name, REF_LOCK_PACKED } };
	mode_t before = repo_share(a);
	struct ref_lock lock;
	int taken = ref_lock_take(&lock, a, REF_LOCK, names, FLOCK_WAIT_S), r = 0;

	if (taken != -EBUSY)
		r = change(a, &c, name, from, to, err);
	ref_lock_release(&lock);
	umask(before);
	if (taken == -EBUSY)
		return error_set(err, taken, a->path, 0, 0, "another process has had %s locked for "
				 "more than %d s", REF_LOCK, FLOCK_WAIT_S);
	if (r)
		return r;
	if (c.code == GIT_ENOTFOUND)
		return -EAGAIN;
	return c.code ? repo_fail(a, c.code, err, "cannot write %s", name) : 0;
}

int repo_set(struct archive *a, const char *name, const git_oid *from, const git_oid *to,
	     struct error *err)
{
	return change_locked(a, name, name, from, to, err);
}

int repo_remove(struct archive *a, const char *name, struct error *err)
{
	struct buf names = BUF_INIT;
	int r;

	buf_addf(&names, "%s\n" REF_LOCK_PACKED, name);
	r = buf_error(&names) ? error_sys(err, buf_error(&names), a->path, NULL) :
	    change_locked(a, name, names.data, NULL, NULL, err);
	buf_release(&names);
	return r == -EAGAIN ? 0 : r;
}

int repo_move(struct archive *a, const char *ref, const git_oid *from, const git_oid *to,
	      struct error *err)
{
	struct buf name = BUF_INIT;
	int r = ref_name(&name, ref, err);

	r = r ? r : repo_set(a, name.data, from, to, err);
	buf_release(&name);
	return r;
}
