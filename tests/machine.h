/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_MACHINE_H
#define BUILDBEAT_TESTS_MACHINE_H

#include "recording/recording.h"
#include "recording/store.h"
#include "sampler/sampler.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A simulated machine: /proc and /sys unpacked from a listing in tests/data, sampled into a
 * recording of its own. Failures fail the test. A listing has its files one after another,
 * each below a line "==> path"; a path that ends in a slash is a directory.
 */
struct machine {
	char dir[128];		/* with proc/ and sys/ in it */
	struct store store;
	struct sampler *sampler;
	struct recording rec;
};

/* listing: a file of tests/data, or NULL: an empty machine. */
void machine_init(struct machine *m, const char *listing);
void machine_release(struct machine *m);

/* (Over)write one of its files in place. */
void machine_set(const struct machine *m, const char *path, const char *text);

/* Begin to sample; sets the roots in options. */
void machine_start(struct machine *m, struct sampler_options options);

/* The same with the real /proc and /sys, in place of those of machine_init(). */
void machine_start_here(struct machine *m);

/* A task starts; one of the recording that was read. */
void machine_add_start(struct machine *m, const char *inst, uint64_t seq, pid_t pid);
const struct task *machine_task(const struct machine *m, const char *inst, uint64_t seq);

/* A forced sample. */
void machine_sample(struct machine *m);

/* End sampling and read the recording. */
void machine_read(struct machine *m);

/* Last level of a column of the recording; fails if it is missing. */
int64_t machine_level(const struct machine *m, const char *log, const char *column);
bool machine_has(const struct machine *m, const char *log, const char *column);
/* Both for columns between blanks: "user=5", a value; "steal", which is there; "!idle", which is not. */
void machine_is(const struct machine *m, const char *log, const char *columns);

#endif
