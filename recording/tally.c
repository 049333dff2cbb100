/* SPDX-License-Identifier: MIT */
#include "recording/tally.h"

#include "base/array.h"
#include "base/readfile.h"
#include "base/str.h"
#include "recording/layout.h"
#include "recording/tally_reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_SIZE 256

/* The ID of tally-ID.mem; false: it is another file. */
static bool is_image(const char *name, char inst[INSTANCE_ID_MAX])
{
	size_t before = strlen(LAYOUT_TALLY_PREFIX "-"), len = strlen(name);

	if (!str_starts(name, LAYOUT_TALLY_PREFIX "-") || !str_ends(name, LAYOUT_TALLY_IMAGE))
		return false;
	len -= strlen(LAYOUT_TALLY_IMAGE);
	if (len <= before || len - before >= INSTANCE_ID_MAX)
		return false;
	memcpy(inst, name + before, len - before);
	inst[len - before] = '\0';
	return true;
}

/* tally.log or tally-ID.log, perhaps compressed. */
static bool is_ours(const char *name)
{
	const char *rest = name + strlen(LAYOUT_TALLY_PREFIX);

	return str_starts(name, LAYOUT_TALLY_PREFIX) && (*rest == '.' || *rest == '-') &&
	       (str_ends(name, ".log") || str_ends(name, ".log" LAYOUT_ZSTD_SUFFIX)) &&
	       strlen(name) < NAME_SIZE;
}

static bool is_any(const char *name)
{
	char inst[INSTANCE_ID_MAX];

	return is_ours(name) || is_image(name, inst);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* A file that was compressed comes before the one of the same name that was written since. */
static int list_files(DIR *dir, char (**names)[NAME_SIZE], size_t *n)
{
	struct dirent *entry;

	while ((errno = 0, entry = readdir(dir))) {
		char (*name)[NAME_SIZE];

		if (!is_ours(entry->d_name))
			continue;
		name = array_add(names, n, sizeof *name);
		if (!name)
			return -ENOMEM;
		strcpy(*name, entry->d_name);
		if (str_ends(*name, ".log"))
			strcat(*name, "~");	/* behind ".log.zst" */
	}
	if (*n)
		qsort(*names, *n, sizeof **names, by_name);
	return -errno;
}

/* A compressed file, if it can be unpacked. */
static int read_packed(struct tally_reader *r, int dir_fd, const char *name,
		       const struct recording_codec *codec, struct error *err)
{
	struct buf packed = BUF_INIT, text = BUF_INIT;
	int error = codec ? readfile_at(&packed, dir_fd, name, SIZE_MAX / 2) : 0;

	if (!error && codec)
		error = codec->unpack(&text, packed.data, packed.len, err);
	buf_release(&packed);
	if (!error && text.len)
		error = tally_lines_read(r, text.data, text.len, err);
	buf_release(&text);
	return error;
}

static int read_plain(struct tally_reader *r, int dir_fd, const char *name, bool continued,
		      struct error *err)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;

	if (fd < 0)
		return -errno;
	error = tally_lines_read_fd(r, fd, continued, err);
	close(fd);
	return error;
}

static int read_files(struct tally_reader *r, int dir_fd, char (*names)[NAME_SIZE], size_t n,
		      const struct recording_formats *formats, struct error *err)
{
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		char *plain = strrchr(names[i], '~');
		bool continued;

		if (plain)
			*plain = '\0';
		/* The plain file continues the compressed one. */
		continued = plain && i && str_starts(names[i - 1], names[i]);
		error = plain ? read_plain(r, dir_fd, names[i], continued, err) :
			read_packed(r, dir_fd, names[i], formats ? formats->codec : NULL, err);
		if (error && err->message[0])
			snprintf(err->path, sizeof err->path, "%s", names[i]);
	}
	return error;
}

/* The memory of hosts that have not ended; tally.log was read before. */
static int read_images(struct tally_reader *r, DIR *dir, size_t *n)
{
	char inst[INSTANCE_ID_MAX];
	struct dirent *entry;
	int error = 0;

	rewinddir(dir);
	while (!error && (entry = readdir(dir))) {
		if (!is_image(entry->d_name, inst))
			continue;
		error = tally_live_add_file(r, dirfd(dir), entry->d_name, inst);
		++*n;
	}
	return error;
}

static int read_dir(struct tally_reader *r, const char *path,
		    const struct recording_formats *formats, struct error *err)
{
	char (*names)[NAME_SIZE] = NULL;
	DIR *dir = opendir(path);
	size_t n = 0;
	int error;

	if (!dir)
		return error_sys(err, -errno, path, NULL);
	error = list_files(dir, &names, &n);
	if (!error)
		error = read_files(r, dirfd(dir), names, n, formats, err);
	if (!error)
		error = read_images(r, dir, &n);
	if (!error && !n)
		error = error_set(err, -ENOENT, path, 0, 0, "the recording has no tallies");
	closedir(dir);
	free(names);
	return error && !err->message[0] ? error_sys(err, error, path, NULL) : error;
}

static int read_table(struct tally_table *t, const char *path, int64_t from_us, int64_t to_us,
		      bool live, const struct recording_formats *formats, size_t *n_live,
		      struct error *err)
{
	struct error unused = { 0 };
	int error;

	err = err ? err : &unused;
	*t = (struct tally_table){ .merge_threads = t->merge_threads };
	if (n_live)
		*n_live = 0;
	error = tally_reader_new(&t->reader, t, from_us, to_us);
	if (!error)
		error = read_dir(t->reader, path, formats, err);
	if (!error && live)
		error = tally_live_add_all(t->reader);
	if (!error)
		tally_live_count(t->reader, n_live);
	if (!error)
		error = tally_table_finish(t->reader);
	return error && !err->message[0] ? error_sys(err, error, path, NULL) : error;
}

int tally_read(struct tally_table *t, const char *path, int64_t from_us, int64_t to_us,
	       const struct recording_formats *formats, struct error *err)
{
	return read_table(t, path, from_us, to_us, false, formats, NULL, err);
}

int tally_read_live(struct tally_table *t, const char *path, int64_t from_us,
		    const struct recording_formats *formats, size_t *n_live, struct error *err)
{
	return read_table(t, path, from_us, INT64_MAX, true, formats, n_live, err);
}

void tally_release(struct tally_table *t)
{
	free_all(t->row, t->location, t->thread, t->process, t->link, t->moment_us);
	tally_reader_free(t->reader);
	*t = (struct tally_table)TALLY_TABLE_INIT;
}

size_t tally_similar_name(char *to, size_t size, const char *name)
{
	size_t n = 0;

	for (; *name && n < size; name++) {
		bool digit = *name >= '0' && *name <= '9';

		if (!digit || !n || to[n - 1] != '*')
			to[n++] = digit ? '*' : *name;
	}
	return n;
}

bool tally_is_here(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool here = false;

	while (dir && !here && (entry = readdir(dir)))
		here = is_any(entry->d_name);
	if (dir)
		closedir(dir);
	return here;
}
