/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_WORDS_H
#define BUILDBEAT_REPORT_WORDS_H

#include "base/buf.h"
#include "compare/verdict.h"

/* What verdicts say in the same words wherever they are written. Names come as they are: who
 * writes them escapes. */

/* "3 builds", "1 build". */
void words_add_count(struct buf *b, size_t n, const char *one, const char *more);

/* "2 regressions confirmed, 1 known, 3 suspected". */
void words_add_verdict(struct buf *b, const struct verdict *v);

/* "40004 figures judged over 60 builds; of what is told 1 % at most is by chance". */
void words_add_judged(struct buf *b, const struct verdict *v, const struct rules *rules);

/* What is there to say of builds to come; nothing: nothing is added. */
void words_add_builds_to_come(struct buf *b, const struct verdict *v);

/* "every task took 12 % longer (wall time)". */
void words_add_host(struct buf *b, const struct verdict *v, enum metric m);

/* "tasks: 12 before, now 14". */
void words_add_exact(struct buf *b, const struct exact_change *e);

/* A task's name, or what stands for it. */
const char *words_task(const struct builds *builds, uint32_t task);

/* "2026-11-20 (1a2b3c4d)": its day, and what git calls it in short. */
void words_add_build(struct buf *b, const struct builds *builds, uint32_t build);

/* "12 s -> 15 s", of the host ratios; and " (+19 % to +27 %)", nothing where it is not known. */
void words_add_amounts(struct buf *b, const struct finding *f);
void words_add_interval(struct buf *b, const struct finding *f);

/* "since 2026-11-18 (1a2b3c4d)", and where it may be another build, which ones. */
void words_add_since(struct buf *b, const struct builds *builds, const struct finding *f);

/* "src 1a2b3c4d..5e6f7a8b (3 commits)", one after the other; nothing if none differs. */
void words_add_ranges(struct buf *b, const struct builds *builds, const struct finding *f);

#endif
