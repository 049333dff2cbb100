/* SPDX-License-Identifier: MIT */
#include "live/process_facts.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/readfile.h"
#include "command/redact.h"
#include "inspect/system_call.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MAX_BYTES (1u << 20)	/* of one file */
#define FRAMES_MAX 64
#define STACKS_MAX 64			/* threads whose kernel stacks are read */

struct facts {
	struct json *j;
	int dir_fd;
	struct buf text;	/* of one file, then of another one */
	struct buf denied;	/* lines: name, a NUL, why, a NUL */
};

bool process_facts_stat(int dir_fd, const char *path, struct pid_stat *stat)
{
	char memory[1024];
	struct root_text text = { memory, 0, sizeof memory };
	ssize_t n = readfile_start(dir_fd, path, memory, sizeof memory);

	text.len = n > 0 ? (size_t)n : 0;
	return text.len && parse_pid_stat(&text, stat);
}

int process_facts_open(int32_t pid, uint64_t start_ticks)
{
	struct pid_stat stat;
	char path[32];
	int fd;

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	fd = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd == -ENOENT ? -ESRCH : fd;
	if (process_facts_stat(fd, "stat", &stat) && stat.start_ticks == start_ticks)
		return fd;
	close(fd);
	return -ESRCH;
}

static void deny(struct facts *f, const char *name, int error)
{
	buf_adds(&f->denied, name);
	buf_addc(&f->denied, '\0');
	buf_adds(&f->denied, error == -EACCES || error == -EPERM ? "no permission" : strerror(-error));
	buf_addc(&f->denied, '\0');
}

/* The text of a file; false: it is reported. */
static bool read_text(struct facts *f, const char *name)
{
	int r;

	buf_clear(&f->text);
	r = readfile_at(&f->text, f->dir_fd, name, TEXT_MAX_BYTES);
	if (!r || r == -EFBIG)
		return true;
	deny(f, name, r);
	return false;
}

/* status and limits */

static void add_status(struct facts *f)
{
	struct cursor c;
	struct slice line, key;
	bool complete;
	char name[64];

	if (!read_text(f, "status")) {
		json_null(f->j, "status");
		return;
	}
	json_object(f->j, "status");
	cursor_init(&c, buf_str(&f->text), f->text.len);
	while (cursor_line(&c, &line, &complete)) {
		struct cursor in;

		cursor_init(&in, line.p, line.len);
		if (!cursor_until(&in, ':', &key) || !key.len || key.len >= sizeof name)
			continue;
		cursor_blanks(&in);
		memcpy(name, key.p, key.len);
		name[key.len] = '\0';
		json_strn(f->j, name, in.p, (size_t)(in.end - in.p));
	}
	json_object_end(f->j);
}

/* The name has blanks, and two or more blanks behind. */
static bool split_limit(struct slice line, struct slice *name, struct cursor *rest)
{
	const char *end = line.len ? memmem(line.p, line.len, "  ", 2) : NULL;

	if (!end)
		return false;
	*name = (struct slice){ line.p, (size_t)(end - line.p) };
	cursor_init(rest, end, (size_t)(line.p + line.len - end));
	return true;
}

static void add_limits(struct facts *f)
{
	struct cursor c, rest;
	struct slice line, name, word;
	bool complete, first = true;
	static const char *const keys[] = { "soft", "hard", "unit" };

	if (!read_text(f, "limits")) {
		json_null(f->j, "limits");
		return;
	}
	json_array(f->j, "limits");
	cursor_init(&c, buf_str(&f->text), f->text.len);
	while (cursor_line(&c, &line, &complete)) {
		if (first || !split_limit(line, &name, &rest)) {
			first = false;
			continue;
		}
		json_object(f->j, NULL);
		json_strn(f->j, "name", name.p, name.len);
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			cursor_blanks(&rest);
			if (cursor_word(&rest, &word, 64))
				json_strn(f->j, keys[i], word.p, word.len);
		}
		json_object_end(f->j);
	}
	json_array_end(f->j);
}

/* Command line and environment */

static void add_redacted(struct buf *out, const char *text, size_t len, bool cut)
{
	struct slice part[REDACT_PARTS_MAX];
	size_t n = redact_split(part, text, len, cut);

	for (size_t i = 0; i < n; i++)
		buf_add(out, part[i].p, part[i].len);
}

static void add_words(struct facts *f)
{
	struct buf clean = BUF_PART_OF(f->j->out);

	if (!read_text(f, "cmdline")) {
		json_null(f->j, "arguments");
		return;
	}
	add_redacted(&clean, f->text.data, f->text.len, f->text.len == TEXT_MAX_BYTES);
	json_array(f->j, "arguments");
	for (size_t i = 0; i < clean.len; i += strlen(clean.data + i) + 1)
		json_str(f->j, NULL, clean.data + i);
	json_array_end(f->j);
	buf_release(&clean);
}

static void add_environment(struct facts *f)
{
	struct buf clean = BUF_PART_OF(f->j->out);
	const char *p, *end;

	if (!read_text(f, "environ")) {
		json_null(f->j, "environment");
		return;
	}
	json_array(f->j, "environment");
	p = buf_str(&f->text);
	for (end = p + f->text.len; p < end; p += strnlen(p, (size_t)(end - p)) + 1) {
		size_t len = strnlen(p, (size_t)(end - p));

		if (!len)
			continue;
		buf_clear(&clean);
		redact_variable(&clean, p, len);
		json_strn(f->j, NULL, clean.data, clean.len);
	}
	json_array_end(f->j);
	buf_release(&clean);
}

static void add_link(struct facts *f, const char *name)
{
	char path[PATH_MAX];
	ssize_t n = readlinkat(f->dir_fd, name, path, sizeof path);

	if (n >= 0) {
		json_strn(f->j, name, path, (size_t)n);
		return;
	}
	json_null(f->j, name);
	deny(f, name, -errno);
}

/* Lists of numbers: descriptors and threads */

struct numbers {
	size_t n;
	int32_t *number;
};

static bool take_number(void *context, const char *name)
{
	struct numbers *l = context;
	uint64_t n;
	int32_t *new;

	if (!cursor_slice_u64(slice_of(name), &n) || n > INT32_MAX)
		return true;
	new = array_add(&l->number, &l->n, sizeof *new);
	if (new)
		*new = (int32_t)n;
	return new != NULL;
}

static int by_number(const void *a, const void *b)
{
	return array_order(*(const int32_t *)a, *(const int32_t *)b);
}

static int list_numbers(const struct facts *f, const char *name, struct numbers *l)
{
	char memory[8192];
	struct root_text text = { memory, 0, sizeof memory };
	int fd = file_open_at(f->dir_fd, name, O_RDONLY | O_DIRECTORY);

	*l = (struct numbers){ 0 };
	if (fd < 0)
		return fd;
	root_list_names(fd, &text, take_number, l);
	close(fd);
	if (l->n)
		qsort(l->number, l->n, sizeof *l->number, by_number);
	return 0;
}

/* Its length, if not all are in the list. */
static void add_rest(struct facts *f, const char *name, const struct numbers *l)
{
	if (l->n > PROCESS_FACTS_MAX)
		json_int(f->j, name, (int64_t)l->n);
}

/* Begins the array name for the numbers in a directory, or adds null where it cannot be read. */
static bool begin_list(struct facts *f, const char *dir, struct numbers *l, const char *name)
{
	int r = list_numbers(f, dir, l);

	if (r) {
		json_null(f->j, name);
		deny(f, dir, r);
	} else {
		json_array(f->j, name);
	}
	return !r;
}

/* Open files */

static void add_open_mode(struct facts *f, int32_t fd)
{
	static const char *const modes[] = { "read", "write", "read and write", NULL };
	char path[32], text[512];
	struct cursor c;
	struct slice line;
	bool complete;

	snprintf(path, sizeof path, "fdinfo/%d", (int)fd);
	readfile_start(f->dir_fd, path, text, sizeof text);
	cursor_init(&c, text, strlen(text));
	while (cursor_line(&c, &line, &complete)) {
		struct cursor in;
		uint64_t n = 0;

		cursor_init(&in, line.p, line.len);
		if (cursor_literal(&in, "pos:")) {
			cursor_blanks(&in);
			if (cursor_u64(&in, &n))
				json_int(f->j, "position_bytes", (int64_t)(n & INT64_MAX));
		} else if (cursor_literal(&in, "flags:")) {
			cursor_blanks(&in);
			for (; in.p < in.end && *in.p >= '0' && *in.p <= '7'; in.p++)
				n = n << 3 | (uint64_t)(*in.p - '0');
			json_str(f->j, "access", modes[n & O_ACCMODE]);
		}
	}
}

static void add_files(struct facts *f)
{
	struct numbers l;

	if (!begin_list(f, "fd", &l, "files"))
		return;
	for (size_t i = 0; i < l.n && i < PROCESS_FACTS_MAX; i++) {
		char name[32], path[PATH_MAX];
		ssize_t n;

		snprintf(name, sizeof name, "fd/%d", (int)l.number[i]);
		n = readlinkat(f->dir_fd, name, path, sizeof path);
		if (n < 0)
			continue;	/* closed since */
		json_object(f->j, NULL);
		json_int(f->j, "fd", l.number[i]);
		json_strn(f->j, "path", path, (size_t)n);
		add_open_mode(f, l.number[i]);
		json_object_end(f->j);
	}
	json_array_end(f->j);
	add_rest(f, "n_files", &l);
	free(l.number);
}

/* Threads */

static void add_line(struct facts *f, const char *key, int32_t tid, const char *name)
{
	char path[48], text[128];

	snprintf(path, sizeof path, "task/%d/%s", (int)tid, name);
	if (readfile_line(f->dir_fd, path, text, sizeof text) < 0 || !*text || !strcmp(text, "0"))
		json_null(f->j, key);
	else
		json_str(f->j, key, text);
}

/* "0 0x3 0x7f..." or "running" */
static void add_system_call(struct facts *f, int32_t tid)
{
	char path[48], text[256];
	struct cursor c;
	int64_t number;
	const char *name;

	snprintf(path, sizeof path, "task/%d/syscall", (int)tid);
	if (readfile_line(f->dir_fd, path, text, sizeof text) < 0)
		*text = '\0';
	cursor_init(&c, text, strlen(text));
	if (!cursor_i64(&c, &number) || number < 0) {
		json_str(f->j, "system_call", !strcmp(text, "running") ? text : NULL);
		return;
	}
	name = system_call_name(number);
	if (!name) {
		snprintf(path, sizeof path, "%" PRId64, number);
		name = path;
	}
	json_str(f->j, "system_call", name);
}

/* Lines "[<0>] do_wait+0x60/0x130", and older ones with an address. */
static void add_kernel_stack(struct facts *f, int32_t tid)
{
	char path[48];
	struct cursor c;
	struct slice line, word;
	bool complete;
	int r;

	snprintf(path, sizeof path, "task/%d/stack", (int)tid);
	buf_clear(&f->text);
	r = readfile_at(&f->text, f->dir_fd, path, 65536);
	if (r && r != -EFBIG) {
		json_null(f->j, "kernel_stack");
		return;
	}
	json_array(f->j, "kernel_stack");
	cursor_init(&c, buf_str(&f->text), f->text.len);
	for (int i = 0; i < FRAMES_MAX && cursor_line(&c, &line, &complete); i++) {
		struct cursor in;

		cursor_init(&in, line.p, line.len);
		if (cursor_until(&in, ']', &word) && !cursor_at_end(&in)) {
			cursor_blanks(&in);
			json_strn(f->j, NULL, in.p, (size_t)(in.end - in.p));
		}
	}
	json_array_end(f->j);
}

static void add_thread(struct facts *f, int32_t tid, bool stack)
{
	char path[48], state[2] = "";
	struct pid_stat stat;

	snprintf(path, sizeof path, "task/%d/stat", (int)tid);
	if (!process_facts_stat(f->dir_fd, path, &stat))
		return;		/* it has ended */
	state[0] = stat.state;
	json_object(f->j, NULL);
	json_int(f->j, "tid", tid);
	json_str(f->j, "name", stat.name);
	json_str(f->j, "state", state);
	json_int(f->j, "cpu_ticks", (int64_t)(stat.user_ticks + stat.system_ticks));
	add_line(f, "wait_channel", tid, "wchan");
	add_system_call(f, tid);
	if (stack)
		add_kernel_stack(f, tid);
	json_object_end(f->j);
}

static void add_threads(struct facts *f)
{
	struct numbers l;

	if (!begin_list(f, "task", &l, "thread_list"))
		return;
	for (size_t i = 0; i < l.n && i < PROCESS_FACTS_MAX; i++)
		add_thread(f, l.number[i], i < STACKS_MAX);
	json_array_end(f->j);
	add_rest(f, "n_threads", &l);
	free(l.number);
}

static void add_denied(struct facts *f)
{
	const char *p = buf_str(&f->denied), *end = p + f->denied.len;

	json_object(f->j, "denied");
	while (p < end) {
		const char *why = p + strlen(p) + 1;

		json_str(f->j, p, why);
		p = why + strlen(why) + 1;
	}
	json_object_end(f->j);
}

void process_facts_json(struct json *j, int dir_fd)
{
	struct facts f = { .j = j, .dir_fd = dir_fd, .text = BUF_PART_OF(j->out),
			   .denied = BUF_PART_OF(j->out) };

	add_link(&f, "cwd");
	add_link(&f, "exe");
	add_link(&f, "root");
	add_words(&f);
	add_status(&f);
	add_limits(&f);
	add_environment(&f);
	add_files(&f);
	add_threads(&f);
	add_denied(&f);
	buf_release(&f.text);
	buf_release(&f.denied);
}
