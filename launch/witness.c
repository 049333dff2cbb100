/* SPDX-License-Identifier: MIT */
#include "launch/witness.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 100000000
#define SLICES 20	/* until a witness that does not answer is stopped */

struct witness_page {
	_Atomic uint64_t seen, received;
	_Atomic uint32_t asked, answered, go;
};

/* Wait until the word changes from value, for at most one slice of time. Slices are short
 * because a process that was stopped and continued finds its time used up. */
static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
	struct timespec slice = { 0, SLICE_NS };

	syscall(SYS_futex, word, FUTEX_WAIT, value, &slice, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The witness */

/* The kernel shows the memory of the program's first argv as the command line. The words of the
 * command are at its end. */
static void look_like(char *const *command)
{
	const char *slash = strrchr(command[0], '/');
	char *start = program_invocation_name, *end = command[0];
	size_t len;

	prctl(PR_SET_NAME, slash ? slash + 1 : command[0]);
	for (size_t i = 0; command[i] && command[i] == end; i++)
		end += strlen(end) + 1;
	/* Words below the program's name are not on the initial stack: they were allocated later. */
	if ((uintptr_t)command[0] <= (uintptr_t)start)
		return;
	len = (size_t)(end - command[0]);
	memmove(start, command[0], len);
	memset(start + len, '\0', (size_t)(end - start) - len);
}

static _Noreturn void run_witness(struct witness_page *page, const sigset_t *watched,
				  pid_t launcher)
{
	static const struct timespec at_once;
	sigset_t all = *watched;
	int sig;

	sigaddset(&all, WITNESS_SIGNAL);
	for (;;) {
		sig = sigwaitinfo(&all, NULL);
		if (sig < 0)
			continue;
		if (sig != WITNESS_SIGNAL) {
			atomic_fetch_or(&page->seen, witness_bit(sig));
			kill(launcher, WITNESS_SIGNAL);
			continue;
		}
		while ((sig = sigtimedwait(watched, NULL, &at_once)) > 0 || errno == EINTR)
			atomic_fetch_or(&page->seen, witness_bit(sig));
		atomic_store(&page->answered, atomic_load(&page->asked));
		futex_wake(&page->answered);
	}
}

/* The launcher */

void witness_start(struct witness *w, const sigset_t *watched, char *const *command)
{
	pid_t launcher = getpid();

	*w = (struct witness){ 0 };
	w->page = mmap(NULL, sizeof *w->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (w->page == MAP_FAILED)
		w->page = NULL;
	if (!w->page)
		return;
	/* not fork(), which calls the handlers of libraries */
	w->pid = _Fork();
	if (w->pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != launcher)
			_exit(0);
		syscall(SYS_close_range, 0U, ~0U, 0U);
		look_like(command);
		run_witness(w->page, watched, launcher);
	}
	if (w->pid < 0)
		witness_stop(w);
}

void witness_stop(struct witness *w)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (w->page)
		munmap(w->page, sizeof *w->page);
	*w = (struct witness){ 0 };
}

/*
 * After this, a kill() of a process group that was in progress has reached the whole group: the
 * kernel sends signals under a lock that setpgid() takes for writing. No process group has this
 * number, so nothing else happens.
 */
static void finish_kills(void)
{
	setpgid(0, INT_MAX);
}

bool witness_ask(struct witness *w, uint64_t *seen)
{
	uint32_t question, answer;

	*seen = 0;
	if (!w->pid)
		return false;
	finish_kills();
	question = atomic_fetch_add(&w->page->asked, 1) + 1;
	kill(w->pid, WITNESS_SIGNAL);
	for (int i = 0; i < SLICES; i++) {
		answer = atomic_load(&w->page->answered);
		if (answer == question) {
			*seen = atomic_exchange(&w->page->seen, 0);
			return true;
		}
		futex_wait(&w->page->answered, answer);
	}
	witness_stop(w);
	return false;
}

/* The command's process */

void witness_hold(const struct witness *w, pid_t launcher)
{
	sigset_t pending;
	uint64_t received;

	if (!w->page)
		return;
	while (!atomic_load(&w->page->go) && getppid() == launcher)
		futex_wait(&w->page->go, 0);
	received = atomic_load(&w->page->received);
	sigpending(&pending);
	for (int sig = 1; received && sig < 64; sig++) {
		if ((received & witness_bit(sig)) && sigismember(&pending, sig) != 1)
			kill(getpid(), sig);
	}
}

void witness_release(const struct witness *w, uint64_t received)
{
	if (!w->page)
		return;
	atomic_store(&w->page->received, received);
	atomic_store(&w->page->go, 1);
	futex_wake(&w->page->go);
}
