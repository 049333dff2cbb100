/*
 * The functions that stand before libc's, and the beginning. In a process that is
 * no host, or where nothing is recorded any more, they only see to it that the
 * recording is carried on to the build tools below.
 */
#include "preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGS_MAX 4096		/* of execl() and the like */

struct preload_real preload_real;
struct carried preload_carried;

/* What GNU make exports: it reads the ticket by itself. */
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
		{ "wait4", offsetof(struct preload_real, wait4) },
	};

	if (preload_real.wait4)
		return;
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *function = dlsym(RTLD_NEXT, functions[i].name);

		memcpy((char *)&preload_real + functions[i].at, &function, sizeof function);
	}
}

/* Beginning and end */

static __attribute__((constructor)) void begin(int argc, char **argv, char **envp)
{
	int saved = errno;

	(void)envp;
	preload_resolve();
	if (!environ)
		return;
	carry_take(&preload_carried, environ, gmk_eval);
	if (!gmk_eval && preload_carried.ticket[0] && argc > 0 &&
	    (preload_carried.host == getpid() || carry_is_host(preload_tool(argc, argv))))
		preload_host_begin(argc, argv);
	errno = saved;
}

static __attribute__((destructor)) void end(void)
{
	preload_host_end();
}

/* For our plugin, should the program load it: then it is a host of that. */
const char *buildbeat_preload_ticket(void)
{
	preload_host_leave();
	return preload_carried.ticket[0] ? preload_carried.ticket : NULL;
}

#define END_HOOK __attribute__((noreturn)) void

END_HOOK _exit(int status)
{
	preload_resolve();
	preload_host_end();
	preload_real._exit(status);
}

END_HOOK _Exit(int status)
{
	_exit(status);
}

/* Carrying on */

/* A script of the user's own: not those of the system, which are in no build's way. */
static bool is_own_script(const char *path)
{
	return path && strchr(path, '/') && strncmp(path, "/usr/", 5) &&
	       strncmp(path, "/bin/", 5) && carry_is_script(path);
}

/* path: of the program, or its name if it is looked for in PATH. A host that
 * replaces itself stays one, whatever it becomes. */
static enum carry what_of(const char *path, char *const argv[], bool own)
{
	enum carry carry;

	if (!preload_carried.ticket[0] || !argv || !argv[0])
		return CARRY_NOWHERE;
	carry = own ? CARRY_HOST : carry_of(argv);
	if (carry == CARRY_NOWHERE)
		return is_own_script(path) ? CARRY_HOST : CARRY_NOWHERE;
	return carry_reads_ticket(carry_name(argv[0])) ? CARRY_TICKET : carry;
}

static char *const *put(struct carry_env *e, enum carry carry, const char *path,
			char *const envp[], bool own)
{
	char found[PATH_MAX];
	bool preload = carry == CARRY_HOST && path && !access(preload_carried.preload, R_OK) &&
		       carry_find(found, path) && carry_can_preload(found);

	return carry_put(e, &preload_carried, envp, preload, own ? getpid() : 0);
}

/* Executing */

typedef int exec_function(const char *, char *const[], char *const[]);

static __attribute__((noinline)) int exec_carrying(exec_function *function, enum carry carry,
		const char *path, char *const argv[], char *const envp[], bool own)
{
	struct carry_env e;
	int saved = errno;
	char *const *env = put(&e, carry, path, envp, own);

	errno = saved;
	return function(path, argv, env);
}

static int exec_with(exec_function *function, const char *path, char *const argv[],
		     char *const envp[])
{
	int saved = errno;
	bool own = preload_is_host_process();
	enum carry carry = what_of(path, argv, own);

	if (preload_is_host())
		preload_executing(argv);
	errno = saved;
	if (carry == CARRY_NOWHERE)
		return function(path, argv, envp);
	return exec_carrying(function, carry, path, argv, envp, own);
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

int fexecve(int fd, char *const argv[], char *const envp[])
{
	struct carry_env e;
	char path[64];
	bool own = preload_is_host_process();
	int saved = errno;
	enum carry carry;

	preload_resolve();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	carry = what_of(path, argv, own);
	if (preload_is_host())
		preload_executing(argv);
	if (carry != CARRY_NOWHERE)
		envp = put(&e, carry, path, envp, own);
	errno = saved;
	return preload_real.fexecve(fd, argv, envp);
}

/* The words up to the NULL. What has more of them than there is room for would not
 * be written by hand. */
static bool collect(char *argv[ARGS_MAX], const char *first, va_list ap)
{
	size_t n = 0;

	argv[n++] = (char *)(uintptr_t)first;
	while (argv[n - 1] && n < ARGS_MAX)
		argv[n++] = va_arg(ap, char *);
	return !argv[n - 1];
}

#define COLLECT(argv, first, ap) \
	char *argv[ARGS_MAX]; \
	va_list ap; \
	va_start(ap, first); \
	if (!collect(argv, first, ap)) { \
		va_end(ap); \
		errno = E2BIG; \
		return -1; \
	}

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

typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const[], char *const[]);

static int spawn_recording(spawn_function *function, pid_t *pid, const char *file,
			   const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	int64_t start_us;
	pid_t child;
	int r;

	if (!preload_is_host())
		return function(pid, file, actions, attr, argv, envp);
	preload_spawning();
	start_us = preload_now_us();
	r = function(&child, file, actions, attr, argv, envp);
	if (r) {
		preload_not_spawned();
		return r;
	}
	if (pid)
		*pid = child;
	preload_spawned(child, start_us, argv);
	return 0;
}

static int spawn_with(spawn_function *function, pid_t *pid, const char *file,
		      const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		      char *const argv[], char *const envp[])
{
	enum carry carry = what_of(file, argv, false);
	struct carry_env e;

	if (carry != CARRY_NOWHERE)
		envp = put(&e, carry, file, envp, false);
	return spawn_recording(function, pid, file, actions, attr, argv, envp);
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

static pid_t wait_for(pid_t pid, int *status, int options, struct rusage *usage)
{
	struct rusage own;
	pid_t r;
	int st;

	preload_resolve();
	if (!preload_is_host())
		return preload_real.wait4(pid, status, options, usage);
	if (!usage)
		usage = &own;
	r = preload_real.wait4(pid, &st, options, usage);
	if (r > 0) {
		preload_reaped(r, st, usage);
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

/* As waitpid() gives it. */
static int status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	return info->si_status | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}

/* libc's takes no rusage, the kernel's does. */
int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct rusage usage;
	siginfo_t own = { 0 };
	int r;

	preload_resolve();
	if (!preload_is_host() || !(options & WEXITED) || (options & WNOWAIT))
		return preload_real.waitid(type, id, info, options);
	r = (int)syscall(SYS_waitid, type, id, &own, options, &usage);
	if (!r && own.si_pid && (own.si_code == CLD_EXITED || own.si_code == CLD_KILLED ||
				 own.si_code == CLD_DUMPED))
		preload_reaped(own.si_pid, status_of(&own), &usage);
	if (!r && info)
		*info = own;
	return r;
}
