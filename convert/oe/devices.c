/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/oe/oe_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 64
#define DEVICE_NAME_MAX 56	/* with a suffix less than SERIES_NAME_MAX */
#define VALUES_MAX 3

/*
 * Logs with one line for each device: the space used on volumes, and counters since the machine
 * started of network interfaces and, in copies of /proc, disks.
 */
struct sort {
	const char *what;
	bool gauge;
	size_t n_values;
	const char *suffix[VALUES_MAX], *unit[VALUES_MAX];
	bool (*parse)(struct slice line, struct slice *name, int64_t *raw);
	bool (*is_extra)(struct slice name);	/* on top of other devices: would count twice */
	const char *never;	/* always left out */
};

struct device {
	char name[DEVICE_NAME_MAX];
	bool seen;
	int64_t raw[VALUES_MAX], level[VALUES_MAX];
};

struct devices {
	const struct sort *sort;
	struct oe_blocks *b;
	size_t n;
	struct device device[DEVICES_MAX];
	bool too_many;
};

static bool begins_with_one_of(struct slice s, const char *const *starts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (slice_starts(s, starts[i]))
			return true;
	}
	return false;
}

/* Interfaces */

/* Bridges, pairs, tunnels and the like carry the bytes of other interfaces. Only the name shows
 * it. */
static bool is_virtual(struct slice name)
{
	static const char *const starts[] = {
		"ifb", "veth", "docker", "br-", "virbr", "vnet", "tap", "tun", "dummy", "sit",
		"gre", "ip6tnl", "vxlan", "bond", "team", "cni", "flannel", "podman", "lxc",
	};

	return begins_with_one_of(name, starts, ARRAY_SIZE(starts)) ||
	       memchr(name.p, '.', name.len);
}

/* "eth0: received sent ..." */
static bool parse_interface(struct slice line, struct slice *name, int64_t *raw)
{
	const char *colon = memrchr(line.p, ':', line.len);
	struct cursor c;

	if (!colon)
		return false;
	*name = (struct slice){ line.p, (size_t)(colon - line.p) };
	cursor_init(&c, colon + 1, line.len - name->len - 1);
	for (int i = 0; i < 2; i++) {
		cursor_blanks(&c);
		if (!cursor_i64(&c, &raw[i]))
			return false;
	}
	return true;
}

static const struct sort interfaces = {
	.what = "network interfaces", .n_values = 2,
	.suffix = { "rx", "tx" }, .unit = { "1B", "1B" },
	.parse = parse_interface, .is_extra = is_virtual, .never = "lo",
};

/* Disks */

/* sda1, nvme0n1p1 and mmcblk0p1 are parts of disks; loop, dm- and so on are on top of disks. */
static bool is_part(struct slice name)
{
	static const char *const starts[] = { "loop", "ram", "zram", "dm-", "md", "sr", "fd" };
	size_t digits = 0;
	char before;

	while (digits < name.len && name.p[name.len - 1 - digits] >= '0' &&
	       name.p[name.len - 1 - digits] <= '9')
		digits++;
	if (begins_with_one_of(name, starts, ARRAY_SIZE(starts)))
		return true;
	if (!digits || digits == name.len)
		return false;
	before = name.p[name.len - 1 - digits];
	return slice_starts(name, "nvme") || slice_starts(name, "mmcblk") ? before == 'p' :
	       slice_starts(name, "sd") || slice_starts(name, "hd") || slice_starts(name, "vd") ||
	       slice_starts(name, "xvd");
}

/* As in /proc/diskstats: major, minor, name; reads, merged reads, sectors, ms; the same for writes;
 * requests in progress, ms busy. */
static bool parse_disk(struct slice line, struct slice *name, int64_t *raw)
{
	enum { SECTORS_READ = 2, SECTORS_WRITTEN = 6, BUSY = 9 };
	struct cursor c;
	int64_t n;

	cursor_init(&c, line.p, line.len);
	for (int i = 0; i < 2; i++) {
		cursor_blanks(&c);
		if (!cursor_i64(&c, &n))
			return false;
	}
	cursor_blanks(&c);
	if (!cursor_word(&c, name, line.len))
		return false;
	for (int i = 0; i <= BUSY; i++) {
		cursor_blanks(&c);
		if (!cursor_i64(&c, &n))
			return false;
		if (i == SECTORS_WRITTEN)
			raw[0] = n;
		else if (i == SECTORS_READ)
			raw[1] = n;
		else if (i == BUSY)
			raw[2] = n;
	}
	return true;
}

static const struct sort disks = {
	.what = "disks", .n_values = 3,
	.suffix = { "written", "read", "busy" }, .unit = { "512B", "512B", "1ms" },
	.parse = parse_disk, .is_extra = is_part, .never = "",
};

/* Volumes */

static bool is_not_extra(struct slice name)
{
	(void)name;
	return false;
}

/* "/dev/vda: used" in bytes. The kernel writes a blank in the name of a device as \040. */
static bool parse_volume(struct slice line, struct slice *name, int64_t *raw)
{
	const char *colon = memrchr(line.p, ':', line.len);
	struct cursor c;

	if (!colon)
		return false;
	*name = (struct slice){ line.p, (size_t)(colon - line.p) };
	for (size_t i = 0; i < name->len; i++) {
		if ((unsigned char)name->p[i] <= ' ')
			return false;
	}
	cursor_init(&c, colon + 1, line.len - name->len - 1);
	cursor_blanks(&c);
	return cursor_i64(&c, raw);
}

static const struct sort volumes = {
	.what = "volumes", .gauge = true, .n_values = 1,
	.suffix = { "used" }, .unit = { "1B" },
	.parse = parse_volume, .is_extra = is_not_extra, .never = "",
};

/* All */

static bool parse_device(const struct devices *d, struct slice line, struct slice *name,
			 int64_t *raw)
{
	if (!d->sort->parse(line, name, raw))
		return false;
	for (size_t i = 0; i < d->sort->n_values; i++) {
		if (raw[i] < 0)
			return false;
	}
	return name->len && name->len < DEVICE_NAME_MAX && !memchr(name->p, '\0', name->len);
}

static struct device *find_device(struct devices *d, struct slice name)
{
	for (size_t i = 0; i < d->n; i++) {
		if (slice_is(name, d->device[i].name))
			return &d->device[i];
	}
	return NULL;
}

static void collect_names(struct devices *d, bool extra)
{
	int64_t raw[VALUES_MAX];
	struct slice line, name;

	oe_rewind(d->b);
	while (oe_block(d->b)) {
		while (oe_block_line(d->b, &line)) {
			if (!parse_device(d, line, &name, raw) || slice_is(name, d->sort->never) ||
			    (!extra && d->sort->is_extra(name)) || find_device(d, name))
				continue;
			if (d->n == DEVICES_MAX)
				d->too_many = true;
			else
				memcpy(d->device[d->n++].name, name.p, name.len);
		}
	}
	oe_rewind(d->b);
}

static int make_columns(struct devices *d)
{
	struct oe_column column[VALUES_MAX * DEVICES_MAX];
	char name[VALUES_MAX * DEVICES_MAX][SERIES_NAME_MAX];
	size_t values = d->sort->n_values;

	for (size_t i = 0; i < values * d->n; i++) {
		snprintf(name[i], sizeof name[i], "%s.%s", d->device[i / values].name,
			 d->sort->suffix[i % values]);
		column[i] = (struct oe_column){ name[i], d->sort->unit[i % values],
						   !d->sort->gauge };
	}
	return oe_columns(d->b, column, values * d->n);
}

/* A counter that decreased was reset to 0. */
static void count_values(struct device *f, const struct sort *sort, const int64_t *raw)
{
	for (size_t i = 0; i < sort->n_values; i++) {
		if (sort->gauge)
			f->level[i] = raw[i];
		else if (f->raw[i] >= 0)
			f->level[i] = reader_plus(f->level[i], raw[i] >= f->raw[i] ?
						  raw[i] - f->raw[i] : raw[i]);
		f->raw[i] = raw[i];
	}
	f->seen = true;
}

static void read_block(struct devices *d)
{
	int64_t raw[VALUES_MAX];
	struct slice line, name;
	struct device *f;

	for (size_t i = 0; i < d->n; i++)
		d->device[i].seen = false;
	while (oe_block_line(d->b, &line)) {
		if (!parse_device(d, line, &name, raw))
			reader_damaged(&d->b->damage, d->b->feed.line);
		else if ((f = find_device(d, name)))
			count_values(f, d->sort, raw);
	}
}

static int add_row(struct devices *d)
{
	size_t values = d->sort->n_values;
	int64_t row[VALUES_MAX * DEVICES_MAX];

	for (size_t i = 0; i < values * d->n; i++) {
		const struct device *f = &d->device[i / values];

		row[i] = f->seen ? f->level[i % values] : SERIES_ABSENT;
	}
	return oe_add_row(d->b, d->b->time_ms, row);
}

static int read_all(struct devices *d)
{
	for (size_t i = 0; i < d->n; i++) {
		for (size_t k = 0; k < VALUES_MAX; k++)
			d->device[i].raw[k] = -1;
	}
	if (make_columns(d))
		return -ENOMEM;
	while (oe_block(d->b)) {
		read_block(d);
		if (d->b->whole && oe_block_is_next(d->b) && add_row(d))
			return -ENOMEM;
	}
	return 0;
}

/* The number of columns must be known first: the log is read twice. */
static int read_devices(struct oe_blocks *b, const struct sort *sort)
{
	struct devices *d = calloc(1, sizeof *d);
	int r;

	if (!d)
		return -ENOMEM;
	d->b = b;
	d->sort = sort;
	collect_names(d, false);
	if (!d->n)
		collect_names(d, true);
	r = d->n ? read_all(d) : 0;
	if (!r && d->too_many)
		r = reader_warn(b->o->r, "more than %d %s, the others are left out", DEVICES_MAX,
				    sort->what);
	free(d);
	return r;
}

int oe_net(struct oe_blocks *b)
{
	return read_devices(b, &interfaces);
}

int oe_raw_diskstats(struct oe_blocks *b)
{
	return read_devices(b, &disks);
}

int oe_volumes(struct oe_blocks *b)
{
	return read_devices(b, &volumes);
}
