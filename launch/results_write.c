/* SPDX-License-Identifier: MIT */
#include "launch/results_write.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "command/build_tool.h"
#include "convert/ninja/join.h"
#include "launch/cache_log.h"
#include "launch/made_files.h"
#include "recording/layout.h"
#include "recording/recording.h"
#include "recording/results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_ONCE ((size_t)1 << 20)

/* Where the tasks of an instance run. */
struct place {
	char *dir;
	int fd;			/* of it, O_PATH; -1: it does not exist any more */
};

struct results {
	struct store *store;
	struct recording rec;
	bool wants_files;
	struct made_clock clock;
	struct made_files files;
	struct buf text[CACHE_KINDS];
	struct cache_log cache[CACHE_KINDS];
	enum task_cache *result;	/* of each task */
	struct place place;		/* of instance `at` */
	uint32_t at;
};

static void leave(struct results *x)
{
	file_close(x->place.fd);
	free(x->place.dir);
	x->place = (struct place){ NULL, -1 };
	x->at = NO_INDEX;
}

/* Most tasks of an instance follow each other, so the place of the last one is kept. */
static int enter(struct results *x, uint32_t instance)
{
	const struct instance *in = &x->rec.instance[instance];
	int r = 0;

	if (x->at == instance)
		return 0;
	leave(x);
	if (build_tool_of(in->tool)->ninja)
		r = ninja_directory(&x->place.dir, in);
	else
		x->place.dir = strdup(in->cwd);
	if (r || !x->place.dir)
		return -ENOMEM;
	x->at = instance;
	if (x->wants_files && *x->place.dir == '/')
		x->place.fd = open(x->place.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return 0;
}

static int add_task(struct results *x, uint32_t task)
{
	const char *command = recording_command(&x->rec, &x->rec.task[task]);
	int r = enter(x, x->rec.task[task].instance);

	if (r)
		return r;
	if (x->place.fd >= 0)
		r = made_files_add(&x->files, &x->rec, task, x->place.fd, command, &x->clock);
	if (r)
		return r;
	for (int i = 0; i < CACHE_KINDS; i++) {
		if (x->cache[i].n_entries && *command)
			r = cache_log_add_task(&x->cache[i], task, command, x->place.dir);
		if (r)
			return r;
	}
	return 0;
}

/* Tasks */

static int collect_results(struct results *x)
{
	int r = 0;

	x->clock.first_ns = x->rec.start_wall_ns;
	x->clock.last_ns = clock_wall_ns() - store_now_us(x->store) * 1000;
	for (uint32_t i = 0; !r && i < x->rec.n_tasks; i++) {
		if (x->rec.task[i].start_us >= 0)
			r = add_task(x, i);
	}
	leave(x);
	made_files_assign(&x->files);
	x->result = array_new_zero(x->rec.n_tasks, sizeof *x->result);
	if (!x->result)
		return -ENOMEM;
	for (int i = 0; !r && i < CACHE_KINDS; i++) {
		if (x->cache[i].n_entries)
			r = cache_log_join(&x->cache[i], &x->rec, x->result);
	}
	return r ? r : recording_command_error(&x->rec);
}

/* Lines */

static int flush_results(struct buf *b, int fd)
{
	int r = buf_error(b) ? buf_error(b) : file_write_all(fd, b->data, b->len);

	buf_clear(b);
	return r;
}

/* The files of one task, from made_file `at` on. Returns the first one of the next task. */
static size_t add_files(struct results *x, struct buf *b, size_t at)
{
	const struct task *t = &x->rec.task[x->files.file[at].task];
	size_t end = at;

	while (end < x->files.n && x->files.file[end].task == x->files.file[at].task)
		end++;
	while (at < end) {
		struct recording_file some[64];
		size_t n = 0;

		for (; n < 64 && at + n < end; n++)
			some[n] = (struct recording_file){
				made_files_path(&x->files, &x->files.file[at + n]),
				x->files.file[at + n].bytes };
		at += results_add_files(b, x->rec.instance[t->instance].id, t->seq, some, n);
	}
	return end;
}

static int write_lines(struct results *x, int fd)
{
	struct buf b = BUF_INIT;
	size_t file = 0;
	int r = 0;

	buf_adds(&b, RESULTS_HEADER);
	for (uint32_t i = 0; !r && i < x->rec.n_tasks; i++) {
		const struct task *t = &x->rec.task[i];

		if (file < x->files.n && x->files.file[file].task == i)
			file = add_files(x, &b, file);
		if (x->result[i])
			results_add_cache(&b, x->rec.instance[t->instance].id, t->seq, x->result[i]);
		if (b.len > AT_ONCE)
			r = flush_results(&b, fd);
	}
	if (!r)
		r = flush_results(&b, fd);
	buf_release(&b);
	return r;
}

static int write_log(struct results *x)
{
	int fd = file_open_at(x->store->dir_fd, LAYOUT_RESULTS, O_WRONLY | O_CREAT | O_EXCL);
	int r = fd < 0 ? fd : write_lines(x, fd);

	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	if (fd >= 0 && r)
		unlinkat(x->store->dir_fd, LAYOUT_RESULTS, 0);
	return r;
}

static int write_counts(struct results *x, const struct compiler_cache *cache)
{
	struct buf b = BUF_INIT;
	int r = 0;

	for (int i = 0; i < CACHE_KINDS; i++) {
		const struct cache_log *l = &x->cache[i];
		const char *name = compiler_cache_name[i];

		if (!l->n_entries && !(cache->asked && *cache->log[i].path))
			continue;
		buf_addf(&b, "%s_hits: %llu\n%s_misses: %llu\n%s_uncacheable: %llu\n",
			 name, (unsigned long long)l->hits, name, (unsigned long long)l->misses,
			 name, (unsigned long long)l->uncacheable);
	}
	if (b.len)
		r = store_append_build(x->store, &b);
	buf_release(&b);
	return r;
}

/* Reads the logs of the caches, which may be large. */
static int read_logs(struct results *x, const struct compiler_cache *cache, struct error *err)
{
	int r = 0;

	for (int i = 0; !r && i < CACHE_KINDS; i++) {
		x->cache[i] = (struct cache_log)CACHE_LOG_INIT((enum cache_kind)i);
		r = compiler_cache_read(cache, (enum cache_kind)i, &x->text[i]);
		if (r)
			return error_sys(err, r, cache->log[i].path, NULL);
		r = cache_log_parse(&x->cache[i],
				    (struct slice){ x->text[i].data, x->text[i].len });
	}
	return r ? error_sys(err, r, NULL, NULL) : 0;
}

static int write_all(struct results *x, const struct compiler_cache *cache, struct error *err)
{
	const struct recording_options tasks = { .tasks_only = true, .waits = true };
	bool joins;
	int r = read_logs(x, cache, err);

	if (r)
		return r;
	joins = x->cache[CACHE_CCACHE].n_entries || x->cache[CACHE_SCCACHE].n_entries;
	if (x->wants_files || joins) {
		r = recording_read_as(&x->rec, x->store->path, &tasks, err);
		if (r)
			return r;
		r = collect_results(x);
		if (!r)
			r = write_log(x);
	}
	if (!r)
		r = write_counts(x, cache);
	return r ? error_sys(err, r, x->store->path, NULL) : 0;
}

int results_write(struct store *s, bool files, const struct compiler_cache *cache, struct error *err)
{
	struct results x = { .store = s, .rec = RECORDING_INIT, .wants_files = files,
		.files = MADE_FILES_INIT, .place = { NULL, -1 }, .at = NO_INDEX };
	int r = write_all(&x, cache, err);

	for (int i = 0; i < CACHE_KINDS; i++) {
		cache_log_release(&x.cache[i]);
		buf_release(&x.text[i]);
	}
	made_files_release(&x.files);
	free(x.result);
	recording_release(&x.rec);
	return r;
}
