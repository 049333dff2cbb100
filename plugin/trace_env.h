/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_TRACE_ENV_H
#define BUILDBEAT_PLUGIN_TRACE_ENV_H

#include "recording/store.h"

/*
 * Let the TRACEPARENT of an environment name the task with this number, which is about to start.
 * Its value, which make inherited from us, is replaced in the place where it is: make's copy for
 * this process. An environment without it, or with one of another trace, is unchanged.
 */
void trace_env_give(char *const env[], const struct store *store, uint64_t task);

#endif
