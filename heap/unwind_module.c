/* SPDX-License-Identifier: MIT */
#include "heap/sandbox.h"
#include "heap/unwind.h"
#include "heap/unwind_table.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Which module has an address. glibc tells without a lock since 2.35. */

struct found {
	uintptr_t start, end, bias, header;
	const char *name;	/* as the loader has it: "" for the program */
};

#ifdef DLFO_STRUCT_HAS_EH_DBASE
static int find_module(struct found *f, uintptr_t address)
{
	struct dl_find_object o;

	if (_dl_find_object((void *)address, &o))
		return -ENOENT;
	*f = (struct found){ (uintptr_t)o.dlfo_map_start, (uintptr_t)o.dlfo_map_end,
			     o.dlfo_link_map->l_addr, (uintptr_t)o.dlfo_eh_frame,
			     o.dlfo_link_map->l_name };
	return 0;
}
#else
struct search {
	struct found *found;
	uintptr_t address;
};

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *s = context;
	struct found f = { UINTPTR_MAX, 0, info->dlpi_addr, 0, info->dlpi_name };

	(void)size;
	for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_GNU_EH_FRAME)
			f.header = start;
		if (p->p_type != PT_LOAD)
			continue;
		if (start < f.start)
			f.start = start;
		if (start + p->p_memsz > f.end)
			f.end = start + p->p_memsz;
	}
	if (s->address < f.start || s->address >= f.end)
		return 0;
	*s->found = f;
	return 1;
}

static int find_module(struct found *f, uintptr_t address)
{
	struct search s = { f, address };

	return dl_iterate_phdr(visit, &s) ? 0 : -ENOENT;
}
#endif

int unwind_table_find(struct unwind_table *t, uintptr_t address)
{
	struct found f;
	int r = find_module(&f, address);

	if (!r)
		*t = (struct unwind_table){ f.header, f.start, f.end };
	return r;
}

int unwind_find_range(uintptr_t *start, uintptr_t *end, uintptr_t address)
{
	struct found f;
	int r = find_module(&f, address);

	if (!r) {
		*start = f.start;
		*end = f.end;
	}
	return r;
}

/* The notes of a segment, each with a name and contents padded to four bytes. */
static bool read_build_id(struct unwind_module *m, uintptr_t at, size_t len)
{
	const unsigned char *p = (const unsigned char *)at;
	ElfW(Nhdr) note;

	while (len >= sizeof note) {
		size_t name, size;

		memcpy(&note, p, sizeof note);
		name = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		size = sizeof note + name + (((size_t)note.n_descsz + 3) & ~(size_t)3);
		if (size > len)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(p + sizeof note, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= sizeof m->build_id) {
			m->build_id_len = note.n_descsz;
			memcpy(m->build_id, p + sizeof note + name, note.n_descsz);
			return true;
		}
		p += size;
		len -= size;
	}
	return false;
}

static bool has_bytes(const struct unwind_module *m, uintptr_t at, uint64_t len)
{
	return at >= m->start && at <= m->end && len <= m->end - at;
}

/* A module begins with the header of its file. */
static void find_build_id(struct unwind_module *m)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)m->start;

	if (!has_bytes(m, m->start, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_phentsize != sizeof(ElfW(Phdr)) ||
	    header->e_phoff > m->end - m->start ||
	    !has_bytes(m, m->start + header->e_phoff, header->e_phnum * sizeof(ElfW(Phdr))))
		return;
	for (ElfW(Half) i = 0; i < header->e_phnum; i++) {
		const ElfW(Phdr) *p = (const ElfW(Phdr) *)(m->start + header->e_phoff) + i;

		if (p->p_type == PT_NOTE && has_bytes(m, m->bias + p->p_vaddr, p->p_memsz) &&
		    read_build_id(m, m->bias + p->p_vaddr, p->p_memsz))
			return;
	}
}

/* Paths, as the kernel has them: /proc/self/maps, read piece by piece. open() and read() of libc are
 * cancellation points, which malloc() is not. */

struct maps {
	long fd;
	size_t at, len;
	char text[1024];
};

static int next_char(struct maps *s)
{
	if (s->at == s->len) {
		long n = syscall(SYS_read, s->fd, s->text, sizeof s->text);

		if (n <= 0)
			return -1;
		s->at = 0;
		s->len = (size_t)n;
	}
	return (unsigned char)s->text[s->at++];
}

static int digit(int c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static uintptr_t next_hex(struct maps *s, int *after)
{
	uintptr_t n = 0;
	int c;

	while ((c = next_char(s)) >= 0 && digit(c) >= 0)
		n = n << 4 | (uintptr_t)digit(c);
	*after = c;
	return n;
}

/* The path is what follows the spaces after the inode, the fifth word. */
static int next_path(struct maps *s, char path[PATH_MAX])
{
	size_t n = 0;
	int c, words = 0, before = ' ';

	while ((c = next_char(s)) >= 0 && c != '\n') {
		if (words < 4) {
			words += c == ' ' && before != ' ';
		} else if ((n || c != ' ') && n < PATH_MAX - 1) {
			path[n++] = (char)c;
		}
		before = c;
	}
	path[n] = '\0';
	return c;
}

static bool path_of_maps(char path[PATH_MAX], uintptr_t address)
{
	struct maps s = { .fd = sandbox_is(SANDBOX_FILTER) ? -1 :
			  syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC) };
	bool found = false;
	int c = 0;

	if (s.fd < 0)
		return false;
	while (c >= 0 && !found) {
		uintptr_t start = next_hex(&s, &c), end;

		if (c < 0)
			break;
		end = next_hex(&s, &c);
		c = next_path(&s, path);
		found = address >= start && address < end;
	}
	syscall(SYS_close, s.fd);
	return found && *path;
}

/* The program has no name in the loader's list. */
static char program[PATH_MAX];
static uintptr_t program_start;

void unwind_find_program(void)
{
	uintptr_t end;

	if (unwind_find_range(&program_start, &end, getauxval(AT_PHDR)) ||
	    !path_of_maps(program, program_start))
		program[0] = '\0';
}

int unwind_find_module(struct unwind_module *m, uintptr_t address)
{
	int saved = errno, r;
	struct found f;

	r = find_module(&f, address);
	if (r)
		return r;
	m->start = f.start;
	m->end = f.end;
	m->bias = f.bias;
	m->build_id_len = 0;
	find_build_id(m);
	if (f.name[0] == '/' && strlen(f.name) < sizeof m->path) {
		strcpy(m->path, f.name);
	} else if (f.start == program_start && program[0]) {
		strcpy(m->path, program);
	} else if (!path_of_maps(m->path, address)) {
		const char *name = f.name[0] ? f.name : (const char *)getauxval(AT_EXECFN);

		m->path[0] = '\0';
		strncat(m->path, name ? name : "", sizeof m->path - 1);
	}
	errno = saved;
	return 0;
}
