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
#define OLD_S 600		/* no owner keeps a lock for so long */
#define OLD_REF_S 10		/* nor that of a reference */
#define NS_PER_S 1000000000
#define FDS_MAX 16

/* nftw() has no context. */
static _Thread_local struct fsck *current;
static _Thread_local int failed;

/* name: in the repository, with ".lock". */
static bool is_noted(const char *name)
{
	size_t n = strlen(name) - strlen(".lock");
	const char *text = buf_str(&current->noted), *end;

	for (; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if ((size_t)(end - text) == n && !memcmp(text, name, n))
			return true;
	}
	return false;
}

static void check_lock(const char *path, const char *name, const struct stat *st)
{
	int64_t age_s = clock_wall_ns() / NS_PER_S - st->st_mtim.tv_sec;

	if (!is_noted(name) && age_s <= (strncmp(name, "refs/", strlen("refs/")) ? OLD_S : OLD_REF_S))
		return;
	fsck_found(current, "%s: a lock that is %lld s old: whoever made it was killed", path,
		   (long long)age_s);
	if (current->out->repair && unlink(path))
		failed = error_sys(current->err, -errno, path, "cannot remove");
}

/* A power failure can leave an empty file. */
static bool is_broken(const char *path)
{
	char text[64];
	git_oid id;
	ssize_t n = readfile_start(AT_FDCWD, path, text, sizeof text);

	return n >= 0 && strncmp(text, "ref: ", 5) &&
	       (n < GIT_OID_HEXSZ || git_oid_fromstrn(&id, text, GIT_OID_HEXSZ));
}

static int check_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	size_t n = strlen(path), end = strlen(".lock");
	const char *name = path + strlen(git_repository_commondir(current->a->git));

	(void)at;
	if (type != FTW_F)
		return 0;
	if (n > end && !strcmp(path + n - end, ".lock"))
		check_lock(path, name, st);
	else if (!strncmp(name, HEADS, strlen(HEADS)) && is_broken(path))
		buf_add(&current->broken, name, strlen(name) + 1);
	return failed;
}

static int check_files(struct fsck *f)
{
	static const char *const places[] = {
		"refs", "HEAD.lock", "config.lock", "packed-refs.lock", "objects/maintenance.lock",
		"objects/pack/multi-pack-index.lock"
	};
	char path[PATH_MAX];

	current = f;
	failed = 0;
	ref_lock_note(&f->noted, f->a);
	for (size_t i = 0; !failed && i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof path, "%s%s", git_repository_commondir(f->a->git), places[i]);
		nftw(path, check_file, FDS_MAX, FTW_PHYS);
	}
	if (!failed && buf_error(&f->broken))
		failed = error_sys(f->err, buf_error(&f->broken), f->a->path, NULL);
	return failed;
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
