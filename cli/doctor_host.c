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
	doctor_add(d, "kernel", DOCTOR_OK, false, NULL, "%s %s on %s", u.sysname, u.release,
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
		doctor_add(d, "clock", DOCTOR_LIMITED, false,
			   "see the kernel log (dmesg) for why the faster clock was disabled",
			   "%s: reading the time is slow", source);
	else
		doctor_add(d, "clock", DOCTOR_OK, false, NULL, "%s", source);
}

/* A missing or unreadable /proc/pressure has several reasons. */
static void check_pressure(struct doctor *d)
{
	char line[256], commandline[4096];
	ssize_t n = readfile_line(AT_FDCWD, "/proc/pressure/cpu", line, sizeof line);

	if (n > 0) {
		doctor_add(d, "pressure", DOCTOR_OK, false, NULL,
			   "waiting for CPU, memory and disk is measured");
		return;
	}
	readfile_line(AT_FDCWD, "/proc/cmdline", commandline, sizeof commandline);
	if (strstr(commandline, "psi=0"))
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   "remove psi=0 from the kernel's command line",
			   "disabled on the kernel's command line");
	else if (n == -EOPNOTSUPP)
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   "add psi=1 to the kernel's command line",
			   "supported by the kernel, but disabled at boot");
	else if (n == -EACCES || n == -EPERM)
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   "let the container read /proc/pressure",
			   "cannot read /proc/pressure");
	else
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   "use Linux 4.20 or newer with CONFIG_PSI; boot with psi=1 if it is "
			   "disabled by default",
			   "no /proc/pressure: waiting for CPU, memory and disk is not measured");
}

static void check_process_files(struct doctor *d)
{
	char line[256], path[64];

	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	if (readfile_line(AT_FDCWD, path, line, sizeof line) < 0)
		doctor_add(d, "children", DOCTOR_LIMITED, false,
			   "use a kernel with CONFIG_PROC_CHILDREN",
			   "the kernel does not list the children of a process: sampling running "
			   "tasks scans all processes");
	else
		doctor_add(d, "children", DOCTOR_OK, false, NULL,
			   "the kernel lists the children of a process");
	if (readfile_line(AT_FDCWD, "/proc/self/io", line, sizeof line) <= 0)
		doctor_add(d, "task-io", DOCTOR_LIMITED, false,
			   "use a kernel with CONFIG_TASK_IO_ACCOUNTING, and a container that "
			   "can read /proc/PID/io",
			   "cannot read /proc/PID/io: --task-io records nothing");
	else
		doctor_add(d, "task-io", DOCTOR_OK, false, NULL,
			   "--task-io can record the bytes that tasks read and write");
	if (readfile_line(AT_FDCWD, "/proc/self/smaps_rollup", line, sizeof line) <= 0)
		doctor_add(d, "pss", DOCTOR_LIMITED, false,
			   "use Linux 4.14 or newer with CONFIG_PROC_PAGE_MONITOR",
			   "no /proc/PID/smaps_rollup: shared memory is counted for each process");
	else
		doctor_add(d, "pss", DOCTOR_OK, false, NULL,
			   "shared memory is divided among the processes (PSS)");
}

/* A build may run processes as another user. */
static void check_hidden(struct doctor *d)
{
	char line[256];

	if (geteuid() == 0 || readfile_line(AT_FDCWD, "/proc/1/stat", line, sizeof line) > 0)
		return;
	doctor_add(d, "processes", DOCTOR_LIMITED, false,
		   "mount /proc without hidepid, or record as the user that builds",
		   "processes of other users are hidden: tasks that run as another user have "
		   "no memory values");
}

void doctor_host(struct doctor *d)
{
	check_kernel(d);
	check_clock(d);
	check_pressure(d);
	check_process_files(d);
	check_hidden(d);
}
