/* SPDX-License-Identifier: MIT */
#include "report/inspect/inspect_stats.h"

#include "base/array.h"
#include "base/clock.h"
#include "write/doc.h"

#include <inttypes.h>

/* Keys of JSON. */
static const char *const pressures[MACHINE_PRESSURES] = {
	[MACHINE_CPU_SOME] = "cpu_some_percent", [MACHINE_MEMORY_SOME] = "memory_some_percent",
	[MACHINE_MEMORY_FULL] = "memory_full_percent", [MACHINE_IO_SOME] = "io_some_percent",
	[MACHINE_IO_FULL] = "io_full_percent",
};

static void add_size(struct buf *out, const char *what, uint64_t kb)
{
	buf_addf(out, "%s ", what);
	text_add_bytes(out, (int64_t)(kb % (INT64_MAX / 1024)) * 1024);
}

static void add_cpus(struct doc *d, const struct whole_machine *m)
{
	static const struct doc_column columns[2 + MACHINE_TIMES] = {
		{ "CPU", .in = DOC_TERMINAL, .width = 4 }, { NULL, "cpu", .type = DOC_COUNT, .in = DOC_JSON },
		[2 + MACHINE_USER] = { "user", "user_percent", DOC_PERCENT, .width = 8 },
		[2 + MACHINE_SYSTEM] = { "system", "system_percent", DOC_PERCENT, .width = 8 },
		[2 + MACHINE_IOWAIT] = { "iowait", "iowait_percent", DOC_PERCENT, .width = 8 },
		[2 + MACHINE_STEAL] = { "steal", "steal_percent", DOC_PERCENT, .width = 8 },
		[2 + MACHINE_IDLE] = { "idle", "idle_percent", DOC_PERCENT, .width = 8 },
	};
	static const struct doc_table table = {
		.key = "cpus", .column = columns, .n_columns = ARRAY_SIZE(columns), .heads = true,
		.empty = true, .tone = TONE_TITLE,
	};

	doc_table(d, &table);
	for (size_t i = 0; i < m->n_cpus; i++) {
		const struct machine_cpu *c = &m->cpu[i];

		doc_row(d);
		if (c->number < 0)
			doc_str(d, "all");
		else
			buf_addi(doc_text(d, c->number), c->number);
		doc_num(d, c->number);
		for (int t = 0; t < MACHINE_TIMES; t++)
			doc_real(d, (double)c->permille[t] / 10);
	}
	doc_table_end(d, 0);
}

static void add_memory(struct buf *out, const struct machine_memory *y)
{
	add_size(out, "memory ", y->total);
	add_size(out, ": free", y->free);
	add_size(out, ", cache", y->cache);
	add_size(out, ", anonymous", y->anonymous);
	add_size(out, ", kernel", y->kernel);
	add_size(out, "; available", y->available);
	add_size(out, "\nswap   ", y->swap);
	add_size(out, " of", y->swap_total);
	buf_addc(out, '\n');
}

static void add_disks(struct buf *out, const struct whole_machine *m)
{
	for (size_t i = 0; i < m->n_disks; i++) {
		const struct machine_disk *d = &m->disk[i];

		buf_adds(out, "disk    ");
		text_add_name(out, d->name, 0);
		if (d->busy_permille < 0) {
			buf_adds(out, "\n");
			continue;
		}
		add_size(out, ": read", (uint64_t)d->read_kb_s);
		add_size(out, "/s, written", (uint64_t)d->written_kb_s);
		buf_addf(out, "/s, %.1f %% busy\n", (double)d->busy_permille / 10);
	}
}

static void add_pressure(struct buf *out, const struct whole_machine *m)
{
	const int32_t *p = m->pressure_permille;

	if (!m->has_pressure || !m->elapsed_us)
		return;
	buf_addf(out, "stalled CPU %.1f %%, memory %.1f %% (all %.1f %%), I/O %.1f %% (all %.1f %%)\n",
		 (double)p[MACHINE_CPU_SOME] / 10, (double)p[MACHINE_MEMORY_SOME] / 10,
		 (double)p[MACHINE_MEMORY_FULL] / 10, (double)p[MACHINE_IO_SOME] / 10,
		 (double)p[MACHINE_IO_FULL] / 10);
}

int stats_machine_text(struct buf *out, const struct whole_machine *m, const struct style *style)
{
	struct doc d;

	doc_init_terminal(&d, out, style);
	add_cpus(&d, m);
	doc_release(&d);
	add_memory(out, &m->memory);
	add_disks(out, m);
	add_pressure(out, m);
	buf_addf(out, "load    %.2f, %" PRIu64 " threads run, %" PRIu64 " wait for I/O\n",
		 (double)m->load / 100, m->running, m->blocked);
	return buf_error(out);
}

/* JSON */

static void add_json_memory(struct json *j, const struct machine_memory *y)
{
	json_object(j, "memory");
	json_int(j, "total_kb", (int64_t)y->total);
	json_int(j, "free_kb", (int64_t)y->free);
	json_int(j, "cache_kb", (int64_t)y->cache);
	json_int(j, "anonymous_kb", (int64_t)y->anonymous);
	json_int(j, "kernel_kb", (int64_t)y->kernel);
	json_int(j, "available_kb", (int64_t)y->available);
	json_int(j, "swap_kb", (int64_t)y->swap);
	json_int(j, "swap_total_kb", (int64_t)y->swap_total);
	json_object_end(j);
}

/* null: not known, as long as there is no second reading. */
static void add_json_percent(struct json *j, const char *key, int permille)
{
	if (permille < 0)
		json_null(j, key);
	else
		json_real(j, key, (double)permille / 10, 1);
}

static void add_json_disks(struct json *j, const struct whole_machine *m)
{
	json_array(j, "disks");
	for (size_t i = 0; i < m->n_disks; i++) {
		const struct machine_disk *d = &m->disk[i];

		json_object(j, NULL);
		json_str(j, "name", d->name);
		json_known(j, "read_kb_per_s", d->read_kb_s);
		json_known(j, "written_kb_per_s", d->written_kb_s);
		add_json_percent(j, "busy_percent", d->busy_permille);
		json_object_end(j);
	}
	json_array_end(j);
}

void stats_pressure_json(struct json *j, const struct whole_machine *m)
{
	json_object(j, "pressure");
	for (int i = 0; i < MACHINE_PRESSURES && m->has_pressure; i++)
		add_json_percent(j, pressures[i], m->pressure_permille[i]);
	json_object_end(j);
}

int stats_machine_json(struct buf *out, const struct whole_machine *m, int64_t wall_ns, bool compact)
{
	struct buf time = BUF_PART_OF(out);
	struct json j;
	struct doc d;

	clock_add_iso(&time, wall_ns);
	json_init(&j, out, compact);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat stats 1");
	json_str(&j, "time", buf_str(&time));
	json_int(&j, "elapsed_us", m->elapsed_us);
	doc_init_json(&d, &j);
	add_cpus(&d, m);
	doc_release(&d);
	add_json_memory(&j, &m->memory);
	add_json_disks(&j, m);
	stats_pressure_json(&j, m);
	json_real(&j, "load", (double)m->load / 100, 2);
	json_int(&j, "running_threads", (int64_t)m->running);
	json_int(&j, "blocked_threads", (int64_t)m->blocked);
	json_object_end(&j);
	buf_release(&time);
	return buf_error(out);
}
