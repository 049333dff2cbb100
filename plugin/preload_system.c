/* SPDX-License-Identifier: MIT */
#include "plugin/preload.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * libc's system() starts its shell by a call that cannot be replaced. This one does the same: the
 * caller ignores interrupts meanwhile, even with several threads in here, and gets no SIGCHLD for
 * this child. The child has the signals as they were before.
 */
static struct {
	pthread_mutex_t lock;
	unsigned users;
	struct sigaction interrupt, quit;
} calls = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void ignore_interrupts(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	pthread_mutex_lock(&calls.lock);
	if (!calls.users++) {
		sigaction(SIGINT, &ignore, &calls.interrupt);
		sigaction(SIGQUIT, &ignore, &calls.quit);
	}
	pthread_mutex_unlock(&calls.lock);
}

static void heed_interrupts(void)
{
	pthread_mutex_lock(&calls.lock);
	if (!--calls.users) {
		sigaction(SIGINT, &calls.interrupt, NULL);
		sigaction(SIGQUIT, &calls.quit, NULL);
	}
	pthread_mutex_unlock(&calls.lock);
}

static int start_command(pid_t *pid, const char *command, const sigset_t *mask)
{
	char shell[] = "sh", dash_c[] = "-c";
	char *argv[] = { shell, dash_c, (char *)(uintptr_t)command, NULL };
	posix_spawnattr_t attr;
	sigset_t standard;
	int r;

	sigemptyset(&standard);
	if (calls.interrupt.sa_handler != SIG_IGN)
		sigaddset(&standard, SIGINT);
	if (calls.quit.sa_handler != SIG_IGN)
		sigaddset(&standard, SIGQUIT);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, mask);
	posix_spawnattr_setsigdefault(&attr, &standard);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(pid, "/bin/sh", NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	return r;
}

static int wait_on(pid_t pid)
{
	pid_t waited;
	int status;

	do {
		waited = waitpid(pid, &status, 0);
	} while (waited < 0 && errno == EINTR);
	return waited == pid ? status : -1;
}

/* The calling thread is cancelled while it waits: as with libc's function, no process remains. */
static void cancelled(void *pid)
{
	kill(*(pid_t *)pid, SIGKILL);
	wait_on(*(pid_t *)pid);
	heed_interrupts();
}

static int run_command(const char *command)
{
	sigset_t child, mask;
	int status, r;
	pid_t pid;

	ignore_interrupts();
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &child, &mask);
	r = start_command(&pid, command, &mask);
	if (r) {
		status = 127 << 8;
	} else {
		pthread_cleanup_push(cancelled, &pid);
		status = wait_on(pid);
		pthread_cleanup_pop(0);
	}
	heed_interrupts();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (r)
		errno = r;
	return status;
}

int system(const char *command)
{
	preload_resolve();
	if (!command || (!preload_is_host() && (!preload_carried.ticket[0] ||
						carry_of_script(command) == CARRY_NOWHERE)))
		return preload_real.system(command);
	return run_command(command);
}
