/* SPDX-License-Identifier: MIT */
/*
 * The readers of tallies on any bytes. An input is a tally.log. If it begins with "I", it is parts
 * of a host's memory: three bytes for page, place in units of 16 bytes, and length, then the part.
 */
#include "recording/tally_reader.h"
#include "tests/fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define IMAGE_PAGES 40u

static void check_table(const struct tally_table *t)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct tally_row *r = &t->row[i];

		check(r->location < t->n_locations && r->birth < t->n_threads);
		check(r->death < t->n_threads || r->death == TALLY_STILL_ALIVE);
		check(r->phase < t->n_phases);
		check(r->death != TALLY_STILL_ALIVE || (r->count && !r->run.total));
	}
	for (size_t i = 0; i < t->n_locations; i++)
		check(t->location[i].function && t->location[i].file &&
		      t->location[i].process < t->n_processes);
	for (size_t i = 0; i < t->n_threads; i++)
		check(t->thread[i].name && t->thread[i].process < t->n_processes);
	for (size_t i = 0; i < t->n_links; i++)
		check(t->link[i].parent < t->n_locations && t->link[i].child < t->n_locations);
	for (size_t i = 1; i < t->n_moments; i++)
		check(t->moment_us[i] > t->moment_us[i - 1]);
	check(t->from_us <= t->to_us);
}

static char place[] = "/tmp/fuzz_tally.XXXXXX";

static void remove_place(void)
{
	rmdir(place);
}

static void add_file(struct tally_reader *r, const void *image, size_t size)
{
	static int dir_fd = -1;
	int fd;

	if (dir_fd < 0) {
		check(mkdtemp(place) && !atexit(remove_place));
		dir_fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	fd = openat(dir_fd, "image", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	check(fd >= 0 && write(fd, image, size) == (ssize_t)size);
	close(fd);
	check(!tally_live_add_file(r, dir_fd, "image", ""));
	unlinkat(dir_fd, "image", 0);
}

static int read_image(struct tally_reader *r, const uint8_t *p, const uint8_t *end)
{
	unsigned char *image = aligned_alloc(TALLY_PAGE, IMAGE_PAGES * TALLY_PAGE);
	int error;

	memset(image, 0, IMAGE_PAGES * TALLY_PAGE);
	while (end - p > 3) {
		size_t at = p[0] % IMAGE_PAGES * TALLY_PAGE + p[1] * 16u, len = p[2];

		p += 3;
		len = len < (size_t)(end - p) ? len : (size_t)(end - p);
		len = len < IMAGE_PAGES * TALLY_PAGE - at ? len : IMAGE_PAGES * TALLY_PAGE - at;
		memcpy(image + at, p, len);
		p += len;
	}
	error = tally_table_at(r, 1, slice_of("inst"), 0);
	check(!error && !tally_live_add(r, image, IMAGE_PAGES * TALLY_PAGE));
	/* as a file of a host that was killed */
	memcpy(image, TALLY_MAGIC, sizeof TALLY_MAGIC);
	add_file(r, image, IMAGE_PAGES * TALLY_PAGE);
	free(image);
	return 0;
}

/* In pieces it has the same rows. */
static void read_pieces(const uint8_t *data, size_t size, const struct tally_table *whole)
{
	struct tally_table t = TALLY_TABLE_INIT;
	struct error err = { 0 };
	int fd = memfd_create("tally", MFD_CLOEXEC);

	check(fd >= 0 && write(fd, data, size) == (ssize_t)size && !lseek(fd, 0, SEEK_SET));
	check(!tally_reader_new(&t.reader, &t, -1, INT64_MAX));
	check(!tally_lines_read_fd(t.reader, fd, false, &err));
	check(!tally_table_finish(t.reader));
	check(t.n_rows == whole->n_rows && t.n_damaged == whole->n_damaged);
	close(fd);
	tally_release(&t);
}

static void read_window(const uint8_t *data, size_t size, int64_t from_us, int64_t to_us)
{
	struct tally_table t = TALLY_TABLE_INIT;
	struct error err = { 0 };
	int error;

	t.merge_threads = from_us > 0;
	check(!tally_reader_new(&t.reader, &t, from_us, to_us));
	error = size && *data == 'I' ? read_image(t.reader, data + 1, data + size) :
		tally_lines_read(t.reader, (const char *)data, size, &err);
	check(!error || err.message[0]);
	if (!error) {
		check(!tally_table_finish(t.reader));
		check_table(&t);
		if (from_us < 0 && (!size || *data != 'I'))
			read_pieces(data, size, &t);
	}
	tally_release(&t);
}

FUZZ_TARGET(tally)
{
	read_window(data, size, -1, INT64_MAX);
	read_window(data, size, 1000, 100000);
	return 0;
}
