/* SPDX-License-Identifier: MIT */
#include "launch/made_files.h"

#include "base/array.h"
#include "base/minmax.h"
#include "command/command_name.h"
#include "command/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MS_NS 1000000
#define SECOND_NS 1000000000LL

/* The kernel stamps files with the time of its last tick, which is up to 10 ms old. A file system
 * that stores whole seconds, or every second one, stamps them up to 2 s early. */
#define TICK_NS (10 * MS_NS)
#define SECONDS_NS (2 * SECOND_NS)

/* The clock of the task and that of the file are read one after the other. */
#define LATE_NS MS_NS

/* Was the file written while the task ran? *within: even if its time is exact. */
static bool is_by(const struct stat *st, const struct recording *rec, const struct task *t,
		  const struct made_clock *clock, bool *within)
{
	int64_t mtime_ns = st->st_mtim.tv_sec * SECOND_NS + st->st_mtim.tv_nsec;
	int64_t start_ns = t->start_us * 1000, end_ns = recording_task_end_us(rec, t) * 1000;
	int64_t early_ns = st->st_mtim.tv_nsec ? TICK_NS : SECONDS_NS;
	int64_t first_ns = MIN(clock->first_ns, clock->last_ns);
	int64_t last_ns = clock->first_ns + clock->last_ns - first_ns;

	*within = mtime_ns >= first_ns + start_ns && mtime_ns <= last_ns + end_ns;
	return mtime_ns >= first_ns + start_ns - early_ns &&
	       mtime_ns <= last_ns + end_ns + LATE_NS;
}

/* The task may have the file already, under another name. */
static struct made_file *find_own(struct made_files *m, uint32_t task, const struct stat *st)
{
	for (size_t i = m->n; i > 0 && m->file[i - 1].task == task; i--) {
		if (m->file[i - 1].inode == st->st_ino && m->file[i - 1].device == st->st_dev)
			return &m->file[i - 1];
	}
	return NULL;
}

static int add_file(struct made_files *m, const struct recording *rec, uint32_t task, int dir_fd,
		    const char *path, bool named, const struct made_clock *clock)
{
	const struct task *t = &rec->task[task];
	struct made_file *own, *added;
	struct stat st;
	bool within;

	if (!*path || fstatat(dir_fd, path, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) ||
	    !S_ISREG(st.st_mode) || !is_by(&st, rec, t, clock, &within))
		return 0;
	own = named ? find_own(m, task, &st) : NULL;
	if (own) {
		own->named = true;
		return 0;
	}
	added = array_add(&m->file, &m->n, sizeof *added);
	if (!added)
		return -ENOMEM;
	*added = (struct made_file){ .task = task, .named = named, .within = within,
		.path = m->text.len, .bytes = st.st_size, .start_us = t->start_us,
		.device = st.st_dev, .inode = st.st_ino };
	buf_add(&m->text, path, strlen(path) + 1);
	return buf_error(&m->text);
}

/* Adds DIR of "cd DIR && COMMAND" and a slash to path. */
static void add_directory(struct buf *path, const char *command)
{
	struct slice word;
	struct cursor c;

	cursor_init(&c, command, strlen(command));
	if (!shell_word(&c, &word) || !slice_is(word, "cd") || !shell_word(&c, &word))
		return;
	shell_add_plain(path, word);
	buf_addc(path, '/');
}

/* The file that the command names. */
static int add_named(struct made_files *m, const struct recording *rec, uint32_t task, int dir_fd,
		     const char *command, const struct made_clock *clock)
{
	struct buf name = BUF_INIT, path = BUF_INIT;
	int r;

	command_name_add(&name, command, strlen(command));
	if (name.len && *name.data != '/')
		add_directory(&path, command);
	buf_adds(&path, buf_str(&name));
	r = buf_error(&name) ? buf_error(&name) : buf_error(&path);
	if (!r && name.len)
		r = add_file(m, rec, task, dir_fd, path.data, true, clock);
	buf_release(&name);
	buf_release(&path);
	return r;
}

int made_files_add(struct made_files *m, const struct recording *rec, uint32_t task, int dir_fd,
		   const char *command, const struct made_clock *clock)
{
	const struct task *t = &rec->task[task];
	int r = add_file(m, rec, task, dir_fd, t->name, false, clock);

	if (r)
		return r;
	for (uint32_t i = 0; i < t->n_out; i++) {
		r = add_file(m, rec, task, dir_fd, rec->out[t->first_out + i], false, clock);
		if (r)
			return r;
	}
	return r || !*command ? r : add_named(m, rec, task, dir_fd, command, clock);
}

/* Sorts the tasks that may have made one file, the likeliest first: a task whose command names the
 * file, then one that ran at the time of the file, then the one that started last. */
static int by_file(const void *a, const void *b)
{
	const struct made_file *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->named != y->named)
		return y->named - x->named;
	if (x->within != y->within)
		return y->within - x->within;
	return x->start_us != y->start_us ? array_order(y->start_us, x->start_us) :
	       array_order(y->task, x->task);
}

static int by_task(const void *a, const void *b)
{
	const struct made_file *x = a, *y = b;

	return x->task != y->task ? array_order(x->task, y->task) :
	       array_order((int64_t)x->path, (int64_t)y->path);
}

void made_files_assign(struct made_files *m)
{
	size_t n = 0;

	if (!m->n)
		return;
	qsort(m->file, m->n, sizeof *m->file, by_file);
	for (size_t i = 0; i < m->n; i++) {
		if (!n || m->file[i].inode != m->file[n - 1].inode ||
		    m->file[i].device != m->file[n - 1].device)
			m->file[n++] = m->file[i];
	}
	m->n = n;
	qsort(m->file, m->n, sizeof *m->file, by_task);
}

const char *made_files_path(const struct made_files *m, const struct made_file *f)
{
	return m->text.data + f->path;
}

void made_files_release(struct made_files *m)
{
	free(m->file);
	buf_release(&m->text);
	*m = (struct made_files)MADE_FILES_INIT;
}
