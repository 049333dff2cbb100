/* SPDX-License-Identifier: MIT */
#include "recording/lost.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/file.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BUILD_RESERVED 16384
#define ERRNO_MAX 4096		/* of Linux */

static const struct {
	int error;
	const char *word;
} reasons[] = {
	{ -ENOSPC, "disk" }, { -EDQUOT, "quota" }, { -EFBIG, "limit" },
};

enum { N_REASONS = ARRAY_SIZE(reasons) };

bool lost_is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
}

static void add_reason(struct buf *b, int error)
{
	for (int i = 0; i < N_REASONS; i++) {
		if (reasons[i].error == error) {
			buf_adds(b, reasons[i].word);
			return;
		}
	}
	buf_addc(b, 'e');
	buf_addi(b, -error);
}

void lost_count(struct lost *l, const char *text, size_t len)
{
	const char *end = text + len, *eol;

	for (; text < end; text = eol + 1) {
		eol = memchr(text, '\n', (size_t)(end - text));
		if (!eol)
			eol = end;
		l->lines++;
		l->tasks += eol - text > 6 && !memcmp(text, "start\t", 6);
	}
}

static const char *const part_names[] = {
	[LOST_SAMPLES] = "samples", [LOST_PROCESSES] = "processes", [LOST_NAMES] = "names",
	[LOST_RESULTS] = "results", [LOST_TALLIES] = "tallies", [LOST_OUTPUT] = "output", [LOST_OTHER] = "other parts",
};

void lost_add_text(struct buf *b, const struct lost *l)
{
	const char *comma = "";

	if (l->tasks) {
		buf_addf(b, "%llu task%s", (unsigned long long)l->tasks,
			 l->tasks == 1 ? "" : "s");
		comma = ", ";
	}
	if (l->lines > l->tasks) {
		buf_addf(b, "%s%llu %sline%s", comma, (unsigned long long)(l->lines - l->tasks),
			 l->tasks ? "other " : "", l->lines - l->tasks == 1 ? "" : "s");
		comma = ", ";
	}
	for (unsigned i = 0; i <= LOST_OTHER; i++) {
		if (!(l->parts & 1u << i))
			continue;
		buf_addf(b, "%s%s", comma, part_names[i]);
		comma = ", ";
	}
	buf_addf(b, " lost (%s)", l->reason == LOST_UNTOLD ? "the recording lacks their lines" :
		 l->reason == -ENOBUFS ? "a line is too long" :
		 l->reason == -EOWNERDEAD ? "a process of buildbeat was killed" : strerror(-l->reason));
}

/* Reading */

static bool read_reason(struct lost *l, struct cursor *c)
{
	int reason = -ENOSPC;
	uint64_t number;

	for (int i = 0; i < N_REASONS; i++) {
		if (cursor_literal(c, reasons[i].word))
			reason = reasons[i].error;
	}
	if (cursor_byte(c, 'e') && cursor_u64(c, &number) && number && number < ERRNO_MAX)
		reason = -(int)number;
	if (!l->reason)
		l->reason = reason;
	return true;
}

bool lost_parse(struct lost *l, struct slice line, struct slice *inst)
{
	struct slice skipped;
	uint64_t lines, tasks;
	struct cursor c;
	int64_t time_us;
	bool part;

	if (inst)
		*inst = (struct slice){ line.p, 0 };
	cursor_init(&c, line.p, line.len);
	if (cursor_literal(&c, "buildbeat lost 1"))
		return true;
	part = cursor_literal(&c, "part\t");
	if (!part && !cursor_literal(&c, "lost\t"))
		return false;
	if (!cursor_i64(&c, &time_us) || !cursor_byte(&c, '\t') ||
	    !cursor_until(&c, '\t', &skipped))
		return false;
	if (part) {
		unsigned i = 0;

		while (i < LOST_OTHER && !slice_is(skipped, part_names[i]))
			i++;
		l->parts |= 1u << i;
		return read_reason(l, &c);
	}
	if (!cursor_u64(&c, &lines) || !cursor_byte(&c, '\t') || !cursor_u64(&c, &tasks) ||
	    !cursor_byte(&c, '\t') || tasks > lines || l->lines + lines < lines)
		return false;
	l->lines += lines;
	l->tasks += tasks;
	if (inst)
		*inst = skipped;
	return read_reason(l, &c);
}

static void parse_all(struct lost *l, const char *text, size_t len)
{
	struct cursor c;
	struct slice line;
	bool complete;

	cursor_init(&c, text, len);
	while (cursor_line(&c, &line, &complete))
		lost_parse(l, line, NULL);
}

int lost_read(struct lost *l, int dir_fd)
{
	int fd = openat(dir_fd, LAYOUT_LOST, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	char text[16384];
	size_t len = 0, whole;
	const char *eol;
	ssize_t n;

	*l = (struct lost){ 0 };
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	while ((n = read(fd, text + len, sizeof text - len)) > 0 || (n < 0 && errno == EINTR)) {
		len += n > 0 ? (size_t)n : 0;
		eol = memrchr(text, '\n', len);
		whole = eol ? (size_t)(eol + 1 - text) : 0;
		parse_all(l, text, whole);
		len = whole || len < sizeof text ? len - whole : 0;
		memmove(text, text + whole, len);
	}
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}

/* Writing */

static void reserve(int dir_fd, const char *name, int64_t len)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	struct statvfs fs;

	if (fd < 0)
		return;
	/* A small disk needs its room for the recording itself. */
	if (fstatvfs(fd, &fs) || fs.f_bavail < (uint64_t)len * 16 / (fs.f_frsize | 1))
		len = 4096;
	fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, len);
	close(fd);
}

static int append(int dir_fd, const struct buf *line)
{
	int fd = file_open_at(dir_fd, LAYOUT_LOST, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
	struct stat st;
	int r = 0;

	if (fd < 0)
		return fd;
	/* The file is removed when a build ends, but its processes may still run. */
	if (!fstat(fd, &st) && !st.st_size)
		r = file_write(fd, LOST_HEADER, strlen(LOST_HEADER));
	if (!r && line)
		r = file_write(fd, line->data, line->len);
	close(fd);
	return r;
}

void lost_begin(int dir_fd)
{
	append(dir_fd, NULL);
	reserve(dir_fd, LAYOUT_LOST, LOST_RESERVED);
	reserve(dir_fd, LAYOUT_BUILD, BUILD_RESERVED);
}

static void give_back(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return;
	if (!fstat(fd, &st))
		fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, st.st_size,
			  LOST_RESERVED);
	close(fd);
}

void lost_end(int dir_fd)
{
	struct stat st;

	give_back(dir_fd, LAYOUT_BUILD);
	if (fstatat(dir_fd, LAYOUT_LOST, &st, AT_SYMLINK_NOFOLLOW))
		return;
	if (st.st_size <= (off_t)strlen(LOST_HEADER))
		unlinkat(dir_fd, LAYOUT_LOST, 0);
	else
		give_back(dir_fd, LAYOUT_LOST);
}

int lost_append_tasks(int dir_fd, int64_t time_us, const char *inst, const struct lost *l)
{
	char text[128];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	buf_addf(&b, "lost\t%lld\t%s\t%llu\t%llu\t", (long long)time_us, inst,
		 (unsigned long long)l->lines, (unsigned long long)l->tasks);
	add_reason(&b, l->reason);
	buf_addc(&b, '\n');
	return append(dir_fd, &b);
}

int lost_append_part(int dir_fd, int64_t time_us, const char *part, int error)
{
	char text[128];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	buf_addf(&b, "part\t%lld\t%s\t", (long long)time_us, part);
	add_reason(&b, error);
	buf_addc(&b, '\n');
	return append(dir_fd, &b);
}
