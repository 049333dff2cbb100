/* SPDX-License-Identifier: MIT */
#include "sampler/netlink.h"

#include "base/file.h"

#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define RECEIVE_BYTES (16 << 20)

static void set_room(int fd, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
}

int netlink_open(struct netlink *n, int protocol, uint32_t group, int receive_bytes)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = group };
	int r = 0;

	*n = (struct netlink)NETLINK_CLOSED;
	n->group = group;
	n->fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	if (n->fd < 0)
		return -errno;
	n->memory = malloc((size_t)NETLINK_BATCH * NETLINK_MESSAGE_MAX);
	set_room(n->fd, receive_bytes ? receive_bytes : RECEIVE_BYTES);
	if (!n->memory)
		r = -ENOMEM;
	else if (bind(n->fd, (const struct sockaddr *)&address, sizeof address))
		r = -errno;
	if (r)
		netlink_close(n);
	return r;
}

void netlink_close(struct netlink *n)
{
	file_close(n->fd);
	free(n->memory);
	n->fd = -1;
	n->memory = NULL;
}

int netlink_send(const struct netlink *n, const void *message, size_t len)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	ssize_t sent = sendto(n->fd, message, len, 0, (const struct sockaddr *)&kernel,
			      sizeof kernel);

	return sent < 0 ? -errno : (size_t)sent == len ? 0 : -EIO;
}

/* No process can have the kernel's number, 0, or send to a group with it. */
bool netlink_accepts(const struct netlink *n, const struct msghdr *received)
{
	const struct sockaddr_nl *sender = received->msg_name;

	return received->msg_namelen == sizeof *sender && sender->nl_family == AF_NETLINK &&
	       !sender->nl_pid && sender->nl_groups == n->group &&
	       !(received->msg_flags & MSG_TRUNC);
}

bool netlink_open_message(struct slice message, struct nlmsghdr *header, struct slice *body)
{
	if (message.len < NLMSG_HDRLEN)
		return false;
	memcpy(header, message.p, sizeof *header);
	if (header->nlmsg_len < NLMSG_HDRLEN || header->nlmsg_len > message.len)
		return false;
	*body = (struct slice){ message.p + NLMSG_HDRLEN, header->nlmsg_len - (size_t)NLMSG_HDRLEN };
	return true;
}

/* The kernel reports an overrun once, before the messages that it could keep. */
static void receive(struct netlink *n)
{
	struct sockaddr_nl sender[NETLINK_BATCH];
	struct iovec part[NETLINK_BATCH];
	struct mmsghdr message[NETLINK_BATCH];
	int got;

	for (size_t i = 0; i < NETLINK_BATCH; i++) {
		part[i] = (struct iovec){ n->memory + i * NETLINK_MESSAGE_MAX,
					  NETLINK_MESSAGE_MAX };
		message[i].msg_hdr = (struct msghdr){ .msg_name = &sender[i],
						      .msg_namelen = sizeof sender[i],
						      .msg_iov = &part[i], .msg_iovlen = 1 };
	}
	do {
		got = recvmmsg(n->fd, message, NETLINK_BATCH, MSG_DONTWAIT, NULL);
		n->overruns += got < 0 && errno == ENOBUFS;
	} while (got < 0 && (errno == EINTR || errno == ENOBUFS));
	n->at = 0;
	n->n = got > 0 ? (size_t)got : 0;
	for (size_t i = 0; i < n->n; i++)
		n->len[i] = netlink_accepts(n, &message[i].msg_hdr) ? message[i].msg_len : 0;
}

bool netlink_next(struct netlink *n, struct slice *message)
{
	do {
		if (n->at == n->n)
			receive(n);
		if (n->at == n->n)
			return false;
		*message = (struct slice){ n->memory + n->at * NETLINK_MESSAGE_MAX, n->len[n->at] };
		n->at++;
	} while (!message->len);
	return true;
}

bool netlink_wait(const struct netlink *n, int timeout_ms)
{
	struct pollfd p = { .fd = n->fd, .events = POLLIN };

	return n->at < n->n || poll(&p, 1, timeout_ms) > 0;
}
