/* SPDX-License-Identifier: MIT */
#include "launch/notice.h"

#include "base/file.h"
#include "base/text.h"
#include "command/redact.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The message of a library may contain a URL with a password. */
static void add_message(struct buf *line, const char *message)
{
	struct slice part[REDACT_PARTS_MAX];
	size_t n = redact_split(part, message, strlen(message), false);

	for (size_t i = 0; i < n; i++) {
		char text[1536];

		snprintf(text, sizeof text, "%.*s", (int)part[i].len, part[i].p);
		text_add_name(line, text, 0);
	}
}

/* One write(), so that lines of several processes do not mix. */
static void write_line(const char *where, const char *message)
{
	char memory[10 * 2048];		/* escaped characters are longer */
	struct buf line;

	buf_init_fixed(&line, memory, sizeof memory);
	buf_adds(&line, "buildbeat: ");
	text_add_name(&line, where, 0);
	add_message(&line, message);
	if (line.len >= sizeof memory - 1)
		line.len = sizeof memory - 2;
	buf_addc(&line, '\n');
	fflush(stdout);
	file_write(STDERR_FILENO, line.data, line.len);
}

void notice(const char *format, ...)
{
	char message[1536];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	write_line("", message);
}

void notice_error(const struct error *err)
{
	char where[sizeof err->path + 32];
	int n = 0;

	where[0] = '\0';
	if (err->path[0])
		n = snprintf(where, sizeof where, "%s:", err->path);
	if (err->line)
		n += snprintf(where + n, sizeof where - (size_t)n, "%u:", err->line);
	if (err->line && err->column)
		n += snprintf(where + n, sizeof where - (size_t)n, "%u:", err->column);
	if (n)
		snprintf(where + n, sizeof where - (size_t)n, " ");
	write_line(where, err->message);
}
