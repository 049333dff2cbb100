/* SPDX-License-Identifier: MIT */
#include "live/source.h"

#include "analyse/view.h"
#include "archive/archive.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/hash.h"
#include "convert/convert.h"
#include "recording/growing.h"
#include "report/idle_look.h"
#include "rerun/advise.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REST 10			/* times as long as reading took, before reading again */
#define OLD 2			/* times that rest: then a reply waits for reading */
#define QUICK_NS 20000000	/* any reply waits for reading that takes less */

struct source_private {
	unsigned n_parts;	/* made: those before it in enum source_part */
	uint64_t files;		/* a hash of their sizes and times, as they were read */
	int64_t read_ns, took_ns;	/* when they were read, and for how long */
};

int source_init(struct source *s, struct catalogue *catalogue, const char *id)
{
	*s = (struct source){ .catalogue = catalogue, .recording = RECORDING_INIT };
	if (id)
		snprintf(s->id, sizeof s->id, "%s", id);
	s->private = calloc(1, sizeof *s->private);
	return s->private ? 0 : -ENOMEM;
}

static void release_parts(struct source *s)
{
	if (s->private->n_parts)
		s->generation++;
	source_forget(s);
	answer_release(&s->answer);
	chain_release(&s->chain);
	summary_release(&s->summary);
	recording_release(&s->recording);
	s->private->n_parts = 0;
}

void source_release(struct source *s)
{
	if (!s->private)
		return;
	release_parts(s);
	free(s->private);
	s->private = NULL;
}

bool source_directory(const struct source *s, char *path)
{
	struct catalogue_entry e = { .running = false };

	strcpy(e.id, s->id);
	return *s->id && catalogue_directory(s->catalogue, &e, path);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode);
}

bool source_inspection(char path[PATH_MAX], const char *directory, const char *name)
{
	int n = snprintf(path, PATH_MAX, "%s/inspect", directory);

	if (n >= PATH_MAX || !is_directory(path))
		return false;
	if (!name)
		return true;
	if (!*name || *name == '.' || strchr(name, '/'))
		return false;
	return n + snprintf(path + n, PATH_MAX - (size_t)n, "/%s", name) < PATH_MAX && is_directory(path);
}

/* Growing */

static void add_stat(uint64_t *hash, const char *name, const struct stat *st)
{
	int64_t n[] = { st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec };

	*hash ^= hash_bytes(hash_bytes(0, name, strlen(name)), (const char *)n, sizeof n);
}

/* Of the files of a recording. 0 or a negative errno. */
static int hash_files(uint64_t *hash, const char *path)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	*hash = 0;
	if (stat(path, &st))
		return -errno;
	add_stat(hash, "", &st);
	if (!S_ISDIR(st.st_mode))
		return 0;
	dir = file_open_dir_at(AT_FDCWD, path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && !fstatat(dirfd(dir), entry->d_name, &st, 0))
			add_stat(hash, entry->d_name, &st);
	}
	closedir(dir);
	return 0;
}

int64_t source_renew_ns(const struct source *s)
{
	const struct source_private *p = s->private;

	return s->running ? p->read_ns + REST * p->took_ns - clock_mono_ns() : INT64_MAX;
}

void source_took(struct source *s, int64_t ns)
{
	s->private->took_ns += ns;
}

static int find_build(const struct source *s, struct error *err)
{
	int r = catalogue_find(s->catalogue, s->id) ? 0 : catalogue_update(s->catalogue, err);

	if (r || catalogue_find(s->catalogue, s->id))
		return r;
	return error_say(err, -ENOENT, "no such build; /api/v1/recordings lists all");
}

static bool must_read(const struct source_private *p, bool patient)
{
	int64_t rest_ns = REST * p->took_ns * (patient && p->took_ns > QUICK_NS ? OLD : 1);

	return clock_mono_ns() - p->read_ns >= rest_ns;
}

static int look(struct source *s, bool patient, struct error *err)
{
	struct source_private *p = s->private;
	char path[PATH_MAX];
	uint64_t files;
	int r;

	if (!source_directory(s, path))
		return *s->id && !p->n_parts ? find_build(s, err) : 0;
	r = hash_files(&files, path);
	if (r == -ENOENT || r == -ENOTDIR)
		return error_set(err, -ESTALE, s->id, 0, 0, "this recording was deleted");
	if (r)
		return error_sys(err, r, path, NULL);
	/* The end is read at once: it may have come while the recording was read. */
	if (p->n_parts && (s->running ? !growing_runs(&s->recording) : files != p->files))
		release_parts(s);
	else if (p->n_parts && files != p->files && must_read(p, patient))
		release_parts(s);
	if (!p->n_parts)
		p->files = files;
	return 0;
}

int source_update(struct source *s, struct error *err)
{
	return look(s, true, err);
}

int source_renew(struct source *s, struct error *err)
{
	return look(s, false, err);
}

/* Parts */

static int read_recording(struct source *s, struct error *err)
{
	const struct recording_options options = { .sums_only = false };
	struct archive *a = NULL;
	char path[PATH_MAX];
	int r;

	if (source_directory(s, path))
		return converter_read_any(&s->recording, path, &options, err);
	r = archive_open(&a, s->catalogue->path, ARCHIVE_READ, err);
	if (!r)
		r = archive_recording(a, s->id, &s->recording, err);
	archive_close(a);
	return r;
}

static int make_part(struct source *s, enum source_part part, struct error *err)
{
	int r;

	switch (part) {
	case SOURCE_RECORDING:
		return read_recording(s, err);
	case SOURCE_SUMMARY:
		return summary_make(&s->summary, &s->recording);
	case SOURCE_CHAIN:
		r = chain_make(&s->chain, &s->summary);
		if (!r)
			wait_add_queues(&s->summary, &s->chain.waits);
		return r;
	case SOURCE_IDLE:
		idle_look(&s->idle, &s->recording);
		return 0;
	default:
		r = answer_make(&s->answer, &s->summary, &s->chain, &s->idle);
		return r ? r : advise_answer(&s->answer, &s->summary, &s->chain);
	}
}

int source_need(struct source *s, enum source_part part, struct error *err)
{
	struct source_private *p = s->private;
	int64_t start_ns = clock_mono_ns();
	unsigned before = p->n_parts;
	int r = 0;

	if (!*s->id)
		return error_set(err, -ENOENT, s->catalogue->path, 0, 0, "no recordings yet");
	for (; !r && p->n_parts <= part; p->n_parts += !r)
		r = make_part(s, p->n_parts, err);
	if (r) {
		release_parts(s);
		return r == -ENOMEM ? error_sys(err, r, s->id, NULL) : r;
	}
	if (p->n_parts == before)
		return 0;
	if (!before)
		s->running = growing_runs(&s->recording);
	p->read_ns = clock_mono_ns();
	p->took_ns = (before ? p->took_ns : 0) + p->read_ns - start_ns;
	return 0;
}

/* INSTANCE.NUMBER, as in tasks.log; NO_INDEX: there is none. */
static uint32_t task_with_id(const struct recording *rec, const char *id)
{
	const char *dot = strrchr(id, '.');
	uint64_t seq;

	if (!dot || !cursor_slice_u64(slice_of(dot + 1), &seq))
		return NO_INDEX;
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const char *instance = rec->instance[rec->task[i].instance].id;
		size_t len = (size_t)(dot - id);

		if (rec->task[i].seq == seq && !strncmp(instance, id, len) && !instance[len])
			return (uint32_t)i;
	}
	return NO_INDEX;
}

int source_task(struct source *s, const char *id, uint32_t *task, struct error *err)
{
	struct view view = { 0 };
	int r = source_need(s, SOURCE_SUMMARY, err);

	if (r)
		return r;
	*task = task_with_id(&s->recording, id);
	if (*task != NO_INDEX)
		return 0;
	r = view_make(&view, &s->summary, &(struct selection){ .task = id });
	if (r)
		r = error_sys(err, r, s->id, NULL);
	else if (view.n_tasks != 1)
		r = error_say(err, view.n_tasks ? -EINVAL : -ENOENT, "%s task has the name or id "
			      "'%.200s'", view.n_tasks ? "more than one" : "no", id);
	else
		*task = view.task[0];
	view_release(&view);
	return r;
}
