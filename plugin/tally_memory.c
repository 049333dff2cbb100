/* SPDX-License-Identifier: MIT */
/* The slow parts of tallies: their memory, the slots of threads, and new rows. */
#include "plugin/tally_count.h"
#include "plugin/tally_parts.h"

#include "base/file.h"
#include "base/minmax.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_SIZE ((size_t)TALLY_PAGES * TALLY_PAGE)
#define RESERVE_PAGES 16u
#define REFUSED_TRIES 1024u
#define SLOTS_OF_PAGE (TALLY_PAGE / sizeof(struct tally_slot))
#define HASH_FIRST 1024u	/* of a thread: its struct and this fill a page */
#define HASH_LAST 65536u

struct thread_memory {
	struct tally_worker thread;
	uint16_t hash[HASH_FIRST];
};

/* The image's file, and how many of its pages are reserved. */
static int image_fd = -1;
static dev_t image_dev;
static ino_t image_ino;
static bool is_kept;		/* it has a name in the recording */
static _Atomic uint32_t n_reserved;

/* The image */

__attribute__((cold)) int tally_memory_fd(void)
{
	struct stat st;

	/* The host may have closed it and got the number for another file. */
	if (image_fd < 0 || fstat(image_fd, &st) || st.st_dev != image_dev || st.st_ino != image_ino)
		return -1;
	return image_fd;
}

bool tally_memory_is_kept(void)
{
	return is_kept;
}

/* Without room, writing to a page would end the host by a signal. So would reserving it above the
 * limit on the size of files. */
static __attribute__((cold)) bool reserve(uint32_t page, uint32_t n)
{
	off_t from = (off_t)page * TALLY_PAGE, len = (off_t)n * TALLY_PAGE;
	int fd = tally_memory_fd(), r;
	struct rlimit limit;

	if (fd < 0 || getrlimit(RLIMIT_FSIZE, &limit) ||
	    (limit.rlim_cur != RLIM_INFINITY && (rlim_t)(from + len) > limit.rlim_cur))
		return false;
	do {
		r = fallocate(fd, 0, from, len);
	} while (r && errno == EINTR);
	return !r;
}

/* Make sure that a page is reserved, with some that will be needed next. */
static bool has_page(uint32_t number)
{
	static _Atomic uint32_t n_refused;	/* a full disk is not asked for every run */
	uint32_t known = n_reserved, n = TALLY_PAGES - number;

	if (number < known)
		return true;
	if (n_refused && ++n_refused % REFUSED_TRIES)
		return false;
	n = MIN(n, RESERVE_PAGES);
	n_refused = !reserve(number, n);
	if (n_refused)
		return false;
	while (known < number + n && !atomic_compare_exchange_weak(&n_reserved, &known, number + n))
		;
	return true;
}

/* A new page of a kind: its number, or 0 if there is no room. Readers look at all pages up to
 * n_pages, so it is reserved before. */
static __attribute__((cold)) uint32_t new_page(struct tally_local *l, uint32_t kind)
{
	struct tally_head *head = tally_head(l);
	uint32_t number = TALLY_GET(head->n_pages);

	do {
		if (number >= TALLY_PAGES || !has_page(number))
			return 0;
	} while (!atomic_compare_exchange_weak(&head->n_pages, &number, number + 1));
	atomic_store_explicit(&tally_page(l->image, number)->kind, kind, memory_order_release);
	return number;
}

static __attribute__((cold)) void name_file(char *name, size_t size, const struct store *store)
{
	snprintf(name, size, LAYOUT_TALLY_PREFIX "-%s" LAYOUT_TALLY_IMAGE, store->inst);
}

/* The recording's directory: not store->dir_fd, which the host may have closed. */
static __attribute__((cold)) int open_recording(const struct store *store)
{
	return file_open_at(AT_FDCWD, store->path, O_RDONLY | O_DIRECTORY);
}

/* A file of the recording. Nobody opens it for writing again and truncates it: the host would be
 * ended by a signal. */
static __attribute__((cold)) int open_kept(int dir_fd, const struct store *store)
{
	char name[64];
	struct stat st;
	int fd;

	name_file(name, sizeof name, store);
	fd = file_open_at(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
	if (fd >= 0 && !fstat(dir_fd, &st))
		fchmod(fd, st.st_mode & 0444);
	return fd;
}

static __attribute__((cold)) int open_memfd(void)
{
	int fd = file_move_up(memfd_create(TALLY_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING));

	if (fd < 0)
		return fd;
	return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) ? (close(fd), -1) : fd;
}

static __attribute__((cold)) char *map_file(int fd)
{
	void *image = MAP_FAILED;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	image_fd = fd;
	image_dev = st.st_dev;
	image_ino = st.st_ino;
	n_reserved = 0;
	if (reserve(0, 2) && reserve(TALLY_FIRST_PAGE, 1))
		image = mmap(NULL, IMAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (image != MAP_FAILED)
		return image;
	close(fd);
	image_fd = -1;
	return NULL;
}

__attribute__((cold)) void tally_memory_forget(const struct store *store)
{
	int dir_fd = is_kept ? open_recording(store) : -1;
	char name[64];

	is_kept = false;
	if (dir_fd < 0)
		return;
	name_file(name, sizeof name, store);
	unlinkat(dir_fd, name, 0);
	close(dir_fd);
}

static __attribute__((cold)) char *map_image(const struct store *store)
{
	int dir_fd = store->flags & STORE_NFS ? -1 : open_recording(store);
	int fd = dir_fd < 0 ? -1 : open_kept(dir_fd, store);
	char *image = map_file(fd);

	is_kept = fd >= 0;
	if (!image)
		tally_memory_forget(store);
	file_close(dir_fd);
	return image ? image : map_file(open_memfd());
}

/* Locations */

static uint32_t hash_place(const struct tally_place *p, const char *function, const char *file)
{
	uint32_t h = 2166136261u ^ (uint32_t)p->line;

	for (size_t i = 0; i + 1 < p->function_len; i++)
		h = (h ^ (unsigned char)function[i]) * 16777619;
	h = (h ^ 0xff) * 16777619;
	for (size_t i = 0; i + 1 < p->file_len; i++)
		h = (h ^ (unsigned char)file[i]) * 16777619;
	return h ^ h >> 15;
}

static bool is_place(const struct tally_local *l, uint32_t number, const struct tally_place *p,
		     const char *function, const char *file)
{
	const char *at = l->image + (size_t)l->place[number] * 4;
	const struct tally_place *known = (const struct tally_place *)(uintptr_t)at;

	return known->line == p->line && known->function_len == p->function_len &&
	       known->file_len == p->file_len &&
	       !memcmp(at + sizeof *known, function, p->function_len - 1u) &&
	       !memcmp(at + sizeof *known + p->function_len, file, p->file_len - 1u);
}

/* Write a place into the image and enter it, at a free entry of the hash table. */
static bool add_place(struct tally_local *l, uint16_t *entry, const struct tally_place *p,
		      const char *function, const char *file)
{
	size_t len = (sizeof *p + p->function_len + p->file_len + 3) & ~(size_t)3;
	struct tally_page *page = tally_page(l->image, l->location_page);
	char *at;

	if (!l->location_page || TALLY_GET(page->n) + len > TALLY_PAGE_ROOM) {
		l->location_page = new_page(l, TALLY_PAGE_LOCATIONS);
		if (!l->location_page)
			return false;
		page = tally_page(l->image, l->location_page);
	}
	at = (char *)tally_page_room(page) + TALLY_GET(page->n);
	memcpy(at, p, sizeof *p);
	/* the NULs are there already */
	memcpy(at + sizeof *p, function, p->function_len - 1u);
	memcpy(at + sizeof *p + p->function_len, file, p->file_len - 1u);
	l->place[p->number] = (uint32_t)((size_t)(at - l->image) / 4);
	*entry = (uint16_t)p->number;
	atomic_store_explicit(&page->n, TALLY_GET(page->n) + (uint32_t)len, memory_order_release);
	return true;
}

/* The entry of a place in the hash table, or the free one where it belongs. */
static uint16_t *find_place(struct tally_local *l, const struct tally_place *p,
			    const char *function, const char *file)
{
	uint32_t h = hash_place(p, function, file) % TALLY_LOCATION_HASH;

	while (l->hash[h] && !is_place(l, l->hash[h], p, function, file))
		h = (h + 1) % TALLY_LOCATION_HASH;
	return &l->hash[h];
}

/* What stands for locations without room. Without room for it too, the run is counted as lost. */
static __attribute__((cold)) uint32_t other_locations(struct tally_local *l)
{
	struct tally_place p = {
		.number = TALLY_OTHER_LOCATIONS, .function_len = sizeof TALLY_OTHER_NAME, .file_len = 1,
	};
	uint16_t *entry = find_place(l, &p, TALLY_OTHER_NAME, "");

	if (!*entry && !add_place(l, entry, &p, TALLY_OTHER_NAME, "")) {
		tally_head(l)->n_lost++;
		return 0;
	}
	return *entry;
}

__attribute__((cold))
uint32_t tally_memory_location(struct tally_local *l, const char *function, const char *file,
			       int32_t line)
{
	struct tally_head *head = tally_head(l);
	struct tally_place p = {
		.line = line, .function_len = (uint16_t)(strnlen(function, TALLY_TEXT_MAX) + 1),
		.file_len = (uint16_t)(strnlen(file, TALLY_TEXT_MAX) + 1),
	};
	uint16_t *entry = find_place(l, &p, function, file);

	if (*entry)
		return *entry;
	p.number = TALLY_GET(head->n_locations);
	do {
		if (p.number + 1 >= TALLY_OTHER_LOCATIONS)
			return other_locations(l);
	} while (!atomic_compare_exchange_weak(&head->n_locations, &p.number, p.number + 1));
	p.number++;
	return add_place(l, entry, &p, function, file) ? p.number : other_locations(l);
}

/* A child uses the numbers of its parent. */
static __attribute__((cold)) void copy_place(void *data, const struct tally_place *p,
					     const char *texts)
{
	struct tally_local *l = data;
	uint16_t *entry = find_place(l, p, texts, texts + p->function_len);

	if (!*entry && !l->place[p->number])
		add_place(l, entry, p, texts, texts + p->function_len);
}

__attribute__((cold)) int tally_memory_begin(const struct store *store)
{
	struct tally_local *l = tally_here;
	struct tally_visitor v = { .location = copy_place };
	static char *inherited;		/* of the parent */
	struct tally_head *head;

	if (!l) {
		l = mmap(NULL, sizeof *l, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (l == MAP_FAILED)
			return -ENOMEM;
		/* An old kernel cannot; then the handler of fork() does it. */
		madvise(l, sizeof *l, MADV_WIPEONFORK);
		tally_here = l;
	}
	/* the name of the file is that of an earlier session */
	if (l->image)
		is_kept = false;
	if (l->image)
		return 0;
	l->image = map_image(store);
	if (!l->image)
		return -ENOMEM;
	head = tally_head(l);
	memcpy(head->magic, TALLY_MAGIC, sizeof TALLY_MAGIC);
	head->n_pages = TALLY_FIRST_PAGE;
	head->pid = getpid();
	if (inherited) {
		head->n_locations = ((struct tally_head *)inherited)->n_locations;
		v.data = l;
		tally_image_walk(inherited, IMAGE_SIZE, &v);
	}
	inherited = l->image;
	return 0;
}

/* Threads */

/* Add a place of a row to the hash table, which has room. */
static void enter_row(struct tally_worker *t, uint32_t key, uint16_t place)
{
	uint32_t mask = (1u << (32 - t->hash_shift)) - 1, h = tally_hash(t, key);

	while (t->hash[h])
		h = (h + 1) & mask;
	t->hash[h] = place;
}

/* A larger hash table, at most three quarters full. */
static bool grow_hash(struct tally_local *l, struct tally_worker *t)
{
	size_t was = (size_t)1 << (32 - t->hash_shift);
	struct tally_page *page;
	uint16_t *old = t->hash, *hash;

	if (was == HASH_LAST)
		return t->n_rows < HASH_LAST / 4 * 3;
	hash = mmap(NULL, 2 * was * sizeof *hash, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (hash == MAP_FAILED)
		return false;
	t->hash = hash;
	t->hash_shift--;
	for (size_t i = 0; i < was; i++) {
		if (old[i])
			enter_row(t, TALLY_GET(tally_cell(l, t, old[i], &page)->key) &
				  ~TALLY_DIRTY, old[i]);
	}
	if (was > HASH_FIRST)
		munmap(old, was * sizeof *old);
	return true;
}

/* Twelve rows get their struct tally_more, unless there are many rows in all. */
static void add_more(struct tally_local *l, struct tally_page *page, uint32_t row)
{
	struct tally_head *head = tally_head(l);
	uint32_t n = TALLY_GET(head->n_more_pages), more;

	if (row % TALLY_MORES || n >= TALLY_MORE_PAGES ||
	    !atomic_compare_exchange_strong(&head->n_more_pages, &n, n + 1))
		return;
	more = new_page(l, TALLY_PAGE_MORE);
	atomic_store_explicit(&page->more[row / TALLY_MORES], (uint16_t)more, memory_order_release);
}

__attribute__((cold))
uint16_t tally_memory_row(struct tally_local *l, struct tally_worker *t, uint32_t key)
{
	uint32_t in_page = t->n_rows % TALLY_ROWS;
	struct tally_cell *cell;
	struct tally_page *page;
	uint16_t place;

	if (t->n_rows >= ((size_t)3 << (32 - t->hash_shift)) / 4 && !grow_hash(l, t))
		return 0;
	if (t->n_rows == t->n_pages * TALLY_ROWS) {
		uint32_t number = t->n_pages < TALLY_ROW_PAGES ?
			new_page(l, TALLY_PAGE_ROWS) : 0;

		if (!number)
			return 0;
		tally_page(l->image, number)->slot = t->slot;
		t->page[t->n_pages++] = (uint16_t)number;
	}
	place = tally_place_of(t->n_rows);
	cell = tally_cell(l, t, place, &page);
	add_more(l, page, in_page);
	atomic_store_explicit(&cell->key, key, memory_order_relaxed);
	atomic_store_explicit(&page->n, in_page + 1, memory_order_release);
	t->n_rows++;
	enter_row(t, key, place);
	return place;
}

/* The rows of a slot whose process has gone, for the thread that takes it over. */
static __attribute__((cold)) bool find_rows(struct tally_local *l, struct tally_worker *t)
{
	uint32_t n_pages = TALLY_GET(tally_head(l)->n_pages);

	for (uint32_t i = TALLY_FIRST_PAGE; i < n_pages; i++) {
		struct tally_page *page = tally_page(l->image, i);
		struct tally_cell *cell = tally_page_room(page);
		uint32_t n = TALLY_GET(page->n);

		if (TALLY_GET(page->kind) != TALLY_PAGE_ROWS || page->slot != t->slot || !n)
			continue;
		if (t->n_rows % TALLY_ROWS || t->n_pages == TALLY_ROW_PAGES)
			return false;
		t->page[t->n_pages++] = (uint16_t)i;
		for (uint32_t k = 0; k < n; k++) {
			if (t->n_rows >= ((size_t)3 << (32 - t->hash_shift)) / 4 && !grow_hash(l, t))
				return false;
			enter_row(t, TALLY_GET(cell[k].key) & ~TALLY_DIRTY, tally_place_of(t->n_rows++));
		}
	}
	return true;
}

static struct tally_worker *new_thread(struct tally_local *l, uint32_t slot, bool has_rows)
{
	struct thread_memory *m = mmap(NULL, sizeof *m, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (m == MAP_FAILED)
		return NULL;
	m->thread.slot = slot;
	m->thread.hash = m->hash;
	m->thread.hash_shift = (unsigned)__builtin_clz(HASH_FIRST) + 1;
	m->thread.random = slot * 2654435769u | 1;
	if (has_rows && !find_rows(l, &m->thread)) {
		munmap(m, sizeof *m);
		return NULL;
	}
	atomic_store_explicit(&l->thread[slot], &m->thread, memory_order_release);
	return &m->thread;
}

static bool is_gone(int32_t pid)
{
	return pid != getpid() && kill(pid, 0) && errno == ESRCH;
}

/* Take over a slot without a thread. */
static bool take_slot(struct tally_slot *s, const char *name)
{
	uint32_t state = atomic_load_explicit(&s->state, memory_order_acquire);
	int32_t pid = s->pid;

	if (state == TALLY_SLOT_FREE)
		return false;
	if (name ? s->is_worker || strncmp(s->name, name, sizeof s->name - 1) : !s->is_worker)
		return false;
	if (state == TALLY_SLOT_RETIRED)
		return atomic_compare_exchange_strong(&s->state, &state, TALLY_SLOT_TAKEN);
	return state == TALLY_SLOT_TAKEN && is_gone(pid) &&
	       atomic_compare_exchange_strong(&s->pid, &pid, getpid());
}

/* A free slot with this name. 0: there is no room. */
static uint32_t new_slot(struct tally_local *l, const char *name)
{
	struct tally_head *head = tally_head(l);
	uint32_t number = TALLY_GET(head->n_slots);
	struct tally_slot *s;

	do {
		if (number + 1 >= TALLY_SLOTS)
			return 0;
		if ((number + 1) % SLOTS_OF_PAGE == 0 &&
		    !reserve(1 + (number + 1) / SLOTS_OF_PAGE, 1))
			return 0;
	} while (!atomic_compare_exchange_weak(&head->n_slots, &number, number + 1));
	s = tally_slot(l->image, ++number);
	s->pid = getpid();
	s->is_worker = !name;
	if (name)
		memccpy(s->name, name, '\0', sizeof s->name - 1);
	else
		snprintf(s->name, sizeof s->name, "WorkerThread-%u", ++head->n_workers);
	atomic_store_explicit(&s->state, TALLY_SLOT_TAKEN, memory_order_release);
	return number;
}

__attribute__((cold))
struct tally_worker *tally_memory_thread(struct tally_local *l, const char *name)
{
	uint32_t n = TALLY_GET(tally_head(l)->n_slots), number = 1;
	struct tally_worker *t;
	bool is_new;

	while (number <= n && !take_slot(tally_slot(l->image, number), name))
		number++;
	is_new = number > n;
	if (is_new)
		number = new_slot(l, name);
	if (!number)
		return NULL;
	tally_slot(l->image, number)->pid = getpid();
	t = atomic_load_explicit(&l->thread[number], memory_order_acquire);
	return t ? t : new_thread(l, number, !is_new);
}

/* What threads share */

/* An entry of the last page of struct tally_more for locations. */
static uint32_t new_shared(struct tally_local *l, uint32_t location)
{
	struct tally_page *page = tally_page(l->image, l->shared_page);
	uint32_t n;

	if (!l->shared_page || TALLY_GET(page->n) == TALLY_MORES) {
		l->shared_page = new_page(l, TALLY_PAGE_SHARED);
		if (!l->shared_page)
			return 0;
		page = tally_page(l->image, l->shared_page);
	}
	n = TALLY_GET(page->n);
	page->location[n] = (uint16_t)location;
	atomic_store_explicit(&page->n, n + 1, memory_order_release);
	return l->shared_page * TALLY_MORES + n;
}

struct tally_more *tally_memory_shared(struct tally_local *l, uint32_t location,
				       struct tally_page **page)
{
	uint32_t at = atomic_load_explicit(&l->shared[location], memory_order_acquire);
	struct tally_guest g;

	if (!at) {
		tally_enter(&g);
		pthread_mutex_lock(&tally_lock);
		at = l->shared[location];
		if (!at) {
			at = new_shared(l, location);
			atomic_store_explicit(&l->shared[location], at, memory_order_release);
		}
		pthread_mutex_unlock(&tally_lock);
		tally_leave(&g);
	}
	*page = tally_page(l->image, at / TALLY_MORES);
	return at ? (struct tally_more *)tally_page_room(*page) + at % TALLY_MORES : NULL;
}

/* The entry of a link, or the free one where it belongs. */
static _Atomic uint32_t *find_link(struct tally_local *l, uint32_t pair)
{
	uint32_t h = pair * 2654435769u % TALLY_LINK_HASH, there;

	while ((there = TALLY_GET(l->link[h])) && there != pair)
		h = (h + 1) % TALLY_LINK_HASH;
	return &l->link[h];
}

/* Holding the lock. */
static void add_link(struct tally_local *l, uint32_t pair)
{
	struct tally_page *page = tally_page(l->image, l->link_page);
	_Atomic uint32_t *entry = find_link(l, pair), *links;
	uint32_t n = TALLY_GET(page->n);

	if (*entry || l->n_links == TALLY_LINKS_MAX)
		return;
	if (!l->link_page || n == TALLY_LINKS) {
		l->link_page = new_page(l, TALLY_PAGE_LINKS);
		page = tally_page(l->image, l->link_page);
		n = 0;
		if (!l->link_page)
			return;
	}
	links = tally_page_room(page);
	atomic_store_explicit(&links[n], pair, memory_order_relaxed);
	atomic_store_explicit(&page->n, n + 1, memory_order_release);
	*entry = pair;
	l->n_links++;
}

__attribute__((cold))
void tally_memory_link(struct tally_local *l, uint32_t parent, uint32_t child)
{
	uint32_t pair = tally_link(parent, child);
	struct tally_guest g;

	if (TALLY_GET(*find_link(l, pair)))
		return;
	tally_enter(&g);
	pthread_mutex_lock(&tally_lock);
	add_link(l, pair);
	pthread_mutex_unlock(&tally_lock);
	tally_leave(&g);
}
