/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_BAZEL_COUNTERS_H
#define BUILDBEAT_CONVERT_BAZEL_COUNTERS_H

#include "convert/builder.h"
#include "convert/json_reader.h"

/*
 * The counters of a profile, as series. "CPU usage (total)", in cores, is column user of
 * proc_stat. "Memory usage (Bazel)", "Memory usage (total)" (in MiB) and "CPU usage (Bazel)" are
 * columns memory, system_memory and cpu of proc_bazel.
 */

enum { BAZEL_CPU, BAZEL_MEMORY, BAZEL_SYSTEM_CPU, BAZEL_SYSTEM_MEMORY, BAZEL_COUNTERS };

struct bazel_sample {
	int64_t time_us, value;
};

struct bazel_counters {
	size_t n[BAZEL_COUNTERS];
	struct bazel_sample *sample[BAZEL_COUNTERS];
};

/* Add an event with "ph":"C". 0 or -ENOMEM. */
int bazel_counters_add(struct bazel_counters *c, const struct json_value *event);

/* Add the series. zero_us is the profile's time at the recording's 0. */
void bazel_counters_give(struct bazel_counters *c, struct builder *b, int64_t zero_us);
void bazel_counters_release(struct bazel_counters *c);

#endif
