/* SPDX-License-Identifier: MIT */
#include "sampler/connector.h"

#include "base/minmax.h"
#include "sampler/thread.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* nlmsghdr, cn_msg and proc_event, one after the other and so not always aligned */
#define MESSAGE_AT sizeof(struct nlmsghdr)
#define EVENT_AT (MESSAGE_AT + sizeof(struct cn_msg))

static int listen_to(const struct connector *c, enum proc_cn_mcast_op op)
{
	char message[EVENT_AT + sizeof op] = { 0 };
	struct nlmsghdr header = { .nlmsg_len = sizeof message, .nlmsg_type = NLMSG_DONE,
				   .nlmsg_pid = (uint32_t)getpid() };
	struct cn_msg cn = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof op };

	memcpy(message, &header, sizeof header);
	memcpy(message + MESSAGE_AT, &cn, sizeof cn);
	memcpy(message + EVENT_AT, &op, sizeof op);
	return netlink_send(&c->netlink, message, sizeof message);
}

/* Each processor numbers its messages: the events, and the answers to any process that begins or
 * ends listening. In old kernels an answer has a number of its own, and no processor. */
static void count_lost(struct connector *c, uint32_t cpu, uint32_t number)
{
	if (cpu >= c->n_cpus)
		return;
	if (c->seen[cpu] && number - c->next[cpu] < UINT32_MAX / 2)
		c->lost += number - c->next[cpu];
	c->seen[cpu] = true;
	c->next[cpu] = number + 1;
}

static bool take_event(const struct proc_event *p, struct connector_event *e)
{
	e->time_ns = (int64_t)p->timestamp_ns;
	switch (p->what) {
	case PROC_EVENT_FORK:
		e->kind = CONNECTOR_FORK;
		e->pid = p->event_data.fork.child_tgid;
		e->tid = p->event_data.fork.child_pid;
		e->parent = p->event_data.fork.parent_tgid;
		return true;
	case PROC_EVENT_EXEC:
		e->kind = CONNECTOR_EXEC;
		e->pid = p->event_data.exec.process_tgid;
		e->tid = p->event_data.exec.process_pid;
		return true;
	case PROC_EVENT_EXIT:
		e->kind = CONNECTOR_EXIT;
		e->pid = p->event_data.exit.process_tgid;
		e->tid = p->event_data.exit.process_pid;
		e->status = (int32_t)p->event_data.exit.exit_code;
		return true;
	default:
		return false;
	}
}

bool connector_parse(struct connector *c, struct slice message, struct connector_event *e)
{
	struct proc_event event = { 0 };
	struct nlmsghdr header;
	struct slice body;
	struct cn_msg cn;

	if (!netlink_open_message(message, &header, &body) || body.len < sizeof cn)
		return false;
	memcpy(&cn, body.p, sizeof cn);
	body = (struct slice){ body.p + sizeof cn, body.len - sizeof cn };
	if (cn.id.idx != CN_IDX_PROC || cn.id.val != CN_VAL_PROC || cn.len > body.len ||
	    cn.len < offsetof(struct proc_event, event_data))
		return false;
	memcpy(&event, body.p, cn.len < sizeof event ? cn.len : sizeof event);
	count_lost(c, event.cpu, cn.seq);
	*e = (struct connector_event){ .status = -1 };
	return take_event(&event, e);
}

bool connector_next(struct connector *c, struct connector_event *e)
{
	struct slice message;

	while (netlink_next(&c->netlink, &message)) {
		if (connector_parse(c, message, e))
			return true;
	}
	return false;
}

uint64_t connector_lost(const struct connector *c)
{
	return MAX(c->lost, c->netlink.overruns);
}

/* The trial */

static bool next_tid(void *source, int32_t *tid)
{
	struct connector_event e;

	if (!connector_next(source, &e))
		return false;
	*tid = e.kind == CONNECTOR_FORK && e.pid == getpid() ? e.tid : 0;
	return true;
}

int connector_open(struct connector *c, int receive_bytes)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int r;

	*c = (struct connector)CONNECTOR_CLOSED;
	r = netlink_open(&c->netlink, NETLINK_CONNECTOR, CN_IDX_PROC, receive_bytes);
	if (r)
		return r;
	c->n_cpus = cpus > 0 ? (uint32_t)cpus : 1;
	c->next = calloc(c->n_cpus, sizeof *c->next);
	c->seen = calloc(c->n_cpus, sizeof *c->seen);
	r = c->next && c->seen ? listen_to(c, PROC_CN_MCAST_LISTEN) : -ENOMEM;
	if (!r)
		r = thread_is_reported(&c->netlink, next_tid, c);
	if (r)
		connector_close(c);
	return r;
}

/* The kernel counts the listeners, and reports events until the last one has left. */
void connector_close(struct connector *c)
{
	if (c->netlink.fd >= 0)
		listen_to(c, PROC_CN_MCAST_IGNORE);
	netlink_close(&c->netlink);
	free(c->next);
	free(c->seen);
	c->next = NULL;
	c->seen = NULL;
}
