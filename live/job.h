/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_JOB_H
#define BUILDBEAT_LIVE_JOB_H

#include "base/error.h"
#include "base/json.h"
#include "live/catalogue.h"
#include "live/route.h"

#include <stddef.h>

/*
 * Background tasks: inspections, reports, charts and call stacks, which child processes make. Each
 * has a number, a list of its progress and a result, in a private directory that is removed at the
 * end; that of a server that was killed is removed by the next one. Children have low priority and
 * end with the server, however that ends.
 *
 * The caller has checked that the client may control the server.
 */
#define JOB_RUNNING_MAX 4
#define JOB_KEPT_MAX 64		/* tasks that have ended; older ones are forgotten */

struct jobs;

/* buildbeat, symbols: paths of the programs, "" if a program is missing. 0 or -ENOMEM. */
int job_new(struct jobs **out, const char *buildbeat, const char *symbols);

/* End all of them, and wait for that. jobs may be NULL. */
void job_free(struct jobs *jobs);

/* A descriptor that is readable when there is something to do: call job_run(). */
int job_fd(const struct jobs *jobs);
void job_run(struct jobs *jobs);

/*
 * Start a task. body is an object of JSON: "do" is "inspect", "chart", "report", "stack",
 * "accept" or "ack"; buildbeat-api(7) has the other members. 0 with its id, or a negative errno
 * with err: -EINVAL, -EBUSY if JOB_RUNNING_MAX run, -ESTALE if a process has ended, others of the system.
 */
int job_post(struct jobs *jobs, const struct catalogue *c, const char *body, size_t len, unsigned *id,
	      struct error *err);

/* All, or one with its progress, as an object; its result. -ESTALE with err: unknown. */
void job_list(struct jobs *jobs, struct json *j);
int job_get(struct jobs *jobs, unsigned id, struct json *j, struct error *err);
int job_result(struct jobs *jobs, unsigned id, struct reply *out, struct error *err);

/* Cancel a task that runs, or forget one that has ended; id 0: all that run. */
int job_delete(struct jobs *jobs, unsigned id, struct error *err);

#endif
