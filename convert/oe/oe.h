/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_OE_OE_H
#define BUILDBEAT_CONVERT_OE_OE_H

#include "recording/recording.h"

/*
 * Reads OpenEmbedded's buildstats, the directory that BitBake writes for one build:
 *
 *   build_stats			the build: host, start, end, failed tasks.
 *   RECIPE/TASK			one file for each task; RECIPE has version and revision.
 *   reduced_proc_NAME.log		samples of the machine, one block each.
 *   reduced_proc_pressure/NAME.log
 *   monitor_disk.log			the space used on volumes, if BB_DISKMON_DIRS names some.
 *   proc_{stat,diskstats,meminfo}.log	the same as copies of /proc, by a few old versions.
 *
 * The files are not exact:
 * - Times are of the wall clock, in hundredths of a second. If the clock was set during the build,
 *   times are wrong.
 * - A file with only a start is of a task that was killed, or of a setscene task that failed
 *   without an end. A setscene task counts as failed if a later task of its recipe, itself no
 *   setscene task, began: that is a bound of its end. All others are unfinished.
 * - Several multiconfigs, or several runs of one task, may write to one file. Each becomes a task.
 *   An end belongs to the start that is its elapsed time earlier.
 * - Samples have whole seconds, rounded. A mean since the sample before becomes a counter: a late
 *   sample is a long interval, not a gap.
 * - CPU time is a share of all cores, whose number is not known: proc_stat is that of a machine
 *   with one core.
 * - Disk rates are 100 times too large, because they assume a clock of 1/100 s. They are corrected.
 *   The utilisation has the same fault, but was limited to 1, which it reaches at 1 %: left out.
 * - A directory without tasks whose name is not that of a recipe, such as one with charts, is
 *   ignored. Files in a recipe that are not BitBake's cause a warning.
 * - "CPU usage" in build_stats is of one process of BitBake: left out.
 *
 * An import keeps the files themselves too (original.c), for what a recording has no place.
 *
 * In a directory that we wrote, build_stats has a line OE_EXACT: its disk rates are right. It may
 * have a line OE_EXIT_STATUS with the exit status of the build. After the Status of a task may come
 *	State: exited N[, at most] | killed SIGNAL[, at most] | failed, at most | gone | unfinished
 *	Setup: SECONDS
 * "gone": the task ended, but its status is not known. "unfinished": nobody saw its end; the end in
 * the file is the time when it was last seen, and its values mean nothing. "at most": it ended at
 * this time at the latest. Setup: from the fork of its process to the start of the task; "rusage"
 * is the CPU time of that, and "Child rusage" of the task. Other readers ignore these lines.
 */

#define OE_BUILD_STATS "build_stats"
#define OE_EXACT "Written by: buildbeat"
#define OE_AT_MOST ", at most"
#define OE_EXIT_STATUS "Exit status: "

/* For recording_read(). */
extern const struct recording_foreign oe_foreign;

#endif
