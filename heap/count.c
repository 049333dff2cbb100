/* SPDX-License-Identifier: MIT */
/*
 * Events of the heap, counted in the image. One lock protects all tables; the stack is unwound
 * before it is taken. A flag of the thread keeps signal handlers out.
 */
#include "heap/count.h"

#include "base/minmax.h"
#include "heap/heap_env.h"
#include "heap/image_write.h"
#include "heap/lock.h"
#include "heap/pages.h"
#include "heap/ranges.h"
#include "heap/sandbox.h"
#include "heap/stacks.h"
#include "heap/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

_Thread_local struct count_thread count_thread;
uint8_t count_filter[1 << COUNT_FILTER_BITS];

#define WORK_AREAS 64
#define SAMPLE_SEED UINT64_C(0x9e3779b97f4a7c15)	/* where the clock must not be asked */

enum state { FRESH, BEGINNING, READY, OFF };

/* Of this process. The kernel gives a forked child zeros in its place. */
static struct own {
	uint32_t state;		/* enum state */
} *own;

static uint32_t begun;		/* enum state, of own and of the constants below */
static char directory[PATH_MAX], program[256];
static uint64_t period;
static bool mappings_only;

static uint32_t lock;
static struct stacks_work work[WORK_AREAS];
static uint32_t next_work;

/* The beginning */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* The start and the parent of this process, from /proc/self/stat. */
static void read_stat(uint64_t *start_ticks, int *parent)
{
	char text[1024], *p;
	long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/stat", O_RDONLY | O_CLOEXEC), len;

	*start_ticks = 0;
	*parent = 0;
	if (fd < 0)
		return;
	len = syscall(SYS_read, fd, text, sizeof text - 1);
	syscall(SYS_close, fd);
	text[MAX(len, 0)] = '\0';
	p = strrchr(text, ')');
	for (int field = 2; p && field < 22; field++) {
		p = strchr(p + 1, ' ');
		if (p && field == 3)
			*parent = (int)strtol(p, NULL, 10);
	}
	if (p)
		*start_ticks = strtoull(p, NULL, 10);
}

/* Create the image of this process. */
static enum state open_image(bool forked)
{
	uint64_t start_ticks;
	int parent;

	if (sandbox_is(SANDBOX_FILTER))
		return OFF;
	read_stat(&start_ticks, &parent);
	if (image_create(directory, (int)syscall(SYS_getpid), start_ticks))
		return OFF;
	image_head->parent = parent;
	image_head->period = period;
	image_head->start_ns = now_ns();
	memcpy(image_head->program, program, sizeof program);
	image_head->flags = (forked ? HEAP_FORKED : 0) | (mappings_only ? HEAP_OTHER_MALLOC : 0);
	/* the site of what has no other: it must exist when the image cannot grow */
	if (!image_new_site())
		return OFF;
	image_site(0)->stack = HEAP_NONE;
	image_site(0)->next = HEAP_NONE;
	image_head->n_sites = 1;
	memcpy(image_head->magic, HEAP_IMAGE_MAGIC, sizeof image_head->magic);
	return READY;
}

/* Is this process armed? */
static bool read_environment(void)
{
	const char *dir = heap_env_find(environ, HEAP_ENV_DIR);
	const char *now = heap_env_find(environ, HEAP_ENV_NOW);
	unsigned long name = getauxval(AT_EXECFN);
	pid_t pid;

	if (!dir || dir[0] != '/' || strlen(dir) >= sizeof directory ||
	    !heap_env_now(now, &pid, &period) || period > SAMPLE_PERIOD_MAX ||
	    pid != (pid_t)syscall(SYS_getpid))
		return false;
	strcpy(directory, dir);
	if (name) {
		const char *path = (const char *)name, *slash = strrchr(path, '/');

		strncpy(program, slash ? slash + 1 : path, sizeof program - 1);
	}
	return true;
}

static enum state begin_counting(void)
{
	if (!read_environment())
		return OFF;
	own = pages_new(4096);
	if (!own || syscall(SYS_madvise, own, 4096, MADV_WIPEONFORK))
		return OFF;
	own->state = open_image(false);
	if (own->state != READY)
		return own->state;
	image_prepare();
	if (!period)
		memset(count_filter, 255, sizeof count_filter);
	return READY;
}

/* In a child: the tables are the parent's. The filter remains: who frees what the parent allocated
 * asks in vain, which is rare. */
static enum state begin_child(void)
{
	lock = 0;
	for (int i = 0; i < WORK_AREAS; i++)
		work[i].busy = 0;
	image_forget();
	live_reset();
	ranges_reset();
	stacks_reset();
	return open_image(true);
}

/* Run it in one thread; the others do not count meanwhile. */
static bool run_once(uint32_t *state, enum state (*run)(void))
{
	uint32_t seen = FRESH;

	if (__atomic_compare_exchange_n(state, &seen, BEGINNING, 0, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		seen = run();
		__atomic_store_n(state, seen, __ATOMIC_RELEASE);
	}
	return seen == READY;
}

/* Does this process count? */
static bool is_ready(bool allocates)
{
	uint32_t state = __atomic_load_n(&begun, __ATOMIC_ACQUIRE);

	if (state == FRESH && environ)
		run_once(&begun, begin_counting);
	if (__atomic_load_n(&begun, __ATOMIC_ACQUIRE) != READY)
		return false;
	state = __atomic_load_n(&own->state, __ATOMIC_ACQUIRE);
	if (state == FRESH && allocates)
		return run_once(&own->state, begin_child);
	return state == READY;
}

/* Can it never count? */
static bool is_off(void)
{
	uint32_t state = __atomic_load_n(&begun, __ATOMIC_ACQUIRE);

	return state == OFF ||
	       (state == READY && __atomic_load_n(&own->state, __ATOMIC_ACQUIRE) == OFF);
}

/* Events */

static void end_event(int saved)
{
	count_thread.inside = false;
	errno = saved;
}

/*
 * Begin an event of this thread. Until end_event() nothing that it allocates is counted, nor what
 * a signal handler does that interrupts it. False: this process does not count, or such an event
 * has begun before.
 */
static bool begin_event(int *saved, bool allocates)
{
	if (count_thread.inside)
		return false;
	count_thread.inside = true;
	*saved = errno;
	if (is_ready(allocates))
		return true;
	end_event(*saved);
	return false;
}

/* The same for one that needs the tables and counts no allocation. */
static bool begin_locked(int *saved)
{
	if (!begin_event(saved, false))
		return false;
	lock_take(&lock);
	return true;
}

static void end_locked(int saved)
{
	lock_give(&lock);
	end_event(saved);
}

/* Sites; with the lock */

/* The site of a stack. Site 0 if the image cannot grow. */
static uint32_t find_site(uint32_t stack, bool mapped)
{
	struct heap_site *s;
	uint32_t *link, n;

	if (stack == HEAP_NONE)
		return 0;
	link = &image_stack(stack)->site;
	for (; *link != HEAP_NONE; link = &image_site(*link)->next) {
		if (image_site(*link)->mapped == mapped)
			return *link;
	}
	s = image_new_site();
	if (!s)
		return 0;
	s->stack = stack;
	s->mapped = mapped;
	s->next = HEAP_NONE;
	n = image_head->n_sites;
	__atomic_store_n(&image_head->n_sites, n + 1, __ATOMIC_RELEASE);
	*link = n;
	return n;
}

static struct heap_site *change_site(uint32_t n)
{
	struct heap_site *s = image_site(n);

	__atomic_store_n(&s->sequence, s->sequence + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	if (s->epoch != image_head->epoch) {
		s->at_peak = s->live_bytes;
		s->epoch = image_head->epoch;
	}
	return s;
}

static void end_change(struct heap_site *s)
{
	__atomic_store_n(&s->sequence, s->sequence + 1, __ATOMIC_RELEASE);
}

static void add_to_site(uint32_t n, struct sample_weight w)
{
	struct heap_site *s = change_site(n);

	s->allocations += w.count;
	s->allocated += w.bytes;
	s->live_bytes += w.bytes;
	s->variance += w.variance;
	end_change(s);
	image_head->live_bytes += w.bytes;
	if (image_head->live_bytes > image_head->peak_bytes) {
		image_head->peak_bytes = image_head->live_bytes;
		image_head->epoch++;
	}
}

static void take_from_site(uint32_t n, struct sample_weight w, bool temporary)
{
	struct heap_site *s = change_site(n);

	s->frees += w.count;
	s->live_bytes -= w.bytes;
	s->variance -= w.variance;
	if (temporary)
		s->temporary += w.count;
	end_change(s);
	image_head->live_bytes -= w.bytes;
}

/* Threads */

/* A work area; mostly the same for a thread. */
static struct stacks_work *take_work(struct count_thread *t)
{
	for (;; t->work = (t->work + 1) % WORK_AREAS) {
		struct stacks_work *w = &work[t->work % WORK_AREAS];

		if (!__atomic_exchange_n(&w->busy, 1, __ATOMIC_ACQUIRE))
			return w;
		if (sandbox_is(SANDBOX_FILTER))
			lock_pause();
		else if (t->work % WORK_AREAS == WORK_AREAS - 1)
			sched_yield();
	}
}

static void start_thread(struct count_thread *t)
{
	t->work = __atomic_fetch_add(&next_work, 1, __ATOMIC_RELAXED) % WORK_AREAS;
	t->sample.random = (sandbox_is(SANDBOX_FILTER) ? SAMPLE_SEED : (uint64_t)now_ns()) ^
		    (uint64_t)(uintptr_t)t ^ (uint64_t)(uint32_t)image_head->pid << 32;
	t->started = true;
}

/* The stack of the caller of a replacing function; the lock is then held. */
static uint32_t lock_with_site(struct count_thread *t, uintptr_t from, bool mapped)
{
	struct stacks_work *w = take_work(t);
	size_t n = unwind_stack(from, w->address[w->now], STACKS_DEPTH_MAX);
	uint32_t site;

	lock_take(&lock);
	site = find_site(stacks_find(w, n), mapped);
	__atomic_store_n(&w->busy, 0, __ATOMIC_RELEASE);
	return site;
}

/* Allocations */

static void filter_add(const void *p)
{
	uint8_t *n = &count_filter[count_filter_slot(p)];

	if (*n != 255)
		__atomic_store_n(n, (uint8_t)(*n + 1), __ATOMIC_RELAXED);
}

/* One that reached 255 is not known any more, and remains. */
static void filter_remove(const void *p)
{
	uint8_t *n = &count_filter[count_filter_slot(p)];

	if (*n != 255)
		__atomic_store_n(n, (uint8_t)(*n - 1), __ATOMIC_RELAXED);
}

static void record(struct count_thread *t, const void *p, size_t size, uintptr_t from)
{
	struct live_block block = { .size = size }, old;

	block.site = lock_with_site(t, from, false);
	image_head->events++;
	/* its end was not seen: in a signal handler, or by another malloc() */
	if (live_take((uintptr_t)p, &old)) {
		take_from_site(old.site, sample_weight(old.size, period), false);
		filter_remove(p);
	}
	if (live_put((uintptr_t)p, block)) {
		add_to_site(block.site, sample_weight(size, period));
		filter_add(p);
	} else {
		image_head->lost++;
	}
	lock_give(&lock);
	t->last = (uintptr_t)p;
}

/* Is this allocation recorded? It sets the distance to the next one. */
static bool choose_allocation(struct count_thread *t, size_t size)
{
	t->last = 0;
	if (!period) {
		t->left = -1;
		return !mappings_only;
	}
	if (!t->started) {
		start_thread(t);
		t->left = sample_begin(&t->sample, period) - (int64_t)size;
	} else if (t->waits) {
		t->left = t->next - (int64_t)size;
	}
	t->waits = false;
	if (t->left >= 0)
		return false;
	t->left = sample_next(&t->sample, period, t->left);
	if (mappings_only)
		return false;
	/* come again with the next allocation: then this one is not the last any more */
	t->next = t->left;
	t->left = -1;
	t->waits = true;
	return true;
}

void count_allocation(const void *p, size_t size, uintptr_t from)
{
	struct count_thread *t = &count_thread;
	int saved;

	if (begin_event(&saved, true)) {
		if (choose_allocation(t, size))
			record(t, p, size, from);
		end_event(saved);
	} else if (!t->inside && is_off()) {
		t->left = INT64_MAX;
	}
}

static bool take_block(const void *p, struct live_block *block, bool freed)
{
	bool found;
	int saved;

	if (!p || !begin_locked(&saved))
		return false;
	found = live_take((uintptr_t)p, block);
	if (found) {
		take_from_site(block->site, sample_weight(block->size, period),
			       freed && count_thread.last == (uintptr_t)p);
		filter_remove(p);
	}
	end_locked(saved);
	return found;
}

void count_free(const void *p)
{
	struct live_block block;

	if (take_block(p, &block, true))
		count_thread.last = 0;
}

bool count_take(const void *p, struct live_block *block)
{
	return take_block(p, block, false);
}

void count_put_back(const void *p, struct live_block block)
{
	int saved;

	if (!begin_locked(&saved))
		return;
	if (live_put((uintptr_t)p, block)) {
		add_to_site(block.site, sample_weight(block.size, period));
		filter_add(p);
	}
	end_locked(saved);
}

/* Mappings */

static void unmap(uintptr_t start, uintptr_t end)
{
	struct range taken;

	while (ranges_take(&taken, start, end)) {
		struct sample_weight w = {
			.count = taken.counts ? HEAP_UNIT : 0,
			.bytes = taken.end - taken.start,
		};

		if (taken.site != HEAP_NONE)
			take_from_site(taken.site, w, false);
	}
}

static void map(uintptr_t start, uintptr_t end, uint32_t site)
{
	struct range r = { .start = start, .end = end, .site = site, .counts = true };
	struct sample_weight w = { .count = HEAP_UNIT, .bytes = end - start };

	if (!ranges_add(r))
		image_head->lost++;
	else if (site != HEAP_NONE)
		add_to_site(site, w);
}

/* The end of a mapping, in whole pages. */
static uintptr_t end_of(uintptr_t start, size_t size)
{
	size_t page = (size_t)getauxval(AT_PAGESZ);

	return start + ((size + page - 1) & ~(page - 1));
}

void count_map(uintptr_t start, size_t size, bool reserved, uintptr_t from)
{
	uint32_t site = HEAP_NONE;
	int saved;

	if (!begin_event(&saved, true))
		return;
	if (reserved)
		lock_take(&lock);
	else
		site = lock_with_site(&count_thread, from, true);
	unmap(start, end_of(start, size));
	map(start, end_of(start, size), site);
	image_head->events++;
	end_locked(saved);
}

void count_unmap(uintptr_t start, size_t size)
{
	int saved;

	if (!begin_locked(&saved))
		return;
	unmap(start, end_of(start, size));
	end_locked(saved);
}

/* Give the parts that are reserved a site, or reserve those that have one. */
static void protect(uintptr_t start, uintptr_t end, uint32_t site)
{
	const struct range *found;

	while (start < end && (found = ranges_find(start, end))) {
		uintptr_t from = MAX(found->start, start);
		uintptr_t to = MIN(found->end, end);

		if ((found->site == HEAP_NONE) != (site == HEAP_NONE)) {
			unmap(from, to);
			map(from, to, site);
		}
		end = from;
	}
}

/* Would protect() change anything? */
static bool protect_matters(uintptr_t start, uintptr_t end, bool reserved)
{
	const struct range *found;

	while (start < end && (found = ranges_find(start, end))) {
		if ((found->site == HEAP_NONE) != reserved)
			return true;
		end = found->start;
	}
	return false;
}

void count_protect(uintptr_t start, size_t size, bool reserved, uintptr_t from)
{
	uintptr_t end = end_of(start, size);
	uint32_t site = HEAP_NONE;
	bool matters;
	int saved;

	if (!begin_locked(&saved))
		return;
	matters = protect_matters(start, end, reserved);
	if (matters && !reserved) {
		lock_give(&lock);
		site = lock_with_site(&count_thread, from, true);
	}
	if (matters)
		protect(start, end, site);
	end_locked(saved);
}

enum count_moved count_move(uintptr_t start, size_t size)
{
	enum count_moved moved = COUNT_UNKNOWN;
	const struct range *found;
	int saved;

	if (!begin_locked(&saved))
		return moved;
	found = ranges_find(start, end_of(start, size));
	if (found)
		moved = found->site == HEAP_NONE ? COUNT_RESERVED : COUNT_MAPPED;
	unmap(start, end_of(start, size));
	end_locked(saved);
	return moved;
}

/* The rest */

void count_unloaded(void)
{
	int saved;

	if (!begin_locked(&saved))
		return;
	unwind_flush();
	stacks_unloaded();
	end_locked(saved);
}

void count_mappings_only(void)
{
	mappings_only = true;
	if (is_ready(false))
		image_head->flags |= HEAP_OTHER_MALLOC;
}

void count_begin(void)
{
	struct count_thread *t = &count_thread;
	int saved = errno;

	t->inside = true;
	if (is_ready(true))
		unwind_begin();
	t->inside = false;
	heap_env_take(environ);
	errno = saved;
}

void count_end(void)
{
	if (!is_ready(false))
		return;
	image_head->end_ns = now_ns();
	image_head->flags |= HEAP_ENDED;
}
