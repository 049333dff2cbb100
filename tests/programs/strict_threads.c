/* SPDX-License-Identifier: MIT */
/*
 * The second thread's first allocation comes when it is in a sandbox: "filter", which the first thread
 * entered for both, or "strict", its own. Ends with 3.
 */
#include "strict.inc"
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
static _Atomic int state;
static void *second(void *strict)
{
	state = 1;
	while (!strict && state != 2)
		;
	if (strict && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
		_exit(77);
	deep(300, 1000);
	state = 3;
	for (;;)
		syscall(SYS_exit, 0);
}
static int enter(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		LET(brk), LET(mmap), LET(munmap), LET(mremap), LET(mprotect), LET(write), LET(exit),
		LET(exit_group), LET(futex),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog p = { sizeof f / sizeof *f, f };
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &p);
}
int main(int argc, char **argv)
{
	int strict = argc > 1 && !strcmp(argv[1], "strict");
	pthread_t t;
	alarm(60);
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, 1 << 20);
	free(malloc(10));
	pthread_create(&t, NULL, second, strict ? &t : NULL);
	while (!state)
		;
	if (!strict && enter())
		return 77;
	if (!strict)
		state = 2;
	while (state != 3)
		;
	deep(300, 1000);
	return write(1, "alive\n", 6) == 6 ? 3 : 4;
}
