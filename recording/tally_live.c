/* SPDX-License-Identifier: MIT */
/* The tallies of hosts from their memory: a file of the recording, or one that any process of the
 * same user can open through /proc while the host runs. */
#include "recording/tally_reader.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "recording/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct walk {
	struct tally_reader *r;
	unsigned shift;
	int error;
};

static void add_location(void *data, const struct tally_place *p, const char *texts)
{
	struct walk *w = data;

	/* The texts end in a NUL at these places, but the host could change them. */
	w->error = w->error ? w->error :
		tally_table_location(w->r, p->number, p->line,
				     (struct slice){ texts, p->function_len - 1u },
				     (struct slice){ texts + p->function_len, p->file_len - 1u });
}

static void add_slot(void *data, uint32_t number, const struct tally_slot *slot)
{
	struct walk *w = data;

	w->error = w->error ? w->error :
		tally_table_thread(w->r, number, (struct slice){
			slot->name, strnlen(slot->name, sizeof slot->name) });
}

static bool copy_histogram(uint64_t to[TALLY_BUCKETS], const _Atomic uint32_t *from, unsigned shift)
{
	if (!from)
		return false;
	memset(to, 0, TALLY_BUCKETS * sizeof *to);
	for (unsigned i = 0; i < TALLY_SMALL_BUCKETS; i++)
		to[i + shift] = TALLY_GET(from[i]);
	return true;
}

static void add_row(void *data, const struct tally_level *l)
{
	struct walk *w = data;
	struct tally_values *v = &w->r->scratch;
	int error;

	if (w->error)
		return;
	v->location = l->location;
	v->birth = l->birth;
	v->death = l->death;
	v->balance = l->balance;
	v->count = l->count;
	v->run_total = l->run_total;
	v->self_total = l->self_total;
	v->run_max = l->run_max;
	v->run_sample = l->run_sample;
	v->queue_total = l->queue_total;
	v->queue_max = l->queue_max;
	v->queue_sample = l->queue_sample;
	v->amount_total = l->amount_total;
	v->amount_max = l->amount_max;
	v->has_run = copy_histogram(v->run, l->run, w->shift);
	v->has_queue = copy_histogram(v->queue, l->queue, TALLY_TIME_SHIFT);
	error = tally_table_values(w->r, v);
	/* 1: of a location or thread that is newer than the walk */
	if (error < 0)
		w->error = error;
}

static void add_link(void *data, uint32_t parent, uint32_t child)
{
	struct walk *w = data;
	int error = w->error ? 0 : tally_table_link(w->r, parent, child);

	if (error < 0)
		w->error = error;
}

int tally_live_add(struct tally_reader *r, const void *image, size_t size)
{
	const struct tally_head *head = image;
	struct walk w = {
		.r = r, .shift = head->shift <= TALLY_BUCKETS - TALLY_SMALL_BUCKETS ? head->shift : 0,
	};
	struct tally_visitor v = {
		.data = &w, .location = add_location, .slot = add_slot, .row = add_row,
		.link = add_link,
	};

	tally_image_walk(image, size, &v);
	return w.error;
}

/* Texts of the head, which can be anything. */
static const char *word(struct tally_reader *r, const char *text, size_t size)
{
	return arena_text(r->arena, text, strnlen(text, size));
}

#define WORD(r, field) word(r, field, sizeof(field))

/* In a file whose lines were lost, the process has no line. */
static int set_process(struct tally_reader *r, const struct tally_head *head)
{
	struct tally_process *p = &r->t->process[r->process];

	if (p->pid >= 0)
		return 0;
	p->pid = MAX(head->pid, 0);
	p->clock = WORD(r, head->clock);
	p->unit = WORD(r, head->unit);
	p->amount = WORD(r, head->amount);
	p->amount_unit = WORD(r, head->amount_unit);
	return p->clock && p->unit && p->amount && p->amount_unit ? 0 : -ENOMEM;
}

/* Now, or when the host wrote its lines last: what it tallied since then came later. */
static int64_t time_of(const struct tally_head *head, bool runs)
{
	int64_t now_ns = runs ? clock_mono_ns() : TALLY_GET(head->seen_ns), ns;

	if (__builtin_sub_overflow(now_ns, head->start_ns, &ns) || ns < 0)
		return 0;
	return ns / 1000 < EVENT_TIME_MAX_US ? ns / 1000 + !runs : EVENT_TIME_MAX_US;
}

/* 1: it was added; 0: it is not that of the instance, or not in use. */
static int add_image(struct tally_reader *r, const void *image, size_t size, const char *inst,
		     bool runs)
{
	const struct tally_head *head = image;
	int error;

	if (memcmp(head->magic, TALLY_MAGIC, sizeof TALLY_MAGIC) ||
	    strncmp(head->inst, inst, sizeof head->inst) || !TALLY_GET(head->stamp))
		return 0;
	error = tally_table_at(r, time_of(head, runs), slice_of(inst), TALLY_GET(head->n_lost));
	if (!error)
		error = set_process(r, head);
	if (error || !r->applies)
		return error;
	r->host[r->process].image = true;
	error = tally_live_add(r, image, size);
	return error ? error : 1;
}

/* A copy, because a file can become shorter while it is mapped: a reader would be killed. Pages
 * behind those in use are left out, and holes are zeros. */
static int copy_image(void **image, size_t *size, int fd)
{
	const size_t least = (size_t)TALLY_PAGE * TALLY_FIRST_PAGE;
	const struct tally_head *head;
	struct stat st;
	size_t n = 0;
	ssize_t got;

	*image = NULL;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < (off_t)least)
		return -ESTALE;
	*size = (size_t)TALLY_PAGE * TALLY_PAGES;
	*size = st.st_size < (off_t)*size ? (size_t)st.st_size : *size;
	*image = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*image == MAP_FAILED) {
		*image = NULL;
		return -ENOMEM;
	}
	head = *image;
	while (n < *size && (n < TALLY_PAGE || n / TALLY_PAGE < TALLY_GET(head->n_pages))) {
		got = pread(fd, (char *)*image + n, n ? *size - n : TALLY_PAGE, (off_t)n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return 0;
}

/* As add_image(). Other files are ignored. */
static int add_fd(struct tally_reader *r, int fd, const char *inst, bool runs)
{
	size_t size = 0;
	void *image;
	int error = copy_image(&image, &size, fd);

	if (!error)
		error = add_image(r, image, size, inst, runs);
	if (image)
		munmap(image, size);
	return error == -ESTALE ? 0 : error;
}

/* Does the process still have this file open? */
static bool still_has(int32_t pid, const struct tally_host *h, char path[64])
{
	struct stat st;

	snprintf(path, 64, "/proc/%d/fd/%d", pid, h->fd);
	return pid > 0 && h->fd >= 0 && !stat(path, &st) && S_ISREG(st.st_mode) &&
	       st.st_ino == h->inode;
}

int tally_live_add_file(struct tally_reader *r, int dir_fd, const char *name, const char *inst)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), error;
	uint32_t process = name_table_find(&r->processes, slice_of(inst));
	char path[64];

	if (fd < 0)
		return 0;
	error = add_fd(r, fd, inst, process != NO_INDEX &&
		       still_has(r->t->process[process].pid, &r->host[process], path));
	close(fd);
	return error < 0 ? error : 0;
}

int tally_live_add_all(struct tally_reader *r)
{
	for (uint32_t i = 0; i < r->t->n_processes; i++) {
		int fd, error;
		char path[64];

		if (r->host[i].image || !still_has(r->t->process[i].pid, &r->host[i], path))
			continue;
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			continue;
		error = add_fd(r, fd, r->t->process[i].instance, true);
		close(fd);
		if (error < 0)
			return error;
	}
	return 0;
}

void tally_live_count(struct tally_reader *r, size_t *n_live)
{
	for (uint32_t i = 0; i < r->t->n_processes; i++) {
		struct tally_process *p = &r->t->process[i];
		const struct tally_host *h = &r->host[i];
		char path[64];
		bool runs = (h->image || h->in_memory) && still_has(p->pid, h, path);

		p->unfinished = !runs && (h->image || (h->in_memory && !h->closed));
		p->incomplete = p->unfinished && !h->image;
		if (n_live)
			*n_live += runs && h->image;
	}
}
