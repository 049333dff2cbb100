/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECTED_FIND_H
#define BUILDBEAT_REPORT_INSPECTED_FIND_H

#include "analyse/inspected.h"
#include "base/error.h"
#include "inspect/archive_list.h"

/* The inspected processes of a recording, from the archives in it. */
struct inspected_found {
	struct inspected inspected;
	struct inspect_list list;	/* private: owns the texts */
};

#define INSPECTED_INIT { .list = INSPECT_LIST_INIT }

/* Without archives it costs one system call. 0 or a negative errno with err; always release. */
int inspected_find(struct inspected_found *x, const struct recording *rec, struct error *err);
void inspected_release(struct inspected_found *x);

#endif
