/* SPDX-License-Identifier: MIT */
#include "live/listener.h"

#include "base/file.h"
#include "base/trust.h"
#include "live/guard.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static int bad_address(const char *text, struct error *err)
{
	return error_say(err, -EINVAL, "the server cannot listen: expected ADDR:PORT with an address "
			 "in numbers, such as 127.0.0.1:8080 or [::1]:0, not '%.100s'",
			 text);
}

static int read_address(union address *a, socklen_t *len, const char *text, struct error *err)
{
	char number[64];
	const char *host;
	unsigned port;
	size_t n;

	if (!guard_split_host(text, &host, &n, &port) || n >= sizeof number ||
	    host[n + (*text == '[')] != ':')
		return bad_address(text, err);
	snprintf(number, sizeof number, "%.*s", (int)n, host);
	if (!strcasecmp(number, "localhost"))
		snprintf(number, sizeof number, "127.0.0.1");
	memset(a, 0, sizeof *a);
	if (*text != '[' && inet_pton(AF_INET, number, &a->in.sin_addr) == 1) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons((uint16_t)port);
		*len = sizeof a->in;
		return 0;
	}
	if (*text != '[' || inet_pton(AF_INET6, number, &a->in6.sin6_addr) != 1)
		return bad_address(text, err);
	a->in6.sin6_family = AF_INET6;
	a->in6.sin6_port = htons((uint16_t)port);
	*len = sizeof a->in6;
	return 0;
}

static bool is_loopback(const union address *a)
{
	return a->any.sa_family == AF_INET ? ntohl(a->in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET :
	       IN6_IS_ADDR_LOOPBACK(&a->in6.sin6_addr);
}

static int name_it(struct listener *l)
{
	union address a;
	socklen_t len = sizeof a;
	bool six;

	if (getsockname(l->fd, &a.any, &len))
		return -errno;
	six = a.any.sa_family == AF_INET6;
	inet_ntop(a.any.sa_family, six ? (void *)&a.in6.sin6_addr : (void *)&a.in.sin_addr, l->address,
		  sizeof l->address);
	snprintf(l->host, sizeof l->host, six ? "[%.61s]" : "%s", l->address);
	l->loopback = is_loopback(&a);
	l->any = six ? IN6_IS_ADDR_UNSPECIFIED(&a.in6.sin6_addr) : !a.in.sin_addr.s_addr;
	l->port = ntohs(six ? a.in6.sin6_port : a.in.sin_port);
	return 0;
}

static int read_allowed(union address *a, socklen_t *len, const char *text, bool everywhere, struct error *err)
{
	int r = read_address(a, len, text, err);

	if (!r && !is_loopback(a) && !everywhere)
		return error_say(err, -EPERM, "the server cannot listen: other machines can reach %.100s: "
				 "that needs serve with --tls-cert and --tls-key, or --insecure", text);
	return r;
}

static int open_address(struct listener *l, const char *text, bool everywhere, struct error *err)
{
	const int on = 1;
	union address a;
	socklen_t len;
	int r = read_allowed(&a, &len, text, everywhere, err);

	if (r)
		return r;
	l->fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd >= 0)
		setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (l->fd < 0 || bind(l->fd, &a.any, len) || listen(l->fd, BACKLOG))
		return error_sys(err, -errno, text, "the server cannot listen");
	r = name_it(l);
	return r ? error_sys(err, r, text, NULL) : 0;
}

/* Nobody listens on a socket that an ended server left. */
static int remove_stale(const union address *a, socklen_t len, const char *path, struct error *err)
{
	struct stat st;
	int fd, r;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : error_sys(err, -errno, path, NULL);
	if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return error_set(err, -EEXIST, path, 0, 0, "this is not a socket of yours; choose "
				 "another name");
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	r = fd < 0 || !connect(fd, &a->any, len) ? 0 : errno;
	file_close(fd);
	if (r != ECONNREFUSED)
		return error_set(err, -EADDRINUSE, path, 0, 0, "another server listens there");
	return unlink(path) ? error_sys(err, -errno, path, NULL) : 0;
}

static int read_path(char path[PATH_MAX], const char *given, struct error *err)
{
	const size_t most = sizeof ((struct sockaddr_un *)NULL)->sun_path - 1;

	if (file_absolute(path, given) || strlen(path) > most)
		return error_set(err, -ENAMETOOLONG, given, 0, 0, "the path of a unix socket has at most "
				 "%zu bytes", most);
	return 0;
}

/* Only in a directory that nobody else can write to; the socket never has more than mode 0600. */
static int open_unix(struct listener *l, const char *given, struct error *err)
{
	union address a = { .un.sun_family = AF_UNIX };
	char dir[PATH_MAX];
	socklen_t len = sizeof a.un;
	struct stat st;
	mode_t mask;
	int r = read_path(l->path, given, err);

	if (r)
		return r;
	memcpy(a.un.sun_path, l->path, strlen(l->path) + 1);
	snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(l->path, '/') - l->path), l->path);
	r = trust_path(*dir ? dir : "/", err);
	r = r ? r : remove_stale(&a, len, l->path, err);
	if (r)
		return r;
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	r = l->fd < 0 || bind(l->fd, &a.any, len) ? -errno : 0;
	umask(mask);
	if (r)
		return error_sys(err, r, l->path, "the server cannot listen");
	if (lstat(l->path, &st) || listen(l->fd, BACKLOG))
		return error_sys(err, -errno, l->path, "the server cannot listen");
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	return 0;
}

int listener_open(struct listener *l, const char *address, const char *path, bool everywhere,
		  struct error *err)
{
	int r;

	*l = (struct listener)LISTENER_INIT;
	r = path ? open_unix(l, path, err) :
	    open_address(l, address ? address : "127.0.0.1:0", everywhere, err);
	if (r)
		listener_close(l);
	return r;
}

int listener_check(const char *address, const char *path, bool everywhere, struct error *err)
{
	char absolute[PATH_MAX];
	union address a;
	socklen_t len;

	return path ? read_path(absolute, path, err) : read_allowed(&a, &len, address, everywhere, err);
}

void listener_close(struct listener *l)
{
	struct stat st;

	if (*l->path && l->ino && !lstat(l->path, &st) && st.st_dev == l->dev && st.st_ino == l->ino)
		unlink(l->path);
	file_close(l->fd);
	*l = (struct listener)LISTENER_INIT;
}

void listener_url(const struct listener *l, bool tls, const char *name, struct buf *out)
{
	if (*l->path)
		buf_addf(out, "unix:%s", l->path);
	else
		buf_addf(out, "%s://%s:%u/", tls ? "https" : "http", name ? name : l->host, l->port);
}
