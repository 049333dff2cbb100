/* SPDX-License-Identifier: MIT */
/*
 * Writes a recording as a large build leaves it, through the functions that record one:
 * gen_recording DIRECTORY [TASKS [SAMPLES [SEED]]]. The same arguments give the same files,
 * except the start in `build`.
 */
#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "recording/event.h"
#include "recording/series.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "recording/usage_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 16
#define TASKS_A_DIR 200
#define INTERVAL_MS 1000
#define FLUSH_SIZE (1 << 20)
#define TICK_US 10000
#define BLOCKS_A_KB 2

static uint64_t state;

/* splitmix64 */
static uint64_t random_below(uint64_t n)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % n;
}

/* One worker of the build: it runs a sub-make's tasks, one after the other. */
struct slot {
	char inst[INSTANCE_ID_MAX];
	uint64_t host_seq;	/* of the top make's task around the sub-make; 0: no task */
	unsigned dir;
	uint64_t seq;		/* of the running task, 0: no task yet */
	int64_t begin_us;	/* of the sub-make */
	int64_t end_us;		/* of the running task */
	int64_t rss_mb;
};

struct plan {
	struct store store;
	struct buf out;
	char top[INSTANCE_ID_MAX];
	uint64_t n_tasks, n_written, n_hosts;
	int64_t mean_us, end_us;
	int32_t pid;
	struct slot slot[SLOTS];
	struct buf usage_out;
	struct usage_writer usage;
	struct usage_slot usage_written[SLOTS], usage_now[SLOTS];
	uint64_t n_sampled;
};

static void flush(struct plan *p, size_t limit)
{
	if (p->out.len > limit)
		store_append(&p->store, &p->out);
}

static const char *const areas[] = { "core", "net", "drivers", "fs", "lib", "kernel", "sound" };
static const char *const words[] = { "queue", "table", "parser", "cache", "window", "packet",
	"device", "buffer", "thread", "socket", "layout", "render" };

#define PICK(list, n) ((list)[(n) % ARRAY_SIZE(list)])

static void task_name(char *name, size_t size, const struct slot *s)
{
	if (s->seq == TASKS_A_DIR)
		snprintf(name, size, "lib%s%u.a", PICK(areas, s->dir), s->dir);
	else
		snprintf(name, size, "%s/%s_%s_%u.o", PICK(areas, s->dir), PICK(words, s->seq),
			 PICK(words, s->seq / 12), (unsigned)s->seq);
}

static void command_of(struct buf *b, const char *name, const struct slot *s)
{
	if (s->seq == TASKS_A_DIR) {
		buf_addf(b, "rm -f %s && ar rcs %s *.o", name, name);
		return;
	}
	buf_adds(b, "gcc -DHAVE_CONFIG_H -I. -I../../src -I../include -I../../include/generated"
		 " -DPACKAGE_LOCALEDIR=\\\"/usr/share/locale\\\" -Wall -Wextra -Wshadow"
		 " -Wstrict-prototypes -O2 -g -fstack-protector-strong -fPIC");
	buf_addf(b, " -MT %s -MD -MP -MF .deps/%s.Tpo", name, name);
	buf_addf(b, " -c -o %s ../../src/%.*s.c", name, (int)strlen(name) - 2, name);
}

static void add_after(struct plan *p, const struct slot *s, int64_t t, const char *name)
{
	char source[128];
	const char *after[] = { source, "include/config.h", "include/types.h" };

	snprintf(source, sizeof source, "%.*s.c", (int)strlen(name) - 2, name);
	event_add_after(&p->out, t, s->inst, s->seq, after, 3);
}

static void start_task(struct plan *p, struct slot *s, int64_t t)
{
	struct buf command = BUF_INIT;
	struct event_task e = { .pid = p->pid++, .slot = -1 };
	char name[128];

	s->seq++;
	p->n_written++;
	memset(&p->usage_now[s - p->slot], 0, sizeof p->usage_now[0]);
	task_name(name, sizeof name, s);
	command_of(&command, name, s);
	e.name = name;
	e.command = buf_str(&command);
	event_add_start(&p->out, t, s->inst, s->seq, &e);
	if (s->seq < TASKS_A_DIR)
		add_after(p, s, t, name);
	s->end_us = t + p->mean_us / 4 + (int64_t)random_below((uint64_t)p->mean_us * 3 / 2);
	s->rss_mb = 20 + (int64_t)random_below(180);
	buf_release(&command);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void end_task(struct plan *p, struct slot *s, int64_t t)
{
	const struct usage_slot *sampled = &p->usage_now[s - p->slot];
	bool failed = random_below(2000) == 0;
	struct event_end e = {
		.status = failed ? 1 << 8 : 0,
		.user_us = (int64_t)random_below((uint64_t)p->mean_us),
		.system_us = (int64_t)random_below((uint64_t)p->mean_us / 10 + 1),
		.max_rss_kb = 20000 + (int64_t)random_below(180000),
		.minor_faults = 2000 + (int64_t)random_below(40000),
		.major_faults = 0,
		.in_blocks = (int64_t)random_below(64),
		.out_blocks = 8 * (int64_t)random_below(200),
		.voluntary_switches = (int64_t)random_below(50),
		.involuntary_switches = (int64_t)random_below(100),
		.rchar = -1, .wchar = -1, .instructions = -1,
	};

	/* What was waited for is no less than the last sample. */
	e.user_us = larger(e.user_us, sampled->level[USAGE_CPU] * TICK_US);
	e.out_blocks = larger(e.out_blocks, sampled->level[USAGE_WRITTEN] * BLOCKS_A_KB);
	if (random_below(5000) == 0)
		e.status = 9;
	event_add_end(&p->out, t, s->inst, s->seq, &e);
}

static void open_dir(struct plan *p, struct slot *s, int64_t t)
{
	char name[64], command[96], cwd[96], ancestors[64];
	struct event_task e = { .pid = p->pid++, .slot = -1, .name = name, .command = command };
	struct event_open o = { .pid = e.pid, .level = 1, .ancestors = ancestors,
		.tool = "make", .version = "4.3", .cwd = cwd, .command = command };

	s->dir = (unsigned)p->n_hosts;
	s->host_seq = ++p->n_hosts;
	s->seq = 0;
	s->begin_us = t;
	snprintf(name, sizeof name, "%s-%u", PICK(areas, s->dir), s->dir);
	snprintf(command, sizeof command, "make -C src/%s all", name);
	snprintf(cwd, sizeof cwd, "/home/user/project/src/%s", name);
	snprintf(ancestors, sizeof ancestors, "%d,1000,999,1", (int)e.pid);
	event_add_start(&p->out, t, p->top, s->host_seq, &e);
	event_instance_id(s->inst, e.pid, t + 5000);
	event_add_open(&p->out, t + 5000, s->inst, &o);
	p->n_written++;
}

static void close_dir(struct plan *p, struct slot *s, int64_t t)
{
	struct event_end e;

	event_end_init(&e, 0);
	e.user_us = (t - s->begin_us) / 2;
	e.system_us = (t - s->begin_us) / 20;
	e.max_rss_kb = 200000;
	event_add_close(&p->out, t, s->inst, 0, NULL);
	event_add_end(&p->out, t + 1000, p->top, s->host_seq, &e);
	s->host_seq = 0;
}

/* Usage of the task of a slot at this sample. */
static void sample_slot(const struct slot *s, struct usage_slot *u)
{
	char task[USAGE_TASK_ID_MAX];

	if (!s->seq || s->end_us == INT64_MAX) {
		memset(u, 0, sizeof *u);
		return;
	}
	snprintf(task, sizeof task, "%s.%llu", s->inst, (unsigned long long)s->seq);
	if (strcmp(u->task, task)) {
		memset(u, 0, sizeof *u);
		strcpy(u->task, task);
	}
	u->level[USAGE_RSS] += random_below(2) ? (s->rss_mb - u->level[USAGE_RSS]) / 2 : 0;
	u->level[USAGE_CPU] += 80 + (int64_t)random_below(20);
	u->level[USAGE_PSS] = u->level[USAGE_RSS] * 4 / 5;
	u->level[USAGE_PROCESSES] = 3;
	u->level[USAGE_WRITTEN] += random_below(10) ? 0 : (int64_t)random_below(500);
}

/* The samples of proc_tasks.log up to a time. */
static void sample_tasks(struct plan *p, int64_t t_us)
{
	for (; (int64_t)p->n_sampled * INTERVAL_MS * 1000 < t_us; p->n_sampled++) {
		for (unsigned i = 0; i < SLOTS; i++)
			sample_slot(&p->slot[i], &p->usage_now[i]);
		usage_add(&p->usage, &p->usage_out, (int64_t)p->n_sampled * INTERVAL_MS * 1000,
			  p->usage_now, false);
	}
}

static struct slot *next_slot(struct plan *p)
{
	struct slot *s = &p->slot[0];

	for (unsigned i = 1; i < SLOTS; i++)
		s = p->slot[i].end_us < s->end_us ? &p->slot[i] : s;
	return s;
}

static void write_tasks(struct plan *p)
{
	struct event_open top = { .pid = 1000, .level = 0, .ancestors = "1000,999,1",
		.tool = "make", .version = "4.3", .cwd = "/home/user/project",
		.command = "make -j16" };
	unsigned busy = SLOTS;

	event_instance_id(p->top, top.pid, 10);
	event_add_open(&p->out, 10, p->top, &top);
	while (busy) {
		struct slot *s = next_slot(p);
		int64_t t = s->end_us;

		p->end_us = t;
		sample_tasks(p, t);
		if (s->seq)
			end_task(p, s, t);
		if (s->host_seq && (s->seq == TASKS_A_DIR || p->n_written >= p->n_tasks))
			close_dir(p, s, t + 100);
		if (!s->host_seq && p->n_written + 1 < p->n_tasks)
			open_dir(p, s, t + 2000);
		if (s->host_seq) {
			start_task(p, s, t + 10000);
		} else {
			s->end_us = INT64_MAX;
			busy--;
		}
		flush(p, FLUSH_SIZE);
	}
	p->end_us += 10000;
	event_add_close(&p->out, p->end_us, p->top, 0, NULL);
	flush(p, 0);
}

/* Samples: levels that vary like those of a busy machine. */

struct walk {
	const char *name, *unit;
	bool counter;
	int64_t start, step;	/* the largest change, up or (gauges) down */
	unsigned percent;	/* how often it changes */
};

struct log {
	const char *name;
	const struct walk *walk;
	size_t n;
};

#define LOG(name, list) { name, list, ARRAY_SIZE(list) }

static const struct walk stat_walk[] = {
	{ "user", "10ms", true, 0, 1500, 100 }, { "system", "10ms", true, 0, 200, 100 },
	{ "running", "1", false, 16, 3, 80 }, { "iowait", "10ms", true, 0, 30, 20 },
	{ "blocked", "1", false, 0, 1, 10 }, { "load", "0.01", false, 1600, 20, 20 },
	{ "irq", "10ms", true, 0, 4, 30 }, { "steal", "10ms", true, 0, 1, 5 },
	{ "nice", "10ms", true, 0, 0, 0 },
};
static const struct walk meminfo_walk[] = {
	{ "free", "1MiB", false, 9000, 200, 95 }, { "available", "1MiB", false, 20000, 200, 95 },
	{ "cached", "1MiB", false, 8000, 20, 80 }, { "dirty", "1MiB", false, 90, 20, 90 },
	{ "buffers", "1MiB", false, 300, 1, 10 }, { "writeback", "1MiB", false, 0, 2, 10 },
	{ "slab", "1MiB", false, 700, 2, 40 }, { "shmem", "1MiB", false, 40, 1, 2 },
	{ "swap", "1MiB", false, 0, 0, 0 }, { "total", "1MiB", false, 32768, 0, 0 },
	{ "swap_total", "1MiB", false, 0, 0, 0 },
};
static const struct walk diskstats_walk[] = {
	{ "nvme0n1.written", "1KiB", true, 0, 20000, 70 },
	{ "nvme0n1.busy", "1ms", true, 0, 300, 70 }, { "nvme0n1.writes", "1", true, 0, 90, 70 },
	{ "nvme0n1.read", "1KiB", true, 0, 900, 15 }, { "nvme0n1.reads", "1", true, 0, 20, 15 },
};
static const struct walk net_walk[] = {
	{ "eth0.rx", "1KiB", true, 0, 20, 20 }, { "eth0.tx", "1KiB", true, 0, 10, 20 },
};
static const struct walk pressure_walk[] = {
	{ "cpu.some", "1ms", true, 0, 700, 95 }, { "io.some", "1ms", true, 0, 80, 40 },
	{ "io.full", "1ms", true, 0, 30, 30 }, { "memory.some", "1ms", true, 0, 0, 0 },
	{ "memory.full", "1ms", true, 0, 0, 0 },
};
static const struct walk vmstat_walk[] = {
	{ "pgpgout", "1MiB", true, 0, 20, 70 }, { "pgpgin", "1MiB", true, 0, 2, 15 },
	{ "pgmajfault", "1", true, 0, 30, 10 }, { "pswpout", "1KiB", true, 0, 0, 0 },
	{ "pswpin", "1KiB", true, 0, 0, 0 }, { "oom_kill", "1", true, 0, 0, 0 },
};
static const struct log logs[] = {
	LOG("proc_stat", stat_walk), LOG("proc_meminfo", meminfo_walk),
	LOG("proc_diskstats", diskstats_walk), LOG("proc_net", net_walk),
	LOG("proc_pressure", pressure_walk), LOG("proc_vmstat", vmstat_walk),
};

static void wander(const struct walk *w, int64_t *level)
{
	int64_t step;

	if (random_below(100) >= w->percent)
		return;
	step = (int64_t)random_below((uint64_t)w->step + 1);
	if (w->counter || *level < w->step || random_below(2))
		*level += step;
	else
		*level -= step;
}

static int write_file(struct plan *p, const char *name, struct buf *b)
{
	int fd = file_open_at(p->store.dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC);
	int r = 0;

	if (fd < 0 || write(fd, b->data, b->len) != (ssize_t)b->len)
		r = -EIO;
	close(fd);
	buf_clear(b);
	return r;
}

static int write_log(struct plan *p, const struct log *l, uint64_t n_samples)
{
	struct series_column column[16];
	int64_t written[16], level[16];
	struct series_writer w;
	char file[64];

	snprintf(file, sizeof file, "%s.log", l->name);
	for (size_t i = 0; i < l->n; i++) {
		level[i] = l->walk[i].start;
		column[i].counter = l->walk[i].counter;
		snprintf(column[i].name, sizeof column[i].name, "%s", l->walk[i].name);
		snprintf(column[i].unit, sizeof column[i].unit, "%s", l->walk[i].unit);
	}
	series_writer_init(&w, written, l->n, INTERVAL_MS);
	series_add_header(&p->out, l->name, INTERVAL_MS, column, l->n);
	for (uint64_t k = 0; k < n_samples; k++) {
		bool late = random_below(500) == 0;
		int64_t t = (int64_t)k * INTERVAL_MS * 1000 + (int64_t)random_below(late ? 400000 : 9000);

		series_add(&w, &p->out, t, level, k + 1 == n_samples);
		for (size_t i = 0; i < l->n; i++)
			wander(&l->walk[i], &level[i]);
	}
	return write_file(p, file, &p->out);
}

static int write_end(struct plan *p)
{
	struct buf b = BUF_INIT;
	int r;

	buf_addf(&b, "command: make -j16\ntool: make\ncores: 16\nmemory_kb: 33554432\n");
	buf_addf(&b, "interval_ms: %d\nend_us: %lld\nstatus: 0\n", INTERVAL_MS,
		 (long long)p->end_us);
	r = store_append_build(&p->store, &b);
	buf_release(&b);
	return r;
}

static int generate(struct plan *p, uint64_t n_samples)
{
	int r = 0;

	p->mean_us = (int64_t)(n_samples * INTERVAL_MS * 1000 * SLOTS / (p->n_tasks + 1)) + 4;
	p->pid = 2000;
	for (unsigned i = 0; i < SLOTS; i++)
		p->slot[i].end_us = 1000 + i;
	usage_writer_init(&p->usage, p->usage_written, SLOTS, INTERVAL_MS);
	series_add_header(&p->usage_out, USAGE_LOG_NAME, INTERVAL_MS, usage_columns, USAGE_COLUMNS);
	write_tasks(p);
	r = write_file(p, "proc_tasks.log", &p->usage_out);
	for (size_t i = 0; !r && i < ARRAY_SIZE(logs); i++)
		r = write_log(p, &logs[i], n_samples);
	if (!r)
		r = write_end(p);
	return r ? r : p->store.error;
}

static uint64_t number(char **argv, int argc, int at, uint64_t otherwise)
{
	uint64_t n;

	if (at >= argc)
		return otherwise;
	return cursor_slice_u64(slice_of(argv[at]), &n) ? n : otherwise;
}

int main(int argc, char **argv)
{
	static struct plan p;
	struct error err = { 0 };
	char *name;
	int r;

	if (argc < 2 || !(name = strrchr(argv[1], '/')) || !name[1]) {
		fprintf(stderr, "usage: gen_recording BASE/NAME [TASKS [SAMPLES [SEED]]]\n");
		return 2;
	}
	*name++ = '\0';
	p.n_tasks = number(argv, argc, 2, 100000);
	state = number(argv, argc, 4, 1);
	r = store_create(&p.store, argv[1], name, &err);
	if (r) {
		fprintf(stderr, "gen_recording: %s: %s\n", err.path, err.message);
		return 1;
	}
	r = generate(&p, number(argv, argc, 3, 36000));
	buf_release(&p.out);
	buf_release(&p.usage_out);
	store_close(&p.store);
	if (r)
		fprintf(stderr, "gen_recording: %s\n", strerror(-r));
	return r ? 1 : 0;
}
