/* SPDX-License-Identifier: MIT */
#include "archive/packs.h"

#include "base/array.h"
#include "base/file.h"
#include "base/readfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEEP_TEXT "buildbeat: objects of a build that is being archived\n"

#define JOIN_FROM 32			/* small packs */
#define JOIN_LEAST 16
#define SMALL (32u << 20)		/* bytes */

static const char multi_pack_index[] = "multi-pack-index";
static const char maintenance_lock[] = "../maintenance.lock";

static int open_dir(const struct archive *a)
{
	char path[PATH_MAX];
	int fd, n = snprintf(path, sizeof path, "%sobjects/pack",
			     git_repository_commondir(a->git));

	if (n >= (int)sizeof path)
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static const char *file(char out[NAME_MAX + 1], const char *name, const char *end)
{
	snprintf(out, NAME_MAX + 1, "%.200s%s", name, end);
	return out;
}

static void delete(int dir, const char *name, const char *end)
{
	char text[NAME_MAX + 1];

	unlinkat(dir, file(text, name, end), 0);
}

static void delete_partial(int dir, const char *name)
{
	delete(dir, name, ".new");
	delete(dir, name, ".pack");
}

static bool exists(int dir, const char *name, const char *end)
{
	char text[NAME_MAX + 1];

	return !faccessat(dir, file(text, name, end), F_OK, 0);
}

/* Writing */

static int make_name(char name[48])
{
	unsigned char random[GIT_OID_RAWSZ];
	size_t n = 0;

	while (n < sizeof random) {
		ssize_t got = getrandom(random + n, sizeof random - n, 0);

		if (got < 0 && errno != EINTR)
			return -errno;
		n += got > 0 ? (size_t)got : 0;
	}
	n = (size_t)snprintf(name, 48, "pack-");
	for (size_t i = 0; i < sizeof random; i++)
		n += (size_t)snprintf(name + n, 48 - n, "%02x", random[i]);
	return 0;
}

/* Between open() and flock() another process may believe that the owner is dead. */
static bool is_locked(int fd)
{
	struct stat st;

	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		return false;
	return !fstat(fd, &st) && st.st_nlink;
}

static int create_keep(struct packs_kept *k)
{
	char text[NAME_MAX + 1];
	int r;

	for (;;) {
		r = make_name(k->name);
		if (r)
			return r;
		k->keep = openat(k->dir, file(text, k->name, ".keep"),
				 O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
		if (k->keep < 0 && errno != EEXIST)
			return -errno;
		if (k->keep >= 0 && is_locked(k->keep))
			return file_write_all(k->keep, KEEP_TEXT, strlen(KEEP_TEXT));
		file_close(k->keep);
	}
}

static int write_file(const struct packs_kept *k, const char *end, const struct buf *content,
		      bool sync)
{
	char text[NAME_MAX + 1];
	int fd = openat(k->dir, file(text, k->name, end), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			0444);
	int r;

	if (fd < 0)
		return -errno;
	r = file_write_all(fd, content->data, content->len);
	if (!r && sync && fsync(fd))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	return r;
}

static int publish(struct packs_kept *k, const struct pack *p, const struct buf *idx, bool sync)
{
	char from[NAME_MAX + 1], to[NAME_MAX + 1];
	int r = create_keep(k);

	if (!r)
		r = write_file(k, ".pack", &p->bytes, sync);
	if (!r)
		r = write_file(k, ".new", idx, sync);
	if (!r && renameat(k->dir, file(from, k->name, ".new"), k->dir, file(to, k->name, ".idx")))
		r = -errno;
	if (!r && sync && fsync(k->dir))
		r = -errno;
	return r;
}

int packs_keep(struct packs_kept *k, struct archive *a, struct pack *p, struct error *err)
{
	struct buf idx = BUF_INIT;
	int r = pack_end(p, &idx);

	*k = (struct packs_kept)PACKS_KEPT_INIT;
	if (!r) {
		mode_t before = repo_share(a);

		k->dir = open_dir(a);
		r = k->dir < 0 ? k->dir : publish(k, p, &idx, !a->fast);
		umask(before);
	}
	if (r && k->keep >= 0 && !exists(k->dir, k->name, ".idx"))
		delete_partial(k->dir, k->name);
	if (r)
		packs_release(k);
	buf_release(&idx);
	return r ? error_sys(err, r, a->path, "cannot write objects") : 0;
}

void packs_release(struct packs_kept *k)
{
	if (k->keep >= 0) {
		delete(k->dir, k->name, ".keep");
		close(k->keep);
	}
	file_close(k->dir);
	*k = (struct packs_kept)PACKS_KEPT_INIT;
}

/* Listing */

struct small {
	char *name;		/* without ".idx" */
	off_t size;
};

struct found {
	int dir;
	size_t n, n_keeps;
	struct small *small;
	char **keep;		/* names without ".keep" */
};

static void found_release(struct found *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->small[i].name);
	for (size_t i = 0; i < f->n_keeps; i++)
		free(f->keep[i]);
	free_all(f->small, f->keep);
	file_close(f->dir);
}

/* name without its end, or NULL. */
static char *without(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	return n > m && !strcmp(name + n - m, end) ? strndup(name, n - m) : NULL;
}

static int note_pack(struct found *f, const char *file_name)
{
	char *name = without(file_name, ".idx"), **keep;
	struct small *small;

	if (name) {
		small = array_add(&f->small, &f->n, sizeof *small);
		if (small)
			*small = (struct small){ .name = name };
		else
			free(name);
		return small ? 0 : -ENOMEM;
	}
	name = without(file_name, ".keep");
	if (!name)
		return 0;
	keep = array_add(&f->keep, &f->n_keeps, sizeof *keep);
	if (keep)
		*keep = name;
	else
		free(name);
	return keep ? 0 : -ENOMEM;
}

static int find_packs(struct found *f, const struct archive *a)
{
	struct dirent *d;
	DIR *dir;
	int r = 0;

	*f = (struct found){ .dir = open_dir(a) };
	if (f->dir < 0)
		return f->dir;
	dir = file_open_dir_at(f->dir, ".");
	if (!dir)
		return -errno;
	while (!r && (d = readdir(dir)))
		r = note_pack(f, d->d_name);
	closedir(dir);
	return r;
}

/* Left by killed writers */

/* The lock of a living writer cannot be taken. Files of others have another text, or one can write
 * to them. */
static bool is_left(int dir, const char *name, int *fd)
{
	char text[sizeof KEEP_TEXT];
	struct stat st;
	ssize_t n;

	*fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (*fd < 0 || fstat(*fd, &st) || st.st_mode & 0222)
		return false;
	n = readfile_some(*fd, text, sizeof text);
	return n >= 0 && n < (ssize_t)sizeof text && !memcmp(text, KEEP_TEXT, (size_t)n) &&
	       !flock(*fd, LOCK_EX | LOCK_NB);
}

static void remove_left(const struct found *f, bool repair,
			void (*found)(void *context, const char *name), void *context)
{
	for (size_t i = 0; i < f->n_keeps; i++) {
		char name[NAME_MAX + 1];
		bool left;
		int fd;

		left = is_left(f->dir, file(name, f->keep[i], ".keep"), &fd);
		if (left && found)
			found(context, name);
		if (left && repair) {
			if (!exists(f->dir, f->keep[i], ".idx"))
				delete_partial(f->dir, f->keep[i]);
			delete(f->dir, f->keep[i], ".keep");
		}
		file_close(fd);
	}
}

int packs_left(const struct archive *a, bool repair,
	       void (*found)(void *context, const char *name), void *context)
{
	struct found f;
	int r = find_packs(&f, a);

	if (!r)
		remove_left(&f, repair, found, context);
	found_release(&f);
	return r == -ENOENT ? 0 : r;
}

/* Checking */

/* Is the index of a pack damaged? 1: yes, 0: no, or it is gone, because the pack was joined or repacked
 * meanwhile. whole: also its checksum, and whether it can be read. Otherwise -ENOMEM. */
static int is_damaged(const struct found *f, const char *name, bool whole, struct buf *idx)
{
	char text[NAME_MAX + 1];
	struct stat st;
	int r;

	buf_clear(idx);
	if (fstatat(f->dir, file(text, name, ".pack"), &st, 0))
		return 0;
	r = readfile_at(idx, f->dir, file(text, name, ".idx"), INT32_MAX);
	if (r)
		return r == -ENOMEM ? r : whole && r != -ENOENT;
	return !pack_idx_is_sane(idx, (uint64_t)st.st_size) || (whole && !pack_idx_is_intact(idx));
}

int packs_check(const struct archive *a, struct error *err)
{
	struct buf idx = BUF_INIT;
	struct found f;
	size_t i = 0;
	int r = find_packs(&f, a);

	if (r == -ENOENT)
		r = 0;
	while (!r && i < f.n)
		r = is_damaged(&f, f.small[i++].name, false, &idx);
	if (r > 0)
		r = error_set(err, -EIO, a->path, 0, 0, "the index %.200s.idx of a pack is damaged: run "
			      "buildbeat archive --fsck --repair", f.small[i - 1].name);
	else if (r)
		error_sys(err, r, a->path, "cannot read the packs");
	buf_release(&idx);
	found_release(&f);
	return r;
}

static int set_aside(int dir, const char *name, const char *end)
{
	char from[NAME_MAX + 1], to[NAME_MAX + 16];

	snprintf(to, sizeof to, "%s.damaged", file(from, name, end));
	return renameat(dir, from, dir, to) && errno != ENOENT ? -errno : 0;
}

/* By libgit2, which can read deltas but only an undamaged pack. */
static bool index_whole(const struct archive *a, const struct buf *pack)
{
	git_indexer_progress progress = { 0 };
	git_indexer *indexer;
	char path[PATH_MAX];
	git_odb *odb;
	bool done;

	snprintf(path, sizeof path, "%sobjects/pack", git_repository_commondir(a->git));
	if (git_repository_odb(&odb, a->git))
		return false;
	done = !git_indexer_new(&indexer, path, 0444, odb, NULL);
	if (done) {
		done = !git_indexer_append(indexer, pack->data, pack->len, &progress) &&
		       !git_indexer_commit(indexer, &progress);
		git_indexer_free(indexer);
	}
	git_odb_free(odb);
	return done;
}

static int index_rest(struct archive *a, const struct buf *pack)
{
	struct packs_kept kept = PACKS_KEPT_INIT;
	struct pack p = PACK_INIT;
	struct error unused;
	int r = pack_salvage(&p, pack);

	if (!r && p.n)
		r = packs_keep(&kept, a, &p, &unused);
	packs_release(&kept);
	pack_release(&p);
	return r;
}

static int reindex(struct archive *a, int dir, const char *name)
{
	struct buf pack = BUF_INIT;
	char text[NAME_MAX + 1];
	int r = readfile_at(&pack, dir, file(text, name, ".pack"), INT32_MAX);

	if (r == -ENOENT)
		r = 0;
	if (!r)
		r = set_aside(dir, name, ".idx");
	if (!r)
		r = set_aside(dir, name, ".pack");
	if (!r && pack.len && !index_whole(a, &pack))
		r = index_rest(a, &pack);
	buf_release(&pack);
	return r;
}

int packs_reindex(struct archive *a, bool repair,
		  void (*found)(void *context, const char *name), void *context)
{
	struct buf idx = BUF_INIT;
	struct found f;
	int r = find_packs(&f, a), gone = r == -ENOENT;

	for (size_t i = 0; !r && i < f.n; i++) {
		char text[NAME_MAX + 1];

		r = is_damaged(&f, f.small[i].name, true, &idx);
		if (r <= 0)
			continue;
		found(context, file(text, f.small[i].name, ".idx"));
		r = repair ? reindex(a, f.dir, f.small[i].name) : 0;
	}
	buf_release(&idx);
	found_release(&f);
	return gone ? 0 : r;
}

/* Joining */

static int by_size(const void *a, const void *b)
{
	return array_order(((const struct small *)a)->size, ((const struct small *)b)->size);
}

/* How many of the smallest packs to join: as many as make the number of packs grow with the
 * logarithm of the builds, and let each object be copied as often. */
static size_t choose_small(struct found *f)
{
	size_t n = 0, chosen = 0;
	off_t total = 0;

	for (size_t i = 0; i < f->n; i++) {
		char name[NAME_MAX + 1];
		struct small small = f->small[i];
		struct stat st;

		/* Its .keep file may be missing in the list: that was read step by step. */
		if (fstatat(f->dir, file(name, small.name, ".pack"), &st, 0) || st.st_size > SMALL ||
		    exists(f->dir, small.name, ".keep"))
			continue;
		small.size = st.st_size;
		f->small[i] = f->small[n];
		f->small[n++] = small;
	}
	if (n < JOIN_FROM)
		return 0;
	qsort(f->small, n, sizeof *f->small, by_size);
	while (chosen < n && total <= SMALL &&
	       (chosen < JOIN_LEAST || f->small[chosen].size / 2 <= total))
		total += f->small[chosen++].size;
	return chosen < JOIN_LEAST ? 0 : chosen;
}

/*
 * The lock of `git maintenance run`, one of whose tasks writes an index of many packs, which would
 * name packs that are removed here. Returns its descriptor or -1. One of a killed process is removed:
 * that has no lock of flock(2).
 */
static int lock_maintenance(int dir)
{
	int fd = openat(dir, maintenance_lock, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);

	if (fd >= 0 && is_locked(fd) && !file_write_all(fd, KEEP_TEXT, strlen(KEEP_TEXT)))
		return fd;
	if (fd < 0 && is_left(dir, maintenance_lock, &fd))
		unlinkat(dir, maintenance_lock, 0);
	file_close(fd);
	return -1;
}

/* A damaged pack is left alone. */
static bool join_one(struct pack *p, const struct found *f, const char *name, git_odb *odb)
{
	struct buf pack = BUF_INIT, idx = BUF_INIT;
	char text[NAME_MAX + 1];
	int r = readfile_at(&idx, f->dir, file(text, name, ".idx"), SMALL);

	if (!r)
		r = readfile_at(&pack, f->dir, file(text, name, ".pack"), SMALL);
	if (!r)
		r = pack_join(p, &pack, &idx, odb);
	buf_release(&pack);
	buf_release(&idx);
	return !r;
}

static void join_small(struct archive *a, struct found *f, size_t n, git_odb *odb)
{
	static const char *const ends[] = { ".idx", ".pack", ".rev", ".bitmap", ".mtimes" };
	struct pack p = PACK_INIT;
	struct packs_kept kept;
	struct error unused;
	size_t joined = 0;

	for (size_t i = 0; i < n; i++) {
		struct small small = f->small[i];

		if (!join_one(&p, f, small.name, odb))
			continue;
		f->small[i] = f->small[joined];
		f->small[joined++] = small;
	}
	if (joined > 1 && !packs_keep(&kept, a, &p, &unused)) {
		packs_release(&kept);
		for (size_t i = 0; i < joined * ARRAY_SIZE(ends); i++)
			delete(f->dir, f->small[i / ARRAY_SIZE(ends)].name,
			       ends[i % ARRAY_SIZE(ends)]);
	}
	pack_release(&p);
}

static void join_locked(struct archive *a, struct found *f)
{
	int lock = lock_maintenance(f->dir);
	git_odb *odb;
	size_t n;

	if (lock < 0)
		return;
	n = exists(f->dir, multi_pack_index, "") ? 0 : choose_small(f);
	if (n && !git_repository_odb(&odb, a->git)) {
		join_small(a, f, n, odb);
		git_odb_free(odb);
	}
	unlinkat(f->dir, maintenance_lock, 0);
	close(lock);
}

void packs_tidy(struct archive *a)
{
	struct found f;

	if (!find_packs(&f, a)) {
		remove_left(&f, true, NULL, NULL);
		if (f.n >= JOIN_FROM)
			join_locked(a, &f);
	}
	found_release(&f);
}
