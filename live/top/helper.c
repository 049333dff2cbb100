/* SPDX-License-Identifier: MIT */
#include "live/top/helper.h"
#include "analyse/build_output.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/minmax.h"
#include "base/utf8.h"
#include "convert/convert.h"
#include "live/earlier.h"
#include "recording/suspended.h"
#include "report/idle_look.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define LEAST_MS 1000
#define COST_SHARE 20		/* the helper works at most 1/20 of the time */

/* The newest failed task that hosts no build tool; NO_INDEX: none. */
static uint32_t newest_failure(const struct recording *rec)
{
	uint32_t found = NO_INDEX;

	for (uint32_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (task_has_failed(t) && !t->hosts &&
		    (found == NO_INDEX || t->end_us >= rec->task[found].end_us))
			found = i;
	}
	return found;
}

void helper_put_line(char to[TOP_LOG_WIDTH], struct slice text)
{
	size_t n = text.len < TOP_LOG_WIDTH ? text.len : TOP_LOG_WIDTH - 1;

	while (n && n < text.len && ((unsigned char)text.p[n] & 0xc0) == 0x80)
		n--;
	for (size_t i = 0; i < n; i++)
		to[i] = text.p[i] ? text.p[i] : ' ';
	to[n] = '\0';
}

/* With the line before it, "In function ...", if that is the first one. */
size_t helper_first_line(size_t at, size_t n)
{
	return at <= 1 || n <= TOP_LOG_LINES ? 0 : MIN(at, n - TOP_LOG_LINES);
}

static void take_error(struct top_help *h, const struct first_error *e)
{
	size_t at = 0, from;
	struct cursor c;
	struct slice line;

	while (at + 1 < e->n_lines && e->number[at] < e->line)
		at++;
	from = helper_first_line(at, e->n_lines);
	cursor_init(&c, e->text.data, e->text.len);
	for (size_t i = 0; i < from + TOP_LOG_LINES && cursor_until(&c, '\n', &line); i++) {
		if (i >= from)
			helper_put_line(h->line[i - from], line);
	}
}

static void find_error(struct top_help *h, const struct recording *rec)
{
	uint32_t task = newest_failure(rec);
	struct build_output output = { 0 };
	const struct first_error *e = NULL;
	struct summary summary;
	struct error ignored;
	char id[sizeof h->failed];

	if (task == NO_INDEX)
		return;
	snprintf(id, sizeof id, "%s.%llu", rec->instance[rec->task[task].instance].id,
		 (unsigned long long)rec->task[task].seq);
	if (!strcmp(id, h->failed))
		return;
	memset(h->line, 0, sizeof h->line);
	if (!summary_make(&summary, rec)) {
		if (!build_output_read_failure(&output, &summary, convert_formats.codec, &ignored))
			e = first_error_of(&output.errors, task);
		if (e)
			take_error(h, e);
		build_output_release(&output);
	}
	summary_release(&summary);
	memcpy(h->failed, id, sizeof id);
}

static void find_idle(struct top_help *h, const struct recording *rec)
{
	struct buf text = BUF_INIT;
	struct idle idle;

	idle_look(&idle, rec);
	if (idle.us)
		idle_words(&text, &idle, rec);
	helper_put_line(h->idle, (struct slice){ buf_str(&text), text.len });
	buf_release(&text);
}

void helper_make(struct top_help *h, struct remaining *r, const char *path, bool running)
{
	struct recording rec = RECORDING_INIT;
	struct error ignored;
	int error = recording_read_sums(&rec, path, &convert_formats, &ignored);

	if (!error && running && r) {
		h->elapsed_us = suspended_since_start_us(&rec, clock_mono_ns());
		error = remaining_estimate(&h->left, r, &rec, h->elapsed_us);
		if (error)
			h->left = (struct remaining_estimate){ .left_us = -1 };
	}
	if (!error && running)
		find_idle(h, &rec);
	if (!error)
		find_error(h, &rec);
	recording_release(&rec);
}

static void help(int fd, const char *path)
{
	struct top_help h = { .left = { .left_us = -1 } };
	struct remaining *r = NULL;
	struct error ignored;
	int64_t begin, cost_ms;

	if (earlier_learn(&r, path, &ignored))
		r = NULL;
	for (;;) {
		struct pollfd gone = { .fd = fd };

		begin = clock_mono_ns();
		helper_make(&h, r, path, true);
		if (write(fd, &h, sizeof h) < 0)
			return;
		cost_ms = (clock_mono_ns() - begin) / 1000000;
		if (poll(&gone, 1, (int)fmin(60e3, fmax(LEAST_MS, (double)cost_ms * COST_SHARE))) > 0)
			return;
	}
}

int helper_start(int *fd, const char *path)
{
	int pipe_fd[2];
	pid_t parent = getpid(), pid;

	_Static_assert(sizeof(struct top_help) <= PIPE_BUF, "a message arrives whole");
	if (pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	pid = fork();
	if (pid < 0) {
		int r = -errno;

		close(pipe_fd[0]);
		close(pipe_fd[1]);
		return r;
	}
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_IGN);
		signal(SIGINT, SIG_IGN);	/* of the terminal: our reader ends us */
		close(pipe_fd[0]);
		if (getppid() == parent)
			help(pipe_fd[1], path);
		_exit(0);
	}
	close(pipe_fd[1]);
	*fd = pipe_fd[0];
	return pid;
}
