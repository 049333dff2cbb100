/* SPDX-License-Identifier: MIT */
/*
 * Every parser of /proc, of control groups and of the kernel's messages, on any bytes. The
 * first byte of an input selects the parser; a NUL in the rest separates the text of one
 * sample from the next.
 */
#include "sampler/connector.h"
#include "sampler/parse.h"
#include "sampler/running.h"
#include "sampler/table.h"
#include "sampler/taskstats.h"
#include "tests/fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool some_count(void *ctx, struct slice name)
{
	(void)ctx;
	return !parse_disk_is_layer(name) &&
	       (parse_disk_is_whole(name) || !parse_net_is_virtual(name));
}

/* Two samples of a file with a line for each device, through a table into a log. */

typedef size_t parser(const struct root_text *, struct roster *, struct table *);

struct things {
	struct table table;
	struct roster roster;
	struct buf scratch;
	uint64_t before[ROSTER_COLUMNS];
};

static void take(struct things *x, parser *parse, struct root_text text, int64_t t_us)
{
	parse(&text, &x->roster, &x->table);
	check(x->table.n_groups <= x->table.max_groups + 1);
	check(table_write(&x->table, &x->scratch, t_us, false) == 0);
	for (size_t i = 0; i < x->table.n_columns && x->table.n_groups; i++) {
		check(x->table.raw[i] >= x->before[i]);
		x->before[i] = x->table.raw[i];
	}
}

static void things(parser *parse, struct root_text first, struct root_text second, size_t n_columns)
{
	static const struct table_column figures[ROSTER_COLUMNS] = {
		{ "a", "1", true, 1, 1 }, { "b", "1KiB", true, 1, 2 }, { "c", "1", true, 4, 1 },
		{ "d", "1", true, 10, 1 }, { "e", "1", true, 1, 1024 },
	};
	struct things x = { .scratch = BUF_INIT };
	char dir[] = "/tmp/buildbeat-fuzz-XXXXXX";
	int dir_fd;

	check(mkdtemp(dir) != NULL);
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	check(!roster_init(&x.roster, 16, some_count, NULL));
	check(!table_open(&x.table, dir_fd, "fuzz", 1000, figures, n_columns, 4));
	check(!unlinkat(dir_fd, "fuzz.log", 0) && !rmdir(dir));
	close(dir_fd);
	parse(&first, &x.roster, NULL);
	roster_place(&x.roster, &x.table);
	take(&x, parse, first, 0);
	take(&x, parse, second, 1000000);
	take(&x, parse, first, 2000000);
	table_close(&x.table);
	roster_release(&x.roster);
	buf_release(&x.scratch);
}

static void keyed(struct root_text text)
{
	struct want want[] = {
		{ .key = "MemTotal" }, { .key = "SwapFree" }, { .key = "pgpgin" },
		{ .key = "oom_kill" }, { .key = "user_usec" }, { .key = "Pss" },
	};
	size_t n = parse_keyed(&text, want, 6);

	for (size_t i = 0; i < 6; i++)
		n -= want[i].found;
	check(n == 0);
}

static void cgroups(struct root_text text)
{
	static const char *const controllers[] = { NULL, "memory", "cpuacct" };
	struct cgroup_mount mount;
	struct slice path;

	for (size_t i = 0; i < 3; i++) {
		if (parse_cgroup_path(&text, controllers[i], &path))
			check(path.len && path.p[0] == '/');
		if (parse_cgroup_mount(&text, controllers[i], &mount))
			check(mount.point[0] && mount.root[0]);
	}
}

static void io_stat(struct root_text text)
{
	struct roster r;
	uint64_t bytes[2];

	check(!roster_init(&r, 16, some_count, NULL));
	parse_io_stat(&text, &r, bytes);
	roster_release(&r);
}

static void tasks(struct root_text text)
{
	struct running *r = calloc(1, sizeof *r);
	struct cursor c, line;

	check(r != NULL);
	root_text_cursor(&text, &c);
	while (parse_line(&c, &line))
		running_take(r, (struct slice){ line.p, (size_t)(line.end - line.p) });
	check(r->top <= RUNNING_MAX);
	for (size_t i = 0; i < r->top; i++)
		check(r->task[i].inner.cpu_us >= 0 && r->task[i].inner.read_kb >= 0);
	free(r);
}

static void halves(char *data, size_t size, struct root_text *first, struct root_text *second)
{
	*first = (struct root_text){ data, size / 2, size / 2 };
	*second = (struct root_text){ data + size / 2, size - size / 2, size - size / 2 };
}

/* Two messages of the kernel, because the numbers of events are compared. */
static void events(struct root_text first, struct root_text second)
{
	uint32_t next[2];
	bool seen[2] = { false, false };
	struct connector c = { .next = next, .seen = seen, .n_cpus = 2 };
	struct slice messages[] = { { first.data, first.len }, { second.data, second.len } };
	struct connector_event e;

	for (size_t i = 0; i < 2; i++) {
		if (connector_parse(&c, messages[i], &e))
			check(e.kind <= CONNECTOR_EXIT);
	}
}

static void figures(struct root_text text)
{
	struct taskstats_event e;
	struct cputime c;

	cputime_init(&c);
	if (!taskstats_parse((struct slice){ text.data, text.len }, 0x1f, &e))
		return;
	check(memchr(e.name, 0, sizeof e.name) != NULL);
	check(cputime_of_thread(&c, &e.cpu, 1000) >= -1);
	check(cputime_of_end(&c, e.cpu.age_us, e.used.max_rss_kb) >= 0);
	cputime_split(&e.used, e.cpu.run_us);
	check(e.cpu.run_us < 0 || (e.used.user_us >= 0 && e.used.system_us >= 0));
}

FUZZ_TARGET(proc)
{
	struct root_text first, second = { 0 };
	struct parse_stat_values stat;
	struct parse_stalls pressure;
	uint64_t disk[DISK_COLUMNS];
	struct pid_sched sched;
	struct pid_stat pid;
	uint64_t load;
	char *copy;

	if (!size)
		return 0;
	copy = malloc(size);	/* of exact size: sanitizers see a read after it */
	check(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	first = (struct root_text){ copy, strnlen(copy, size - 1), size };
	second = (struct root_text){ copy + first.len, size - 1 - first.len, size };
	if (second.len) {
		second.data++;
		second.len--;
	}
	switch (data[0]) {
	case 's': parse_stat(&first, &stat); break;
	case 'c': things(parse_cores, first, second, 1); break;
	case 'd': things(parse_diskstats, first, second, DISK_COLUMNS); break;
	case 'n': things(parse_net_dev, first, second, NET_COLUMNS); break;
	case 'l': parse_loadavg(&first, &load); break;
	case 'k': keyed(first); break;
	case 'p': parse_pressure(&first, &pressure); break;
	case 'g': cgroups(first); break;
	case 'b': parse_disk_stat(&first, disk); break;
	case 'i': io_stat(first); break;
	case 'P': parse_pid_stat(&first, &pid); break;
	case 'S': parse_pid_sched(&first, &sched); break;
	case 't': tasks(first); break;
	/* not texts: they contain NUL bytes */
	case 'C': halves(copy, size - 1, &first, &second); events(first, second); break;
	case 'T': figures((struct root_text){ copy, size - 1, size }); break;
	}
	free(copy);
	return 0;
}
