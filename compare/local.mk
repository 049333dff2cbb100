# SPDX-License-Identifier: MIT
# compare: differences beyond the noise between two builds, or in a year of builds
noinst_LIBRARIES += compare/libcompare.a
compare_libcompare_a_SOURCES = \
	compare/episodes.c compare/episodes.h compare/diff.c compare/diff.h compare/diff_facts.c compare/diff_parts.h compare/diff_match.c compare/diff_unlike.c \
	compare/history.c compare/history.h compare/history_findings.c compare/history_group.c compare/history_group.h \
	compare/history_scan.c compare/history_scan.h compare/everywhere.c compare/everywhere.h compare/verdict_cause.c compare/verdict_cause.h compare/fixed_by.c compare/fixed_by.h compare/known.c compare/known.h compare/limits.c \
	compare/limits.h compare/lines.c compare/lines.h compare/builds.c compare/builds.h compare/builds_memory.c compare/builds_memory.h compare/parallel.c compare/parallel.h \
	compare/power.c compare/power.h compare/repeated_builds.c compare/repeated_builds.h compare/renames.c compare/renames.h compare/replay.c compare/replay.h compare/replay_host.c \
	compare/replay_response.c compare/replay_row.c compare/replay_moved.c compare/replay_shared.c compare/replay_sets.c compare/replay_state.c compare/replay_step.c compare/replay_report.c compare/replay_test.c compare/rules.c compare/rules.h compare/shared.c compare/shared.h compare/verdict.c \
	compare/verdict.h compare/verdict_group.c compare/verdict_group.h
compare_libcompare_a_SOURCES += \
	compare/follow_renames.c compare/follow_renames.h compare/population.c compare/population.h \
	compare/pairs.c compare/pairs.h compare/presence.c compare/presence.h
compare_libcompare_a_SOURCES += \
	compare/against_more.c compare/against_more.h compare/against_target.c compare/against_target.h compare/merge.c compare/merge.h \
	compare/repeats.c compare/repeats.h
compare_libcompare_a_SOURCES += \
	compare/remaining.c compare/remaining.h compare/remaining_list.c compare/remaining_parts.h \
	compare/remaining_view.c
