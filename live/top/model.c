/* SPDX-License-Identifier: MIT */
#include "live/top/model.h"

#include "base/clock.h"
#include "base/file.h"
#include "convert/convert.h"
#include "live/earlier.h"
#include "live/top/helper.h"
#include "live/top/mirror.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_shown(void *context, const struct listed *p, bool of_build)
{
	const struct top_model *m = context;

	return (m->all || of_build) && p->pid != m->helper && p->pid != getpid();
}

static void end_build(struct top_model *m)
{
	m->ended = true;
	live_build_close(m->build);
	m->build = NULL;
}

static void take_help(struct top_model *m)
{
	struct top_help h;

	while (m->help_fd >= 0 && read(m->help_fd, &h, sizeof h) == sizeof h)
		m->help = h;
}

/* The directory may be gone, or be another one with its name. */
static bool is_deleted(const struct top_model *m)
{
	char build[PATH_MAX + 8];

	snprintf(build, sizeof build, "%s/build", m->path);
	return access(build, F_OK) && errno == ENOENT;
}

static int read_growing(struct top_model *m, struct error *err)
{
	int r = growing_read(m->growing, err);

	if (r < 0)
		return r;
	now_settle(m->now, NULL, NULL);
	m->now->stopped = growing_is_stopped(m->growing);
	now_tool_count(&m->progress, m->now, m->path);
	if (!r)
		end_build(m);
	return 0;
}

bool top_model_is_final(const struct top_model *m)
{
	return m->ended && !m->all && !m->mirror;
}

int top_model_read(struct top_model *m, bool wait, struct error *err)
{
	int r = 0;

	if (m->mirror)
		return mirror_read(m->mirror, m, wait, err);
	take_help(m);
	if (!m->ended && is_deleted(m)) {
		m->deleted = true;
		end_build(m);
	}
	if (!m->ended)
		r = read_growing(m, err);
	if (r || (m->ended && !m->all))
		return r;
	if (m->build && live_build_read(m->build, err) <= 0) {
		live_build_close(m->build);
		m->build = NULL;
	}
	r = process_table_read(&m->processes, m->build, is_shown, m);
	if (!r)
		r = whole_machine_read(&m->machine, clock_mono_ns() / 1000);
	return r ? error_sys(err, r, "/proc", NULL) : 0;
}

static int open_parts(struct top_model *m, struct error *err)
{
	int r = now_new(&m->now);

	if (!r)
		r = growing_open(&m->growing, m->path, convert_formats.codec, &now_growing, m->now, err);
	else
		error_sys(err, r, m->path, NULL);
	if (!r)
		r = read_growing(m, err);
	if (!r && !m->ended)
		r = live_build_open(&m->build, m->path, err);
	return r;
}

static const struct top_model empty = {
	.help_fd = -1, .help.left.left_us = -1, .trouble = "", .progress = { -1, -1 },
	.processes.list = { .proc_fd = -1, .list_fd = -1 }, .machine.root = ROOT_INIT,
};

int top_model_open_url(struct top_model *m, const char *program, const char *ca_file, struct error *err)
{
	int r;

	*m = empty;
	r = now_new(&m->now);
	if (r)
		return error_sys(err, r, "top", NULL);
	r = mirror_open(&m->mirror, program, ca_file, err);
	return r ? r : top_model_read(m, false, err);
}

int top_model_open(struct top_model *m, const char *path, bool helper, struct error *err)
{
	struct remaining *learnt = NULL;
	struct error ignored;
	int r;

	*m = empty;
	if (strlen(path) >= sizeof m->path)
		return error_sys(err, -ENAMETOOLONG, path, NULL);
	memcpy(m->path, path, strlen(path) + 1);
	r = process_table_init(&m->processes);
	if (!r)
		r = whole_machine_init(&m->machine, NULL);
	if (r)
		return error_sys(err, r, "/proc", NULL);
	r = open_parts(m, err);
	if (!r && helper) {
		m->helper = helper_start(&m->help_fd, m->path);
		if (m->helper < 0)
			m->helper = 0;
	} else if (!r) {
		if (!m->ended)
			earlier_learn(&learnt, m->path, &ignored);
		helper_make(&m->help, learnt, m->path, !m->ended);
		remaining_free(learnt);
	}
	return r ? r : top_model_read(m, false, err);
}

void top_model_close(struct top_model *m)
{
	mirror_close(m->mirror);
	file_close(m->help_fd);
	if (m->helper > 0) {
		kill(m->helper, SIGKILL);
		waitpid(m->helper, NULL, 0);
	}
	live_build_close(m->build);
	if (m->growing)
		growing_close(m->growing);
	now_free(m->now);
	process_table_release(&m->processes);
	whole_machine_release(&m->machine);
}

struct remaining_estimate top_model_left(const struct top_model *m)
{
	if (m->ended || !m->help.elapsed_us)
		return (struct remaining_estimate){ .left_us = -1 };
	return remaining_later(&m->help.left, now_elapsed_us(m->now, clock_mono_ns()) - m->help.elapsed_us);
}

int top_model_kill(struct top_model *m, int32_t pid, uint64_t start_ticks, int signal)
{
	const struct process_row *row = NULL;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r;

	if (fd < 0)
		return -errno;
	/* the descriptor is of the process that has this number now: is it the one that was shown? */
	r = process_table_read(&m->processes, m->build, is_shown, m);
	for (size_t i = 0; !r && i < m->processes.n; i++) {
		if (m->processes.row[i].process->pid == pid)
			row = &m->processes.row[i];
	}
	if (!r && (!row || row->process->start_ticks != start_ticks))
		r = -ESRCH;
	if (!r && !row->of_build)
		r = -EPERM;
	if (!r && syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0))
		r = -errno;
	close(fd);
	return r;
}
