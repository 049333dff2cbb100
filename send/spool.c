/* SPDX-License-Identifier: MIT */
#include "send/spool.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/readfile.h"
#include "base/str.h"
#include "base/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#define STALE_S 86400		/* since a file was begun: its writer is dead */
#define GZIP_BITS (15 + 16)

static int root_path(struct buf *path, struct error *err)
{
	int r = file_add_state_dir(path);

	if (r)
		return error_say(err, r, "no directory for requests that wait to be sent: set "
				 "XDG_STATE_HOME or HOME");
	buf_adds(path, "/spool");
	return buf_error(path) ? error_sys(err, buf_error(path), NULL, "spool") : 0;
}

static int make_private(const char *path, struct error *err)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_sys(err, -errno, path, "cannot make the directory");
	return 0;
}

static int write_file(int dir_fd, const char *name, const void *p, size_t len)
{
	char beside[NAME_MAX];
	int fd, r;

	snprintf(beside, sizeof beside, ".%d-%s", (int)getpid(), name);
	fd = openat(dir_fd, beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = file_write_all(fd, p, len);
	if (!r && fdatasync(fd))
		r = -errno;
	if (close(fd) && !r)
		r = -errno;
	if (!r && renameat(dir_fd, beside, dir_fd, name))
		r = -errno;
	if (r)
		unlinkat(dir_fd, beside, 0);
	return r;
}

int spool_open_dir(struct spool *s, const char *path, struct error *err)
{
	struct stat st;
	ssize_t n;
	int r;

	*s = (struct spool){ .fd = -1 };
	snprintf(s->path, sizeof s->path, "%s", path);
	r = trust_path(path, err);
	if (r)
		return r;
	s->fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (s->fd < 0 || trust_fstat(s->fd, &st))
		return error_sys(err, -errno, path, NULL);
	r = trust_check_own(path, &st, err);
	if (r)
		return r;
	n = readfile_line(s->fd, "url", s->url, sizeof s->url);
	return n < 0 && n != -ENOENT ? error_sys(err, (int)n, path, "url") : 0;
}

int spool_open(struct spool *s, const char *url, struct error *err)
{
	struct buf path = BUF_INIT;
	int r;

	*s = (struct spool){ .fd = -1 };
	if (strlen(url) >= sizeof s->url)
		return error_say(err, -ENAMETOOLONG, "the URL is too long");
	r = root_path(&path, err);
	if (r)
		goto out;
	r = file_make_parents(path.data, err);
	if (r)
		goto out;
	r = make_private(path.data, err);
	if (r)
		goto out;
	buf_addf(&path, "/%016" PRIx64, hash_fnv64(url, strlen(url)));
	r = make_private(buf_str(&path), err);
	if (r)
		goto out;
	r = spool_open_dir(s, buf_str(&path), err);
	if (!r && strcmp(s->url, url)) {
		snprintf(s->url, sizeof s->url, "%s", url);
		r = write_file(s->fd, "url", url, strlen(url));
		r = r ? error_sys(err, r, s->path, "cannot write") : 0;
	}
out:
	buf_release(&path);
	return r;
}

void spool_close(struct spool *s)
{
	file_close(s->fd);
	s->fd = -1;
}

/* Adding */

static int compress_gzip(struct buf *out, const struct buf *in)
{
	z_stream z = { .next_in = (unsigned char *)in->data, .avail_in = (unsigned)in->len };
	size_t room;

	if (in->len > UINT_MAX / 2)
		return -EFBIG;
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, in->len);
	if (!buf_reserve(out, room)) {
		z.next_out = (unsigned char *)out->data;
		z.avail_out = (unsigned)room;
		deflate(&z, Z_FINISH);
		out->len = z.total_out;
	}
	deflateEnd(&z);
	return buf_error(out);
}

int spool_add(struct spool *s, const struct buf *request, struct error *err)
{
	struct buf packed = BUF_INIT;
	char name[64];
	int r = compress_gzip(&packed, request);

	snprintf(name, sizeof name, "%020" PRId64 "-%d-%04u.gz", clock_wall_ns(), (int)getpid(),
		 s->n_added++);
	r = r ? r : write_file(s->fd, name, packed.data, packed.len);
	buf_release(&packed);
	return r ? error_sys(err, r, s->path, "cannot keep a request to be sent") : 0;
}

/* Reading */

static int is_request(const struct dirent *entry)
{
	return *entry->d_name != '.' && str_ends(entry->d_name, ".gz");
}

int spool_list(const struct spool *s, struct spool_names *names)
{
	struct dirent **entry;
	int n = scandirat(s->fd, ".", &entry, is_request, alphasort);
	int r = 0;

	*names = (struct spool_names){ 0 };
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		char **added = array_add(&names->name, &names->n, sizeof *added);

		if (added)
			*added = strdup(entry[i]->d_name);
		if (!added || !*added)
			r = -ENOMEM;
		free(entry[i]);
	}
	free(entry);
	return r;
}

void spool_names_release(struct spool_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct spool_names){ 0 };
}

static uint64_t read_dropped(int dir_fd)
{
	char text[32];
	uint64_t n;
	ssize_t len = readfile_line(dir_fd, "dropped", text, sizeof text);

	return len > 0 && cursor_slice_u64(slice_of(text), &n) ? n : 0;
}

uint64_t spool_take_dropped(struct spool *s)
{
	uint64_t n = read_dropped(s->fd);

	if (n)
		unlinkat(s->fd, "dropped", 0);
	return n;
}

/* The limit */

struct kept {
	char *name;		/* HASH/FILE */
	uint64_t bytes;
};

struct all_kept {
	int root_fd;
	size_t n;
	struct kept *list;
	uint64_t bytes;
};

static int by_age(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	return strcmp(strchr(x->name, '/'), strchr(y->name, '/'));
}

static int see_file(struct all_kept *all, const char *dir, const char *file)
{
	char path[2 * NAME_MAX + 2];
	struct kept *added;
	struct stat st;

	snprintf(path, sizeof path, "%s/%s", dir, file);
	if (fstatat(all->root_fd, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	if (*file == '.' && st.st_mtime < time(NULL) - STALE_S)
		unlinkat(all->root_fd, path, 0);
	if (*file == '.' || !str_ends(file, ".gz"))
		return 0;
	added = array_add(&all->list, &all->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct kept){ strdup(path), (uint64_t)st.st_size };
	all->bytes += added->bytes;
	return added->name ? 0 : -ENOMEM;
}

/* Call see for each name in a directory. */
static int see_dir(struct all_kept *all, const char *dir)
{
	DIR *d = file_open_dir_at(all->root_fd, dir);
	struct dirent *entry;
	int r = 0;

	if (!d)
		return 0;
	while (!r && (entry = readdir(d))) {
		if (strcmp(dir, "."))
			r = see_file(all, dir, entry->d_name);
		else if (*entry->d_name != '.')
			r = see_dir(all, entry->d_name);
	}
	closedir(d);
	return r;
}

static void drop_kept(struct all_kept *all, const struct kept *k)
{
	char dir[NAME_MAX + 1], text[32];
	int fd;

	snprintf(dir, sizeof dir, "%.*s", (int)(strchr(k->name, '/') - k->name), k->name);
	fd = openat(all->root_fd, dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!unlinkat(all->root_fd, k->name, 0)) {
		snprintf(text, sizeof text, "%" PRIu64 "\n", read_dropped(fd) + 1);
		write_file(fd, "dropped", text, strlen(text));
		all->bytes -= k->bytes;
	}
	close(fd);
}

int spool_trim(uint64_t bytes)
{
	struct all_kept all = { 0 };
	struct buf root = BUF_INIT;
	int r = root_path(&root, NULL);

	all.root_fd = r ? -1 : open(root.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r)
		goto out;
	if (all.root_fd < 0)
		r = -errno;
	if (r)
		goto out;
	r = see_dir(&all, ".");
	if (r)
		goto out;
	if (all.n)
		qsort(all.list, all.n, sizeof *all.list, by_age);
	for (size_t i = 0; i < all.n && all.bytes > bytes; i++)
		drop_kept(&all, &all.list[i]);
out:
	for (size_t i = 0; i < all.n; i++)
		free(all.list[i].name);
	free(all.list);
	file_close(all.root_fd);
	buf_release(&root);
	return r;
}
