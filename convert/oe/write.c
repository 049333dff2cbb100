/* SPDX-License-Identifier: MIT */
#include "convert/oe/oe_parts.h"

#include "analyse/summary.h"
#include "base/array.h"
#include "base/file.h"
#include "base/outdir.h"
#include "base/saturate.h"
#include "convert/converters.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_SIZE 512
#define TICK_US 10000
#define SOME_DAY_US 946684800000000	/* 2000-01-01 */
#define SUFFIXES_TRIED 100000

int64_t oe_wall_us(const struct recording *rec)
{
	return rec->start_wall_ns >= 0 ? rec->start_wall_ns / 1000 : SOME_DAY_US;
}

/* "12.345678" */
static void add_seconds(struct buf *b, int64_t us)
{
	char text[32], *p = text + sizeof text;
	uint64_t n = us > 0 ? (uint64_t)us : 0;

	for (int i = 0; i < 6; i++, n /= 10)
		*--p = (char)('0' + n % 10);
	*--p = '.';
	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	buf_add(b, p, (size_t)(text + sizeof text - p));
}

static void add_time(struct buf *b, const char *key, int64_t us)
{
	buf_adds(b, key);
	add_seconds(b, us);
	buf_addc(b, '\n');
}

/* A value that is not known has no line. */
static void add_number(struct buf *b, const char *key, int64_t n)
{
	if (n < 0)
		return;
	buf_adds(b, key);
	buf_addi(b, n);
	buf_addc(b, '\n');
}

/* A task */

static int64_t blocks(int64_t known, uint32_t sampled_kb)
{
	return known >= 0 || !sampled_kb ? known : (int64_t)sampled_kb * (1024 / BLOCK_SIZE);
}

/*
 * Readers want CPU time in two parts: "rusage" of the process of BitBake that writes the file, and
 * "Child rusage" of those that it waited for. The setup is in the former, as that process parses
 * the recipe; all other values are in the latter.
 */
static void add_usage(struct buf *b, const struct task *t, const struct cost_cpu *cpu)
{
	int64_t user = cpu->user_us, system = cpu->system_us;
	int64_t read = blocks(t->in_blocks, t->read_kb);
	int64_t written = blocks(t->out_blocks, t->written_kb);
	const struct { const char *key; int64_t n; } lines[] = {
		{ "rusage ru_maxrss: ", t->max_rss_kb }, { "rusage ru_minflt: ", t->minor_faults },
		{ "rusage ru_majflt: ", t->major_faults }, { "rusage ru_inblock: ", read },
		{ "rusage ru_oublock: ", written },
		{ "rusage ru_nvcsw: ", t->voluntary_switches },
		{ "rusage ru_nivcsw: ", t->involuntary_switches },
	};
	bool timed = user >= 0 && system >= 0;

	if (timed) {
		add_number(b, "utime: ", t->setup_user_us / TICK_US);
		add_number(b, "stime: ", t->setup_system_us / TICK_US);
		add_number(b, "cutime: ", user / TICK_US);
		add_number(b, "cstime: ", system / TICK_US);
	}
	add_number(b, "IO rchar: ", t->rchar);
	add_number(b, "IO wchar: ", t->wchar);
	add_number(b, "IO read_bytes: ", read < 0 ? -1 : sat_mul(read, BLOCK_SIZE));
	add_number(b, "IO write_bytes: ", written < 0 ? -1 : sat_mul(written, BLOCK_SIZE));
	if (timed) {
		add_time(b, "rusage ru_utime: ", t->setup_user_us);
		add_time(b, "rusage ru_stime: ", t->setup_system_us);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		add_number(b, lines[i].key, lines[i].n < 0 ? -1 : 0);
	if (timed) {
		add_time(b, "Child rusage ru_utime: ", user);
		add_time(b, "Child rusage ru_stime: ", system);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		if (lines[i].n >= 0)
			buf_adds(b, "Child ");
		add_number(b, lines[i].key, lines[i].n);
	}
}

/* Our own lines, State and Setup, have what the format has no word for. */
static void add_status(struct buf *b, const struct task *t)
{
	bool killed = t->state == TASK_KILLED;

	buf_adds(b, t->state == TASK_DONE ? "Status: PASSED \n" : "Status: FAILED \n");
	if (t->state == TASK_UNFINISHED)
		buf_adds(b, t->end_us >= 0 ? "State: gone\n" : "State: unfinished\n");
	else if ((killed || t->state == TASK_FAILED) && t->status >= 0)
		buf_addf(b, "State: %s %d%s\n", killed ? "killed" : "exited", t->status,
			 t->end_at_most ? OE_AT_MOST : "");
	else if (t->state == TASK_FAILED && t->end_at_most)
		buf_adds(b, "State: failed" OE_AT_MOST "\n");
	if (t->setup_us > 0)
		add_time(b, "Setup: ", t->setup_us);
}

static void add_task(struct buf *b, const struct summary *s, const struct oe_entry *e)
{
	const struct recording *rec = s->rec;
	const struct task *t = &rec->task[e->task];
	int64_t end_us = recording_task_end_us(rec, t);
	int64_t wall_us = oe_wall_us(rec);

	buf_adds(b, "Event: TaskStarted \nStarted: ");
	add_seconds(b, sat_add(wall_us, t->start_us));
	buf_adds(b, " \n");
	buf_adds(b, e->dir);
	buf_adds(b, ": ");
	buf_adds(b, e->file);
	buf_adds(b, "\nElapsed time: ");
	add_seconds(b, end_us - t->start_us);
	buf_adds(b, " seconds\n");
	add_usage(b, t, &s->nest[e->task].cpu);
	add_status(b, t);
	buf_adds(b, "Ended: ");
	add_seconds(b, sat_add(wall_us, end_us));
	buf_adds(b, " \n");
}

/* Files */

int oe_write_file(int dir_fd, const char *name, const struct buf *text)
{
	int fd, r = buf_error(text);

	if (r)
		return r;
	fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	return fd < 0 ? -errno : file_write_and_close(fd, text->data, text->len);
}

/* A target of this name was made before in this directory. */
static int write_another(int dir_fd, const char *file, const struct buf *text)
{
	char name[512];
	int r = -EEXIST;

	for (unsigned i = 2; r == -EEXIST && i < SUFFIXES_TRIED; i++) {
		snprintf(name, sizeof name, "%s.%u", file, i);
		r = oe_write_file(dir_fd, name, text);
	}
	return r;
}

struct tasks_out {
	const struct summary *summary;
	const struct oe_entries *entries;
	struct buf text;
	int fd;			/* of the recipe's directory */
};

/* Write the file of entry `at`. *next is the first entry of the next file. */
static int write_task(struct tasks_out *w, size_t at, size_t *next)
{
	const struct oe_entry *e = &w->entries->entry[at];
	int r;

	*next = at + 1;
	buf_clear(&w->text);
	add_task(&w->text, w->summary, e);
	for (const struct oe_entry *other = e + 1; w->entries->bitbake && *next < w->entries->n &&
	     !strcmp(e->dir, other->dir) && !strcmp(e->file, other->file); other++, ++*next)
		add_task(&w->text, w->summary, other);
	r = oe_write_file(w->fd, e->file, &w->text);
	return r == -EEXIST ? write_another(w->fd, e->file, &w->text) : r;
}

/* Write the recipe of entry `at`. *next is the first entry of the next recipe. */
static int write_recipe(struct tasks_out *w, int dir_fd, size_t at, size_t *next)
{
	const struct oe_entry *entry = w->entries->entry;
	const char *dir = entry[at].dir;
	int r = 0;

	*next = at;
	if (mkdirat(dir_fd, dir, 0777))
		return -errno;
	w->fd = openat(dir_fd, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (w->fd < 0)
		return -errno;
	while (!r && *next < w->entries->n && !strcmp(entry[*next].dir, dir))
		r = write_task(w, *next, next);
	close(w->fd);
	return r;
}

static int write_tasks(int dir_fd, const struct recording *rec, const struct oe_entries *e)
{
	struct summary s;
	struct tasks_out w = { .summary = &s, .entries = e };
	int r = summary_make(&s, rec);

	for (size_t at = 0; !r && at < e->n;)
		r = write_recipe(&w, dir_fd, at, &at);
	buf_release(&w.text);
	summary_release(&s);
	return r;
}

/* build_stats */

static void add_word(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_addc(b, (unsigned char)*text > ' ' ? *text : '_');
	buf_addc(b, ' ');
}

static void add_host(struct buf *b, const struct recording *rec)
{
	const char *host = recording_build(rec, "host"), *kernel = recording_build(rec, "kernel");
	const char *machine = recording_build(rec, "machine");

	if (!host || !kernel || !machine || !*host || !*kernel || !*machine)
		return;
	buf_adds(b, "Host Info: Linux ");
	add_word(b, host);
	add_word(b, kernel);
	add_word(b, machine);
	buf_addc(b, '\n');
}

/* BitBake names no setscene tasks: the build goes on without them. */
static void add_failed(struct buf *b, const struct recording *rec, const struct oe_entries *e)
{
	for (size_t i = 0; i < e->n; i++) {
		const struct oe_entry *at = &e->entry[i];
		const struct task *t = &rec->task[at->task];

		if (task_has_failed(t) && strcmp(t->kind, "setscene"))
			buf_addf(b, "Failed at: %s at task: %s \n", at->dir, at->file);
	}
}

static void add_end(struct buf *b, const struct recording *rec)
{
	int64_t status = recording_build_number(rec, "status");
	int64_t sig = recording_build_number(rec, "signal");

	if (rec->end_us >= 0) {
		buf_adds(b, "Elapsed time: ");
		add_seconds(b, rec->end_us);
		buf_adds(b, " seconds \n");
	}
	if (status >= 0 || sig >= 0)
		buf_addf(b, OE_EXIT_STATUS "%lld\n", (long long)(status >= 0 ? status : 128 + sig));
}

static int write_build(int dir_fd, const struct recording *rec, const struct oe_entries *e)
{
	struct buf b = BUF_INIT;
	int r;

	add_host(&b, rec);
	buf_adds(&b, "Build Started: ");
	add_seconds(&b, oe_wall_us(rec));
	buf_adds(&b, " \n" OE_EXACT "\n");
	add_failed(&b, rec, e);
	add_end(&b, rec);
	r = oe_write_file(dir_fd, OE_BUILD_STATS, &b);
	buf_release(&b);
	return r;
}

/* The directory */

static int write_dir(int dir_fd, const struct recording *rec)
{
	struct oe_entries e;
	int r = oe_entries_make(&e, rec);

	if (!r)
		r = write_build(dir_fd, rec, &e);
	if (!r)
		r = write_tasks(dir_fd, rec, &e);
	if (!r)
		r = oe_write_logs(dir_fd, rec);
	oe_entries_release(&e);
	return r;
}

static int write_into(const char *dir, const struct recording *rec, const struct buf *kept,
		      const char *path, struct error *err)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0)
		return error_sys(err, -errno, path, "cannot write");
	if (kept->len) {
		r = oe_write_kept(fd, kept, rec->path, err);
	} else {
		r = write_dir(fd, rec);
		if (r)
			error_sys(err, r, path, "cannot write");
	}
	close(fd);
	return r;
}

/* What came from OpenEmbedded is written as it was. */
int oe_write(const struct recording *rec, const char *path, struct error *err)
{
	char absolute[PATH_MAX], dir[PATH_MAX];
	struct buf found = BUF_INIT;
	int r = file_absolute(absolute, path);

	if (r)
		return error_sys(err, r, path, "cannot write");
	if (!rec->original.len)
		r = oe_find_kept(&found, rec, err);
	if (!r)
		r = outdir_begin(dir, absolute, err);
	if (r)
		goto out;
	r = write_into(dir, rec, rec->original.len ? &rec->original : &found, path, err);
	if (!r) {
		r = outdir_finish(dir, absolute, 0);
		if (r)
			error_sys(err, r, path, "cannot write");
	}
	if (r)
		outdir_discard(dir);
out:
	buf_release(&found);
	return r;
}
