/* SPDX-License-Identifier: MIT */
#include "cli/doctor.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/readfile.h"
#include "base/text.h"
#include "base/trust.h"
#include "cli/configfile.h"
#include "command/redact.h"
#include "launch/gitstamp.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "sampler/counter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define MB (1024 * 1024)
#define ENOUGH_MB 100
#define FILES_WANTED 256
#define NFS_MAGIC 0x6969

void doctor_add(struct doctor *d, const char *check, enum doctor_state state,
		bool essential, const char *remedy, const char *format, ...)
{
	struct doctor_finding *f = &d->finding[d->n];
	va_list ap;

	if (d->n == DOCTOR_MAX)
		return;
	d->n++;
	f->check = check;
	f->state = state;
	f->essential = essential;
	snprintf(f->remedy, sizeof f->remedy, "%s", remedy ? remedy : "");
	va_start(ap, format);
	vsnprintf(f->text, sizeof f->text, format, ap);
	va_end(ap);
}

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

	if (readfile_line(AT_FDCWD, CLOCKSOURCE, source, sizeof source) <= 0)
		return;
	if (!strcmp(source, "hpet") || !strcmp(source, "acpi_pm") ||
	    !strcmp(source, "jiffies"))
		doctor_add(d, "clock", DOCTOR_LIMITED, false,
			   "the kernel log says why the faster clock is disabled: sudo dmesg | grep -i clocksource",
			   "%s: reading the time is slow", source);
	else
		doctor_add(d, "clock", DOCTOR_OK, false, NULL, "%s", source);
}

/* Is the process in a container, as its usual marks say? */
static bool in_container(void)
{
	return !access("/.dockerenv", F_OK) || !access("/run/.containerenv", F_OK) ||
	       !access("/run/systemd/container", F_OK) || getenv("KUBERNETES_SERVICE_HOST");
}

/* A missing or unreadable /proc/pressure has several reasons. */
static void check_pressure(struct doctor *d)
{
	char line[256], commandline[4096] = "";
	ssize_t n = readfile_line(AT_FDCWD, "/proc/pressure/cpu", line, sizeof line);

	if (n > 0) {
		doctor_add(d, "pressure", DOCTOR_OK, false, NULL,
			   "waiting for CPU, memory and disk is measured");
		return;
	}
	readfile_line(AT_FDCWD, "/proc/cmdline", commandline, sizeof commandline);
	if (strstr(commandline, "psi=0"))
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   "remove psi=0 from GRUB_CMDLINE_LINUX in /etc/default/grub; then: "
			   "sudo update-grub && sudo reboot",
			   "disabled on the kernel's command line");
	else if (n == -EOPNOTSUPP)
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   "add psi=1 to GRUB_CMDLINE_LINUX in /etc/default/grub; then: "
			   "sudo update-grub && sudo reboot",
			   "supported by the kernel, but disabled at boot");
	else if (n == -EACCES || n == -EPERM)
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   "as root: chmod a+r /proc/pressure/*; in a container: docker run "
			   "--security-opt apparmor=unconfined",
			   "cannot read /proc/pressure: %s", strerror((int)-n));
	else if (n == 0 || !access("/proc/pressure", F_OK))
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   "docker run --security-opt systempaths=unconfined, or podman run "
			   "--security-opt unmask=/proc/pressure",
			   "/proc/pressure is masked, as containers do: waiting for CPU, memory and "
			   "disk is not measured");
	else
		doctor_add(d, "pressure", DOCTOR_LIMITED, false,
			   in_container() ?
			   "on the host of the container: boot Linux 4.20 or newer with psi=1" :
			   "add psi=1 to GRUB_CMDLINE_LINUX in /etc/default/grub; then: sudo "
			   "update-grub && sudo reboot; the kernel needs CONFIG_PSI (Linux 4.20)",
			   "no /proc/pressure: waiting for CPU, memory and disk is not measured");
}

/* What to type to install packages of these names on this distribution. */
const char *doctor_install(char out[DOCTOR_INSTALL_SIZE], const char *packages)
{
	static const struct {
		const char *program, *command;
	} managers[] = {
		{ "apt-get", "sudo apt-get install" }, { "dnf", "sudo dnf install" },
		{ "zypper", "sudo zypper install" }, { "pacman", "sudo pacman -S" },
		{ "apk", "sudo apk add" }, { "emerge", "sudo emerge" },
	};
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(managers); i++) {
		snprintf(path, sizeof path, "/usr/bin/%s", managers[i].program);
		if (access(path, X_OK))
			snprintf(path, sizeof path, "/sbin/%s", managers[i].program);
		if (!access(path, X_OK)) {
			snprintf(out, DOCTOR_INSTALL_SIZE, "%s %s", managers[i].command, packages);
			return out;
		}
	}
	snprintf(out, DOCTOR_INSTALL_SIZE, "install %s", packages);
	return out;
}

static void check_process_files(struct doctor *d)
{
	char children[64];
	const struct {
		const char *check, *path, *good, *bad, *remedy;
	} files[] = {
		{ "children", children, "the kernel lists the children of a process",
		  "the kernel does not list the children of a process: sampling running "
		  "tasks scans all processes", "use a kernel with CONFIG_PROC_CHILDREN" },
		{ "task-io", "/proc/self/io",
		  "--task-io can record the bytes that tasks read and write",
		  "cannot read /proc/PID/io: --task-io records nothing",
		  "use a kernel with CONFIG_TASK_IO_ACCOUNTING, and a container that "
		  "can read /proc/PID/io" },
		{ "pss", "/proc/self/smaps_rollup",
		  "shared memory is divided among the processes (PSS)",
		  "no /proc/PID/smaps_rollup: shared memory is counted for each process",
		  "use Linux 4.14 or newer with CONFIG_PROC_PAGE_MONITOR" },
	};

	snprintf(children, sizeof children, "/proc/self/task/%d/children", (int)getpid());
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char line[256];
		ssize_t n = readfile_line(AT_FDCWD, files[i].path, line, sizeof line);
		/* a process without children has an empty list */
		bool works = n > 0 || (n == 0 && files[i].path == children);

		doctor_add(d, files[i].check, works ? DOCTOR_OK : DOCTOR_LIMITED, false,
			   works ? NULL : files[i].remedy, "%s",
			   works ? files[i].good : files[i].bad);
	}
}

static void check_counters(struct doctor *d)
{
	int r = counter_try(COUNTER_INSTRUCTIONS);
	struct counter_why why;

	if (!r) {
		doctor_add(d, "instructions", DOCTOR_OK, false, NULL,
			   "--instructions can count the instructions of tasks");
		return;
	}
	counter_explain(&why, r, counter_paranoid());
	doctor_add(d, "instructions", DOCTOR_LIMITED, false, why.remedy,
		   "--instructions counts nothing: %s", why.text);
}

/* A build may run processes as another user. */
static void check_hidden(struct doctor *d)
{
	char line[256];

	if (geteuid() == 0 || readfile_line(AT_FDCWD, "/proc/1/stat", line, sizeof line) > 0)
		return;
	doctor_add(d, "processes", DOCTOR_LIMITED, false,
		   "sudo mount -o remount,hidepid=0 /proc, or run record as the user that builds",
		   "processes of other users are hidden: tasks that run as another user have "
		   "no memory values");
}

static void check_config(struct doctor *d)
{
	char path[PATH_MAX];
	struct error err;
	bool project;

	if (d->settings->config)
		doctor_add(d, "config", DOCTOR_OK, false, NULL, "%s", d->settings->config);
	else if (!configfile_find(path, &project, &err))
		doctor_add(d, "config", DOCTOR_OK, false, NULL, "%s", path);
	else
		doctor_add(d, "config", DOCTOR_OK, false, NULL, "no file: default settings");
}

/* The directory of recordings, or the nearest existing directory above it. */
static void nearest_directory(char out[PATH_MAX], const char *path)
{
	char *slash;

	snprintf(out, PATH_MAX, "%s", path);
	while (access(out, F_OK)) {
		slash = strrchr(out, '/');
		if (!slash) {
			strcpy(out, ".");
			return;
		}
		slash[slash == out] = '\0';
	}
}

static void check_space(struct doctor *d, const struct statfs *fs, const char *dir)
{
	unsigned long long free_mb = (unsigned long long)fs->f_bavail * fs->f_bsize / MB;

	if (free_mb < ENOUGH_MB)
		doctor_add(d, "space", DOCTOR_LIMITED, false,
			   "delete files, or record on another disk: buildbeat record --output DIR",
			   "%llu MB are free below %s", free_mb, dir);
	else
		doctor_add(d, "space", DOCTOR_OK, false, NULL,
			   "%llu MB are free below %s", free_mb, dir);
}

/* access(2) is not enough: root passes it on a read-only file system. */
static bool can_write(const char *dir)
{
	char path[PATH_MAX + 32];

	snprintf(path, sizeof path, "%s/.buildbeat-XXXXXX", dir);
	return mkdtemp(path) && !rmdir(path);
}

static void check_output(struct doctor *d)
{
	char dir[PATH_MAX];
	struct statfs fs;
	struct error err;

	if (trust_path(d->settings->output, &err)) {
		doctor_add(d, "output", DOCTOR_MISSING, true,
			   "use another directory: buildbeat record --output DIR",
			   "recordings cannot be written below %s: %s: %s", d->settings->output,
			   err.path, err.message);
		return;
	}
	nearest_directory(dir, d->settings->output);
	if (!can_write(dir)) {
		doctor_add(d, "output", DOCTOR_MISSING, true,
			   "use another directory: buildbeat record --output DIR",
			   "recordings cannot be written below %s: %s", dir, strerror(errno));
		return;
	}
	if (statfs(dir, &fs))
		return;
	if (fs.f_type == NFS_MAGIC)
		doctor_add(d, "output", DOCTOR_LIMITED, false,
			   "use a local disk: buildbeat record --output DIR",
			   "%s is on NFS: slower, and with one file per writing process",
			   d->settings->output);
	else
		doctor_add(d, "output", DOCTOR_OK, true, NULL,
			   "recordings are written below %s", d->settings->output);
	check_space(d, &fs, dir);
}

static void check_files(struct doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_cur < FILES_WANTED)
		doctor_add(d, "files", DOCTOR_LIMITED, false, "raise the limit: ulimit -n 1024",
			   "a process can have %llu files open; builds need %d",
			   (unsigned long long)limit.rlim_cur, FILES_WANTED);
	else
		doctor_add(d, "files", DOCTOR_OK, false, NULL,
			   "a process can have %llu files open",
			   (unsigned long long)limit.rlim_cur);
}

static void collect(void *context, struct buf *lines)
{
	struct buf *all = context;

	buf_add(all, lines->data, lines->len);
}

static void check_tree(struct doctor *d, const char *tree)
{
	static const char mark[] = "git_error: ";
	volatile sig_atomic_t go_on = 0;
	struct buf lines = BUF_INIT;
	const char *error;

	gitstamp_tree(tree, &go_on, collect, &lines);
	error = strstr(buf_str(&lines), mark);
	if (error)
		doctor_add(d, "git", DOCTOR_LIMITED, false,
			   "if you trust the owner of the tree: git config --global --add "
			   "safe.directory DIR",
			   "%s: %.*s", tree, (int)strcspn(error + strlen(mark), "\n"),
			   error + strlen(mark));
	else if (!lines.len)
		doctor_add(d, "git", DOCTOR_OK, false, NULL,
			   "%s is not in a git repository: no revision is recorded", tree);
	else
		doctor_add(d, "git", DOCTOR_OK, false, NULL,
			   "the revision of %s is recorded", tree);
	buf_release(&lines);
}

static void check_git(struct doctor *d)
{
	const struct word_list *trees = &d->settings->source;

	if (!d->settings->git)
		return;
	if (!trees->n)
		check_tree(d, ".");
	for (size_t i = 0; i < trees->n; i++)
		check_tree(d, trees->item[i]);
}

/* Who can read recordings, and which secrets are replaced in commands. */
static void check_secrets(struct doctor *d)
{
	const struct word_list *own = &d->settings->redact;
	bool none = false;
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < own->n; i++) {
		if (strcmp(own->item[i], REDACT_NONE))
			buf_addf(&b, "%s'%s'", b.len ? ", " : "", own->item[i]);
		else
			none = true;
	}
	doctor_add(d, "access", DOCTOR_OK, false, NULL, "recordings can be read by %s",
		   d->settings->access == STORE_ACCESS_USER ? "their user only" :
		   d->settings->access == STORE_ACCESS_GROUP ? "their group" : "all users");
	if (none && !b.len)
		doctor_add(d, "redact", DOCTOR_LIMITED, false,
			   "remove 'redact: none' from the configuration",
			   "secrets in commands are not replaced");
	else
		doctor_add(d, "redact", DOCTOR_OK, false, NULL,
			   "secrets in commands are replaced: %s%s%s",
			   none ? "" : "passwords, tokens and keys (built in)",
			   b.len && !none ? ", " : "", buf_str(&b));
	buf_release(&b);
}

void doctor_machine(struct doctor *d)
{
	check_kernel(d);
	check_clock(d);
	check_pressure(d);
	check_process_files(d);
	check_counters(d);
	check_hidden(d);
	doctor_limits(d);
	check_config(d);
	check_output(d);
	check_files(d);
	check_git(d);
	check_secrets(d);
}
