/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_WORDS_CHANGE_H
#define BUILDBEAT_REPORT_WORDS_CHANGE_H

#include "base/buf.h"
#include "compare/verdict_group.h"

/* The words of all reports about verdicts. Names are not escaped: the caller does that. */

/* By enum verdict_state: "confirmed", "known", "suspect". */
extern const char *const words_finding_state[];

/* Reports list findings in these sections, in this order. */
#define WORDS_SECTIONS 6

struct words_section {
	enum verdict_state state;
	bool worse;
	const char *title;
};

extern const struct words_section words_sections[WORDS_SECTIONS];

/* "3 builds", "1 build". */
void words_add_count(struct buf *b, size_t n, const char *one, const char *more);

/* "the build failed (exit 2)", of a status of metric.h; -1: unknown. */
void words_add_end(struct buf *b, int64_t status);

/* "2 regressions confirmed, 1 known, 3 suspected"; "not judged: the build failed (exit 2)". With the
 * number of causes, if some have several findings: "1 regression confirmed (4 changes)". */
void words_add_verdict(struct buf *b, const struct verdict *v, size_t n_causes);

/* "40004 series checked over 60 builds; at most 1 % of the reported changes are expected to be
 * false alarms". */
void words_add_judged(struct buf *b, const struct verdict *v, const struct rules *rules);

/* After how many more builds the verdict can change; adds nothing if it cannot. */
void words_add_builds_to_come(struct buf *b, const struct verdict *v);

/* Whether the newest build is unusual and no finding is about that; and "all tasks: wall time
 * +12 % in the newest build, ...". */
bool words_host_event(const struct verdict *v, enum metric m);
void words_add_host(struct buf *b, const struct verdict *v, enum metric m);

/* "Not recorded: ..." of the newest build, or nothing. */
void words_add_unaccounted(struct buf *b, const struct builds *builds);
/* What the newest build failed of. */
void words_add_error(struct buf *b, const struct builds *builds);

/* "tasks: 12 -> 14". */
void words_add_exact(struct buf *b, const struct exact_change *e);

/* The build that the findings are about if the newest one failed; and the words for that. */
bool words_last_good(const struct builds *builds, const struct verdict *v, uint32_t *build);
void words_add_before_failure(struct buf *b, const struct builds *builds, uint32_t build);

/* A task's name, "all tasks" or "the build". */
const char *words_task(const struct builds *builds, uint32_t task);

/* Whether a finding of tasks that changed together is about a part of those that its name means. */
bool words_is_part(const struct builds *builds, const struct verdict_finding *f);

/* "68 of 300 tasks", "70 tasks of *.o": of those, so many changed. */
void words_add_shared(struct buf *b, const struct builds *builds, const struct shared_group *group,
		      uint32_t tasks, uint32_t of);
/* As words_task() of a finding; "all 300 tasks" or "225 of 300 tasks" where their number is known. */
void words_add_subject(struct buf *b, const struct builds *builds, const struct verdict_finding *f);

/* A group of findings: "recipe zlib", which later verdicts can repeat; "recipe zlib: 29 tasks";
 * and "+3m 10s in all", of memory "up to +80 MiB". Of one finding as above and below. */
void words_add_group_name(struct buf *b, const struct builds *builds,
			  const struct verdict_group *g);
void words_add_group(struct buf *b, const struct builds *builds, const struct verdict_group *g);
void words_add_group_amounts(struct buf *b, const struct verdict_group *g);

/* Why all tasks changed, if that fails the check, otherwise NULL. */
const char *words_shared(const struct verdict_finding *f);

/* "known: bug in the parser", "invalid: the disk was full"; who handles it, "owner Ann, https://..., to
 * be fixed by 1a2b3c4d", nothing if nobody said so; both, or "not fixed by 1a2b3c4d: ...". */
void words_add_known(struct buf *b, const struct known *known);
void words_add_handling(struct buf *b, const struct known *known);
void words_add_overdue(struct buf *b, const struct known *known);

/* ", newest 14.1 s": the value beside the level of a confirmed change. */
void words_add_newest(struct buf *b, const struct verdict_finding *f);

/* "the newest build is back at 1m 18s"; of all tasks without the value. */
void words_add_back(struct buf *b, const struct verdict_finding *f);

/* "also in farm2/main/x86_64 (+12 %)"; without the effects of a group: what another series has. Nothing
 * if no other has it. */
void words_add_also(struct buf *b, const struct verdict_finding *f, bool effects);

/* That reason, a change of the machine, why a change is known, and who handles it: "; ..." each. */
void words_add_notes(struct buf *b, const struct verdict_finding *f);

/* "2026-11-20". */
void words_add_day(struct buf *b, const struct builds *builds, uint32_t build);

/* "2026-11-20 (1a2b3c4d)", "2026-11-20 (1a2b3c4d, 3 recordings)": its day and the first digits of
 * its id. */
void words_add_build(struct buf *b, const struct builds *builds, uint32_t build);

/* "12 s -> 15 s", ratios for the host; and " (+19 % to +27 %)", nothing if unknown. */
void words_add_amounts(struct buf *b, const struct verdict_finding *f);
void words_add_interval(struct buf *b, const struct verdict_finding *f);

/* "since 2026-11-18 (1a2b3c4d), possibly 2026-11-17 to 2026-11-19"; of a slow change "slowly,
 * between ... and ...". */
void words_add_since(struct buf *b, const struct builds *builds, const struct verdict_finding *f);

/* "src 1a2b3c4d..5e6f7a8b (3 commits), ..."; nothing if no revision differs. */
void words_add_ranges(struct buf *b, const struct builds *builds, const struct verdict_finding *f);

#endif
