/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "sampler/parse.h"

#include <string.h>

static bool read_numbers(struct cursor *c, uint64_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cursor_blanks(c);
		if (!cursor_u64(c, &v[i]))
			return false;
	}
	return true;
}

/* The numbers and the name before a device's values: "   8       0 sda " */
static bool read_disk_name(struct cursor *line, struct slice *name)
{
	uint64_t device[2];

	if (!read_numbers(line, device, 2))
		return false;
	cursor_blanks(line);
	return cursor_word(line, name, GROUP_NAME_MAX - 1);
}

static bool read_disk_values(struct cursor *c, uint64_t out[DISK_COLUMNS])
{
	/* reads, merged, sectors, ms; writes, merged, sectors, ms; now, busy ms */
	uint64_t v[10];

	if (!read_numbers(c, v, 10))
		return false;
	out[DISK_READS] = v[0];
	out[DISK_READ] = v[2];
	out[DISK_WRITES] = v[4];
	out[DISK_WRITTEN] = v[6];
	out[DISK_BUSY] = v[9];
	return true;
}

/* The row of each device in the list: its name, then its values. */
static size_t parse_rows(const struct root_text *text, struct roster *r, struct table *t,
			 bool (*read_name)(struct cursor *line, struct slice *name),
			 bool (*read_values)(struct cursor *line, uint64_t *out), size_t n_columns)
{
	uint64_t columns[DISK_COLUMNS];
	struct cursor c, line;
	struct slice name;
	size_t n = 0;

	root_text_cursor(text, &c);
	while (parse_line(&c, &line)) {
		struct roster_entry *e;

		if (!read_name(&line, &name))
			continue;
		e = roster_find(r, n++, name);
		if (e && read_values(&line, columns))
			roster_count(e, t, columns, n_columns);
	}
	return n;
}

size_t parse_diskstats(const struct root_text *text, struct roster *r, struct table *t)
{
	return parse_rows(text, r, t, read_disk_name, read_disk_values, DISK_COLUMNS);
}

bool parse_disk_stat(const struct root_text *text, uint64_t out[DISK_COLUMNS])
{
	struct cursor c;

	root_text_cursor(text, &c);
	return read_disk_values(&c, out);
}

bool parse_diskstats_has(const struct root_text *text, struct slice name)
{
	struct cursor c, line;
	struct slice other;

	root_text_cursor(text, &c);
	while (parse_line(&c, &line))
		if (read_disk_name(&line, &other) && other.len == name.len &&
		    !memcmp(other.p, name.p, name.len))
			return true;
	return false;
}

/* A name may contain a colon (an alias): the last one before the numbers ends it. */
static bool read_interface(struct cursor *line, struct slice *name)
{
	const char *colon;

	cursor_blanks(line);
	colon = memrchr(line->p, ':', (size_t)(line->end - line->p));
	if (!colon || colon == line->p)
		return false;
	*name = (struct slice){ line->p, (size_t)(colon - line->p) };
	line->p = colon + 1;
	return true;
}

static bool read_net_values(struct cursor *line, uint64_t *out)
{
	uint64_t v[9];	/* received: bytes and seven others; sent: bytes */

	if (!read_numbers(line, v, 9))
		return false;
	out[NET_RX] = v[0];
	out[NET_TX] = v[8];
	return true;
}

size_t parse_net_dev(const struct root_text *text, struct roster *r, struct table *t)
{
	_Static_assert((int)NET_COLUMNS <= (int)DISK_COLUMNS, "parse_rows() has room for them");

	return parse_rows(text, r, t, read_interface, read_net_values, NET_COLUMNS);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Match a pattern: '#' is a number, '@' letters, every other character itself. */
static bool is_like(struct slice name, const char *pattern)
{
	const char *p = name.p, *end = name.p + name.len;

	for (; *pattern; pattern++) {
		const char *start = p;

		if (*pattern == '#') {
			while (p < end && is_digit(*p))
				p++;
		} else if (*pattern == '@') {
			while (p < end && *p >= 'a' && *p <= 'z')
				p++;
		} else if (p < end && *p == *pattern) {
			p++;
		}
		if (p == start)
			return false;
	}
	return p == end;
}

static bool is_like_any(struct slice name, const char *const *patterns, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_like(name, patterns[i]))
			return true;
	return false;
}

bool parse_disk_is_whole(struct slice name)
{
	static const char *const patterns[] = {
		"sd@", "hd@", "vd@", "xvd@", "ubd@", "dasd@", "nvme#n#", "mmcblk#",
		"mmcblk#boot#", "mtdblock#", "cciss/c#d#", "ida/c#d#", "rd/c#d#", "nbd#",
		"rbd#", "pmem#", "sr#", "ssv@",
	};

	return is_like_any(name, patterns, ARRAY_SIZE(patterns));
}

bool parse_disk_is_layer(struct slice name)
{
	/* a path of a multipath nvme: its I/O is counted in nvmeXnY too */
	static const char *const patterns[] = { "nvme#c#n#", "dm-#", "md#", "loop#", "ram#", "zram#" };

	return is_like_any(name, patterns, ARRAY_SIZE(patterns));
}

bool parse_net_is_virtual(struct slice name)
{
	static const char *const prefixes[] = {
		"veth", "docker", "br-", "virbr", "ifb", "dummy", "tun", "tap", "bond", "team",
		"wg", "tailscale", "cni", "flannel", "cali", "cilium", "lxc", "lxd", "vnet",
		"vmnet", "vxlan", "geneve", "gre", "erspan", "sit", "ip6tnl", "ip6gre", "ip_vti",
		"ip6_vti", "tunl", "kube", "nodelocaldns", "podman", "nlmon", "teql", "macvtap",
	};

	if (slice_is(name, "lo") || memchr(name.p, '.', name.len) || is_like(name, "br#"))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (slice_starts(name, prefixes[i]))
			return true;
	return false;
}
