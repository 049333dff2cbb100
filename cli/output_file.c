/* SPDX-License-Identifier: MIT */
#include "cli/output_file.h"

#include "base/cursor.h"
#include "base/outfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN 20
#define WIDTH_MAX 1000

static unsigned clamp(uint64_t columns)
{
	return columns < WIDTH_MIN ? WIDTH_MIN : columns > WIDTH_MAX ? WIDTH_MAX :
	       (unsigned)columns;
}

static unsigned width(int fd, bool terminal)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint64_t columns;

	if (text && cursor_slice_u64(slice_of(text), &columns) && columns)
		return clamp(columns);
	if (!terminal)
		return 0;
	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? clamp(size.ws_col) : 80;
}

static struct style style_of(int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	bool terminal = isatty(fd);

	return (struct style){
		.width = width(fd, terminal),
		.colour = terminal && !(no_color && *no_color) && term && strcmp(term, "dumb"),
	};
}

struct style output_style(void)
{
	return style_of(STDOUT_FILENO);
}

struct style output_error_style(void)
{
	return style_of(STDERR_FILENO);
}

int output_end(struct buf *text, int r, const char *path, struct error *err)
{
	r = r ? r : buf_error(text);
	if (r)
		error_sys(err, r, path, NULL);
	else if (text->len)
		fwrite(text->data, 1, text->len, stdout);
	buf_release(text);
	return r;
}

int output_file(struct buf *text, int r, const char *path, struct error *err)
{
	r = r ? r : buf_error(text);
	r = r ? error_sys(err, r, path, NULL) : outfile_write(path, text, err);
	buf_release(text);
	return r;
}

void output_path(const char *path)
{
	struct buf shown = BUF_INIT;

	if (!strcmp(path, OUTFILE_STDOUT))
		return;
	if (isatty(STDOUT_FILENO)) {
		text_add_name(&shown, path, 0);
		path = buf_str(&shown);
	}
	printf("%s\n", path);
	buf_release(&shown);
}
