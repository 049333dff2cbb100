/* SPDX-License-Identifier: MIT */
#include "inspect/look.h"

#include "base/array.h"
#include "base/file.h"
#include "base/readfile.h"
#include "inspect/elf_head.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The mappings of one file that follow each other, the first of which begins the file. */
struct group {
	struct look *look;
	const struct mapping *first, *end;
	int file_fd;
};

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->file == b->file && a->inode == b->inode && a->device_major == b->device_major &&
	       a->device_minor == b->device_minor;
}

static struct group group_of(struct look *l, const struct snapshot *s, const struct mapping *code)
{
	struct group g = { l, code, code + 1, -1 };

	while (g.first > s->mapping && g.first->offset && is_same_file(g.first - 1, code) &&
	       g.first[-1].offset <= g.first->offset)
		g.first--;
	while (g.end < s->mapping + s->n && is_same_file(g.end, code) && g.end->offset &&
	       g.end->offset >= g.end[-1].offset)
		g.end++;
	return g;
}

/* Where the file's content is read from */

/* The memory of the process, whatever became of the file. */
static size_t read_memory(void *ctx, void *to, size_t len, uint64_t offset)
{
	const struct group *g = ctx;

	for (const struct mapping *m = g->first; m < g->end; m++) {
		uint64_t size = m->end - m->start;
		ssize_t n;

		if (offset < m->offset || offset - m->offset >= size)
			continue;
		size -= offset - m->offset;
		n = pread(g->look->memory_fd, to, len < size ? len : (size_t)size,
			  (off_t)(m->start + (offset - m->offset)));
		return n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static size_t read_file(void *ctx, void *to, size_t len, uint64_t offset)
{
	const struct group *g = ctx;
	ssize_t n = offset <= INT64_MAX ? readfile_some_at(g->file_fd, to, len, (off_t)offset) : 0;

	return n > 0 ? (size_t)n : 0;
}

static bool open_process_memory(struct look *l)
{
	if (l->memory_fd < 0)
		l->memory_fd = openat(l->dir_fd, "mem", O_RDONLY | O_CLOEXEC);
	return l->memory_fd >= 0;
}

/* Opening a device or a pipe could have effects: the path is opened without that first. */
static int open_regular(int dir_fd, const char *path, uint64_t inode)
{
	int place = openat(dir_fd, path, O_PATH | O_CLOEXEC), fd = -1;
	char again[40];
	struct stat st;

	if (place < 0)
		return -1;
	if (!fstat(place, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == inode) {
		snprintf(again, sizeof again, "/proc/self/fd/%d", place);
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	}
	close(place);
	return fd;
}

/* By its path in the process' own view of the files, or, as root, by the mapping. */
static int open_file(const struct look *l, const struct mapping *m)
{
	struct slice name = l->names->name[m->file];
	char path[PATH_MAX + 8];
	int fd;

	if (!m->inode || !name.len || *name.p != '/' || name.len >= PATH_MAX)
		return -1;
	snprintf(path, sizeof path, "root%.*s", (int)name.len, name.p);
	fd = open_regular(l->dir_fd, path, m->inode);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof path, "map_files/%llx-%llx", (unsigned long long)m->start,
		 (unsigned long long)m->end);
	return open_regular(l->dir_fd, path, m->inode);
}

static bool read_head(struct group *g, struct elf_head *h)
{
	bool found = open_process_memory(g->look) && elf_head_read(h, read_memory, g);
	struct elf_head other;

	if (found && h->build_id[0])
		return true;
	g->file_fd = open_file(g->look, g->first);
	if (g->file_fd < 0)
		return found;
	/* notes need not be loaded */
	if (elf_head_read(&other, read_file, g)) {
		*h = other;
		found = true;
	}
	close(g->file_fd);
	return found;
}

/* Modules */

static void place_module(struct module *m, const struct group *g, const struct elf_head *h)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), address;

	if (!h || !elf_head_address(h, g->first->offset, page, &address))
		return;
	m->bias = g->first->start - address;
	for (size_t i = 0; i < h->n_loads; i++) {
		const struct elf_load *l = &h->load[i];
		uint64_t end = m->bias + l->address + l->size;

		end = (end + page - 1) & ~(page - 1);
		/* of a file that can lie, only what is mapped, and memory after it */
		if (end > m->end && end - m->end < UINT32_MAX)
			m->end = end;
	}
}

static int add_module(struct look *l, struct group *g)
{
	struct module *m = array_add(&l->module, &l->n_modules, sizeof *m);
	struct elf_head h;
	bool found;

	if (!m)
		return -ENOMEM;
	*m = (struct module){ .start = g->first->start, .end = g->end[-1].end,
			      .bias = g->first->start - g->first->offset, .file = g->first->file };
	found = read_head(g, &h);
	place_module(m, g, found ? &h : NULL);
	if (found)
		memcpy(m->build_id, h.build_id, sizeof m->build_id);
	return 0;
}

static bool is_known(const struct look *l, const struct mapping *first)
{
	for (size_t i = l->n_known; i--;) {
		if (l->known[i].start == first->start && l->known[i].file == first->file)
			return true;
	}
	return false;
}

/* Code of a file or of the kernel's own object; not code that was compiled into memory. */
static bool is_code(const struct look *l, const struct mapping *m)
{
	struct slice name = l->names->name[m->file];

	return m->permissions[2] == 'x' && (m->inode || slice_is(name, "[vdso]"));
}

int look_modules(struct look *l, const struct snapshot *s, const struct module **modules,
		 size_t *n)
{
	int r = 0;

	for (const struct mapping *m = s->mapping; !r && m < s->mapping + s->n; m++) {
		struct look_known *known;
		struct group g;

		if (!is_code(l, m))
			continue;
		g = group_of(l, s, m);
		if (is_known(l, g.first))
			continue;
		known = array_add(&l->known, &l->n_known, sizeof *known);
		if (!known)
			return -ENOMEM;
		*known = (struct look_known){ g.first->start, g.first->file };
		r = add_module(l, &g);
	}
	*modules = l->module;
	*n = l->n_modules;
	return r;
}
