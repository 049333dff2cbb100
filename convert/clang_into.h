/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CLANG_INTO_H
#define BUILDBEAT_CONVERT_CLANG_INTO_H

#include "recording/recording.h"

/*
 * The phases of compilations as spans of the tasks that were those: the task whose
 * name, or one of whose further outputs, is the trace's but for what is behind the
 * last dot, in the same directory; if none is, one that ran in the same time and
 * whose directory ends most alike. The time must fit where both are known. Appended to
 * tasks.log; a task that has such spans already gets no more. As converter.read_into.
 */
int clang_read_into(const struct recording *rec, const char *dir, const char *const *path,
		    size_t n, struct error *err);

#endif
