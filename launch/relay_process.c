/* SPDX-License-Identifier: MIT */
#include "launch/relay.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/minmax.h"
#include "recording/output_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
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

struct worker {
	struct relay_output *o;
	struct relay_page *page;
	int64_t start_ns;	/* of the recording */
	int control_fd;		/* -1: the launcher has ended, or said what it had to */
	int signal_fd;		/* -1: the output is no terminal */
	int out_fd;
	bool ending;		/* the command has ended */
	uint32_t left;		/* then: more than this was not written before its end */
	int64_t from_us;	/* the input was empty then */
	int64_t busy_ns;	/* of the last read */
	struct relay_tty tty;
	unsigned since_followed;	/* reads since its size and modes were followed */
};

static struct output_writer writer;

static int64_t now_us(const struct worker *w)
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

/* Keep only these: pipes of others must end when their writers end. */
static void keep_only(int *fd, size_t n)
{
	int from = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = i + 1; k < n; k++) {
			int lower = MIN(fd[k], fd[i]);

			fd[k] = MAX(fd[i], fd[k]);
			fd[i] = lower;
		}
		if (fd[i] < 0)
			continue;
		close_between(from, fd[i] - 1);
		from = fd[i] + 1;
	}
	close_between(from, INT_MAX);
}

static void take_descriptors(struct worker *w, int control_fd)
{
	int null;

	w->control_fd = control_fd;
	w->out_fd = file_copy(w->o->out_fd);
	keep_only((int[]){ w->out_fd, w->o->in_fd, w->control_fd, writer.log_fd,
			   writer.index_fd }, 5);
	null = open("/dev/null", O_RDWR);
	for (int fd = null < 0 ? 3 : null + 1; fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
}

/* All are blocked, as the launcher has arranged. A relay that writes to its terminal from the
 * background stops as the build would. */
static void take_signals(struct worker *w)
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

static void log_page(struct worker *w, size_t begin, int64_t from_us, int64_t to_us)
{
	if (writer.log_fd < 0)
		return;
	w->page->bytes += w->page->len - begin;
	output_writer_add(&writer, w->page->data + begin, w->page->len - begin, from_us, to_us);
	w->page->log_error = writer.error;
	w->page->log_lost = writer.lost;
}

/* False: nobody reads it any more. Other errors lose the bytes; the build goes on. */
static bool write_page(struct worker *w)
{
	struct relay_page *page = w->page;

	while (page->done < page->len) {
		ssize_t n = write(w->out_fd, page->data + page->done, page->len - page->done);
		struct pollfd p = { .fd = w->out_fd, .events = POLLOUT };

		if (n > 0) {
			page->done += (uint32_t)n;
		} else if (n < 0 && errno == EPIPE) {
			return false;
		} else if (n < 0 && errno == EAGAIN) {
			poll(&p, 1, -1);
		} else if (n == 0 || errno != EINTR) {
			page->out_error = n ? -errno : -EIO;
			page->out_lost += page->len - page->done;
			page->done = page->len;
		}
	}
	return true;
}

static bool put_text(struct worker *w, size_t begin, size_t end, int64_t from_us, int64_t to_us)
{
	w->page->done = (uint32_t)begin;
	w->page->len = (uint32_t)end;
	if (!write_page(w))
		return false;
	log_page(w, begin, from_us, to_us);
	return true;
}

/* Input */

static bool has_input(const struct worker *w)
{
	struct pollfd p = { .fd = w->o->in_fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* What was written before a change of modes is written to the terminal before it changes. */
static void follow_terminal(struct worker *w)
{
	if (!has_input(w) || ++w->since_followed > FOLLOW_READS) {
		relay_tty_follow(&w->tty);
		w->since_followed = 0;
	}
}

enum step { STEP_ON, STEP_END, STEP_BROKEN };

static enum step release_held(struct worker *w)
{
	if (!w->o->terminal || !w->tty.held || has_input(w))
		return STEP_ON;
	relay_tty_release(&w->tty);
	w->page->data[0] = '\r';
	return put_text(w, 0, 1, w->from_us, now_us(w)) ? STEP_ON : STEP_BROKEN;
}

/* In packet mode each read() begins with a byte about the pseudoterminal. The byte before is for
 * relay_tty_plain(). */
static enum step read_terminal(struct worker *w)
{
	char *data = w->page->data, packet;
	int64_t from_us = w->from_us, before_us = now_us(w);
	ssize_t n = read(w->o->in_fd, data, RELAY_BUFFER);
	size_t begin, end;

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
	if (end > begin && !put_text(w, begin, end, from_us, now_us(w)))
		return STEP_BROKEN;
	follow_terminal(w);
	return release_held(w);
}

static enum step read_pipe(struct worker *w)
{
	int64_t from_us = w->from_us, before_ns = clock_mono_ns();
	ssize_t n = read(w->o->in_fd, w->page->data, RELAY_BUFFER);
	bool busy = before_ns - w->busy_ns < BUSY_NS;

	if (n <= 0)
		return n < 0 && errno == EINTR ? STEP_ON : STEP_END;
	/* a read that filled the buffer may have left older bytes */
	if (n < RELAY_BUFFER)
		w->from_us = (before_ns - w->start_ns) / 1000;
	w->left -= w->ending && (uint32_t)n < w->left ? (uint32_t)n : w->left;
	if (!put_text(w, 0, (size_t)n, from_us, now_us(w)))
		return STEP_BROKEN;
	w->busy_ns = before_ns;
	if (busy && n < MUCH && !w->ending)
		nanosleep(&(struct timespec){ 0, NAP_NS }, NULL);
	return STEP_ON;
}

static enum step read_input(struct worker *w)
{
	return w->o->terminal ? read_terminal(w) : read_pipe(w);
}

/* The launcher */

static void hear(struct worker *w)
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

/* All that was written before the command's end was relayed. Others may go on writing. */
static void report_end(struct worker *w)
{
	char byte = 1;

	output_writer_close(&writer);
	w->page->log_error = writer.error;
	w->page->log_lost = writer.lost;
	send(w->control_fd, &byte, 1, MSG_NOSIGNAL);
	close(w->control_fd);
	w->control_fd = -1;
	w->ending = false;
}

static void drain_signals(const struct worker *w)
{
	struct signalfd_siginfo info;

	while (read(w->signal_fd, &info, sizeof info) > 0)
		;
}

static enum step step(struct worker *w)
{
	struct pollfd p[4] = {
		{ .fd = w->o->in_fd, .events = POLLIN },
		{ .fd = w->control_fd, .events = POLLIN },
		{ .fd = w->signal_fd, .events = POLLIN },
		{ .fd = w->o->terminal ? -1 : w->out_fd },
	};
	int n = poll(p, 4, w->ending ? 0 : writer.n_held ? HELD_MS : -1);

	if (p[3].revents)
		return STEP_BROKEN;
	if (n == 0 && writer.n_held)
		output_writer_flush(&writer);
	if (p[1].revents)
		hear(w);
	if (p[2].revents)
		drain_signals(w);
	if (w->o->terminal && !p[0].revents)
		relay_tty_follow(&w->tty);
	if (w->ending && (!p[0].revents || !w->left)) {
		report_end(w);
		return STEP_ON;
	}
	return p[0].revents ? read_input(w) : STEP_ON;
}

_Noreturn void relay_process(struct relay_output *o, const struct store *store, int control_fd,
			     bool shared)
{
	struct worker w = { .o = o, .page = o->page, .start_ns = store->start_ns };
	enum step s = STEP_ON;

	prctl(PR_SET_NAME, "buildbeat-relay");
	writer.log_fd = writer.index_fd = -1;
	if (output_writer_open(&writer, store->dir_fd, o->stream, shared))
		o->page->log_error = writer.error;
	take_descriptors(&w, control_fd);
	take_signals(&w);
	w.tty = o->tty;
	w.tty.real_fd = w.out_fd;
	w.tty.master_fd = o->in_fd;
	/* from_us is 0: the build may have written before this process ran.
	 * What a relay that was killed had read */
	if (o->page->done < o->page->len && !write_page(&w))
		s = STEP_BROKEN;
	while (s == STEP_ON)
		s = step(&w);
	if (o->terminal)
		relay_tty_follow(&w.tty);
	output_writer_close(&writer);
	o->page->log_error = writer.error;
	o->page->log_lost = writer.lost;
	_exit(0);
}
