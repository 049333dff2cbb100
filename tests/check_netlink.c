/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "sampler/connector.h"
#include "sampler/netlink.h"
#include "sampler/taskstats.h"
#include "tests/support.h"

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

/*
 * Messages that are not from the kernel are ignored: other processes send forged ones to the
 * sockets. Where that is not permitted, or the connector is not available, the case passes
 * without a test.
 */

#define FORGED 0x7ffffff0	/* no process has this number */
#define FAMILY 0x1f

/* Messages as the kernel sends them */

struct forged {
	char data[2048];
	size_t len;
};

static void put(struct forged *f, const void *data, size_t len)
{
	ck_assert_uint_le(f->len + len, sizeof f->data);
	memcpy(f->data + f->len, data, len);
	f->len += len;
}

/* The header comes first and has the length. */
static void put_header(struct forged *f, uint16_t type)
{
	struct nlmsghdr h = { .nlmsg_type = type };

	*f = (struct forged){ .len = 0 };
	put(f, &h, sizeof h);
}

static void end_header(struct forged *f)
{
	uint32_t len = (uint32_t)f->len;

	memcpy(f->data + offsetof(struct nlmsghdr, nlmsg_len), &len, sizeof len);
}

static void make_event(struct forged *f, const struct proc_event *e, uint32_t number)
{
	struct cn_msg cn = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .seq = number, .len = sizeof *e };

	put_header(f, NLMSG_DONE);
	put(f, &cn, sizeof cn);
	put(f, e, sizeof *e);
	end_header(f);
}

static void make_exit_event(struct forged *f)
{
	struct proc_event e = { .what = PROC_EVENT_EXIT };

	e.event_data.exit.process_pid = FORGED;
	e.event_data.exit.process_tgid = FORGED;
	make_event(f, &e, 1000000);
}

static void put_attribute(struct forged *f, uint16_t type, const void *data, size_t len)
{
	struct nlattr a = { .nla_type = type, .nla_len = (uint16_t)(sizeof a + len) };

	put(f, &a, sizeof a);
	put(f, data, len);
}

/* values of any length, as kernel versions have them */
static void make_values(struct forged *f, uint16_t family, uint32_t tid, const void *figures,
			 size_t len)
{
	struct genlmsghdr generic = { .cmd = TASKSTATS_CMD_NEW, .version = 1 };
	struct nlattr both = { .nla_type = TASKSTATS_TYPE_AGGR_PID,
			       .nla_len = (uint16_t)(sizeof both + 8 + 4 + len) };

	put_header(f, family);
	put(f, &generic, sizeof generic);
	put(f, &both, sizeof both);
	put_attribute(f, TASKSTATS_TYPE_PID, &tid, sizeof tid);
	put_attribute(f, TASKSTATS_TYPE_STATS, figures, len);
	end_header(f);
}

/* Another process sends a message. False: it may not. */
static bool send_forged(int to_fd, int protocol, uint32_t group, const struct forged *f)
{
	struct sockaddr_nl to;
	socklen_t len = sizeof to;
	int status;
	pid_t pid;

	ck_assert_int_eq(getsockname(to_fd, (struct sockaddr *)&to, &len), 0);
	to.nl_pid = group ? 0 : to.nl_pid;
	to.nl_groups = group;
	pid = fork();
	if (!pid) {
		int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
		ssize_t n = sendto(fd, f->data, f->len, 0, (struct sockaddr *)&to, sizeof to);

		_exit(n == (ssize_t)f->len ? 0 : errno);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == EPERM)
		return false;
	/* a group got it before the kernel, which may not accept that protocol */
	if (group && WEXITSTATUS(status) == ECONNREFUSED)
		return true;
	ck_assert_msg(!WEXITSTATUS(status), "%s", strerror(WEXITSTATUS(status)));
	return true;
}

/* The socket */

TEST_LOOP(of_others_is_ignored, 2)
{
	uint32_t group = _i ? 2 : 0;
	struct slice message;
	struct forged f;
	struct netlink n;
	int r = netlink_open(&n, NETLINK_USERSOCK, group, 0);

	SKIP_IF(r == -EPERM);
	ck_assert_int_eq(r, 0);
	make_exit_event(&f);
	/* more than one read returns */
	for (unsigned i = 0; i < NETLINK_BATCH + 1; i++) {
		if (!send_forged(n.fd, NETLINK_USERSOCK, group, &f))
			break;
		ck_assert(netlink_wait(&n, 0));
	}
	ck_assert(!netlink_next(&n, &message));
	ck_assert(!netlink_wait(&n, 0));
	netlink_close(&n);
}

TEST(senders)
{
	static const struct {
		struct sockaddr_nl sender;
		socklen_t len;
		uint32_t group;
		int flags;
		bool accepted;
	} cases[] = {
		{ { .nl_family = AF_NETLINK }, sizeof(struct sockaddr_nl), 0, 0, true },
		{ { .nl_family = AF_NETLINK, .nl_groups = 1 }, sizeof(struct sockaddr_nl), 1, 0, true },
		{ { .nl_family = AF_NETLINK, .nl_pid = 1 }, sizeof(struct sockaddr_nl), 0, 0, false },
		{ { .nl_family = AF_NETLINK, .nl_groups = 2 }, sizeof(struct sockaddr_nl), 1, 0, false },
		{ { .nl_family = AF_NETLINK }, sizeof(struct sockaddr_nl), 1, 0, false },
		{ { .nl_family = AF_NETLINK, .nl_groups = 1 }, sizeof(struct sockaddr_nl), 0, 0, false },
		{ { .nl_family = AF_NETLINK }, sizeof(struct sockaddr_nl), 0, MSG_TRUNC, false },
		{ { .nl_family = AF_UNIX }, sizeof(struct sockaddr_nl), 0, 0, false },
		{ { .nl_family = AF_NETLINK }, 0, 0, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sockaddr_nl sender = cases[i].sender;
		struct netlink n = { .fd = -1, .group = cases[i].group };
		struct msghdr received = { .msg_name = &sender, .msg_namelen = cases[i].len,
					   .msg_flags = cases[i].flags };

		ck_assert_msg(netlink_accepts(&n, &received) == cases[i].accepted, "case %zu", i);
	}
}

/* Wrong lengths inside a message are not believed. */
TEST(claimed_lengths)
{
	static const uint32_t lengths[] = { 0, 1, 15, 17, 100, UINT32_MAX };
	struct nlmsghdr h = { 0 }, opened;
	struct slice body;

	ck_assert(!netlink_open_message((struct slice){ (char *)&h, 15 }, &opened, &body));
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		h.nlmsg_len = lengths[i];
		ck_assert(!netlink_open_message((struct slice){ (char *)&h, sizeof h }, &opened, &body));
	}
	h.nlmsg_len = sizeof h;
	ck_assert(netlink_open_message((struct slice){ (char *)&h, sizeof h }, &opened, &body));
	ck_assert_uint_eq(body.len, 0);
}

/* Events */

TEST(forged_event)
{
	struct connector_event e;
	struct connector c;
	struct forged f;

	SKIP_IF(connector_open(&c, 0));
	make_exit_event(&f);
	send_forged(c.netlink.fd, NETLINK_CONNECTOR, 0, &f);
	send_forged(c.netlink.fd, NETLINK_CONNECTOR, CN_IDX_PROC, &f);
	while (connector_next(&c, &e))
		ck_assert_int_ne(e.pid, FORGED);
	/* and no others are counted as lost */
	ck_assert_uint_lt(connector_lost(&c), 1000);
	connector_close(&c);
}

TEST(event_lengths)
{
	struct connector c = CONNECTOR_CLOSED;
	struct connector_event e;
	struct forged f;

	make_exit_event(&f);
	ck_assert(connector_parse(&c, (struct slice){ f.data, f.len }, &e));
	ck_assert_int_eq(e.pid, FORGED);
	for (size_t len = 0; len < f.len; len++) {
		char copy[sizeof f.data];

		memcpy(copy, f.data, len);
		ck_assert(!connector_parse(&c, (struct slice){ copy, len }, &e));
	}
}

/* The kernel numbers its answer to another listener like an event. In old kernels the answer has
 * a number of its own, and no processor. */
TEST(answers_are_numbered)
{
	static const struct {
		struct proc_event event;
		uint32_t number;
		uint64_t lost;		/* up to this message */
	} messages[] = {
		{ { .what = PROC_EVENT_EXIT, .cpu = 1 }, 10, 0 },
		{ { .what = PROC_EVENT_NONE, .cpu = 1 }, 11, 0 },
		{ { .what = PROC_EVENT_EXIT, .cpu = 1 }, 12, 0 },
		{ { .what = PROC_EVENT_NONE, .cpu = UINT32_MAX }, 700, 0 },
		{ { .what = PROC_EVENT_EXIT, .cpu = 1 }, 13, 0 },
		{ { .what = PROC_EVENT_NONE, .cpu = 0 }, 500, 0 },
		{ { .what = PROC_EVENT_EXIT, .cpu = 0 }, 502, 1 },
		{ { .what = PROC_EVENT_NONE, .cpu = 1 }, 16, 3 },
		{ { .what = PROC_EVENT_EXIT, .cpu = 1 }, 17, 3 },
	};
	uint32_t next[2] = { 0 };
	bool seen[2] = { false };
	struct connector c = { .next = next, .seen = seen, .n_cpus = 2 };
	struct connector_event e;
	struct forged f;

	for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
		make_event(&f, &messages[i].event, messages[i].number);
		ck_assert_int_eq(connector_parse(&c, (struct slice){ f.data, f.len }, &e),
				 messages[i].event.what == PROC_EVENT_EXIT);
		ck_assert_msg(connector_lost(&c) == messages[i].lost, "message %zu: %llu lost", i,
			      (unsigned long long)connector_lost(&c));
	}
}

/* The kernel answers them while we listen. */
TEST(other_listeners)
{
	struct connector c, other;
	struct connector_event e;

	SKIP_IF(connector_open(&c, 0));
	for (unsigned i = 0; i < 10; i++) {
		ck_assert_int_eq(connector_open(&other, 0), 0);
		connector_close(&other);
		while (connector_next(&c, &e))
			;
	}
	/* without root the socket is small */
	if (!c.netlink.overruns)
		ck_assert_uint_eq(connector_lost(&c), 0);
	connector_close(&c);
}

/* Values */

static void fill(struct taskstats *s, uint16_t version)
{
	*s = (struct taskstats){ .version = version, .cpu_count = 2, .cpu_delay_total = 30000,
		.cpu_run_virtual_total = 5000000, .ac_pid = FORGED, .ac_etime = 7000,
		.ac_utime = 4000, .nvcsw = 1, .hiwater_rss = 1234, .ac_tgid = FORGED - 1,
		.ac_tgetime = 9000 };
	strcpy(s->ac_comm, "forged");
}

TEST(forged_values)
{
	struct taskstats_listener t;
	struct taskstats_event e;
	struct taskstats s;
	struct forged f;

	SKIP_IF(taskstats_open(&t, 0));
	fill(&s, TASKSTATS_VERSION);
	make_values(&f, t.family, FORGED, &s, sizeof s);
	ck_assert(taskstats_parse((struct slice){ f.data, f.len }, t.family, &e));
	send_forged(t.netlink.fd, NETLINK_GENERIC, 0, &f);
	while (taskstats_next(&t, &e))
		ck_assert_int_ne(e.tid, FORGED);
	taskstats_close(&t);
}

/* As kernels have them: shorter, longer, and with more fields between. */
TEST(versions_of_values)
{
	static const struct {
		uint16_t version;
		size_t len, more;	/* after the waiting time for a processor */
	} cases[] = {
		{ 8, offsetof(struct taskstats, thrashing_count), 0 },
		{ 11, offsetof(struct taskstats, ac_tgid), 0 },
		{ 13, sizeof(struct taskstats), 0 },
		{ 14, sizeof(struct taskstats) + 16, 0 },
		{ 15, sizeof(struct taskstats) + 24, 24 },
		{ 16, sizeof(struct taskstats) + 48, 48 },
		{ 16, sizeof(struct taskstats) + 160, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t first = offsetof(struct taskstats, blkio_count), more = cases[i].more;
		char record[sizeof(struct taskstats) + 200];
		struct taskstats_event e;
		struct taskstats s;
		struct forged f;

		fill(&s, cases[i].version);
		memset(record, 0xff, sizeof record);
		memcpy(record, &s, first);
		memcpy(record + first + more, (char *)&s + first, sizeof s - first);
		make_values(&f, FAMILY, FORGED, record, cases[i].len);
		ck_assert_msg(taskstats_parse((struct slice){ f.data, f.len }, FAMILY, &e),
			      "version %u", cases[i].version);
		ck_assert_str_eq(e.name, "forged");
		ck_assert_int_eq(e.cpu.run_us, 5000);
		ck_assert_int_eq(e.cpu.wait_us, 30);
		ck_assert_int_eq(e.cpu.age_us, 7000);
		ck_assert(e.cpu.slept);
		ck_assert_int_eq(e.used.user_us, 4000);
		ck_assert_int_eq(e.used.max_rss_kb, 1234);
		ck_assert_int_eq(e.process_age_us, cases[i].version < 12 ? -1 : 9000);
	}
}

TEST(values_of_another_family)
{
	struct taskstats_event e;
	struct taskstats s;
	struct forged f;

	fill(&s, TASKSTATS_VERSION);
	make_values(&f, FAMILY, FORGED, &s, sizeof s);
	ck_assert(taskstats_parse((struct slice){ f.data, f.len }, FAMILY, &e));
	ck_assert(!taskstats_parse((struct slice){ f.data, f.len }, FAMILY + 1, &e));
	for (size_t len = 0; len < f.len; len++) {
		char copy[sizeof f.data];

		memcpy(copy, f.data, len);
		ck_assert(!taskstats_parse((struct slice){ copy, len }, FAMILY, &e));
	}
}

TEST_MAIN(netlink);
