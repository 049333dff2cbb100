/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_BISECT_REPORT_H
#define BUILDBEAT_BISECT_BISECT_REPORT_H

#include "analyse/metric.h"
#include "base/buf.h"
#include "bisect/bisect.h"

/* What is told of a search. */
struct bisect_told {
	const struct bisect *bisect;
	const char *task;	/* NULL: the build */
	enum metric metric;
	/* A commit's subject, safe to print; a text that stays, "" if there is none. */
	const char *(*subject)(void *context, const char *id);
	void *context;
};

/* 0 or -ENOMEM. */
int bisect_text(struct buf *out, const struct bisect_told *t);
int bisect_json(struct buf *out, const struct bisect_told *t);

#endif
