/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_API_PARTS_H
#define BUILDBEAT_LIVE_API_PARTS_H

#include "analyse/build_output.h"
#include "base/json.h"
#include "live/route.h"

/* /api/v1/ps of a recording that has ended: its processes.log. */
int api_recorded_processes(struct reply *out, const struct request *q, struct error *err);

/* The processes of a recording, made once; that of an archive has none. */
struct process_tree;
int api_recorded_tree(struct source *s, const struct process_tree **tree, struct error *err);

/* A member "pressure" of the machine of the server, null if it cannot be read. */
void api_process_pressure(struct json *j);

/* A member "now" of a running build, which is the reply of /api/v1/now. */
int api_now_add(struct json *j, const struct request *q, struct error *err);

/* Whether it was recorded: nothing is read. */
bool api_log_is_recorded(const struct source *s);

/* The build's output, read once. */
int api_log_output(struct source *s, struct build_output **output, struct error *err);

/* What remains of a running build; builds 0: nothing is known, or it has ended. */
struct remaining_estimate;
int api_remaining_of(struct source *s, struct remaining_estimate *e, struct error *err);

/* Earlier recordings, which may take seconds to read, have been read for it. */
bool api_remaining_has_learnt(const struct source *s);

/* The profile of the whole build. */
struct profile;
int api_profile_of(struct source *s, struct profile **profile, struct error *err);

#endif
