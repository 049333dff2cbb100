/* SPDX-License-Identifier: MIT */
#include "launch/relay_parts.h"

#include "base/file.h"
#include "launch/notice.h"
#include "recording/output_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESTARTS_MAX 100

static void close_fd(int *fd)
{
	file_close(*fd);
	*fd = -1;
}

/* The outputs */

static bool is_writable(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !(flags & O_PATH);
}

/* Two descriptors of one regular file may have positions of their own, unless they append. */
static bool are_same(int a, int b)
{
	struct stat sa, sb;
	long r;

	if (fstat(a, &sa) || fstat(b, &sb) || sa.st_dev != sb.st_dev || sa.st_ino != sb.st_ino)
		return false;
	if (!S_ISREG(sa.st_mode) || (fcntl(a, F_GETFL) & fcntl(b, F_GETFL) & O_APPEND))
		return true;
	r = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, (unsigned long)a, (unsigned long)b);
	if (r >= 0)
		return !r;
	return fcntl(a, F_GETFL) == fcntl(b, F_GETFL) &&
		lseek(a, 0, SEEK_CUR) == lseek(b, 0, SEEK_CUR);
}

/* Our pipe has the size of the original one, so that a writer waits for a slow reader as soon as it
 * would without us. Where nobody waits, as with a file, a larger one costs fewer changes of processes. */
static void set_size(int pipe_fd, int out_fd)
{
	int size = fcntl(out_fd, F_GETPIPE_SZ);
	struct stat st;

	if (size <= 0 && !fstat(out_fd, &st) && (S_ISREG(st.st_mode) || S_ISCHR(st.st_mode)))
		size = 2 * RELAY_BUFFER;
	if (size > 0)
		fcntl(pipe_fd, F_SETPIPE_SZ, size);
}

static int open_pipe(struct relay_output *o)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	o->in_fd = file_move_up(fd[0]);
	o->command_fd = file_move_up(fd[1]);
	set_size(o->command_fd, o->out_fd);
	return 0;
}

static int open_output(struct relay_output *o)
{
	int r;

	o->terminal = isatty(o->out_fd);
	r = o->terminal ? relay_tty_open(&o->tty, o->out_fd, &o->command_fd) : open_pipe(o);
	if (r)
		return r;
	o->in_fd = file_move_up(o->terminal ? o->tty.master_fd : o->in_fd);
	o->command_fd = file_move_up(o->command_fd);
	o->page = mmap(NULL, sizeof *o->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (o->page == MAP_FAILED)
		o->page = NULL;
	return o->page ? 0 : -ENOMEM;
}

static void close_output(struct relay_output *o)
{
	close_fd(&o->in_fd);
	close_fd(&o->command_fd);
	close_fd(&o->control_fd);
	relay_pool_close(&o->pool);
	if (o->page)
		munmap(o->page, sizeof *o->page);
	o->page = NULL;
}

/* The processes */

static int start_output(struct relay *r, struct relay_output *o)
{
	sigset_t all, before;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd))
		return -errno;
	fd[0] = file_move_up(fd[0]);
	fd[1] = file_move_up(fd[1]);
	/* no signal may end the relay before it has blocked them */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	o->pid = fork();
	if (!o->pid)
		relay_process(o, r->store, fd[1], r->n > 1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	close(fd[1]);
	if (o->pid < 0) {
		int error = -errno;

		o->pid = 0;
		close(fd[0]);
		return error;
	}
	o->control_fd = fd[0];
	return 0;
}

static void add_output(struct relay *r, int fd, enum output_stream stream)
{
	r->output[r->n++] = (struct relay_output){
		.stream = stream, .out_fd = fd, .in_fd = -1, .command_fd = -1, .control_fd = -1,
		.pool = RELAY_POOL_NONE,
	};
}

static void find_outputs(struct relay *r)
{
	bool out = is_writable(STDOUT_FILENO), err = is_writable(STDERR_FILENO);

	r->n = 0;
	if (out && err && are_same(STDOUT_FILENO, STDERR_FILENO)) {
		add_output(r, STDOUT_FILENO, OUTPUT_BOTH);
		return;
	}
	if (out)
		add_output(r, STDOUT_FILENO, OUTPUT_STDOUT);
	if (err)
		add_output(r, STDERR_FILENO, OUTPUT_STDERR);
}

int relay_begin(struct relay *r, const struct store *store, const char *ticket, struct error *err)
{
	int error = output_create(store->dir_fd);

	*r = (struct relay){ .store = store };
	if (error)
		return error_sys(err, error, OUTPUT_LOG, NULL);
	find_outputs(r);
	for (unsigned i = 0; i < r->n; i++) {
		struct relay_output *o = &r->output[i];

		error = open_output(o);
		if (error)
			goto out;
		/* without it, makes do as they would */
		if (!o->terminal)
			relay_pool_open(&o->pool, ticket, i, o->in_fd, o->out_fd);
	}
	for (unsigned i = 0; i < r->n; i++) {
		error = start_output(r, &r->output[i]);
		if (error)
			goto out;
	}
out:
	if (error) {
		/* A relay that has started ends with its input. */
		for (unsigned i = 0; i < r->n; i++)
			close_output(&r->output[i]);
		r->n = 0;
		return error_sys(err, error, OUTPUT_LOG, "cannot relay the build's output");
	}
	return 0;
}

void relay_enter(const struct relay *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		const struct relay_output *o = &r->output[i];

		dup2(o->command_fd, o->out_fd);
		if (o->stream == OUTPUT_BOTH)
			dup2(o->command_fd, STDERR_FILENO);
	}
}

void relay_entered(struct relay *r)
{
	for (unsigned i = 0; i < r->n; i++)
		close_fd(&r->output[i].command_fd);
}

/* The relay has ended. If it was killed, another one writes the rest. */
static void replace(struct relay *r, struct relay_output *o, int status)
{
	o->pid = 0;
	close_fd(&o->control_fd);
	if (WIFSIGNALED(status) && !start_output(r, o))
		return;
	close_fd(&o->in_fd);
	relay_pool_close(&o->pool);
}

void relay_tend(struct relay *r)
{
	for (unsigned i = 0; i < r->n; i++) {
		struct relay_output *o = &r->output[i];
		int status;

		if (o->pid && waitpid(o->pid, &status, WNOHANG) == o->pid)
			replace(r, o, status);
	}
}

/* True: the relay has relayed all. False: it was killed. */
static bool wait_for_output(struct relay *r, struct relay_output *o)
{
	char byte = 0;
	int status;
	ssize_t n;

	if (send(o->control_fd, &byte, 1, MSG_NOSIGNAL) == 1) {
		do {
			n = recv(o->control_fd, &byte, 1, 0);
		} while (n < 0 && errno == EINTR);
		if (n == 1)
			return true;
	}
	if (waitpid(o->pid, &status, 0) != o->pid)
		status = 0;
	replace(r, o, status);
	return !o->pid;
}

static void add_result(struct relay_result *result, const struct relay_page *page)
{
	result->bytes += page->bytes;
	result->log_lost += page->log_lost;
	result->out_lost += page->out_lost;
	result->torn += page->torn;
	if (!result->log_error)
		result->log_error = page->log_error;
	if (!result->out_error)
		result->out_error = page->out_error;
}

void relay_end(struct relay *r, struct relay_result *result)
{
	*result = (struct relay_result){ 0 };
	relay_entered(r);
	for (unsigned i = 0; i < r->n; i++) {
		struct relay_output *o = &r->output[i];

		for (unsigned n = 0; o->pid && n < RESTARTS_MAX && !wait_for_output(r, o); n++)
			;
		add_result(result, o->page);
		close_output(o);
	}
	r->n = 0;
}

void relay_print(const struct relay_result *result)
{
	if (result->log_error == RELAY_KILLED)
		notice("a relay was killed: at most %llu bytes are missing in " OUTPUT_LOG,
		       (unsigned long long)result->log_lost);
	if (result->torn)
		notice("a relay was killed: at most %llu bytes of the output are missing or repeated",
		       (unsigned long long)result->torn * RELAY_BUFFER);
	if (result->out_error)
		notice("%llu bytes of the build's output could not be written: %s",
		       (unsigned long long)result->out_lost, strerror(-result->out_error));
}
