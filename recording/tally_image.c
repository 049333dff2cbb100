/* SPDX-License-Identifier: MIT */
#include "recording/tally_image.h"

#include "base/minmax.h"

static uint32_t in_use(const struct tally_page *page, uint32_t max)
{
	uint32_t n = atomic_load_explicit(&page->n, memory_order_acquire);

	return MIN(n, max);
}

static void walk_locations(const struct tally_page *page, const struct tally_visitor *v)
{
	const char *p = tally_page_room(page), *end = p + in_use(page, TALLY_PAGE_ROOM);

	while (end - p >= (ptrdiff_t)sizeof(struct tally_place)) {
		const struct tally_place *place = (const struct tally_place *)(uintptr_t)p;
		size_t len = sizeof *place + place->function_len + place->file_len;

		if (len > (size_t)(end - p))
			return;
		if (place->number && place->number < TALLY_LOCATIONS &&
		    place->function_len && place->file_len &&
		    !p[sizeof *place + place->function_len - 1] && !p[len - 1])
			v->location(v->data, place, p + sizeof *place);
		len = (len + 3) & ~(size_t)3;
		if (len > (size_t)(end - p))
			return;
		p += len;
	}
}

static const struct tally_more *more_of(const void *image, uint32_t n_pages,
					const struct tally_page *page, uint32_t row)
{
	uint32_t number = atomic_load_explicit(&page->more[row / TALLY_MORES], memory_order_acquire);
	const struct tally_page *more = tally_page(image, number);

	if (number < TALLY_FIRST_PAGE || number >= n_pages || TALLY_GET(more->kind) != TALLY_PAGE_MORE)
		return NULL;
	return (const struct tally_more *)tally_page_room(more) + row % TALLY_MORES;
}

static void add_more(struct tally_level *l, const struct tally_more *more)
{
	l->amount_total = TALLY_GET(more->amount_total);
	l->amount_max = TALLY_GET(more->amount_max);
	l->run = more->run;
	l->queue = more->queue;
}

static void read_cell(struct tally_level *l, const struct tally_cell *cell, bool same_window)
{
	l->count = TALLY_GET(cell->count);
	l->run_total = TALLY_GET(cell->run_total);
	l->self_total = TALLY_GET(cell->self_total);
	l->run_sample = tally_unpack(TALLY_GET(cell->run_sample));
	l->queue_total = TALLY_GET(cell->queue_total);
	l->queue_sample = tally_unpack(TALLY_GET(cell->queue_sample));
	if (same_window) {
		l->run_max = tally_unpack(TALLY_GET(cell->run_max));
		l->queue_max = tally_unpack(TALLY_GET(cell->queue_max));
	}
}

/* After a reset the row is 0 before its thread notices. Only the thread then writes, so whoever
 * sees the new epoch in its slot sees the zeros. */
static void walk_rows(const void *image, uint32_t n_pages, const struct tally_page *page,
		      const struct tally_visitor *v)
{
	const struct tally_head *head = image;
	const struct tally_slot *slot = tally_slot(image, page->slot % TALLY_SLOTS);
	struct tally_cell *cell = tally_page_room(page);
	uint32_t n = in_use(page, TALLY_ROWS);
	bool same_epoch, same_window;

	if (!page->slot || page->slot >= TALLY_SLOTS || page->slot > TALLY_GET(head->n_slots) ||
	    atomic_load_explicit(&slot->id, memory_order_acquire) != TALLY_GET(head->stamp) >> 32)
		return;
	same_window = TALLY_GET(slot->window) == TALLY_GET(head->window);
	same_epoch = atomic_load_explicit(&slot->epoch, memory_order_acquire) ==
		     TALLY_GET(head->epoch);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t key = TALLY_GET(cell[i].key);
		struct tally_level l = {
			.location = tally_key_location(key), .birth = tally_key_birth(key),
			.death = page->slot,
		};
		const struct tally_more *more;

		if (!l.location || l.location >= TALLY_LOCATIONS || !l.birth)
			continue;
		if (v->changes && !(key & TALLY_DIRTY))
			continue;
		/* What the thread wrote before it set TALLY_DIRTY is read after this. */
		if (v->changes)
			atomic_exchange(&cell[i].key, key & ~TALLY_DIRTY);
		l.balance = TALLY_GET(cell[i].balance);
		more = more_of(image, n_pages, page, i);
		if (same_epoch) {
			read_cell(&l, &cell[i], same_window);
			if (more)
				add_more(&l, more);
		}
		v->row(v->data, &l);
	}
}

static void walk_shared(struct tally_page *page, const struct tally_visitor *v)
{
	struct tally_more *more = tally_page_room(page);
	uint32_t n = in_use(page, TALLY_MORES);
	uint32_t dirty = v->changes ? atomic_exchange(&page->dirty, 0) : UINT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		struct tally_level l = {
			.location = atomic_load_explicit(&page->location[i], memory_order_acquire),
		};

		if (!l.location || !(dirty >> i & 1))
			continue;
		add_more(&l, &more[i]);
		v->row(v->data, &l);
	}
}

static void walk_links(const struct tally_page *page, const struct tally_visitor *v)
{
	const _Atomic uint32_t *link = tally_page_room(page);
	uint32_t n = in_use(page, TALLY_LINKS);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t pair = TALLY_GET(link[i]);

		if (pair >> 16 && pair & 0xffff)
			v->link(v->data, pair >> 16, pair & 0xffff);
	}
}

static void walk_slots(const void *image, uint32_t n_pages, const struct tally_visitor *v)
{
	const struct tally_head *head = image;
	uint32_t n = TALLY_GET(head->n_slots);

	n = n < TALLY_SLOTS ? n : TALLY_SLOTS - 1;
	for (uint32_t i = 1; i <= n && i / (TALLY_PAGE / sizeof(struct tally_slot)) + 1 < n_pages; i++) {
		const struct tally_slot *slot = tally_slot(image, i);

		if (atomic_load_explicit(&slot->state, memory_order_acquire) != TALLY_SLOT_FREE)
			v->slot(v->data, i, slot);
	}
}

__attribute__((cold))
void tally_image_walk(const void *image, size_t size, const struct tally_visitor *v)
{
	const struct tally_head *head = image;
	uint32_t n_pages = atomic_load_explicit(&head->n_pages, memory_order_acquire);

	if (size / TALLY_PAGE < n_pages)
		n_pages = (uint32_t)(size / TALLY_PAGE);
	for (uint32_t i = TALLY_FIRST_PAGE; v->location && i < n_pages; i++) {
		const struct tally_page *page = tally_page(image, i);

		if (atomic_load_explicit(&page->kind, memory_order_acquire) == TALLY_PAGE_LOCATIONS)
			walk_locations(page, v);
	}
	if (v->slot)
		walk_slots(image, n_pages, v);
	for (uint32_t i = TALLY_FIRST_PAGE; i < n_pages; i++) {
		struct tally_page *page = tally_page(image, i);
		uint32_t kind = atomic_load_explicit(&page->kind, memory_order_acquire);

		if (kind == TALLY_PAGE_ROWS && v->row)
			walk_rows(image, n_pages, page, v);
		else if (kind == TALLY_PAGE_SHARED && v->row)
			walk_shared(page, v);
		else if (kind == TALLY_PAGE_LINKS && v->link)
			walk_links(page, v);
	}
}
