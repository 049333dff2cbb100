/* SPDX-License-Identifier: MIT */
#include "launch/relay_parts.h"

#include "base/minmax.h"
#include "sampler/thread.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* Several pieces are logged at once, because a file system needs nearly twice the time for small writes. The thread
 * waits this long for them. */
#define AT_ONCE (RELAY_PIECES / 2)
#define GATHER_NS 1000000

/* The thread ends with the process. It and the rest of the relay use the writer in turns: the thread while pieces
 * wait for it. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;		/* filled: with the monotonic clock */
	bool hurry;		/* the relay waits */
	bool failed;		/* there can be no thread */
} logger = { .lock = PTHREAD_MUTEX_INITIALIZER, .emptied = PTHREAD_COND_INITIALIZER };

static struct relay_piece *piece_at(struct relay_page *page, uint32_t number)
{
	return &page->piece[number % RELAY_PIECES];
}

void relay_log_note(struct relay_worker *w)
{
	if (!w->page->log_error)
		w->page->log_error = w->writer.error;
	w->page->log_lost = w->writer.lost;
	w->page->held = w->writer.held_bytes;
}

static void add_piece(struct relay_worker *w, uint32_t number, struct output_source *from)
{
	struct relay_piece *p = piece_at(w->page, number);

	output_writer_add(&w->writer, from, p->data + p->begin, p->len - p->begin, p->from_us, p->to_us);
}

/* If the relay is killed meanwhile, the next one counts these pieces as lost, for they may be in the log. */
static void log_pieces(struct relay_worker *w, uint32_t end)
{
	uint32_t first = w->page->first;

	w->page->logging = end;
	w->writer.gather = true;
	for (uint32_t i = first; i != end; i++)
		add_piece(w, i, w->waiting[i % RELAY_PIECES]);
	output_writer_write(&w->writer);
	w->writer.gather = false;
	relay_log_note(w);
	for (uint32_t i = first; i != end; i++)
		piece_at(w->page, i)->len = 0;
}

/* With the lock. */
static uint32_t n_waiting(const struct relay_page *page)
{
	return page->next - page->first;
}

static void wait_for_pieces(const struct relay_page *page)
{
	struct timespec until;

	while (!n_waiting(page))
		pthread_cond_wait(&logger.filled, &logger.lock);
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += GATHER_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (n_waiting(page) < AT_ONCE && !logger.hurry &&
	       !pthread_cond_timedwait(&logger.filled, &logger.lock, &until))
		;
}

static void *run_logger(void *worker)
{
	struct relay_worker *w = worker;
	struct relay_page *page = w->page;

	pthread_mutex_lock(&logger.lock);
	for (;;) {
		uint32_t n;

		wait_for_pieces(page);
		n = MIN(n_waiting(page), AT_ONCE);
		pthread_mutex_unlock(&logger.lock);
		log_pieces(w, page->first + n);
		pthread_mutex_lock(&logger.lock);
		page->first += n;
		pthread_cond_signal(&logger.emptied);
	}
	return NULL;
}

static bool start_logger(struct relay_worker *w)
{
	pthread_condattr_t attr;
	pthread_t thread;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&logger.filled, &attr);
	pthread_condattr_destroy(&attr);
	return !thread_start(&thread, run_logger, w);
}

static bool has_thread(struct relay_worker *w)
{
	if (!w->threaded && !logger.failed) {
		w->threaded = start_logger(w);
		logger.failed = !w->threaded;
	}
	return w->threaded;
}

bool relay_log_is_busy(const struct relay_worker *w)
{
	return w->threaded && w->page->first != w->page->next;
}

/* Wait until at most so many pieces wait for the log. */
static void wait_for_room(struct relay_worker *w, uint32_t most)
{
	if (!w->threaded || n_waiting(w->page) <= most)
		return;
	pthread_mutex_lock(&logger.lock);
	logger.hurry = true;
	pthread_cond_signal(&logger.filled);
	while (n_waiting(w->page) > most)
		pthread_cond_wait(&logger.emptied, &logger.lock);
	logger.hurry = false;
	pthread_mutex_unlock(&logger.lock);
}

void relay_log_settle(struct relay_worker *w)
{
	wait_for_room(w, 0);
}

char *relay_space(struct relay_worker *w)
{
	wait_for_room(w, RELAY_PIECES - 1);
	return piece_at(w->page, w->page->next)->data;
}

static void log_now(struct relay_worker *w, uint32_t number, struct output_source *from)
{
	w->page->logging = number + 1;
	add_piece(w, number, from);
	relay_log_note(w);
	piece_at(w->page, number)->len = 0;
}

static void log_later(struct relay_worker *w, struct output_source *from)
{
	uint32_t n;

	w->waiting[w->page->next % RELAY_PIECES] = from;
	pthread_mutex_lock(&logger.lock);
	n = n_waiting(w->page);
	w->page->next++;
	if (!n || n + 1 == AT_ONCE)
		pthread_cond_signal(&logger.filled);
	pthread_mutex_unlock(&logger.lock);
}

void relay_log_add(struct relay_worker *w, struct output_source *from)
{
	struct relay_piece *p = piece_at(w->page, w->page->next);

	if (w->writer.log_fd < 0) {
		p->len = 0;
		return;
	}
	w->page->bytes += p->len - p->begin;
	if (relay_log_is_busy(w) || (p->len - p->begin >= RELAY_LARGE && has_thread(w))) {
		log_later(w, from);
	} else {
		log_now(w, w->page->next, from);
		w->page->logging = w->page->first;
	}
}

/* What it was logging may be in the log or not. */
static void count_lost(struct relay_worker *w)
{
	struct relay_page *page = w->page;

	w->writer.lost = page->log_lost + page->held + (page->reading ? RELAY_BUFFER : 0);
	for (uint32_t i = page->first; (int32_t)(page->logging - i) > 0; i++) {
		struct relay_piece *p = piece_at(page, i);

		w->writer.lost += p->len ? p->len - p->begin : 0;
		p->len = 0;
		page->first += page->first != page->next;
	}
	page->logging = page->first;
	if (w->writer.lost > page->log_lost && !page->log_error)
		page->log_error = RELAY_KILLED;
	page->torn += page->reading || page->writing;
	page->reading = page->writing = false;
}

/* Log a piece of an earlier relay, of which the source is not known any more. */
static void log_left(struct relay_worker *w, uint32_t number)
{
	const struct relay_piece *p = piece_at(w->page, number);
	struct output_source from = { .task = p->task };

	memcpy(from.inst, p->inst, sizeof from.inst);
	log_now(w, number, *from.inst ? &from : &w->own);
	output_writer_flush(&w->writer, &from);
	output_source_release(&from);
	relay_log_note(w);
}

void relay_log_begin(struct relay_worker *w, const struct store *store, bool shared)
{
	struct relay_page *page = w->page;

	w->writer.log_fd = w->writer.index_fd = -1;
	output_writer_open(&w->writer, store->dir_fd, w->o->stream, shared);
	count_lost(w);
	for (; page->first != page->next; page->first++)
		log_left(w, page->first);
	relay_log_note(w);
}

void relay_log_rest(struct relay_worker *w)
{
	const struct relay_piece *p = piece_at(w->page, w->page->next);

	if (!p->len)
		return;
	w->page->bytes += p->len - p->begin;
	log_left(w, w->page->next);
	w->page->logging = w->page->first;
}
