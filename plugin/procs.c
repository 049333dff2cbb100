/* SPDX-License-Identifier: MIT */
#include "plugin/procs.h"

#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/str.h"
#include "plugin/carry.h"
#include "plugin/children.h"
#include "plugin/collected.h"
#include "plugin/got.h"
#include "plugin/outputs.h"
#include "plugin/procs_count.h"
#include "plugin/session.h"
#include "plugin/trace_env.h"
#include "recording/event.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMAND_MAX (2u << 20)	/* the words of a process without a shell: longer than a line,
				   because the hash of a truncated one includes the rest */
#define WRITTEN_SLOTS 1024		/* a power of two */
#define NAMES_AT_ONCE 128

/* In .data, whose page ld.so has touched anyway: every make uses it. */
static __attribute__((section(".data"))) struct {
	struct buildbeat_session *session;
	struct procs_host *host;
	uint64_t not_recorded;		/* children without room in the table */
	bool vforks;
	pid_t pid;			/* of the tool */
	bool missed;			/* a vfork child that ran before the session opened */
	struct outputs next;		/* where the next one writes */
	struct procs_count count;
	bool ended;			/* no process was started since a child ended */
	bool tried;			/* the tool tried to start the prepared process */
	volatile sig_atomic_t writing;	/* late is being written: see forget_interrupted() */
	struct buf late;		/* see procs_begin_line() */
	struct stat out;		/* the tool's own stdout */
} procs = { .next = OUTPUTS_INIT, .count = PROCS_COUNT_INIT };

static struct {
	char late_text[2 * EVENT_MAX + 1];	/* and a line that is being made behind them */
	struct children children;
	uint64_t written[WRITTEN_SLOTS];	/* hashes of the (name, after) written recently */
	char command[COMMAND_MAX];
} large;

/* Only called in our own process: see forked(). */
static bool is_on(void)
{
	return procs.session->live;
}

/*
 * Writing. A write() costs more than everything else. So the end of a task is written together
 * with the start of the next, or before the tool does anything that may take long: it waits for
 * any child, or ends.
 */

struct buf *procs_late(void)
{
	if (!procs.late.cap)
		buf_init_fixed(&procs.late, large.late_text, EVENT_MAX + 1);
	return &procs.late;
}

/*
 * make's handler of fatal signals waits for its children, and then exits or sends the signal to
 * make again. It calls us from any instruction of make, perhaps one in this file, and never
 * returns there. So the data here is consistent at every instruction. Lines that were being
 * written count as written: signals interrupt the end of a system call far more often than the few
 * instructions before it.
 */
static void forget_interrupted(void)
{
	if (procs.writing)
		buf_clear(&procs.late);
	procs.writing = 0;
}

static __attribute__((noinline)) void flush(void)
{
	forget_interrupted();
	if (!procs.late.len && !buf_error(&procs.late))
		return;
	procs.writing = 1;
	store_append(&procs.session->store, &procs.late);
	procs.writing = 0;
}

void procs_begin_line(struct buf *line)
{
	forget_interrupted();
	buf_init_fixed(line, procs_late()->data + procs.late.len, EVENT_MAX + 1);
}

/* Several lines share a write() as long as they fit into a line's maximum, which is always written whole. */
void procs_end_line(struct buf *line)
{
	if (buf_error(line)) {
		store_append(&procs.session->store, line);
		return;
	}
	if (procs.late.len + line->len > EVENT_MAX) {
		flush();
		memmove(procs.late.data, line->data, line->len);
	}
	procs.late.len += line->len;
}

/* What is being run */

static bool is_shell(const char *program)
{
	size_t len = strlen(program);

	return len >= 2 && !strcmp(program + len - 2, "sh");
}

/* The script of "sh -c script", with any options before the c, otherwise all words that fit. */
static const char *command_text(char *const argv[])
{
	struct buf b;
	size_t n = 0;

	while (argv[n])
		n++;
	if (n >= 3 && is_shell(argv[0]) && argv[n - 2][0] == '-' &&
	    argv[n - 2][strlen(argv[n - 2]) - 1] == 'c')
		return argv[n - 1];
	buf_init_fixed(&b, large.command, sizeof large.command);
	for (size_t i = 0; i < n && !buf_error(&b); i++) {
		if (i)
			buf_addc(&b, ' ');
		buf_adds(&b, argv[i]);
	}
	return buf_str(&b);
}

/* Must the dependencies be written? Once per target, not for every line of its recipe. A
 * forgotten target is written again. */
static bool is_news(const struct procs_line *line, const struct buf *name)
{
	uint64_t h, *slot;

	if (!line->often)
		return true;
	h = hash_fnv64(name->data, name->len);
	h = hash_fnv64_more(hash_fnv64_more(h, "", 1), line->after.data, line->after.len);
	slot = &large.written[h & (WRITTEN_SLOTS - 1)];
	if (*slot == h)
		return false;
	*slot = h;
	return true;
}

static void put_off_after(uint64_t task, int64_t t, char *after)
{
	struct store *store = &procs.session->store;
	const char *names[NAMES_AT_ONCE];
	struct buf b;
	size_t n;

	while ((n = str_cut_words(&after, names, NAMES_AT_ONCE))) {
		for (size_t done = 0; done < n;) {
			procs_begin_line(&b);
			done += event_add_after(&b, t, store->inst, task, names + done, n - done);
			procs_end_line(&b);
		}
	}
}

/* name: NULL if unknown. */
static void write_start(uint64_t task, int64_t t, pid_t pid, char *const argv[],
			struct buf *name)
{
	struct procs_line *line = &procs.host->line;
	struct store *store = &procs.session->store;
	struct event_task e = {
		.pid = pid, .inner = store->inner, .slot = -1,
		.kind = procs.next.to_pipe ? "shell" : NULL,
		.key = procs.next.to_pipe ? "$(shell)" : NULL,
		.name = name ? buf_str(name) : NULL,
		.command = argv ? command_text(argv) : NULL,
	};
	struct buf b;
	bool news;

	procs_begin_line(&b);
	event_add_start(&b, t, store->inst, task, &e);
	procs_end_line(&b);
	news = line->known && !procs.next.to_pipe && is_news(line, name);
	if (news && line->file) {
		procs_begin_line(&b);
		event_add_place(&b, t, store->inst, task,
				&(struct event_place){ line->file, line->line, NULL, -1 });
		procs_end_line(&b);
	}
	if (news && line->after.len > 1)
		put_off_after(task, t, line->after.data);
	flush();
}

/* The name of the next process, or NULL. */
static struct buf *announced_name(void)
{
	if (procs.next.to_pipe && !procs.host->line.known)
		procs.host->shell();
	return procs.host->line.known ? &procs.host->line.name : NULL;
}

/* What was known about the next process has been used. */
static void forget(bool named)
{
	procs.next = (struct outputs)OUTPUTS_INIT;
	procs.ended = false;
	if (!named)
		procs.host->unknown();
	procs.host->line.known = false;
}

/* Start and end of a task */

/*
 * The name of the process that gets this slot: the announced one, or that of the last process in
 * the slot, if it has just ended and belongs to the same task. env: of the process; NULL if the
 * tool could not find its program.
 */
static struct buf *take_name(struct child *slot, char *const *env)
{
	struct buf *announced = announced_name();
	struct buf before = slot->name;

	if (announced) {
		slot->name = *announced;
		*announced = before;
		slot->asked_for = !procs.next.to_pipe;
	} else if (!procs.ended || !slot->asked_for ||
		   (env && ((slot->env && slot->env != env) || !procs.host->is_asked_for(env)))) {
		slot->asked_for = false;
		return NULL;
	}
	slot->env = env;
	return &slot->name;
}

static void put_note(uint64_t task, int64_t t, const char *text)
{
	struct buf b;

	procs_begin_line(&b);
	event_add_note(&b, t, procs.session->store.inst, task, text);
	procs_end_line(&b);
}

static void started(pid_t pid, int64_t t, char *const argv[], char *const env[])
{
	struct child *child = children_add(&large.children, pid);
	int saved = errno;
	struct buf *target;
	uint64_t task;
	char name[64];

	procs_count_started(&procs.count, child);
	if (!child) {
		procs.not_recorded++;
		forget(procs.host->line.known);
		return;
	}
	file_close(child->io_fd);
	child->io_fd = -1;
	/* in a vfork child the descriptors are not the parent's */
	if ((procs.session->store.flags & STORE_TASK_IO) && getpid() == procs.session->store.pid) {
		snprintf(name, sizeof name, "/proc/%d/io", (int)pid);
		child->io_fd = file_open_at(AT_FDCWD, name, O_RDONLY);
	}
	task = session_next_task(procs.session);
	target = take_name(child, env);
	outputs_started(&procs.next, &child->output, task, t, put_note);
	write_start(task, t, pid, argv, target);
	atomic_signal_fence(memory_order_seq_cst);
	child->task = task;
	forget(target);
	errno = saved;
}

static void write_end(uint64_t task, const struct event_end *e)
{
	struct store *store = &procs.session->store;
	struct buf b;

	procs_begin_line(&b);
	event_add_end(&b, store_now_us(store), store->inst, task, e);
	procs_end_line(&b);
}

/* It could not be started, which make reports and treats as an exit status. */
static void not_started(int64_t t, char *const argv[], char *const *env, int error)
{
	struct child *slot = children_next(&large.children);
	uint64_t task = session_next_task(procs.session);
	struct buf *name = slot ? take_name(slot, env) : announced_name();
	int saved = errno;
	struct event_end e;

	write_start(task, t, -1, argv, name);
	collected_end(task);
	event_end_init(&e, (error == ENOENT ? 127 : 126) << 8);
	write_end(task, &e);
	forget(name);
	procs.ended = true;
	errno = saved;
}

/* io: read before it was reaped, or NULL. */
static void ended(pid_t pid, int status, const struct rusage *usage, const struct event_end *io)
{
	struct child *child;
	struct event_end e;
	int saved = errno;
	uint64_t task;

	if (!WIFEXITED(status) && !WIFSIGNALED(status))
		return;
	procs.session->reaped++;
	child = children_find(&large.children, pid);
	if (!child || !child->task)
		return;
	event_end_init(&e, status);
	event_end_rusage(&e, usage);
	peak_judge(&procs.session->peak, &e);
	if (io) {
		e.rchar = io->rchar;
		e.wchar = io->wchar;
	}
	e.instructions = procs_count_ended(&procs.count, &large.children, child);
	file_close(child->io_fd);
	child->io_fd = -1;
	pipes_ended(&child->output);
	task = child->task;
	collected_end(task);
	child->task = 0;
	write_end(task, &e);
	children_remove(&large.children, child);
	procs.ended = true;
	errno = saved;
}

/* Memory to carry the recording. Used by the thread that runs make, or by its vfork child, for
 * which it waits. */
static struct {
	struct carry_look look;
	struct carry_env env;
} handing_on;

/* Below a recipe there may be a build tool that MAKEFILES does not reach. */
static char *const *carrying(const char *file, char *const argv[], char *const envp[])
{
	enum carry carry = envp && file ? carry_leads(file, argv) : CARRY_NOWHERE;
	struct carried carried;

	if (carry == CARRY_NOWHERE || carry == CARRY_TICKET ||
	    carry_of(&handing_on.look, file, argv) != CARRY_HOST ||
	    !carry_from_env(&carried, envp) || access(carried.preload, R_OK))
		return envp;
	return carry_put(&handing_on.env, &carried, envp, true, 0);
}

/* Spawning */

static int hook_adddup2(posix_spawn_file_actions_t *actions, int fd, int fd_new)
{
	outputs_dup(&procs.next, fd, fd_new);
	return posix_spawn_file_actions_adddup2(actions, fd, fd_new);
}

static int spawn_with(counting_function *function, pid_t *pid, const char *file,
		      const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		      char *const argv[], char *const envp[])
{
	char *const *env = envp;
	pid_t child = -1;
	int64_t t;
	int r;

	procs.tried = true;
	if (!procs.session->live)
		procs.host->unrecorded();
	if (!is_on())
		return function(pid, file, actions, attr, argv, envp);
	if (procs.session->store.flags & STORE_TRACEPARENT)
		trace_env_give(envp, &procs.session->store, procs.session->last_task + 1);
	envp = carrying(file, argv, envp);
	if ((procs.session->store.flags & STORE_PIPES) && children_next(&large.children))
		outputs_prepare(&procs.next, (posix_spawn_file_actions_t *)(uintptr_t)actions, &procs.session->store,
				procs.session->last_task + 1, procs.host->collects);
	t = store_now_us(&procs.session->store);
	r = procs_count_spawn(&procs.count, &(struct counting){
		.function = function, .pid = &child, .file = file, .actions = actions, .attr = attr,
		.argv = argv, .envp = envp,
	});
	if (pid)
		*pid = child;
	if (!r)
		started(child, t, argv, env);
	else if (r != ENOEXEC && r != EINTR)	/* make handles these by trying again in another
						   way */
		not_started(t, argv, env, r);
	return r;
}

/* Taking the address of a libc function makes ld.so look it up in every make when we are loaded.
 * A function that is only called is looked up when it is called first. */
static int plain_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return posix_spawn(pid, path, actions, attr, argv, envp);
}

static int plain_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return posix_spawnp(pid, file, actions, attr, argv, envp);
}

static int hook_spawn(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		      const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return spawn_with(plain_spawn, pid, file, actions, attr, argv, envp);
}

static int hook_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
	return spawn_with(plain_spawnp, pid, file, actions, attr, argv, envp);
}

/* make calls this at the end of every attempt to spawn. If the program is in no directory of
 * PATH, it has not called posix_spawn(). */
static int hook_spawnattr_destroy(posix_spawnattr_t *attr)
{
	if (is_on() && !procs.tried)
		not_started(store_now_us(&procs.session->store), NULL, NULL, ENOENT);
	procs.tried = false;
	pipes_give_back();
	return posix_spawnattr_destroy(attr);
}

/* Exec */

/*
 * Either make replaces itself, or this is its vfork child. Then the memory is the parent's, which
 * learns about the child here, and nothing may be closed.
 */
static void about_to_exec(char *const argv[], char *const env[])
{
	struct store *store = &procs.session->store;
	pid_t pid = getpid();
	int saved = errno;

	if (pid == procs.pid) {
		if (is_on()) {
			flush();
			procs.host->replaced();
		}
	} else if (procs.vforks && getppid() == procs.pid && !procs.session->live) {
		procs.missed = true;	/* a child cannot open it */
	} else if (procs.vforks && getppid() == procs.pid && is_on() &&
		   !children_find(&large.children, pid)) {
		outputs_compare(&procs.next, &procs.out);
		procs_count_executing(&procs.count);
		started(pid, store_now_us(store), argv, env);
	}
	errno = saved;
}

static int exec_with(int (*function)(const char *, char *const[], char *const[]),
		     const char *path, char *const argv[], char *const envp[])
{
	bool own = envp == environ;	/* which may move */
	int saved = errno;

	about_to_exec(argv, envp);
	if (own)
		envp = environ;
	if (getpid() != procs.pid)
		envp = carrying(path, argv, envp);
	errno = saved;
	return function(path, argv, envp);
}

static int plain_execvpe(const char *file, char *const argv[], char *const envp[])
{
	return execvpe(file, argv, envp);
}

static int plain_execve(const char *path, char *const argv[], char *const envp[])
{
	return execve(path, argv, envp);
}

static int hook_execvp(const char *file, char *const argv[])
{
	return exec_with(plain_execvpe, file, argv, environ);
}

static int hook_execv(const char *path, char *const argv[])
{
	return exec_with(plain_execve, path, argv, environ);
}

static int hook_execve(const char *path, char *const argv[], char *const envp[])
{
	return exec_with(plain_execve, path, argv, envp);
}

/* make could not replace itself, and ends without its exit functions. */
static __attribute__((noreturn)) void hook__exit(int status)
{
	procs.host->exits(status);
	_exit(status);
}

/* make's handler ends it by sending the signal to itself. */
static int hook_kill(pid_t pid, int sig)
{
	if (is_on() && pid == procs.session->store.pid)
		flush();
	return kill(pid, sig);
}

/* Waiting */

/* Read /proc/PID/io while the child is a zombie: then it is final. */
static pid_t wait4_with_io(pid_t pid, int *status, int options, struct rusage *usage,
			     struct event_end *io)
{
	idtype_t type = pid > 0 ? P_PID : pid == -1 ? P_ALL : P_PGID;
	struct child *child;
	siginfo_t info = { 0 };
	int saved = errno;

	if (waitid(type, (id_t)(pid > 0 ? pid : pid == -1 ? 0 : -pid), &info,
		   WEXITED | WNOWAIT | options))
		return -1;
	if (!info.si_pid)
		return 0;
	errno = saved;
	event_end_init(io, -1);
	child = children_find(&large.children, info.si_pid);
	if (child)
		children_read_io(child, io);
	return wait4(info.si_pid, status, options, usage);
}

static pid_t wait_for(pid_t pid, int *status, int options, struct rusage *usage)
{
	bool with_io = (procs.session->store.flags & STORE_TASK_IO) && !(options & ~WNOHANG);
	struct event_end io;
	struct rusage own;
	int st;
	pid_t r;

	if (procs.missed && !procs.session->live)
		procs.host->unrecorded();
	procs.missed = false;
	if (!is_on())
		return wait4(pid, status, options, usage);
	if (!usage)
		usage = &own;
	if (!(options & WNOHANG))
		flush();
	r = with_io ? wait4_with_io(pid, &st, options, usage, &io)
		  : wait4(pid, &st, options, usage);
	if (r > 0) {
		ended(r, st, usage, with_io ? &io : NULL);
		procs.host->line.known = false;
	} else {
		flush();
	}
	if (r > 0 && status)
		*status = st;
	return r;
}

static pid_t hook_wait(int *status)
{
	return wait_for(-1, status, 0, NULL);
}

static pid_t hook_waitpid(pid_t pid, int *status, int options)
{
	return wait_for(pid, status, options, NULL);
}

static pid_t hook_wait3(int *status, int options, struct rusage *usage)
{
	return wait_for(-1, status, options, usage);
}

static pid_t hook_wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	return wait_for(pid, status, options, usage);
}

#define HOOK(name, function) { name, (void (*)(void))(function), false }

/* A fork (not a vfork or spawn) does not record. */
static void forked(void)
{
	procs.session->live = false;
}

bool procs_attach(struct buildbeat_session *s, struct procs_host *host)
{
	struct got_hook hooks[] = {
		{ "vfork", NULL, false },
		HOOK("posix_spawn", hook_spawn),
		HOOK("posix_spawnp", hook_spawnp),
		HOOK("posix_spawn_file_actions_adddup2", hook_adddup2),
		HOOK("posix_spawnattr_destroy", hook_spawnattr_destroy),
		HOOK("execvp", hook_execvp),
		HOOK("execv", hook_execv),
		HOOK("execve", hook_execve),
		HOOK("kill", hook_kill),
		HOOK("_exit", hook__exit),
		HOOK("wait", hook_wait),
		HOOK("waitpid", hook_waitpid),
		HOOK("wait3", hook_wait3),
		HOOK("wait4", hook_wait4),
	};

	procs.session = s;
	procs.host = host;
	procs.pid = getpid();
	if (!got_redirect(hooks, ARRAY_SIZE(hooks)))
		return false;
	pthread_atfork(NULL, NULL, forked);
	procs.vforks = hooks[0].found;
	if (procs.vforks)
		fstat(STDOUT_FILENO, &procs.out);
	if (s->live)
		procs_count_begin(&procs.count, counter_event_of(s->store.flags), procs.vforks);
	return true;
}

uint64_t procs_finish(void)
{
	char note[256];
	struct buf b;

	if (procs.count.missed.n) {
		buf_init_fixed(&b, note, sizeof note);
		counting_add_missed(&b, &procs.count.missed);
		put_note(0, store_now_us(&procs.session->store), buf_str(&b));
	}
	if (!procs.not_recorded) {	/* otherwise a note must be written before */
		procs_begin_line(&b);
		session_add_close(procs.session, &b);
		procs_end_line(&b);
	}
	flush();
	return procs.not_recorded;
}
