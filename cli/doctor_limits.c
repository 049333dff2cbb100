/* SPDX-License-Identifier: MIT */
#include "cli/doctor.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"
#include "base/readfile.h"
#include "base/text.h"
#include "sampler/parse.h"
#include "sampler/root.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define GROUP_FILE_MAX (1024 * 1024)

/* The least of all groups above a process; INFINITY and -1 without any. */
struct group_limits {
	double cores;
	int64_t memory;
};

/* Version 2, and the controllers of version 1; where they are mounted if mountinfo does not say. */
static const struct {
	const char *controller, *point;
} hierarchies[] = {
	{ NULL, "/sys/fs/cgroup" }, { "cpu", "/sys/fs/cgroup/cpu" },
	{ "memory", "/sys/fs/cgroup/memory" },
};

/* The numbers of a file's first line; 0 if it has none, or "max". */
static size_t read_numbers(const char *dir, const char *file, int64_t number[2])
{
	char path[PATH_MAX + 32], line[128];
	struct cursor c;
	size_t n = 0;
	uint64_t value;

	snprintf(path, sizeof path, "%s/%s", dir, file);
	if (readfile_line(AT_FDCWD, path, line, sizeof line) <= 0)
		return 0;
	cursor_init(&c, line, strlen(line));
	while (n < 2 && cursor_u64(&c, &value) && value <= INT64_MAX / 2) {
		number[n++] = (int64_t)value;
		cursor_blanks(&c);
	}
	return n;
}

static void read_group(struct group_limits *l, const char *dir)
{
	static const char *const memory[] = { "memory.max", "memory.limit_in_bytes" };
	int64_t n[2], period[2];

	if (read_numbers(dir, "cpu.max", n) == 2 && n[1] > 0)
		l->cores = fmin(l->cores, (double)n[0] / (double)n[1]);
	if (read_numbers(dir, "cpu.cfs_quota_us", n) && n[0] > 0 &&
	    read_numbers(dir, "cpu.cfs_period_us", period) && period[0] > 0)
		l->cores = fmin(l->cores, (double)n[0] / (double)period[0]);
	for (size_t i = 0; i < ARRAY_SIZE(memory); i++) {
		if (read_numbers(dir, memory[i], n) && (l->memory < 0 || n[0] < l->memory))
			l->memory = n[0];
	}
}

/* The directory of the process's group, and the length of that of the topmost visible one. */
static size_t find_group(char dir[PATH_MAX], size_t h, const struct root_text *groups,
			 const struct root_text *mounts)
{
	struct cgroup_mount mount = { .root = "/" };
	struct slice path = { "", 0 };
	size_t n;

	if (!parse_cgroup_mount(mounts, hierarchies[h].controller, &mount) ||
	    access(mount.point, F_OK))
		snprintf(mount.point, sizeof mount.point, "%s", hierarchies[h].point);
	parse_cgroup_path(groups, hierarchies[h].controller, &path);
	/* a container sees a part of the hierarchy, and its group may be outside of it */
	n = strcmp(mount.root, "/") ? strlen(mount.root) : 0;
	if (path.len < n || memcmp(path.p, mount.root, n) || (path.len > n && path.p[n] != '/') ||
	    (path.len >= n + 3 && !memcmp(path.p + n, "/..", 3)))
		path.len = n = 0;
	snprintf(dir, PATH_MAX, "%s%.*s", mount.point, (int)(path.len - n), path.p + n);
	return strlen(mount.point);
}

static void read_limits(struct group_limits *l)
{
	struct buf groups = BUF_INIT, mounts = BUF_INIT;

	*l = (struct group_limits){ .cores = INFINITY, .memory = -1 };
	readfile_at(&groups, AT_FDCWD, "/proc/self/cgroup", GROUP_FILE_MAX);
	readfile_at(&mounts, AT_FDCWD, "/proc/self/mountinfo", GROUP_FILE_MAX);
	for (size_t h = 0; h < ARRAY_SIZE(hierarchies); h++) {
		char dir[PATH_MAX];
		size_t top = find_group(dir, h, &(struct root_text){ groups.data, groups.len, 0 },
					&(struct root_text){ mounts.data, mounts.len, 0 });

		for (;;) {
			read_group(l, dir);
			if (strlen(dir) <= top)
				break;
			*strrchr(dir, '/') = '\0';
		}
	}
	buf_release(&groups);
	buf_release(&mounts);
}

void doctor_limits(struct doctor *d)
{
	int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	struct buf text = BUF_INIT;
	struct group_limits l;
	char remedy[200] = "";

	read_limits(&l);
	if (l.cores < (double)cores) {
		int jobs = (int)ceil(l.cores);

		buf_addf(&text, "%.3g of %ld cores", l.cores, cores);
		snprintf(remedy, sizeof remedy, "give the build as many jobs as it has cores: "
			 "make -j%d, ninja -j%d", jobs, jobs);
	}
	if (l.memory >= 0 && l.memory < machine) {
		buf_adds(&text, text.len ? ", " : "");
		text_add_bytes(&text, l.memory);
		buf_adds(&text, " of ");
		text_add_bytes(&text, machine);
	}
	if (text.len)
		doctor_add(d, "limits", *remedy ? DOCTOR_LIMITED : DOCTOR_OK, false, remedy,
			   "the control group may use %s", buf_str(&text));
	buf_release(&text);
}
