/* SPDX-License-Identifier: MIT */
#include "inspect/waiting.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/readfile.h"
#include "base/text.h"
#include "inspect/system_call.h"
#include "sampler/parse.h"

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define FILE_COLUMNS 60

/* Their first argument is a descriptor. */
static const char *const of_file[] = {
	"read", "write", "readv", "writev", "flock", "fcntl", "ioctl", "fsync", "fdatasync", "accept",
	"accept4", "connect", "recvfrom", "recvmsg", "sendto", "sendmsg", "splice", "sendfile", "getdents64",
};

static bool is_of_file(const char *call)
{
	for (size_t i = 0; i < ARRAY_SIZE(of_file); i++) {
		if (!strcmp(call, of_file[i]))
			return true;
	}
	return false;
}

static void read_file(struct waiting *w, int proc_fd, int32_t pid, uint64_t fd)
{
	char path[48];
	ssize_t n;

	if (fd > INT32_MAX)
		return;
	snprintf(path, sizeof path, "%d/fd/%d", (int)pid, (int)fd);
	n = readlinkat(proc_fd, path, w->file, sizeof w->file - 1);
	w->file[n > 0 ? n : 0] = '\0';
}

static bool read_hexadecimal(struct cursor *c, uint64_t *n)
{
	const char *begin;

	cursor_blanks(c);
	if (!cursor_literal(c, "0x"))
		return false;
	*n = 0;
	for (begin = c->p; c->p < c->end; c->p++) {
		unsigned digit = *c->p >= 'a' && *c->p <= 'f' ? (unsigned)(*c->p - 'a' + 10) : (unsigned)(*c->p - '0');

		if (digit > 15)
			break;
		*n = *n << 4 | digit;
	}
	return c->p > begin;
}

/* "0 0x3 0x7f..." or "running" */
static void read_call(struct waiting *w, int proc_fd, int32_t pid)
{
	char path[32], text[256];
	const char *name;
	struct cursor c;
	int64_t number;
	uint64_t fd;

	snprintf(path, sizeof path, "%d/syscall", (int)pid);
	if (readfile_line(proc_fd, path, text, sizeof text) < 0)
		return;
	cursor_init(&c, text, strlen(text));
	if (!cursor_i64(&c, &number) || number < 0)
		return;
	name = system_call_name(number);
	if (!name)
		return;
	snprintf(w->call, sizeof w->call, "%s", name);
	if (is_of_file(name) && read_hexadecimal(&c, &fd))
		read_file(w, proc_fd, pid, fd);
}

void waiting_read(struct waiting *w, int proc_fd, int32_t pid)
{
	char path[32], text[1024];
	struct root_text stat = { text, 0, sizeof text };
	struct pid_stat parsed;

	*w = (struct waiting){ 0 };
	if (!root_read_process(proc_fd, pid, "stat", &stat) || !parse_pid_stat(&stat, &parsed))
		return;
	w->state = parsed.state;
	read_call(w, proc_fd, pid);
	snprintf(path, sizeof path, "%d/wchan", (int)pid);
	if (readfile_line(proc_fd, path, w->channel, sizeof w->channel) < 0 || !strcmp(w->channel, "0"))
		*w->channel = '\0';
}

static void add_file(struct buf *b, const char *file)
{
	if (!*file)
		return;
	buf_adds(b, " of ");
	if (!strncmp(file, "pipe:", 5) || !strncmp(file, "socket:", 7))
		buf_addf(b, "a %.*s", (int)strcspn(file, ":"), file);
	else
		text_add_name(b, file, FILE_COLUMNS);
}

void waiting_words(struct buf *b, const struct waiting *w)
{
	if (w->state == 'T' || w->state == 't') {
		buf_adds(b, w->state == 'T' ? "is stopped by a signal" : "is stopped by a debugger");
	} else if (*w->call) {
		buf_addf(b, "is in %s()", w->call);
		add_file(b, w->file);
	} else if (*w->channel) {
		buf_adds(b, "waits in ");
		text_add_name(b, w->channel, FILE_COLUMNS);
		buf_adds(b, "() of the kernel");
	} else {
		buf_adds(b, w->state == 'D' ? "waits for a disk" : "sleeps");
	}
}
