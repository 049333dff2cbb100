/* SPDX-License-Identifier: MIT */
#include "inspect/uncounted.h"

#include "base/buf.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "heap/heap_env.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENVIRONMENT_MAX (4u << 20)
#define HEADERS_MAX 64

/* The path of the loader; false: the program has none. */
static bool read_loader(int fd, const ElfW(Ehdr) *e, char loader[PATH_MAX])
{
	ElfW(Phdr) header[HEADERS_MAX];
	size_t n = MIN(e->e_phnum, HEADERS_MAX);
	ssize_t len = readfile_some_at(fd, header, n * sizeof *header, (off_t)e->e_phoff);

	loader[0] = '\0';
	for (size_t i = 0; len > 0 && i < (size_t)len / sizeof *header; i++) {
		size_t size = header[i].p_filesz < PATH_MAX ? header[i].p_filesz : PATH_MAX - 1;

		if (header[i].p_type != PT_INTERP)
			continue;
		len = readfile_some_at(fd, loader, size, (off_t)header[i].p_offset);
		loader[MAX(len, 0)] = '\0';
		return true;
	}
	return false;
}

static const char *read_reason(int fd)
{
	char loader[PATH_MAX];
	ElfW(Ehdr) e;

	if (readfile_some_at(fd, &e, sizeof e, 0) != sizeof e || memcmp(e.e_ident, ELFMAG, SELFMAG))
		return NULL;	/* a script */
	if (e.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
		return sizeof(void *) == 8 ? "it is a 32-bit program" : "it is a 64-bit program";
	if (e.e_phentsize != sizeof(ElfW(Phdr)))
		return "it is for another machine";
	if (!read_loader(fd, &e, loader))
		return "it is statically linked";
	return strstr(loader, "/ld-musl") ? "its C library is musl" : NULL;
}

const char *uncounted_file(int dir_fd, const char *path)
{
	const char *reason = "its file cannot be read";
	int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return reason;
	if (!fstat(fd, &st))
		reason = st.st_mode & (S_ISUID | S_ISGID) ?
			 "it runs with the rights of its owner or group" : read_reason(fd);
	close(fd);
	return reason;
}

static bool is_armed(const struct buf *environment)
{
	static const char name[] = "LD_PRELOAD=";

	for (size_t i = 0; i < environment->len; i += strlen(environment->data + i) + 1) {
		const char *text = environment->data + i;

		if (!strncmp(text, name, sizeof name - 1))
			return strstr(text, HEAP_ENV_ARM) || strstr(text, HEAP_ENV_SHIM);
	}
	return false;
}

const char *uncounted_process(int dir_fd)
{
	const char *reason = uncounted_file(dir_fd, "exe");
	struct buf environment = BUF_INIT;

	if (!reason && !readfile_at(&environment, dir_fd, "environ", ENVIRONMENT_MAX) &&
	    !is_armed(&environment))
		reason = "it was started without the environment that buildbeat prepares";
	buf_release(&environment);
	return reason ? reason : "it does not have the shared object that counts";
}
