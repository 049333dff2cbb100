/* SPDX-License-Identifier: MIT */
/*
 * The functions that replace libc's, and the beginning. In a process that is not a host, or after
 * an error, they only carry the recording to the build tools below.
 */
#include "plugin/preload.h"
#include "plugin/preload_count.h"

#include "base/array.h"
#include "base/file.h"
#include "base/minmax.h"

#include <dlfcn.h>
#include <alloca.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct preload_real preload_real;
struct carried preload_carried;

/* Exported by GNU make, which reads the ticket itself. */
void gmk_eval(const char *text, const void *location) __attribute__((weak));

const char *buildbeat_preload_ticket(void);

void preload_resolve(void)
{
	static const struct {
		const char *name;
		size_t at;
	} functions[] = {
		{ "execve", offsetof(struct preload_real, execve) },
		{ "execvpe", offsetof(struct preload_real, execvpe) },
		{ "fexecve", offsetof(struct preload_real, fexecve) },
		{ "posix_spawn", offsetof(struct preload_real, posix_spawn) },
		{ "posix_spawnp", offsetof(struct preload_real, posix_spawnp) },
		{ "waitid", offsetof(struct preload_real, waitid) },
		{ "system", offsetof(struct preload_real, system) },
		{ "_exit", offsetof(struct preload_real, _exit) },
		{ "poll", offsetof(struct preload_real, poll) },
		{ "ppoll", offsetof(struct preload_real, ppoll) },
		{ "wait4", offsetof(struct preload_real, wait4) },
	};

	if (preload_real.wait4)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *function = dlsym(RTLD_NEXT, functions[i].name);

		memcpy((char *)&preload_real + functions[i].at, &function, sizeof function);
	}
}

struct preload_guest preload_enter(void)
{
	struct preload_guest guest = { .saved_errno = errno };

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guest.cancel_state);
	return guest;
}

void preload_leave(struct preload_guest guest)
{
	int unused;

	pthread_setcancelstate(guest.cancel_state, &unused);
	errno = guest.saved_errno;
}

/* Beginning and end */

#ifdef __GLIBC__
#define ARGUMENTS int argc, char **argv
#else
#define ARGUMENTS void

/* musl calls constructors without the arguments. They are before the environment, after their
 * number. */
static int find_arguments(char ***argv)
{
	char **end = environ - 1;
	int n = 0;

	while ((uintptr_t)end[-n - 1] != (uintptr_t)n)
		n++;
	*argv = end - n;
	return n;
}
#endif

static __attribute__((constructor)) void begin_process(ARGUMENTS)
{
	int saved = errno;

	preload_resolve();
	if (!environ)
		return;
#ifndef __GLIBC__
	char **argv;
	int argc = find_arguments(&argv);
#endif
	carry_take(&preload_carried, environ, gmk_eval);
	if (!gmk_eval && preload_carried.ticket[0] && argc > 0 &&
	    (preload_carried.host == getpid() || carry_is_host(preload_tool(argc, argv))))
		preload_host_begin(argc, argv);
	errno = saved;
}

static __attribute__((destructor)) void end_process(void)
{
	preload_host_end();
}

/* For our plugin: if the program loads it, it is a host of the plugin. */
const char *buildbeat_preload_ticket(void)
{
	preload_host_leave();
	return preload_carried.ticket[0] ? preload_carried.ticket : NULL;
}

#define END_HOOK __attribute__((noreturn)) void

END_HOOK _exit(int status)
{
	preload_resolve();
	preload_enter();
	preload_host_end();
	preload_real._exit(status);
}

END_HOOK _Exit(int status)
{
	_exit(status);
}

/* Carrying on */

/* A quick check of names and arguments. own: the host replaces itself. */
static bool may_carry(const char *file, char *const argv[], bool own)
{
	return preload_carried.ticket[0] && file && argv && argv[0] &&
	       (own || carry_leads(file, argv) != CARRY_NOWHERE);
}

/* The environment for it, in the work memory or unchanged. */
static char *const *environment(struct preload_work *w, const char *file, char *const argv[],
				char *const envp[], bool own)
{
	enum carry carry = own ? carry_of_host(&w->look, file) : carry_of(&w->look, file, argv);
	bool preload = carry == CARRY_HOST && !access(preload_carried.preload, R_OK);

	if (carry == CARRY_NOWHERE)
		return envp;
	return carry_put(&w->env, &preload_carried, envp, preload, own ? getpid() : 0);
}

/* Executing */

/* If the kernel cannot execute it, the host does not end. */
static void host_executing(struct preload_work *w, const char *file)
{
	if (w && file_find_program(w->look.path, file) && !access(w->look.path, X_OK))
		preload_host_executing();
}

/* Before an exec. The returned memory is in use until the program was executed or failed to be. */
static struct preload_work *prepare_exec(const char *file, char *const argv[], char *const **envp)
{
	bool own = preload_is_host_process();
	struct preload_work *w = may_carry(file, argv, own) ? preload_work_take(getpid()) : NULL;

	if (preload_is_host()) {
		if (own)
			host_executing(w, file);
		else
			preload_executing(argv);
	}
	if (w)
		*envp = environment(w, file, argv, *envp, own);
	return w;
}

typedef int exec_function(const char *, char *const[], char *const[]);

static int exec_with(exec_function *function, const char *path, char *const argv[],
		     char *const envp[])
{
	struct preload_guest guest = preload_enter();
	struct preload_work *w = prepare_exec(path, argv, &envp);
	int r;

	preload_leave(guest);
	r = function(path, argv, envp);
	preload_work_give(w);
	return r;
}

int execve(const char *path, char *const argv[], char *const envp[])
{
	preload_resolve();
	return exec_with(preload_real.execve, path, argv, envp);
}

int execv(const char *path, char *const argv[])
{
	preload_resolve();
	return exec_with(preload_real.execve, path, argv, environ);
}

int execvpe(const char *file, char *const argv[], char *const envp[])
{
	preload_resolve();
	return exec_with(preload_real.execvpe, file, argv, envp);
}

int execvp(const char *file, char *const argv[])
{
	preload_resolve();
	return exec_with(preload_real.execvpe, file, argv, environ);
}

/* The path of the program that a descriptor refers to. */
static const char *path_of(struct preload_work *w, int fd)
{
	char link[32];
	struct buf b;
	ssize_t n;

	buf_init_fixed(&b, link, sizeof link);
	buf_adds(&b, "/proc/self/fd/");
	buf_addi(&b, fd);
	n = readlink(link, w->words, PATH_MAX - 1);
	w->words[MAX(n, 0)] = '\0';
	return w->words;
}

int fexecve(int fd, char *const argv[], char *const envp[])
{
	struct preload_guest guest = preload_enter();
	struct preload_work *name, *w = NULL;
	int r;

	preload_resolve();
	name = preload_work_take(getpid());
	if (name)
		w = prepare_exec(path_of(name, fd), argv, &envp);
	preload_work_give(name);
	preload_leave(guest);
	r = preload_real.fexecve(fd, argv, envp);
	preload_work_give(w);
	return r;
}

/* The arguments up to the NULL, which are counted first. */
#define COLLECT(argv, first, ap) \
	size_t n_args = 1; \
	char **argv; \
	va_list ap; \
	va_start(ap, first); \
	for (const char *arg_ = first; arg_; arg_ = va_arg(ap, char *)) \
		n_args++; \
	va_end(ap); \
	argv = alloca(n_args * sizeof *argv); \
	argv[0] = (char *)(uintptr_t)(first); \
	va_start(ap, first); \
	for (size_t i_ = 1; i_ < n_args; i_++) \
		argv[i_] = va_arg(ap, char *);

int execl(const char *path, const char *arg, ...)
{
	COLLECT(argv, arg, ap)
	va_end(ap);
	return execv(path, argv);
}

int execlp(const char *file, const char *arg, ...)
{
	COLLECT(argv, arg, ap)
	va_end(ap);
	return execvp(file, argv);
}

int execle(const char *path, const char *arg, ...)
{
	char *const *envp;
	COLLECT(argv, arg, ap)
	envp = va_arg(ap, char *const *);
	va_end(ap);
	return execve(path, argv, envp);
}

/* Spawning */

static int spawn_recording(counting_function *function, pid_t *pid, const char *file,
			   const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	struct preload_guest guest;
	int64_t start_us;
	pid_t child;
	struct counting counting = {
		.function = function, .pid = &child, .file = file, .actions = actions, .attr = attr,
		.argv = argv, .envp = envp,
	};
	int r;

	if (!preload_is_host())
		return function(pid, file, actions, attr, argv, envp);
	preload_spawning();
	start_us = preload_now_us();
	if (preload_counts())
		r = preload_count_spawn(&counting);
	else
		r = function(&child, file, actions, attr, argv, envp);
	if (r) {
		preload_not_spawned();
		return r;
	}
	if (pid)
		*pid = child;
	guest = preload_enter();
	if (preload_counts())
		preload_count_started(child, &counting);
	preload_spawned(child, start_us, argv);
	preload_leave(guest);
	return 0;
}

static int spawn_with(counting_function *function, pid_t *pid, const char *file,
		      const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		      char *const argv[], char *const envp[])
{
	struct preload_work *w = NULL;
	int r;

	if (may_carry(file, argv, false)) {
		struct preload_guest guest = preload_enter();

		w = preload_work_take(getpid());
		if (w)
			envp = environment(w, file, argv, envp, false);
		preload_leave(guest);
	}
	r = spawn_recording(function, pid, file, actions, attr, argv, envp);
	preload_work_give(w);
	return r;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	preload_resolve();
	return spawn_with(preload_real.posix_spawn, pid, path, actions, attr, argv, envp);
}

int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	preload_resolve();
	return spawn_with(preload_real.posix_spawnp, pid, file, actions, attr, argv, envp);
}

/* Waiting */

int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	preload_resolve();
	preload_polling();
	return preload_real.poll(fds, n, timeout);
}

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	preload_resolve();
	preload_polling();
	return preload_real.ppoll(fds, n, timeout, mask);
}

static void reaped(pid_t pid, int status, const struct rusage *usage)
{
	struct preload_guest guest = preload_enter();

	if (WIFEXITED(status) || WIFSIGNALED(status)) {
		preload_work_reaped(pid);
		if (preload_is_host())
			preload_reaped(pid, status, usage);
	}
	preload_leave(guest);
}

static pid_t wait_for(pid_t pid, int *status, int options, struct rusage *usage)
{
	struct rusage own;
	pid_t r;
	int st;

	preload_resolve();
	if (!usage)
		usage = &own;
	r = preload_real.wait4(pid, &st, options, usage);
	if (r > 0) {
		reaped(r, st, usage);
		if (status)
			*status = st;
	}
	return r;
}

pid_t wait(int *status)
{
	return wait_for(-1, status, 0, NULL);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait_for(pid, status, options, NULL);
}

pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait_for(-1, status, options, usage);
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	return wait_for(pid, status, options, usage);
}

/* As waitpid() returns it. */
static int status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return info->si_status | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

/* Only the fields that the kernel writes. */
static void give_info(siginfo_t *info, const siginfo_t *own)
{
	if (!info)
		return;
	info->si_signo = own->si_signo;
	info->si_errno = own->si_errno;
	info->si_code = own->si_code;
	info->si_pid = own->si_pid;
	info->si_uid = own->si_uid;
	info->si_status = own->si_status;
}

static bool is_end(const siginfo_t *info)
{
	return info->si_pid && (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED ||
				info->si_code == CLD_DUMPED);
}

/*
 * libc's function has no rusage, the kernel's has one; but only libc's can be cancelled. So libc
 * waits until there is something to report, and then the kernel is asked for it. Another thread
 * may have been faster.
 */
int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct rusage usage;
	siginfo_t own = { 0 };

	preload_resolve();
	if (!preload_is_host() || !(options & WEXITED) || (options & WNOWAIT))
		return preload_real.waitid(type, id, info, options);
	do {
		if (preload_real.waitid(type, id, &own, options | WNOWAIT))
			return -1;
		if (!own.si_pid)	/* WNOHANG */
			break;
		if (syscall(SYS_waitid, type, id, &own, options | WNOHANG, &usage))
			return -1;
	} while (!own.si_pid);
	if (is_end(&own))
		reaped(own.si_pid, status_of(&own), &usage);
	give_info(info, &own);
	return 0;
}
