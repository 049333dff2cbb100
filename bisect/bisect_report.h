/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_BISECT_BISECT_REPORT_H
#define BUILDBEAT_BISECT_BISECT_REPORT_H

#include "analyse/metric.h"
#include "base/buf.h"
#include "bisect/bisect.h"

/* A search to print. */
struct bisect_view {
	const struct bisect *bisect;
	const char *task;	/* NULL: the build */
	enum metric metric;
	/* The subject of a commit or "", safe to print; lives as long as the context. */
	const char *(*subject)(void *context, const char *id);
	void *context;
};

/* Return 0 or -ENOMEM. */
int bisect_text(struct buf *out, const struct bisect_view *t);
int bisect_json(struct buf *out, const struct bisect_view *t);

#endif
