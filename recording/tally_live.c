/* SPDX-License-Identifier: MIT */
/* The tallies of hosts that live, from their memory, which any process of the same user can open
 * through /proc. */
#include "recording/tally_reader.h"

#include "base/clock.h"
#include "base/str.h"

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

/* The descriptor of the image in the process, or a negative errno. It must be the same file, which
 * its owner cannot make shorter while it is mapped. */
static int open_image(int32_t pid, const struct tally_host *h, size_t *size)
{
	char path[64], target[64];
	struct stat st;
	ssize_t n;
	int fd, seals;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, h->fd);
	n = readlink(path, target, sizeof target - 1);
	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (!str_starts(target, "/memfd:" TALLY_MEMFD_NAME))
		return -ESTALE;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	seals = fcntl(fd, F_GET_SEALS);
	if (fstat(fd, &st) || st.st_ino != h->inode ||
	    st.st_size < (off_t)TALLY_PAGE * TALLY_FIRST_PAGE || seals < 0 ||
	    !(seals & F_SEAL_SHRINK)) {
		close(fd);
		return -ESTALE;
	}
	*size = (size_t)st.st_size;
	return fd;
}

/* 1: it was added; 0: it does not live any more, or -ENOMEM. */
static int add_process(struct tally_reader *r, uint32_t process)
{
	const struct tally_process *p = &r->t->process[process];
	const struct tally_head *head;
	size_t size = 0;
	int fd = p->pid > 0 && r->host[process].fd >= 0 ?
		open_image(p->pid, &r->host[process], &size) : -ENOENT;
	int error = 0;
	void *image;

	if (fd < 0)
		return 0;
	image = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (image == MAP_FAILED)
		return errno == ENOMEM ? -ENOMEM : 0;
	head = image;
	if (memcmp(head->magic, TALLY_MAGIC, sizeof TALLY_MAGIC) ||
	    strncmp(head->inst, p->instance, sizeof head->inst) || !TALLY_GET(head->stamp)) {
		munmap(image, size);
		return 0;
	}
	error = tally_table_at(r, (clock_mono_ns() - head->start_ns) / 1000, slice_of(p->instance),
			       TALLY_GET(head->n_lost));
	if (!error)
		error = tally_live_add(r, image, size);
	munmap(image, size);
	return error ? error : 1;
}

int tally_live_add_all(struct tally_reader *r, size_t *n_live)
{
	size_t n = r->t->n_processes, living = 0;

	for (uint32_t i = 0; i < n; i++) {
		int added = add_process(r, i);

		if (added < 0)
			return added;
		living += added > 0;
	}
	if (n_live)
		*n_live = living;
	return 0;
}
