#include "launch.h"

#include "carry.h"
#include "clock.h"
#include "report.h"
#include "sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND_NS 1000000000LL

/* What a user or a service manager sends to end or to prod a build. */
static const int passed_on[] = {
	SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2,
};

struct signals {
	sigset_t waited;	/* blocked and taken with sigtimedwait() */
	sigset_t old_mask;
	struct sigaction old_child;
};

/* SIGCHLD must not be ignored while we wait, or there is no status to wait for. */
static void signals_take(struct signals *s)
{
	struct sigaction standard = { .sa_handler = SIG_DFL };

	sigemptyset(&s->waited);
	sigaddset(&s->waited, SIGCHLD);
	for (size_t i = 0; i < sizeof passed_on / sizeof *passed_on; i++)
		sigaddset(&s->waited, passed_on[i]);
	sigaction(SIGCHLD, &standard, &s->old_child);
	sigprocmask(SIG_BLOCK, &s->waited, &s->old_mask);
}

static void signals_give_back(const struct signals *s)
{
	sigaction(SIGCHLD, &s->old_child, NULL);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}

static void execute(const struct launch *l)
{
	struct carry_env e;
	int error;

	if (!l->preload && l->makefiles)
		setenv("MAKEFILES", l->makefiles, 1);
	execvpe(l->argv[0], l->argv,
		l->preload ? carry_put(&e, l->preload, environ, true, l->host ? getpid() : 0) : environ);
	error = errno;
	report("%s: %s", l->argv[0], error == ENOENT ? "command not found" : strerror(error));
	_exit(error == ENOENT ? 127 : 126);
}

/* Sent by a process to us: the command has not seen it. What the terminal sends
 * comes from the kernel and reaches the whole foreground group. */
static void pass_on(const struct launch *l, const siginfo_t *info)
{
	if (info->si_code <= 0 && info->si_pid != l->pid)
		kill(l->pid, info->si_signo);
}

static struct timespec until_sample(const struct sampler *s)
{
	int64_t left_ns = s ? sampler_next_ns(s) - clock_mono_ns() : 3600 * SECOND_NS;

	if (left_ns < 0)
		left_ns = 0;
	return (struct timespec){ left_ns / SECOND_NS, left_ns % SECOND_NS };
}

static int wait_for(struct launch *l, const struct signals *s)
{
	for (;;) {
		struct timespec timeout;
		siginfo_t info;
		pid_t pid = wait4(l->pid, &l->status, WNOHANG, &l->usage);
		int sig;

		if (pid == l->pid)
			return 0;
		if (pid < 0 && errno != EINTR)
			return -errno;
		timeout = until_sample(l->sampler);
		sig = sigtimedwait(&s->waited, &info, &timeout);
		if (sig > 0 && sig != SIGCHLD)
			pass_on(l, &info);
		if (l->sampler && sampler_next_ns(l->sampler) <= clock_mono_ns())
			sampler_take(l->sampler, false);
	}
}

/* An interrupt that ended the command is not to end us before we are done. */
static void forget_pending(const struct signals *s)
{
	struct timespec now = { 0, 0 };

	while (sigtimedwait(&s->waited, NULL, &now) > 0)
		;
}

int launch_run(struct launch *l)
{
	struct signals s;
	int r;

	signals_take(&s);
	l->pid = fork();
	if (l->pid < 0) {
		report("cannot watch the command, it runs alone: %s", strerror(errno));
		signals_give_back(&s);
		execute(l);
	}
	if (l->pid == 0) {
		signals_give_back(&s);
		if (l->entered)
			l->entered(l->context);
		execute(l);
	}
	if (l->started)
		l->started(l->context, l->pid);
	r = wait_for(l, &s);
	forget_pending(&s);
	signals_give_back(&s);
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
