/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_PRELOAD_H
#define BUILDBEAT_PLUGIN_PRELOAD_H

#include "plugin/carry.h"
#include "plugin/counting.h"
#include "recording/event.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>

/*
 * The parts of buildbeat-preload.so, which is loaded into build tools that have no plugins of
 * their own. It replaces libc's functions by which a process starts others, waits for them and
 * ends. In a host, every process that the host, or a fork of it that runs the same program,
 * executes is a task.
 */

/* The replaced functions. */
struct preload_real {
	int (*execve)(const char *, char *const[], char *const[]);
	int (*execvpe)(const char *, char *const[], char *const[]);
	int (*fexecve)(int, char *const[], char *const[]);
	int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const[], char *const[]);
	int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			    const posix_spawnattr_t *, char *const[], char *const[]);
	pid_t (*wait4)(pid_t, int *, int, struct rusage *);
	int (*waitid)(idtype_t, id_t, siginfo_t *, int);
	int (*system)(const char *);
	int (*poll)(struct pollfd *, nfds_t, int);
	int (*ppoll)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
	void (*_exit)(int) __attribute__((noreturn));
};

extern struct preload_real preload_real;
extern struct carried preload_carried;	/* what this process may carry to others */

/*
 * Memory that is too large for the stack of a small thread, of which we may use a few KiB only.
 * Any thread, signal handler and vfork child can take it and give it back. NULL: no memory.
 */
#define PRELOAD_WORKS 6

struct preload_work {
	_Atomic pid_t pid;		/* of the process that uses it, 0: free */
	_Atomic uintptr_t owner;	/* its thread */
	struct preload_work *next;
	struct carry_look look;
	struct carry_env env;
	char line[EVENT_MAX + 1];
	char words[2 * EVENT_MAX];
	char stack[COUNTING_STACK] __attribute__((aligned(16)));	/* of counting_spawn() */
};

/* pid: of this process. */
struct preload_work *preload_work_take(pid_t pid);
void preload_work_give(struct preload_work *w);	/* may be NULL */

/* A child was waited for: release the memory that it used. */
void preload_work_reaped(pid_t pid);

/*
 * Call these around our own work in a caller's thread: errno is kept, and the thread cannot be
 * cancelled. Do not call them around libc's functions: a vfork child shares its parent's state,
 * and does not return from its exec.
 */
struct preload_guest {
	int saved_errno, cancel_state;
};

struct preload_guest preload_enter(void);
void preload_leave(struct preload_guest guest);

/* Both are set when any hook is called for the first time, however early. */
void preload_resolve(void);

/*
 * The tasks. A process and its forks are hosts after preload_host_begin(); preload_is_host() if
 * something can be recorded. All functions keep errno and are safe in any thread and in signal
 * handlers. In a vfork child they write only to the part of its parent's memory that is made for
 * it.
 */
void preload_host_begin(int argc, char **argv);
/* ninja of /usr/bin/ninja; scons of "python3 /usr/bin/scons". argc is not 0. */
const char *preload_tool(int argc, char **argv);
bool preload_is_host(void);
/* Record no more tasks: the program reports them itself. */
void preload_host_leave(void);

/* The process is the host itself, not a fork of it. */
bool preload_is_host_process(void);

/* The current time, for preload_spawned(). */
int64_t preload_now_us(void);

/* Around posix_spawn(): first preload_spawning(), then one of the others. */
void preload_spawning(void);
void preload_spawned(pid_t pid, int64_t start_us, char *const argv[]);
void preload_not_spawned(void);

/* This process, a fork of the host's, is about to execute argv. */
void preload_executing(char *const argv[]);

/* The host itself is about to be replaced by exec. If this fails, it goes on as before. */
void preload_host_executing(void);

/* The host is about to wait for something to happen. */
void preload_polling(void);

/* A child was waited for. */
void preload_reaped(pid_t pid, int status, const struct rusage *usage);

/* The note with ninja's own hashes of a command. truncated: the line of its start does not have
 * the whole command. False: there is nothing to note. */
bool preload_ninja_note(struct preload_work *w, char *out, size_t size, const char *command,
			bool truncated);

/* The end of the host; only once. */
void preload_host_end(void);

#endif
