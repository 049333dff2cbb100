/* SPDX-License-Identifier: MIT */
#include "archive/sync_child.h"

#include "base/clock.h"
#include "base/minmax.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_S 1000000000
#define TICK_MS 200
#define LIMIT 1000		/* bytes a second */
#define TIME_S 60
#define TIME_MAX_S 86400

void *sync_child_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void sync_child_free(void *shared, size_t size)
{
	if (shared)
		munmap(shared, size);
}

static int64_t setting(git_repository *git, const char *key, int64_t value, int64_t max)
{
	git_config *config;
	int64_t set;

	if (git_repository_config_snapshot(&config, git))
		return value;
	if (!git_config_get_int64(&set, config, key) && set > 0)
		value = MIN(set, max);
	git_config_free(config);
	return value;
}

/* Returns false if the child was too slow for too long. The pipe ends with the child. */
static bool wait_for_child(int fd, const struct sync_child *shared, int64_t limit, int64_t time_s)
{
	int64_t since_ns = clock_mono_ns();
	struct pollfd p = { .fd = fd };
	uint64_t bytes = 0, steps = 0;

	while (!(poll(&p, 1, TICK_MS) > 0)) {
		uint64_t now = atomic_load(&shared->bytes), step = atomic_load(&shared->steps);
		int64_t now_ns = clock_mono_ns();

		if (step != steps || now - bytes >= (uint64_t)(limit * time_s)) {
			steps = step;
			bytes = now;
			since_ns = now_ns;
		} else if (now_ns - since_ns >= time_s * NS_PER_S) {
			return false;
		}
	}
	return true;
}

static int status_of_child(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

/* The child does not outlive us: it has our locks. */
static void run_child(pid_t parent, struct sync_child *shared,
		      int (*work)(struct sync_child *shared, void *context), void *context)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	_exit(getppid() == parent ? -work(shared, context) & 0xff : EINTR);
}

int sync_child_run(git_repository *git, const char *shown, struct sync_child *shared,
		   int (*work)(struct sync_child *shared, void *context), void *context)
{
	int64_t limit = setting(git, "http.lowspeedlimit", LIMIT, INT32_MAX);
	int64_t time_s = setting(git, "http.lowspeedtime", TIME_S, TIME_MAX_S);
	pid_t parent = getpid(), pid;
	int fd[2], r;
	bool ended;

	if (pipe2(fd, O_CLOEXEC))
		return error_sys(&shared->err, -errno, shown, NULL);
	pid = fork();
	if (!pid)
		run_child(parent, shared, work, context);
	r = pid < 0 ? -errno : 0;
	close(fd[1]);
	ended = r || wait_for_child(fd[0], shared, limit, time_s);
	if (!ended)
		kill(pid, SIGKILL);
	close(fd[0]);
	if (r)
		return error_sys(&shared->err, r, shown, "cannot start a process");
	r = status_of_child(pid);
	if (!ended)
		return error_set(&shared->err, -ENOTCONN, shown, 0, 0, "the server sent and took less "
				 "than %lld bytes/s for %lld s (git's http.lowSpeedLimit and "
				 "http.lowSpeedTime)", (long long)limit, (long long)time_s);
	return r == -ECHILD ? error_set(&shared->err, -ENOTCONN, shown, 0, 0, "the process of "
					"the connection was killed") : r;
}
