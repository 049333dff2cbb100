/* SPDX-License-Identifier: MIT */
#include "launch/relay_parts.h"

#include "base/file.h"
#include "base/minmax.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 64
#define MAKES_MAX 1024		/* connected at the same time */
#define DEPTH_MAX 100		/* of makes within makes */

/* What the relay knows of a pipe, besides the page. */
struct pipe_known {
	bool watched;
	bool met;		/* this use was met before: what make wrote before it has been read */
	uint32_t use;
	int64_t from_us;	/* it was empty then */
	struct output_source source;
};

static struct {
	const struct relay_pool *pool;	/* NULL: none */
	int slots_fd, makes_fd;	/* epoll */
	unsigned next;		/* the next pipe that may be free */
	unsigned n_makes;
	struct pipe_known known[PIPES_MAX];
} pipes = { .slots_fd = -1, .makes_fd = -1 };

static struct pipes_slot *slot_at(unsigned i)
{
	return &pipes.pool->page->slot[i];
}

/* Reading */

/* Makes write the page: what goes into the log has its form. */
static void take_writer(struct output_source *s, const struct pipes_slot *slot)
{
	size_t n = strnlen(slot->inst, sizeof slot->inst);

	s->inst[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		if (slot->inst[i] <= ' ' || slot->inst[i] > '~')
			return;
	}
	if (n == sizeof slot->inst)
		return;
	memcpy(s->inst, slot->inst, n + 1);
	s->task = slot->task;
}

static enum relay_step read_data(struct relay_worker *w, unsigned i)
{
	struct pipe_known *k = &pipes.known[i];
	ssize_t n;

	do {
		int64_t before_us = relay_now_us(w), from_us = k->from_us;

		n = relay_read(w, pipes.pool->fd[i]);
		if (n <= 0)
			return STEP_ON;
		/* a read that filled the buffer may have left older bytes */
		if (n < RELAY_BUFFER)
			k->from_us = before_us;
		if (!relay_put(w, &k->source, 0, (size_t)n, from_us, relay_now_us(w)))
			return STEP_BROKEN;
	} while (n == RELAY_BUFFER);
	return STEP_ON;
}

static enum relay_step read_slot(struct relay_worker *w, unsigned i, unsigned depth);

/* What make wrote before it started the process, such as its command, comes first. */
static enum relay_step read_before(struct relay_worker *w, unsigned i, unsigned depth)
{
	const struct pipes_slot *slot = slot_at(i);
	struct pipe_known *k = &pipes.known[i];
	int32_t parent = slot->parent;

	if (k->met && k->use == slot->use)
		return STEP_ON;
	k->met = true;
	k->use = slot->use;
	relay_log_settle(w);
	take_writer(&k->source, slot);
	k->from_us = MAX(k->from_us, MIN(slot->start_us, relay_now_us(w)));
	if (parent < 0)
		return relay_read_own(w);
	if ((uint32_t)parent >= pipes.pool->n || (unsigned)parent == i || depth > DEPTH_MAX)
		return STEP_ON;
	return read_slot(w, (unsigned)parent, depth + 1);
}

static enum relay_step read_slot(struct relay_worker *w, unsigned i, unsigned depth)
{
	enum relay_step s = read_before(w, i, depth);

	if (s == STEP_ON)
		relay_pipes_end_lines(w);
	return s == STEP_ON ? read_data(w, i) : s;
}

/* No process has the write end any more, and everything was read. */
static void free_slot(struct relay_worker *w, unsigned i)
{
	struct pipe_known *k = &pipes.known[i];

	relay_log_settle(w);
	output_writer_end(&w->writer, &k->source, relay_now_us(w));
	output_source_release(&k->source);
	slot_at(i)->state = PIPES_FREE;
}

enum relay_step relay_pipes_read(struct relay_worker *w)
{
	struct epoll_event event[EVENTS_AT_ONCE];
	int n = epoll_wait(pipes.slots_fd, event, EVENTS_AT_ONCE, 0);
	enum relay_step s = STEP_ON;

	for (int i = 0; i < n && s == STEP_ON; i++) {
		unsigned slot = event[i].data.u32;

		if (slot_at(slot)->state == PIPES_FREE)
			continue;
		if (event[i].events & EPOLLIN)
			s = read_slot(w, slot, 0);
		if (s == STEP_ON && (event[i].events & EPOLLHUP))
			free_slot(w, slot);
	}
	return s;
}

/* Is the slot that of a process below another one's? */
static bool is_below(unsigned i, unsigned above)
{
	int32_t at = (int32_t)i;

	for (unsigned depth = 0; at >= 0 && (uint32_t)at < pipes.pool->n && depth < DEPTH_MAX; depth++) {
		if ((unsigned)at == above)
			return true;
		at = slot_at((unsigned)at)->parent;
	}
	return false;
}

static enum relay_step read_below(struct relay_worker *w, unsigned above)
{
	enum relay_step s = read_slot(w, above, 0);

	for (unsigned i = 0; i < pipes.pool->n && s == STEP_ON; i++) {
		uint32_t state = slot_at(i)->state;

		if (i != above && (state == PIPES_USED || state == PIPES_ENDED) && is_below(i, above))
			s = read_slot(w, i, 0);
	}
	return s;
}

enum relay_step relay_pipes_read_all(struct relay_worker *w)
{
	enum relay_step s = STEP_ON;

	for (unsigned i = 0; pipes.pool && i < pipes.pool->n && s == STEP_ON; i++) {
		if (slot_at(i)->state == PIPES_USED || slot_at(i)->state == PIPES_ENDED)
			s = read_slot(w, i, 0);
	}
	return s;
}

bool relay_pipes_in_use(void)
{
	for (unsigned i = 0; pipes.pool && i < pipes.pool->n; i++) {
		struct pollfd p = { .fd = pipes.pool->fd[i], .events = POLLIN };

		/* not what the page says, which a make may have left unfinished */
		if (slot_at(i)->state != PIPES_FREE && (poll(&p, 1, 0) <= 0 || p.revents != POLLHUP))
			return true;
	}
	return false;
}

/* Lines */

/* The rest of a line may be in the pipe of a task that has ended. */
static bool has_data(unsigned i)
{
	int n;

	return !ioctl(pipes.pool->fd[i], FIONREAD, &n) && n > 0;
}

void relay_pipes_end_lines(struct relay_worker *w)
{
	if (!pipes.pool || (!relay_log_is_busy(w) && w->writer.n_held <= (w->own.n_held > 0)))
		return;
	for (unsigned i = 0; i < pipes.pool->n; i++) {
		struct output_source *s = &pipes.known[i].source;

		if ((!relay_log_is_busy(w) && !s->n_held) || slot_at(i)->state != PIPES_ENDED || has_data(i))
			continue;
		relay_log_settle(w);
		if (s->n_held)
			output_writer_end(&w->writer, s, relay_now_us(w));
	}
}

void relay_pipes_flush(struct relay_worker *w, int64_t before_us)
{
	for (unsigned i = 0; pipes.pool && i < pipes.pool->n; i++) {
		struct output_source *s = &pipes.known[i].source;

		if (s->n_held && s->held_to_us <= before_us)
			output_writer_flush(&w->writer, s);
	}
}

/* Makes */

static void watch(unsigned i)
{
	struct epoll_event e = { .events = EPOLLIN | EPOLLET, .data.u32 = i };

	if (!pipes.known[i].watched)
		pipes.known[i].watched = !epoll_ctl(pipes.slots_fd, EPOLL_CTL_ADD, pipes.pool->fd[i], &e);
}

static bool send_with(int make, const struct pipes_message *m, const int *fd, unsigned n)
{
	union {
		struct cmsghdr align;
		char text[CMSG_SPACE(PIPES_AT_ONCE * sizeof(int))];
	} control = { 0 };
	struct iovec part = { (void *)(uintptr_t)m, sizeof *m };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c;

	if (n) {
		h.msg_control = &control;
		h.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&h);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fd, n * sizeof(int));
	}
	return sendmsg(make, &h, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof *m;
}

/* Find a free pipe. Returns a write end, or -1 if all are in use. */
static int take_free(const struct relay_worker *w, unsigned *slot)
{
	for (unsigned n = 0; n < pipes.pool->n; n++) {
		unsigned i = pipes.next++ % pipes.pool->n;
		int fd;

		if (slot_at(i)->state != PIPES_FREE)
			continue;
		watch(i);
		fd = pipes.known[i].watched ? relay_pool_writer(pipes.pool, i) : -1;
		if (fd < 0)
			return -1;
		slot_at(i)->parent = -1;
		slot_at(i)->state = PIPES_GIVEN;
		pipes.known[i].met = false;
		pipes.known[i].from_us = relay_now_us(w);
		*slot = i;
		return fd;
	}
	return -1;
}

static bool give(const struct relay_worker *w, int make, unsigned wanted)
{
	struct pipes_message m = { .what = PIPES_WANT };
	int fd[PIPES_AT_ONCE];
	bool sent;

	for (unsigned slot = 0; m.n < MIN(wanted, PIPES_AT_ONCE); m.n++) {
		fd[m.n] = take_free(w, &slot);
		if (fd[m.n] < 0)
			break;
		m.slot[m.n] = (uint16_t)slot;
	}
	sent = send_with(make, &m, fd, m.n);
	for (unsigned i = 0; i < m.n; i++)
		close(fd[i]);
	return sent;
}

static void forget_make(int make)
{
	close(make);
	pipes.n_makes--;
}

static enum relay_step answer_make(struct relay_worker *w, int make)
{
	struct pipes_message m;
	enum relay_step s = STEP_ON;
	ssize_t n = recv(make, &m, sizeof m, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return STEP_ON;
	if (n != sizeof m) {
		forget_make(make);
		return STEP_ON;
	}
	if (m.what == PIPES_READ && m.slot[0] < pipes.pool->n)
		s = read_below(w, m.slot[0]);
	if (s == STEP_ON && !(m.what == PIPES_WANT ? give(w, make, m.n) : send_with(make, &m, NULL, 0)))
		forget_make(make);
	return s;
}

static void welcome(void)
{
	struct pipes_message m = { .what = PIPES_WELCOME };
	int make = file_move_up(accept4(pipes.pool->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK));
	struct epoll_event e = { .events = EPOLLIN, .data.fd = make };
	struct ucred peer;
	socklen_t size = sizeof peer;

	/* no descriptor is left: further makes get no pipes, and poll() does not return at once */
	if (make < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		epoll_ctl(pipes.makes_fd, EPOLL_CTL_DEL, pipes.pool->listen_fd, NULL);
	if (make < 0)
		return;
	if (pipes.n_makes == MAKES_MAX || getsockopt(make, SOL_SOCKET, SO_PEERCRED, &peer, &size) ||
	    peer.uid != geteuid() || !send_with(make, &m, &pipes.pool->page_fd, 1) ||
	    epoll_ctl(pipes.makes_fd, EPOLL_CTL_ADD, make, &e)) {
		close(make);
		return;
	}
	pipes.n_makes++;
}

enum relay_step relay_pipes_answer(struct relay_worker *w)
{
	struct epoll_event event[EVENTS_AT_ONCE];
	int n = epoll_wait(pipes.makes_fd, event, EVENTS_AT_ONCE, 0);
	enum relay_step s = STEP_ON;

	for (int i = 0; i < n && s == STEP_ON; i++) {
		if (event[i].data.fd == pipes.pool->listen_fd)
			welcome();
		else
			s = answer_make(w, event[i].data.fd);
	}
	return s;
}

void relay_pipes_nap(int64_t ns)
{
	struct pollfd p = { .fd = pipes.makes_fd, .events = POLLIN };

	ppoll(&p, 1, &(struct timespec){ 0, ns }, NULL);
}

void relay_pipes_begin(struct relay_worker *w, int fd[2])
{
	const struct relay_pool *p = &w->o->pool;
	struct epoll_event e = { .events = EPOLLIN, .data.fd = p->listen_fd };

	fd[0] = fd[1] = -1;
	if (!p->n)
		return;
	pipes.slots_fd = epoll_create1(EPOLL_CLOEXEC);
	pipes.makes_fd = epoll_create1(EPOLL_CLOEXEC);
	if (pipes.slots_fd < 0 || pipes.makes_fd < 0 || epoll_ctl(pipes.makes_fd, EPOLL_CTL_ADD, p->listen_fd, &e)) {
		file_close(pipes.slots_fd);
		file_close(pipes.makes_fd);
		pipes.makes_fd = -1;
		return;
	}
	pipes.pool = p;
	/* pipes that an earlier, killed relay gave to makes */
	for (unsigned i = 0; i < p->n; i++) {
		if (slot_at(i)->state != PIPES_FREE)
			watch(i);
	}
	fd[0] = pipes.slots_fd;
	fd[1] = pipes.makes_fd;
}
