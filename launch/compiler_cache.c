/* SPDX-License-Identifier: MIT */
#include "launch/compiler_cache.h"

#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "launch/notice.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN_LOG "ccache.stats"
#define LOG_MAX ((size_t)1 << 30)

const char *const compiler_cache_name[CACHE_KINDS] = {
	[CACHE_CCACHE] = "ccache",
	[CACHE_SCCACHE] = "sccache",
};

static const char *const variable[CACHE_KINDS] = {
	[CACHE_CCACHE] = "CCACHE_STATSLOG",
	[CACHE_SCCACHE] = "SCCACHE_ERROR_LOG",
};

/* The first line that "ccache --get-config stats_log" prints. */
static void ask_ccache(char *path, size_t size)
{
	char *argv[] = { (char[]){ "ccache" }, (char[]){ "--get-config" }, (char[]){ "stats_log" },
		NULL };
	char program[PATH_MAX];
	posix_spawn_file_actions_t actions;
	int pipe_fd[2], status;
	ssize_t n = 0;
	pid_t pid;

	*path = '\0';
	if (!file_find_program(program, argv[0]) || pipe2(pipe_fd, O_CLOEXEC))
		return;
	if (!posix_spawn_file_actions_init(&actions)) {
		posix_spawn_file_actions_adddup2(&actions, pipe_fd[1], STDOUT_FILENO);
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
		if (posix_spawn(&pid, program, &actions, NULL, argv, environ))
			pid = -1;
		posix_spawn_file_actions_destroy(&actions);
		close(pipe_fd[1]);
		if (pid > 0) {
			n = readfile_some(pipe_fd[0], path, size - 1);
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
		}
	} else {
		close(pipe_fd[1]);
	}
	close(pipe_fd[0]);
	path[MAX(n, 0)] = '\0';
	path[strcspn(path, "\n")] = '\0';
}

/* A relative path is refused: each process of the build has its own working directory, and would
 * write a file of its own. */
static bool use(struct compiler_cache_log *l, const char *path, const char *from)
{
	struct stat st;

	if (*path != '/') {
		if (from)
			notice("hits and misses of ccache are not recorded: %s is a relative path: '%s'",
			       from, path);
		return false;
	}
	if (strlen(path) >= sizeof l->path)
		return false;
	strcpy(l->path, path);
	l->from = stat(path, &st) ? 0 : st.st_size;
	return true;
}

void compiler_cache_begin(struct compiler_cache *c, bool asked, const char *dir)
{
	struct compiler_cache_log *l = &c->log[CACHE_CCACHE];
	char configured[PATH_MAX];

	*c = (struct compiler_cache){ .asked = asked };
	for (int i = 0; i < CACHE_KINDS; i++) {
		const char *value = getenv(variable[i]);

		if (value && *value)
			use(&c->log[i], value, asked && i == CACHE_CCACHE ? variable[i] : NULL);
	}
	if (!asked || (getenv(variable[CACHE_CCACHE]) && *getenv(variable[CACHE_CCACHE])))
		return;
	ask_ccache(configured, sizeof configured);
	if (*configured) {
		use(l, configured, "stats_log of ccache's configuration");
	} else if (snprintf(l->path, sizeof l->path, "%s/" OWN_LOG, dir) < (int)sizeof l->path) {
		l->own = true;
	} else {
		*l->path = '\0';
	}
}

const char *compiler_cache_variable(const struct compiler_cache *c)
{
	return c->log[CACHE_CCACHE].own ? c->log[CACHE_CCACHE].path : NULL;
}

bool compiler_cache_has_log(const struct compiler_cache *c)
{
	return c->asked || *c->log[CACHE_CCACHE].path || *c->log[CACHE_SCCACHE].path;
}

int compiler_cache_read(const struct compiler_cache *c, enum cache_kind kind, struct buf *text)
{
	const struct compiler_cache_log *l = &c->log[kind];
	struct stat st;
	int fd, r = 0;

	if (!*l->path)
		return 0;
	fd = open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;	/* the cache was not called */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		r = -EINVAL;
	else if (st.st_size >= l->from && lseek(fd, l->from, SEEK_SET) < 0)
		r = -errno;
	if (!r)
		r = readfile_fd(text, fd, LOG_MAX);
	close(fd);
	return r;
}

void compiler_cache_end(struct compiler_cache *c)
{
	struct compiler_cache_log *l = &c->log[CACHE_CCACHE];

	if (l->own)
		unlink(l->path);
	l->own = false;
}
