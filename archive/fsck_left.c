/* SPDX-License-Identifier: MIT */
#include "archive/fsck.h"

#include "archive/packs.h"
#include "archive/ref_lock.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What killed writers left, and packs whose index is damaged. */

#define HEADS "refs/heads/"
#define NS_PER_S 1000000000
#define FDS_MAX 16

/* Locks of references and of git's maintenance. */
struct locks {
	struct lock {
		char *name;	/* in the repository, without ".lock" */
		struct ref_lock_watch watch;
	} *lock;
	size_t n;
	struct ref_lock_note note;
};

/* nftw() has no context. */
static _Thread_local struct fsck *current;
static _Thread_local struct locks *locks;
static _Thread_local int failed;

/* A power failure can leave an empty file. */
static bool is_broken(const char *path)
{
	char text[64];
	git_oid id;
	ssize_t n = readfile_start(AT_FDCWD, path, text, sizeof text);

	return n >= 0 && strncmp(text, "ref: ", 5) &&
	       (n < GIT_OID_HEXSZ || git_oid_fromstrn(&id, text, GIT_OID_HEXSZ));
}

static int add_lock(const char *name, size_t n)
{
	struct lock *l = array_add(&locks->lock, &locks->n, sizeof *l);

	if (!l)
		return error_sys(current->err, -ENOMEM, current->a->path, NULL);
	*l = (struct lock){ .name = strndup(name, n) };
	if (!l->name) {
		locks->n--;
		return error_sys(current->err, -ENOMEM, current->a->path, NULL);
	}
	ref_lock_look(&l->watch, current->a, l->name, &locks->note);
	return 0;
}

static int check_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const char *name = path + strlen(git_repository_commondir(current->a->git));
	size_t n = strlen(name), end = strlen(".lock");

	(void)st;
	(void)at;
	if (type != FTW_F)
		return 0;
	if (n > end && !strcmp(name + n - end, ".lock"))
		failed = add_lock(name, n - end);
	else if (!strncmp(name, HEADS, strlen(HEADS)) && is_broken(path))
		buf_add(&current->broken, name, n + 1);
	return failed;
}

static int list_files(struct fsck *f)
{
	static const char *const places[] = {
		"refs", "HEAD.lock", "config.lock", "packed-refs.lock", "objects/maintenance.lock",
		"objects/pack/multi-pack-index.lock"
	};
	char path[PATH_MAX];

	for (size_t i = 0; !failed && i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof path, "%s%s", git_repository_commondir(f->a->git), places[i]);
		nftw(path, check_file, FDS_MAX, FTW_PHYS);
	}
	if (!failed && buf_error(&f->broken))
		failed = error_sys(f->err, buf_error(&f->broken), f->a->path, NULL);
	return failed;
}

/* Locks of references are in use for milliseconds only. That of git's maintenance can be for minutes,
 * and stops nobody: without a repair it does not matter. */
static enum ref_lock_state wait_for_owner(struct fsck *f, struct lock *l, int64_t until_ns)
{
	bool wait = f->out->repair || !strncmp(l->name, "refs/", strlen("refs/"));
	int64_t since_ns = l->watch.since_ns;
	enum ref_lock_state is;

	while ((is = ref_lock_look(&l->watch, f->a, l->name, &locks->note)) == REF_LOCK_IN_USE) {
		if (l->watch.since_ns != since_ns)
			return REF_LOCK_NONE;
		if (!wait || clock_mono_ns() >= until_ns)
			return is;
		ref_lock_nap();
	}
	return is;
}

/* Another writer may remove it too, and create its own: only who has the flock removes locks. */
static int remove_lock(struct fsck *f, struct lock *l)
{
	struct ref_lock lock;
	int r = ref_lock_take(&lock, f->a, REF_LOCK, "", REF_LOCK_LOOK_S);

	if (r != -EBUSY)
		r = ref_lock_look(&l->watch, f->a, l->name, NULL) == REF_LOCK_LEFT ?
		    ref_lock_remove(f->a, l->name) : 0;
	ref_lock_release(&lock);
	return r;
}

static int check_lock(struct fsck *f, struct lock *l, int64_t until_ns)
{
	enum ref_lock_state is = wait_for_owner(f, l, until_ns);
	char path[PATH_MAX];
	int r = 0;

	snprintf(path, sizeof path, "%s%s.lock", git_repository_commondir(f->a->git), l->name);
	if (is == REF_LOCK_LEFT) {
		fsck_found(f, "%s: a lock that is %lld s old: whoever made it was killed", path,
			   (long long)l->watch.age_s);
		r = f->out->repair ? remove_lock(f, l) : 0;
	} else if (is == REF_LOCK_IN_USE && f->out->repair) {
		fsck_remains(f, "%s: a lock that is %lld s old: not removed, because whoever made it may "
			     "still run; try again in ten minutes", path, (long long)l->watch.age_s);
	}
	return r ? error_sys(f->err, r, path, "cannot remove") : 0;
}

static int check_files(struct fsck *f)
{
	struct locks all = { 0 };
	int64_t until_ns = clock_mono_ns() + (REF_LOCK_LOOK_S + 1) * (int64_t)NS_PER_S;
	int r;

	current = f;
	locks = &all;
	failed = 0;
	ref_lock_read_note(&all.note, f->a);
	r = list_files(f);
	for (size_t i = 0; !r && i < all.n; i++)
		r = check_lock(f, &all.lock[i], until_ns);
	for (size_t i = 0; i < all.n; i++)
		free(all.lock[i].name);
	free(all.lock);
	ref_lock_note_release(&all.note);
	return r;
}

static void found_keep(void *context, const char *name)
{
	fsck_found(context, "objects/pack/%s: left by a killed writer", name);
}

static void found_index(void *context, const char *name)
{
	fsck_found(context, "objects/pack/%s: the index of a pack is damaged%s", name,
		   ((struct fsck *)context)->out->repair ? "" :
		   "; nothing else was checked: repair it first");
}

int fsck_left(struct fsck *f)
{
	int r = packs_left(f->a, f->out->repair, found_keep, f);
	size_t before = f->out->n;

	if (!r)
		r = packs_reindex(f->a, f->out->repair, found_index, f);
	if (r)
		return error_sys(f->err, r, f->a->path, "cannot read the packs");
	if (f->out->n > before) {
		if (!f->out->repair)
			return 1;
		r = repo_reopen(f->a);
		if (r)
			return repo_fail(f->a, r, f->err, "cannot open the repository");
	}
	return check_files(f);
}
