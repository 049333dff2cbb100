/* SPDX-License-Identifier: MIT */
#include "launch/relay_pool.h"

#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "plugin/ticket.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* A sub-make uses one pipe for itself, and keeps some for its next processes. */
#define PIPES_LEAST 192
#define PIPES_PER_CORE 16
#define PIPES_WORTH 32
#define BACKLOG 128
#define USUAL_SIZE 65536
#define USUAL_PAGES 16		/* of a pipe, as Linux counts */
#define POOLS_SHARE 4		/* two pools take half of what a user may have, at most */

/* Linux counts the pages of all pipes of a user. Beyond a limit, each new pipe of any of his programs is small. */
static unsigned allowed_pipes(void)
{
	char text[24];
	uint64_t pages;
	struct cursor c;

	if (readfile_line(AT_FDCWD, "/proc/sys/fs/pipe-user-pages-soft", text, sizeof text) < 0)
		return PIPES_MAX;
	cursor_init(&c, text, strlen(text));
	if (!cursor_u64(&c, &pages) || !pages)
		return PIPES_MAX;
	return (unsigned)MIN(pages / USUAL_PAGES / POOLS_SHARE, PIPES_MAX);
}

static unsigned wanted_pipes(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = allowed_pipes();
	struct rlimit limit;

	n = (unsigned)MIN(PIPES_LEAST + PIPES_PER_CORE * MAX(cores, 1), (long)n);
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur / 4 < n)
		n = (unsigned)(limit.rlim_cur / 4);
	/* the rest of the recording needs some, too */
	return n < PIPES_WORTH ? 0 : n;
}

static bool add_pipe(struct relay_pool *p, int size)
{
	struct stat st;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return false;
	/* only this end: each writer gets one of its own */
	fcntl(fd[0], F_SETFL, O_NONBLOCK);
	if (size < USUAL_SIZE)
		fcntl(fd[1], F_SETPIPE_SZ, size);
	close(fd[1]);
	fd[0] = file_move_up(fd[0]);
	if (fstat(fd[0], &st)) {
		close(fd[0]);
		return false;
	}
	p->page->slot[p->n].ino = st.st_ino;
	p->fd[p->n++] = fd[0];
	return true;
}

static bool open_page(struct relay_pool *p, int in_fd)
{
	struct stat st;

	if (fstat(in_fd, &st))
		return false;
	p->page_fd = file_move_up(memfd_create("buildbeat-pipes", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (p->page_fd < 0 || ftruncate(p->page_fd, sizeof *p->page) ||
	    fcntl(p->page_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return false;
	p->page = mmap(NULL, sizeof *p->page, PROT_READ | PROT_WRITE, MAP_SHARED, p->page_fd, 0);
	if (p->page == MAP_FAILED) {
		p->page = NULL;
		return false;
	}
	p->page->version = PIPES_VERSION;
	p->page->ino = st.st_ino;
	p->page->dev = st.st_dev;
	return true;
}

static bool open_socket(struct relay_pool *p, const char *ticket, unsigned relay)
{
	struct sockaddr_un address;

	if (!ticket_relay_address(&address, slice_of(ticket), relay))
		return false;
	p->listen_fd = file_move_up(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	return p->listen_fd >= 0 && !bind(p->listen_fd, (const struct sockaddr *)&address, sizeof address) &&
		!listen(p->listen_fd, BACKLOG);
}

int relay_pool_writer(const struct relay_pool *p, unsigned slot)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", p->fd[slot]);
	return open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}

void relay_pool_open(struct relay_pool *p, const char *ticket, unsigned relay, int in_fd, int out_fd)
{
	int size = fcntl(out_fd, F_GETPIPE_SZ), fd;
	unsigned n = wanted_pipes();

	*p = (struct relay_pool)RELAY_POOL_NONE;
	if (!*ticket || !open_page(p, in_fd)) {
		relay_pool_close(p);
		return;
	}
	while (p->n < n && add_pipe(p, size > 0 ? size : USUAL_SIZE))
		;
	p->page->n = p->n;
	/* without /proc none can be used */
	fd = p->n ? relay_pool_writer(p, 0) : -1;
	file_close(fd);
	if (fd < 0 || !open_socket(p, ticket, relay))
		relay_pool_close(p);
}

void relay_pool_close(struct relay_pool *p)
{
	for (unsigned i = 0; i < p->n; i++)
		close(p->fd[i]);
	file_close(p->listen_fd);
	file_close(p->page_fd);
	if (p->page)
		munmap(p->page, sizeof *p->page);
	*p = (struct relay_pool)RELAY_POOL_NONE;
}
