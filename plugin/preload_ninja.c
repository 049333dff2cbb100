/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/readfile.h"
#include "plugin/preload.h"

#include "command/ninja_hash.h"
#include "recording/event.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/*
 * The identity of an edge for ninja, if the line of its start is not enough: the command was too
 * long, a secret in it was replaced, or it has a response file, which is removed when the edge is
 * done.
 */

#define RSPFILE_MAX (64u << 20)

static bool ends_path(char c)
{
	return !c || strchr(" \t\n'\"`;|&<>()", c);
}

/* The first existing @FILE in the command, open; -1: there is none. */
static int open_rspfile(char path[PATH_MAX], const char *command)
{
	for (const char *at = command; (at = strchr(at, '@')); at++) {
		size_t n = 0;
		int fd;

		while (!ends_path(at[1 + n]))
			n++;
		if (!n || n >= PATH_MAX)
			continue;
		memcpy(path, at + 1, n);
		path[n] = '\0';
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static void add_hashes(char *out, size_t size, const void *text, size_t len)
{
	snprintf(out, size, NINJA_HASH_NOTE "%016llx %016llx",
		 (unsigned long long)ninja_hash_murmur(text, len),
		 (unsigned long long)ninja_hash_rapid(text, len));
}

/* The same for the command and the content of its response file. */
static bool add_hashes_of_both(char *out, size_t size, const char *command, int fd)
{
	size_t before = strlen(command) + strlen(NINJA_HASH_RSPFILE), len;
	struct stat st;
	char *memory;
	bool ok;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > RSPFILE_MAX)
		return false;
	len = before + (size_t)st.st_size;
	memory = mmap(NULL, len + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	strcpy(memory, command);
	strcat(memory, NINJA_HASH_RSPFILE);
	ok = readfile_some_at(fd, memory + before, (size_t)st.st_size, 0) == st.st_size;
	if (ok)
		add_hashes(out, size, memory, len);
	munmap(memory, len + 1);
	return ok;
}

bool preload_ninja_note(struct preload_work *w, char *out, size_t size, const char *command,
			bool truncated)
{
	int fd = open_rspfile(w->look.path, command);
	bool done = fd >= 0 && add_hashes_of_both(out, size, command, fd);

	file_close(fd);
	if (!done && truncated)
		add_hashes(out, size, command, strlen(command));
	return done || truncated;
}
