/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_RESULTS_H
#define BUILDBEAT_RECORDING_RESULTS_H

#include "base/buf.h"
#include "recording/recording.h"

/*
 * The lines of results.log: what is found out about tasks when the build has ended. One process
 * writes the file. In words in buildbeat-recording(5).
 *
 *   buildbeat results 1
 *   files	INST.SEQ	BYTES	PATH	BYTES	PATH
 *   cache	INST.SEQ	direct
 */
#define RESULTS_HEADER "buildbeat results 1\n"

/* "direct" ..., "" for CACHE_UNKNOWN. */
extern const char *const results_cache_word[TASK_CACHES];

/* One line with as many of the n files as fit. Returns their number, at least one if n is not 0.
 * The caller calls again for the rest. */
size_t results_add_files(struct buf *b, const char *inst, uint64_t seq,
			 const struct recording_file *file, size_t n);
void results_add_cache(struct buf *b, const char *inst, uint64_t seq, enum task_cache cache);

/* For people: "hit (direct)" ..., "" for CACHE_UNKNOWN. */
const char *results_cache_title(enum task_cache cache);

#endif
