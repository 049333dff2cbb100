/* SPDX-License-Identifier: MIT */
#include "symbols/stack_source.h"

#include "base/cursor.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE_MAX_BYTES (16 << 20)
#define LINE_MAX_BYTES 400

void stack_source_init(struct stack_source *s, const char *dir)
{
	*s = (struct stack_source){ .dir_fd = -1 };
	if (dir && realpath(dir, s->dir))
		s->dir_fd = open(s->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void stack_source_release(struct stack_source *s)
{
	file_close(s->dir_fd);
	buf_release(&s->text);
}

/* Neither symbolic links nor ".." lead out of the directory, and a pipe or device is not waited for. */
static int open_below(const struct stack_source *s, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	size_t len = strlen(s->dir);
	struct stat st;
	int fd;

	if (*path == '/') {
		if (strncmp(path, s->dir, len) || (path[len] != '/' && len > 1))
			return -1;
		path += len + (len > 1);
	}
	fd = (int)syscall(SYS_openat2, s->dir_fd, path, &how, sizeof how);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > SIZE_MAX_BYTES)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool read_file(struct stack_source *s, const char *path)
{
	int fd;

	if (s->dir_fd < 0 || strlen(path) >= sizeof s->path)
		return false;
	if (!strcmp(s->path, path))
		return s->text.len > 0;
	strcpy(s->path, path);
	buf_clear(&s->text);
	fd = open_below(s, path);
	if (fd < 0)
		return false;
	if (readfile_fd(&s->text, fd, SIZE_MAX_BYTES))
		buf_clear(&s->text);
	close(fd);
	return s->text.len > 0;
}

void stack_source_json(struct json *j, struct stack_source *s, const char *path, unsigned line)
{
	struct cursor c;
	struct slice text;
	bool complete;
	unsigned first = line > STACK_SOURCE_AROUND ? line - STACK_SOURCE_AROUND : 1;

	if (!line || !path || !read_file(s, path)) {
		json_null(j, "context");
		return;
	}
	json_array(j, "context");
	cursor_init(&c, s->text.data, s->text.len);
	for (unsigned n = 1; n <= line + STACK_SOURCE_AROUND && cursor_line(&c, &text, &complete); n++) {
		if (n < first)
			continue;
		json_array(j, NULL);
		json_int(j, NULL, n);
		json_strn(j, NULL, text.p, MIN(text.len, LINE_MAX_BYTES));
		json_array_end(j);
	}
	json_array_end(j);
}
