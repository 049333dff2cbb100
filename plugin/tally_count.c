/* SPDX-License-Identifier: MIT */
/* Tallies: the functions that a host calls for every run. They take no lock, allocate nothing and
 * make no system call, except for the first run of a thread or of a row. Each thread has its own
 * rows, and only that thread writes to them. The process that reads them at the same time needs
 * atomic loads and stores, but no atomic addition. */
#include "plugin/tally_count.h"
#include "plugin/tally_parts.h"

#include "base/minmax.h"
#include "base/tls.h"
#include "command/redact.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* The host sees this as the opaque struct buildbeat_run. */
struct run {
	uint32_t id;		/* of the session; 0 if the run is not tallied */
	uint16_t location, birth;	/* birth: the slot of the thread that queued or started it */
	uint32_t serial;	/* of its frame; 0 if it has none */
	uint16_t thread;	/* the slot in which it started; 0 while it waits */
	uint16_t place;		/* of its row in the slot of its birth: saves a search */
	uint32_t frame;
	uint32_t was_queued;
	uint64_t queue;		/* when it could have started; once it runs, its queue time */
	uint64_t start, amount;
};

_Static_assert(sizeof(struct run) <= sizeof(struct buildbeat_run), "");

struct tally_local *_Atomic tally_here;
pthread_mutex_t tally_lock = PTHREAD_MUTEX_INITIALIZER;

static __thread struct tally_worker *self TLS_QUICK;
static pthread_key_t exit_key;

/* What a forked child needs to tally into its own memory. */
static struct {
	char *image;		/* NULL if children do not tally */
	struct tally_clock clock, amount;
} kept;

static struct run *run_of(struct buildbeat_run *run)
{
	return (struct run *)(void *)run;
}

/* Add without a locked instruction: no other thread writes to it. The sum stops at its largest
 * value. */
static void add_sum(_Atomic uint64_t *sum, uint64_t n)
{
	uint64_t was = atomic_load_explicit(sum, memory_order_relaxed);

	n += was;
	atomic_store_explicit(sum, n < was ? UINT64_MAX : n, memory_order_relaxed);
}

static void raise_max(_Atomic uint32_t *max, uint32_t n)
{
	if (n > atomic_load_explicit(max, memory_order_relaxed))
		atomic_store_explicit(max, n, memory_order_relaxed);
}

static void count_bucket(_Atomic uint32_t *bucket)
{
	uint32_t was = atomic_load_explicit(bucket, memory_order_relaxed);

	atomic_store_explicit(bucket, was + (was < UINT32_MAX), memory_order_relaxed);
}

/* Slow calls */

void tally_enter(struct tally_guest *g)
{
	g->saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &g->cancel_state);
}

void tally_leave(const struct tally_guest *g)
{
	int unused;

	pthread_setcancelstate(g->cancel_state, &unused);
	errno = g->saved_errno;
}

/* A text without secrets: the image can be a file of the recording. */
static __attribute__((cold)) const char *without_secrets(char *to, size_t size, const char *text)
{
	struct slice part[REDACT_PARTS_MAX];
	size_t n = redact_split(part, text, strnlen(text, size - 1), false), len = 0;

	if (n == 1)
		return text;
	for (size_t i = 0; i < n; i++) {
		size_t room = size - 1 - len, take = MIN(part[i].len, room);

		memcpy(to + len, part[i].p, take);
		len += take;
	}
	to[len] = '\0';
	return to;
}

__attribute__((cold)) uint32_t tally_location(const struct buildbeat_place *given)
{
	static char function[TALLY_TEXT_MAX + 1], file[TALLY_TEXT_MAX + 1];	/* tally_lock */
	struct buildbeat_place place = { 0 };
	struct tally_local *l = tally_here;
	struct tally_guest g;
	uint32_t number;

	if (!l || !l->image || !given || given->size < sizeof given->size)
		return 0;
	memcpy(&place, given, given->size < sizeof place ? given->size : sizeof place);
	tally_enter(&g);
	pthread_mutex_lock(&tally_lock);
	number = tally_memory_location(l,
		without_secrets(function, sizeof function, place.function ? place.function : ""),
		without_secrets(file, sizeof file, place.file ? place.file : ""), place.line);
	pthread_mutex_unlock(&tally_lock);
	tally_leave(&g);
	return number;
}

/* Clocks */

static inline __attribute__((always_inline)) uint64_t read_clock(const struct tally_clock *c)
{
	return c->kind == BUILDBEAT_CLOCK_WALL ? tally_clock_wall() :
	       c->kind == BUILDBEAT_CLOCK_TSC ? tally_clock_counter(c) : tally_clock_other(c);
}

/* Wall time. The counter is used if the session uses it, because it is cheaper. */
static inline uint64_t read_time(const struct tally_clock *c)
{
	return c->kind == BUILDBEAT_CLOCK_TSC ? tally_clock_counter(c) : tally_clock_wall();
}

static uint64_t since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/* Threads */

static __attribute__((cold)) void retire(void *data)
{
	struct tally_worker *t = data;
	struct tally_local *l = tally_here;

	self = NULL;
	t->depth = 0;
	/* a forked child has a copy of the thread, but the slot is the parent's */
	if (l && l->image && l->thread[t->slot] == t)
		atomic_store_explicit(&tally_slot(l->image, t->slot)->state, TALLY_SLOT_RETIRED,
				      memory_order_release);
}

/* The child begins without threads and rows. The kernel has emptied *tally_here for it, which is
 * mapped to be wiped on a fork. An old kernel cannot do that, so the memory is mapped anew. */
static __attribute__((cold)) void in_child(void)
{
	static const pthread_mutex_t unlocked = PTHREAD_MUTEX_INITIALIZER;
	struct tally_local *l = tally_here;

	self = NULL;
	tally_lock = unlocked;
	if (l && l->image && mmap(l, sizeof *l, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		memset(l, 0, sizeof *l);
	if (!l || !kept.image)
		return;
	l->image = kept.image;
	l->clock = kept.clock;
	l->amount = kept.amount;
}

__attribute__((cold)) void tally_keep_forks(const struct tally_local *l)
{
	kept.image = l->image;
	kept.clock = l->clock;
	kept.amount = l->amount;
}

__attribute__((cold)) bool tally_watch(void)
{
	static bool done;

	kept.image = NULL;
	if (!done)
		done = !pthread_key_create(&exit_key, retire) && !pthread_atfork(NULL, NULL, in_child);
	return done;
}

/* After a reset a row starts at 0, in a new phase without its maxima. Its balance of runs that live
 * is kept, because they will end, unless another session has the tallies now. */
static __attribute__((cold)) void restart_row(struct tally_local *l, struct tally_worker *t,
					      uint32_t row, bool is_reset, bool is_new)
{
	struct tally_page *page;
	struct tally_cell *c = tally_cell(l, t, tally_place_of(row), &page);
	uint32_t number = page->more[row % TALLY_ROWS / TALLY_MORES];
	struct tally_more *more = tally_page_room(tally_page(l->image, number));

	c->run_max = c->queue_max = 0;
	if (is_new) {
		c->balance = 0;
		atomic_fetch_and(&c->key, ~TALLY_DIRTY);
	}
	if (!is_reset)
		return;
	c->count = c->run_total = c->self_total = c->queue_total = 0;
	c->run_sample = c->queue_sample = 0;
	if (!number)
		return;
	more += row % TALLY_MORES;
	more->amount_total = more->amount_max = 0;
	for (unsigned i = 0; i < TALLY_SMALL_BUCKETS; i++)
		more->run[i] = more->queue[i] = 0;
}

static __attribute__((cold)) void catch_up(struct tally_local *l, struct tally_worker *t)
{
	const struct tally_head *head = tally_head(l);
	struct tally_slot *slot = tally_slot(l->image, t->slot);
	uint64_t stamp = head->stamp;	/* read first: it changes last */
	uint32_t id = (uint32_t)(stamp >> 32), epoch = head->epoch, window = head->window;
	bool is_new = slot->id != id, is_reset = is_new || slot->epoch != epoch;

	for (uint32_t i = 0; i < t->n_rows && (is_reset || slot->window != window); i++)
		restart_row(l, t, i, is_reset, is_new);
	atomic_store_explicit(&slot->window, window, memory_order_release);
	atomic_store_explicit(&slot->epoch, epoch, memory_order_release);
	atomic_store_explicit(&slot->id, id, memory_order_release);
	if (t->stamp >> 32 != id)
		t->depth = 0;
	t->stamp = stamp;
}

/* Give the calling thread a slot. NULL if there is none left or no session tallies. */
static __attribute__((noinline, cold)) struct tally_worker *attach(struct tally_local *l)
{
	struct tally_guest g;

	if (!tally_head(l)->stamp)
		return NULL;
	tally_enter(&g);
	if (!self) {
		self = tally_memory_thread(l, NULL);
		/* retire() is called at the end of a thread only if it has a value */
		if (self)
			pthread_setspecific(exit_key, self);
	}
	if (self)
		catch_up(l, self);
	tally_leave(&g);
	return self;
}

static inline struct tally_worker *this_thread(struct tally_local *l, uint64_t stamp)
{
	struct tally_worker *t = self;

	return __builtin_expect(t && t->stamp == stamp, 1) ? t : attach(l);
}

__attribute__((cold)) void tally_thread(const char *name)
{
	struct tally_local *l = tally_here;
	struct tally_worker *t;
	struct tally_guest g;
	char known[sizeof ((struct tally_slot *)NULL)->name];

	if (!l || !l->image || !tally_head(l)->stamp || !name || !*name)
		return;
	tally_enter(&g);
	t = tally_memory_thread(l, without_secrets(known, sizeof known, name));
	if (t) {
		if (self)
			retire(self);
		self = t;
		pthread_setspecific(exit_key, t);
		catch_up(l, t);
	}
	tally_leave(&g);
}

/* Rows */

static __attribute__((noinline, cold)) uint16_t new_place(struct tally_local *l,
							  struct tally_worker *t, uint32_t key)
{
	struct tally_head *head = tally_head(l);
	struct tally_guest g;
	uint16_t place = 0;

	tally_enter(&g);
	if (tally_key_location(key) && (tally_key_location(key) <= head->n_locations ||
	    tally_key_location(key) == TALLY_OTHER_LOCATIONS))
		place = tally_memory_row(l, t, key);
	if (!place)
		head->n_lost++;
	tally_leave(&g);
	return place;
}

/* Find or make the row of a key. NULL if there is no room. */
static __attribute__((noinline))
struct tally_cell *find_row(struct tally_local *l, struct tally_worker *t,
					  uint32_t key, uint16_t *place, struct tally_page **page)
{
	uint32_t h = tally_hash(t, key), mask = UINT32_MAX >> t->hash_shift;
	struct tally_cell *cell;

	while ((*place = t->hash[h])) {
		cell = tally_cell(l, t, *place, page);
		if ((TALLY_GET(cell->key) & ~TALLY_DIRTY) == key)
			return cell;
		h = (h + 1) & mask;
	}
	*place = new_place(l, t, key);
	return *place ? tally_cell(l, t, *place, page) : NULL;
}

/* The same for a run that was born in this thread and knows its place. The place is checked: the
 * host may have damaged the run's memory. */
static inline struct tally_cell *find_row_again(struct tally_local *l, struct tally_worker *t,
						uint32_t key, uint16_t *place,
						struct tally_page **page)
{
	struct tally_cell *cell;

	if (*place >> 7 < t->n_pages && (*place & 127) - 1u < TALLY_ROWS) {
		cell = tally_cell(l, t, *place, page);
		if ((TALLY_GET(cell->key) & ~TALLY_DIRTY) == key)
			return cell;
	}
	return find_row(l, t, key, place, page);
}

/* Add n to the runs of the row that live. This comes last: whoever sees the mark in the key must
 * also see all other changes of the row. */
static inline void balance(struct tally_cell *cell, uint32_t key, uint32_t n)
{
	atomic_store_explicit(&cell->balance, TALLY_GET(cell->balance) + n, memory_order_relaxed);
	atomic_store_explicit(&cell->key, key | TALLY_DIRTY, memory_order_release);
}

/* Births */

static inline void remember_link(struct tally_local *l, struct tally_worker *t, uint32_t child)
{
	uint32_t parent = t->frame[t->depth - 1].location, pair = tally_link(parent, child);
	uint32_t *recent = &t->recent_link[(parent * 31 + child) % TALLY_RECENT_LINKS];

	if (*recent == pair)
		return;
	*recent = pair;
	tally_memory_link(l, parent, child);
}

/* Forget frames at the top whose runs have ended in other threads: the next run is not in them. */
static inline void pop_ended(struct tally_worker *t)
{
	while (t->depth && !TALLY_GET(t->frame[t->depth - 1].serial))
		t->depth--;
}

static __attribute__((noinline))
void be_born(struct tally_local *l, struct tally_worker *t, struct run *r,
			   uint32_t location)
{
	uint32_t key = tally_key(location, t->slot);
	struct tally_page *page;
	struct tally_cell *cell;

	r->id = 0;
	if (location >= TALLY_LOCATIONS || !location)
		return;
	cell = find_row(l, t, key, &r->place, &page);
	if (!cell)
		return;
	r->id = (uint32_t)(t->stamp >> 32);
	r->location = (uint16_t)location;
	r->birth = (uint16_t)t->slot;
	r->thread = 0;
	r->serial = 0;
	r->was_queued = 0;
	balance(cell, key, 1);
	pop_ended(t);
	if (t->depth)
		remember_link(l, t, location);
}

/* The calling thread if a session tallies. Otherwise a new run is not tallied, and a queued one
 * stays queued for ever. */
static inline struct tally_worker *ready(struct tally_local *l, struct run *r, bool is_new)
{
	uint64_t stamp = l && l->image ? atomic_load_explicit(&tally_head(l)->key,
							      memory_order_acquire) : 0;
	struct tally_worker *t = stamp ? this_thread(l, stamp) : NULL;

	if (!t && is_new)
		r->id = 0;
	return t;
}

void tally_queued(struct buildbeat_run *run, uint32_t location, int64_t delay_ns)
{
	struct tally_local *l = atomic_load_explicit(&tally_here, memory_order_acquire);
	struct run *r = run_of(run);
	struct tally_worker *t = r ? ready(l, r, true) : NULL;

	if (!t)
		return;
	be_born(l, t, r, location);
	r->was_queued = 1;
	r->queue = read_time(&l->clock) + (delay_ns > 0 ? (uint64_t)delay_ns : 0);
}

/* Starts */

static inline void push_frame(struct tally_worker *t, struct run *r)
{
	struct tally_frame *f = &t->frame[t->depth];

	r->serial = 0;
	if (t->depth == TALLY_FRAMES)
		return;
	t->last_serial += 1 + (t->last_serial == UINT32_MAX);
	r->serial = t->last_serial;
	r->frame = t->depth++;
	f->location = r->location;
	f->nested = 0;
	atomic_store_explicit(&f->serial, r->serial, memory_order_relaxed);
}

void tally_started(struct buildbeat_run *run, uint32_t location)
{
	struct tally_local *l = atomic_load_explicit(&tally_here, memory_order_acquire);
	struct run *r = run_of(run);
	struct tally_worker *t;
	uint64_t now;
	bool is_time;

	if (!r || (!location && !r->id))
		return;
	t = ready(l, r, location != 0);
	if (!t)
		return;
	if (location)
		be_born(l, t, r, location);
	else
		pop_ended(t);
	if (r->id != t->stamp >> 32 || r->thread)
		return;
	r->thread = (uint16_t)t->slot;
	push_frame(t, r);
	if (l->amount.kind)
		r->amount = read_clock(&l->amount);
	is_time = l->clock.kind == BUILDBEAT_CLOCK_WALL || l->clock.kind == BUILDBEAT_CLOCK_TSC;
	now = is_time || r->was_queued ? read_time(&l->clock) : 0;
	if (r->was_queued)
		r->queue = since(now, r->queue);
	r->start = is_time ? now : tally_clock_other(&l->clock);
}

/* Ends */

/* Return how much of the run's time was spent in runs nested in it, and add its own time to the run
 * around it. A run that ends in another thread than it started in has no nested time: the frames of
 * that thread cannot be read safely, so its frame is only marked as ended. */
static inline uint64_t pop_frame(struct tally_local *l, struct tally_worker *t,
				 const struct run *r, uint64_t total)
{
	struct tally_frame *f = &t->frame[r->frame % TALLY_FRAMES];
	uint32_t serial = r->serial;

	if (!serial)
		return 0;
	if (r->thread != t->slot) {
		t = r->thread < TALLY_SLOTS ? l->thread[r->thread] : NULL;
		if (t)
			atomic_compare_exchange_strong(&t->frame[r->frame % TALLY_FRAMES].serial,
						       &serial, 0);
		return 0;
	}
	if (r->frame >= t->depth || TALLY_GET(f->serial) != serial)
		return 0;
	t->depth = r->frame;
	pop_ended(t);
	if (t->depth && !__builtin_add_overflow(t->frame[t->depth - 1].nested, total, &total))
		t->frame[t->depth - 1].nested = total;
	return f->nested;
}

/* True with a probability of 1 in n: after n runs each of them was the sample with the same
 * probability. */
static inline bool is_sample(struct tally_worker *t, uint64_t n)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 17;
	t->random ^= t->random << 5;
	return n == 1 || (!(n >> 32) && !(t->random * n >> 32));
}

/* For rows without histograms of their own: all threads add to those of the location. */
static __attribute__((noinline)) void add_shared(struct tally_local *l, const struct run *r,
						 uint64_t total, uint64_t amount)
{
	struct tally_page *page;
	struct tally_more *more = tally_memory_shared(l, r->location, &page);
	const struct tally_head *head = tally_head(l);
	uint64_t max;

	if (!more)
		return;
	if (TALLY_GET(more->run[tally_bucket(total, head->shift)]) < UINT32_MAX)
		more->run[tally_bucket(total, head->shift)]++;
	if (r->was_queued && TALLY_GET(more->queue[tally_bucket(r->queue, TALLY_TIME_SHIFT)]) < UINT32_MAX)
		more->queue[tally_bucket(r->queue, TALLY_TIME_SHIFT)]++;
	more->amount_total += amount;
	max = more->amount_max;
	while (amount > max && !atomic_compare_exchange_weak(&more->amount_max, &max, amount))
		;
	atomic_fetch_or(&page->dirty, 1u << ((const char *)more - (const char *)page) / sizeof *more);
}

/* Add the run to the histograms and amounts of its row. */
static inline void add_more(struct tally_local *l, struct tally_page *page, const struct run *r,
			    uint64_t total, uint64_t amount)
{
	uint32_t row = (r->place & 127) - 1u, number = TALLY_GET(page->more[row / TALLY_MORES]);
	struct tally_more *more;

	if (!number) {
		add_shared(l, r, total, amount);
		return;
	}
	more = (struct tally_more *)tally_page_room(tally_page(l->image, number)) + row % TALLY_MORES;
	count_bucket(&more->run[tally_bucket(total, tally_head(l)->shift)]);
	if (r->was_queued)
		count_bucket(&more->queue[tally_bucket(r->queue, TALLY_TIME_SHIFT)]);
	if (l->amount.kind) {
		add_sum(&more->amount_total, amount);
		if (amount > TALLY_GET(more->amount_max))
			atomic_store_explicit(&more->amount_max, amount, memory_order_relaxed);
	}
}

static inline void add_run(struct tally_worker *t, struct tally_cell *c, const struct run *r,
			   uint64_t total, uint64_t own)
{
	uint64_t n = TALLY_GET(c->count);
	uint32_t packed = tally_pack(total);

	n += n < UINT64_MAX;
	atomic_store_explicit(&c->count, n, memory_order_relaxed);
	add_sum(&c->run_total, total);
	add_sum(&c->self_total, own);
	raise_max(&c->run_max, packed);
	if (r->was_queued) {
		add_sum(&c->queue_total, r->queue);
		raise_max(&c->queue_max, tally_pack(r->queue));
	}
	if (is_sample(t, n)) {
		atomic_store_explicit(&c->run_sample, packed, memory_order_relaxed);
		atomic_store_explicit(&c->queue_sample, r->was_queued ? tally_pack(r->queue) : 0,
				      memory_order_relaxed);
	}
}

void tally_finished(struct buildbeat_run *run)
{
	struct tally_local *l = atomic_load_explicit(&tally_here, memory_order_acquire);
	struct run *r = run_of(run);
	uint64_t total, own, amount = 0, stamp;
	struct tally_worker *t;
	struct tally_page *page;
	struct tally_cell *cell;
	uint32_t key;

	if (!r || !r->id || !l || !l->image)
		return;
	stamp = atomic_load_explicit(&tally_head(l)->stamp, memory_order_acquire);
	if (r->id != stamp >> 32) {
		r->id = 0;
		return;
	}
	total = since(read_clock(&l->clock), r->start);
	if (l->amount.kind)
		amount = since(read_clock(&l->amount), r->amount);
	r->id = 0;
	t = this_thread(l, stamp);
	if (!t)
		return;
	key = tally_key(r->location, r->birth % TALLY_SLOTS);
	cell = r->birth == t->slot ? find_row_again(l, t, key, &r->place, &page) :
	       find_row(l, t, key, &r->place, &page);
	own = pop_frame(l, t, r, total);
	if (!cell)
		return;
	if (r->thread) {
		add_run(t, cell, r, total, since(total, own));
		add_more(l, page, r, total, amount);
	}
	balance(cell, key, UINT32_MAX);
}
