/* SPDX-License-Identifier: MIT */
#include "recording/store_join.h"

#include "base/cursor.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/readfile.h"
#include "base/trust.h"
#include "command/redact.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* STORE_INIT, without all of the path. */
static void reset(struct store *s)
{
	memset(s, 0, offsetof(struct store, path));
	s->path[0] = '\0';
	s->dir_fd = s->tasks_fd = s->build_fd = -1;
}

/* The ticket in the environment, which leads to the launcher. */
static struct slice ticket_of_env(void)
{
	struct slice ticket = { NULL, 0 };

	ticket.p = store_ticket_path(getenv("MAKEFILES"), &ticket.len);
	return ticket;
}

/* Join the recording in s->path by its ticket. Every make of a build does this, so it uses as few
 * system calls and pages of the stack as possible. */
static int join_by_ticket(struct store *s, struct slice ticket)
{
	size_t len = strlen(s->path);

	if (s->flags & STORE_NFS)
		return store_open(s, 0, ticket);
	if (len + sizeof "/" LAYOUT_TASKS > sizeof s->path)
		return -ENAMETOOLONG;
	store_become_writer(s, ticket);
	memcpy(s->path + len, "/" LAYOUT_TASKS, sizeof "/" LAYOUT_TASKS);
	s->tasks_fd = file_open_at(AT_FDCWD, s->path, O_WRONLY | O_APPEND | O_NOFOLLOW);
	s->path[len] = '\0';
	return s->tasks_fd < 0 ? s->tasks_fd : 0;
}

static bool read_build(struct store *s, const char *text, size_t len)
{
	struct cursor c;
	struct slice line;
	bool complete, found = false;

	cursor_init(&c, text, len);
	while (cursor_line(&c, &line, &complete)) {
		struct cursor l;

		cursor_init(&l, line.p, line.len);
		if (complete && cursor_literal(&l, "start_mono_ns: "))
			found = cursor_i64(&l, &s->start_ns) && cursor_at_end(&l);
		else if (complete && cursor_literal(&l, LAYOUT_PIDSPACE ": "))
			cursor_u64(&l, &s->pidspace);
		else if (complete && cursor_literal(&l, "redact: "))
			redact_set_words((struct slice){ line.p + 8, line.len - 8 });
	}
	return found;
}

int store_join_dir(struct store *s, const char *path, struct error *err)
{
	char file[PATH_MAX + 16], text[4096 + REDACT_WORDS_MAX];
	ssize_t n;
	int r;

	*s = (struct store)STORE_INIT;
	if (!realpath(path, s->path))
		return error_sys(err, -errno, path, "cannot join the recording");
	snprintf(file, sizeof file, "%s/" LAYOUT_BUILD, s->path);
	n = readfile_start(AT_FDCWD, file, text, sizeof text);
	if (n < 0)
		return error_sys(err, (int)n, file, "cannot join the recording");
	if (!read_build(s, text, (size_t)n))
		return error_set(err, -EINVAL, file, 0, 0, "not a recording's build file");
	r = store_open(s, 0, ticket_of_env());
	return r ? error_sys(err, r, s->path, "cannot join the recording") : 0;
}

const char *store_ticket_path(const char *makefiles, size_t *len)
{
	static const char tail[] = "/" LAYOUT_TICKET;
	size_t n;

	if (!makefiles)
		return NULL;
	for (n = 0; makefiles[n] && makefiles[n] != ' ' && makefiles[n] != '\t' &&
	     makefiles[n] != '\n'; n++)
		continue;
	if (n < strlen(tail) || memcmp(makefiles + n - strlen(tail), tail, strlen(tail)))
		return NULL;
	*len = n;
	return makefiles;
}

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("/._-", c));
}

void store_add_ticket_line(struct buf *b, const struct store *s)
{
	buf_addf(b, "# buildbeat ticket 1 %lld %u ", (long long)s->start_ns, s->flags);
	for (const char *p = s->path; *p; p++) {
		if (is_bare(*p))
			buf_addc(b, *p);
		else
			buf_addf(b, "%%%02x", (unsigned char)*p);
	}
	buf_addc(b, '\n');
	if (s->pidspace)
		buf_addf(b, "# pids %llu\n", (unsigned long long)s->pidspace);
	store_add_redact(b, "# redact ");
}

static bool percent_decode(struct slice in, char out[PATH_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < in.len; i++) {
		char c = in.p[i];

		if (n + 1 >= PATH_MAX)
			return false;
		if (c == '%') {
			int byte = in.len - i < 3 ? -1 : hex_byte(in.p + i + 1);

			if (byte <= 0)
				return false;
			c = (char)byte;
			i += 2;
		}
		out[n++] = c;
	}
	out[n] = '\0';
	return n && out[0] == '/';
}

/* Read the first lines of the ticket into s. */
static bool read_ticket(struct store *s, const char *text, size_t n)
{
	struct slice dir, words;
	struct cursor c;
	uint64_t flags;
	bool complete;

	cursor_init(&c, text, n);
	if (!cursor_literal(&c, "# buildbeat ticket 1 ") || !cursor_i64(&c, &s->start_ns) ||
	    !cursor_byte(&c, ' ') || !cursor_u64(&c, &flags) || !cursor_byte(&c, ' ') ||
	    !cursor_line(&c, &dir, &complete) || !complete || !percent_decode(dir, s->path))
		return false;
	s->flags = (unsigned)flags;
	if (cursor_literal(&c, "# pids ") && (!cursor_u64(&c, &s->pidspace) ||
					      !cursor_byte(&c, '\n')))
		return false;
	if (cursor_literal(&c, "# redact ") && cursor_line(&c, &words, &complete))
		redact_set_words(words);
	return true;
}

/* Not inline: few tickets are that long, and its buffer costs pages of the stack. */
static __attribute__((noinline)) bool read_long_ticket(struct store *s, int fd)
{
	char text[3 * PATH_MAX + 64 + REDACT_WORDS_MAX];
	ssize_t n = pread(fd, text, sizeof text, 0);

	return n > 0 && read_ticket(s, text, (size_t)n);
}

static int read_open_ticket(struct store *s, int fd)
{
	char text[1024];
	struct stat st;
	ssize_t n;
	bool ok;

	if (trust_fstat(fd, &st) || !trust_is_private(&st))
		return -EPERM;
	n = read(fd, text, sizeof text);
	if (n < 0)
		return -EIO;
	ok = (size_t)n < sizeof text ? read_ticket(s, text, (size_t)n) : read_long_ticket(s, fd);
	return ok ? 0 : -EINVAL;
}

/* ticket is the path, which may be that of s; kept is a copy that lasts. */
static int join_ticket(struct store *s, const char *ticket, struct slice kept)
{
	int fd = openat(AT_FDCWD, ticket, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	reset(s);
	if (r)
		return r;
	r = read_open_ticket(s, fd);
	close(fd);
	return r ? r : join_by_ticket(s, kept);
}

int store_join_ticket(struct store *s, const char *ticket)
{
	return join_ticket(s, ticket, slice_of(ticket));
}

int store_join_env(struct store *s)
{
	struct slice ticket = ticket_of_env();

	if (!ticket.p || ticket.len >= sizeof s->path) {
		reset(s);
		return -ENOENT;
	}
	memcpy(s->path, ticket.p, ticket.len);
	s->path[ticket.len] = '\0';
	return join_ticket(s, s->path, ticket);
}
