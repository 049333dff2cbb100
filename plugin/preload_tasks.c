/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "command/build_tool.h"
#include "command/shell.h"
#include "plugin/pidtable.h"
#include "plugin/preload.h"
#include "plugin/preload_count.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/store.h"
#include "recording/store_join.h"
#include "sampler/ancestors.h"
#include "sampler/peak.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EARLY_SLOTS 32
#define EXEC_FAULTS 4		/* page faults that executing a program causes at least: its stack, its code */
#define PATIENCE 1000		/* times the processor is given to another thread */

/* The end of a process that was waited for before its start was recorded: the thread that
 * started it takes it from here. */
struct early {
	int64_t end_us;
	struct event_end end;
};

/* What the host shares with its forks. */
struct shared {
	struct pidtable children;
	_Atomic uint64_t last_task;
	struct store_lost lost;
	_Atomic unsigned starting;	/* have a number, but have not written its start yet */
	_Atomic uint64_t not_recorded;	/* no room in the table */
	_Atomic int opened;		/* see open_instance() */
	_Atomic uint64_t first_task;	/* whose process is the first of a PID namespace and not
					   known otherwise; 0: none */
	_Atomic unsigned spawning;
	_Atomic unsigned forks, executed;	/* forks of the host; those that executed something */
	_Atomic bool others;		/* it had children that are no tasks */
	_Atomic uint64_t reaped;	/* children, without those that executed nothing */
	_Atomic unsigned n_early;	/* how many were ever stored */
	_Atomic pid_t early_pid[EARLY_SLOTS];	/* 0: free, -1: being filled */
	struct early early[EARLY_SLOTS];
};

enum { UNOPENED, OPENING, OPENED };

static struct {
	struct store store;
	struct shared *shared;		/* NULL: no host */
	_Atomic bool off;		/* it left, or ended */
	dev_t dev;			/* of tasks.log */
	ino_t ino;
	char tasks[PATH_MAX + 64];	/* its path, for when descriptors were closed */
	bool ninja;			/* or samurai: it hashes its commands, and closes only
					   its own descriptors */
	bool fork;			/* this process is a fork of a host */
	pid_t fork_pid;			/* of that fork, until it executes something */
	struct rusage before;		/* of the host's children before it was one */
	struct peak peak;
	struct buf open;		/* the line of the instance */
	char open_text[EVENT_MAX + 1];
	bool polls;			/* a ninja that waits in poll(), see put_off() */
	struct buf late;
	char late_text[EVENT_MAX + 1];
} host;

/* Not called for a vfork, whose memory is its parent's. */
static void forked(void)
{
	host.fork = true;
	host.fork_pid = getpid();
	atomic_fetch_add(&host.shared->forks, 1);
	host.peak = (struct peak)PEAK_INIT;
	preload_count_forked();
}

bool preload_is_host(void)
{
	return host.shared && !host.off;
}

bool preload_is_host_process(void)
{
	/* a sandbox may forbid the system call to a fork */
	return host.shared && !host.fork && getpid() == host.store.pid;
}

int64_t preload_now_us(void)
{
	return store_now_us(&host.store);
}

/* Writing */

static bool is_tasks_log(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && st.st_ino == host.ino && st.st_dev == host.dev;
}

/* A limit on the size of files may be set later, or in a child only. */
static bool is_limited(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/*
 * It is not open until there is something to write, and the program may close it or use its number
 * for another file. A child opens it for the one line: after vfork() the memory is the parent's.
 */
static void append_anew(struct buf *b)
{
	int fd = file_open_at(AT_FDCWD, host.tasks, O_WRONLY | O_APPEND);

	if (fd < 0 || !is_tasks_log(fd)) {
		/* The recording is complete, or was removed or replaced by another one, which lacks
		 * nothing. */
		if (fd < 0 && fd != -ENOENT)
			store_lose(&host.store, b, fd);
		file_close(fd);
		return;
	}
	host.store.limited |= is_limited();
	store_append_at(&host.store, fd, b);
	if (preload_is_host_process())
		host.store.tasks_fd = fd;
	else
		close(fd);
}

static void flush(void)
{
	if (host.late.len)
		store_append(&host.store, &host.late);
}

/*
 * For an edge, a write() costs more than everything else here. ninja uses one thread: after the
 * end of an edge it starts the next one or waits in poll(). So both lines are written by one
 * write(), before it waits.
 */
static void put_off(struct buf *b)
{
	if (host.late.len + b->len > EVENT_MAX)
		flush();
	buf_add(&host.late, b->data, b->len);
}

void preload_polling(void)
{
	if (!host.ninja || !preload_is_host())
		return;
	flush();
	host.polls = !host.fork && host.store.tasks_fd >= 0;
}

static void append(struct buf *b)
{
	int saved = errno;

	if (host.polls) {
		put_off(b);
		flush();
	} else if (host.ninja && host.store.tasks_fd >= 0)
		store_append(&host.store, b);
	else if (!is_tasks_log(host.store.tasks_fd))
		append_anew(b);
	else {
		host.store.limited |= is_limited();
		store_append(&host.store, b);
	}
	errno = saved;
}

/* Written before the first task, by the thread that starts it. The others wait for the line,
 * which must be the first of the instance. */
static void open_instance(void)
{
	int state = UNOPENED;

	if (atomic_load_explicit(&host.shared->opened, memory_order_acquire) == OPENED)
		return;
	if (atomic_compare_exchange_strong(&host.shared->opened, &state, OPENING)) {
		struct buf line = host.open;

		append(&line);
		atomic_store(&host.shared->opened, OPENED);
		return;
	}
	for (int i = 0; i < PATIENCE && host.shared->opened != OPENED; i++)
		sched_yield();
}

/* What is being run */

/* The script of "sh -c script", otherwise all words that fit. */
static const char *command_text(struct buf *b, char *const argv[])
{
	size_t n = 0;

	if (!argv || !argv[0])
		return NULL;
	while (argv[n])
		n++;
	if (n == 3 && carry_is_interpreter(carry_name(argv[0])) && !strcmp(argv[1], "-c"))
		return argv[2];
	for (size_t i = 0; i < n && !buf_error(b); i++) {
		if (i)
			buf_addc(b, ' ');
		buf_adds(b, argv[i]);
	}
	return buf_str(b);
}

/* The process of a task, as its line names it. */
struct process {
	pid_t pid;		/* -1: unknown */
	bool inner;		/* in the PID namespace of the host, which is another one */
};

static void write_note(struct buf *b, uint64_t task, int64_t t, const char *note)
{
	buf_clear(b);
	event_add_note(b, t, host.store.inst, task, note);
	append(b);
}

static void write_start_in(struct preload_work *w, uint64_t task, int64_t t, struct process p,
			   char *const argv[])
{
	struct event_task e = { .pid = p.pid, .inner = p.inner, .slot = -1 };
	struct buf b, words;
	char note[80];
	bool whole;

	buf_init_fixed(&words, w->words, sizeof w->words);
	e.command = command_text(&words, argv);
	buf_init_fixed(&b, w->line, sizeof w->line);
	whole = event_add_start(&b, t, host.store.inst, task, &e);
	append(&b);
	if (host.ninja && e.command && preload_ninja_note(w, note, sizeof note, e.command, !whole))
		write_note(&b, task, t, note);
}

/* ninja makes no vfork children. */
static bool write_start(uint64_t task, int64_t t, struct process p, char *const argv[])
{
	struct preload_work *w = preload_work_take(host.polls ? host.store.pid : getpid());

	if (w)
		write_start_in(w, task, t, p, argv);
	preload_work_give(w);
	return w;
}

static void write_end(uint64_t task, int64_t t, const struct event_end *e)
{
	char text[512];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	event_add_end(&b, t, host.store.inst, task, e);
	if (host.polls)
		put_off(&b);
	else
		append(&b);
}

static uint64_t next_task(void)
{
	return atomic_fetch_add(&host.shared->last_task, 1) + 1;
}

/* Early ends */

/* A free place, or that of the oldest end, which nobody took. -1: other threads have taken all. */
static int claim_early(struct shared *s)
{
	int oldest = -1;

	for (int i = 0; i < EARLY_SLOTS; i++) {
		pid_t was = 0;

		if (atomic_compare_exchange_strong(&s->early_pid[i], &was, -1))
			return i;
		if (was > 0 && (oldest < 0 || s->early[i].end_us < s->early[oldest].end_us))
			oldest = i;
	}
	if (oldest >= 0) {
		pid_t was = s->early_pid[oldest];

		if (was < 0 || !atomic_compare_exchange_strong(&s->early_pid[oldest], &was, -1))
			return -1;
	}
	return oldest;
}

static void leave_early(pid_t pid, int64_t end_us, const struct event_end *end)
{
	struct shared *s = host.shared;
	int i = claim_early(s);

	if (i < 0)
		return;
	s->early[i] = (struct early){ end_us, *end };
	atomic_store(&s->early_pid[i], pid);
	atomic_fetch_add(&s->n_early, 1);
}

/* An end before since_us is that of an earlier process with that number. */
static bool take_early(pid_t pid, int64_t since_us, struct early *out)
{
	struct shared *s = host.shared;

	if (!atomic_load(&s->n_early))
		return false;
	for (int i = 0; i < EARLY_SLOTS; i++) {
		pid_t was = pid;

		if (!atomic_compare_exchange_strong(&s->early_pid[i], &was, -1))
			continue;
		*out = s->early[i];
		atomic_store(&s->early_pid[i], 0);
		return out->end_us >= since_us;
	}
	return false;
}

/* Starting */

/* key: the process, as the host will wait for it; 0: unknown. */
static void started(pid_t key, struct process p, int64_t t, char *const argv[])
{
	uint64_t task;

	if (argv && argv[0] && carry_is_buildbeat(carry_name(argv[0]))) {
		host.shared->others = true;
		return;		/* it records itself */
	}
	atomic_fetch_add(&host.shared->starting, 1);
	task = next_task();
	open_instance();
	if (!write_start(task, t, p, argv) ||
	    (key && !pidtable_put(&host.shared->children, key, task)))
		host.shared->not_recorded++;
	if (!key)
		atomic_store(&host.shared->first_task, task);
	atomic_fetch_sub(&host.shared->starting, 1);
}

/* A fork of the host may run longer than the build. The recording is complete when its ticket
 * has been removed. */
static bool is_over(void)
{
	return host.fork && getppid() != host.store.pid &&
	       access(preload_carried.ticket, F_OK);
}

void preload_spawning(void)
{
	atomic_fetch_add(&host.shared->spawning, 1);
}

void preload_not_spawned(void)
{
	atomic_fetch_sub(&host.shared->spawning, 1);
}

void preload_spawned(pid_t pid, int64_t start_us, char *const argv[])
{
	struct early early;
	uint64_t task;

	if (!is_over()) {
		started(pid, (struct process){ pid, host.store.inner }, start_us, argv);
		if (take_early(pid, start_us, &early) &&
		    pidtable_take(&host.shared->children, pid, &task)) {
			if (early.end.instructions < 0)
				early.end.instructions = preload_count_take(pid);
			write_end(task, early.end_us, &early.end);
		}
	}
	preload_not_spawned();
}

/* A fork of the host may be in a PID namespace that the host made, where it has another number
 * than elsewhere. */
static struct process own_process(pid_t pid)
{
	char around[PIDSPACE_LIST_MAX];

	if (!host.fork || getppid() == host.store.pid || !host.store.pidspace ||
	    pidspace_own() == host.store.pidspace)
		return (struct process){ pid, host.store.inner };
	return (struct process){ pidspace_ask(around, slice_of(preload_carried.ticket)), false };
}

/* The host waits for the first process of a namespace, which sees no parent, by another number. If
 * the host is in an inner namespace itself, nobody here knows that number. */
static pid_t key_of(pid_t pid, struct process p)
{
	if (!host.fork || getppid())
		return pid;
	return host.store.inner || p.pid < 0 ? 0 : p.pid;
}

void preload_executing(char *const argv[])
{
	pid_t pid = getpid();
	struct process p;

	if (pid == host.fork_pid) {
		host.fork_pid = 0;
		atomic_fetch_add(&host.shared->executed, 1);
	}
	if (pidtable_has(&host.shared->children, pid) || is_over())
		return;
	preload_count_executing();
	p = own_process(pid);
	started(key_of(pid, p), p, preload_now_us(), argv);
}

/* Ending */

static bool take_first(uint64_t *task)
{
	if (atomic_load_explicit(&host.shared->first_task, memory_order_relaxed))
		*task = atomic_exchange(&host.shared->first_task, 0);
	else
		*task = 0;
	return *task;
}

/* A vfork child that only ended, in its parent's memory: libuv tries one before it starts others. */
static bool executed_nothing(const struct rusage *usage)
{
	return usage->ru_minflt + usage->ru_majflt < EXEC_FAULTS;
}

void preload_reaped(pid_t pid, int status, const struct rusage *usage)
{
	int64_t t = preload_now_us();
	struct early unused;
	struct event_end e;
	uint64_t task;

	event_end_init(&e, status);
	event_end_rusage(&e, usage);
	peak_judge(&host.peak, &e);
	e.instructions = preload_count_take(pid);
	if (pidtable_take(&host.shared->children, pid, &task) || take_first(&task)) {
		atomic_fetch_add(&host.shared->reaped, 1);
		if (!is_over())
			write_end(task, t, &e);
		return;
	}
	if (!executed_nothing(usage))
		atomic_fetch_add(&host.shared->reaped, 1);
	if (atomic_load(&host.shared->spawning)) {
		leave_early(pid, t, &e);
		if (pidtable_take(&host.shared->children, pid, &task)) {
			take_early(pid, t, &unused);
			if (e.instructions < 0)
				e.instructions = preload_count_take(pid);
			write_end(task, t, &e);
		}
	}
}

static void note_not_recorded(struct buf *b)
{
	uint64_t n = atomic_exchange(&host.shared->not_recorded, 0);
	char text[128];
	struct buf note;

	if (!n)
		return;
	buf_init_fixed(&note, text, sizeof text);
	buf_adds(&note, STORE_NOTE_PREFIX);
	buf_addu(&note, n);
	buf_adds(&note, " processes were not recorded: too many at once");
	event_add_note(b, preload_now_us(), host.store.inst, 0, buf_str(&note));
}

/* 0, so that readers count no task as lost, if a thread or fork is about to write its start, or
 * was killed before it could. */
static uint64_t last_written(void)
{
	uint64_t last = atomic_load(&host.shared->last_task);

	return atomic_load(&host.shared->starting) ? 0 : last;
}

/* False: forks that executed nothing were the host, too, and no tasks. */
static bool find_children(struct event_children *c)
{
	struct rusage now;

	if (host.shared->others || host.shared->forks != host.shared->executed ||
	    getrusage(RUSAGE_CHILDREN, &now))
		return false;
	*c = (struct event_children){ .reaped = (int64_t)host.shared->reaped };
	event_children_between(c, &host.before, &now);
	return true;
}

static void note_not_counted(struct buf *b)
{
	char text[256];
	struct buf note;

	buf_init_fixed(&note, text, sizeof text);
	preload_count_add_missed(&note);
	if (note.len)
		event_add_note(b, preload_now_us(), host.store.inst, 0, buf_str(&note));
}

static void write_close(void)
{
	struct event_children children;
	bool known = find_children(&children);
	char text[800];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	note_not_recorded(&b);
	note_not_counted(&b);
	event_add_close(&b, preload_now_us(), host.store.inst, last_written(),
			known ? &children : NULL);
	append(&b);
	store_tell_lost(&host.store);
}

/* A program that started no process makes no system call of ours when it ends: it may be in a sandbox. */
static bool may_close(void)
{
	return preload_is_host() && host.shared->opened == OPENED && preload_is_host_process();
}

void preload_host_end(void)
{
	if (may_close() && !atomic_exchange(&host.off, true))
		write_close();
}

/* Not off: of several ends the last one counts. */
void preload_host_executing(void)
{
	if (may_close())
		write_close();
}

void preload_host_leave(void)
{
	host.off = true;
}

/* Beginning */

const char *preload_tool(int argc, char **argv)
{
	const char *name = carry_name(argv[0]);

	if (!carry_is_interpreter(name))
		return name;
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] != '-')
			return carry_name(argv[i]);
		if (!strcmp(argv[i], "-c"))
			break;
	}
	return name;
}

static void prepare_open(int argc, char **argv)
{
	char ancestors[120], cwd[PATH_MAX], command[2 * EVENT_MAX];
	struct event_open e = {
		.pid = host.store.outer_pid, .level = -1, .ancestors = ancestors,
		.cwd = getcwd(cwd, sizeof cwd),
	};
	struct buf words;

	buf_init_fixed(&words, command, sizeof command);
	shell_quote_words(&words, argv);
	e.tool = preload_tool(argc, argv);
	e.command = buf_str(&words);
	ancestors_of(&host.store, ancestors, sizeof ancestors);
	buf_init_fixed(&host.open, host.open_text, sizeof host.open_text);
	event_add_open(&host.open, store_now_us(&host.store), host.store.inst, &e);
}

void preload_host_begin(int argc, char **argv)
{
	struct stat st;
	void *memory;

	if (store_join_ticket(&host.store, preload_carried.ticket))
		return;
	memory = mmap(NULL, sizeof *host.shared, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || fstat(host.store.tasks_fd, &st)) {
		if (memory != MAP_FAILED)
			munmap(memory, sizeof *host.shared);
		store_close(&host.store);
		return;
	}
	close(host.store.tasks_fd);
	host.store.tasks_fd = -1;
	host.ninja = build_tool_of(preload_tool(argc, argv))->one_thread;
	buf_init_fixed(&host.late, host.late_text, sizeof host.late_text);
	host.dev = st.st_dev;
	host.ino = st.st_ino;
	if (host.store.flags & STORE_NFS)
		snprintf(host.tasks, sizeof host.tasks, "%s/" LAYOUT_TASKS_PREFIX "-%s.log",
			 host.store.path, host.store.inst);
	else
		snprintf(host.tasks, sizeof host.tasks, "%s/" LAYOUT_TASKS, host.store.path);
	prepare_open(argc, argv);
	host.shared = memory;
	host.store.lost = &host.shared->lost;
	preload_count_begin(counter_event_of(host.store.flags));
	getrusage(RUSAGE_CHILDREN, &host.before);
	pthread_atfork(preload_count_forking, NULL, forked);
}
