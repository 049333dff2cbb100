/* SPDX-License-Identifier: MIT */
/*
 * A host for check_preload_threads, by its first word:
 * stack: how much stack each way to start and to wait for a process takes in a thread,
 *	"NAME BYTES" a line, the first time and again;
 * small: the same in threads with the least stack there is, one after the other;
 * cancel: threads that wait in every way are cancelled;
 * waitid: what waitid() gives for all its options;
 * exec: executes what cannot be executed, with tasks before, between and behind.
 */
#include "base/array.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char sh[] = "sh", dash_c[] = "-c", quick[] = ":";
static char leads[] = "ninja --version >/dev/null 2>&1; :";
static char *plain_words[] = { sh, dash_c, quick, NULL };
static char *leading_words[] = { sh, dash_c, leads, NULL };
static pid_t child;

/* Ways to start */

static void spawn_plain(void)
{
	posix_spawn(&child, "/bin/sh", NULL, NULL, plain_words, environ);
}

static void spawn_leading(void)
{
	posix_spawn(&child, "/bin/sh", NULL, NULL, leading_words, environ);
}

static void spawn_searched(void)
{
	posix_spawnp(&child, "sh", NULL, NULL, leading_words, environ);
}

static void vfork_leading(void)
{
	child = vfork();
	if (!child) {
		execve("/bin/sh", leading_words, environ);
		_exit(99);
	}
}

static void vfork_searched(void)
{
	child = vfork();
	if (!child) {
		execvp("sh", leading_words);
		_exit(99);
	}
}

static void vfork_list(void)
{
	child = vfork();
	if (!child) {
		execlp("sh", "sh", "-c", leads, (char *)NULL);
		_exit(99);
	}
}

static void vfork_failing(void)
{
	child = vfork();
	if (!child) {
		execl("/nonexistent/sh", "sh", "-c", leads, (char *)NULL);
		_exit(99);
	}
}

static void fork_leading(void)
{
	child = fork();
	if (!child) {
		execve("/bin/sh", leading_words, environ);
		_exit(99);
	}
}

/* Ways to wait */

static void wait_pid(void)
{
	waitpid(child, NULL, 0);
}

static void wait_four(void)
{
	struct rusage usage;
	int status;

	wait4(child, &status, 0, &usage);
}

static void wait_any(void)
{
	wait(NULL);
}

static void wait_id(void)
{
	siginfo_t info;

	waitid(P_PID, (id_t)child, &info, WEXITED);
}

static void by_system(void)
{
	if (system(leads))
		child = -1;
}

static const struct way {
	const char *name;
	void (*start)(void), (*wait)(void);
	bool wait_counts;
} ways[] = {
	{ "posix_spawn", spawn_plain, wait_pid, false },
	{ "posix_spawn-carrying", spawn_leading, wait_pid, false },
	{ "posix_spawnp-carrying", spawn_searched, wait_pid, false },
	{ "vfork-execve", vfork_leading, wait_pid, false },
	{ "vfork-execvp", vfork_searched, wait_pid, false },
	{ "vfork-execlp", vfork_list, wait_pid, false },
	{ "vfork-execl-failing", vfork_failing, wait_pid, false },
	{ "fork-execve", fork_leading, wait_pid, false },
	{ "waitpid", spawn_plain, wait_pid, true },
	{ "wait4", spawn_plain, wait_four, true },
	{ "wait", spawn_plain, wait_any, true },
	{ "waitid", spawn_plain, wait_id, true },
	{ "system", by_system, NULL, false },
};

#define N_WAYS ARRAY_SIZE(ways)

/* Stack */

#define STACK (256u << 10)
#define PAINT 0xa5

static unsigned char *painted;

static void *go(void *arg)
{
	const struct way *way = arg;
	/* the stack below this function is free: fill it */
	unsigned char *here = __builtin_frame_address(0);

	if (way->wait_counts)
		way->start();
	for (volatile unsigned char *p = painted; p < here - 512; p++)
		*p = PAINT;
	if (way->wait_counts)
		way->wait();
	else
		way->start();
	return here;
}

static size_t used(const unsigned char *here)
{
	const unsigned char *p = painted;

	while (p < here && *p == PAINT)
		p++;
	return (size_t)(here - p);
}

static size_t measure(const struct way *way)
{
	pthread_attr_t attr;
	pthread_t thread;
	void *here;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, painted, STACK);
	if (pthread_create(&thread, &attr, go, (void *)(uintptr_t)way))
		exit(2);
	pthread_join(thread, &here);
	pthread_attr_destroy(&attr);
	if (way->wait && !way->wait_counts)
		way->wait();
	return used(here);
}

static int stack(void)
{
	painted = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (painted == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < N_WAYS; i++) {
		size_t first = measure(&ways[i]), again = measure(&ways[i]);

		printf("%s %zu\n%s-again %zu\n", ways[i].name, first, ways[i].name, again);
	}
	return 0;
}

static void *go_through(void *arg)
{
	const struct way *way = arg;

	way->start();
	if (way->wait)
		way->wait();
	return NULL;
}

static int small(void)
{
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	for (size_t i = 0; i < 4 * N_WAYS; i++) {
		pthread_t thread;

		if (pthread_create(&thread, &attr, go_through, (void *)(uintptr_t)&ways[i % N_WAYS]))
			return 2;
		pthread_join(thread, NULL);
	}
	puts("done");
	return 0;
}

/* Cancelling */

static pid_t start_sleep(void)
{
	static char name[] = "sleep", seconds[] = "1000";
	char *argv[] = { name, seconds, NULL };
	pid_t pid = -1;

	posix_spawnp(&pid, name, NULL, NULL, argv, environ);
	return pid;
}

static void wait_three(void)
{
	wait3(NULL, 0, NULL);
}

static void wait_id_any(void)
{
	waitid(P_ALL, 0, NULL, WEXITED | WSTOPPED);
}

static void wait_fd(void)
{
	int fd = (int)syscall(SYS_pidfd_open, child, 0);
	siginfo_t info;

	pthread_cleanup_push((void (*)(void *))(void (*)(void))close, (void *)(intptr_t)fd);
	waitid(P_PIDFD, (id_t)fd, &info, WEXITED);
	pthread_cleanup_pop(1);
}

static void wait_system(void)
{
	if (system("exec sleep 1000"))
		child = -1;
}

static const struct { const char *name; void (*wait)(void); } waits[] = {
	{ "waitid", wait_id }, { "waitid of any", wait_id_any }, { "waitid of a descriptor", wait_fd },
	{ "waitpid", wait_pid }, { "wait", wait_any }, { "wait3", wait_three }, { "wait4", wait_four },
	{ "system", wait_system },
};

static volatile pid_t waiter;

static void *go_wait(void *arg)
{
	waiter = (pid_t)syscall(SYS_gettid);
	((void (*)(void))(uintptr_t)arg)();
	return NULL;
}

/* Until it sleeps, or for some time: it is cancelled in either case. */
static void until_asleep(void)
{
	struct timespec pause = { 0, 1000000 };
	char path[64], text[256];

	for (int i = 0; i < 5000; i++) {
		ssize_t n = -1;
		int fd;

		snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)waiter);
		fd = waiter ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		if (fd >= 0) {
			n = read(fd, text, sizeof text - 1);
			close(fd);
		}
		text[n > 0 ? n : 0] = '\0';
		if (strstr(text, ") S "))
			return;
		nanosleep(&pause, NULL);
	}
}

static int cancel(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++) {
		struct timespec until;
		struct sigaction interrupt;
		pthread_t thread;
		void *result = NULL;
		int status = -1;
		bool there;

		waiter = 0;
		child = start_sleep();
		if (child <= 0)
			return 2;
		pthread_create(&thread, NULL, go_wait, (void *)(uintptr_t)waits[i].wait);
		until_asleep();
		pthread_cancel(thread);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += 20;
		if (pthread_timedjoin_np(thread, &result, &until)) {
			printf("%s: hangs\n", waits[i].name);
			fflush(stdout);
			_exit(1);
		}
		kill(child, SIGKILL);
		there = waitpid(child, &status, 0) == child && WIFSIGNALED(status);
		sigaction(SIGINT, NULL, &interrupt);
		printf("%s: %s, the child is there: %d, no other is: %d, interrupts as before: %d\n",
		       waits[i].name, result == PTHREAD_CANCELED ? "cancelled" : "returned", there,
		       waitpid(-1, NULL, WNOHANG) == -1, interrupt.sa_handler == SIG_DFL);
	}
	return 0;
}

/* waitid() */

static void tell(const char *what, pid_t pid, int r, const siginfo_t *info)
{
	const unsigned char *bytes = (const unsigned char *)info;
	unsigned touched = 0;

	for (size_t i = 0; i < sizeof *info; i++)
		touched += bytes[i] != PAINT;
	printf("%s: %d", what, r);
	if (r)
		printf(" %s", strerror(errno));
	else
		printf(" own %d signo %d code %d status %d touched %d", pid == info->si_pid,
		       info->si_signo, info->si_code, info->si_status, touched > 0);
	printf("\n");
}

static pid_t run(const char *script)
{
	char *argv[] = { sh, dash_c, (char *)(uintptr_t)script, NULL };
	pid_t pid = -1;

	posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ);
	return pid;
}

static void ask(const char *what, idtype_t type, id_t id, pid_t pid, int options)
{
	siginfo_t info;
	int r;

	memset(&info, PAINT, sizeof info);
	errno = 0;
	r = waitid(type, id, &info, options);
	tell(what, pid, r, &info);
}

static int wait_ids(void)
{
	pid_t pid = run("exit 5");
	int fd;

	ask("looked at", P_PID, (id_t)pid, pid, WEXITED | WNOWAIT);
	ask("again", P_PID, (id_t)pid, pid, WEXITED);
	ask("gone", P_PID, (id_t)pid, pid, WEXITED);
	ask("nobody", P_ALL, 0, 0, WEXITED);
	ask("no options", P_ALL, 0, 0, 0);
	ask("unknown options", P_ALL, 0, 0, WEXITED | 0x800);
	pid = run("kill -KILL $$");
	ask("killed", P_ALL, 0, pid, WEXITED);
	pid = run("exit 300");
	ask("of the group", P_PGID, 0, pid, WEXITED);
	pid = run("sleep 1000 & trap \"kill $!; exit 2\" TERM; kill -STOP $$; wait");
	ask("stopped", P_PID, (id_t)pid, pid, WEXITED | WSTOPPED);
	ask("not again", P_PID, (id_t)pid, pid, WEXITED | WSTOPPED | WNOHANG);
	kill(pid, SIGCONT);
	ask("continued", P_PID, (id_t)pid, pid, WCONTINUED);
	kill(pid, SIGTERM);
	ask("ended", P_PID, (id_t)pid, pid, WEXITED | WSTOPPED | WCONTINUED);
	pid = run("exec sleep 1000");
	ask("not yet", P_ALL, 0, pid, WEXITED | WNOHANG);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	ask("not yet, by descriptor", P_PIDFD, (id_t)fd, pid, WEXITED | WNOHANG);
	kill(pid, SIGTERM);
	ask("by descriptor", P_PIDFD, (id_t)fd, pid, WEXITED);
	close(fd);
	ask("closed", P_PIDFD, (id_t)fd, pid, WEXITED);
	pid = run("exit 1");
	errno = 0;
	printf("no info: %d %d\n", waitid(P_PID, (id_t)pid, NULL, WEXITED), errno);
	return 0;
}

/* Exec */

static void task(const char *script)
{
	waitpid(run(script), NULL, 0);
}

static int execs(void)
{
	static char no_program[] = "/dev/null", none[] = "/nonexistent/ninja", name[] = "nosuchprogram";
	size_t size = 8u << 20;
	char *huge = malloc(size), *argv[] = { none, huge, NULL };

	memset(huge, 'x', size - 1);
	huge[size - 1] = '\0';
	task(": before");
	execl(none, none, (char *)NULL);
	printf("%d\n", errno == ENOENT);
	task(": second");
	execlp(name, name, (char *)NULL);
	printf("%d\n", errno == ENOENT);
	execl(no_program, no_program, (char *)NULL);
	printf("%d\n", errno == EACCES);
	task(": third");
	execv("/bin/sh", argv);
	printf("%d\n", errno == E2BIG);
	task("exit 3");
	free(huge);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int (*run)(void); } parts[] = {
		{ "stack", stack }, { "small", small }, { "cancel", cancel }, { "waitid", wait_ids },
		{ "exec", execs },
	};

	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(parts); i++) {
		if (!strcmp(argv[1], parts[i].name))
			return parts[i].run();
	}
	return 2;
}
