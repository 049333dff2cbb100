/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_TALLY_PARTS_H
#define BUILDBEAT_PLUGIN_TALLY_PARTS_H

#include "plugin/tally_clock.h"
#include "recording/store.h"
#include "recording/tally_image.h"

#include <pthread.h>
#include <stdbool.h>

/*
 * The inside of plugin/tally*.c. A process has one image (recording/tally_image.h), which lives
 * as long as the process, and what only this process needs to use it: struct tally_local, which
 * the kernel empties in a forked child, so that a child does nothing.
 *
 * A thread that tallies has a struct tally_worker, which only it uses, except for the serial
 * numbers of its frames. When the thread ends, the next new thread takes over its slot and that
 * struct. No memory of these is ever returned.
 */

#define TALLY_FRAMES 32
#define TALLY_RECENT_LINKS 64u		/* a power of two */
#define TALLY_ROW_PAGES 512u		/* of a thread */
#define TALLY_LOCATION_HASH (2 * TALLY_LOCATIONS)
#define TALLY_LINK_HASH 16384u
#define TALLY_LINKS_MAX (TALLY_LINK_HASH / 4 * 3)
/* More pages of struct tally_more would not leave room for 10,000 locations in 100 threads. */
#define TALLY_MORE_PAGES 256u

/* A run that the thread is in. */
struct tally_frame {
	_Atomic uint32_t serial;	/* of the run, 0: it ended in another thread */
	uint32_t location;
	uint64_t nested;	/* run times of the runs that were nested in it */
};

struct tally_worker {
	uint64_t stamp;		/* that of the head when the thread caught up with it */
	uint32_t slot;
	uint32_t depth;		/* of frames in use */
	uint32_t last_serial, random;
	unsigned hash_shift;	/* 32 minus the logarithm of the size of the hash table */
	uint32_t n_rows, n_pages;
	/* The row of a key: TALLY_PLACE_... below, 0: free. Open addressing. */
	uint16_t *hash;
	struct tally_frame frame[TALLY_FRAMES];
	uint32_t recent_link[TALLY_RECENT_LINKS];
	uint16_t page[TALLY_ROW_PAGES];
};

/* The place of a row: an index of page[], and the number of the row in the page, from 1. */
static inline uint16_t tally_place_of(uint32_t row)
{
	return (uint16_t)(row / TALLY_ROWS << 7 | (row % TALLY_ROWS + 1));
}

struct tally_local {
	char *image;			/* begins with the head; NULL in a forked child */
	struct tally_clock clock, amount;
	bool forks;
	uint32_t location_page;		/* the last one, 0: none; as the next */
	uint32_t shared_page;
	uint32_t link_page, n_links;
	struct tally_worker *_Atomic thread[TALLY_SLOTS];	/* by slot */
	_Atomic uint32_t link[TALLY_LINK_HASH];
	_Atomic uint32_t shared[TALLY_LOCATIONS];	/* of each location: its struct tally_more,
							   page * TALLY_MORES + entry */
	uint16_t hash[TALLY_LOCATION_HASH];	/* of places: numbers of locations */
	uint32_t place[TALLY_LOCATIONS];	/* of each location in the image, / 4 */
};

/* NULL until tallies are used for the first time. */
extern struct tally_local *_Atomic tally_here;

/* Protects what is not atomic in struct tally_local. Not taken in steady state. */
extern pthread_mutex_t tally_lock;

/* A slow call by the host: errno is kept, and the thread cannot be cancelled in it. */
struct tally_guest {
	int saved_errno, cancel_state;
};
void tally_enter(struct tally_guest *g);
void tally_leave(const struct tally_guest *g);

/* tally.c */

/* Prepare for threads that end and processes that fork. False if that cannot be done. */
bool tally_watch(void);

/* A forked child continues to use the image. */
void tally_keep_forks(const struct tally_local *l);

/* tally_memory.c */

/* Make the image of this process if there is none, with the locations of the one that a parent
 * had: in the recording if that is possible. Holding the lock. 0 or a negative errno. */
int tally_memory_begin(const struct store *store);

/* Is the image in the recording? */
bool tally_memory_is_kept(void);

/* tally.log has all of it: remove it from the recording. The process continues to use it. */
void tally_memory_forget(const struct store *store);

/* The image's descriptor, -1 if the host closed it. */
int tally_memory_fd(void);

/* The struct tally_worker of the calling thread, whose name (NULL: a worker) it gets: a slot that
 * no thread has any more, or a new one. NULL if there is no room. */
struct tally_worker *tally_memory_thread(struct tally_local *l, const char *name);

/* The row of a key that the thread does not have yet, as its place; 0 if there is no room. */
uint16_t tally_memory_row(struct tally_local *l, struct tally_worker *t, uint32_t key);

/* The struct tally_more that all threads use for a location, in its page. NULL: no room. */
struct tally_more *tally_memory_shared(struct tally_local *l, uint32_t location,
				       struct tally_page **page);

/* The number of a location, 0: no room. Holding the lock. */
uint32_t tally_memory_location(struct tally_local *l, const char *function, const char *file,
			       int32_t line);

/* Remember that a run of child was born in a run of parent. */
void tally_memory_link(struct tally_local *l, uint32_t parent, uint32_t child);

static inline struct tally_head *tally_head(const struct tally_local *l)
{
	return (struct tally_head *)l->image;
}

/* The row of a place, and its page. */
static inline struct tally_cell *tally_cell(const struct tally_local *l,
					    const struct tally_worker *t, uint16_t place,
					    struct tally_page **page)
{
	*page = tally_page(l->image, t->page[place >> 7]);
	return (struct tally_cell *)tally_page_room(*page) + (place & 127) - 1;
}

/* The start of the probe sequence of a key. */
static inline uint32_t tally_hash(const struct tally_worker *t, uint32_t key)
{
	return (key * 2654435769u) >> t->hash_shift;
}

#endif
