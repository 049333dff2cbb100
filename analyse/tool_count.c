/* SPDX-License-Identifier: MIT */
#include "analyse/tool_count.h"

#include "analyse/output.h"
#include "analyse/output_marks.h"
#include "base/file.h"
#include "base/readfile.h"
#include "recording/output_log.h"

#include <fcntl.h>
#include <unistd.h>

#define TAIL 32768		/* of the output: a status line is in it, unless tasks print very much */
#define AHEAD 1000		/* tasks: the output and the recording are read at different times */

/* The only ninja of the recording; NULL: none, or several, whose lines look alike. */
static const struct instance *only_ninja(const struct recording *rec)
{
	const struct instance *found = NULL;

	for (size_t i = 0; i < rec->n_instances; i++) {
		if (!output_is(&rec->instance[i], BUILD_TOOL_STATUS))
			continue;
		if (found)
			return NULL;
		found = &rec->instance[i];
	}
	return found;
}

/* A task can print such a line, too: its count differs much from the number of tasks that have ended. */
static void take_status(struct tool_count *p, struct slice text, uint64_t ended)
{
	struct slice description;
	uint64_t done, total;

	if (output_ninja_status(text, &done, &total, &description) && done <= ended + AHEAD &&
	    ended <= done + AHEAD && total >= ended / 2)
		*p = (struct tool_count){ (int64_t)done, (int64_t)total };
}

static void read_tail(struct tool_count *p, const char *path, uint64_t ended)
{
	char text[TAIL];
	struct slice line;
	struct cursor c;
	bool complete;
	int dir_fd = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	int fd = dir_fd < 0 ? -1 : readfile_open(dir_fd, OUTPUT_LOG);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	ssize_t n = size < 0 ? -1 : readfile_some_at(fd, text, sizeof text, size > TAIL ? size - TAIL : 0);

	file_close(fd);
	file_close(dir_fd);
	cursor_init(&c, text, n > 0 ? (size_t)n : 0);
	while (cursor_line(&c, &line, &complete)) {
		struct cursor in;
		struct slice part;

		cursor_init(&in, line.p, line.len);
		while (cursor_until(&in, '\r', &part))	/* on a terminal, one replaces the other */
			take_status(p, part, ended);
	}
}

void tool_count_find(struct tool_count *p, const struct recording *rec, uint64_t ended, const char *path)
{
	*p = (struct tool_count){ -1, -1 };
	for (size_t i = 0; i < rec->n_instances; i++) {
		if (rec->instance[i].said_total)
			*p = (struct tool_count){ rec->instance[i].said_done, rec->instance[i].said_total };
	}
	if (p->total < 0 && only_ninja(rec))
		read_tail(p, path, ended);
}
