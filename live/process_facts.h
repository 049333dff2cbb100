/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_PROCESS_FACTS_H
#define BUILDBEAT_LIVE_PROCESS_FACTS_H

#include "base/json.h"
#include "sampler/parse.h"

#include <stdint.h>

/*
 * What /proc says of one process, as members of a JSON object: status, limits, environment and
 * command line without their secrets, directory, open files and threads. What cannot be read is
 * null, and "denied" says why.
 *
 * dir_fd is /proc/PID, opened once: another process with the same number is not read. Lists are
 * bounded by PROCESS_FACTS_MAX; a list that was longer is followed by its length.
 */
#define PROCESS_FACTS_MAX 1024

void process_facts_json(struct json *j, int dir_fd);

/* Open the directory of a process that started at start_ticks: a descriptor, or a negative errno:
 * -ESRCH if it has ended. */
int process_facts_open(int32_t pid, uint64_t start_ticks);

/* Read and parse a file `stat` of a process or thread. False: it has ended. */
bool process_facts_stat(int dir_fd, const char *path, struct pid_stat *stat);

#endif
