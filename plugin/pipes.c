/* SPDX-License-Identifier: MIT */
#include "plugin/pipes.h"

#include "base/file.h"
#include "base/minmax.h"
#include "plugin/ticket.h"
#include "recording/store_join.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

/* The relay may be stopped, or wait for whoever reads the output. */
#define PATIENCE_MS 1000
#define INTERRUPTIONS 100
/* After the relay had no pipe, this many processes do without before make asks again. */
#define PAUSE 32
#define CLOSING_MAX 16

/* A relay to which this make is connected. */
struct relay_end {
	int fd;			/* -1: none, or no more */
	struct pipes_page *page;
	unsigned outputs;	/* 1 << fd of make's outputs that it reads */
	int32_t own[3];		/* the slot of each of these, -1: the relay's own pipe */
	unsigned wants;		/* pipes at a time: 1 at first, and more for a make that uses them */
	bool asked;		/* and not yet answered */
	bool slow;		/* the relay did not answer in time: it is not waited for */
	unsigned pause;
	unsigned n;		/* pipes in hand */
	uint16_t slot[PIPES_AT_ONCE];
	int pipe_fd[PIPES_AT_ONCE];
	unsigned n_closing;	/* of processes that have ended: see close_later() */
	int closing[CLOSING_MAX];
};

static struct {
	volatile sig_atomic_t busy;	/* talking to a relay, or between states */
	bool begun;
	unsigned outputs;	/* of make that relays read, as bits 1 << fd */
	unsigned noted;		/* those that each process has a pipe for, as recorded */
	bool collects;		/* make prints the output of its processes itself, later */
	struct relay_end relay[PIPES_RELAYS];
	/* of the next process */
	bool is_taken;
	unsigned taken_outputs;
	struct pipes_of taken;
} pipes;

/* Talking to a relay */

static void leave(struct relay_end *e)
{
	for (unsigned i = 0; i < e->n; i++)
		close(e->pipe_fd[i]);
	e->n = 0;
	pipes.outputs &= ~e->outputs;
	file_close(e->fd);
	e->fd = -1;
}

static bool send_message(struct relay_end *e, enum pipes_what what, unsigned n, unsigned slot)
{
	struct pipes_message m = { .what = (uint16_t)what, .n = (uint16_t)n, .slot = { (uint16_t)slot } };

	return send(e->fd, &m, sizeof m, MSG_NOSIGNAL) == sizeof m;
}

/* The descriptors of a message, which are moved away from the numbers that a program sees. Returns how
 * many. */
static unsigned take_descriptors(struct msghdr *h, int fd[PIPES_AT_ONCE])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(h);
	unsigned n = 0;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (unsigned)MIN((c->cmsg_len - CMSG_LEN(0)) / sizeof(int), PIPES_AT_ONCE);
	memcpy(fd, CMSG_DATA(c), n * sizeof(int));
	for (unsigned i = 0; i < n; i++)
		fd[i] = file_move_up(fd[i]);
	return n;
}

static void close_all(const int *fd, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		close(fd[i]);
}

/* A pipe that is given must be empty, and one of the page. */
static bool is_good(const struct relay_end *e, unsigned slot, int fd)
{
	struct stat st;
	int n;

	return slot < e->page->n && !fstat(fd, &st) && S_ISFIFO(st.st_mode) &&
	       st.st_ino == e->page->slot[slot].ino && !ioctl(fd, FIONREAD, &n) && !n;
}

static void take_pipes(struct relay_end *e, const struct pipes_message *m, const int *fd, unsigned n)
{
	unsigned room = PIPES_AT_ONCE - e->n;

	e->asked = false;
	e->slow = false;
	if (!m->n)
		e->pause = PAUSE;
	/* fewer descriptors came: the limit of this process was reached */
	for (unsigned i = 0; i < n; i++) {
		if (i >= m->n || i >= room || !is_good(e, m->slot[i], fd[i])) {
			close(fd[i]);
			continue;
		}
		e->slot[e->n] = m->slot[i];
		e->pipe_fd[e->n++] = fd[i];
	}
}

/* Receive one message. 1: done; 0: none in this time; -1: the relay has ended. ms < 0: wait. */
static int receive(struct relay_end *e, struct pipes_message *m, int *page_fd, int ms)
{
	union {
		struct cmsghdr align;
		char text[CMSG_SPACE(PIPES_AT_ONCE * sizeof(int))];
	} control;
	struct iovec part = { m, sizeof *m };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof control };
	struct pollfd p = { .fd = e->fd, .events = POLLIN };
	int fd[PIPES_AT_ONCE], ready = 1;
	unsigned n_fds;
	ssize_t n;

	/* the ends of other processes interrupt it */
	for (int i = 0; ms >= 0 && i < INTERRUPTIONS && (ready = poll(&p, 1, ms)) < 0 && errno == EINTR; i++)
		;
	if (ready <= 0)
		return 0;
	do {
		n = recvmsg(e->fd, &h, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	n_fds = n > 0 ? take_descriptors(&h, fd) : 0;
	if (n != sizeof *m) {
		close_all(fd, n_fds);
		return -1;
	}
	if (m->what == PIPES_WANT) {
		take_pipes(e, m, fd, n_fds);
	} else if (page_fd && n_fds == 1) {
		*page_fd = fd[0];
	} else {
		close_all(fd, n_fds);
	}
	return 1;
}

/* Beginning */

static bool map_page(struct relay_end *e, int page_fd)
{
	struct stat st;
	void *page;

	if (fstat(page_fd, &st) || st.st_size < (off_t)sizeof *e->page)
		return false;
	page = mmap(NULL, sizeof *e->page, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
	if (page == MAP_FAILED)
		return false;
	e->page = page;
	return e->page->version == PIPES_VERSION && e->page->n <= PIPES_MAX;
}

/* Is this output of make a pipe of the relay? *slot: which. */
static bool find_own(const struct pipes_page *page, const struct stat *st, int32_t *slot)
{
	*slot = -1;
	if (st->st_dev != page->dev)
		return false;
	if (st->st_ino == page->ino)
		return true;
	for (uint32_t i = 0; i < page->n; i++) {
		*slot = (int32_t)i;
		if (page->slot[i].ino == st->st_ino)
			return true;
	}
	return false;
}

static void find_outputs(struct relay_end *e, const struct stat *st, unsigned are_pipes)
{
	for (int fd = 1; fd <= 2; fd++) {
		if ((are_pipes & 1u << fd) && find_own(e->page, &st[fd], &e->own[fd]))
			e->outputs |= 1u << fd;
	}
	/* two pipes of one relay: what a process writes to them would be out of order */
	if (e->outputs == 6 && e->own[1] != e->own[2])
		e->outputs = 0;
}

static void ask(struct relay_end *e)
{
	if (e->asked || e->fd < 0)
		return;
	e->asked = send_message(e, PIPES_WANT, e->wants, 0);
	if (!e->asked)
		leave(e);
}

static bool meet(struct relay_end *e, struct slice ticket, unsigned relay, const struct stat *st,
		 unsigned are_pipes)
{
	struct timeval patience = { .tv_sec = PATIENCE_MS / 1000 };
	struct sockaddr_un address;
	struct pipes_message m;
	int page_fd = -1;
	bool met;

	if (!ticket_relay_address(&address, ticket, relay))
		return false;
	e->fd = file_move_up(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	if (e->fd >= 0)
		setsockopt(e->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	if (e->fd < 0 || connect(e->fd, (const struct sockaddr *)&address, sizeof address))
		return false;
	met = receive(e, &m, &page_fd, PATIENCE_MS) == 1 && page_fd >= 0 && map_page(e, page_fd);
	file_close(page_fd);
	if (!met)
		return false;
	find_outputs(e, st, are_pipes);
	return e->outputs;
}

static void find_relays(void)
{
	struct slice ticket = { NULL, 0 };
	unsigned are_pipes = 0;
	struct stat st[3];

	ticket.p = store_ticket_path(getenv("MAKEFILES"), &ticket.len);
	for (int fd = 1; fd <= 2; fd++) {
		if (!fstat(fd, &st[fd]) && S_ISFIFO(st[fd].st_mode))
			are_pipes |= 1u << fd;
	}
	for (unsigned i = 0; i < PIPES_RELAYS; i++) {
		struct relay_end *e = &pipes.relay[i];

		e->fd = -1;
		if (!ticket.p || !(are_pipes & ~pipes.outputs) || !meet(e, ticket, i, st, are_pipes)) {
			file_close(e->fd);
			e->fd = -1;
			continue;
		}
		e->wants = 1;
		pipes.outputs |= e->outputs;
		ask(e);
	}
}

bool pipes_begin(bool (*collects)(void))
{
	int saved = errno;

	if (pipes.begun)
		return pipes.outputs;
	pipes.begun = true;
	pipes.busy = 1;
	find_relays();
	pipes.collects = pipes.outputs && collects();
	pipes.busy = 0;
	errno = saved;
	return pipes.outputs;
}

bool pipes_collect(int output)
{
	return pipes.collects && pipes.outputs & 1u << output;
}

/* Processes */

/* Does make have an unused pipe of this relay? */
static bool has_pipe(struct relay_end *e)
{
	struct pipes_message m;

	if (e->pause) {
		e->pause--;
		return false;
	}
	if (!e->n)
		ask(e);
	while (e->fd >= 0 && !e->n && e->asked) {
		int r = receive(e, &m, NULL, e->slow ? 0 : PATIENCE_MS);

		if (r < 0)
			leave(e);
		if (r <= 0) {
			e->slow = true;
			return false;
		}
	}
	return e->n;
}

static bool add_dup(posix_spawn_file_actions_t *actions, const struct relay_end *e, int pipe_fd)
{
	for (int fd = 1; fd <= 2; fd++) {
		if ((e->outputs & 1u << fd) && posix_spawn_file_actions_adddup2(actions, pipe_fd, fd))
			return false;
	}
	return true;
}

static void close_ended(struct relay_end *e)
{
	close_all(e->closing, e->n_closing);
	e->n_closing = 0;
}

/* To wake the relay costs more than everything else. So pipes are closed when make asks for others, or has many, or
 * ends. */
static void close_later(struct relay_end *e, int fd)
{
	if (e->n_closing == CLOSING_MAX)
		close_ended(e);
	e->closing[e->n_closing++] = fd;
}

/* The last pipe in hand becomes that of the task. */
static void use_pipe(unsigned i, struct pipes_of *of, const struct store *store, uint64_t task)
{
	struct relay_end *e = &pipes.relay[i];
	struct pipes_slot *slot = &e->page->slot[e->slot[e->n - 1]];

	slot->task = task;
	slot->start_us = store_now_us(store);
	slot->parent = e->own[e->outputs & 2 ? 1 : 2];
	memcpy(slot->inst, store->inst, sizeof slot->inst);
	slot->state = PIPES_USED;
	slot->use++;
	of->slot[i] = (uint16_t)(e->slot[e->n - 1] + 1);
	of->fd[i] = (int16_t)e->pipe_fd[e->n - 1];
	e->n--;
	if (!e->n) {
		/* ask in advance, so that make does not wait for pipes */
		e->wants = MIN(2 * e->wants, PIPES_AT_ONCE);
		close_ended(e);
		ask(e);
	}
}

static bool can_use(struct relay_end *e)
{
	return e->fd >= 0 && e->outputs && has_pipe(e) && e->pipe_fd[e->n - 1] <= INT16_MAX;
}

static unsigned take_from(unsigned i, posix_spawn_file_actions_t *actions, const struct store *store,
			  uint64_t task)
{
	struct relay_end *e = &pipes.relay[i];

	if (!can_use(e) || !add_dup(actions, e, e->pipe_fd[e->n - 1]))
		return 0;
	use_pipe(i, &pipes.taken, store, task);
	return e->outputs;
}

void pipes_take(posix_spawn_file_actions_t *actions, const struct store *store, uint64_t task)
{
	int saved = errno;

	if (pipes.is_taken || pipes.busy || pipes.collects)
		return;
	pipes.busy = 1;
	pipes.is_taken = true;
	for (unsigned i = 0; i < PIPES_RELAYS; i++)
		pipes.taken_outputs |= take_from(i, actions, store, task);
	pipes.busy = 0;
	errno = saved;
}

static unsigned hand_over(struct pipes_of *of)
{
	unsigned outputs = pipes.taken_outputs;

	*of = pipes.taken;
	pipes.taken = (struct pipes_of){ 0 };
	pipes.is_taken = false;
	pipes.taken_outputs = 0;
	return outputs;
}

/* Readers look for the lines of a task without pipes among those of make. */
const char *pipes_started(struct pipes_of *of, enum pipes_output output, bool *of_task)
{
	static const char *const notes[] = { EVENT_NOTE_PIPE_OUT, EVENT_NOTE_PIPE_ERR, EVENT_NOTE_PIPES };
	unsigned has = hand_over(of);

	if (output == PIPES_COLLECTED)
		has = pipes.outputs;
	else if (output != PIPES_SHARED)
		return NULL;
	*of_task = pipes.noted;
	if ((has & pipes.noted) == pipes.noted && (pipes.noted || !has))
		return NULL;
	if (pipes.noted)
		return EVENT_NOTE_NO_PIPE;
	pipes.noted = has;
	return notes[has / 2 - 1];
}

void pipes_give_back(void)
{
	struct pipes_of of;

	if (!pipes.is_taken)
		return;
	hand_over(&of);
	pipes_ended(&of);
}

int pipes_lend(int output, struct pipes_of *of, const struct store *store, uint64_t task)
{
	int saved = errno, fd = -1;

	*of = (struct pipes_of){ 0 };
	if (pipes.busy)
		return -1;
	pipes.busy = 1;
	for (unsigned i = 0; i < PIPES_RELAYS && fd < 0; i++) {
		if (!(pipes.relay[i].outputs & 1u << output) || !can_use(&pipes.relay[i]))
			continue;
		use_pipe(i, of, store, task);
		fd = of->fd[i];
	}
	pipes.busy = 0;
	errno = saved;
	return fd;
}

/* Wait until the relay has read everything from the pipe. A handler that interrupts us does not do so
 * again. */
static void wait_for_reader(struct relay_end *e, unsigned slot)
{
	struct pipes_message m = { 0 };

	if (!send_message(e, PIPES_READ, 1, slot)) {
		leave(e);
		return;
	}
	do {
		if (receive(e, &m, NULL, -1) < 0) {
			leave(e);
			return;
		}
	} while (m.what != PIPES_READ);
}

static void end_one(struct relay_end *e, unsigned slot, int fd)
{
	int n;

	e->page->slot[slot].state = PIPES_ENDED;
	if (e->fd >= 0 && !ioctl(fd, FIONREAD, &n) && n > 0)
		wait_for_reader(e, slot);
	close_later(e, fd);
}

void pipes_ended(struct pipes_of *of)
{
	int saved = errno;
	bool interrupted = pipes.busy;

	for (unsigned i = 0; i < PIPES_RELAYS; i++) {
		unsigned slot = of->slot[i];

		of->slot[i] = 0;
		if (!slot)
			continue;
		if (interrupted) {
			close(of->fd[i]);
			continue;
		}
		pipes.busy = 1;
		end_one(&pipes.relay[i], slot - 1, of->fd[i]);
		pipes.busy = 0;
	}
	errno = saved;
}
