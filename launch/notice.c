#include "launch/notice.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "command/redact.h"
#include "recording/store.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORD_MAX 64

/* A message of a library may have a URL with its password in it. */
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
	char memory[10 * 2048];		/* what is escaped becomes longer */
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

void report(const char *format, ...)
{
	char message[1536];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	write_line("", message);
}

void report_error(const struct error *err)
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

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

/* Letters to change, add, drop or swap with their neighbour. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[3][WORD_MAX + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return WORD_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= na; i++) {
		unsigned *now = row[i % 3], *last = row[(i + 2) % 3];
		const unsigned *before = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = min3(last[j] + 1, now[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && before[j - 2] + 1 < now[j])
				now[j] = before[j - 2] + 1;
		}
	}
	return row[na % 3][nb];
}

const char *report_nearest(const char *word, const char *const *candidates)
{
	const char *nearest = NULL;
	unsigned best = (unsigned)strlen(word) / 3 + 2;

	for (; *candidates; candidates++) {
		unsigned d = distance(word, *candidates);
		bool begins = strlen(word) >= 2 &&
			      !strncmp(word, *candidates, strlen(word));

		if (begins && d > 1)
			d = 1;
		if (d < best && d < strlen(*candidates)) {
			best = d;
			nearest = *candidates;
		}
	}
	return nearest;
}

void progress_begin(struct progress *p, const char *what)
{
	*p = (struct progress){ .what = what };
	if (isatty(STDERR_FILENO))
		p->begin_ns = clock_mono_ns();
}

void progress_at(struct progress *p, unsigned percent)
{
	char memory[1024];
	struct buf what;

	if (!p->begin_ns || clock_mono_ns() - p->begin_ns < 1000000000 ||
	    (p->shown && p->shown_percent == percent))
		return;
	p->shown = true;
	p->shown_percent = percent;
	buf_init_fixed(&what, memory, sizeof memory);
	text_add_name(&what, p->what, 0);
	fprintf(stderr, "\rbuildbeat: %s %u%%", buf_str(&what), percent);
	fflush(stderr);
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->begin_ns = 0;
	p->shown = false;
}
