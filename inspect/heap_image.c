/* SPDX-License-Identifier: MIT */
/*
 * The file is read with pread(), because a mapping would fault if the file shrank. What it says of
 * itself is checked before it is used: counts against the chunks, numbers against counts.
 */
#include "inspect/heap_image.h"

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hex.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "base/search.h"
#include "heap/image.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A module of the image. */
struct known_module {
	uint64_t start, end;
	uint32_t born, died;
	uint32_t number;	/* in the inspection */
};

struct heap_image {
	int fd;
	char name[NAME_MAX + 1];
	struct heap_head head;
	uint32_t n_chunks[HEAP_TABLES];
	uint16_t *chunk[HEAP_TABLES];	/* their numbers in the file */
	char *buffer;			/* of a chunk */
	size_t n_modules;
	struct known_module *module;
	size_t n_by_start;		/* of the modules, sorted */
	struct known_module *by_start;
	size_t n_stacks;
	uint32_t *stack;		/* of the inspection, by that of the image */
	size_t n_frames;
	uint32_t *frame_slot;		/* frames of the inspection plus 1, by their hash */
	size_t frame_mask;
	uint32_t unknown;		/* the stack of what has none; INSPECTION_NONE: not yet */
};

int heap_image_find(char name[NAME_MAX + 1], int dir_fd, pid_t pid, uint64_t start_ticks)
{
	DIR *dir = file_open_dir_at(dir_fd, ".");
	unsigned long long newest_start = 0;
	const struct dirent *entry;
	unsigned newest = 0;
	bool found = false;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		unsigned long long start;
		char again[HEAP_IMAGE_NAME_MAX];
		unsigned number;
		char *end;

		/* PID-START.N.heap */
		if (strtoul(entry->d_name, &end, 10) != (unsigned long)pid || *end != '-')
			continue;
		start = strtoull(end + 1, &end, 10);
		if (*end != '.' || (start_ticks && start != start_ticks))
			continue;
		number = (unsigned)strtoul(end + 1, NULL, 10);
		snprintf(again, sizeof again, HEAP_IMAGE_NAME, (int)pid, start, number);
		if (strcmp(again, entry->d_name))
			continue;
		if (!found || start > newest_start || (start == newest_start && number > newest)) {
			strcpy(name, again);
			newest_start = start;
			newest = number;
			found = true;
		}
	}
	closedir(dir);
	return found ? 0 : -ENOENT;
}

/* The head and the chunks */

static int damaged(const struct heap_image *h, struct error *err, const char *what)
{
	return error_set(err, -EINVAL, h->name, 0, 0, "damaged image of a heap: %s", what);
}

/* Read the head, and which chunks each table has. */
static int read_head(struct heap_image *h, struct error *err)
{
	static const size_t per_chunk[HEAP_TABLES] = {
		1, HEAP_MODULES_PER_CHUNK, HEAP_STACKS_PER_CHUNK, HEAP_SITES_PER_CHUNK,
		HEAP_RANGES_PER_CHUNK,
	};
	ssize_t n = readfile_some_at(h->fd, &h->head, sizeof h->head, 0);
	const struct heap_head *head = &h->head;

	if (n < 0)
		return error_sys(err, (int)n, h->name, "cannot read the image of a heap");
	if ((size_t)n < sizeof h->head || memcmp(head->magic, HEAP_IMAGE_MAGIC, sizeof head->magic))
		return error_set(err, -EINVAL, h->name, 0, 0, "no image of a heap");
	memset(h->n_chunks, 0, sizeof h->n_chunks);
	for (uint16_t i = 0; i < HEAP_IMAGE_CHUNKS && head->chunk[i]; i++) {
		uint8_t table = head->chunk[i];

		if (table >= HEAP_TABLES)
			return damaged(h, err, "unknown table");
		h->chunk[table][h->n_chunks[table]++] = i;
	}
	if (head->n_modules > h->n_chunks[HEAP_TABLE_MODULES] * per_chunk[HEAP_TABLE_MODULES] ||
	    head->n_stacks > h->n_chunks[HEAP_TABLE_STACKS] * per_chunk[HEAP_TABLE_STACKS] ||
	    head->n_sites > h->n_chunks[HEAP_TABLE_SITES] * per_chunk[HEAP_TABLE_SITES] ||
	    head->n_ranges > h->n_chunks[HEAP_TABLE_RANGES] * per_chunk[HEAP_TABLE_RANGES])
		return damaged(h, err, "a table is larger than its chunks");
	if (head->n_stacks < h->n_stacks || head->n_modules > HEAP_MODULES_MAX)
		return damaged(h, err, "wrong number of stacks or modules");
	return 0;
}

/* Read items from number first on, at most to the end of their chunk. Returns how many, or a
 * negative errno with err. */
static ssize_t read_items(struct heap_image *h, enum heap_table table, size_t item_size,
			  uint32_t first, uint32_t n, struct error *err)
{
	size_t per_chunk = HEAP_IMAGE_CHUNK / item_size, in_chunk = first % per_chunk;
	size_t want = MIN(n - first, per_chunk - in_chunk);
	off_t at = (off_t)(HEAP_IMAGE_HEAD +
			   h->chunk[table][first / per_chunk] * HEAP_IMAGE_CHUNK +
			   in_chunk * item_size);
	ssize_t got = readfile_some_at(h->fd, h->buffer, want * item_size, at);

	if (got < 0)
		return error_sys(err, (int)got, h->name, "cannot read the image of a heap");
	if ((size_t)got < want * item_size)
		return damaged(h, err, "the file is shorter than its tables");
	return (ssize_t)want;
}

/* Modules */

static int add_module(struct heap_image *h, struct inspection *in, const struct heap_module *m,
		      struct error *err)
{
	struct known_module *known;
	struct module *module;
	uint32_t file;

	if (m->start >= m->end || m->build_id_len > sizeof m->build_id ||
	    !memchr(m->path, '\0', sizeof m->path))
		return damaged(h, err, "wrong module");
	if (name_table_add(&in->names, (struct slice){ m->path, strlen(m->path) }, &file))
		return error_sys(err, -ENOMEM, h->name, "cannot read the image of a heap");
	known = array_add(&h->module, &h->n_modules, sizeof *known);
	module = known ? array_add(&in->module, &in->n_modules, sizeof *module) : NULL;
	if (!module) {
		h->n_modules -= known != NULL;
		return error_sys(err, -ENOMEM, h->name, "cannot read the image of a heap");
	}
	*module = (struct module){
		.start = m->start, .end = m->end, .bias = m->bias, .file = file,
	};
	for (unsigned i = 0; i < m->build_id_len; i++) {
		module->build_id[2 * i] = hex_digit(m->build_id[i] >> 4);
		module->build_id[2 * i + 1] = hex_digit(m->build_id[i]);
	}
	*known = (struct known_module){
		.start = m->start, .end = m->end, .born = m->born, .died = m->died,
		.number = (uint32_t)in->n_modules - 1,
	};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct known_module *x = a, *y = b;

	return x->start != y->start ? (x->start < y->start ? -1 : 1) :
	       array_order(x->born, y->born);
}

/* Modules that are known may have ended. */
static int read_modules(struct heap_image *h, struct inspection *in, struct error *err)
{
	uint32_t n = h->head.n_modules, number = 0;
	struct known_module *sorted;

	while (number < n) {
		const struct heap_module *m = (const void *)h->buffer;
		ssize_t got = read_items(h, HEAP_TABLE_MODULES, sizeof *m, number, n, err);
		int r = 0;

		if (got < 0)
			return (int)got;
		for (; got && !r; got--, m++, number++) {
			if (number < h->n_modules)
				h->module[number].died = m->died;
			else
				r = add_module(h, in, m, err);
		}
		if (r)
			return r;
	}
	sorted = realloc(h->by_start, (h->n_modules + 1) * sizeof *sorted);
	if (!sorted)
		return error_sys(err, -ENOMEM, h->name, "cannot read the image of a heap");
	if (h->n_modules)
		memcpy(sorted, h->module, h->n_modules * sizeof *sorted);
	h->by_start = sorted;
	h->n_by_start = h->n_modules;
	qsort(sorted, h->n_by_start, sizeof *sorted, by_start);
	return 0;
}

/* The module that had an address in a generation, whose lower 16 bits are known. */
static uint32_t find_module(const struct heap_image *h, uint64_t address, uint32_t generation)
{
	struct search_range s = search_all(h->n_by_start);

	generation |= h->head.generation & ~0xffffu;
	if (generation > h->head.generation && generation > 0xffff)
		generation -= 0x10000;
	while (search_next(&s))
		search_past(&s, h->by_start[s.at].start <= address);
	/* several were there, one after the other */
	for (size_t tries = 64; s.at && tries; tries--) {
		const struct known_module *m = &h->by_start[--s.at];

		if (address < m->end && generation >= m->born && generation < m->died)
			return m->number;
	}
	return INSPECTION_NONE;
}

/* Frames and stacks */

static uint64_t hash_frame(uint64_t address, uint32_t module)
{
	return hash_mix(hash_mix(address) + module);
}

static int grow_frames(struct heap_image *h, const struct inspection *in)
{
	size_t mask = h->frame_slot ? 2 * h->frame_mask + 1 : 4095;
	uint32_t *slot = array_new_zero(mask + 1, sizeof *slot);

	if (!slot)
		return -ENOMEM;
	for (size_t i = 0; h->frame_slot && i <= h->frame_mask; i++) {
		const struct frame *f;
		size_t at;

		if (!h->frame_slot[i])
			continue;
		f = &in->frame[h->frame_slot[i] - 1];
		at = hash_frame(f->address, f->module) & mask;
		while (slot[at])
			at = (at + 1) & mask;
		slot[at] = h->frame_slot[i];
	}
	free(h->frame_slot);
	h->frame_slot = slot;
	h->frame_mask = mask;
	return 0;
}

static int find_frame(struct heap_image *h, struct inspection *in, uint64_t address,
		      uint32_t module, uint32_t *number)
{
	struct frame *f;
	size_t at;

	if (!h->frame_slot || 2 * h->n_frames > h->frame_mask) {
		if (grow_frames(h, in))
			return -ENOMEM;
	}
	at = hash_frame(address, module) & h->frame_mask;
	for (; h->frame_slot[at]; at = (at + 1) & h->frame_mask) {
		*number = h->frame_slot[at] - 1;
		f = &in->frame[*number];
		if (f->address == address && f->module == module)
			return 0;
	}
	f = array_add(&in->frame, &in->n_frames, sizeof *f);
	if (!f)
		return -ENOMEM;
	*f = (struct frame){ .address = address, .module = module, .name = INSPECTION_NONE };
	*number = (uint32_t)in->n_frames - 1;
	h->frame_slot[at] = *number + 1;
	h->n_frames++;
	return 0;
}

static int add_stack(struct inspection *in, uint32_t frame, uint32_t parent, uint32_t *number)
{
	struct stack *s = array_add(&in->stack, &in->n_stacks, sizeof *s);

	if (!s)
		return -ENOMEM;
	*s = (struct stack){ .parent = parent, .frame = frame };
	*number = (uint32_t)in->n_stacks - 1;
	return 0;
}

static int take_stack(struct heap_image *h, struct inspection *in, const struct heap_stack *s,
		      struct error *err)
{
	uint64_t address = s->address & (((uint64_t)1 << HEAP_ADDRESS_BITS) - 1);
	uint32_t module = find_module(h, address, (uint32_t)(s->address >> HEAP_ADDRESS_BITS));
	uint32_t parent = INSPECTION_NONE, frame, number, *stack;

	if (s->parent != HEAP_NONE) {
		if (s->parent >= h->n_stacks)
			return damaged(h, err, "a stack before what called it");
		parent = h->stack[s->parent];
	}
	if (find_frame(h, in, address, module, &frame) ||
	    add_stack(in, frame, parent, &number) ||
	    !(stack = array_add(&h->stack, &h->n_stacks, sizeof *stack)))
		return error_sys(err, -ENOMEM, h->name, "cannot read the image of a heap");
	*stack = number;
	return 0;
}

static int read_stacks(struct heap_image *h, struct inspection *in, struct error *err)
{
	while (h->n_stacks < h->head.n_stacks) {
		const struct heap_stack *s = (const void *)h->buffer;
		ssize_t got = read_items(h, HEAP_TABLE_STACKS, sizeof *s, (uint32_t)h->n_stacks,
					 h->head.n_stacks, err);

		if (got < 0)
			return (int)got;
		for (; got; got--, s++) {
			int r = take_stack(h, in, s, err);

			if (r)
				return r;
		}
	}
	return 0;
}

/* The stack of a site or a range, in the inspection. */
static int stack_of(struct heap_image *h, struct inspection *in, uint32_t image_stack,
		    uint32_t *stack, struct error *err)
{
	uint32_t frame;

	if (image_stack != HEAP_NONE) {
		if (image_stack >= h->n_stacks)
			return damaged(h, err, "a site without its stack");
		*stack = h->stack[image_stack];
		return 0;
	}
	if (h->unknown == INSPECTION_NONE &&
	    (find_frame(h, in, 0, INSPECTION_NONE, &frame) ||
	     add_stack(in, frame, INSPECTION_NONE, &h->unknown)))
		return error_sys(err, -ENOMEM, h->name, "cannot read the image of a heap");
	*stack = h->unknown;
	return 0;
}

/* Sites and ranges */

/* Rounded; more never becomes less. */
static uint64_t whole(uint64_t count)
{
	return count / HEAP_UNIT + (count % HEAP_UNIT >= HEAP_UNIT / 2);
}

/* The values change while they are read: make them agree. */
static void fill_site(struct site *to, const struct heap_site *s, uint64_t epoch)
{
	uint64_t frees = MIN(s->frees, s->allocations);
	uint64_t temporary = MIN(s->temporary, frees);

	*to = (struct site){
		.stack = to->stack,
		.mapped = s->mapped,
		.allocations = whole(s->allocations),
		.frees = whole(frees),
		.allocated = s->allocated,
		.live_bytes = MIN(s->live_bytes, s->allocated),
		.temporary = whole(temporary),
		.error_bytes = (uint64_t)(sqrt((double)s->variance) * 1024),
	};
	to->live = to->allocations - to->frees;
	to->peak_bytes = s->epoch >= epoch ? s->at_peak : to->live_bytes;
	if (to->peak_bytes > to->allocated)
		to->peak_bytes = to->allocated;
}

static int by_stack(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	return x->stack != y->stack ? array_order(x->stack, y->stack) :
	       array_order(x->mapped, y->mapped);
}

static int read_sites(struct heap_image *h, struct inspection *in, struct site **site, size_t *n,
		      uint32_t *site_stack, struct error *err)
{
	for (uint32_t number = 0; number < h->head.n_sites;) {
		const struct heap_site *s = (const void *)h->buffer;
		ssize_t got = read_items(h, HEAP_TABLE_SITES, sizeof *s, number, h->head.n_sites,
					 err);

		if (got < 0)
			return (int)got;
		for (; got; got--, s++, number++) {
			struct site *to;
			uint32_t stack;
			int r;

			site_stack[number] = INSPECTION_NONE;
			if (!s->allocations && !s->live_bytes)
				continue;
			r = stack_of(h, in, s->stack, &stack, err);
			if (r)
				return r;
			site_stack[number] = stack;
			to = array_add(site, n, sizeof *to);
			if (!to)
				return error_sys(err, -ENOMEM, h->name,
						 "cannot read the image of a heap");
			to->stack = stack;
			fill_site(to, s, h->head.epoch);
		}
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct mapped_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int read_ranges(struct heap_image *h, struct inspection *in, struct mapped_range **range,
		       size_t *n, const uint32_t *site_stack, struct error *err)
{
	size_t kept = 0;

	for (uint32_t number = 0; number < h->head.n_ranges;) {
		const struct heap_range *r = (const void *)h->buffer;
		ssize_t got = read_items(h, HEAP_TABLE_RANGES, sizeof *r, number, h->head.n_ranges,
					 err);

		if (got < 0)
			return (int)got;
		for (; got; got--, r++, number++) {
			struct mapped_range *to;
			uint32_t stack = INSPECTION_NONE;
			int error;

			/* a site that is newer than the head is read the next time */
			if (!r->end || r->end <= r->start || r->sequence & 1 ||
			    r->site >= h->head.n_sites)
				continue;
			stack = site_stack[r->site];
			if (stack == INSPECTION_NONE) {
				error = stack_of(h, in, HEAP_NONE, &stack, err);
				if (error)
					return error;
			}
			to = array_add(range, n, sizeof *to);
			if (!to)
				return error_sys(err, -ENOMEM, h->name,
						 "cannot read the image of a heap");
			*to = (struct mapped_range){ r->start, r->end, stack };
		}
	}
	if (*n)
		qsort(*range, *n, sizeof **range, by_address);
	for (size_t i = 0; i < *n; i++) {
		/* it moved while it was read */
		if (!kept || (*range)[i].start >= (*range)[kept - 1].end)
			(*range)[kept++] = (*range)[i];
	}
	*n = kept;
	return 0;
}

int heap_image_read(struct heap_image *h, struct inspection *in, struct snapshot *s,
		    struct heap_image_state *state, struct error *err)
{
	struct mapped_range *range = NULL;
	uint32_t *site_stack = NULL;
	struct site *site = NULL;
	size_t n_sites = 0, n_ranges = 0;
	int r = read_head(h, err);

	if (!r)
		r = read_modules(h, in, err);
	if (!r)
		r = read_stacks(h, in, err);
	if (r)
		return r;
	site_stack = array_new(h->head.n_sites, sizeof *site_stack);
	if (!site_stack)
		return error_sys(err, -ENOMEM, h->name, "cannot read the image of a heap");
	r = read_sites(h, in, &site, &n_sites, site_stack, err);
	if (!r)
		r = read_ranges(h, in, &range, &n_ranges, site_stack, err);
	free(site_stack);
	if (r) {
		free_all(site, range);
		return r;
	}
	if (n_sites)
		qsort(site, n_sites, sizeof *site, by_stack);
	free_all(s->site, s->range);
	s->site = site;
	s->n_sites = n_sites;
	s->range = range;
	s->n_ranges = n_ranges;
	s->has_heap = true;
	*state = (struct heap_image_state){
		.ended = h->head.flags & HEAP_ENDED,
		.forked = h->head.flags & HEAP_FORKED,
		.other_malloc = h->head.flags & HEAP_OTHER_MALLOC,
		.error = h->head.error,
		.lost = h->head.lost,
		.events = h->head.events,
		.live_bytes = h->head.live_bytes,
		.peak_bytes = h->head.peak_bytes,
	};
	return 0;
}

/* Opening */

int heap_image_open(struct heap_image **out, int dir_fd, const char *name, struct inspection *in,
		    struct error *err)
{
	struct heap_image *h = calloc(1, sizeof *h);
	int r = -ENOMEM;

	if (!h)
		return error_sys(err, r, name, "cannot read the image of a heap");
	h->fd = -1;
	h->unknown = INSPECTION_NONE;
	snprintf(h->name, sizeof h->name, "%s", name);
	h->buffer = malloc(HEAP_IMAGE_CHUNK);
	for (int i = 0; i < HEAP_TABLES; i++)
		h->chunk[i] = array_new(HEAP_IMAGE_CHUNKS, sizeof *h->chunk[i]);
	for (int i = 0; i < HEAP_TABLES; i++) {
		if (!h->buffer || !h->chunk[i]) {
			error_sys(err, r, name, "cannot read the image of a heap");
			goto out;
		}
	}
	h->fd = file_open_at(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (h->fd < 0) {
		r = error_sys(err, h->fd, name, "cannot open the image of a heap");
		goto out;
	}
	r = read_head(h, err);
	if (r)
		goto out;
	h->head.program[sizeof h->head.program - 1] = '\0';
	in->heap = h->head.period ? HEAP_SAMPLED : HEAP_EXACT;
	in->heap_period = h->head.period;
	*out = h;
	return 0;
out:
	heap_image_close(h);
	return r;
}

pid_t heap_image_pid(const struct heap_image *h)
{
	return h->head.pid;
}

uint64_t heap_image_start_ticks(const struct heap_image *h)
{
	return h->head.start_ticks;
}

const char *heap_image_program(const struct heap_image *h)
{
	return h->head.program;
}

void heap_image_close(struct heap_image *h)
{
	if (!h)
		return;
	file_close(h->fd);
	for (int i = 0; i < HEAP_TABLES; i++)
		free(h->chunk[i]);
	free_all(h->buffer, h->module, h->by_start, h->stack, h->frame_slot, h);
}
