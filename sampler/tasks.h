/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_TASKS_H
#define BUILDBEAT_SAMPLER_TASKS_H

#include "base/buf.h"
#include "sampler/source_proc.h"

#include <stdbool.h>
#include <stdint.h>

/* proc_tasks.log: what the processes of every running task use (usage_log.h). */
struct tasks;

/* 0 or a negative errno. */
int tasks_open(struct tasks **out, const struct source_setup *setup);

/* Write a sample at t_us; scratch is overwritten. 0, or why it could not be written. */
int tasks_sample(struct tasks *t, struct buf *scratch, int64_t t_us, bool forced);

/* May be NULL. */
void tasks_free(struct tasks *t);

#endif
