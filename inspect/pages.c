/* SPDX-License-Identifier: MIT */
#include "inspect/pages.h"

#include "base/array.h"
#include "base/readfile.h"

#include <errno.h>
#include <unistd.h>

/* Of an entry of 64 bits for each page: it is in memory. */
#define PRESENT (UINT64_C(1) << 63)

static int add_page(struct snapshot *s, uint64_t start, uint64_t page_size)
{
	struct resident *last = s->n_resident ? &s->resident[s->n_resident - 1] : NULL;

	if (!last || last->end != start) {
		last = array_add(&s->resident, &s->n_resident, sizeof *last);
		if (!last)
			return -ENOMEM;
		last->start = start;
	}
	last->end = start + page_size;
	return 0;
}

static int read_mapping(struct snapshot *s, const struct mapping *m, int fd, uint64_t *entry,
			size_t room, uint64_t page_size)
{
	uint64_t at = m->start / page_size, end = m->end / page_size;
	int r = 0;

	while (!r && at < end) {
		size_t n = end - at < room ? (size_t)(end - at) : room;
		ssize_t got = readfile_some_at(fd, entry, n * sizeof *entry,
					       (off_t)(at * sizeof *entry));

		if (got < (ssize_t)sizeof *entry)	/* above what the process can use */
			return got < 0 ? (int)got : 0;
		n = (size_t)got / sizeof *entry;
		for (size_t i = 0; i < n && !r; i++, at++) {
			if (entry[i] & PRESENT)
				r = add_page(s, at * page_size, page_size);
		}
	}
	return r;
}

int pages_read(struct snapshot *s, int pagemap_fd, void *memory, size_t size)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	int r = 0;

	s->n_resident = 0;
	for (size_t i = 0; i < s->n && !r; i++) {
		const struct mapping *m = &s->mapping[i];

		if ((m->kb[MAPPING_RSS] || m->kb[MAPPING_HUGE]) &&
		    (m->end - m->start) / page_size <= PAGES_OF_MAPPING_MAX)
			r = read_mapping(s, m, pagemap_fd, memory, size / sizeof(uint64_t),
					 page_size);
	}
	s->has_pages = !r;
	return r;
}
