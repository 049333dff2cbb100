/* SPDX-License-Identifier: MIT */
#include "launch/tracer.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/str.h"
#include "base/trust.h"
#include "launch/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STALL_NS 3000000000	/* without any progress */
#define LIMIT_NS 20000000000	/* in all */
#define NAP_NS 100000000

/* The memory that both processes share. */
struct tracer_page {
	_Atomic bool final;
	_Atomic uint64_t written;
	int result;
	struct error err;
};

static void nap(long ns)
{
	struct timespec ts = { 0, ns };

	nanosleep(&ts, NULL);
}

/* The file */

/* A descriptor that the launcher has may share its position with others. */
static bool is_descriptor(const char *file)
{
	return !strcmp(file, "/dev/stdout") || !strcmp(file, "/dev/stderr") ||
	       str_starts(file, "/dev/fd/") || str_starts(file, "/proc/self/fd/");
}

static int number_of(const char *file)
{
	int n;

	if (!strcmp(file, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(file, "/dev/stderr"))
		return STDERR_FILENO;
	return sscanf(strrchr(file, '/'), "/%d", &n) == 1 ? n : -1;
}

/* *fifo: the process opens it, because that waits for a reader. */
static int open_trace(const char *file, bool *fifo, struct error *err)
{
	struct stat st;
	int fd, r = 0;

	if (is_descriptor(file)) {
		fd = file_copy(number_of(file));
		return fd >= 0 ? fd : error_sys(err, fd, file, "cannot write");
	}
	if (!str_starts(file, "/dev/"))
		r = trust_path(file, err);
	if (r)
		return r;
	*fifo = !stat(file, &st) && S_ISFIFO(st.st_mode);
	if (*fifo)
		return -1;
	fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC, 0666);
	return fd >= 0 ? fd : error_sys(err, -errno, file, "cannot write");
}

/* Waits for a reader of the FIFO until the launcher ends, or its build. */
static int open_fifo(const char *file, pid_t launcher, const struct tracer_page *page,
		     struct error *err)
{
	int fd, tries = 0;

	while ((fd = open(file, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0 && errno == ENXIO) {
		if (getppid() != launcher || (atomic_load(&page->final) && tries++))
			return error_set(err, -ENXIO, file, 0, 0, "nobody reads the trace");
		nap(NAP_NS);
	}
	if (fd < 0)
		return error_sys(err, -errno, file, "cannot write");
	fcntl(fd, F_SETFL, O_WRONLY);
	return fd;
}

/* The process */

static _Noreturn void run_tracer(struct tracer *t, const char *recording, int fd, bool fifo,
				 tracer_function *function, const sigset_t *mask, pid_t launcher)
{
	struct tracer_page *page = t->page;
	int r = 0;

	fd = aside_settle("buildbeat-trace", fd, mask);
	if (fifo)
		r = fd = open_fifo(t->file, launcher, page, &page->err);
	if (r >= 0)
		r = function(recording, t->file, fd, &page->final, &page->written, &page->err);
	page->result = r < 0 ? r : 0;
	_exit(r < 0);
}

int tracer_begin(struct tracer *t, const char *file, const char *recording,
		 tracer_function *function, const sigset_t *mask, struct error *err)
{
	pid_t launcher = getpid();
	bool fifo = false;
	int fd = open_trace(file, &fifo, err);

	*t = (struct tracer){ .file = file };
	if (fd < 0 && !fifo)
		return fd;
	t->page = mmap(NULL, sizeof *t->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (t->page == MAP_FAILED)
		t->page = NULL;
	else
		t->pid = fork();
	if (t->page && !t->pid)
		run_tracer(t, recording, fd, fifo, function, mask, launcher);
	file_close(fd);
	if (t->page && t->pid > 0)
		return 0;
	t->pid = 0;
	return error_sys(err, t->page ? -errno : -ENOMEM, file, "cannot write");
}

/* The launcher */

/* True: it has ended. */
static bool has_ended(struct tracer *t, int *status)
{
	pid_t pid = waitpid(t->pid, status, WNOHANG);

	return pid == t->pid || (pid < 0 && errno != EINTR);
}

static void release_tracer(struct tracer *t)
{
	if (t->page)
		munmap(t->page, sizeof *t->page);
	*t = (struct tracer){ 0 };
}

static int result_of(const struct tracer *t, int status, struct error *err)
{
	int r = t->page->result;

	if (WIFSIGNALED(status))
		return error_set(err, -EINTR, t->file, 0, 0, "its process was killed by signal %d",
				 WTERMSIG(status));
	if (r == -EPIPE)
		return error_set(err, r, t->file, 0, 0, "its reader closed it");
	*err = t->page->err;
	if (r && !*err->path)
		snprintf(err->path, sizeof err->path, "%s", t->file);
	return r;
}

int tracer_end(struct tracer *t, struct error *err)
{
	int64_t now_ns = clock_mono_ns(), end_ns = now_ns + LIMIT_NS, stalled_ns = now_ns + STALL_NS;
	uint64_t written = 0;
	int status = 0, r;

	if (!t->pid)
		return 0;
	atomic_store(&t->page->final, true);
	while (!has_ended(t, &status)) {
		now_ns = clock_mono_ns();
		if (atomic_load(&t->page->written) != written) {
			written = atomic_load(&t->page->written);
			stalled_ns = now_ns + STALL_NS;
		}
		if (now_ns > stalled_ns || now_ns > end_ns) {
			r = error_set(err, -ETIMEDOUT, t->file, 0, 0, "it could not be written for "
				      "%d seconds", (int)(STALL_NS / 1000000000));
			tracer_kill(t);
			return r;
		}
		nap(NAP_NS / 50);
	}
	r = result_of(t, status, err);
	release_tracer(t);
	return r;
}

void tracer_kill(struct tracer *t)
{
	int status;

	if (t->pid)
		kill(t->pid, SIGKILL);
	while (t->pid && !has_ended(t, &status))
		nap(NAP_NS / 50);
	release_tracer(t);
}
