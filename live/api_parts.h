/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_API_PARTS_H
#define BUILDBEAT_LIVE_API_PARTS_H

#include "analyse/build_output.h"
#include "live/route.h"

/* /api/v1/ps of a recording that has ended: its processes.log. */
int api_recorded_processes(struct reply *out, const struct request *q, struct error *err);

/* The processes of a recording, made once; that of an archive has none. */
struct process_tree;
int api_recorded_tree(struct source *s, const struct process_tree **tree, struct error *err);

/* The build's output, read once. */
int api_log_output(struct source *s, struct build_output **output, struct error *err);

/* What remains of a running build; builds 0: nothing is known, or it has ended. */
struct remaining_estimate;
int api_remaining_of(struct source *s, struct remaining_estimate *e, struct error *err);

/* The profile of the whole build. */
struct profile;
int api_profile_of(struct source *s, struct profile **profile, struct error *err);

#endif
