/* SPDX-License-Identifier: MIT */
#include "inspect/archive_progress.h"

#include "base/array.h"
#include "base/field.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "inspect/archive_format.h"
#include "inspect/archive_meta.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The first line is this, "PID START_NS BOOT_ID", a tab and the name of the machine. */
#define HEADER "buildbeat inspection progress 1 "
#define FILE_MAX (1u << 20)
#define MESSAGE_MAX 4096
#define HEADER_MAX 1024

int inspect_progress_begin(int dir_fd)
{
	int fd = file_open_at(dir_fd, INSPECT_PROGRESS_LOG, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
	struct buf b = BUF_INIT;
	struct utsname u;
	int r;

	if (fd < 0)
		return fd;
	buf_adds(&b, HEADER);
	archive_meta_add_writer(&b);
	buf_addc(&b, '\t');
	if (!uname(&u))
		field_add(&b, u.nodename, strlen(u.nodename), HEADER_MAX / 2);
	buf_addc(&b, '\n');
	r = buf_error(&b) ? buf_error(&b) : file_write(fd, b.data, b.len);
	buf_release(&b);
	if (!r)
		return fd;
	close(fd);
	unlinkat(dir_fd, INSPECT_PROGRESS_LOG, 0);
	return r;
}

int inspect_progress_add(int fd, unsigned percent, const char *message)
{
	struct buf b = BUF_INIT;
	int r;

	buf_addu(&b, MIN(percent, 100));
	buf_addc(&b, '\t');
	field_add(&b, message, strlen(message), MESSAGE_MAX);
	buf_addc(&b, '\n');
	r = buf_error(&b) ? buf_error(&b) : file_write(fd, b.data, b.len);
	buf_release(&b);
	return r;
}

static int add_progress(struct inspect_progress_list *l, unsigned percent, const char *message,
			size_t len)
{
	struct inspect_progress *line = array_add(&l->line, &l->n, sizeof *line);
	char *text = line ? arena_text(l->arena, message, len) : NULL;

	if (!text) {
		l->n -= !!line;
		return -ENOMEM;
	}
	text[field_decode(text, len, NULL)] = '\0';
	*line = (struct inspect_progress){ percent, text };
	return 0;
}

/* A damaged line is ignored; a percentage that falls stays where it was. */
static int read_line(struct inspect_progress_list *l, struct slice line)
{
	unsigned least = l->n ? l->line[l->n - 1].percent : 0;
	struct cursor c;
	uint64_t percent;

	cursor_init(&c, line.p, line.len);
	if (!cursor_u64(&c, &percent) || percent > 100 || !cursor_byte(&c, '\t'))
		return 0;
	return add_progress(l, percent < least ? least : (unsigned)percent, c.p,
			    (size_t)(c.end - c.p));
}

/* Does the process of the first line run? */
static bool writer_runs(struct inspect_progress_list *l, int dir_fd)
{
	char line[HEADER_MAX], *host;
	int32_t pid = 0;
	bool runs;

	if (readfile_line(dir_fd, INSPECT_PROGRESS_LOG, line, sizeof line) <= 0 ||
	    strncmp(line, HEADER, strlen(HEADER)) || !(host = strchr(line, '\t')))
		return false;
	*host++ = '\0';
	host[field_decode(host, strlen(host), NULL)] = '\0';
	runs = archive_meta_writer_runs(line + strlen(HEADER), host, &pid);
	l->pid = pid;
	return runs;
}

static int parse_progress(struct inspect_progress_list *l, const struct buf *text, const char *dir,
			  struct error *err)
{
	struct cursor c;
	struct slice line;
	bool complete;
	int r = 0;

	cursor_init(&c, text->data, text->len);
	if (!cursor_line(&c, &line, &complete) || !slice_starts(line, HEADER))
		return error_set(err, -EINVAL, dir, 0, 0, INSPECT_PROGRESS_LOG ": not the progress of "
				 "an inspection");
	while (!r && cursor_line(&c, &line, &complete))
		r = complete ? read_line(l, line) : 0;
	if (!r && !l->runs && (!l->n || l->line[l->n - 1].percent < 100))
		r = add_progress(l, 100, INSPECT_PROGRESS_DIED, strlen(INSPECT_PROGRESS_DIED));
	return r ? error_sys(err, r, dir, NULL) : 0;
}

int inspect_progress_read(struct inspect_progress_list *l, const char *dir, struct error *err)
{
	int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	struct buf text = BUF_INIT;

	*l = (struct inspect_progress_list)INSPECT_PROGRESS_INIT;
	if (dir_fd < 0)
		return error_sys(err, -errno, dir, NULL);
	l->arena = arena_new();
	/* first: what a process that has ended wrote is complete */
	l->runs = writer_runs(l, dir_fd);
	r = l->arena ? readfile_at(&text, dir_fd, INSPECT_PROGRESS_LOG, FILE_MAX) : -ENOMEM;
	close(dir_fd);
	if (r && r != -EFBIG)
		error_sys(err, r, dir, INSPECT_PROGRESS_LOG);
	else
		r = parse_progress(l, &text, dir, err);
	buf_release(&text);
	return r;
}

void inspect_progress_release(struct inspect_progress_list *l)
{
	arena_free(l->arena);
	free(l->line);
	*l = (struct inspect_progress_list)INSPECT_PROGRESS_INIT;
}
