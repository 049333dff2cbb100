/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_WORDS_H
#define BUILDBEAT_ANALYSE_WORDS_H

#include "analyse/summary.h"
#include "base/buf.h"

/* The words for how tasks and builds ended, the same in every output. */

/* The states of JSON outputs: "ok", "failed", "open" ...; "done", "unfinished" ... */
const char *words_result(enum build_result result);
const char *words_state(enum task_state state);

/* "SIGKILL"; "signal 99" where it has no name. */
void words_add_signal(struct buf *b, int signal);

/* A short form for a column, from a status of metric.h: "ok", "exit 2", "SIGKILL",
 * "failed", "unfinished"; "-" for -1. At most 10 columns. */
void words_add_status(struct buf *b, int64_t status);

/* A build's result as part of a sentence: "failed with exit status 2". */
void words_add_result(struct buf *b, enum build_result result, int status);

/* The status of metric.h of a task or build; -1: unknown. */
int64_t words_task_status(const struct task *t);
int64_t words_build_status(enum build_result result, int status);

#endif
