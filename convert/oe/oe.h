/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_OE_OE_H
#define BUILDBEAT_CONVERT_OE_OE_H

#include "recording/recording.h"

/*
 * OpenEmbedded's buildstats, as bitbake leaves them, read into a recording: the
 * directory of one build, not changed, not converted.
 *
 *   build_stats			the build: host, start, end, what failed
 *   RECIPE/TASK			a file a task, RECIPE with version and revision
 *   reduced_proc_NAME.log		the machine, a block a sample
 *   reduced_proc_pressure/NAME.log
 *   proc_{stat,diskstats,meminfo}.log	the same unreduced, of a few old versions
 *
 * What is not exact in them, and what is made of it:
 * - Tasks have one clock, the wall's, in hundredths of a second: so have ours. One
 *   that was set during the build leaves wrong times.
 * - A file that tells of a start only is of a task that was killed, or of a
 *   setscene task that failed without a word: the latter is taken for failed when
 *   the task it stands for began, if that did; all others are unfinished.
 * - Where several multiconfigs, or runs of one task, wrote into one file, each is
 *   a task; an end belongs to the start its elapsed time leads back to.
 * - Samples have whole seconds, rounded. What was meant as a mean since the sample
 *   before is a counter here, so a late sample is a long stretch and not a gap.
 * - CPU time is told as shares of all cores, however many: proc_stat is as of a
 *   machine with one.
 * - The rates of disks are 100 times too large (they were meant for a clock of
 *   1/100 s): corrected. Their utilisation is, too, but was cut off at 1, which is
 *   at 1 % already: left out.
 * - A directory without tasks whose name is no recipe's, as one of charts, is passed
 *   over; files that are none of bitbake's in a recipe are told of.
 * - "CPU usage" in build_stats is of one process of bitbake: left out.
 *
 * What buildbeat writes in this format (convert/oe/converter.c) has a line OE_EXACT in build_stats.
 * There the rates of disks are right; a line OE_STATUS has the exit status of the build,
 * and behind the Status of a task may stand
 *	State: exited N | killed SIGNAL | gone | unfinished
 * which tells more: "gone" that it ended, and how is not known; "unfinished" that nobody
 * saw it end, what stands there as its end is when it was seen last, and its figures
 * are none. Other readers pass these lines over.
 */

#define OE_BUILD_STATS "build_stats"
#define OE_EXACT "Written by: buildbeat"
#define OE_STATUS "Exit status: "

/* The directory, for recording_read(). */
extern const struct recording_foreign oe_foreign;

#endif
