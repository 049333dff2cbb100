/* SPDX-License-Identifier: MIT */
#include "symbols/symbol_cache.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/sort.h"
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NEW_PREFIX ".new-"
#define NEW_OLD_S 3600		/* its writer was killed */

int symbol_cache_open(void)
{
	struct buf path = BUF_INIT;
	struct error err;
	struct stat st;
	int r = file_add_cache_dir(&path), fd = -1;

	buf_adds(&path, "/symbols");
	if (r)
		goto out;
	r = buf_error(&path) ? buf_error(&path) : trust_path(buf_str(&path), &err);
	if (r)
		goto out;
	r = file_make_parents(buf_str(&path), &err);
	if (r)
		goto out;
	if (mkdir(buf_str(&path), 0700) && errno != EEXIST)
		r = -errno;
	if (r)
		goto out;
	fd = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	r = fd < 0 ? -errno : trust_fstat(fd, &st);
	if (r)
		goto out;
	if (!trust_is_private(&st))
		r = -EPERM;
out:
	buf_release(&path);
	if (r && fd >= 0)
		close(fd);
	return r ? r : fd;
}

/* It names a file: an archive may say anything. */
static bool is_build_id(const char *id)
{
	size_t n = strspn(id, "0123456789abcdef");

	return n >= 8 && n <= 128 && !id[n];
}

bool symbol_cache_load(struct symtab *t, int cache_fd, const char *build_id)
{
	const struct symtab_head *head;
	struct stat st;
	void *memory;
	int fd;

	if (!is_build_id(build_id))
		return false;
	fd = openat(cache_fd, build_id, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (trust_fstat(fd, &st) || !S_ISREG(st.st_mode) || !trust_is_private(&st) ||
	    st.st_size < (off_t)sizeof *head || st.st_size > SYMBOL_CACHE_MAX) {
		close(fd);
		return false;
	}
	memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (memory != MAP_FAILED && time(NULL) - st.st_mtime > NEW_OLD_S)
		futimens(fd, NULL);	/* it was used */
	close(fd);
	if (memory == MAP_FAILED)
		return false;
	head = memory;
	if (symtab_use(t, memory, (size_t)st.st_size, true) &&
	    elf_file_same_id(build_id, head->build_id))
		return true;
	munmap(memory, (size_t)st.st_size);
	*t = (struct symtab){ 0 };
	return false;
}

struct cached {
	char name[256];
	int64_t size;
};

/* Remove the files that were not used for the longest time, until the others are small enough. */
static void remove_oldest(int cache_fd)
{
	DIR *dir = file_open_dir_at(cache_fd, ".");
	struct keyed *by_age = NULL;
	struct cached *file = NULL;
	struct dirent *entry;
	int64_t total = 0;
	size_t n = 0, n_keys = 0;

	while (dir && (entry = readdir(dir))) {
		struct cached *new;
		struct keyed *key;
		struct stat st;

		if (fstatat(cache_fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			continue;
		if (!strncmp(entry->d_name, NEW_PREFIX, strlen(NEW_PREFIX)) &&
		    time(NULL) - st.st_mtime > NEW_OLD_S)
			unlinkat(cache_fd, entry->d_name, 0);
		if (*entry->d_name == '.' || !(new = array_add(&file, &n, sizeof *new)))
			continue;
		snprintf(new->name, sizeof new->name, "%s", entry->d_name);
		new->size = st.st_size;
		total += st.st_size;
		key = array_add(&by_age, &n_keys, sizeof *key);
		if (key)
			*key = (struct keyed){ (uint64_t)st.st_mtime, (int64_t)(n - 1) };
	}
	if (dir)
		closedir(dir);
	if (total > SYMBOL_CACHE_MAX && !sort_keyed(by_age, n_keys)) {
		/* not only just enough, so that this is rare */
		for (size_t i = 0; i < n_keys && total > SYMBOL_CACHE_MAX / 4 * 3; i++) {
			unlinkat(cache_fd, file[by_age[i].value].name, 0);
			total -= file[by_age[i].value].size;
		}
	}
	free(by_age);
	free(file);
}

void symbol_cache_store(int cache_fd, const char *build_id, const struct symtab *t)
{
	char name[64];
	int fd;

	if (!is_build_id(build_id) || t->size > SYMBOL_CACHE_MAX / 4)
		return;
	snprintf(name, sizeof name, NEW_PREFIX "%ld", (long)getpid());
	unlinkat(cache_fd, name, 0);
	fd = openat(cache_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (file_write_all(fd, t->memory, t->size) | close(fd) ||
	    renameat(cache_fd, name, cache_fd, build_id)) {
		unlinkat(cache_fd, name, 0);
		return;
	}
	remove_oldest(cache_fd);
}
