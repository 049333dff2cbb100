/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat export` of 100,000 tasks, each of which waited for three others, and 3,600
 * samples of 40 columns, beside reading the recording; and of a .ninja_log of 100,000 lines.
 */
#include "base/buf.h"
#include "recording/event.h"
#include "tests/paths.h"
#include "tests/spend.h"
#include "trace/sink.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TASKS 100000
#define WORKERS 16
#define SAMPLES 3600
#define COLUMNS 40
#define ROUNDS 7
#define BEYOND_READING_MS 150
#define CHROME_MB_S 600
#define NINJA_MS 100

static int write_file(const char *path, struct buf *b)
{
	FILE *f = fopen(path, "w");
	bool ok = f && !buf_error(b) && fwrite(b->data, 1, b->len, f) == b->len;

	buf_release(b);
	return !f || fclose(f) || !ok;
}

static int write_tasks(const char *dir, bool with_commands)
{
	struct buf b = BUF_INIT;
	char path[128], name[3][32], command[400];
	const char *after[] = { name[0], name[1], name[2] };
	struct event_end end;

	snprintf(command, sizeof command, "cc -O2 -g -Wall -I. -DNAME=\"x\" %0250d.c", 1);
	event_end_init(&end, 0);
	end.user_us = 90000;
	end.max_rss_kb = 50000;
	buf_adds(&b, "buildbeat tasks 1\nopen\t0\tx\t1\t0\t1\tmake\t4.3\t/src\tmake\n");
	for (int i = 0; i < TASKS; i++) {
		struct event_task t = { .pid = with_commands ? 1000 + i : -1, .slot = i % WORKERS,
					.kind = "compile", .name = name[0],
					.command = with_commands ? command : "" };
		int64_t begin = (int64_t)(i / WORKERS) * 100000 + i % WORKERS;

		snprintf(name[0], sizeof name[0], "dir%d/file%d.o", i / 200, i);
		event_add_start(&b, begin, "x", (uint64_t)i + 1, &t);
		for (int k = 0; k < 3; k++)
			snprintf(name[k], sizeof name[k], "dir%d/file%d.o",
				 (i - WORKERS - k * 100) / 200, i - WORKERS - k * 100);
		event_add_after(&b, begin, "x", (uint64_t)i + 1, after, i < 300 || !with_commands ? 0 : 3);
		event_add_end(&b, begin + 99000, "x", (uint64_t)i + 1, &end);
	}
	snprintf(path, sizeof path, "%s/tasks.log", dir);
	return write_file(path, &b);
}

static int write_samples(const char *dir)
{
	struct buf b = BUF_INIT;
	char path[128];

	buf_adds(&b, "buildbeat proc_stat 1 1000");
	for (int i = 0; i < COLUMNS; i++)
		buf_addf(&b, " column%d:kb:g", i);
	for (int i = 0; i < SAMPLES; i++) {
		for (int k = 0; k < COLUMNS; k++)
			buf_addf(&b, "%s%d", k ? "," : "\n", (i * (k + 7)) % 100 - 40);
	}
	buf_addc(&b, '\n');
	snprintf(path, sizeof path, "%s/proc_stat.log", dir);
	return write_file(path, &b);
}

static int write_recording(const char *dir, bool with_commands)
{
	struct buf b = BUF_INIT;
	char path[128];

	buf_adds(&b, "buildbeat build 1\nstart_wall_ns: 1795365109431455712\nstart_mono_ns: 5\n");
	snprintf(path, sizeof path, "%s/build", dir);
	if (mkdir(dir, 0700) || write_file(path, &b) || write_tasks(dir, with_commands))
		return 1;
	return with_commands && write_samples(dir);
}

static int write_ninja_log(const char *path)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "# ninja log v5\n");
	for (int i = 0; i < TASKS; i++) {
		int end = (i / WORKERS + 1) * 500 + i % WORKERS * 7;

		buf_addf(&b, "%d\t%d\t%d000000000\tsrc/dir%d/CMakeFiles/a.dir/file%d.cc.o\t%x\n",
			 end - 499 + i % 7, end, 1700000000 + end / 1000, i / 200, i, 0x9e3779b9u * (unsigned)i);
	}
	return write_file(path, &b);
}

/* The cheapest of several exports, beside reading, and the size of the result. */
static int export(const char *dir, const char *what, const char *format, struct spent *best,
		  struct spent *reading, double *size)
{
	static char from[128], to[128];
	const char *const command[] = {
		TOP_BUILDDIR "/buildbeat", "export", "--to", format, "-o", to, from, NULL
	};
	struct stat st;

	snprintf(from, sizeof from, "%s/%s", dir, what);
	for (int i = 0; i <= ROUNDS; i++) {
		struct spent s, r = spend_here(spend_reading, from);

		snprintf(to, sizeof to, "%s/out", dir);
		unlink(to);
		s = spend(command);
		if (s.status || stat(to, &st))
			return 1;
		*size = (double)st.st_size;
		if (i < 2) {
			*best = s;
			*reading = r;
		}
		spent_keep_best(best, &s);
		spent_keep_best(reading, &r);
	}
	return 0;
}

/* 100,000 spans with one of 4,096 names, a category and two values, written by a sink alone. */
static int write_spans(const struct sink_ops *ops, size_t *size)
{
	struct sink s;
	char name[32];
	int r = sink_init(&s, ops);

	if (r)
		return 1;
	s.ops->begin(&s, &(struct sink_start){ 5, 5 });
	for (int i = 0; i < TASKS; i++) {
		struct sink_arg arg[] = { { .name = "user_us", .number = i % 90000 },
					  { .name = "max_rss_kb", .number = 50000 + i % 99 } };
		struct sink_slice slice = {
			.pid = 1, .tid = (uint32_t)(i % WORKERS), .begin_us = (int64_t)i * 6000,
			.end_us = (int64_t)i * 6000 + 90000, .name = name, .category = "compile",
			.arg = arg, .n_args = 2,
		};

		snprintf(name, sizeof name, "src/dir/file%d.o", i % 4096);
		s.ops->slice(&s, &slice);
	}
	s.ops->end(&s);
	*size = s.out.len;
	r = buf_error(&s.out);
	sink_release(&s);
	return r;
}

static int write_chrome_spans(void *size)
{
	return write_spans(&sink_chrome, size);
}

static int write_perfetto_spans(void *size)
{
	return write_spans(&sink_perfetto, size);
}

static int measure_sinks(void)
{
	int (*const work[])(void *) = { write_chrome_spans, write_perfetto_spans };
	static const char *const names[] = { "chrome", "perfetto" };

	for (int i = 0; i < 2; i++) {
		struct spent best = { 0 };
		size_t size;

		if (work[i](&size))
			return 1;
		for (int k = 0; k < ROUNDS; k++) {
			struct spent s = spend_here(work[i], &size);

			if (!k)
				best = s;
			spent_keep_best(&best, &s);
		}
		printf("  sink of %s alone, a span with a name of 4,096, a category and two values: "
		       "%.1f bytes%s, %.0f ns\n", names[i], (double)size / TASKS,
		       i ? " (bar: 65)" : "", best.cpu_ms * 1e6 / TASKS);
	}
	return 0;
}

static int measure(const char *dir)
{
	struct spent chrome, packets, plain, ninja, reading;
	double chrome_size, packets_size, plain_size, ninja_size, beyond;
	char path[3][128];

	snprintf(path[0], sizeof path[0], "%s/rec", dir);
	snprintf(path[1], sizeof path[1], "%s/plain", dir);
	snprintf(path[2], sizeof path[2], "%s/.ninja_log", dir);
	if (write_recording(path[0], true) || write_recording(path[1], false) ||
	    write_ninja_log(path[2]) ||
	    export(dir, ".ninja_log", "chrome", &ninja, &reading, &ninja_size) ||
	    export(dir, "plain", "perfetto", &plain, &reading, &plain_size) ||
	    export(dir, "rec", "perfetto", &packets, &reading, &packets_size) ||
	    export(dir, "rec", "chrome", &chrome, &reading, &chrome_size))
		return 1;
	beyond = chrome.cpu_ms - reading.cpu_ms;
	printf("trace of 100,000 tasks, 300,000 arrows, %d values: %.2f x reading the recording\n"
	       "  chrome: %.0f MB, %.0f ms CPU beyond reading, %.0f MB/s  (bar: %d ms, %d MB/s)\n"
	       "  perfetto: %.0f MB, %.0f ms beyond reading; %.1f bytes a task with a name, an id and "
	       "two values, with the counter of running tasks\n"
	       "  .ninja_log of 100,000 lines to a trace of %.0f MB: %.0f ms CPU (bar: %d)\n",
	       SAMPLES * COLUMNS, chrome.cpu_ms / reading.cpu_ms, chrome_size / 1e6, beyond,
	       chrome_size / 1e3 / beyond, BEYOND_READING_MS, CHROME_MB_S, packets_size / 1e6,
	       packets.cpu_ms - reading.cpu_ms, plain_size / TASKS, ninja_size / 1e6,
	       ninja.cpu_ms, NINJA_MS);
	return measure_sinks();
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_trace: cannot make or export a recording");
}
