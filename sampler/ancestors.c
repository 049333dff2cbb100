/* SPDX-License-Identifier: MIT */
#include "sampler/ancestors.h"

#include "base/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

/* The processes around an instance */

#define ANCESTORS_MAX 8
#define TICK_MAX_MS 10
#define COMM_LEN 15

struct process {
	int32_t parent;
	int64_t start_ms;	/* since boot, in steps of a clock tick */
	bool is_like_us;	/* runs a program with our name: nothing else is known */
};

/* argv[0], as the process was started. */
static const char *own_name(size_t *len)
{
	const char *name = program_invocation_name, *p;

	for (p = name; *p; p++) {
		if (*p == '/')
			name = p + 1;
	}
	*len = (size_t)(p - name) < COMM_LEN ? (size_t)(p - name) : COMM_LEN;
	return name;
}

/* Is the name in parentheses our own, truncated as the kernel does? */
static bool is_our_name(const char *name, size_t len)
{
	size_t own_len;
	const char *own = own_name(&own_len);

	return len == own_len + 2 && !memcmp(name + 1, own, own_len);
}

/* "/proc/PID/stat" */
static int open_stat(int32_t pid)
{
	char name[32];
	struct buf b;

	buf_init_fixed(&b, name, sizeof name);
	buf_adds(&b, "/proc/");
	buf_addi(&b, pid);
	buf_adds(&b, "/stat");
	return openat(AT_FDCWD, name, O_RDONLY | O_CLOEXEC);
}

/* The values of one with our name are not read. Every make of a build calls this. The first call of a
 * function of libc costs about 850 instructions: hence so few of them. */
static bool read_process(int32_t pid, struct process *out)
{
	char text[512];
	struct cursor c;
	struct slice skipped;
	const char *first, *paren;
	ssize_t n;
	int64_t parent, start = 0;
	int fd = open_stat(pid);

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof text);
	close(fd);
	first = n > 0 ? memchr(text, '(', (size_t)n) : NULL;
	if (!first)
		return false;
	for (paren = text + n - 1; paren > first && *paren != ')'; paren--)
		continue;
	if (paren == first || text + n - paren < 5)
		return false;
	*out = (struct process){ .is_like_us = is_our_name(first, (size_t)(paren + 1 - first)) };
	if (out->is_like_us)
		return true;
	cursor_init(&c, paren + 4, (size_t)(text + n - paren - 4));
	if (!cursor_i64(&c, &parent))
		return false;
	for (int i = 0; i < 18; i++)
		cursor_until(&c, ' ', &skipped);
	cursor_i64(&c, &start);
	out->parent = (int32_t)parent;
	out->start_ms = start * 1000 / (int64_t)getauxval(AT_CLKTCK);
	return true;
}

/* The recording's start in milliseconds since boot, including time asleep. */
static int64_t start_since_boot_ms(const struct store *s)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000 - store_now_us(s) / 1000;
}

void ancestors_of(const struct store *s, char *out, size_t size)
{
	int64_t start_ms = start_since_boot_ms(s);
	struct process process = { .parent = getppid() };
	struct buf b;

	buf_init_fixed(&b, out, size);
	if (s->inner) {		/* nothing else is known than the launcher's answer */
		*out = '\0';
		buf_adds(&b, s->around);
		return;
	}
	buf_addi(&b, getpid());
	for (unsigned i = 1; i < ANCESTORS_MAX && process.parent > 1; i++) {
		buf_addc(&b, ',');
		buf_addi(&b, process.parent);
		if (!read_process(process.parent, &process) || process.is_like_us ||
		    process.start_ms + TICK_MAX_MS < start_ms)
			break;
	}
}
