/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_TALLY_IMAGE_H
#define BUILDBEAT_RECORDING_TALLY_IMAGE_H

#include "recording/event.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The memory in which a host tallies: a file that the host maps, grows page by page and never
 * shrinks. It is tally-ID.mem of the recording, which is there as long as tally.log does not have
 * all of it: so nothing is lost if the host is killed, calls exec() or ends without a close(). If
 * there is no room for it, on NFS, and for the second and further sessions of a process, it is a
 * memfd or a file without a name. Readers copy it, while it changes.
 *
 * Page 0 begins with the head. Slots of threads follow, then pages of several kinds in the order in
 * which they were needed. A page that has just been added has kind 0.
 *
 * Only the thread that has a slot writes to the rows of the slot, with relaxed atomic stores. So a
 * reader sees each number whole, and a row at most one run before or within an update. Numbers of
 * pages, rows and bytes in use are stored after what they count.
 *
 * A row is small, because 10,000 locations in each of 100 threads shall fit into 64 MiB. What is
 * larger is in a struct tally_more: one per row as long as there is room for those, then one per
 * location, into which all threads add with locked instructions.
 */

#define TALLY_MAGIC "buildbeat tally image 2"
#define TALLY_MEMFD_NAME "buildbeat-tally"
#define TALLY_PAGE 4096u
#define TALLY_PAGES 16384u
#define TALLY_SLOTS 2048u		/* number 0 is not used */
#define TALLY_SLOT_PAGES 32u
#define TALLY_FIRST_PAGE (1u + TALLY_SLOT_PAGES)
#define TALLY_LOCATIONS 65536u		/* number 0 is not used */
#define TALLY_SMALL_BUCKETS 40u

struct tally_head {
	char magic[24];
	char inst[INSTANCE_ID_MAX];
	int64_t start_ns;		/* of the recording, CLOCK_MONOTONIC */
	_Atomic int64_t seen_ns;	/* when the host last called what may write tally.log */
	int32_t pid;
	uint32_t shift;			/* of histograms of run times, see tally_bucket() */
	char clock[8], amount[8];	/* words; amount "" without one */
	char unit[24], amount_unit[24];
	/* The id of the session that has the tallies << 32 | number of resets and phases. Rows of
	 * slots with another id are those of an earlier session. */
	_Atomic uint64_t stamp;
	_Atomic uint64_t key;		/* the same, 0 while tallies are off */
	_Atomic uint32_t epoch;		/* counts resets */
	_Atomic uint32_t window;	/* counts phases */
	_Atomic uint32_t n_pages, n_slots, n_workers, n_locations;
	_Atomic uint32_t n_more_pages;
	_Atomic uint64_t n_lost;	/* runs that found no room */
};

enum tally_slot_state { TALLY_SLOT_FREE, TALLY_SLOT_TAKEN, TALLY_SLOT_RETIRED };

struct tally_slot {
	_Atomic uint32_t state;		/* after the first: one of the others */
	_Atomic uint32_t id, epoch, window;	/* of the head, when its rows were used last */
	_Atomic int32_t pid;		/* of the process that took it */
	uint32_t is_worker;		/* its name has a number */
	char name[40];
};

enum tally_page_kind {
	TALLY_PAGE_ROWS = 1, TALLY_PAGE_MORE, TALLY_PAGE_SHARED, TALLY_PAGE_LOCATIONS,
	TALLY_PAGE_LINKS,
};

#define TALLY_PAGE_ROOM (TALLY_PAGE - 64)
#define TALLY_ROWS 72u			/* of a page */
#define TALLY_MORES 12u

struct tally_page {
	_Atomic uint32_t kind;
	uint32_t slot;			/* of rows */
	_Atomic uint32_t n;		/* in use: rows, entries, bytes of locations */
	_Atomic uint32_t dirty;		/* shared: a bit for each entry */
	union {
		_Atomic uint16_t more[TALLY_ROWS / TALLY_MORES];	/* rows: the page that has
							   the struct tally_more of each 12 of them, 0: none */
		_Atomic uint16_t location[TALLY_MORES];	/* shared: of each entry */
		char room[48];
	};
};

/* The count of a row that died in the slot's thread. `balance` is births in this thread minus
 * deaths, modulo 2^32; its sum over all slots is the number of those that live. */
struct tally_cell {
	_Atomic uint32_t key;		/* tally_key(), and TALLY_DIRTY: it changed since it was
					   logged */
	_Atomic uint32_t balance;
	_Atomic uint64_t count, run_total, self_total, queue_total;
	_Atomic uint32_t run_max, queue_max, run_sample, queue_sample;	/* tally_pack() */
};

struct tally_more {
	_Atomic uint64_t amount_total, amount_max;
	_Atomic uint32_t run[TALLY_SMALL_BUCKETS], queue[TALLY_SMALL_BUCKETS];
};

/* The texts follow, function first, each with a NUL; the next one is aligned to 4. */
struct tally_place {
	uint32_t number;
	int32_t line;
	uint16_t function_len, file_len;	/* with the NUL */
};

#define TALLY_TEXT_MAX 1000u

/* The last number: a place that stands for all for which there was no room. */
#define TALLY_OTHER_LOCATIONS (TALLY_LOCATIONS - 1)
#define TALLY_OTHER_NAME "(other locations)"
#define TALLY_LINKS (TALLY_PAGE_ROOM / sizeof(uint32_t))	/* of a page */

/* An entry of a page of links; not 0. */
static inline uint32_t tally_link(uint32_t parent, uint32_t child)
{
	return parent << 16 | child;
}

_Static_assert(sizeof(struct tally_head) <= TALLY_PAGE, "");
_Static_assert(sizeof(struct tally_slot) * TALLY_SLOTS == TALLY_SLOT_PAGES * TALLY_PAGE, "");
_Static_assert(sizeof(struct tally_page) == 64, "");
_Static_assert(sizeof(struct tally_cell) * TALLY_ROWS == TALLY_PAGE_ROOM, "");
_Static_assert(sizeof(struct tally_more) * TALLY_MORES == TALLY_PAGE_ROOM, "");

#define TALLY_DIRTY (1u << 31)

static inline uint32_t tally_key(uint32_t location, uint32_t birth)
{
	return location << 11 | birth;
}

static inline uint32_t tally_key_location(uint32_t key)
{
	return (key & ~TALLY_DIRTY) >> 11;
}

static inline uint32_t tally_key_birth(uint32_t key)
{
	return key & (TALLY_SLOTS - 1);
}

/* A number in 32 bits: exact below 2^27, otherwise its first 27 bits. Larger numbers are not
 * smaller when packed. */
static inline uint32_t tally_pack(uint64_t n)
{
	unsigned bits;

	if (n < 1u << 27)
		return (uint32_t)n;
	if (n >> 58)
		return UINT32_MAX;
	bits = 64 - (unsigned)__builtin_clzll(n);
	return (bits - 27) << 27 | (uint32_t)(n >> (bits - 27));
}

static inline uint64_t tally_unpack(uint32_t packed)
{
	return (uint64_t)(packed & ((1u << 27) - 1)) << (packed >> 27);
}

/* The bucket of a histogram: 0 below 2^shift, then one for each power of two. */
#define TALLY_TIME_SHIFT 4
static inline unsigned tally_bucket(uint64_t n, unsigned shift)
{
	n >>= shift;
	n = n ? 64 - (unsigned)__builtin_clzll(n) : 0;
	return n < TALLY_SMALL_BUCKETS ? (unsigned)n : TALLY_SMALL_BUCKETS - 1;
}

#define TALLY_GET(field) atomic_load_explicit(&(field), memory_order_relaxed)

static inline struct tally_slot *tally_slot(const void *image, uint32_t number)
{
	return (struct tally_slot *)((uintptr_t)image + TALLY_PAGE) + number;
}

static inline struct tally_page *tally_page(const void *image, uint32_t number)
{
	return (struct tally_page *)((uintptr_t)image + (size_t)number * TALLY_PAGE);
}

static inline void *tally_page_room(const struct tally_page *page)
{
	return (void *)((uintptr_t)page + sizeof *page);
}

/* A row as a reader sees it. Numbers of location and slots are bounded. */
struct tally_level {
	uint32_t location, birth, death;	/* birth and death 0: of all threads, only
						   amounts and histograms */
	uint32_t balance;
	uint64_t count;
	uint64_t run_total, self_total, run_max, run_sample;
	uint64_t queue_total, queue_max, queue_sample;
	uint64_t amount_total, amount_max;
	/* TALLY_SMALL_BUCKETS each, or NULL */
	const _Atomic uint32_t *run, *queue;
};

/* What a walk over an image finds. Calls may be NULL. */
struct tally_visitor {
	void *data;
	bool changes;		/* only rows that changed since the last walk of this sort. A
				   change at the same time is seen now or next time */
	void (*location)(void *data, const struct tally_place *place, const char *texts);
	void (*slot)(void *data, uint32_t number, const struct tally_slot *slot);
	void (*row)(void *data, const struct tally_level *level);
	void (*link)(void *data, uint32_t parent, uint32_t child);
};

/* Walk over the image, of which size bytes can be read. All locations and slots that existed
 * when it began come first. */
void tally_image_walk(const void *image, size_t size, const struct tally_visitor *v);

#endif
