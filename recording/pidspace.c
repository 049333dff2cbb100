/* SPDX-License-Identifier: MIT */
#include "recording/pidspace.h"

#include "base/minmax.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define PATIENCE_S 1		/* the launcher may be stopped */
#define INTERRUPTIONS 100

uint64_t pidspace_own(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : st.st_ino;
}

bool pidspace_address(struct sockaddr_un *address, struct slice ticket)
{
	const char *slash = ticket.len ? memrchr(ticket.p, '/', ticket.len) : NULL;
	size_t len = slash ? (size_t)(slash - ticket.p) + 1 : 0;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (!len || len + sizeof PIDSPACE_SOCKET > sizeof address->sun_path)
		return false;
	memcpy(address->sun_path, ticket.p, len);
	strcpy(address->sun_path + len, PIDSPACE_SOCKET);
	return true;
}

static ssize_t ask_recorder(int fd, const struct sockaddr_un *address, char *list)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	ssize_t n = -1;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	if (connect(fd, (const struct sockaddr *)address, sizeof *address))
		return -1;
	for (int i = 0; i < INTERRUPTIONS && n < 0; i++) {
		n = recv(fd, list, PIDSPACE_LIST_MAX - 1, 0);
		if (n < 0 && errno != EINTR)
			break;
	}
	return n;
}

int32_t pidspace_ask(char list[PIDSPACE_LIST_MAX], struct slice ticket)
{
	struct sockaddr_un address;
	int saved = errno, fd = -1;
	struct cursor c;
	ssize_t n = -1;
	int64_t pid;

	if (pidspace_address(&address, ticket))
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		n = ask_recorder(fd, &address, list);
		close(fd);
	}
	errno = saved;
	list[MAX(n, 0)] = '\0';
	cursor_init(&c, list, strlen(list));
	if (cursor_i64(&c, &pid) && pid > 0 && pid <= INT32_MAX)
		return (int32_t)pid;
	list[0] = '\0';
	return -1;
}
