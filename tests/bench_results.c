/* SPDX-License-Identifier: MIT */
/*
 * CPU time of what record --task-files and --task-cache do after a build of 100,000 tasks, one file
 * and one line of ccache's log each, beside one fstatat() a file.
 */
#include "launch/results_write.h"
#include "recording/store_create.h"
#include "tests/spend.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TASKS 100000

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void add_task(struct buf *b, struct store *s, uint64_t i)
{
	int64_t start_us = store_now_us(s);
	char name[64], command[256];
	struct event_task task = { .pid = 99, .slot = -1, .name = name, .command = command };
	struct event_end end;
	int fd;

	snprintf(name, sizeof name, "dir/source%llu.o", (unsigned long long)i);
	snprintf(command, sizeof command, "ccache gcc -DHAVE_CONFIG_H -I. -I../include -O2 -g -Wall -MD -MP "
		 "-MF dir/.deps/source%llu.Tpo -c -o %s dir/source%llu.c", (unsigned long long)i, name,
		 (unsigned long long)i);
	fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		close(fd);
	event_add_start(b, start_us, s->inst, i, &task);
	event_end_init(&end, 0);
	event_add_end(b, store_now_us(s), s->inst, i, &end);
	if (b->len > 60000)
		store_append(s, b);
}

static int make_build(struct store *s, const char *dir, const char *log)
{
	struct event_open open = { .pid = 98, .level = 0, .tool = "make", .cwd = dir };
	FILE *f = fopen(log, "w");
	struct buf b = BUF_INIT;
	struct error err;

	if (!f || mkdir("dir", 0777) || store_create(s, "stats", "one", &err))
		return 1;
	event_add_open(&b, 0, s->inst, &open);
	for (uint64_t i = 1; i <= TASKS; i++) {
		add_task(&b, s, i);
		fprintf(f, "# dir/source%llu.c\ndirect_cache_hit\nlocal_storage_hit\n"
			"local_storage_read_hit\nlocal_storage_read_hit\n", (unsigned long long)i);
	}
	store_append(s, &b);
	buf_release(&b);
	return fclose(f) || store_error(s);
}

static double measure_stat(void)
{
	double before_ms = cpu_ms();
	char name[64];
	struct stat st;

	for (int i = 1; i <= TASKS; i++) {
		snprintf(name, sizeof name, "dir/source%d.o", i);
		fstatat(AT_FDCWD, name, &st, AT_SYMLINK_NOFOLLOW);
	}
	return cpu_ms() - before_ms;
}

static double measure_write(struct store *s, bool files, const struct compiler_cache *cache)
{
	double before_ms = cpu_ms();
	struct error err;

	if (results_write(s, files, cache, &err))
		return -1;
	before_ms = cpu_ms() - before_ms;
	unlinkat(s->dir_fd, "results.log", 0);
	return before_ms;
}

static int measure(const char *dir)
{
	struct compiler_cache cache = { .asked = false }, none = { .asked = false };
	double stat_ms, files_ms, cache_ms, both_ms;
	struct store s;

	snprintf(cache.log[CACHE_CCACHE].path, sizeof cache.log[CACHE_CCACHE].path, "%s/log", dir);
	if (chdir(dir) || make_build(&s, dir, cache.log[CACHE_CCACHE].path))
		return 1;
	stat_ms = measure_stat();
	files_ms = measure_write(&s, true, &none);
	cache_ms = measure_write(&s, false, &cache);
	both_ms = measure_write(&s, true, &cache);
	store_close(&s);
	if (files_ms < 0 || cache_ms < 0 || both_ms < 0)
		return 1;
	printf("files of 100,000 tasks after a build: %.1f x a stat of each; %.0f ms CPU, the stats alone "
	       "%.0f ms; results of ccache %.0f ms, both %.0f ms\n", files_ms / stat_ms, files_ms,
	       stat_ms, cache_ms, both_ms);
	return chdir("/") != 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_results: cannot make a recording");
}
