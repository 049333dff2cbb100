/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/file.h"
#include "sampler/parse.h"
#include "sampler/pressure.h"
#include "sampler/source_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_LEN 1024
#define DEVICES_MAX 512

/* The hierarchies that may have a value. If a machine has both versions, v2 is preferred. */
enum hierarchy { V2, V1_CPUACCT, V1_CPU, V1_MEMORY, V1_BLKIO, HIERARCHIES };

static const char *const controllers[HIERARCHIES] = {
	[V1_CPUACCT] = "cpuacct", [V1_CPU] = "cpu", [V1_MEMORY] = "memory", [V1_BLKIO] = "blkio",
};

enum form {
	KEYED,			/* lines of a key and a number, counters */
	NUMBER,			/* one number, a gauge */
	SWAP_WITH_MEMORY,	/* one number, memory and swap together */
	IO,			/* per device, counters: written and read */
};

struct meter_kind {
	enum hierarchy hierarchy;
	const char *file;
	enum form form;
	size_t n;
	const char *key[3];
	struct table_column column[3];
};

#define MIB(name) { { name, "1MiB", false, 1, 1024 * 1024 } }
#define BYTES { { "written", "1KiB", true, 1, 1024 }, { "read", "1KiB", true, 1, 1024 } }

/* In the order of the columns. If several kinds have the same column, the first that exists is
 * used. */
static const struct meter_kind kinds[] = {
	{ V2, "cpu.stat", KEYED, 2, { "user_usec", "system_usec" },
	  { { "user", "1ms", true, 1, 1000 }, { "system", "1ms", true, 1, 1000 } } },
	{ V1_CPUACCT, "cpuacct.stat", KEYED, 2, { "user", "system" },
	  { { "user", "1ms", true, 10, 1 }, { "system", "1ms", true, 10, 1 } } },
	{ V2, "memory.current", NUMBER, 1, { NULL }, MIB("memory") },
	{ V1_MEMORY, "memory.usage_in_bytes", NUMBER, 1, { NULL }, MIB("memory") },
	{ V2, "io.stat", IO, 2, { NULL }, BYTES },
	{ V1_BLKIO, "blkio.throttle.io_service_bytes_recursive", IO, 2, { NULL }, BYTES },
	{ V1_BLKIO, "blkio.throttle.io_service_bytes", IO, 2, { NULL }, BYTES },
	{ V2, "cpu.stat", KEYED, 1, { "throttled_usec" },
	  { { "throttled", "1ms", true, 1, 1000 } } },
	{ V1_CPU, "cpu.stat", KEYED, 1, { "throttled_time" },
	  { { "throttled", "1ms", true, 1, 1000000 } } },
	{ V2, "memory.peak", NUMBER, 1, { NULL }, MIB("peak") },
	{ V1_MEMORY, "memory.max_usage_in_bytes", NUMBER, 1, { NULL }, MIB("peak") },
	{ V2, "memory.swap.current", NUMBER, 1, { NULL }, MIB("swap") },
	{ V1_MEMORY, "memory.memsw.usage_in_bytes", SWAP_WITH_MEMORY, 1, { NULL }, MIB("swap") },
};

#define KINDS ARRAY_SIZE(kinds)
#define COLUMNS_MAX (3 * KINDS + PRESSURE_COLUMNS)

/* A file that is read for every sample. */
struct meter {
	const struct meter_kind *kind;
	struct root_file file;
	size_t first;		/* its first column in the table */
	uint64_t last[3];
};

struct cgroup_source {
	struct sampler_source source;
	struct meter meter[KINDS];
	size_t n_meters;
	struct pressure_set pressure;
	size_t first_pressure;
	bool has_pressure;
	int sys_fd;		/* borrowed */
	uint64_t memory;	/* bytes, as read last */
	struct table_column column[COLUMNS_MAX];
	size_t n_columns;
};

/* The group */

/* The part of path below root; NULL if it is elsewhere. */
static const char *below(const char *path, const char *root)
{
	size_t n = strcmp(root, "/") ? strlen(root) : 0;

	if (strncmp(path, root, n) || (path[n] && path[n] != '/'))
		return NULL;
	return path + n;
}

static int open_dir(const struct source_setup *setup, const char *point, const char *path)
{
	char full[2 * PATH_LEN];

	if (!strncmp(point, "/sys/", 5)) {
		if (setup->root.sys_fd < 0)
			return -ENOENT;
		snprintf(full, sizeof full, "%s%s", point + 5, path);
		return file_open_at(setup->root.sys_fd, full, O_PATH | O_DIRECTORY);
	}
	snprintf(full, sizeof full, "%s%s", point, path);
	return file_open_at(AT_FDCWD, full, O_PATH | O_DIRECTORY);
}

/* The values of a root group are those of the machine. In a container the path of another group
 * may look like a root. */
static bool is_root_group(int fd, enum hierarchy h)
{
	if (h == V2)
		return !root_has(fd, "cgroup.type");
	return root_has(fd, "cgroup.sane_behavior") || root_has(fd, "release_agent");
}

/* A descriptor of the build's own group, or a negative errno. */
static int open_group(const struct source_setup *setup, enum hierarchy h)
{
	struct cgroup_mount mount;
	char path[PATH_LEN];
	struct slice found;
	const char *rest;
	int fd = -ENOENT;

	if (root_read_once(setup->root.proc_fd, "self/cgroup", setup->text) ||
	    !parse_cgroup_path(setup->text, controllers[h], &found) || found.len >= sizeof path)
		return -ENOENT;
	memcpy(path, found.p, found.len);
	path[found.len] = '\0';
	if (root_read_once(setup->root.proc_fd, "self/mountinfo", setup->text) ||
	    !parse_cgroup_mount(setup->text, controllers[h], &mount))
		return -ENOENT;
	rest = below(path, mount.root);
	if (rest && strncmp(rest, "/..", 3))
		fd = open_dir(setup, mount.point, rest);
	if (fd < 0)
		fd = open_dir(setup, mount.point, "");
	if (fd >= 0 && is_root_group(fd, h)) {
		close(fd);
		return -ENOENT;
	}
	return fd;
}

/* Its values */

/* dm, md and the like are not counted if /sys lists the devices, as in proc_diskstats. */
static bool device_counts(void *ctx, struct slice name)
{
	const struct cgroup_source *s = ctx;
	char path[GROUP_NAME_MAX + 32];

	if (!root_has(s->sys_fd, "dev/block"))
		return true;
	snprintf(path, sizeof path, "dev/block/%.*s/device", (int)name.len, name.p);
	return root_has(s->sys_fd, path);
}

static bool parse_number(const struct root_text *text, uint64_t *n)
{
	struct cursor c;

	root_text_cursor(text, &c);
	return cursor_u64(&c, n);
}

/* Read the file into now[]. False: it does not contain the values. */
static bool meter_read(struct cgroup_source *s, const struct meter *m, struct root_text *text,
		       uint64_t now[3])
{
	struct want want[3] = { { .key = "" } };
	uint64_t bytes[2];

	if (root_file_read(&m->file, text))
		return false;
	switch (m->kind->form) {
	case KEYED:
		for (size_t i = 0; i < m->kind->n; i++)
			want[i].key = m->kind->key[i];
		if (parse_keyed(text, want, m->kind->n) < m->kind->n)
			return false;
		for (size_t i = 0; i < m->kind->n; i++)
			now[i] = want[i].value;
		return true;
	case IO:
		parse_io_stat(text, &s->source.roster, bytes);
		now[0] = bytes[1];
		now[1] = bytes[0];
		return true;
	case SWAP_WITH_MEMORY:
		if (!parse_number(text, &now[0]))
			return false;
		now[0] = now[0] > s->memory ? now[0] - s->memory : 0;
		return true;
	case NUMBER:
		break;
	}
	return parse_number(text, &now[0]);
}

static bool has_column(const struct cgroup_source *s, const char *name)
{
	for (size_t i = 0; i < s->n_columns; i++)
		if (!strcmp(s->column[i].name, name))
			return true;
	return false;
}

static void add_meter(struct cgroup_source *s, const struct meter_kind *kind, int dir_fd,
		      struct root_text *text)
{
	struct meter *m = &s->meter[s->n_meters];

	if (has_column(s, kind->column[0].name))
		return;
	*m = (struct meter){ .kind = kind, .first = s->n_columns };
	if (root_file_open(&m->file, dir_fd, kind->file, ROOT_LONG_RECORDS))
		return;
	if (!meter_read(s, m, text, m->last)) {
		root_file_close(&m->file);
		return;
	}
	/* the kernel formats these at once */
	if (kind->form != IO)
		m->file.kind = ROOT_WHOLE;
	for (size_t i = 0; i < kind->n; i++)
		s->column[s->n_columns++] = kind->column[i];
	s->n_meters++;
}

static void open_meters(struct cgroup_source *s, const struct source_setup *setup)
{
	static const char *const pressures[PRESSURE_FILES] = {
		"cpu.pressure", "io.pressure", "memory.pressure",
	};
	int dir_fd[HIERARCHIES];

	for (size_t h = 0; h < HIERARCHIES; h++)
		dir_fd[h] = open_group(setup, (enum hierarchy)h);
	for (size_t i = 0; i < KINDS; i++)
		add_meter(s, &kinds[i], dir_fd[kinds[i].hierarchy], setup->text);
	s->first_pressure = s->n_columns;
	pressure_set_open(&s->pressure, dir_fd[V2], pressures, setup->text,
			  setup->coarse, s->column, &s->n_columns);
	s->has_pressure = s->n_columns > s->first_pressure;
	for (size_t h = 0; h < HIERARCHIES; h++)
		file_close(dir_fd[h]);
}

static void meter_sample(struct cgroup_source *s, struct meter *m, struct root_text *text)
{
	struct table *t = &s->source.table;
	uint64_t now[3];

	if (!meter_read(s, m, text, now))
		return;
	for (size_t i = 0; i < m->kind->n; i++) {
		if (m->kind->column[i].counter)
			table_add(t, 0, m->first + i, table_step(&m->last[i], now[i]));
		else
			table_set(t, 0, m->first + i, now[i]);
	}
	if (!strcmp(m->kind->column[0].name, "memory"))
		s->memory = now[0];
}

static bool cgroup_read(struct sampler_source *source, struct root_text *text)
{
	struct cgroup_source *s = (struct cgroup_source *)source;

	for (size_t i = 0; i < s->n_meters; i++)
		meter_sample(s, &s->meter[i], text);
	if (s->has_pressure)
		pressure_set_read(&s->pressure, text, &source->table, s->first_pressure);
	return true;
}

static void cgroup_release(struct sampler_source *source)
{
	struct cgroup_source *s = (struct cgroup_source *)source;

	for (size_t i = 0; i < s->n_meters; i++)
		root_file_close(&s->meter[i].file);
	pressure_set_close(&s->pressure);
}

__attribute__((cold)) int cgroup_open(struct sampler_source **out, const struct source_setup *setup)
{
	struct cgroup_source *s = source_new(out, sizeof *s, cgroup_read, NULL);
	int r = s ? roster_init(&s->source.roster, DEVICES_MAX, device_counts, s) : -ENOMEM;

	if (r)
		return r;
	s->source.release = cgroup_release;	/* now that it has descriptors */
	s->sys_fd = setup->root.sys_fd;
	open_meters(s, setup);
	return s->n_columns ? source_table(*out, setup, "proc_cgroup", s->column, s->n_columns, 0)
			    : -ENOENT;
}
