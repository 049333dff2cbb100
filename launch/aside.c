/* SPDX-License-Identifier: MIT */
#include "launch/aside.h"

#include "base/array.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int aside_settle(const char *name, int fd, const sigset_t *mask)
{
	static const int usual[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ };
	struct sched_param param = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	prctl(PR_SET_NAME, name);
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		signal(usual[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	setpriority(PRIO_PROCESS, 0, 10);
	sched_setscheduler(0, SCHED_BATCH, &param);
	for (int i = 0; i < 3 && null >= 0; i++)
		dup2(null, i);
	if (fd >= 0 && fd != 3) {
		dup2(fd, 3);
		fd = 3;
	}
	syscall(SYS_close_range, fd < 0 ? 3U : 4U, ~0U, 0U);
	return fd;
}
