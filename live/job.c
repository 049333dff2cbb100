/* SPDX-License-Identifier: MIT */
#include "live/job.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "live/job_plan.h"
#include "live/job_place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_NS 200000000	/* how often children are looked at while any runs */
#define GRACE_US 5000000	/* from SIGTERM to SIGKILL */
#define LOG_MAX 262144		/* bytes of messages that are read */
#define LINES_MAX 1000
#define RESULT_MAX ((size_t)32 << 20)
#define FILES_MAX ((rlim_t)1 << 30)	/* of each file that a child writes */
#define NICE 10
#define LOG "log"
#define OUTPUT "output"

enum job_state { STATE_RUNNING, STATE_DONE, STATE_FAILED, STATE_CANCELLED };

static const char *const state_words[] = { "running", "done", "failed", "cancelled" };

struct job {
	unsigned id;
	enum job_state state;
	struct job_plan plan;
	pid_t pid;
	int64_t start_wall_ns, start_us, end_us;	/* CLOCK_MONOTONIC */
	int64_t kill_us;	/* SIGKILL then, 0: nobody ended it */
	bool cancelled, late;
	int status;		/* of wait(2) */
	int dir_fd;
};

struct jobs {
	char buildbeat[PATH_MAX], symbols[PATH_MAX];
	struct job_place place;
	unsigned last_id;
	int timer_fd;
	size_t n;		/* by id */
	struct job *job[JOB_KEPT_MAX + JOB_RUNNING_MAX];
};

static int64_t now_us(void)
{
	return clock_mono_ns() / 1000;
}

int job_new(struct jobs **out, const char *buildbeat, const char *symbols)
{
	struct jobs *jobs = calloc(1, sizeof *jobs);

	*out = jobs;
	if (!jobs)
		return -ENOMEM;
	snprintf(jobs->buildbeat, sizeof jobs->buildbeat, "%s", buildbeat);
	snprintf(jobs->symbols, sizeof jobs->symbols, "%s", symbols);
	job_place_init(&jobs->place);
	jobs->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return 0;
}

int job_fd(const struct jobs *jobs)
{
	return jobs->timer_fd;
}

static size_t count_running(const struct jobs *jobs)
{
	size_t n = 0;

	for (size_t i = 0; i < jobs->n; i++)
		n += jobs->job[i]->state == STATE_RUNNING;
	return n;
}

static void set_timer(const struct jobs *jobs)
{
	struct itimerspec time = { { 0, 0 }, { 0, 0 } };

	if (count_running(jobs))
		time = (struct itimerspec){ { 0, TICK_NS }, { 0, TICK_NS } };
	timerfd_settime(jobs->timer_fd, 0, &time, NULL);
}

/* Ending */

static void send_signal(const struct job *job, int sig)
{
	if (job->state == STATE_RUNNING && kill(-job->pid, sig))
		kill(job->pid, sig);	/* before it made its group */
}

static void look_after(struct job *job)
{
	if (job->state != STATE_RUNNING)
		return;
	if (waitpid(job->pid, &job->status, WNOHANG) == job->pid) {
		job->end_us = now_us();
		kill(-job->pid, SIGKILL);	/* what it left behind */
		if (job->cancelled)
			job->state = STATE_CANCELLED;
		else if (!job->late && WIFEXITED(job->status) && !WEXITSTATUS(job->status))
			job->state = STATE_DONE;
		else
			job->state = STATE_FAILED;
		return;
	}
	if (job->kill_us && now_us() > job->kill_us) {
		send_signal(job, SIGKILL);
	} else if (!job->kill_us && now_us() - job->start_us > job->plan.limit_us) {
		job->late = true;
		job->kill_us = now_us() + GRACE_US;
		send_signal(job, SIGTERM);
	}
}

static void forget_job(struct jobs *jobs, size_t i)
{
	struct job *job = jobs->job[i];

	close(job->dir_fd);
	job_place_remove(&jobs->place, job->id);
	free(job);
	memmove(jobs->job + i, jobs->job + i + 1, (--jobs->n - i) * sizeof *jobs->job);
}

void job_run(struct jobs *jobs)
{
	uint64_t ticks;

	if (read(jobs->timer_fd, &ticks, sizeof ticks) < 0 && errno != EAGAIN)
		return;
	for (size_t i = 0; i < jobs->n; i++)
		look_after(jobs->job[i]);
	for (size_t i = 0; i < jobs->n && jobs->n - count_running(jobs) > JOB_KEPT_MAX;) {
		if (jobs->job[i]->state != STATE_RUNNING)
			forget_job(jobs, i);
		else
			i++;
	}
	set_timer(jobs);
}

static void cancel(struct job *job)
{
	if (job->state != STATE_RUNNING || job->cancelled)
		return;
	job->cancelled = true;
	job->kill_us = now_us() + GRACE_US;
	send_signal(job, SIGTERM);
}

void job_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	for (size_t i = 0; i < jobs->n; i++)
		cancel(jobs->job[i]);
	while (count_running(jobs)) {
		struct timespec time = { 0, 10000000 };

		nanosleep(&time, NULL);
		for (size_t i = 0; i < jobs->n; i++)
			look_after(jobs->job[i]);
	}
	while (jobs->n)
		forget_job(jobs, jobs->n - 1);
	job_place_release(&jobs->place);
	close(jobs->timer_fd);
	free(jobs);
}

/* Starting */

static _Noreturn void fail_in_child(const char *what)
{
	dprintf(STDERR_FILENO, "%s: %s\n", what, strerror(errno));
	_exit(127);
}

static void set_limits(void)
{
	struct rlimit none = { 0, 0 }, files = { FILES_MAX, FILES_MAX };
	/* IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7): after all others */
	const int priority = 2 << 13 | 7;

	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &files);
	setpriority(PRIO_PROCESS, 0, NICE);
	syscall(SYS_ioprio_set, 1, 0, priority);
}

/* Signals as a shell has them: the server's handlers must not run here. */
static void reset_signals(void)
{
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void be_child(const struct job_plan *plan, const char *program, int dir_fd,
			       pid_t server)
{
	char *argv[JOB_WORDS_MAX + 2] = { (char *)program };
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int out = openat(dir_fd, OUTPUT, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int log = openat(dir_fd, LOG, O_WRONLY | O_APPEND | O_CLOEXEC);

	reset_signals();
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != server)
		_exit(127);
	if (log < 0 || dup2(log, STDERR_FILENO) < 0)
		_exit(127);
	if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
		fail_in_child("cannot open the files of the task");
	if (*plan->cwd ? chdir(plan->cwd) : fchdir(dir_fd))
		fail_in_child(*plan->cwd ? plan->cwd : "the directory of the task");
	set_limits();
	syscall(SYS_close_range, 3, ~0u, 0);
	for (size_t i = 0; i < plan->n; i++)
		argv[i + 1] = (char *)plan->word[i];
	execv(program, argv);
	fail_in_child(program);
}

static int start(struct jobs *jobs, struct job *job, struct error *err)
{
	const char *program = job->plan.kind == JOB_STACK ? jobs->symbols : jobs->buildbeat;
	pid_t server = getpid();
	sigset_t all, before;
	int r, log;

	if (!*program)
		return error_say(err, -ENOENT, "the program for this is not installed");
	r = job_place_add(&jobs->place, job->id, &job->dir_fd, err);
	if (r)
		return r;
	log = openat(job->dir_fd, LOG, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (log < 0)
		return error_sys(err, -errno, NULL, "cannot make the log of a task");
	close(log);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	job->pid = fork();
	if (!job->pid)
		be_child(&job->plan, program, job->dir_fd, server);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (job->pid < 0)
		return error_sys(err, -errno, NULL, "cannot start a process");
	setpgid(job->pid, job->pid);	/* whoever comes first */
	return 0;
}

int job_post(struct jobs *jobs, const struct catalogue *c, const char *body, size_t len, unsigned *id,
	      struct error *err)
{
	struct job *job;
	int r;

	job_run(jobs);
	if (count_running(jobs) >= JOB_RUNNING_MAX)
		return error_say(err, -EBUSY, "%d tasks run already: wait for one, or cancel it",
				 JOB_RUNNING_MAX);
	job = calloc(1, sizeof *job);
	if (!job)
		return error_sys(err, -ENOMEM, NULL, NULL);
	job->dir_fd = -1;
	r = job_plan(&job->plan, c, body, len, err);
	if (!r) {
		job->id = jobs->last_id + 1;
		job->start_wall_ns = clock_wall_ns();
		job->start_us = now_us();
		r = start(jobs, job, err);
	}
	if (r) {
		if (job->dir_fd >= 0) {
			close(job->dir_fd);
			job_place_remove(&jobs->place, job->id);
		}
		free(job);
		return r;
	}
	*id = ++jobs->last_id;
	jobs->job[jobs->n++] = job;
	set_timer(jobs);
	return 0;
}

/* Progress: what the child wrote, "12 %  message" or other lines */

struct progress {
	struct json *j;		/* NULL: only the percent */
	unsigned percent;
	size_t lines;
	struct buf last;
};

static void tell(struct progress *p, unsigned percent, struct slice message)
{
	p->percent = MAX(percent, p->percent);
	if (p->percent > 100)
		p->percent = 100;
	buf_clear(&p->last);
	buf_add(&p->last, message.p, message.len);
	if (!p->j || p->lines++ >= LINES_MAX)
		return;
	json_array(p->j, NULL);
	json_int(p->j, NULL, p->percent);
	json_strn(p->j, NULL, message.p, message.len);
	json_array_end(p->j);
}

static void tell_line(struct progress *p, struct slice line)
{
	struct cursor c;
	uint64_t percent;

	cursor_init(&c, line.p, line.len);
	cursor_blanks(&c);
	if (cursor_u64(&c, &percent) && percent <= 100 && cursor_literal(&c, " %  "))
		/* 100 is for the end, which the server sees */
		tell(p, percent < 100 ? (unsigned)percent : 99,
		     (struct slice){ c.p, (size_t)(c.end - c.p) });
	else if (line.len)
		tell(p, p->percent, line);
}

static void tell_end(struct progress *p, const struct job *job)
{
	char text[64];

	if (job->state == STATE_RUNNING)
		return;
	if (job->state == STATE_DONE)
		snprintf(text, sizeof text, "Done.");
	else if (job->cancelled)
		snprintf(text, sizeof text, "Cancelled.");
	else if (job->late)
		snprintf(text, sizeof text, "Failed: it took too long.");
	else if (WIFSIGNALED(job->status))
		snprintf(text, sizeof text, "Failed: killed by signal %d.", WTERMSIG(job->status));
	else
		snprintf(text, sizeof text, "Failed with code %d.", WEXITSTATUS(job->status));
	tell(p, 100, slice_of(text));
}

static void tell_all(struct progress *p, const struct job *job)
{
	struct buf text = BUF_INIT;
	struct cursor c;
	struct slice line;
	bool complete;

	tell(p, 1, slice_of("Started."));
	readfile_at(&text, job->dir_fd, LOG, LOG_MAX);
	cursor_init(&c, buf_str(&text), text.len);
	while (cursor_line(&c, &line, &complete) && complete)
		tell_line(p, line);
	buf_release(&text);
	tell_end(p, job);
}

/* An inspection prints the path of its archive, of which the name is enough. */
static void add_archive(struct json *j, const struct job *job)
{
	struct buf path = BUF_PART_OF(j->out);
	const char *name = NULL;

	if (job->plan.kind == JOB_INSPECT && job->state != STATE_RUNNING &&
	    !readfile_at(&path, job->dir_fd, OUTPUT, PATH_MAX) && path.len) {
		buf_cut(&path, path.len - 1);	/* its newline */
		name = strrchr(buf_str(&path), '/');
	}
	json_str(j, "archive", name ? name + 1 : NULL);
	buf_release(&path);
}

static bool has_result(const struct job *job)
{
	return job->state == STATE_DONE &&
	       !faccessat(job->dir_fd, *job->plan.result ? job->plan.result : OUTPUT, R_OK, 0);
}

static void write_job(struct json *j, const struct job *job, bool whole)
{
	struct progress p = { .j = whole ? j : NULL };
	int64_t end_us = job->state == STATE_RUNNING ? now_us() : job->end_us;

	json_object(j, NULL);
	json_int(j, "id", job->id);
	json_str(j, "do", job_kinds[job->plan.kind]);
	json_str(j, "title", job->plan.title);
	json_str(j, "recording", *job->plan.recording ? job->plan.recording : NULL);
	json_str(j, "state", state_words[job->state]);
	json_int(j, "start_ms", job->start_wall_ns / 1000000);
	json_int(j, "duration_us", end_us - job->start_us);
	if (whole)
		json_array(j, "progress");
	tell_all(&p, job);
	if (whole)
		json_array_end(j);
	json_int(j, "percent", p.percent);
	json_str(j, "message", buf_str(&p.last));
	add_archive(j, job);
	json_str(j, "result_type", has_result(job) ? job->plan.type : NULL);
	json_str(j, "result_name", has_result(job) && *job->plan.result ? job->plan.result : NULL);
	json_object_end(j);
	buf_release(&p.last);
}

/* Requests */

static int find_job(struct jobs *jobs, unsigned id, size_t *at, struct error *err)
{
	job_run(jobs);
	for (*at = 0; *at < jobs->n; (*at)++) {
		if (jobs->job[*at]->id == id)
			return 0;
	}
	return error_say(err, -ESTALE, "there is no task %u, or not any more", id);
}

void job_list(struct jobs *jobs, struct json *j)
{
	job_run(jobs);
	json_object(j, NULL);
	json_array(j, "tasks");
	for (size_t i = jobs->n; i--;)
		write_job(j, jobs->job[i], false);
	json_array_end(j);
	json_object_end(j);
}

int job_get(struct jobs *jobs, unsigned id, struct json *j, struct error *err)
{
	size_t at;
	int r = find_job(jobs, id, &at, err);

	if (!r)
		write_job(j, jobs->job[at], true);
	return r;
}

int job_result(struct jobs *jobs, unsigned id, struct reply *out, struct error *err)
{
	const struct job *job;
	size_t at;
	int r = find_job(jobs, id, &at, err);

	if (r)
		return r;
	job = jobs->job[at];
	if (job->state != STATE_DONE)
		return error_say(err, -ENOENT, "task %u has no result", id);
	r = readfile_at(&out->body, job->dir_fd, *job->plan.result ? job->plan.result : OUTPUT,
			RESULT_MAX);
	out->type = job->plan.type;
	return r ? error_sys(err, r, NULL, "cannot read the result") : 0;
}

int job_delete(struct jobs *jobs, unsigned id, struct error *err)
{
	size_t at;
	int r = 0;

	for (size_t i = 0; !id && i < jobs->n; i++)
		cancel(jobs->job[i]);
	if (id)
		r = find_job(jobs, id, &at, err);
	if (r || !id)
		return r;
	if (jobs->job[at]->state == STATE_RUNNING)
		cancel(jobs->job[at]);
	else
		forget_job(jobs, at);
	return 0;
}
