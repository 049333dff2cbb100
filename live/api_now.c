/* SPDX-License-Identifier: MIT */
#include "analyse/tool_count.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/readfile.h"
#include "base/utf8.h"
#include "convert/zstd.h"
#include "compare/remaining.h"
#include "live/api_parts.h"
#include "live/now.h"
#include "live/route.h"
#include "live/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A reader follows its recording from the first request on: later ones read what was added. */
static struct {
	char path[PATH_MAX];
	struct growing *growing;
	struct now *now;
} followed;

static int follow(const char *path, struct error *err)
{
	int r;

	if (followed.growing && !strcmp(followed.path, path))
		return 0;
	growing_close(followed.growing);
	now_free(followed.now);
	followed.growing = NULL;
	r = now_new(&followed.now);
	if (r)
		return r;
	strcpy(followed.path, path);
	return growing_open(&followed.growing, path, &zstd_codec, &now_growing, followed.now, err);
}

/* more: the recording may still grow. */
static int read_now(const struct request *q, bool *more, struct error *err)
{
	const struct catalogue_entry *entry = catalogue_find(q->source->catalogue, q->source->id);
	char path[PATH_MAX];
	int r;

	if (!entry)
		return error_say(err, -ENOENT, "there is no recording");
	if (!catalogue_directory(q->source->catalogue, entry, path))
		return error_say(err, -EINVAL, "a build of an archive has no present state");
	r = follow(path, err);
	if (r)
		return r;
	r = growing_read(followed.growing, err);
	if (r > 0)	/* whether the build runs is known after what was added was read */
		r = growing_read(followed.growing, err);
	if (r < 0)
		return r;
	if (growing_is_removed(followed.growing))
		return error_say(err, -ESTALE, "the recording was deleted");
	now_settle(followed.now, NULL, NULL);
	followed.now->stopped = growing_is_stopped(followed.growing);
	*more = r > 0 && !followed.now->ended;
	followed.now->ended |= !*more;
	return 0;
}

static int add_now(struct json *j, const char *name, const struct request *q, struct error *err)
{
	struct tool_count p;
	bool more;
	int r = read_now(q, &more, err);

	if (r)
		return r;
	now_tool_count(&p, followed.now, followed.path);
	json_object(j, name);
	now_json(j, followed.now, &p, clock_mono_ns());
	json_object_end(j);
	return 0;
}

int api_now_add(struct json *j, const struct request *q, struct error *err)
{
	return add_now(j, "now", q, err);
}

static int reply_now(struct reply *out, const struct request *q, struct error *err)
{
	struct json j;
	int r;

	json_init(&j, &out->body, true);
	r = add_now(&j, NULL, q, err);
	return r ? r : buf_error(&out->body);
}

/* OpenMetrics. Labels have values of fixed sets, except those of the info. */

static void family(struct buf *b, const char *name, const char *type, const char *unit, const char *help)
{
	buf_addf(b, "# TYPE %s %s\n", name, type);
	if (unit)
		buf_addf(b, "# UNIT %s %s\n", name, unit);
	buf_addf(b, "# HELP %s %s\n", name, help);
}

static void label(struct buf *b, const char *name, const char *value)
{
	struct buf copy = BUF_PART_OF(b);
	size_t len = strlen(value);

	value = utf8_repaired(&copy, value, &len);
	buf_addf(b, "%s=\"", name);
	for (size_t i = 0; i < len; i++) {
		if (value[i] == '\n')
			buf_adds(b, "\\n");
		else if (value[i] == '"' || value[i] == '\\')
			buf_addf(b, "\\%c", value[i]);
		else
			buf_addc(b, value[i]);
	}
	buf_addc(b, '"');
	buf_release(&copy);
}

/* A number with so many decimals; nothing if it is not known. */
static void value(struct buf *b, const char *name, const char *labels, int64_t n, unsigned decimals)
{
	int64_t scale = 1;

	if (n < 0)
		return;
	for (unsigned i = 0; i < decimals; i++)
		scale *= 10;
	buf_addf(b, "%s%s %lld", name, labels, (long long)(n / scale));
	if (decimals)
		buf_addf(b, ".%0*lld", (int)decimals, (long long)(n % scale));
	buf_addc(b, '\n');
}

static void add_build(struct buf *b, const struct now *n, bool running)
{
	const char *base = strrchr(n->cwd, '/');

	family(b, "buildbeat_build_info", "gauge", NULL, "What is built, and by which build tool.");
	buf_adds(b, "buildbeat_build_info{");
	label(b, "pipeline", base && base[1] ? base + 1 : "build");
	buf_addc(b, ',');
	label(b, "tool", n->tool);
	buf_addc(b, ',');
	label(b, "version", PACKAGE_VERSION);
	buf_adds(b, "} 1\n");
	family(b, "cicd_pipeline_run_active", "gauge", NULL, "Builds that run now.");
	value(b, "cicd_pipeline_run_active", "{cicd_pipeline_run_state=\"executing\"}", running, 0);
	family(b, "buildbeat_build_start_time_seconds", "gauge", "seconds", "When the build began, since 1970.");
	value(b, "buildbeat_build_start_time_seconds", "",
	      n->start_wall_ns < 0 ? -1 : n->start_wall_ns / 1000000, 3);
	family(b, "buildbeat_build_elapsed_seconds", "gauge", "seconds", "Time since the build began, or that it took.");
	value(b, "buildbeat_build_elapsed_seconds", "", now_elapsed_us(n, clock_mono_ns()), 6);
	family(b, "buildbeat_build_suspended", "gauge", NULL, "Whether the build is suspended, by ^Z or SIGSTOP.");
	value(b, "buildbeat_build_suspended", "", now_is_suspended(n), 0);
	if (n->exit_status >= 0) {
		family(b, "buildbeat_build_exit_status", "gauge", NULL, "Exit status of a build that has ended.");
		value(b, "buildbeat_build_exit_status", "", n->exit_status, 0);
	}
}

static void add_tasks(struct buf *b, const struct now *n, bool running)
{
	uint64_t left = n->n_unfinished - n->n_tasks;

	family(b, "buildbeat_tasks", "gauge", NULL, "Tasks by state; running ones include those that run a build tool.");
	value(b, "buildbeat_tasks", "{state=\"queued\"}", (int64_t)n->n_queued, 0);
	value(b, "buildbeat_tasks", "{state=\"running\"}", running ? (int64_t)n->n_tasks : 0, 0);
	value(b, "buildbeat_tasks", "{state=\"unfinished\"}",
	      (int64_t)(running ? left : n->n_unfinished), 0);
	family(b, "buildbeat_active_tasks", "gauge", NULL, "Tasks that run now, without those that run a build tool.");
	value(b, "buildbeat_active_tasks", "", running ? (int64_t)n->n_running : 0, 0);
	family(b, "buildbeat_tasks_ended", "counter", NULL, "Tasks that ended, by result.");
	value(b, "buildbeat_tasks_ended_total", "{result=\"done\"}", (int64_t)n->n_done, 0);
	value(b, "buildbeat_tasks_ended_total", "{result=\"failed\"}", (int64_t)n->n_failed, 0);
	value(b, "buildbeat_tasks_ended_total", "{result=\"killed\"}", (int64_t)n->n_killed, 0);
	family(b, "buildbeat_damaged_lines", "counter", NULL, "Lines of the recording that cannot be read.");
	value(b, "buildbeat_damaged_lines_total", "", (int64_t)growing_damage(followed.growing)->lines, 0);
}

/* For make there is none. */
static void add_progress(struct buf *b, const struct now *n)
{
	struct tool_count p;

	now_tool_count(&p, n, followed.path);
	if (p.total < 0)
		return;
	family(b, "buildbeat_tool_tasks", "gauge", NULL, "Tasks as the build tool counts them: those that have ended, and all.");
	value(b, "buildbeat_tool_tasks", "{of=\"done\"}", p.done, 0);
	value(b, "buildbeat_tool_tasks", "{of=\"total\"}", p.total, 0);
}

static int64_t scaled(int64_t n, int64_t scale)
{
	return n < 0 ? -1 : n * scale;
}

static void add_machine(struct buf *b, const struct now_sample *s)
{
	family(b, "buildbeat_cpu_ratio", "gauge", "ratio", "Use of all CPUs of the machine, 0 to 1.");
	value(b, "buildbeat_cpu_ratio", "", s->cpu_permille, 3);
	family(b, "buildbeat_load", "gauge", NULL, "Load average of one minute.");
	value(b, "buildbeat_load", "", s->load_centi, 2);
	family(b, "buildbeat_memory_bytes", "gauge", "bytes", "Memory of the machine and of the running tasks.");
	value(b, "buildbeat_memory_bytes", "{of=\"machine\"}", scaled(s->memory_kb, 1024), 0);
	value(b, "buildbeat_memory_bytes", "{of=\"available\"}", scaled(s->available_kb, 1024), 0);
	value(b, "buildbeat_memory_bytes", "{of=\"tasks\"}", scaled(s->tasks_kb, 1024), 0);
	family(b, "buildbeat_disk_bytes_per_second", "gauge", NULL, "Use of all disks.");
	value(b, "buildbeat_disk_bytes_per_second", "{direction=\"read\"}", scaled(s->read_kb_s, 1024), 0);
	value(b, "buildbeat_disk_bytes_per_second", "{direction=\"write\"}", scaled(s->written_kb_s, 1024), 0);
}

static int add_remaining(struct buf *b, struct source *s, struct error *err)
{
	struct remaining_estimate e;
	int r = api_remaining_of(s, &e, err);

	if (r || e.left_us < 0)
		return r;
	family(b, "buildbeat_build_remaining_seconds", "gauge", "seconds",
	       "Predicted time until the end of the build, and an 80 % interval.");
	value(b, "buildbeat_build_remaining_seconds", "{bound=\"low\"}", e.low_us, 6);
	value(b, "buildbeat_build_remaining_seconds", "{bound=\"predicted\"}", e.left_us, 6);
	value(b, "buildbeat_build_remaining_seconds", "{bound=\"high\"}", e.high_us, 6);
	return 0;
}

/* The server and what it waited for: the parent of a reader. */
static void add_own(struct buf *b)
{
	struct buf stat = BUF_INIT;
	char path[64];
	struct cursor c;
	const char *name_end;
	uint64_t field[25] = { 0 };
	int64_t ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);

	snprintf(path, sizeof path, "/proc/%d/stat", (int)getppid());
	if (readfile_at(&stat, AT_FDCWD, path, 4096) || !(name_end = strrchr(buf_str(&stat), ')'))) {
		buf_release(&stat);
		return;
	}
	cursor_init(&c, name_end + 1, strlen(name_end + 1));
	for (size_t i = 3; i < ARRAY_SIZE(field); i++) {
		struct slice word;

		cursor_blanks(&c);
		if (!cursor_word(&c, &word, 32) || !cursor_slice_u64(word, &field[i]))
			field[i] = 0;
	}
	buf_release(&stat);
	family(b, "buildbeat_serve_cpu_seconds", "counter", "seconds", "CPU time of the server and its ended readers.");
	value(b, "buildbeat_serve_cpu_seconds_total", "",
	      (int64_t)(field[14] + field[15] + field[16] + field[17]) * 1000 / ticks, 3);
	family(b, "buildbeat_serve_memory_bytes", "gauge", "bytes", "Resident memory of the server.");
	value(b, "buildbeat_serve_memory_bytes", "", (int64_t)field[24] * page, 0);
}

static int reply_metrics(struct reply *out, const struct request *q, struct error *err)
{
	struct buf *b = &out->body;
	bool running = false;
	int r = read_now(q, &running, err);

	if (r)
		return r;
	out->type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
	add_build(b, followed.now, running);
	add_tasks(b, followed.now, running);
	add_progress(b, followed.now);
	if (running && now_newest(followed.now))
		add_machine(b, now_newest(followed.now));
	if (running)
		r = add_remaining(b, q->source, err);
	add_own(b);
	buf_adds(b, "# EOF\n");
	return r ? r : buf_error(b);
}

const struct route api_now_routes[] = {
	{ "/api/v1/now", "rec", "What a build does now: counts, running tasks, failures, samples.", reply_now },
	{ "/metrics", "rec", "The same for Prometheus, in OpenMetrics.", reply_metrics },
	{ 0 }
};
