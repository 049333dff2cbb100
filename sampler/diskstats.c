/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"
#include "sampler/source_proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DISKS_MAX 64
#define LINES_MAX 2048

/*
 * /proc/diskstats is slow: the kernel also formats partitions, loops and mappings. A few disks
 * are read from files of their own, and the whole list is read for new disks from time to time.
 */
#define DIRECT_MAX 2
#define LIST_EVERY 16

/* Sectors are 512 bytes, whatever the device's are. */
static const struct table_column columns[DISK_COLUMNS] = {
	[DISK_WRITTEN] = { "written", "1KiB", true, 1, 2 },
	[DISK_BUSY] = { "busy", "1ms", true, 1, 1 },
	[DISK_WRITES] = { "writes", "1", true, 1, 1 },
	[DISK_READ] = { "read", "1KiB", true, 1, 2 },
	[DISK_READS] = { "reads", "1", true, 1, 1 },
};

/* Disks write pages. For intervals of a second or more, 4 KiB and 10 ms are enough. */
static const struct table_column coarse_columns[DISK_COLUMNS] = {
	[DISK_WRITTEN] = { "written", "4KiB", true, 1, 8 },
	[DISK_BUSY] = { "busy", "10ms", true, 1, 10 },
	[DISK_WRITES] = { "writes", "1", true, 1, 1 },
	[DISK_READ] = { "read", "4KiB", true, 1, 8 },
	[DISK_READS] = { "reads", "1", true, 1, 1 },
};

struct direct {
	struct root_file file;
	struct roster_entry *entry;
	char name[GROUP_NAME_MAX];	/* its name; entries move when lines do */
};

struct diskstats_source {
	struct sampler_source source;
	int sys_fd;		/* borrowed */
	bool has_sys;		/* /sys lists the devices */
	const struct root_text *names;	/* the text that is being parsed */
	struct direct direct[DIRECT_MAX];
	size_t n_direct;
	unsigned since_list;	/* samples since the whole list was read */
};

/* A path below /sys/block; a slash in a name is an exclamation mark there. */
static void block_path(char *path, size_t size, struct slice name, const char *file)
{
	const size_t start = strlen("block/");

	snprintf(path, size, "block/%.*s/%s", (int)name.len, name.p, file);
	for (size_t i = start; i < start + name.len; i++)
		if (path[i] == '/')
			path[i] = '!';
}

/* xvda1 is a partition of xvda, unless there is no xvda. */
static bool is_orphan_partition(const struct root_text *names, struct slice name)
{
	struct slice whole = name;

	while (whole.len && whole.p[whole.len - 1] >= '0' && whole.p[whole.len - 1] <= '9')
		whole.len--;
	return whole.len < name.len && whole.len && whole.p[0] != 'n' &&
	       parse_disk_is_whole(whole) && !parse_diskstats_has(names, whole);
}

static bool is_whole_disk(void *ctx, struct slice name)
{
	const struct diskstats_source *s = ctx;
	char path[GROUP_NAME_MAX + 32];

	if (parse_disk_is_layer(name))
		return false;
	if (!s->has_sys)
		return parse_disk_is_whole(name) || is_orphan_partition(s->names, name);
	block_path(path, sizeof path, name, "device");
	/* a network block device has no hardware and no other device below it */
	return root_has(s->sys_fd, path) ||
	       (name.len > 3 && !memcmp(name.p, "nbd", 3) && parse_disk_is_whole(name));
}

static void close_direct(struct diskstats_source *s)
{
	for (size_t i = 0; i < s->n_direct; i++)
		root_file_close(&s->direct[i].file);
	s->n_direct = 0;
}

static void open_direct(struct diskstats_source *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->source.roster.n; i++)
		n += s->source.roster.entry[i].counted;
	if (!s->has_sys || n > DIRECT_MAX)
		return;
	for (size_t i = 0; i < s->source.roster.n; i++) {
		struct roster_entry *e = &s->source.roster.entry[i];
		struct direct *d = &s->direct[s->n_direct];
		char path[GROUP_NAME_MAX + 32];

		if (!e->counted)
			continue;
		block_path(path, sizeof path, (struct slice){ e->name, e->name_len }, "stat");
		if (root_file_open(&d->file, s->sys_fd, path, ROOT_WHOLE)) {
			close_direct(s);
			return;
		}
		d->entry = e;
		strcpy(d->name, e->name);
		s->n_direct++;
	}
}

static bool read_direct(struct diskstats_source *s, struct root_text *text)
{
	for (size_t i = 0; i < s->n_direct; i++) {
		uint64_t now[DISK_COLUMNS];

		if (root_file_read(&s->direct[i].file, text) || !parse_disk_stat(text, now))
			return false;
		roster_count(s->direct[i].entry, &s->source.table, now, DISK_COLUMNS);
	}
	return true;
}

static bool moved(const struct diskstats_source *s)
{
	for (size_t i = 0; i < s->n_direct; i++)
		if (strcmp(s->direct[i].entry->name, s->direct[i].name))
			return true;
	return false;
}

static bool diskstats_read(struct sampler_source *source, struct root_text *text)
{
	struct diskstats_source *s = (struct diskstats_source *)source;
	size_t lines = s->source.roster.n;
	bool gone = false;

	if (s->n_direct && s->since_list++ < LIST_EVERY) {
		if (read_direct(s, text))
			return true;
		gone = true;
	}
	s->since_list = 0;
	s->names = text;
	if (root_file_read(&source->file, text) ||
	    !parse_diskstats(text, &source->roster, &source->table))
		return false;
	if (gone || moved(s) || s->source.roster.n != lines) {
		close_direct(s);
		open_direct(s);
	}
	return true;
}

static void diskstats_release(struct sampler_source *source)
{
	close_direct((struct diskstats_source *)source);
}

static int learn_disks(struct diskstats_source *s, struct root_text *text)
{
	int r = roster_init(&s->source.roster, LINES_MAX, is_whole_disk, s);

	s->names = text;
	if (!r)
		r = root_file_read(&s->source.file, text);
	if (!r && !parse_diskstats(text, &s->source.roster, NULL))
		r = -ENODATA;
	return r;
}

__attribute__((cold)) int diskstats_open(struct sampler_source **out,
					const struct source_setup *setup)
{
	struct diskstats_source *s = source_new(out, sizeof *s, diskstats_read, diskstats_release);
	int r;

	if (!s)
		return -ENOMEM;
	s->sys_fd = setup->root.sys_fd;
	s->has_sys = root_has(s->sys_fd, "block");
	r = root_file_open(&s->source.file, setup->root.proc_fd, "diskstats", ROOT_RECORDS);
	if (!r)
		r = learn_disks(s, setup->text);
	if (!r)
		r = source_table(*out, setup, "proc_diskstats",
				 setup->coarse ? coarse_columns : columns, DISK_COLUMNS, DISKS_MAX);
	if (r)
		return r;
	roster_place(&s->source.roster, &s->source.table);
	open_direct(s);
	return 0;
}
