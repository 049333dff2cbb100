/* SPDX-License-Identifier: MIT */
#include "launch/relay_parts.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/minmax.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* A line that does not end is written after this time without a byte. */
#define HELD_MS 200

/* While much is written, each line does not wake the relay: its writer would pay for that. */
#define BUSY_NS 1000000
#define NAP_NS 100000
#define MUCH 16384

#define FOLLOW_READS 64

int64_t relay_now_us(const struct relay_worker *w)
{
	return (clock_mono_ns() - w->start_ns) / 1000;
}

/* Descriptors and signals */

static void close_between(int from, int to)
{
	if (from > to || !close_range((unsigned)from, (unsigned)to, 0))
		return;
	/* Linux before 5.9 */
	for (long max = sysconf(_SC_OPEN_MAX); from <= to && from < max; from++)
		close(from);
}

static int number_order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Keep only these: pipes of others must end when their writers end. */
static void keep_only(int *fd, size_t n)
{
	int from = 0;

	qsort(fd, n, sizeof *fd, number_order);
	for (size_t i = 0; i < n; i++) {
		if (fd[i] < 0)
			continue;
		close_between(from, fd[i] - 1);
		from = fd[i] + 1;
	}
	close_between(from, INT_MAX);
}

static void take_descriptors(struct relay_worker *w, int control_fd)
{
	const struct relay_pool *pool = &w->o->pool;
	int keep[PIPES_MAX + 7] = { w->o->in_fd, control_fd, w->writer.log_fd, w->writer.index_fd,
				    pool->listen_fd, pool->page_fd };
	int null;

	w->control_fd = control_fd;
	w->out_fd = file_copy(w->o->out_fd);
	keep[6] = w->out_fd;
	memcpy(keep + 7, pool->fd, pool->n * sizeof *keep);
	keep_only(keep, pool->n + 7);
	null = open("/dev/null", O_RDWR);
	for (int fd = null < 0 ? 3 : null + 1; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
}

/* All are blocked, as the launcher has arranged. A relay that writes to its terminal from the
 * background stops as the build would. */
static void take_signals(struct relay_worker *w)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTTOU);
	signal(SIGTTOU, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGCONT);
	w->signal_fd = w->o->terminal ? signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK) : -1;
}

/* Output */

static struct relay_piece *last_read(const struct relay_worker *w)
{
	return &w->page->piece[w->page->next % RELAY_PIECES];
}

/* False: nobody reads it any more. Other errors lose the bytes; the build goes on. */
static bool write_piece(struct relay_worker *w)
{
	struct relay_page *page = w->page;
	struct relay_piece *piece = last_read(w);

	page->writing = piece->done < piece->len;
	while (piece->done < piece->len) {
		ssize_t n = write(w->out_fd, piece->data + piece->done, piece->len - piece->done);
		struct pollfd p = { .fd = w->out_fd, .events = POLLOUT };

		if (n > 0) {
			piece->done += (uint32_t)n;
		} else if (n < 0 && errno == EPIPE) {
			return false;
		} else if (n < 0 && errno == EAGAIN) {
			poll(&p, 1, -1);
		} else if (n == 0 || errno != EINTR) {
			page->out_error = n ? -errno : -EIO;
			page->out_lost += piece->len - piece->done;
			piece->done = piece->len;
		}
	}
	page->writing = false;
	return true;
}

bool relay_put(struct relay_worker *w, struct output_source *from, size_t begin, size_t end, int64_t from_us,
	       int64_t to_us)
{
	struct relay_piece *p = last_read(w);

	p->begin = (uint32_t)begin;
	p->done = (uint32_t)(begin + MIN(w->teed, end - begin));
	w->teed = 0;
	p->from_us = from_us;
	p->to_us = to_us;
	memcpy(p->inst, from->inst, sizeof p->inst);
	p->task = from->task;
	p->len = (uint32_t)end;
	w->page->reading = false;
	if (!write_piece(w))
		return false;
	relay_log_add(w, from);
	return true;
}

/* Of a relay that was killed: what it had read. */
static enum relay_step write_rest(struct relay_worker *w)
{
	if (last_read(w)->len && !write_piece(w))
		return STEP_BROKEN;
	relay_log_rest(w);
	return STEP_ON;
}

/* Input */

/* From a pipe to a pipe, without a copy. Small pieces are copied, because each would take a whole page of the pipe. */
static void tee_large(struct relay_worker *w, int fd)
{
	int n;
	ssize_t done;

	if (!w->tees || w->last_read < RELAY_LARGE || ioctl(fd, FIONREAD, &n) || n < RELAY_LARGE)
		return;
	done = tee(fd, w->out_fd, RELAY_BUFFER, SPLICE_F_NONBLOCK);
	w->teed = done > 0 ? (size_t)done : 0;
}

ssize_t relay_read(struct relay_worker *w, int fd)
{
	char *data = relay_space(w);
	ssize_t n;

	w->page->reading = true;
	tee_large(w, fd);
	do {
		n = read(fd, data, RELAY_BUFFER);
	} while (n < 0 && errno == EINTR && w->teed);
	w->last_read = n;
	return n;
}

static bool has_input(const struct relay_worker *w)
{
	struct pollfd p = { .fd = w->o->in_fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* What was written before a change of modes is written to the terminal before it changes. */
static void follow_terminal(struct relay_worker *w)
{
	if (!has_input(w) || ++w->since_followed > FOLLOW_READS) {
		relay_tty_follow(&w->tty);
		w->since_followed = 0;
	}
}

static enum relay_step release_held(struct relay_worker *w)
{
	if (!w->o->terminal || !w->tty.held || has_input(w))
		return STEP_ON;
	relay_tty_release(&w->tty);
	relay_space(w)[0] = '\r';
	return relay_put(w, &w->own, 0, 1, w->from_us, relay_now_us(w)) ? STEP_ON : STEP_BROKEN;
}

/* In packet mode each read() begins with a byte about the pseudoterminal. The byte before is for
 * relay_tty_plain(). */
static enum relay_step read_terminal(struct relay_worker *w)
{
	char *data = relay_space(w), packet;
	int64_t from_us = w->from_us, before_us = relay_now_us(w);
	size_t begin, end;
	ssize_t n;

	w->page->reading = true;
	n = read(w->o->in_fd, data, RELAY_BUFFER);
	if (n <= 0)
		return n < 0 && errno == EINTR ? STEP_ON : STEP_END;
	packet = data[0];
	if (packet != 0 || n == 1) {
		follow_terminal(w);
		return STEP_ON;
	}
	end = relay_tty_plain(&w->tty, data, (size_t)n - 1, &begin);
	w->from_us = before_us;
	w->left -= w->ending && (uint32_t)n < w->left ? (uint32_t)n : w->left;
	if (end > begin && !relay_put(w, &w->own, begin, end, from_us, relay_now_us(w)))
		return STEP_BROKEN;
	follow_terminal(w);
	return release_held(w);
}

static enum relay_step read_some(struct relay_worker *w, size_t *len)
{
	int64_t from_us = w->from_us, before_ns = clock_mono_ns();
	ssize_t n = relay_read(w, w->o->in_fd);

	*len = n > 0 ? (size_t)n : 0;
	if (n <= 0)
		return n < 0 && errno == EINTR ? STEP_ON : STEP_END;
	/* a read that filled the buffer may have left older bytes */
	if (n < RELAY_BUFFER)
		w->from_us = (before_ns - w->start_ns) / 1000;
	w->left -= w->ending && (uint32_t)n < w->left ? (uint32_t)n : w->left;
	relay_pipes_end_lines(w);
	return relay_put(w, &w->own, 0, (size_t)n, from_us, relay_now_us(w)) ? STEP_ON : STEP_BROKEN;
}

enum relay_step relay_read_own(struct relay_worker *w)
{
	enum relay_step s = STEP_ON;
	int left = 0;

	if (w->ended || ioctl(w->o->in_fd, FIONREAD, &left))
		return STEP_ON;
	while (left > 0 && s == STEP_ON) {
		size_t n;

		s = read_some(w, &n);
		left -= (int)n;
	}
	return s;
}

static enum relay_step read_pipe(struct relay_worker *w)
{
	int64_t before_ns = clock_mono_ns();
	bool busy = before_ns - w->busy_ns < BUSY_NS;
	size_t n;
	enum relay_step s = read_some(w, &n);

	if (s != STEP_ON || !n)
		return s;
	w->busy_ns = before_ns;
	if (busy && n < MUCH && !w->ending)
		relay_pipes_nap(NAP_NS);
	return STEP_ON;
}

static enum relay_step read_input(struct relay_worker *w)
{
	return w->o->terminal ? read_terminal(w) : read_pipe(w);
}

/* The launcher */

static void hear(struct relay_worker *w)
{
	char byte;

	if (recv(w->control_fd, &byte, 1, MSG_DONTWAIT) == 1) {
		int size = fcntl(w->o->in_fd, F_GETPIPE_SZ);

		w->ending = true;
		w->left = size > 0 ? (uint32_t)size : RELAY_BUFFER;
		return;
	}
	close(w->control_fd);
	w->control_fd = -1;
}

static void close_log(struct relay_worker *w)
{
	relay_log_settle(w);
	relay_pipes_flush(w, INT64_MAX);
	output_writer_flush(&w->writer, &w->own);
	output_writer_close(&w->writer);
	relay_log_note(w);
}

/* All that was written before the command's end was relayed. Others may go on writing. */
static enum relay_step report_end(struct relay_worker *w)
{
	enum relay_step s = relay_pipes_read_all(w);
	char byte = 1;

	if (s != STEP_ON)
		return s;
	close_log(w);
	send(w->control_fd, &byte, 1, MSG_NOSIGNAL);
	close(w->control_fd);
	w->control_fd = -1;
	w->ending = false;
	return STEP_ON;
}

static void drain_signals(const struct relay_worker *w)
{
	struct signalfd_siginfo info;

	while (read(w->signal_fd, &info, sizeof info) > 0)
		;
}

static void flush_held(struct relay_worker *w, int64_t before_us)
{
	relay_log_settle(w);
	if (w->own.n_held && w->own.held_to_us <= before_us)
		output_writer_flush(&w->writer, &w->own);
	relay_pipes_flush(w, before_us);
	relay_log_note(w);
	w->flushed_us = relay_now_us(w);
}

/* Nobody has the command's pipe any more. */
static enum relay_step own_ended(struct relay_worker *w)
{
	w->ended = true;
	return relay_pipes_in_use() ? STEP_ON : STEP_END;
}

static enum relay_step step(struct relay_worker *w)
{
	struct pollfd p[6] = {
		{ .fd = w->ended ? -1 : w->o->in_fd, .events = POLLIN },
		{ .fd = w->control_fd, .events = POLLIN },
		{ .fd = w->signal_fd, .events = POLLIN },
		{ .fd = w->o->terminal ? -1 : w->out_fd },
		{ .fd = w->pipes_fd[0], .events = POLLIN },
		{ .fd = w->pipes_fd[1], .events = POLLIN },
	};
	bool may_hold = relay_log_is_busy(w) || w->writer.n_held;
	int n;
	enum relay_step s = STEP_ON;

	w->page->reading = false;
	n = poll(p, 6, w->ending ? 0 : may_hold || w->ended ? HELD_MS : -1);
	if (p[3].revents)
		return STEP_BROKEN;
	if (n == 0 && may_hold)
		flush_held(w, INT64_MAX);
	else if (may_hold && relay_now_us(w) - w->flushed_us > 1000 * HELD_MS)
		flush_held(w, relay_now_us(w) - 1000 * HELD_MS);
	if (p[1].revents)
		hear(w);
	if (p[2].revents)
		drain_signals(w);
	if (w->o->terminal && !p[0].revents)
		relay_tty_follow(&w->tty);
	if (p[4].revents)
		s = relay_pipes_read(w);
	if (s == STEP_ON && p[5].revents)
		s = relay_pipes_answer(w);
	if (s != STEP_ON)
		return s;
	if (w->ending && (!p[0].revents || !w->left))
		return report_end(w);
	/* another read may have taken it */
	if (p[0].revents && (!(p[4].revents || p[5].revents) || has_input(w)))
		s = read_input(w);
	if (s == STEP_END || (w->ended && (p[4].revents || !n)))
		return own_ended(w);
	return s;
}

_Noreturn void relay_process(struct relay_output *o, const struct store *store, int control_fd,
			     bool shared)
{
	static struct relay_worker w;
	enum relay_step s;

	w = (struct relay_worker){ .o = o, .page = o->page, .start_ns = store->start_ns };
	prctl(PR_SET_NAME, "buildbeat-relay");
	relay_log_begin(&w, store, shared);
	take_descriptors(&w, control_fd);
	take_signals(&w);
	w.tees = fcntl(w.out_fd, F_GETPIPE_SZ) > 0;
	w.tty = o->tty;
	w.tty.real_fd = w.out_fd;
	w.tty.master_fd = o->in_fd;
	relay_pipes_begin(&w, w.pipes_fd);
	/* from_us is 0: the build may have written before this process ran */
	for (s = write_rest(&w); s == STEP_ON;)
		s = step(&w);
	if (o->terminal)
		relay_tty_follow(&w.tty);
	close_log(&w);
	_exit(0);
}
