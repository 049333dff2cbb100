/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_JOB_PLAN_H
#define BUILDBEAT_LIVE_JOB_PLAN_H

#include "base/error.h"
#include "live/catalogue.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* What a background task runs: decided from a request, without starting anything. */
#define JOB_WORDS_MAX 24
#define JOB_TEXT_MAX (2 * PATH_MAX + 512)

enum job_kind { JOB_INSPECT, JOB_CHART, JOB_REPORT, JOB_STACK, JOB_ACCEPT, JOB_ACK,
		JOB_KINDS };

extern const char *const job_kinds[];	/* "inspect" ..., ended by NULL */

struct job_plan {
	enum job_kind kind;
	int32_t pid;		/* of JOB_STACK */
	char title[200];	/* for people: "inspect cc1 (4711)" */
	char recording[256];	/* id, "": of none */
	char cwd[PATH_MAX];	/* "": the directory of the task */
	char result[64];	/* file in that directory; "": standard output */
	const char *type;	/* Content-Type of the result */
	int64_t limit_us;	/* how long it may take */
	size_t n;
	const char *word[JOB_WORDS_MAX + 1];	/* without the program; ended by NULL */
	char text[JOB_TEXT_MAX];	/* of the words */
	size_t used;
};

/* 0, or a negative errno with err: -EINVAL, -ESTALE if the process has ended. */
int job_plan(struct job_plan *p, const struct catalogue *c, const char *body, size_t len,
	     struct error *err);

#endif
