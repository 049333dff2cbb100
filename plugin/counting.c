/* SPDX-License-Identifier: MIT */
#include "plugin/counting.h"

#include "base/buf.h"
#include "base/file.h"
#include "recording/store.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static int call(struct counting *c)
{
	return c->function(c->pid, c->file, c->actions, c->attr, c->argv, c->envp);
}

/* The counter is of the thread alone, and counts nothing there: it executes no program. */
static int count_and_call(void *context)
{
	struct counting *c = context;

	c->error = counter_open(&c->counter, c->event, 0);
	c->result = call(c);
	if (c->result)
		counter_close(&c->counter);
	return 0;
}

int counting_spawn(struct counting *c, char stack[COUNTING_STACK])
{
	c->counter = (struct counter)COUNTER_CLOSED;
	if (clone(count_and_call, stack + COUNTING_STACK, THREAD | CLONE_VFORK, c) < 0) {
		c->error = -errno;
		c->result = call(c);
	}
	return c->result;
}

static uint64_t inode_of(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISSOCK(st.st_mode) ? st.st_ino : 0;
}

/* SO_PASSCRED: the kernel adds the sender, with its number in our PID namespace. */
void counting_post_open(struct counting_post *p)
{
	const int yes = 1;
	int pair[2];

	*p = (struct counting_post)COUNTING_POST_CLOSED;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return;
	p->pid = getpid();
	p->in = file_move_up(pair[0]);
	p->out = file_move_up(pair[1]);
	p->in_inode = inode_of(p->in);
	p->out_inode = inode_of(p->out);
	setsockopt(p->in, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
}

void counting_post_leave(struct counting_post *p)
{
	if (p->in_inode && inode_of(p->in) == p->in_inode)
		close(p->in);
	p->in = -1;
}

void counting_post_close(struct counting_post *p)
{
	counting_post_leave(p);
	if (p->out_inode && inode_of(p->out) == p->out_inode)
		close(p->out);
	*p = (struct counting_post)COUNTING_POST_CLOSED;
}

/* Room for the descriptor and who sent it. */
union control {
	char text[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
	struct cmsghdr align;
};

int counting_post_send(const struct counting_post *p, enum counter_event event)
{
	char byte = 0;
	struct iovec text = { &byte, 1 };
	union control control = { .text = { 0 } };
	struct msghdr m = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = control.text,
		.msg_controllen = CMSG_SPACE(sizeof(int)),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	struct counter counter;
	int r;

	if (!p->out_inode || inode_of(p->out) != p->out_inode)
		return -ENOTSUP;
	r = counter_open(&counter, event, 0);
	if (r)
		return r;
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &counter.fd, sizeof(int));
	r = sendmsg(p->out, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
	close(counter.fd);
	return r;
}

bool counting_post_take(const struct counting_post *p, pid_t *child, struct counter *counter)
{
	char byte;
	struct iovec text = { &byte, 1 };
	union control control;
	struct msghdr m = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = control.text,
		.msg_controllen = sizeof control,
	};
	struct ucred sender = { .pid = 0 };
	int fd = -1;

	*counter = (struct counter)COUNTER_CLOSED;
	if (!p->in_inode || inode_of(p->in) != p->in_inode ||
	    recvmsg(p->in, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
		return false;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			memcpy(&fd, CMSG_DATA(c), sizeof fd);
		else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&sender, CMSG_DATA(c), sizeof sender);
	}
	*child = sender.pid;
	if (fd >= 0)
		counter_adopt(counter, fd);
	return true;
}

void counting_miss(struct counting_missed *m, int error)
{
	if (!atomic_fetch_add(&m->n, 1))
		atomic_store(&m->error, error);
}

int64_t counting_take(struct counter *c, enum counter_event event, struct counting_missed *m)
{
	int64_t n = counter_take(c, event);

	if (n < 0 && n != -ENODATA)
		counting_miss(m, (int)n);
	return n < 0 ? -1 : n;
}

void counting_add_missed(struct buf *b, const struct counting_missed *m)
{
	buf_adds(b, STORE_NOTE_PREFIX);
	buf_addf(b, "the instructions of %u tasks are unknown: ", m->n);
	buf_adds(b, counter_reason(m->error));
}
