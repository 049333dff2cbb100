#ifndef BUILDBEAT_SAMPLER_H
#define BUILDBEAT_SAMPLER_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The host's and the build's figures, from /proc and /sys into the proc_*.log
 * files of one recording. One sampler a recording. Everything is allocated and
 * opened at the start; a sample opens nothing, allocates nothing and prints
 * nothing. A file of /proc that is missing or fails drops its log, not the rest.
 */
struct sampler;

struct sampler_options {
	const char *proc_root;	/* NULL: /proc */
	const char *sys_root;	/* NULL: /sys */
	int64_t interval_ms;	/* 10 to 3600000 */
	bool per_core;		/* proc_cores.log too */
	bool all_interfaces;	/* lo, veth and the like too */
	bool tasks;		/* proc_tasks.log: the process tree of every running task */
};

/*
 * dir_fd: the recording's directory (duplicated), start_ns: its CLOCK_MONOTONIC
 * start. 0, or a negative errno with err filled.
 */
int sampler_new(struct sampler **out, int dir_fd, int64_t start_ns,
		const struct sampler_options *options, struct error *err);

/* One sample now. forced: it is written even if nothing changed (start and end
 * of a build, a snapshot). */
void sampler_take(struct sampler *s, bool forced);

/* CLOCK_MONOTONIC time of the next due sample: always start + k * interval, so
 * lateness never adds up; points that have passed are skipped. */
int64_t sampler_next_ns(const struct sampler *s);

/* 0, or what stopped a log from being written first (a negative errno). */
int sampler_error(const struct sampler *s);

/* NULL is fine. */
void sampler_free(struct sampler *s);

#endif
