/* SPDX-License-Identifier: MIT */
/*
 * The reader of images of heaps. An input is small, an image large: the input has up to 8 chunks'
 * tables and lengths, the counts of the head, and the beginnings of the chunks.
 */
#include "heap/image.h"
#include "inspect/heap_image.h"
#include "tests/fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHUNKS 8

struct input {
	uint8_t table[CHUNKS];
	uint16_t length[CHUNKS];
	uint32_t n[4];
	uint32_t generation;
	uint8_t short_by, epoch;
	uint16_t unused;
};

static void look(int dir_fd)
{
	struct inspection in = { .arena = arena_new() };
	struct heap_image_state state;
	struct snapshot s = { 0 };
	struct heap_image *h;
	struct error err;

	in.names.arena = in.arena;
	if (!heap_image_open(&h, dir_fd, "image", &in, &err)) {
		for (int i = 0; i < 2 && !heap_image_read(h, &in, &s, &state, &err); i++) {
			for (size_t k = 0; k < s.n_sites; k++) {
				check(s.site[k].stack < in.n_stacks);
				check(s.site[k].live_bytes <= s.site[k].allocated);
				check(s.site[k].frees <= s.site[k].allocations);
			}
			for (size_t k = 0; k < s.n_ranges; k++) {
				check(s.range[k].stack < in.n_stacks);
				check(!k || s.range[k].start >= s.range[k - 1].end);
			}
		}
		for (size_t k = 0; k < in.n_stacks; k++) {
			check(in.stack[k].frame < in.n_frames);
			check(in.stack[k].parent == INSPECTION_NONE || in.stack[k].parent < k);
		}
		for (size_t k = 0; k < in.n_frames; k++)
			check(in.frame[k].module == INSPECTION_NONE ||
			      in.frame[k].module < in.n_modules);
		heap_image_close(h);
	}
	snapshot_release(&s);
	free(in.module);
	free(in.frame);
	free(in.stack);
	name_table_release(&in.names);
	arena_free(in.arena);
}

FUZZ_TARGET(heap_image)
{
	static struct heap_head head;
	char dir[] = "/tmp/buildbeat-fuzz-XXXXXX";
	struct input input;
	int dir_fd, fd;

	if (size < sizeof input)
		return 0;
	memcpy(&input, data, sizeof input);
	data += sizeof input;
	size -= sizeof input;
	head = (struct heap_head){ .generation = input.generation };
	memcpy(head.magic, HEAP_IMAGE_MAGIC, sizeof head.magic);
	head.epoch = input.epoch;
	head.n_modules = input.n[0];
	head.n_stacks = input.n[1];
	head.n_sites = input.n[2];
	head.n_ranges = input.n[3];
	memcpy(head.chunk, input.table, sizeof input.table);
	check(mkdtemp(dir) != NULL);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(dir_fd, "image", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	check(fd >= 0 && pwrite(fd, &head, sizeof head, 0) == sizeof head);
	for (int i = 0; i < CHUNKS; i++) {
		size_t part = input.length[i] < size ? input.length[i] : size;

		check(pwrite(fd, data, part, (off_t)(HEAP_IMAGE_HEAD + (size_t)i * HEAP_IMAGE_CHUNK)) ==
		      (ssize_t)part);
		data += part;
		size -= part;
	}
	check(!ftruncate(fd, (off_t)(HEAP_IMAGE_HEAD + CHUNKS * HEAP_IMAGE_CHUNK -
				     (size_t)input.short_by * 4096)));
	close(fd);
	look(dir_fd);
	check(!unlinkat(dir_fd, "image", 0) && !rmdir(dir));
	close(dir_fd);
	return 0;
}
