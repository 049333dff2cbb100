/* SPDX-License-Identifier: MIT */
/* Preloaded into buildbeat, which then cannot create a process. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

pid_t fork(void)
{
	errno = EAGAIN;
	return -1;
}

pid_t _Fork(void)
{
	return fork();
}
