/* SPDX-License-Identifier: MIT */
#include "inspect/capabilities.h"

#include "base/array.h"
#include "base/file.h"
#include "base/readfile.h"
#include "inspect/archive_list.h"
#include "inspect/live_build.h"
#include "inspect/process_list.h"
#include "recording/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAN_TRACE (UINT64_C(1) << 19)	/* CAP_SYS_PTRACE */

const char *const capabilities_words[CAPABILITIES] = {
	[CAPABILITY_OWN] = "own_processes", [CAPABILITY_OTHERS] = "other_processes",
	[CAPABILITY_PAGES] = "pages", [CAPABILITY_MEMORY] = "memory",
	[CAPABILITY_FREEZE] = "freeze", [CAPABILITY_HEAP] = "heap",
};

static void set(struct capabilities *c, enum capability what, bool can, const char *why_not)
{
	c->can[what] = can;
	snprintf(c->why_not[what], sizeof c->why_not[what], "%s", can ? "" : why_not);
}

/* Rights */

static bool can_read(const char *path)
{
	char text[64];	/* entries of pagemap have 8 bytes */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool can = fd >= 0 && readfile_some(fd, text, sizeof text) > 0;

	file_close(fd);
	return can;
}

static bool may_trace(void)
{
	char text[4096], *line;

	readfile_start(AT_FDCWD, "/proc/self/status", text, sizeof text);
	line = strstr(text, "\nCapEff:");
	return line && strtoull(line + 8, NULL, 16) & CAN_TRACE;
}

/* Yama permits to read the memory of children only. */
static bool yama_restricts(void)
{
	char text[16];

	return readfile_line(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", text,
			     sizeof text) > 0 && text[0] != '0';
}

static bool has_pidfds(void)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	file_close(fd);
	return fd >= 0;
}

static void find_rights(struct capabilities *c, const char *no_heap)
{
	bool traces = may_trace();

	set(c, CAPABILITY_OWN, can_read("/proc/self/smaps"),
	    "the kernel has no readable /proc/PID/smaps");
	set(c, CAPABILITY_OTHERS, traces, "root can, or a process with CAP_SYS_PTRACE");
	set(c, CAPABILITY_PAGES, can_read("/proc/self/pagemap"),
	    "the kernel has no readable /proc/PID/pagemap");
	set(c, CAPABILITY_MEMORY, traces || !yama_restricts(),
	    "kernel.yama.ptrace_scope is not 0: build-ids are read from files instead");
	set(c, CAPABILITY_FREEZE, has_pidfds(), "the kernel has no pidfds (Linux 5.3)");
	set(c, CAPABILITY_HEAP, !no_heap, no_heap ? no_heap : "");
}

static int count_processes(struct capabilities *c)
{
	struct process_list l;
	char path[32];
	int r = process_list_init(&l);

	if (!r)
		r = process_list_read(&l);
	for (size_t i = 0; !r && i < l.n; i++) {
		int fd;

		if (l.process[i].kernel || l.process[i].state == 'Z')
			continue;
		c->processes++;
		snprintf(path, sizeof path, "%d/smaps", (int)l.process[i].pid);
		fd = openat(l.proc_fd, path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0) {
			c->inspectable++;
			close(fd);
		}
	}
	process_list_release(&l);
	return r == -ENOMEM ? r : 0;
}

/* Builds */

static bool may_run(const char *path)
{
	struct recording rec = RECORDING_INIT;
	bool runs = !recording_read_build(&rec, path, NULL, NULL) && rec.end_us < 0;

	recording_release(&rec);
	return runs;
}

static int add_build(struct capabilities *c, const struct live_build *live, const char *path)
{
	struct capability_build *b = array_add(&c->build, &c->n_builds, sizeof *b);

	if (!b)
		return -ENOMEM;
	*b = (struct capability_build){
		.recording = strdup(path), .tool = strdup(live_build_tool(live)),
		.pid = live_build_launcher(live),
	};
	return b->recording && b->tool ? 0 : -ENOMEM;
}

static int try_build(struct capabilities *c, const char *path)
{
	struct live_build *live = NULL;
	int r = 0;

	if (!may_run(path) || live_build_open(&live, path, NULL))
		return 0;
	if (live_build_read(live, NULL) > 0)
		r = add_build(c, live, path);
	live_build_close(live);
	return r;
}

static int find_builds(struct capabilities *c, const char *recordings)
{
	DIR *dir = opendir(recordings);
	char path[PATH_MAX];
	struct dirent *d;
	int r = 0;

	while (dir && !r && (d = readdir(dir))) {
		if (*d->d_name == '.' || d->d_type == DT_LNK)	/* latest */
			continue;
		snprintf(path, sizeof path, "%s/%s", recordings, d->d_name);
		r = try_build(c, path);
	}
	if (dir)
		closedir(dir);
	return r;
}

int capabilities_find(struct capabilities *c, const char *recordings, const char *archives,
		      const char *no_heap)
{
	struct inspect_list list = INSPECT_LIST_INIT;
	int r;

	*c = (struct capabilities){ .processes = 0 };
	find_rights(c, no_heap);
	r = count_processes(c);
	if (!r)
		r = find_builds(c, recordings);
	if (!r)
		r = inspect_list_below(&list, archives, NULL) == -ENOMEM ? -ENOMEM : 0;
	c->archives = list.n;
	inspect_list_release(&list);
	return r;
}

void capabilities_release(struct capabilities *c)
{
	for (size_t i = 0; i < c->n_builds; i++) {
		free(c->build[i].recording);
		free(c->build[i].tool);
	}
	free(c->build);
	*c = (struct capabilities){ .processes = 0 };
}
