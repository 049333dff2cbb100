/* SPDX-License-Identifier: MIT */
/* System calls are made directly: libc's functions may be replaced, and are cancellation points. */
#include "heap/image_write.h"

#include "heap/pages.h"
#include "heap/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

_Static_assert(sizeof(struct heap_head) <= HEAP_IMAGE_HEAD, "the head has room");
_Static_assert(sizeof(struct heap_module) == 1024, "modules have no gaps");
_Static_assert(sizeof(struct heap_site) == 80, "sites have no gaps");

struct heap_head *image_head;
void *image_chunk[HEAP_TABLES][HEAP_IMAGE_CHUNKS];

static char path[PATH_MAX];
static uint32_t n_chunks;			/* of the file */
static uint32_t n_of_table[HEAP_TABLES];	/* chunks */

static int open_image(int flags)
{
	long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0600);

	return fd < 0 ? -errno : (int)fd;
}

/* Where the file system cannot allocate: NFS, for one. */
static int write_zeros(int fd, off_t at, size_t size)
{
	static const char zeros[4096];

	while (size) {
		long n = syscall(SYS_pwrite64, fd, zeros, size < sizeof zeros ? size : sizeof zeros,
				 at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Allocate blocks for a part of the file. Beyond the limit the kernel would send a signal. */
static int allocate_blocks(int fd, off_t at, size_t size)
{
	struct rlimit limit;

	if (!syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) &&
	    limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < (rlim_t)at + size)
		return -EFBIG;
	while (syscall(SYS_fallocate, fd, 0, at, (off_t)size)) {
		if (errno == EOPNOTSUPP || errno == ENOSYS)
			return write_zeros(fd, at, size);
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

/* Allocate and map a part of the file, and close it. */
static int map_part(void **out, int fd, off_t at, size_t size)
{
	int r = allocate_blocks(fd, at, size);
	long p;

	if (!r) {
		p = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);
		if (p == -1)
			r = -errno;
		else
			*out = (void *)p;
	}
	syscall(SYS_close, fd);
	return r;
}

int image_create(const char *dir, int pid, uint64_t start_ticks)
{
	void *head;
	int fd = -EEXIST, r, len;

	for (unsigned n = 0; fd == -EEXIST && n < 1000; n++) {
		len = snprintf(path, sizeof path, "%s/" HEAP_IMAGE_NAME, dir, pid,
			       (unsigned long long)start_ticks, n);
		if (len < 0 || (size_t)len >= sizeof path)
			return -ENAMETOOLONG;
		fd = open_image(O_CREAT | O_EXCL);
	}
	if (fd < 0)
		return fd;
	r = map_part(&head, fd, 0, HEAP_IMAGE_HEAD);
	if (r) {
		syscall(SYS_unlinkat, AT_FDCWD, path, 0);
		return r;
	}
	image_head = head;
	image_head->pid = pid;
	image_head->start_ticks = start_ticks;
	return 0;
}

/* The end of a table of n items, of which a chunk has so many. */
static void *room(enum heap_table table, uint32_t n, size_t per_chunk, size_t item_size)
{
	int r;

	if (n == per_chunk * n_of_table[table]) {
		if (image_head->error)
			return NULL;
		r = n_chunks == HEAP_IMAGE_CHUNKS ? -EFBIG : sandbox_is(SANDBOX_FILTER) ? -EPERM :
		    open_image(0);
		if (r >= 0)
			r = map_part(&image_chunk[table][n_of_table[table]], r,
				     (off_t)(HEAP_IMAGE_HEAD + n_chunks * HEAP_IMAGE_CHUNK),
				     HEAP_IMAGE_CHUNK);
		if (r < 0) {
			image_head->error = -r;
			return NULL;
		}
		n_of_table[table]++;
		__atomic_store_n(&image_head->chunk[n_chunks++], (uint8_t)table, __ATOMIC_RELEASE);
	}
	return (char *)image_chunk[table][n / per_chunk] + n % per_chunk * item_size;
}

void *image_new_module(void)
{
	return room(HEAP_TABLE_MODULES, image_head->n_modules, HEAP_MODULES_PER_CHUNK,
		    sizeof(struct heap_module));
}

struct heap_stack *image_new_stack(void)
{
	return room(HEAP_TABLE_STACKS, image_head->n_stacks, HEAP_STACKS_PER_CHUNK,
		    sizeof(struct heap_stack));
}

struct heap_site *image_new_site(void)
{
	return room(HEAP_TABLE_SITES, image_head->n_sites, HEAP_SITES_PER_CHUNK,
		    sizeof(struct heap_site));
}

struct heap_range *image_new_range(void)
{
	return room(HEAP_TABLE_RANGES, image_head->n_ranges, HEAP_RANGES_PER_CHUNK,
		    sizeof(struct heap_range));
}

void image_prepare(void)
{
	if (image_new_stack() && image_new_module() && image_new_site())
		image_new_range();
}

void image_forget(void)
{
	for (int table = 0; table < HEAP_TABLES; table++) {
		for (uint32_t i = 0; i < n_of_table[table]; i++)
			pages_free(image_chunk[table][i], HEAP_IMAGE_CHUNK);
		n_of_table[table] = 0;
	}
	pages_free(image_head, HEAP_IMAGE_HEAD);
	image_head = NULL;
	n_chunks = 0;
}
