/* SPDX-License-Identifier: MIT */
#include "inspect/whole_machine.h"

#include "base/array.h"
#include "sampler/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_CAP (1 << 20)

int whole_machine_init(struct whole_machine *m, const char *proc)
{
	*m = (struct whole_machine){ .root = ROOT_INIT, .text = { malloc(TEXT_CAP), 0, TEXT_CAP } };
	if (!m->text.data)
		return -ENOMEM;
	return root_open(&m->root, proc, NULL);
}

void whole_machine_release(struct whole_machine *m)
{
	root_close(&m->root);
	free(m->text.data);
	free(m->cpu);
	*m = (struct whole_machine){ .root = ROOT_INIT };
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static int32_t permille(uint64_t part, uint64_t whole)
{
	return !whole ? 0 : part >= whole ? 1000 : (int32_t)((double)part * 1000 / (double)whole);
}

/* Processors */

static struct machine_cpu *cpu_of(struct whole_machine *m, int32_t number)
{
	struct machine_cpu *c;

	for (size_t i = 0; i < m->n_cpus; i++) {
		if (m->cpu[i].number == number)
			return &m->cpu[i];
	}
	c = array_add(&m->cpu, &m->n_cpus, sizeof *c);
	if (c)
		*c = (struct machine_cpu){ .number = number };
	return c;
}

/* The kernel's idle times can go back. */
static void take_ticks(struct machine_cpu *c, const uint64_t now[MACHINE_TIMES])
{
	uint64_t change[MACHINE_TIMES], sum = 0;

	for (int i = 0; i < MACHINE_TIMES; i++) {
		change[i] = since(now[i], c->ticks[i]);
		sum += change[i];
		c->ticks[i] = now[i];
	}
	for (int i = 0; i < MACHINE_TIMES; i++)
		c->permille[i] = permille(change[i], sum);
}

static bool next_number(struct cursor *line, uint64_t *n)
{
	cursor_blanks(line);
	return cursor_u64(line, n);
}

/* "cpu" or "cpu3", then user nice system idle iowait irq softirq steal */
static int take_cpu(struct whole_machine *m, struct cursor *line)
{
	uint64_t v[8] = { 0 }, number = 0;
	bool all = line->p < line->end && *line->p == ' ';
	struct machine_cpu *c;
	size_t n = 0;

	if (!all && (!cursor_u64(line, &number) || number > INT32_MAX))
		return 0;
	while (n < ARRAY_SIZE(v) && next_number(line, &v[n]))
		n++;
	if (n < 4)
		return 0;
	c = cpu_of(m, all ? -1 : (int32_t)number);
	if (!c)
		return -ENOMEM;
	take_ticks(c, (const uint64_t[MACHINE_TIMES]){
		[MACHINE_USER] = v[0] + v[1], [MACHINE_SYSTEM] = v[2] + v[5] + v[6],
		[MACHINE_IDLE] = v[3], [MACHINE_IOWAIT] = v[4], [MACHINE_STEAL] = v[7] });
	return 0;
}

static int read_cpus(struct whole_machine *m)
{
	struct want runs[] = { { .key = "procs_running" }, { .key = "procs_blocked" } };
	int r = root_read_once(m->root.proc_fd, "stat", &m->text);
	struct cursor c, line;

	root_text_cursor(&m->text, &c);
	while (!r && parse_line(&c, &line) && cursor_literal(&line, "cpu"))
		r = take_cpu(m, &line);
	parse_keyed(&m->text, runs, ARRAY_SIZE(runs));
	m->running = runs[0].value;
	m->blocked = runs[1].value;
	return r;
}

/* Memory */

static void read_memory(struct whole_machine *m)
{
	enum { TOTAL, FREE, BUFFERS, CACHED, SHMEM, RECLAIMABLE, ANON, AVAILABLE, SWAP, SWAP_FREE };
	struct want w[] = {
		{ .key = "MemTotal" }, { .key = "MemFree" }, { .key = "Buffers" },
		{ .key = "Cached" }, { .key = "Shmem" }, { .key = "SReclaimable" },
		{ .key = "AnonPages" }, { .key = "MemAvailable" }, { .key = "SwapTotal" },
		{ .key = "SwapFree" },
	};
	struct machine_memory *y = &m->memory;
	uint64_t known;

	root_read_once(m->root.proc_fd, "meminfo", &m->text);
	parse_keyed(&m->text, w, ARRAY_SIZE(w));
	*y = (struct machine_memory){
		.total = w[TOTAL].value, .free = w[FREE].value,
		/* shared memory is in no file */
		.cache = w[BUFFERS].value + since(w[CACHED].value, w[SHMEM].value) +
			 w[RECLAIMABLE].value,
		.anonymous = w[ANON].value + w[SHMEM].value, .available = w[AVAILABLE].value,
		.swap_total = w[SWAP].value, .swap = since(w[SWAP].value, w[SWAP_FREE].value),
	};
	known = y->free + y->cache + y->anonymous;
	y->kernel = since(y->total, known);
}

/* Disks */

static struct machine_disk *disk_of(struct whole_machine *m, struct slice name)
{
	for (size_t i = 0; i < m->n_disks; i++) {
		if (slice_is(name, m->disk[i].name))
			return &m->disk[i];
	}
	if (m->n_disks == MACHINE_DISKS_MAX || name.len >= sizeof m->disk->name)
		return NULL;
	m->disk[m->n_disks] = (struct machine_disk){ .busy_permille = -1 };
	memcpy(m->disk[m->n_disks].name, name.p, name.len);
	return &m->disk[m->n_disks++];
}

static int64_t rate(uint64_t change, int64_t elapsed_us)
{
	return elapsed_us > 0 ? (int64_t)((double)change * 1e6 / (double)elapsed_us) : -1;
}

/* MAJOR MINOR NAME, then reads merged sectors ms, writes merged sectors ms, in-flight, busy ms */
static void take_disk(struct whole_machine *m, struct cursor *line)
{
	uint64_t v[10], unused;
	struct machine_disk *d;
	struct slice name;

	if (!next_number(line, &unused) || !next_number(line, &unused))
		return;
	cursor_blanks(line);
	if (!cursor_word(line, &name, 31) || !parse_disk_is_whole(name) || parse_disk_is_layer(name))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		if (!next_number(line, &v[i]))
			return;
	}
	d = v[0] || v[4] ? disk_of(m, name) : NULL;
	if (!d)
		return;
	d->read_kb_s = rate(since(v[2] / 2, d->read_kb), m->elapsed_us);
	d->written_kb_s = rate(since(v[6] / 2, d->written_kb), m->elapsed_us);
	d->busy_permille = m->elapsed_us > 0 ?
		permille(since(v[9], d->busy_ms) * 1000, (uint64_t)m->elapsed_us) : -1;
	d->read_kb = v[2] / 2;
	d->written_kb = v[6] / 2;
	d->busy_ms = v[9];
}

static void read_disks(struct whole_machine *m)
{
	struct cursor c, line;

	root_read_once(m->root.proc_fd, "diskstats", &m->text);
	root_text_cursor(&m->text, &c);
	while (parse_line(&c, &line))
		take_disk(m, &line);
}

/* Pressure */

static void take_pressure(struct whole_machine *m, enum machine_pressure which, uint64_t now_us)
{
	m->pressure_permille[which] = m->elapsed_us > 0 ?
		permille(since(now_us, m->stalled_us[which]), (uint64_t)m->elapsed_us) : -1;
	m->stalled_us[which] = now_us;
}

static void read_pressure(struct whole_machine *m)
{
	static const struct {
		const char *path;
		enum machine_pressure some, full;	/* the same: no full */
	} files[] = {
		{ "pressure/cpu", MACHINE_CPU_SOME, MACHINE_CPU_SOME },
		{ "pressure/memory", MACHINE_MEMORY_SOME, MACHINE_MEMORY_FULL },
		{ "pressure/io", MACHINE_IO_SOME, MACHINE_IO_FULL },
	};
	struct parse_stalls p;

	m->has_pressure = true;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (root_read_once(m->root.proc_fd, files[i].path, &m->text) ||
		    !parse_pressure(&m->text, &p)) {
			m->has_pressure = false;
			return;
		}
		take_pressure(m, files[i].some, p.some_us);
		if (files[i].full != files[i].some)
			take_pressure(m, files[i].full, p.full_us);
	}
}

int whole_machine_read(struct whole_machine *m, int64_t now_us)
{
	int r;

	if (m->time_us && now_us - m->time_us < MACHINE_FRESH_US)
		return 0;
	m->elapsed_us = m->time_us ? now_us - m->time_us : 0;
	m->time_us = now_us;
	r = read_cpus(m);
	if (r)
		return r;
	read_memory(m);
	read_disks(m);
	read_pressure(m);
	if (!root_read_once(m->root.proc_fd, "loadavg", &m->text))
		parse_loadavg(&m->text, &m->load);
	return 0;
}
