/* SPDX-License-Identifier: MIT */
#include "live/top/mirror.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/minmax.h"
#include "convert/json_reader.h"
#include "live/attach.h"
#include "live/top/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS_MAX 4096		/* processes and tasks */
#define CPUS_MAX 4096

static const char *const replies[] = { ATTACH_REPLIES };
enum reply { OF_NOW, OF_MACHINE, OF_PROCESSES, OF_REMAINING, OF_OVERVIEW, REPLIES };

_Static_assert(ARRAY_SIZE(replies) == REPLIES, "each reply has its place");

struct mirror {
	pid_t pid;
	int fd;			/* of the child's output; -1: it ended */
	struct buf in;
	struct buf text[REPLIES];	/* of the round that comes */
	struct json_document shown[REPLIES];	/* the model has their texts */
	bool fresh;		/* a round is whole and not yet shown */
	bool any;		/* a round was whole */
	struct buf trouble;
	/* what the model points to */
	struct recording rec;
	char (*id)[NOW_ID_MAX];	/* of the instance of each task in rec */
	struct listed *listed;
	struct build_task *task_of;
};

/* The child */

static int start_child(struct mirror *o, const char *program, const char *ca_file)
{
	const char *argv[6] = { program, "-A", "-r", ca_file ? "-C" : NULL, ca_file };
	pid_t parent = getpid();
	int pipe_fd[2];

	if (pipe2(pipe_fd, O_CLOEXEC))
		return -errno;
	o->pid = fork();
	if (o->pid < 0) {
		int r = -errno;

		close(pipe_fd[0]);
		close(pipe_fd[1]);
		return r;
	}
	if (!o->pid) {
		int null = open("/dev/null", O_RDWR | O_CLOEXEC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* its messages come through the pipe: the screen is not its own */
		if (getppid() == parent && null >= 0 && dup2(null, 0) == 0 && dup2(null, 2) == 2 &&
		    dup2(pipe_fd[1], 1) == 1)
			execv(program, (char **)argv);
		_exit(127);
	}
	close(pipe_fd[1]);
	o->fd = pipe_fd[0];
	return fcntl(o->fd, F_SETFL, O_NONBLOCK) ? -errno : 0;
}

static void end_child(struct mirror *o)
{
	file_close(o->fd);
	o->fd = -1;
	if (!*buf_str(&o->trouble))
		buf_adds(&o->trouble, "the program that asks the server has ended");
}

static void take_piece(struct mirror *o, struct slice what, const char *text, size_t len)
{
	for (size_t i = 0; i < REPLIES; i++) {
		if (!slice_is(what, replies[i]))
			continue;
		/* what came before is of a round that was not finished, or not shown */
		for (size_t later = i ? REPLIES : 0; later < REPLIES; later++)
			buf_clear(&o->text[later]);
		o->fresh &= i > 0;
		buf_clear(&o->text[i]);
		buf_add(&o->text[i], text, len);
		return;
	}
	buf_clear(&o->trouble);
	if (slice_is(what, "round"))
		o->any = o->fresh = true;
	else if (slice_is(what, "lost"))
		buf_adds(&o->trouble, "The server does not answer; this is what it said last");
	else
		buf_add(&o->trouble, text, len);
}

static void take_pieces(struct mirror *o)
{
	for (;;) {
		struct slice line, what, number;
		struct cursor c;
		uint64_t len;
		size_t used;

		cursor_init(&c, o->in.data, o->in.len);
		if (!o->in.len || !memchr(o->in.data, '\n', o->in.len) || !cursor_until(&c, '\n', &line))
			return;
		used = line.len + 1;
		number.p = memchr(line.p, ' ', line.len);
		if (!number.p) {
			end_child(o);
			return;
		}
		what = (struct slice){ line.p, (size_t)(number.p - line.p) };
		number.p++;
		number.len = line.len - what.len - 1;
		if (!cursor_slice_u64(number, &len)) {
			end_child(o);
			return;
		}
		if (o->in.len - used < len)
			return;
		take_piece(o, what, o->in.data + used, (size_t)len);
		used += (size_t)len;
		memmove(o->in.data, o->in.data + used, o->in.len - used);
		buf_cut(&o->in, o->in.len - used);
	}
}

/* All that came; wait: until a round is whole, or no other will come. */
static int read_child(struct mirror *o, bool wait)
{
	while (o->fd >= 0) {
		char *to = buf_begin(&o->in, 65536);
		ssize_t n;

		if (!to)
			return -ENOMEM;
		n = read(o->fd, to, 65536);
		if (n > 0) {
			buf_end(&o->in, to + n);
			take_pieces(o);
		} else if (n < 0 && errno == EAGAIN) {
			if (!wait || o->fresh || *buf_str(&o->trouble))
				return 0;
			poll(&(struct pollfd){ .fd = o->fd, .events = POLLIN }, 1, -1);
		} else if (!n || errno != EINTR) {
			end_child(o);
		}
	}
	return 0;
}

int mirror_open(struct mirror **mirror, const char *program, const char *ca_file, struct error *err)
{
	struct mirror *o = *mirror = calloc(1, sizeof *o);
	int r = o ? 0 : -ENOMEM;

	if (!r) {
		o->fd = -1;
		r = start_child(o, program, ca_file);
	}
	if (!r)
		r = read_child(o, true);
	if (r)
		return error_sys(err, r, program, NULL);
	return o->any ? 0 : error_set(err, -ENOTCONN, "top", 0, 0, "%s", buf_str(&o->trouble));
}

void mirror_close(struct mirror *o)
{
	if (!o)
		return;
	file_close(o->fd);
	if (o->pid > 0) {
		kill(o->pid, SIGKILL);
		waitpid(o->pid, NULL, 0);
	}
	for (size_t i = 0; i < REPLIES; i++) {
		buf_release(&o->text[i]);
		json_document_release(&o->shown[i]);
	}
	buf_release(&o->in);
	buf_release(&o->trouble);
	free(o->rec.task);
	free(o->rec.instance);
	free_all(o->id, o->listed, o->task_of, o);
}

/* The replies: a server can say anything, so each number has its limits */

static int64_t number(const struct json_value *v, const char *key, int64_t least, int64_t most, int64_t missing)
{
	int64_t n = json_member_number(v, key, 0, missing);

	return n == missing || (n >= least && n <= most) ? n : missing;
}

static int64_t count(const struct json_value *v, const char *key)
{
	return number(v, key, 0, INT64_MAX / 4096, 0);
}

static int32_t permille(const struct json_value *v, const char *key)
{
	int64_t n = json_member_number(v, key, 1, -1);

	return n < 0 || n > 1000 ? -1 : (int32_t)n;
}

static bool is_true(const struct json_value *v, const char *key)
{
	const struct json_value *member = json_member(v, key);

	return member && member->type == JSON_TRUE;
}

static const struct json_value *first_of(const struct json_value *v, const char *key)
{
	const struct json_value *list = json_member(v, key);

	return list && list->type == JSON_LIST ? list->first : NULL;
}

static size_t count_list(const struct json_value *first, size_t most)
{
	size_t n = 0;

	for (; first && n < most; first = first->next)
		n++;
	return n;
}

static void add_task(struct mirror *o, const struct json_value *v)
{
	uint32_t at = (uint32_t)o->rec.n_tasks++;
	const char *id = json_member_text(v, "task"), *dot = strrchr(id, '.'), *kind = json_member_text(v, "kind");
	const char *state = json_member_text(v, "state");
	struct task *t = &o->rec.task[at];
	uint64_t seq = 0;

	if (dot)
		cursor_slice_u64(slice_of(dot + 1), &seq);
	snprintf(o->id[at], sizeof o->id[at], "%.*s", dot ? (int)MIN(dot - id, NOW_ID_MAX) : 0, id);
	o->rec.instance[at].id = o->id[at];
	*t = (struct task){
		.name = json_member_text(v, "name"), .kind = *kind ? kind : "task", .instance = at, .seq = seq,
		.state = !strcmp(state, "failed") ? TASK_FAILED : !strcmp(state, "killed") ? TASK_KILLED : TASK_UNFINISHED,
		.hosts = is_true(v, "hosting"), .pid = (int32_t)number(v, "pid", 1, INT32_MAX, -1),
		.start_us = count(v, "start_us"), .end_us = number(v, "end_us", 0, INT64_MAX, -1),
	};
	t->status = (int32_t)number(v, t->state == TASK_KILLED ? "signal" : "exit_status", 0, INT32_MAX, -1);
}

static int take_tasks(struct mirror *o, struct now *n, const struct json_value *v)
{
	const struct json_value *running = first_of(v, "running"), *failed = first_of(v, "failures");
	size_t n_running = count_list(running, ROWS_MAX), n_failed = count_list(failed, NOW_FAILED_MAX);
	size_t all = n_running + n_failed;

	free(o->rec.task);
	free(o->rec.instance);
	free_all(o->id, n->task);
	o->rec = (struct recording){ .n_instances = all, .instance = array_new(all, sizeof *o->rec.instance),
				     .task = array_new(all, sizeof *o->rec.task) };
	o->id = array_new(all, sizeof *o->id);
	n->task = array_new(all, sizeof *n->task);
	n->n_tasks = n->n_failures = 0;
	n->rec = &o->rec;
	if (!o->rec.instance || !o->rec.task || !o->id || !n->task)
		return -ENOMEM;
	for (; n->n_tasks < n_running; running = running->next) {
		n->task[n->n_tasks++] = (uint32_t)o->rec.n_tasks;
		add_task(o, running);
	}
	for (; n->n_failures < n_failed; failed = failed->next) {
		n->failure[n->n_failures++] = (uint32_t)o->rec.n_tasks;
		add_task(o, failed);
	}
	return 0;
}

static int take_now(struct mirror *o, struct top_model *m, const struct json_value *v)
{
	const struct json_value *progress = json_member(v, "progress");
	struct now *n = m->now;

	if (now_set_text(&n->title, json_member_text(v, "command")) || now_set_text(&n->tool, json_member_text(v, "tool")))
		return -ENOMEM;
	m->ended = n->ended = is_true(v, "ended");
	n->stopped = is_true(v, "suspended");
	n->last_us = n->end_us = count(v, "elapsed_us");
	n->exit_status = (int32_t)number(v, "exit_status", 0, INT32_MAX, -1);
	n->signal = (int32_t)number(v, "signal", 1, INT32_MAX, -1);
	n->n_queued = (uint64_t)count(v, "tasks_queued");
	n->n_running = (uint64_t)count(v, "tasks_running");
	n->n_done = (uint64_t)count(v, "tasks_done");
	n->n_failed = (uint64_t)count(v, "tasks_failed");
	n->n_killed = (uint64_t)count(v, "tasks_killed");
	n->n_unfinished = (uint64_t)count(v, "tasks_unfinished");
	m->progress.done = number(progress, "done", 0, INT64_MAX, -1);
	m->progress.total = number(progress, "total", 0, INT64_MAX, -1);
	return take_tasks(o, n, v);
}

static int take_machine(struct whole_machine *w, const struct json_value *v)
{
	static const char *const times[MACHINE_TIMES] = {
		[MACHINE_USER] = "user_percent", [MACHINE_SYSTEM] = "system_percent",
		[MACHINE_IOWAIT] = "iowait_percent", [MACHINE_STEAL] = "steal_percent",
		[MACHINE_IDLE] = "idle_percent",
	};
	const struct json_value *cpu = first_of(v, "cpus"), *disk = first_of(v, "disks");
	const struct json_value *memory = json_member(v, "memory"), *pressure = json_member(v, "pressure");
	size_t n = count_list(cpu, CPUS_MAX);
	struct machine_cpu *cpus = array_new(n, sizeof *cpus);

	if (!cpus)
		return -ENOMEM;
	free(w->cpu);
	w->cpu = cpus;
	for (w->n_cpus = 0; w->n_cpus < n; cpu = cpu->next) {
		struct machine_cpu *c = &w->cpu[w->n_cpus++];

		*c = (struct machine_cpu){ .number = (int32_t)number(cpu, "cpu", 0, CPUS_MAX, -1) };
		for (int t = 0; t < MACHINE_TIMES; t++)
			c->permille[t] = permille(cpu, times[t]);
	}
	w->memory = (struct machine_memory){ .total = (uint64_t)count(memory, "total_kb"),
					     .available = (uint64_t)count(memory, "available_kb") };
	for (w->n_disks = 0; disk && w->n_disks < MACHINE_DISKS_MAX; disk = disk->next)
		w->disk[w->n_disks++] = (struct machine_disk){
			.read_kb_s = number(disk, "read_kb_per_s", 0, INT32_MAX, -1),
			.written_kb_s = number(disk, "written_kb_per_s", 0, INT32_MAX, -1),
			.busy_permille = permille(disk, "busy_percent"),
		};
	w->has_pressure = json_member(pressure, "cpu_some_percent");
	w->pressure_permille[MACHINE_CPU_SOME] = permille(pressure, "cpu_some_percent");
	w->pressure_permille[MACHINE_MEMORY_SOME] = permille(pressure, "memory_some_percent");
	w->pressure_permille[MACHINE_IO_SOME] = permille(pressure, "io_some_percent");
	return 0;
}

static void take_process(struct mirror *o, struct process_table *t, const struct json_value *v)
{
	struct listed *p = &o->listed[t->n];
	struct build_task *task = &o->task_of[t->n];
	const char *id = json_member_text(v, "task_id");

	*p = (struct listed){
		.pid = (int32_t)number(v, "pid", 1, INT32_MAX, 0), .parent = (int32_t)number(v, "parent", 0, INT32_MAX, 0),
		.start_ticks = (uint64_t)count(v, "start_ticks"), .state = *json_member_text(v, "state"),
		.cpu_permille = MAX(json_member_number(v, "cpu_percent", 1, 0), 0),
		.rss_kb = (uint64_t)count(v, "rss_kb"), .threads = (uint64_t)count(v, "threads"),
		.faults = -1, .age_us = count(v, "age_us"),
	};
	snprintf(p->name, sizeof p->name, "%s", json_member_text(v, "program"));
	snprintf(task->id, sizeof task->id, "%s", id);
	task->name = json_member_text(v, "task");
	t->row[t->n++] = (struct process_row){ .process = p, .task = *id ? task : NULL, .of_build = true,
					       .words = json_member_text(v, "command") };
}

/* Of a build that has ended there are those that were recorded, which are not shown. */
static int take_processes(struct mirror *o, struct process_table *t, const struct json_value *v, bool ended)
{
	const struct json_value *p = ended ? NULL : first_of(v, "processes");
	size_t n = count_list(p, ROWS_MAX);

	free(t->row);
	free_all(o->listed, o->task_of);
	t->n = 0;
	t->row = array_new(n, sizeof *t->row);
	o->listed = array_new(n, sizeof *o->listed);
	o->task_of = array_new(n, sizeof *o->task_of);
	if (!t->row || !o->listed || !o->task_of)
		return -ENOMEM;
	for (; n--; p = p->next) {
		if (json_member(p, "state"))
			take_process(o, t, p);
	}
	return 0;
}

static void take_remaining(struct top_model *m, const struct json_value *v)
{
	const struct json_value *left = json_member(v, "remaining");
	struct remaining_estimate *e = &m->help.left;
	double share;

	*e = (struct remaining_estimate){
		.builds = (size_t)count(left, "builds"), .left_us = number(left, "us", 0, INT64_MAX / 2, -1),
		.low_us = number(left, "low_us", 0, INT64_MAX / 2, -1), .high_us = number(left, "high_us", 0, INT64_MAX / 2, -1),
	};
	e->late = !e->left_us;
	if (json_double(json_member(left, "done_share"), &share) && share >= 0 && share <= 1)
		e->done_share = share;
	m->help.elapsed_us = v ? MAX(m->now->last_us, 1) : 0;
}

/* The newest failed task that hosts no build tool, as of the recordings of this machine. */
static void take_error(struct top_help *h, const struct json_value *v)
{
	const struct json_value *task = first_of(v, "failures"), *error, *line;
	size_t at = 0, n = 0, from;
	int64_t message;

	while (task && is_true(task, "hosting") && task->next)
		task = task->next;
	error = json_member(task, "error");
	line = first_of(error, "lines");
	snprintf(h->failed, sizeof h->failed, "%s", json_member_text(task, "task"));
	memset(h->line, 0, sizeof h->line);
	message = json_member_number(error, "output_line", 0, -1);
	for (const struct json_value *l = line; l; l = l->next, n++) {
		if (json_member_number(l, "output_line", 0, -1) == message)
			at = n;
	}
	from = helper_first_line(at, n);
	for (n = 0; line; line = line->next, n++) {
		if (n >= from && n - from < TOP_LOG_LINES)
			helper_put_line(h->line[n - from], slice_of(json_member_text(line, "text")));
	}
}

static int take_round(struct mirror *o, struct top_model *m, const struct json_document *d)
{
	int r = take_now(o, m, d[OF_NOW].root);

	if (!r)
		r = take_machine(&m->machine, d[OF_MACHINE].root);
	if (!r)
		r = take_processes(o, &m->processes, d[OF_PROCESSES].root, m->ended);
	take_remaining(m, d[OF_REMAINING].root);
	take_error(&m->help, d[OF_OVERVIEW].root);
	helper_put_line(m->help.idle,
			slice_of(json_member_text(json_member(d[OF_OVERVIEW].root, "idle"), "words")));
	return r;
}

static void show_round(struct mirror *o, struct top_model *m, int *r)
{
	struct json_document d[REPLIES] = { 0 };
	struct error err = { 0 };
	bool good = true;

	for (size_t i = 0; i < REPLIES && good; i++) {
		if (o->text[i].len)
			good = !json_read_text(&d[i], o->text[i].data, o->text[i].len, replies[i], 1, &err);
	}
	if (good) {
		*r = take_round(o, m, d);
	} else {
		buf_clear(&o->trouble);
		buf_addf(&o->trouble, "What the server said is not understood: %s: %s", err.path, err.message);
	}
	for (size_t i = 0; i < REPLIES; i++) {
		/* the texts of the model are in these, or still in those before */
		json_document_release(good ? &o->shown[i] : &d[i]);
		if (good)
			o->shown[i] = d[i];
	}
}

int mirror_read(struct mirror *o, struct top_model *m, bool wait, struct error *err)
{
	int r = read_child(o, wait);

	if (!r && o->fresh)
		show_round(o, m, &r);
	o->fresh = false;
	m->trouble = buf_str(&o->trouble);
	return r ? error_sys(err, r, "top", NULL) : 0;
}
