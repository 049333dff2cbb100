/* SPDX-License-Identifier: MIT */
#include "sampler/pidserver.h"

#include "base/file.h"
#include "sampler/parse.h"
#include "sampler/root.h"
#include "sampler/running.h"
#include "sampler/tail.h"
#include "sampler/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEXT_CAP 4096
#define BACKLOG 128
#define RELATIVES_MAX 8
#define UNSETTLED_MAX 256
#define UNSETTLED_MS 20		/* between two looks for the lines of their tasks */
#define LOOKS_MAX 100
#define NO_ROOM_MS 100		/* before the next try, when there is no descriptor or memory */

/* A process above an instance that can be a task, whose line may be written later. */
struct relative {
	int32_t pid;
	int32_t host;		/* its parent */
	int32_t inner_pid;	/* its number in the PID namespace of its parent */
	unsigned looks;
};

/* What the thread needs, made for the first question. */
struct desk {
	struct store *store;
	struct root root;
	struct root_text text;
	struct tail tail;
	struct running *running;
	struct relative unsettled[UNSETTLED_MAX];
	size_t n_unsettled;
	bool prepared;
};

static bool prepare_desk(struct desk *d)
{
	if (d->running)
		return d->prepared;
	d->text = (struct root_text){ malloc(TEXT_CAP), 0, TEXT_CAP };
	d->running = calloc(1, sizeof *d->running);
	d->prepared = d->text.data && d->running && !root_open(&d->root, NULL, NULL) &&
		      root_is_ours(d->root.proc_fd) && !tail_open(&d->tail, d->store->dir_fd);
	return d->prepared;
}

static void release_desk(struct desk *d)
{
	root_close(&d->root);
	tail_close(&d->tail);
	free(d->text.data);
	free(d->running);
}

/* Tasks */

static void write_pid(struct desk *d, const struct running_task *task, int32_t pid)
{
	struct event_task e = { .pid = pid };
	char text[256];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	event_add_pid(&b, store_now_us(d->store), task->inst, task->seq, &e);
	store_append(d->store, &b);
}

static bool settle_relative(struct desk *d, const struct relative *p)
{
	struct running_task *task = running_find_inner(d->running, p->host, p->inner_pid);

	if (!task)
		return false;
	write_pid(d, task, p->pid);
	running_set_pid(d->running, task, p->pid);
	return true;
}

static void settle_all(struct desk *d)
{
	size_t left = 0;

	for (size_t i = 0; i < d->n_unsettled; i++) {
		if (!settle_relative(d, &d->unsettled[i]))
			d->unsettled[left++] = d->unsettled[i];
	}
	d->n_unsettled = left;
}

/* Called after each line, because a task can end with the next one. */
static bool take_line(void *ctx, struct slice line)
{
	struct desk *d = ctx;
	bool last = running_take(d->running, line);

	settle_all(d);
	return last;
}

static void follow_log(struct desk *d)
{
	const struct tail_taker taker = { take_line, d };

	if (d->prepared)
		tail_read(&d->tail, &taker);
}

/* Most of these processes are no tasks: the oldest are forgotten when the list is full. */
static void add_unsettled(struct desk *d, struct relative p)
{
	for (size_t i = 0; i < d->n_unsettled; i++) {
		if (d->unsettled[i].pid == p.pid)
			return;
	}
	if (d->n_unsettled == UNSETTLED_MAX)
		memmove(d->unsettled, d->unsettled + 1, --d->n_unsettled * sizeof p);
	d->unsettled[d->n_unsettled++] = p;
}

/* Answers */

static bool read_numbers(struct desk *d, int32_t pid, struct pid_numbers *out)
{
	return root_read_process(d->root.proc_fd, pid, "status", &d->text) &&
	       parse_pid_numbers(&d->text, out);
}

/* The process and those above it, up to the launcher. */
static void add_processes(struct desk *d, struct buf *b, int32_t pid)
{
	int32_t launcher = getpid();
	struct pid_numbers p, above;

	if (!read_numbers(d, pid, &p))
		return;
	for (size_t i = 1; i < RELATIVES_MAX && p.parent > 1 && p.parent != launcher; i++) {
		if (!read_numbers(d, p.parent, &above))
			return;
		if (above.n > 1 && above.n <= p.n)
			add_unsettled(d, (struct relative){ pid, p.parent, p.number[above.n - 1],
							    0 });
		pid = p.parent;
		buf_addc(b, ',');
		buf_addi(b, pid);
		p = above;
	}
}

static void answer(struct desk *d, int fd)
{
	struct ucred peer;
	socklen_t size = sizeof peer;
	char text[PIDSPACE_LIST_MAX];
	struct buf b;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || peer.pid <= 0)
		return;
	buf_init_fixed(&b, text, sizeof text);
	buf_addi(&b, peer.pid);
	if (prepare_desk(d))
		add_processes(d, &b, peer.pid);
	send(fd, text, b.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	settle_all(d);
}

/* The line of a task is late by milliseconds: what waits for longer is no task. */
static void forget_old(struct desk *d)
{
	size_t left = 0;

	for (size_t i = 0; i < d->n_unsettled; i++) {
		if (++d->unsettled[i].looks < LOOKS_MAX)
			d->unsettled[left++] = d->unsettled[i];
	}
	d->n_unsettled = left;
}

/* The connection stays in the queue, and poll() would return at once. Only the end is waited for. */
static void wait_for_room(int listener)
{
	struct pollfd p = { .fd = listener };

	if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		poll(&p, 1, NO_ROOM_MS);
}

static void serve_one(struct desk *d, int listener)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	int fd;

	if (!poll(&p, 1, d->n_unsettled ? UNSETTLED_MS : -1)) {
		forget_old(d);
		return;
	}
	fd = file_move_up(accept4(listener, NULL, NULL, SOCK_CLOEXEC));
	if (fd < 0) {
		wait_for_room(listener);
		return;
	}
	answer(d, fd);
	close(fd);
}

static void *serve(void *context)
{
	struct pidserver *p = context;
	struct desk desk = { .store = p->store, .root = ROOT_INIT,
			     .tail = { .fd = -1, .list_fd = -1 } };

	while (!atomic_load(&p->stop)) {
		serve_one(&desk, p->fd);
		follow_log(&desk);
	}
	release_desk(&desk);
	return NULL;
}

int pidserver_open(struct pidserver *p, struct slice ticket, struct store *store)
{
	int r;

	*p = (struct pidserver){ .store = store, .fd = -1 };
	if (!pidspace_address(&p->address, ticket))
		return -ENAMETOOLONG;
	p->fd = file_move_up(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	if (p->fd < 0)
		return -errno;
	r = bind(p->fd, (const struct sockaddr *)&p->address, sizeof p->address) ||
	    listen(p->fd, BACKLOG) ? -errno : 0;
	if (r)
		pidserver_stop(p);
	return r;
}

void pidserver_start(struct pidserver *p)
{
	if (p->fd < 0 || p->started)
		return;
	p->started = !thread_start(&p->thread, serve, p);
	if (!p->started)
		pidserver_stop(p);
}

void pidserver_stop(struct pidserver *p)
{
	if (p->fd < 0)
		return;
	atomic_store(&p->stop, true);
	shutdown(p->fd, SHUT_RDWR);	/* which ends poll() */
	if (p->started)
		pthread_join(p->thread, NULL);
	unlink(p->address.sun_path);
	close(p->fd);
	*p = (struct pidserver)PIDSERVER_CLOSED;
}
