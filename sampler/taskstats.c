/* SPDX-License-Identifier: MIT */
#include "sampler/taskstats.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "sampler/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/acct.h>
#include <linux/taskstats.h>
#include <stddef.h>
#include <string.h>

/* Requests: one attribute, a string */

struct request {
	struct nlmsghdr header;
	struct genlmsghdr generic;
	struct nlattr attribute;
	char text[256];
};

/* Numbers of our requests, repeated in their answers */
enum { ASK_FAMILY = 1, ASK_LISTEN };

static int ask_kernel(const struct netlink *n, uint32_t number, uint16_t type, uint8_t command,
		      uint16_t attribute, const char *text)
{
	size_t len = strlen(text) + 1;
	struct request r = {
		.header = { .nlmsg_type = type, .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
			    .nlmsg_seq = number },
		.generic = { .cmd = command, .version = 1 },
		.attribute = { (uint16_t)(NLA_HDRLEN + len), attribute },
	};

	if (len > sizeof r.text)
		return -ENAMETOOLONG;
	memcpy(r.text, text, len);
	r.header.nlmsg_len = (uint32_t)(offsetof(struct request, text) + NLA_ALIGN(len));
	return netlink_send(n, &r, r.header.nlmsg_len);
}

/* Attributes */

static bool next_attribute(struct slice *rest, uint16_t *type, struct slice *value)
{
	struct nlattr a;
	size_t padded;

	if (rest->len < sizeof a)
		return false;
	memcpy(&a, rest->p, sizeof a);
	if (a.nla_len < sizeof a || a.nla_len > rest->len)
		return false;
	*type = a.nla_type & NLA_TYPE_MASK;
	*value = (struct slice){ rest->p + NLA_HDRLEN, a.nla_len - (size_t)NLA_HDRLEN };
	padded = NLA_ALIGN(a.nla_len);
	padded = MIN(padded, rest->len);
	*rest = (struct slice){ rest->p + padded, rest->len - padded };
	return true;
}

static bool find_attribute(struct slice rest, uint16_t wanted, struct slice *value)
{
	uint16_t type;

	while (next_attribute(&rest, &type, value)) {
		if (type == wanted)
			return true;
	}
	return false;
}

/* The body of a generic message, if it is this command of that family. */
static bool open_generic(struct slice message, uint16_t family, uint8_t command,
			 struct slice *body)
{
	struct nlmsghdr header;
	struct genlmsghdr generic;

	if (!netlink_open_message(message, &header, body) || header.nlmsg_type != family ||
	    body->len < GENL_HDRLEN)
		return false;
	memcpy(&generic, body->p, sizeof generic);
	*body = (struct slice){ body->p + GENL_HDRLEN, body->len - (size_t)GENL_HDRLEN };
	return generic.cmd == command;
}

/* Opening */

/*
 * The answer to a request: its error, and the family's number if it contains one. Ends of threads
 * that are reported before it are skipped.
 */
static int answer(struct taskstats_listener *t, uint32_t number, uint16_t *family)
{
	struct slice message, body, value;
	struct nlmsghdr header;
	int error;

	while (netlink_wait(&t->netlink, 200)) {
		if (!netlink_next(&t->netlink, &message) ||
		    !netlink_open_message(message, &header, &body) || header.nlmsg_seq != number)
			continue;
		if (header.nlmsg_type == NLMSG_ERROR && body.len >= sizeof error) {
			memcpy(&error, body.p, sizeof error);
			return error;
		}
		if (open_generic(message, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, &body) &&
		    find_attribute(body, CTRL_ATTR_FAMILY_ID, &value) && value.len >= sizeof *family)
			memcpy(family, value.p, sizeof *family);
	}
	return -ETIMEDOUT;
}

/* "0-63" */
static int possible_cpus(char *text, size_t size)
{
	return readfile_line(AT_FDCWD, "/sys/devices/system/cpu/possible", text, size) > 0 ?
		0 : -ENOENT;
}

static int register_listener(struct taskstats_listener *t)
{
	uint16_t unused;
	char cpus[200];
	int r = possible_cpus(cpus, sizeof cpus);

	if (!r)
		r = ask_kernel(&t->netlink, ASK_FAMILY, GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
			       CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME);
	if (!r)
		r = answer(t, ASK_FAMILY, &t->family);
	if (!r && !t->family)
		r = -ENOENT;
	if (!r)
		r = ask_kernel(&t->netlink, ASK_LISTEN, t->family, TASKSTATS_CMD_GET,
			       TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus);
	return r ? r : answer(t, ASK_LISTEN, &unused);
}

static bool next_tid(void *source, int32_t *tid)
{
	struct taskstats_event e;

	if (!taskstats_next(source, &e))
		return false;
	*tid = e.tid;
	return true;
}

int taskstats_open(struct taskstats_listener *t, int receive_bytes)
{
	int r = netlink_open(&t->netlink, NETLINK_GENERIC, 0, receive_bytes);

	t->family = 0;
	if (r)
		return r;
	r = register_listener(t);
	if (!r)
		r = thread_is_reported(&t->netlink, next_tid, t);
	if (r)
		taskstats_close(t);
	return r;
}

void taskstats_close(struct taskstats_listener *t)
{
	netlink_close(&t->netlink);
}

/* Values */

/*
 * Versions 15 and 16 have new fields in front of those that we read. The number of the thread
 * shows where these are.
 */
static bool place_values(struct slice value, int32_t tid, struct taskstats *s)
{
	static const size_t shifts[] = { 0, 24, 48 };

	for (size_t i = 0; i < ARRAY_SIZE(shifts); i++) {
		size_t len = value.len > shifts[i] ? value.len - shifts[i] : 0;

		memset(s, 0, sizeof *s);
		memcpy(s, value.p + (value.len - len), len < sizeof *s ? len : sizeof *s);
		if (len <= offsetof(struct taskstats, nivcsw) || s->ac_pid != (uint32_t)tid)
			continue;
		/* the fields up to the waiting time are in front of the new ones */
		memcpy(s, value.p, offsetof(struct taskstats, blkio_count));
		return true;
	}
	return false;
}

static int64_t count_of(uint64_t n)
{
	return n < INT64_MAX ? (int64_t)n : -1;
}

/* The kernel counts both times whether delayacct is on or off, since 5.14. Where it does not, the
 * number of runs is 0. The age of the process has a field
 * since version 12. */
static void take_cpu(const struct taskstats *s, struct taskstats_event *e)
{
	e->cpu = (struct cputime_thread){
		.run_us = s->cpu_count ? count_of(s->cpu_run_virtual_total / 1000) : -1,
		.age_us = count_of(s->ac_etime),
		.wait_us = s->cpu_count ? count_of(s->cpu_delay_total / 1000) : -1,
		.slept = s->nvcsw != 0,
	};
	e->process_age_us = s->ac_tgid == s->ac_pid ? e->cpu.age_us :
		s->ac_tgid ? count_of(s->ac_tgetime) : -1;
}

static void take_usage(const struct taskstats *s, struct event_end *e)
{
	event_end_init(e, -1);
	e->user_us = count_of(s->ac_utime);
	e->system_us = count_of(s->ac_stime);
	/* of a fork without exec: mostly its parent's */
	*(s->ac_flag & AFORK ? &e->max_rss_at_most_kb : &e->max_rss_kb) = count_of(s->hiwater_rss);
	e->minor_faults = count_of(s->ac_minflt);
	e->major_faults = count_of(s->ac_majflt);
	e->in_blocks = count_of(s->read_bytes / 512);
	e->out_blocks = count_of(s->write_bytes / 512);
	e->voluntary_switches = count_of(s->nvcsw);
	e->involuntary_switches = count_of(s->nivcsw);
	e->rchar = count_of(s->read_char);
	e->wchar = count_of(s->write_char);
}

bool taskstats_parse(struct slice message, uint16_t family, struct taskstats_event *e)
{
	struct slice body, both, tid, value;
	struct taskstats columns;

	if (!open_generic(message, family, TASKSTATS_CMD_NEW, &body) ||
	    !find_attribute(body, TASKSTATS_TYPE_AGGR_PID, &both) ||
	    !find_attribute(both, TASKSTATS_TYPE_PID, &tid) || tid.len < sizeof e->tid ||
	    !find_attribute(both, TASKSTATS_TYPE_STATS, &value))
		return false;
	memcpy(&e->tid, tid.p, sizeof e->tid);
	if (!place_values(value, e->tid, &columns))
		return false;
	memcpy(e->name, columns.ac_comm, sizeof e->name - 1);
	e->name[sizeof e->name - 1] = '\0';
	take_usage(&columns, &e->used);
	take_cpu(&columns, e);
	return true;
}

bool taskstats_next(struct taskstats_listener *t, struct taskstats_event *e)
{
	struct slice message;

	while (netlink_next(&t->netlink, &message)) {
		if (taskstats_parse(message, t->family, e))
			return true;
	}
	return false;
}
