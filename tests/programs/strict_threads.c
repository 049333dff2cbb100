/* SPDX-License-Identifier: MIT */
/*
 * The second thread's first allocation comes when it is in a sandbox: "filter", which the first thread
 * entered for both, or "strict" or "prctl", its own. "forked": a child's, which enters it. Ends with 3.
 */
#include "strict.inc"
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
static _Atomic int state;
static int enter(int own)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		LET(brk), LET(mmap), LET(munmap), LET(mremap), LET(mprotect), LET(write), LET(exit),
		LET(exit_group), LET(futex),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog p = { sizeof f / sizeof *f, f };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return own ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) :
		     syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p);
}
static const char *mode = "";
static int is(const char *what)
{
	return !strcmp(mode, what);
}
static void *second(void *unused)
{
	state = 1;
	while (is("filter") && state != 2)
		;
	if ((is("strict") && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0)) ||
	    (is("prctl") && enter(1)))
		_exit(77);
	deep(300, 1000);
	state = 3;
	for (;;)
		syscall(SYS_exit, 0);
}
static int forked(void)
{
	int status = 0;
	if (fork())
		return wait(&status) > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 5;
	if (enter(0))
		_exit(77);
	deep(300, 1000);
	_exit(3);
}
int main(int argc, char **argv)
{
	pthread_t t;
	mode = argc > 1 ? argv[1] : mode;
	alarm(60);
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, 1 << 20);
	free(malloc(10));
	if (is("forked"))
		return forked();
	pthread_create(&t, NULL, second, NULL);
	while (!state)
		;
	if (is("filter")) {
		if (enter(0))
			return 77;
		state = 2;
	}
	while (state != 3)
		;
	deep(300, 1000);
	return write(1, "alive\n", 6) == 6 ? 3 : 4;
}
