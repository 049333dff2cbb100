#include "parse.h"
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISKS_MAX 64
#define LINES_MAX 2048

/* Sectors are 512 bytes, whatever the device's are. */
static const struct figure figures[DISK_FIGURES] = {
	[DISK_WRITTEN] = { "written", "1KiB", true, 1, 2 },
	[DISK_BUSY] = { "busy", "1ms", true, 1, 1 },
	[DISK_WRITES] = { "writes", "1", true, 1, 1 },
	[DISK_READ] = { "read", "1KiB", true, 1, 2 },
	[DISK_READS] = { "reads", "1", true, 1, 1 },
};

struct diskstats_source {
	struct source source;
	struct file file;
	struct roster roster;
	int sys_fd;		/* borrowed */
	bool has_sys;		/* it tells which devices there are */
	const struct text *names;	/* what is being parsed */
};

/* xvda1 is a partition of xvda, unless there is no xvda. */
static bool is_orphan_partition(const struct text *names, struct slice name)
{
	struct slice whole = name;

	while (whole.len && whole.p[whole.len - 1] >= '0' && whole.p[whole.len - 1] <= '9')
		whole.len--;
	return whole.len < name.len && whole.len && whole.p[0] != 'n' &&
	       disk_name_is_whole(whole) && !diskstats_has(names, whole);
}

static bool is_whole_disk(void *ctx, struct slice name)
{
	const struct diskstats_source *s = ctx;
	char path[GROUP_NAME_MAX + 32];

	if (disk_name_is_layer(name))
		return false;
	if (!s->has_sys)
		return disk_name_is_whole(name) || is_orphan_partition(s->names, name);
	snprintf(path, sizeof path, "block/%.*s/device", (int)name.len, name.p);
	for (char *p = path + 6; p < path + 6 + name.len; p++)
		if (*p == '/')
			*p = '!';
	/* a network block device has no hardware, but nothing below it either */
	return root_has(s->sys_fd, path) ||
	       (name.len > 3 && !memcmp(name.p, "nbd", 3) && disk_name_is_whole(name));
}

static bool diskstats_read(struct source *source, struct text *text)
{
	struct diskstats_source *s = (struct diskstats_source *)source;

	s->names = text;
	return !file_read(&s->file, text) &&
	       parse_diskstats(text, &s->roster, &source->table);
}

static void diskstats_release(struct source *source)
{
	struct diskstats_source *s = (struct diskstats_source *)source;

	file_close(&s->file);
	roster_release(&s->roster);
	free(s);
}

static int learn_disks(struct diskstats_source *s, struct text *text)
{
	int r = roster_init(&s->roster, LINES_MAX, is_whole_disk, s);

	s->names = text;
	if (!r)
		r = file_read(&s->file, text);
	if (!r && !parse_diskstats(text, &s->roster, NULL))
		r = -ENODATA;
	return r;
}

int diskstats_open(struct source **out, const struct setup *setup)
{
	struct diskstats_source *s = calloc(1, sizeof *s);
	int r;

	if (!s)
		return -ENOMEM;
	s->source = (struct source){ .read = diskstats_read, .release = diskstats_release };
	s->sys_fd = setup->root.sys_fd;
	s->has_sys = root_has(s->sys_fd, "block");
	r = file_open(&s->file, setup->root.proc_fd, "diskstats", FILE_RECORDS);
	if (!r)
		r = learn_disks(s, setup->text);
	if (!r)
		r = table_open(&s->source.table, setup->dir_fd, "proc_diskstats",
			       setup->interval_ms, figures, DISK_FIGURES, DISKS_MAX);
	if (r) {
		diskstats_release(&s->source);
		return r;
	}
	roster_place(&s->roster, &s->source.table);
	*out = &s->source;
	return 0;
}
