/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_TESTS_RECORDED_H
#define BUILDBEAT_TESTS_RECORDED_H

#include "analyse/summary.h"
#include "base/buf.h"

#include <stdarg.h>

/* A recording for a test, and its summary. Fails the running test. */
struct recorded {
	struct recording rec;
	struct summary sum;
};

/* From the text of its files, tasks and usage without their first lines; NULL: no such file. */
void recorded_make(struct recorded *r, const char *build, const char *tasks, const char *usage);

/* The recording alone, as recording_read() reads it. Fails the test with its error. */
void recorded_open(struct recording *rec, const char *path, const struct recording_formats *formats);

/* From a directory. */
void recorded_read(struct recorded *r, const char *path);

/* The directory of a recording of tests/corpus/recording, whose files are one text there, each after
 * a line "== NAME". */
const char *recorded_unpack(const char *corpus);

/*
 * Of n random tasks in a few instances, some nested, by a seed: of all lengths and states,
 * overlapping, many at one moment, some with a slot, a key, a target they waited for, or an
 * end before their start.
 */
void recorded_random(struct recorded *r, unsigned n, uint64_t seed);

void recorded_release(struct recorded *r);

/* All that was read, a line each, with times of events from zero_us on; "-": unknown. */
void recorded_dump(struct buf *b, const struct recording *rec, int64_t zero_us);

/* Two such texts are equal; which is part of the message. */
void recorded_same(struct buf *a, struct buf *b, int64_t which);

/* The word of its state: "done". */
const char *recorded_state(const struct task *t);

/* The last started task of a name. */
uint32_t recorded_task(const struct recorded *r, const char *name);

/* splitmix64 below n. */
uint64_t random_below(uint64_t *state, uint64_t n);

#endif
