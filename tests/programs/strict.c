/* SPDX-License-Identifier: MIT */
/* Once it runs, nothing but memory and output is allowed. Ends with 3. */
#include "strict.inc"
#include <pthread.h>
#include <sys/mman.h>
int main(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		LET(brk), LET(mmap), LET(munmap), LET(mremap), LET(write), LET(exit_group),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog p = { sizeof f / sizeof *f, f };
	free(malloc(10));
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p))
		return 77;
	for (int i = 0; i < 3000; i++)
		memset(malloc(10000), 1, 100);
	deep(300, 100000);
	mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return write(1, "alive\n", 6) == 6 ? 3 : 4;
}
