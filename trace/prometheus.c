/* SPDX-License-Identifier: MIT */
#include "trace/trace_formats.h"

#include "analyse/summary.h"
#include "base/outfile.h"
#include "base/utf8.h"
#include "recording/alive.h"
#include "recording/suspended.h"
#include "trace/otlp.h"

#include <inttypes.h>
#include <string.h>

/*
 * A recording as Prometheus' text format, for the textfile collector of its node exporter. All
 * are gauges of one build, finished or running; the only label that depends on the build is its
 * pipeline. So a builder has the same few series for every build.
 */

struct gauges {
	struct buf *out;
	struct buf pipeline;	/* the label, escaped */
	const char *name;	/* of the metric that was begun */
};

/* A label's value: UTF-8, with \ before \ and ", and \n. */
static void add_escaped(struct buf *out, const char *s)
{
	struct buf copy = BUF_PART_OF(out);
	size_t len = strlen(s);

	s = utf8_repaired(&copy, s, &len);
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\\' || s[i] == '"')
			buf_addc(out, '\\');
		if (s[i] == '\n')
			buf_adds(out, "\\n");
		else
			buf_addc(out, s[i]);
	}
	buf_release(&copy);
}

static void declare(struct gauges *g, const char *name, const char *help)
{
	g->name = name;
	buf_addf(g->out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

/* label: NULL if there is only the pipeline. */
static void begin_value(struct gauges *g, const char *label, const char *value)
{
	buf_addf(g->out, "%s{pipeline=\"%s\"", g->name, buf_str(&g->pipeline));
	if (label) {
		buf_addf(g->out, ",%s=\"", label);
		add_escaped(g->out, value);
		buf_addc(g->out, '"');
	}
	buf_adds(g->out, "} ");
}

static void add(struct gauges *g, const char *label, const char *value, int64_t n)
{
	if (n < 0)
		return;
	begin_value(g, label, value);
	buf_addi(g->out, n);
	buf_addc(g->out, '\n');
}

static void add_seconds(struct gauges *g, const char *label, const char *value, int64_t us)
{
	if (us < 0)
		return;
	begin_value(g, label, value);
	buf_addf(g->out, "%" PRId64 ".%06" PRId64 "\n", us / 1000000, us % 1000000);
}

/* Does a process of the build live? Its sampler began before the build; without one, the first
 * build tool. */
static bool is_running(const struct recording *rec)
{
	int64_t pid = recording_build_number(rec, "sampler_pid"), since_ns = rec->start_mono_ns;

	if (rec->end_us >= 0 || !alive_same_host(recording_build(rec, "host")) ||
	    !alive_same_boot(recording_build(rec, "boot_id")))
		return false;
	for (size_t i = 0; pid <= 0 && i < rec->n_instances; i++) {
		pid = rec->instance[i].pid;
		since_ns = rec->start_mono_ns + rec->instance[i].open_us * 1000;
	}
	/* at the latest: its time lacks those in which the build was suspended */
	if (since_ns != rec->start_mono_ns)
		since_ns += suspended_sum_us(rec) * 1000;
	return pid > 0 && pid <= INT32_MAX && alive_since((int32_t)pid, since_ns);
}

static void add_build(struct gauges *g, const struct summary *s, bool running)
{
	const struct recording *rec = s->rec;
	const char *version, *tool = recording_tool(rec, &version);

	declare(g, "buildbeat_build_info", "The newest build of a pipeline.");
	buf_addf(g->out, "buildbeat_build_info{pipeline=\"%s\",tool=\"", buf_str(&g->pipeline));
	add_escaped(g->out, tool ? tool : "");
	buf_adds(g->out, "\",version=\"" PACKAGE_VERSION "\"} 1\n");
	declare(g, "buildbeat_build_running", "Whether the build is running.");
	add(g, NULL, NULL, running);
	declare(g, "buildbeat_build_start_time_seconds", "Start of the build since 1970.");
	add_seconds(g, NULL, NULL, rec->start_wall_ns / 1000);
	if (!running) {
		declare(g, "buildbeat_build_success", "Whether the build ended with status 0.");
		add(g, NULL, NULL, build_is_good(s->result));
	}
	declare(g, "buildbeat_build_wall_seconds", "Time since the start, or of the whole build.");
	add_seconds(g, NULL, NULL, s->wall_us);
	if (s->user_us >= 0) {
		declare(g, "buildbeat_build_cpu_seconds", "CPU time of the build.");
		add_seconds(g, "mode", "user", s->user_us);
		add_seconds(g, "mode", "system", s->system_us);
	}
	if (s->memory_peak_kb.value >= 0) {
		declare(g, "buildbeat_build_peak_memory_bytes",
			"Largest memory of all tasks at one time, without the build tool.");
		add(g, NULL, NULL, s->memory_peak_kb.value * 1024);
	}
}

/* Tasks that run a build tool are not active: their tasks are. */
static void add_tasks(struct gauges *g, const struct summary *s, bool running)
{
	const struct recording *rec = s->rec;
	int64_t unfinished = (int64_t)s->n_state[TASK_UNFINISHED], active = 0;

	for (size_t i = 0; running && i < rec->n_tasks; i++)
		active += rec->task[i].state == TASK_UNFINISHED && !rec->task[i].hosts;
	declare(g, "buildbeat_active_tasks", "Running tasks, without those that run a build tool.");
	add(g, NULL, NULL, active);
	declare(g, "buildbeat_tasks", "Tasks by their state.");
	add(g, "state", "queued", (int64_t)s->n_state[TASK_QUEUED]);
	add(g, "state", "running", running ? unfinished : 0);
	add(g, "state", "unfinished", running ? 0 : unfinished);
	add(g, "state", "done", (int64_t)s->n_state[TASK_DONE]);
	add(g, "state", "failed", (int64_t)s->n_state[TASK_FAILED]);
	add(g, "state", "killed", (int64_t)s->n_state[TASK_KILLED]);
}

static void add_host(struct gauges *g, const struct host *h)
{
	static const char *const pressure[PRESSURES] = {
		[PRESSURE_CPU_SOME] = "cpu_some", [PRESSURE_IO_SOME] = "io_some",
		[PRESSURE_IO_FULL] = "io_full", [PRESSURE_MEMORY_SOME] = "memory_some",
		[PRESSURE_MEMORY_FULL] = "memory_full",
	};

	declare(g, "buildbeat_host_cpu_seconds", "CPU time of the machine during the build.");
	add_seconds(g, "mode", "user", h->user_us);
	add_seconds(g, "mode", "system", h->system_us);
	add_seconds(g, "mode", "iowait", h->iowait_us);
	add_seconds(g, "mode", "steal", h->steal_us);
	if (h->memory_used_bytes.value >= 0) {
		declare(g, "buildbeat_host_peak_memory_bytes",
			"Largest used memory of the machine during the build.");
		add(g, NULL, NULL, h->memory_used_bytes.value);
	}
	declare(g, "buildbeat_host_disk_bytes", "Bytes that disks transferred during the build.");
	add(g, "direction", "read", h->disk_read_bytes);
	add(g, "direction", "write", h->disk_written_bytes);
	declare(g, "buildbeat_host_network_bytes",
		"Bytes that network interfaces transferred during the build.");
	add(g, "direction", "receive", h->net_received_bytes);
	add(g, "direction", "transmit", h->net_sent_bytes);
	declare(g, "buildbeat_host_pressure_seconds",
		"Time in which work of the machine waited for a resource.");
	for (unsigned i = 0; i < PRESSURES; i++)
		add_seconds(g, "resource", pressure[i], h->stalled_us[i]);
}

int prometheus_write(const struct recording *rec, const char *path, struct error *err)
{
	struct buf out = BUF_INIT, name = BUF_PART_OF(&out);
	struct gauges g = { .out = &out, .pipeline = BUF_PART_OF(&out) };
	bool running = is_running(rec);
	struct summary s;
	int r = summary_make(&s, rec);

	otlp_pipeline_name(&name, rec);
	add_escaped(&g.pipeline, buf_str(&name));
	if (!r) {
		add_build(&g, &s, running);
		add_tasks(&g, &s, running);
		add_host(&g, &s.host);
		r = buf_error(&out);
	}
	r = r ? error_sys(err, r, path, "cannot write") : outfile_write(path, &out, err);
	summary_release(&s);
	buf_release(&g.pipeline);
	buf_release(&name);
	buf_release(&out);
	return r;
}
