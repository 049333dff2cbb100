/* SPDX-License-Identifier: MIT */
/* Background tasks over HTTP, and what else changes something: with --allow-control only, except call stacks
 * of processes of the build that the server was started beside. */
#include "live/server_private.h"

#include "base/cursor.h"
#include "inspect/archive_list.h"
#include "launch/find_plugin.h"
#include "live/job.h"
#include "live/job_plan.h"
#include "live/process_facts.h"
#include "live/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANCESTORS_MAX 64

/* A server has one list of tasks, which the first one makes. */
static struct jobs *jobs;
static struct watch *jobs_watch;

static void on_tick(void *context)
{
	(void)context;
	job_run(jobs);
}

static int begin_jobs(struct server *s, struct error *err)
{
	char buildbeat[PATH_MAX], symbols[PATH_MAX];
	struct error unused;
	int r;

	if (jobs)
		return 0;
	if (!find_program(buildbeat, FIND_MAIN, &unused))
		*buildbeat = '\0';
	if (!find_program(symbols, FIND_SYMBOLS, &unused))
		*symbols = '\0';
	r = job_new(&jobs, buildbeat, symbols);
	if (r)
		return error_sys(err, r, NULL, "no task can be started");
	jobs_watch = server_watch_copy(s, job_fd(jobs), on_tick, NULL);
	return 0;
}

void server_jobs_end(void)
{
	server_unwatch(jobs_watch);
	job_free(jobs);
	jobs_watch = NULL;
	jobs = NULL;
}

static int check_control(const struct server *s, bool stacks, struct error *err)
{
	return s->options->control || (stacks && s->options->launcher) ? 0 :
	       error_say(err, -EPERM, "background tasks need buildbeat serve --allow-control");
}

static void add_id(struct reply *out, unsigned id)
{
	struct json j;

	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_int(&j, "id", id);
	json_object_end(&j);
	out->status = 202;
}

/* The process that started another one; 0: that has ended. */
static int32_t parent_of(int32_t pid)
{
	struct pid_stat stat;
	char path[32];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return process_facts_stat(AT_FDCWD, path, &stat) ? stat.parent : 0;
}

/* Did the launcher, which runs, start this process or an ancestor of it? Not one of the server's own. */
static bool is_of_build(const struct server *s, int32_t pid)
{
	if (!s->private->launcher)
		return false;
	for (int i = 0; pid > 1 && i < ANCESTORS_MAX; i++) {
		if (pid == getpid())
			return false;
		pid = parent_of(pid);
		if (pid == s->options->launcher)
			return true;
	}
	return false;
}

/* Without --allow-control, only call stacks of processes of the build are allowed. */
static int check_stacks(const struct server *s, const struct local_request *q, struct error *err)
{
	struct job_plan plan;
	int r = s->options->control ? 0 : job_plan(&plan, &s->catalogue, q->body, q->body_len, err);

	if (r || s->options->control)
		return r;
	if (plan.kind != JOB_STACK)
		return check_control(s, false, err);
	return is_of_build(s, plan.pid) ? 0 :
	       error_say(err, -EPERM, "process %d does not belong to the build; buildbeat serve --allow-control shows call "
			 "stacks of other processes", (int)plan.pid);
}

static int post(struct server *s, struct reply *out, const struct local_request *q, struct error *err)
{
	unsigned id;
	int r = job_post(jobs, &s->catalogue, q->body, q->body_len, &id, err);

	if (!r)
		add_id(out, id);
	return r;
}

static void list(struct reply *out)
{
	struct json j;

	json_init(&j, &out->body, true);
	job_list(jobs, &j);
}

/* /api/v1/tasks */
static int reply_tasks(struct server *s, struct reply *out, const struct local_request *q,
		       struct error *err)
{
	bool posts = !strcmp(q->method, "POST");
	int r = check_control(s, true, err);

	if (!r && posts)
		r = check_stacks(s, q, err);
	if (!r)
		r = begin_jobs(s, err);
	if (r)
		return r;
	if (posts)
		return post(s, out, q, err);
	if (!strcmp(q->method, "DELETE"))
		r = job_delete(jobs, 0, err);
	else if (strcmp(q->method, "GET"))
		r = -EOPNOTSUPP;
	if (!r)
		list(out);
	return r;
}

/* "7" or "7/result" */
static bool read_rest(const char *rest, unsigned *id, bool *result)
{
	struct slice number = { rest, strcspn(rest, "/") };
	uint64_t n;

	*result = !strcmp(rest + number.len, "/result");
	if (!cursor_slice_u64(number, &n) || !n || n > UINT32_MAX || (rest[number.len] && !*result))
		return false;
	*id = (unsigned)n;
	return true;
}

static int get(struct reply *out, unsigned id, struct error *err)
{
	struct json j;

	json_init(&j, &out->body, true);
	return job_get(jobs, id, &j, err);
}

/* /api/v1/tasks/ID and /api/v1/tasks/ID/result */
static int reply_task(struct server *s, struct reply *out, const struct local_request *q,
		      struct error *err)
{
	bool is_get = !strcmp(q->method, "GET"), result;
	unsigned id;
	int r = check_control(s, true, err);

	if (!r)
		r = begin_jobs(s, err);
	if (r)
		return r;
	if (!read_rest(q->rest, &id, &result))
		return error_say(err, -ENOENT, "expected the number of a task, with or without "
				 "/result behind");
	if (is_get)
		return result ? job_result(jobs, id, out, err) : get(out, id, err);
	if (strcmp(q->method, "DELETE") || result)
		return error_say(err, -EOPNOTSUPP, "expected GET or DELETE");
	r = job_delete(jobs, id, err);
	if (!r)
		list(out);
	return r;
}

/* DELETE /api/v1/inspection/NAME?rec= */
static int reply_delete(struct server *s, struct reply *out, const struct local_request *q,
			struct error *err)
{
	const struct catalogue_entry *e = catalogue_find(&s->catalogue, query_text(q->query, "rec"));
	char directory[PATH_MAX], path[PATH_MAX];
	int r = check_control(s, false, err);

	if (r)
		return r;
	if (strcmp(q->method, "DELETE"))
		return error_say(err, -EOPNOTSUPP, "expected DELETE");
	if (!e || !catalogue_directory(&s->catalogue, e, directory) ||
	    !source_inspection(path, directory, q->rest))
		return error_say(err, -ENOENT, "there is no such inspection");
	r = inspect_archive_delete(path, err);
	if (!r)
		buf_adds(&out->body, "{}");
	return r == -EINVAL ? -ENOENT : r;
}

/* POST /api/v1/refresh */
static int reply_refresh(struct server *s, struct reply *out, const struct local_request *q,
			 struct error *err)
{
	if (strcmp(q->method, "POST"))
		return error_say(err, -EOPNOTSUPP, "expected POST");
	reader_pool_refresh(s->private->readers);
	buf_adds(&out->body, "{}");
	return 0;
}

const struct local_route server_jobs_routes[] = {
	{ GUARD_REFRESH, "", "POST forgets what the server has kept of recordings; it needs no control.",
	  reply_refresh },
	{ GUARD_TASKS, "", "Background tasks: GET lists them, POST starts one and returns its id, DELETE "
	  "cancels all.", reply_tasks },
	{ "/api/v1/tasks/", "", "A background task: GET returns its progress, or with /result behind its "
	  "result; DELETE cancels it.", reply_task },
	{ "/api/v1/inspection/", "rec", "DELETE removes an archive of an inspection.", reply_delete },
	{ 0 }
};
