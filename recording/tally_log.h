/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_TALLY_LOG_H
#define BUILDBEAT_RECORDING_TALLY_LOG_H

#include "base/buf.h"
#include "recording/tally_image.h"

/*
 * The lines of tally.log, written. Fields are separated by tabs, and empty ones at the end of a
 * line are left out. In words in buildbeat-recording(5).
 *
 * The first lines name the host and what it has.
 *
 *   buildbeat tally 1
 *   at	120340	4ds82k	0
 *   host	4711	41	78125	wall	ns	cpu	ns
 *   location	1	12	parse	src/parse.c
 *   thread	1	WorkerThread-1
 *
 * Then there are lines of these kinds.
 *
 *   row	1	1	1	200	0	84211	80000	4096	401	0	0	0	0	0	9:120,,80
 *   link	1	2
 *   phase	compile
 *   reset
 *   close
 *
 * "at" has a time in us since the recording's start, an instance, and its number of lost runs. The
 * lines up to the next "at" belong to them. Numbers of locations and threads are those of the
 * instance. A row has the values since the last "reset"; its maxima are those since the last
 * "phase". The line of a host ends with the word "memory" if there is no tally-ID.mem with what
 * will be tallied after the last line.
 */

#define TALLY_HEADER "buildbeat tally 1\n"
#define TALLY_LOG_LINE_MAX 6144
#define TALLY_LOG_MEMORY "memory"

void tally_log_at(struct buf *b, int64_t time_us, const char *inst, uint64_t n_lost);
void tally_log_host(struct buf *b, const struct tally_head *head, int fd, uint64_t inode,
		    bool is_kept);
void tally_log_location(struct buf *b, const struct tally_place *place, const char *texts);
void tally_log_thread(struct buf *b, uint32_t number, const char *name);
/* shift: of the histogram of run times */
void tally_log_row(struct buf *b, const struct tally_level *l, unsigned shift);
void tally_log_link(struct buf *b, uint32_t parent, uint32_t child);
void tally_log_phase(struct buf *b, const char *name);
void tally_log_reset(struct buf *b);
void tally_log_close(struct buf *b);

#endif
