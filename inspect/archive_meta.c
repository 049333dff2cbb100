/* SPDX-License-Identifier: MIT */
#include "inspect/archive_meta.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/field.h"
#include "base/readfile.h"
#include "command/redact.h"
#include "inspect/archive_format.h"
#include "recording/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX (16u << 20)
#define BOOT_ID_MAX 64
#define ANCESTORS_MAX 64

static void begin_fact(struct buf *b, const char *key)
{
	buf_adds(b, key);
	buf_adds(b, ": ");
}

void archive_meta_add(struct buf *b, const char *key, const char *value)
{
	begin_fact(b, key);
	field_add(b, value, strlen(value), ARCHIVE_TEXT_MAX);
	buf_addc(b, '\n');
}

void archive_meta_add_number(struct buf *b, const char *key, uint64_t n)
{
	begin_fact(b, key);
	buf_addu(b, n);
	buf_addc(b, '\n');
}

void archive_meta_add_command(struct buf *b, const char *key, const char *command)
{
	begin_fact(b, key);
	redact_field(b, command, strlen(command), ARCHIVE_TEXT_MAX);
	buf_addc(b, '\n');
}

/* Field 4 of stat is the parent, field 22 the start. */
static bool parent_of(int32_t pid, int64_t *parent, int64_t *start_ticks)
{
	char path[32], stat[1024];
	const char *behind;
	struct slice word;
	struct cursor c;
	bool ok;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	behind = readfile_start(AT_FDCWD, path, stat, sizeof stat) > 0 ? strrchr(stat, ')') : NULL;
	if (!behind)
		return false;
	cursor_init(&c, behind + 1, strlen(behind + 1));
	ok = cursor_byte(&c, ' ') && cursor_word(&c, &word, 1) && cursor_byte(&c, ' ') &&
		cursor_i64(&c, parent);
	for (int i = 5; ok && i < 22; i++)
		ok = cursor_byte(&c, ' ') && cursor_word(&c, &word, 32);
	return ok && cursor_byte(&c, ' ') && cursor_i64(&c, start_ticks);
}

void archive_meta_add_ancestors(struct buf *b, int32_t pid, uint64_t start_ticks)
{
	int64_t parent, start;

	if (!parent_of(pid, &parent, &start) || (uint64_t)start != start_ticks)
		return;
	begin_fact(b, "ancestors");
	buf_addi(b, pid);
	for (unsigned n = 1; n < ANCESTORS_MAX && parent > 1 && parent <= INT32_MAX; n++) {
		buf_addc(b, ',');
		buf_addi(b, parent);
		if (!parent_of((int32_t)parent, &parent, &start))
			break;
	}
	buf_addc(b, '\n');
}

void archive_meta_add_writer(struct buf *b)
{
	char boot_id[BOOT_ID_MAX] = "";

	readfile_line(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id);
	buf_addi(b, getpid());
	buf_addc(b, ' ');
	buf_addi(b, clock_mono_ns());
	buf_addc(b, ' ');
	buf_adds(b, *boot_id ? boot_id : "-");
}

bool archive_meta_writer_runs(const char *text, const char *host, int32_t *pid)
{
	struct cursor c;
	int64_t number, since_ns;

	cursor_init(&c, text, strlen(text));
	if (!cursor_i64(&c, &number) || number <= 0 || number > INT32_MAX ||
	    !cursor_byte(&c, ' ') || !cursor_i64(&c, &since_ns) || since_ns < 0 ||
	    !cursor_byte(&c, ' '))
		return false;
	if (pid)
		*pid = (int32_t)number;
	return alive_same_host(host) && alive_same_boot(c.p) && alive_since((int32_t)number, since_ns);
}

static const char *text_of(struct archive_meta *meta, const char *p, size_t len)
{
	char *text = arena_text(meta->arena, p, len);

	if (text)
		text[field_decode(text, len, NULL)] = '\0';
	return text;
}

/* key: value. A line of another shape, and one without newline, is ignored. */
static int read_line(struct archive_meta *meta, struct slice line)
{
	const char *colon = memchr(line.p, ':', line.len);
	struct archive_fact *fact;
	size_t key_len = colon ? (size_t)(colon - line.p) : 0;

	if (!key_len || line.len < key_len + 2 || colon[1] != ' ')
		return 0;
	fact = array_add(&meta->fact, &meta->n, sizeof *fact);
	if (!fact)
		return -ENOMEM;
	fact->key = text_of(meta, line.p, key_len);
	fact->value = text_of(meta, colon + 2, line.len - key_len - 2);
	return fact->key && fact->value ? 0 : -ENOMEM;
}

static int parse_facts(struct archive_meta *meta, const struct buf *text, const char *path,
		       struct error *err)
{
	struct cursor c;
	struct slice line;
	bool complete;
	int r = 0;

	cursor_init(&c, text->data, text->len);
	if (!cursor_line(&c, &line, &complete) || !complete || !slice_is(line, ARCHIVE_META_HEADER))
		return slice_starts((struct slice){ text->data, text->len }, "buildbeat inspection ") ?
		       error_set(err, -EINVAL, path, 1, 0, "the archive was written by a later "
				 "version of buildbeat") :
		       error_set(err, -EINVAL, path, 0, 0, "not an archive of an inspection");
	while (!r && cursor_line(&c, &line, &complete))
		r = complete ? read_line(meta, line) : 0;
	return r ? error_sys(err, r, path, NULL) : 0;
}

void archive_meta_release(struct archive_meta *meta)
{
	arena_free(meta->arena);
	free(meta->fact);
	*meta = (struct archive_meta){ 0 };
}

int archive_meta_read(struct archive_meta *meta, int dir_fd, const char *path, struct error *err)
{
	struct buf text = BUF_INIT;
	int r = readfile_at(&text, dir_fd, ARCHIVE_META, FILE_MAX);

	*meta = (struct archive_meta){ .arena = r ? NULL : arena_new() };
	if (!r && !meta->arena)
		r = -ENOMEM;
	if (r == -ENOENT)
		error_set(err, r, path, 0, 0, "not an archive of an inspection");
	else if (r)
		error_sys(err, r, path, NULL);
	else
		r = parse_facts(meta, &text, path, err);
	buf_release(&text);
	return r;
}

const char *archive_meta_find(const struct archive_meta *meta, const char *key)
{
	for (size_t i = meta->n; i; i--)
		if (!strcmp(meta->fact[i - 1].key, key))
			return meta->fact[i - 1].value;
	return NULL;
}

const char *archive_meta_text(const struct archive_meta *meta, const char *key)
{
	const char *value = archive_meta_find(meta, key);

	return value ? value : "";
}

int64_t archive_meta_number(const struct archive_meta *meta, const char *key, int64_t max,
			    int64_t otherwise)
{
	int64_t n;

	return cursor_slice_i64(slice_of(archive_meta_text(meta, key)), &n) && n >= 0 && n <= max ?
	       n : otherwise;
}
