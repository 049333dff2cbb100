/* SPDX-License-Identifier: MIT */
#include "launch/launch.h"

#include "base/array.h"
#include "base/clock.h"
#include "launch/arm.h"
#include "launch/notice.h"
#include "launch/pause.h"
#include "launch/relay.h"
#include "launch/witness.h"
#include "plugin/carry.h"
#include "sampler/pidserver.h"
#include "sampler/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL

/* A process that ends a build one by one, as a service manager does, may send to us before it
 * sends to the rest of the build. */
#define GRACE_NS 20000000LL

/* Signals by which a user or a service manager ends or controls a build. */
static const int passed_on[] = {
	SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2,
};

struct signals {
	sigset_t passed;	/* those above */
	sigset_t waited;	/* these, SIGCHLD and the witness's: blocked, received by
				   sigtimedwait() */
	sigset_t old_mask;
	struct sigaction old_child;
	struct witness witness;
};

/* SIGCHLD must not be ignored while we wait, otherwise the kernel discards the status. */
static void signals_take(struct signals *s)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };

	sigemptyset(&s->passed);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
		sigaddset(&s->passed, passed_on[i]);
	s->waited = s->passed;
	sigaddset(&s->waited, SIGCHLD);
	sigaddset(&s->waited, WITNESS_SIGNAL);
	sigaddset(&s->waited, SIGCONT);
	sigaction(SIGCHLD, &standard, &s->old_child);
	sigprocmask(SIG_BLOCK, &s->waited, &s->old_mask);
}

static void signals_give_back(const struct signals *s, const sigset_t *mask)
{
	sigaction(SIGCHLD, &s->old_child, NULL);
	sigprocmask(SIG_SETMASK, mask ? mask : &s->old_mask, NULL);
}

/* not_run: set if the command could not be executed (or NULL). */
static _Noreturn void execute(const struct launch *l, _Atomic bool *not_run)
{
	struct carry_env e;
	int error;

	if (l->traceparent)
		setenv("TRACEPARENT", l->traceparent, 1);
	if (l->stats_log)
		setenv("CCACHE_STATSLOG", l->stats_log, 1);
	if (l->arm)
		arm_environment(l->arm);
	if (!l->preload && l->makefiles)
		setenv("MAKEFILES", l->makefiles, 1);
	execvpe(l->argv[0], l->argv,
		l->preload ? carry_put(&e, l->preload, environ, true, l->host ? getpid() : 0) : environ);
	error = errno;
	if (not_run)
		*not_run = true;
	notice("%s: %s", l->argv[0], error == ENOENT ? "command not found" : strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

/* Passing signals on */

/* Signals that are being examined, as bits. */
struct round {
	uint64_t got;		/* by us */
	uint64_t keep;		/* of these: must not be passed on */
	uint64_t seen;		/* by the witness */
};

static void add_signal(struct round *r, const struct launch *l, const struct signals *s,
		       const siginfo_t *info)
{
	/* Without a witness: signals of the terminal come from the kernel and reach the whole
	 * foreground group. */
	bool group = !s->witness.pid && info->si_code > 0;

	r->got |= witness_bit(info->si_signo);
	if (group || (info->si_code <= 0 && info->si_pid == l->pid))
		r->keep |= witness_bit(info->si_signo);
	else
		r->keep &= ~witness_bit(info->si_signo);
}

static void take_pending(struct round *r, const struct launch *l, const struct signals *s)
{
	static const struct timespec at_once;
	siginfo_t info;

	while (sigtimedwait(&s->passed, &info, &at_once) > 0)
		add_signal(r, l, s, &info);
}

static void pass_on(struct round *r, const struct launch *l)
{
	uint64_t alone = r->got & ~r->seen & ~r->keep;

	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++) {
		if (alone & witness_bit(passed_on[i]))
			kill(l->pid, passed_on[i]);
	}
	r->got &= r->seen;
}

/* False: nothing more can be found out. */
static bool compare_signals(struct round *r, const struct launch *l, struct signals *s)
{
	uint64_t seen;

	if (!witness_ask(&s->witness, &seen))
		return false;
	r->seen |= seen;
	take_pending(r, l, s);
	return r->got != r->seen;
}

static bool wait_for_more(struct round *r, const struct launch *l, struct signals *s,
			  int64_t until_ns)
{
	int64_t left_ns = until_ns - clock_mono_ns();
	struct timespec left = { 0, left_ns > 0 ? left_ns : 0 };
	sigset_t set = s->passed;
	siginfo_t info;
	int sig;

	sigaddset(&set, WITNESS_SIGNAL);
	sig = left_ns > 0 ? sigtimedwait(&set, &info, &left) : -1;
	if (sig < 0 && left_ns > 0 && errno == EINTR)
		return true;
	if (sig > 0 && sig != WITNESS_SIGNAL) {
		/* another signal: those sent to us alone before it keep their order */
		compare_signals(r, l, s);
		pass_on(r, l);
		add_signal(r, l, s, &info);
	}
	return sig > 0;
}

/* Signals have arrived here or at the witness: pass on those that were sent to us alone. info:
 * one of them, or NULL. */
static void look_into(struct launch *l, struct signals *s, const siginfo_t *info)
{
	int64_t until_ns = clock_mono_ns() + GRACE_NS;
	struct round r = { 0 };

	if (info)
		add_signal(&r, l, s, info);
	take_pending(&r, l, s);
	while (compare_signals(&r, l, s) && wait_for_more(&r, l, s, until_ns))
		;
	pass_on(&r, l);
}

/* The command's process exists and waits: send it the signals that have arrived so far. */
static void let_go(const struct launch *l, struct signals *s)
{
	struct round r = { 0 };
	sigset_t pending;
	uint64_t seen;

	if (!s->witness.page)
		return;
	sigpending(&pending);
	for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++) {
		if (sigismember(&pending, passed_on[i]) == 1)
			r.got |= witness_bit(passed_on[i]);
	}
	witness_release(&s->witness, r.got);
	if (!r.got)
		return;
	take_pending(&r, l, s);
	witness_ask(&s->witness, &seen);
}

static struct timespec until_sample(const struct sampler *s)
{
	int64_t left_ns = s ? sampler_next_ns(s) - clock_mono_ns() : 3600 * SECOND_NS;

	if (left_ns < 0)
		left_ns = 0;
	return (struct timespec){ left_ns / SECOND_NS, left_ns % SECOND_NS };
}

/* The launcher was stopped. Other signals may come first. */
static bool has_continued(void)
{
	static const struct timespec at_once;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCONT);
	return sigtimedwait(&set, NULL, &at_once) == SIGCONT;
}

static bool has_ended(int status)
{
	return WIFEXITED(status) || WIFSIGNALED(status);
}

static int wait_for_build(struct launch *l, struct signals *s)
{
	struct pause pause = { .store = l->sampler ? l->store : NULL };

	for (;;) {
		struct timespec timeout;
		siginfo_t info;
		int64_t due_ns;
		pid_t pid = wait4(l->pid, &l->status, WNOHANG | WUNTRACED | WCONTINUED, &l->usage);
		int sig;

		if (pid == l->pid && has_ended(l->status)) {
			pause_end(&pause);
			return 0;
		}
		if (pid == l->pid) {
			pause_status(&pause, l->status);
			continue;
		}
		if (pid < 0 && errno != EINTR)
			return -errno;
		due_ns = l->sampler ? sampler_next_ns(l->sampler) : INT64_MAX;
		timeout = until_sample(l->sampler);
		sig = sigtimedwait(&s->waited, &info, &timeout);
		if (sig == SIGCHLD && l->relay)
			relay_tend(l->relay);
		if (due_ns <= clock_mono_ns() && (sig == SIGCONT || has_continued()))
			pause_continued(&pause, due_ns);
		if (sig > 0 && sig != SIGCHLD && sig != SIGCONT)
			look_into(l, s, sig == WITNESS_SIGNAL ? NULL : &info);
		if (l->sampler && sampler_next_ns(l->sampler) <= clock_mono_ns())
			sampler_take(l->sampler, false);
	}
}

/* An interrupt that ended the command must not end us before we are done. */
static void forget_pending(const struct signals *s)
{
	struct timespec now = { 0, 0 };

	while (sigtimedwait(&s->waited, NULL, &now) > 0)
		;
}

/* The witness must not use the last process that the user may have. */
static pid_t fork_command(struct signals *s)
{
	pid_t pid = fork();

	if (pid < 0 && s->witness.pid) {
		witness_stop(&s->witness);
		pid = fork();
	}
	return pid;
}

/* A page that the command's process shares with us. NULL: no memory. */
static _Atomic bool *share_flag(void)
{
	void *page = mmap(NULL, sizeof(_Atomic bool), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page == MAP_FAILED ? NULL : page;
}

int launch_run(struct launch *l)
{
	_Atomic bool *not_run = share_flag();
	struct counter counter = COUNTER_CLOSED;
	pid_t launcher = getpid();
	struct signals s;
	int r;

	signals_take(&s);
	witness_start(&s.witness, &s.passed, l->argv);
	l->pid = fork_command(&s);
	r = l->pid < 0 ? -errno : 0;
	if (l->pid == 0) {
		witness_hold(&s.witness, launcher);
		signals_give_back(&s, l->mask);
		if (l->relay)
			relay_enter(l->relay);
		if (l->entered)
			l->entered(l->context);
		execute(l, not_run);
	}
	if (l->relay)
		relay_entered(l->relay);
	if (!r) {
		if (l->pidserver)
			pidserver_start(l->pidserver);
		if (l->started)
			l->started(l->context, l->pid);
		l->counted = l->count ? counter_open(&counter, l->count, l->pid) : -EBADF;
		let_go(l, &s);
		r = wait_for_build(l, &s);
		forget_pending(&s);
		if (counter.fd >= 0)
			l->counted = counter_take(&counter, l->count);
	}
	witness_stop(&s.witness);
	signals_give_back(&s, NULL);
	l->not_run = l->pid < 0 || (not_run && *not_run);
	if (not_run)
		munmap(not_run, sizeof *not_run);
	return r;
}

int launch_exit_status(int status)
{
	struct rlimit no_core = { 0, 0 };
	sigset_t set;
	int sig;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	sig = WTERMSIG(status);
	setrlimit(RLIMIT_CORE, &no_core);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	return 128 + sig;
}

int launch_end(struct launch *l, int r)
{
	if (r && l->pid < 0) {
		notice("cannot watch the command, it runs alone: %s", strerror(-r));
		l->preload = NULL;
		l->makefiles = NULL;
		if (l->mask)
			sigprocmask(SIG_SETMASK, l->mask, NULL);
		execute(l, NULL);
	}
	return r ? 2 : launch_exit_status(l->status);
}
