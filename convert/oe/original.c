/* SPDX-License-Identifier: MIT */
#include "convert/oe/oe_parts.h"

#include "base/field.h"
#include "base/readfile.h"
#include "command/redact.h"
#include "convert/converters.h"
#include "convert/zstd.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The files from which a recording was imported, packed into one text, and unpacked byte for byte.
 * They have values for which a recording has no place. buildbeat-recording(5) describes the lines.
 */

#define HEADER "buildbeat " LAYOUT_ORIGINAL_NAME " 1 oe\n"
#define NAME_MAX_LEN 255

/* Packing */

static void add_name(struct buf *b, const char *word, const char *name)
{
	buf_adds(b, word);
	buf_addc(b, '\t');
	redact_field(b, name, strlen(name), 4 * NAME_MAX_LEN);
}

void oe_keep_dir(struct buf *kept, const char *name)
{
	if (!kept->len)
		buf_adds(kept, HEADER);
	add_name(kept, "dir", name);
	buf_addc(kept, '\n');
}

void oe_keep_file(struct buf *kept, const char *name, const char *text, size_t len)
{
	add_name(kept, "file", name);
	buf_addc(kept, '\t');
	buf_addu(kept, len);
	buf_addc(kept, '\n');
	buf_add(kept, text, len);
	buf_addc(kept, '\n');
}

void oe_keep_free_text(struct buf *kept, const char *name, const char *text, size_t len)
{
	struct slice part[REDACT_PARTS_MAX], line;
	struct buf safe = BUF_PART_OF(kept);
	struct cursor c;

	cursor_init(&c, text, len);
	while (cursor_until(&c, '\n', &line)) {
		size_t n = redact_split(part, line.p, line.len, false);

		for (size_t i = 0; i < n; i++)
			buf_add(&safe, part[i].p, part[i].len);
		if (c.p[-1] == '\n')
			buf_addc(&safe, '\n');
	}
	oe_keep_file(kept, name, safe.data, safe.len);
	buf_release(&safe);
}

/* Most of the time of keeping a task is here: hence no calls of buf_add(). */
void oe_keep_task(struct buf *kept, const char *name, const struct oe_form *f)
{
	size_t room = OE_FORM_FIELDS;
	char *p, *end;

	add_name(kept, "task", name);
	for (size_t i = 0; i < OE_FORM_FIELDS; i++)
		room += f->text[oe_form_field(i)].len;
	if (buf_reserve(kept, room))
		return;
	p = end = kept->data + kept->len;
	for (size_t i = 0; i < OE_FORM_FIELDS; i++) {
		struct slice text = f->text[oe_form_field(i)];

		*p++ = '\t';
		memcpy(p, text.p, text.len);
		p += text.len;
		if (text.len)
			end = p;
	}
	kept->len = (size_t)(end - kept->data);
	buf_addc(kept, '\n');
}

/* Unpacking */

struct unpacking {
	int top_fd, dir_fd;	/* of the directory of the next files; top_fd, or its own */
	char dir[NAME_MAX_LEN + 1];
	struct cursor c;
	struct buf text;	/* of a file */
	const char *what;	/* is wrong */
};

/* The next field, after its tab. */
static bool next_field(struct cursor *line, struct slice *field)
{
	const char *tab;

	if (!cursor_byte(line, '\t'))
		return false;
	tab = memchr(line->p, '\t', (size_t)(line->end - line->p));
	*field = (struct slice){ line->p, (size_t)((tab ? tab : line->end) - line->p) };
	line->p += field->len;
	return true;
}

/* A name of one file or directory, "" for none. */
static bool next_name(struct cursor *line, char name[NAME_MAX_LEN + 1])
{
	char escaped[4 * NAME_MAX_LEN + 1];
	struct slice s;
	size_t n;

	if (!next_field(line, &s) || s.len >= sizeof escaped)
		return false;
	memcpy(escaped, s.p, s.len);
	n = field_decode(escaped, s.len, NULL);
	if (n > NAME_MAX_LEN || memchr(escaped, '\0', n) || memchr(escaped, '/', n))
		return false;
	memcpy(name, escaped, n);
	name[n] = '\0';
	return strcmp(name, ".") && strcmp(name, "..");
}

static int open_dir(struct unpacking *u, struct cursor *line)
{
	if (u->dir_fd != u->top_fd)
		close(u->dir_fd);
	u->dir_fd = u->top_fd;
	if (!next_name(line, u->dir)) {
		u->what = "not the name of a directory";
		return -EINVAL;
	}
	if (!*u->dir)
		return 0;
	if (mkdirat(u->top_fd, u->dir, 0777))
		return -errno;
	u->dir_fd = openat(u->top_fd, u->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return u->dir_fd < 0 ? -errno : 0;
}

static int write_file(struct unpacking *u, struct cursor *line)
{
	char name[NAME_MAX_LEN + 1];
	struct slice size;
	uint64_t n;

	if (!next_name(line, name) || !*name || !next_field(line, &size) ||
	    !cursor_slice_u64(size, &n) || n >= (size_t)(u->c.end - u->c.p) || u->c.p[n] != '\n') {
		u->what = "not the name and the size of the file that follows";
		return -EINVAL;
	}
	buf_clear(&u->text);
	buf_add(&u->text, u->c.p, n);
	for (uint64_t i = 0; i <= n; i++)
		u->c.line += *u->c.p++ == '\n';
	return oe_write_file(u->dir_fd, name, &u->text);
}

static int write_task(struct unpacking *u, struct cursor *line)
{
	char name[NAME_MAX_LEN + 1];
	struct oe_form f;

	if (!next_name(line, name) || !*name || !*u->dir) {
		u->what = "not the name of a task in a directory";
		return -EINVAL;
	}
	for (size_t i = 0; i < OE_FORM_FIELDS; i++) {
		struct slice *text = &f.text[oe_form_field(i)];

		if (!next_field(line, text))
			*text = (struct slice){ "", 0 };
	}
	buf_clear(&u->text);
	oe_form_write(&u->text, &f, slice_of(u->dir), slice_of(name));
	return oe_write_file(u->dir_fd, name, &u->text);
}

static int unpack(struct unpacking *u)
{
	struct cursor line;
	struct slice s;
	bool whole;
	int r = 0;

	if (!cursor_line(&u->c, &s, &whole) || !whole || s.len != sizeof HEADER - 2 ||
	    memcmp(s.p, HEADER, s.len)) {
		u->what = "the first line is not '" HEADER "'";
		return -EINVAL;
	}
	while (!r && cursor_line(&u->c, &s, &whole)) {
		cursor_init(&line, s.p, s.len);
		if (!whole)
			u->what = "truncated";
		else if (cursor_literal(&line, "dir"))
			r = open_dir(u, &line);
		else if (cursor_literal(&line, "file"))
			r = write_file(u, &line);
		else if (cursor_literal(&line, "task"))
			r = write_task(u, &line);
		/* Other words are of a later version. */
		r = u->what ? -EINVAL : r;
	}
	return r;
}

int oe_write_kept(int dir_fd, const struct buf *kept, const char *path, struct error *err)
{
	struct unpacking u = { .top_fd = dir_fd, .dir_fd = dir_fd };
	int r;

	cursor_init(&u.c, kept->data, kept->len);
	r = unpack(&u);
	if (u.dir_fd >= 0 && u.dir_fd != dir_fd)
		close(u.dir_fd);
	buf_release(&u.text);
	if (u.what)
		return error_set(err, r, path, u.c.line, 0, "%s: remove this file to export what the "
				 "recording has without it", u.what);
	return r ? error_sys(err, r, *u.dir ? u.dir : path, "cannot write") : 0;
}

/* Finding */

/* The file of a recording, perhaps compressed. */
static int load_original(struct buf *kept, const char *dir, struct error *err)
{
	struct buf packed = BUF_INIT;
	char path[PATH_MAX];
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return error_sys(err, -errno, dir, NULL);
	snprintf(path, sizeof path, "%s/" LAYOUT_ORIGINAL, dir);
	r = readfile_at(kept, fd, LAYOUT_ORIGINAL, SIZE_MAX / 2);
	if (r == -ENOENT) {
		r = readfile_at(&packed, fd, LAYOUT_ORIGINAL LAYOUT_ZSTD_SUFFIX, SIZE_MAX / 2);
		if (!r)
			r = zstd_codec.unpack(kept, packed.data, packed.len, NULL);
	}
	buf_release(&packed);
	close(fd);
	/* A recording that was imported by an earlier version has none. */
	return r && r != -ENOENT ? error_sys(err, r, path, NULL) : 0;
}

int oe_find_kept(struct buf *kept, const struct recording *rec, struct error *err)
{
	const char *imported = recording_build(rec, LAYOUT_IMPORTED);
	struct recording again = RECORDING_INIT;
	int r;

	if (!imported || strcmp(imported, oe_foreign.name))
		return 0;
	if (recording_is_here(rec->path, NULL))
		return load_original(kept, rec->path, err);
	r = oe_read(&again, rec->path, err);
	*kept = again.original;
	again.original = (struct buf)BUF_INIT;
	recording_release(&again);
	return r;
}
