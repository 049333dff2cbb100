/* SPDX-License-Identifier: MIT */
#include "sampler/sampler.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "sampler/source_proc.h"
#include "sampler/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define INTERVAL_MIN_MS 10
#define INTERVAL_MAX_MS 3600000
#define COARSE_MS 1000

/* A file of /proc at its largest: hundreds of cores, thousands of interrupts. Of
 * the memory only what is used is ever there. */
#define TEXT_CAP (2u << 20)
#define LINE_CAP (4 * SERIES_LINE_MAX)

static source_opener *const openers[] = {
	stat_open, cores_open, meminfo_open, diskstats_open, net_open, pressure_open,
	vmstat_open, cgroup_open,
};

#define SOURCES (ARRAY_SIZE(openers) + 1)	/* and options->own */

struct sampler {
	int64_t start_ns;
	int64_t interval_ns;
	int64_t next_ns;
	int error;
	int dir_fd;
	struct root root;
	struct root_text text;
	struct buf line;
	char *line_memory;
	struct sampler_source *source[SOURCES];	/* NULL: the machine does not have it */
	struct tasks *tasks;
};

static void remember_error(struct sampler *s, int r)
{
	if (r && !s->error)
		s->error = r;
}

/* A file that the kernel does not have is no failure. Missing descriptors or memory, or a log
 * that cannot be written, are. */
static bool is_failure(int r)
{
	switch (-r) {
	case EMFILE: case ENFILE: case ENOMEM: case ENOSPC: case EROFS: case EDQUOT:
	case ELOOP: case EIO: case EFBIG:
		return true;
	}
	return false;
}

static void open_sources(struct sampler *s, const struct sampler_options *options)
{
	const struct source_setup setup = { .root = s->root, .dir_fd = s->dir_fd,
		.interval_ms = options->interval_ms,
		.coarse = options->interval_ms >= COARSE_MS, .per_core = options->per_core,
		.all_interfaces = options->all_interfaces,
		.text = &s->text };

	for (size_t i = 0; i < SOURCES; i++) {
		source_opener *open = i < ARRAY_SIZE(openers) ? openers[i] : options->own;
		int r = open ? open(&s->source[i], &setup) : 0;

		if (!r)
			continue;
		source_free(s->source[i]);
		s->source[i] = NULL;
		if (is_failure(r))
			remember_error(s, r);
	}
	if (options->tasks)
		remember_error(s, tasks_open(&s->tasks, &setup));
}

static int open_all(struct sampler *s, int dir_fd, const struct sampler_options *options,
		    struct error *err)
{
	int r;

	s->text = (struct root_text){ malloc(TEXT_CAP), 0, TEXT_CAP };
	s->line_memory = malloc(LINE_CAP);
	if (!s->text.data || !s->line_memory)
		return error_sys(err, -ENOMEM, NULL, "cannot sample");
	buf_init_fixed(&s->line, s->line_memory, LINE_CAP);
	s->dir_fd = file_open_at(dir_fd, ".", O_RDONLY | O_DIRECTORY);
	if (s->dir_fd < 0)
		return error_sys(err, s->dir_fd, NULL, "cannot sample into the recording");
	r = root_open(&s->root, options->proc_root, options->sys_root);
	if (r)
		return error_sys(err, r, options->proc_root ? options->proc_root : "/proc",
				 "cannot sample");
	open_sources(s, options);
	return 0;
}

__attribute__((cold)) int sampler_new(struct sampler **out, int dir_fd, int64_t start_ns,
		const struct sampler_options *options, struct error *err)
{
	struct sampler *s;
	int r;

	*out = NULL;
	if (options->interval_ms < INTERVAL_MIN_MS || options->interval_ms > INTERVAL_MAX_MS)
		return error_say(err, -EINVAL, "a sampling interval is %d to %d ms",
				 INTERVAL_MIN_MS, INTERVAL_MAX_MS);
	s = calloc(1, sizeof *s);
	if (!s)
		return error_sys(err, -ENOMEM, NULL, "cannot sample");
	s->start_ns = start_ns;
	s->interval_ns = options->interval_ms * 1000000;
	s->next_ns = start_ns;
	s->dir_fd = -1;
	s->root = (struct root)ROOT_INIT;
	r = open_all(s, dir_fd, options, err);
	if (r) {
		sampler_free(s);
		return r;
	}
	*out = s;
	return 0;
}

void sampler_take(struct sampler *s, bool forced)
{
	int64_t t_us = (clock_mono_ns() - s->start_ns) / 1000;
	int saved = errno;

	if (t_us < 0)
		t_us = 0;
	s->next_ns = s->start_ns + (t_us * 1000 / s->interval_ns + 1) * s->interval_ns;
	for (size_t i = 0; i < SOURCES; i++) {
		struct sampler_source *source = s->source[i];

		if (source && source->read(source, &s->text))
			remember_error(s, table_write(&source->table, &s->line, t_us, forced));
	}
	if (s->tasks)
		remember_error(s, tasks_sample(s->tasks, &s->line, t_us, forced));
	errno = saved;
}

int64_t sampler_next_ns(const struct sampler *s)
{
	return s->next_ns;
}

int sampler_error(const struct sampler *s)
{
	return s->error;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < SOURCES; i++)
		source_free(s->source[i]);
	tasks_free(s->tasks);
	root_close(&s->root);
	file_close(s->dir_fd);
	free_all(s->text.data, s->line_memory, s);
}
