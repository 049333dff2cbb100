/* SPDX-License-Identifier: MIT */
#include "render/plot/gnuplot.h"

#include "analyse/words.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The only file that knows how gnuplot is run. */

#define MS_NS 1000000
#define WORDS_COLUMNS 300

struct process {
	pid_t pid;
	int64_t deadline_ns;
	struct pollfd pipe[3];	/* its stdout and stderr; fd -1: at its end; stop_fd */
	struct buf text[2];
};

static void close_pipe(struct pollfd *p)
{
	file_close(p->fd);
	p->fd = -1;
}

static int left_ms(const struct process *p)
{
	int64_t left_ns = p->deadline_ns - clock_mono_ns();

	return left_ns > 0 ? (int)(left_ns / MS_NS) + 1 : 0;
}

/* Our environment with a fixed locale, and without settings for other terminals. */
static char **environment(void)
{
	static const char *const ours[] = { "LC_", "LANG=", "GNUTERM=" };
	static char locale[] = "LC_ALL=C.UTF-8";
	size_t n = 0, at = 0;
	char **env;

	while (environ[n])
		n++;
	env = array_new(n + 2, sizeof *env);
	for (size_t i = 0; env && i < n; i++) {
		bool replaced = false;

		for (size_t j = 0; j < ARRAY_SIZE(ours); j++)
			replaced |= !strncmp(environ[i], ours[j], strlen(ours[j]));
		if (!replaced)
			env[at++] = environ[i];
	}
	if (env) {
		env[at++] = locale;
		env[at] = NULL;
	}
	return env;
}

static void default_signals(posix_spawnattr_t *attr)
{
	sigset_t set;

	sigemptyset(&set);
	posix_spawnattr_setsigmask(attr, &set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGCHLD);
	posix_spawnattr_setsigdefault(attr, &set);
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* -d: the user's own settings are not read. */
static int spawn(pid_t *pid, const char *directory, const char *script, const int out[2])
{
	char name[] = "gnuplot", defaults[] = "-d", file[256];
	char *argv[] = { name, defaults, file, NULL };
	char **env = environment();
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int r = env ? 0 : ENOMEM;

	*stpncpy(file, script, sizeof file - 1) = '\0';
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	default_signals(&attr);
	r = r ? r : posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	r = r ? r : posix_spawn_file_actions_adddup2(&actions, out[0], 1);
	r = r ? r : posix_spawn_file_actions_adddup2(&actions, out[1], 2);
	r = r ? r : posix_spawn_file_actions_addchdir_np(&actions, directory);
	r = r ? r : posix_spawnp(pid, name, &actions, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	free(env);
	return -r;
}

static int start(struct process *p, const char *directory, const char *script)
{
	int out[2] = { -1, -1 }, fd[2], r = 0;

	for (int i = 0; i < 2 && !r; i++) {
		if (pipe2(fd, O_CLOEXEC)) {
			r = -errno;
		} else {
			p->pipe[i].fd = fd[0];
			out[i] = fd[1];
		}
	}
	if (!r)
		r = spawn(&p->pid, directory, script, out);
	for (int i = 0; i < 2; i++)
		file_close(out[i]);
	return r;
}

static void read_pipe(struct pollfd *p, struct buf *text)
{
	char block[16384];
	ssize_t n = read(p->fd, block, sizeof block);

	if (n > 0)
		buf_add(text, block, (size_t)n);
	else if (n == 0 || errno != EINTR)
		close_pipe(p);
}

static bool is_stopped(struct process *p)
{
	return p->pipe[2].revents || poll(&p->pipe[2], 1, 0) > 0;
}

/* Read its output until it ends, its time has passed, or it is stopped. */
static void listen_to(struct process *p)
{
	struct pollfd *pipe = p->pipe;

	while (pipe[0].fd >= 0 || pipe[1].fd >= 0) {
		int n = poll(pipe, 3, left_ms(p));

		if (n == 0 || (n < 0 && errno != EINTR) || (n > 0 && pipe[2].revents))
			return;
		for (int i = 0; i < 2 && n > 0; i++) {
			if (pipe[i].fd >= 0 && pipe[i].revents)
				read_pipe(&pipe[i], &p->text[i]);
		}
	}
}

/* False: it did not end in time. A process that ignores SIGCHLD does not get the status:
 * then only the picture shows whether gnuplot succeeded. */
static bool reap(struct process *p, int *status)
{
	struct timespec pause = { 0, MS_NS };
	pid_t r;

	*status = 0;
	while ((r = waitpid(p->pid, status, WNOHANG)) != p->pid) {
		if (r < 0 && errno != EINTR)
			return true;
		if (!left_ms(p) || is_stopped(p))
			break;
		nanosleep(&pause, NULL);
	}
	if (r == p->pid)
		return true;
	kill(p->pid, SIGKILL);
	while (waitpid(p->pid, status, 0) < 0 && errno == EINTR)
		;
	return false;
}

/* gnuplot repeats the line it does not like and points at it; the sentence after
 * that begins with the file's name. */
static const char *first_words(struct buf *said)
{
	char *text = said->len ? said->data : NULL, *first = NULL, *line;

	while ((line = strsep(&text, "\n"))) {
		line += strspn(line, " \t\r");
		if (*line == '"')
			return line;
		if (*line && !first)
			first = line;
	}
	return first ? first : "it did not say why";
}

static int finish(struct process *p, int timeout_ms, struct buf *out, struct error *err)
{
	char memory[4 * WORDS_COLUMNS];
	struct buf text;
	int status;

	buf_init_fixed(&text, memory, sizeof memory);
	listen_to(p);
	if (!reap(p, &status)) {
		if (is_stopped(p))
			return error_sys(err, -EINTR, NULL, "gnuplot");
		text_add_time(&text, (int64_t)timeout_ms * 1000);
		return error_set(err, -EIO, NULL, 0, 0, "gnuplot did not end within %s",
				 buf_str(&text));
	}
	if (WIFSIGNALED(status)) {
		buf_adds(&text, "killed by ");
		words_add_signal(&text, WTERMSIG(status));
	} else if (status) {
		text_add_name(&text, first_words(&p->text[1]), WORDS_COLUMNS);
	}
	if (status)
		return error_set(err, -EIO, NULL, 0, 0, "gnuplot failed: %s", buf_str(&text));
	if (out)
		buf_add(out, p->text[0].data, p->text[0].len);
	if (buf_error(&p->text[0]) || (out && buf_error(out)))
		return error_sys(err, -ENOMEM, NULL, "gnuplot");
	return 0;
}

int gnuplot_run(const struct gnuplot *g, struct buf *out, struct error *err)
{
	struct process p = {
		.deadline_ns = clock_mono_ns() + (int64_t)g->timeout_ms * MS_NS,
		.pipe = { { .fd = -1, .events = POLLIN }, { .fd = -1, .events = POLLIN },
			  { .fd = g->stop_fd ? g->stop_fd : -1, .events = POLLIN } },
		.text = { BUF_INIT, BUF_INIT },
	};
	int r = start(&p, g->directory, g->script);

	if (r == -ENOENT)
		error_set(err, r, NULL, 0, 0, "gnuplot is not installed (package gnuplot-nox)");
	else if (r)
		error_sys(err, r, NULL, "cannot run gnuplot");
	else
		r = finish(&p, g->timeout_ms, out, err);
	for (int i = 0; i < 2; i++) {
		close_pipe(&p.pipe[i]);
		buf_release(&p.text[i]);
	}
	return r;
}
