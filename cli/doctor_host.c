/* SPDX-License-Identifier: MIT */
#include "base/readfile.h"
#include "cli/doctor.h"

#include "base/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void check_kernel(struct doctor *d)
{
	struct utsname u;

	if (uname(&u))
		return;
	doctor_add(d, "kernel", FINDING_OK, false, NULL, "%s %s on %s", u.sysname, u.release,
		   u.machine);
}

static void check_clock(struct doctor *d)
{
	char source[64];

	if (readfile_line(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      source, sizeof source) <= 0)
		return;
	if (!strcmp(source, "hpet") || !strcmp(source, "acpi_pm") ||
	    !strcmp(source, "jiffies"))
		doctor_add(d, "clock", FINDING_LIMITED, false,
			   "see the kernel's messages why the faster clock was given up",
			   "%s: every reading of the time is slow", source);
	else
		doctor_add(d, "clock", FINDING_OK, false, NULL, "%s", source);
}

/* Why there is no /proc/pressure, or none that can be read. */
static void check_pressure(struct doctor *d)
{
	char line[256], commandline[4096];
	ssize_t n = readfile_line(AT_FDCWD, "/proc/pressure/cpu", line, sizeof line);

	if (n > 0) {
		doctor_add(d, "pressure", FINDING_OK, false, NULL,
			   "the kernel tells how long work waits for CPU, memory and disk");
		return;
	}
	readfile_line(AT_FDCWD, "/proc/cmdline", commandline, sizeof commandline);
	if (strstr(commandline, "psi=0"))
		doctor_add(d, "pressure", FINDING_LIMITED, false,
			   "take psi=0 off the kernel's command line",
			   "switched off on the kernel's command line");
	else if (n == -EOPNOTSUPP)
		doctor_add(d, "pressure", FINDING_LIMITED, false,
			   "add psi=1 to the kernel's command line",
			   "in the kernel, but switched off at boot");
	else if (n == -EACCES || n == -EPERM)
		doctor_add(d, "pressure", FINDING_LIMITED, false,
			   "let the container read /proc/pressure",
			   "/proc/pressure must not be read here");
	else
		doctor_add(d, "pressure", FINDING_LIMITED, false,
			   "needs a kernel 4.20 or newer with CONFIG_PSI, and psi=1 "
			   "where it is off by default",
			   "no /proc/pressure: waiting is not measured");
}

static void check_process_files(struct doctor *d)
{
	char line[256], path[64];

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	if (readfile_line(AT_FDCWD, path, line, sizeof line) < 0)
		doctor_add(d, "children", FINDING_LIMITED, false,
			   "needs a kernel with CONFIG_PROC_CHILDREN",
			   "no list of a process's children: memory of running tasks takes "
			   "a scan of all processes");
	else
		doctor_add(d, "children", FINDING_OK, false, NULL,
			   "processes of running tasks are found by their parents");
	if (readfile_line(AT_FDCWD, "/proc/self/io", line, sizeof line) <= 0)
		doctor_add(d, "task-io", FINDING_LIMITED, false,
			   "needs a kernel with CONFIG_TASK_IO_ACCOUNTING, and a container "
			   "that may read it",
			   "/proc/PID/io is not readable: --task-io records nothing");
	else
		doctor_add(d, "task-io", FINDING_OK, false, NULL,
			   "bytes read and written by a task can be told (--task-io)");
	if (readfile_line(AT_FDCWD, "/proc/self/smaps_rollup", line, sizeof line) <= 0)
		doctor_add(d, "pss", FINDING_LIMITED, false,
			   "needs a kernel 4.14 or newer with CONFIG_PROC_PAGE_MONITOR",
			   "no smaps_rollup: memory that processes share is counted "
			   "for each of them");
	else
		doctor_add(d, "pss", FINDING_OK, false, NULL,
			   "shared memory can be divided among the processes");
}

/* Others' processes may be hidden from us: a build that changes its user. */
static void check_hidden(struct doctor *d)
{
	char line[256];

	if (geteuid() == 0 || readfile_line(AT_FDCWD, "/proc/1/stat", line, sizeof line) > 0)
		return;
	doctor_add(d, "processes", FINDING_LIMITED, false,
		   "mount /proc without hidepid, or record as the user who builds",
		   "other users' processes are hidden: tasks that run as others have no memory "
		   "figures");
}

void doctor_host(struct doctor *d)
{
	check_kernel(d);
	check_clock(d);
	check_pressure(d);
	check_process_files(d);
	check_hidden(d);
}
