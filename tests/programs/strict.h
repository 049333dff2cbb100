/* SPDX-License-Identifier: MIT */
/* Of the programs in sandboxes: a filter lets a system call pass; allocations from stacks of many depths. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define LET(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static void deep(int n, size_t size)
{
	volatile char frame[500];
	frame[0] = 1;
	free(malloc(size));
	if (n)
		deep(n - 1, size);
	frame[1] = 1;
}
