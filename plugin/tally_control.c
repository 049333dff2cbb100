/* SPDX-License-Identifier: MIT */
/* Tallies of a session: switched on and off, phases, resets, and tally.log. */
#include "base/clock.h"
#include "base/file.h"
#include "base/minmax.h"
#include "plugin/session.h"
#include "plugin/tally_count.h"
#include "plugin/tally_parts.h"
#include "recording/layout.h"
#include "recording/lost.h"
#include "recording/tally_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INTERVAL_NS 5000000000		/* between two writings by heartbeats */
#define COST_FACTOR 200			/* and that many times as long as one took */
#define CHUNK 32768
#define BITS_PER_BYTE 8

/* The session that has the tallies, and what of them is in its tally.log. Protected by
 * tally_lock. */
static struct {
	struct buildbeat_session *owner;
	int32_t pid;		/* its process; a forked child inherits this struct */
	int64_t next_ns;
	bool all;		/* lines were lost: write every row next time */
	bool told_lost;
	uint32_t n_links;
	uint64_t n_lost;
	uint8_t location[TALLY_LOCATIONS / BITS_PER_BYTE], slot[TALLY_SLOTS / BITS_PER_BYTE];
} kept;

/* Writing */

struct log {
	struct buf b;
	struct buildbeat_session *s;
	const struct tally_head *head;
	int dir_fd, fd, r;
	int64_t now_us;
	bool begun;		/* the chunk has an "at" line */
	uint32_t n_links;
	char text[CHUNK];
};

static struct log log_memory;	/* large; protected by tally_lock */

static void open_log(struct log *g)
{
	const struct store *store = &g->s->store;
	char name[64] = LAYOUT_TALLY;
	struct stat st;

	/* Not store->dir_fd, which the host may have closed. */
	g->dir_fd = file_open_at(AT_FDCWD, store->path, O_RDONLY | O_DIRECTORY);
	if (store->flags & STORE_NFS)
		snprintf(name, sizeof name, LAYOUT_TALLY_PREFIX "-%s.log", store->inst);
	g->fd = g->dir_fd < 0 ? g->dir_fd :
		file_open_at(g->dir_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW);
	if (g->fd < 0)
		g->r = g->fd;
	else if (!fstat(g->fd, &st) && !st.st_size)
		buf_adds(&g->b, TALLY_HEADER);
}

/* A chunk is one write(), so that chunks of several hosts do not mix. */
static void write_chunk(struct log *g)
{
	int r = g->r ? g->r : buf_error(&g->b);

	if (!r)
		r = file_write(g->fd, g->b.data, g->b.len);
	buf_clear(&g->b);
	g->begun = false;
	if (!r)
		return;
	g->r = r;
	kept.all = true;
	if (!kept.told_lost && g->dir_fd >= 0)
		kept.told_lost = !lost_append_part(g->dir_fd, g->now_us, "tallies", r);
}

/* Room for a line, in a chunk that begins with an "at" line. */
static struct buf *line(struct log *g)
{
	if (g->fd == -1 && !g->r)
		open_log(g);
	if (g->b.len + TALLY_LOG_LINE_MAX > sizeof g->text)
		write_chunk(g);
	if (!g->begun)
		tally_log_at(&g->b, g->now_us, g->s->store.inst, TALLY_GET(g->head->n_lost));
	g->begun = true;
	return &g->b;
}

static void begin_log(struct log *g, struct buildbeat_session *s)
{
	buf_init_fixed(&g->b, g->text, sizeof g->text);
	g->s = s;
	g->head = tally_head(tally_here);
	g->dir_fd = g->fd = -1;
	g->r = 0;
	g->begun = false;
	g->now_us = store_now_us(&s->store);
}

static void end_log(struct log *g)
{
	if (g->b.len)
		write_chunk(g);
	file_close(g->fd);
	file_close(g->dir_fd);
}

/* False: it is set already. */
static bool set_bit(uint8_t *bits, uint32_t i)
{
	uint8_t bit = (uint8_t)(1u << i % BITS_PER_BYTE);

	if (bits[i / BITS_PER_BYTE] & bit)
		return false;
	bits[i / BITS_PER_BYTE] |= bit;
	return true;
}

static __attribute__((cold))
void log_location(void *data, const struct tally_place *place, const char *texts)
{
	if (set_bit(kept.location, place->number))
		tally_log_location(line(data), place, texts);
}

static __attribute__((cold))
void log_slot(void *data, uint32_t number, const struct tally_slot *slot)
{
	if (set_bit(kept.slot, number))
		tally_log_thread(line(data), number, slot->name);
}

static __attribute__((cold)) void log_row(void *data, const struct tally_level *l)
{
	struct log *g = data;

	tally_log_row(line(g), l, g->head->shift);
}

static __attribute__((cold)) void count_link(void *data, uint32_t parent, uint32_t child)
{
	(void)parent;
	(void)child;
	((struct log *)data)->n_links++;
}

static __attribute__((cold)) void log_link(void *data, uint32_t parent, uint32_t child)
{
	tally_log_link(line(data), parent, child);
}

static void walk_image(struct log *g, const struct tally_visitor *v)
{
	tally_image_walk(g->head, (size_t)TALLY_PAGES * TALLY_PAGE, v);
}

/* What changed since the last time. */
static void log_changes(struct log *g)
{
	struct tally_visitor links = { .data = g, .link = count_link };
	struct tally_visitor v = {
		.data = g, .changes = !kept.all, .location = log_location, .slot = log_slot,
		.row = log_row,
	};

	kept.all = false;
	g->n_links = 0;
	walk_image(g, &links);
	if (g->n_links != kept.n_links)
		v.link = log_link;
	kept.n_links = g->n_links;
	if (TALLY_GET(g->head->n_lost) != kept.n_lost)
		line(g);
	kept.n_lost = TALLY_GET(g->head->n_lost);
	walk_image(g, &v);
}

/* What the session has to say besides: may be NULL. */
static __attribute__((cold)) void write_log(struct buildbeat_session *s,
					    void (*say)(struct log *g, const char *text),
					    const char *text)
{
	struct log *g = &log_memory;
	int64_t start_ns = clock_mono_ns(), cost_ns;

	begin_log(g, s);
	tally_head(tally_here)->seen_ns = start_ns;
	log_changes(g);
	if (say) {
		g->now_us = store_now_us(&s->store);
		g->begun = false;
		say(g, text);
	}
	end_log(g);
	cost_ns = (clock_mono_ns() - start_ns) * COST_FACTOR;
	kept.next_ns = start_ns + MAX(cost_ns, INTERVAL_NS);
}

/* Control */

static bool is_owner(const struct buildbeat_session *s)
{
	return kept.owner == s && kept.pid == getpid() && tally_here->image;
}

static int32_t status_now(const struct buildbeat_session *s)
{
	if (!is_owner(s))
		return BUILDBEAT_TALLY_UNINITIALISED;
	return tally_head(tally_here)->key ? BUILDBEAT_TALLY_ACTIVE : BUILDBEAT_TALLY_DEACTIVATED;
}

static void name_clock(char *word, size_t word_size, char *unit, size_t unit_size,
		       const struct tally_clock *c, const char *host_unit)
{
	static const char words[][8] = { "", "wall", "cpu", "tsc", "faults", "host" };
	bool is_count = c->kind == BUILDBEAT_CLOCK_FAULTS;

	snprintf(word, word_size, "%s", words[c->kind]);
	snprintf(unit, unit_size, "%s", !c->kind ? "" : is_count ? "faults" :
		 c->kind == BUILDBEAT_CLOCK_HOST && host_unit ? host_unit : "ns");
}

static __attribute__((cold)) void say_host(struct log *g, const char *text)
{
	struct stat st = { 0 };
	int fd = tally_memory_fd();

	(void)text;
	if (fd >= 0 && fstat(fd, &st))
		fd = -1;
	tally_log_host(line(g), g->head, fd, (uint64_t)st.st_ino, tally_memory_is_kept());
}

static void zero_shared(void)
{
	struct tally_local *l = tally_here;

	for (uint32_t i = 0; i < TALLY_LOCATIONS; i++) {
		uint32_t at = TALLY_GET(l->shared[i]);
		struct tally_more *m = tally_page_room(tally_page(l->image, at / TALLY_MORES));

		if (!at)
			continue;
		m += at % TALLY_MORES;
		m->amount_total = m->amount_max = 0;
		for (unsigned b = 0; b < TALLY_SMALL_BUCKETS; b++)
			m->run[b] = m->queue[b] = 0;
	}
}

/* Rows are of another session from now on. */
static uint64_t next_stamp(struct tally_head *head)
{
	static uint32_t last;

	if (!last)
		last = (uint32_t)clock_mono_ns() | 1u << 31;
	last += 1 + (last == UINT32_MAX);
	zero_shared();
	head->n_lost = 0;
	return (uint64_t)last << 32;
}

static __attribute__((cold)) bool take_over(struct buildbeat_session *s,
					    const struct buildbeat_tallies *t)
{
	struct tally_local *l;
	struct tally_head *head;

	if (!tally_watch() || tally_memory_begin(&s->store))
		return false;
	l = tally_here;
	head = tally_head(l);
	l->clock.now = l->amount.now = t->now;
	l->clock.data = l->amount.data = t->data;
	tally_clock_set(&l->clock, t->clock);
	if (!l->clock.kind)
		tally_clock_set(&l->clock, BUILDBEAT_CLOCK_WALL);
	tally_clock_set(&l->amount, t->amount);
	name_clock(head->clock, sizeof head->clock, head->unit, sizeof head->unit, &l->clock,
		   t->unit);
	name_clock(head->amount, sizeof head->amount, head->amount_unit,
		   sizeof head->amount_unit, &l->amount, t->unit);
	head->shift = l->clock.kind == BUILDBEAT_CLOCK_FAULTS ||
		      l->clock.kind == BUILDBEAT_CLOCK_HOST ? 0 : TALLY_TIME_SHIFT;
	memcpy(head->inst, s->store.inst, sizeof head->inst);
	head->start_ns = s->store.start_ns;
	if (s->forks)
		tally_keep_forks(l);
	memset(&kept, 0, sizeof kept);
	kept.owner = s;
	kept.pid = getpid();
	head->stamp = next_stamp(head);
	write_log(s, say_host, NULL);
	return true;
}

__attribute__((cold))
int32_t tally_set(struct buildbeat_session *s, const struct buildbeat_tallies *t)
{
	int32_t status;

	pthread_mutex_lock(&tally_lock);
	if (kept.pid != getpid())
		kept.owner = NULL;
	if (t && getpid() == s->store.pid &&
	    (is_owner(s) || (!kept.owner && take_over(s, t))))
		tally_head(tally_here)->key = t->status == BUILDBEAT_TALLY_ACTIVE ?
			tally_head(tally_here)->stamp : 0;
	status = status_now(s);
	pthread_mutex_unlock(&tally_lock);
	return status;
}

/* Threads notice it when they tally next. */
static void restamp(_Atomic uint32_t *what)
{
	struct tally_head *head = tally_head(tally_here);
	uint64_t stamp = head->stamp, next = stamp >> 32 << 32 | (uint32_t)(stamp + 1);

	++*what;
	head->stamp = next;
	if (head->key)
		head->key = next;
}

static __attribute__((cold)) void say_phase(struct log *g, const char *name)
{
	restamp(&tally_head(tally_here)->window);
	tally_log_phase(line(g), name);
}

static __attribute__((cold)) void say_reset(struct log *g, const char *text)
{
	(void)text;
	restamp(&tally_head(tally_here)->epoch);
	zero_shared();
	tally_log_reset(line(g));
}

__attribute__((cold)) void tally_phase(struct buildbeat_session *s, const char *name)
{
	pthread_mutex_lock(&tally_lock);
	if (is_owner(s) && name)
		write_log(s, say_phase, name);
	pthread_mutex_unlock(&tally_lock);
}

__attribute__((cold)) void tally_reset(struct buildbeat_session *s)
{
	pthread_mutex_lock(&tally_lock);
	if (is_owner(s))
		write_log(s, say_reset, NULL);
	pthread_mutex_unlock(&tally_lock);
}

__attribute__((cold)) void tally_due(struct buildbeat_session *s)
{
	if (!tally_here || pthread_mutex_trylock(&tally_lock))
		return;
	if (is_owner(s))
		tally_head(tally_here)->seen_ns = clock_mono_ns();
	if (is_owner(s) && clock_mono_ns() >= kept.next_ns)
		write_log(s, NULL, NULL);
	pthread_mutex_unlock(&tally_lock);
}

static __attribute__((cold)) void say_close(struct log *g, const char *text)
{
	(void)text;
	tally_log_close(line(g));
}

__attribute__((cold)) void tally_close(struct buildbeat_session *s)
{
	if (!tally_here)
		return;
	pthread_mutex_lock(&tally_lock);
	if (is_owner(s)) {
		write_log(s, say_close, NULL);
		tally_head(tally_here)->key = 0;
		/* if lines were lost, only the image has it all, and remains that of this session */
		if (!kept.all) {
			tally_memory_forget(&s->store);
			tally_head(tally_here)->stamp = 0;
		}
	}
	if (kept.owner == s && kept.pid == getpid())
		kept.owner = NULL;
	pthread_mutex_unlock(&tally_lock);
}
