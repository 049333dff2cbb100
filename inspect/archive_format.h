/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_ARCHIVE_FORMAT_H
#define BUILDBEAT_INSPECT_ARCHIVE_FORMAT_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/feed.h"
#include "inspect/inspection.h"

/*
 * The files of an archive, private to archive_*.c; buildbeat-inspection(5) describes them for
 * readers in other languages. symbols.log: symbols_log.h; progress.log: archive_progress.h.
 *
 * `archive` has `key: value` lines, of which the last of a key counts. process.log has a line a
 * look. The other three have a block for each snapshot, which counts only with its last line:
 *
 *	snapshot NUMBER ...
 *	...
 *	end NUMBER
 *
 * A block has what differs from the block before it, or everything if its first line ends in
 * "all". The lines of one kind are in the order of their keys (an address, or a stack), so writing
 * and reading are merges of two sorted lists. A block of maps.log is written after those of the
 * same snapshot in the other files: it makes the snapshot exist.
 *
 * Texts come last in a line, after a tab, and are escaped as in base/field.h. Addresses are
 * hexadecimal, other numbers decimal. VALUES are differences, as in series.h.
 */
#define ARCHIVE_META "archive"
#define ARCHIVE_META_HEADER "buildbeat inspection 1"
#define ARCHIVE_PROCESS_LOG "process.log"
#define ARCHIVE_PROCESS_HEADER "buildbeat inspection process 1"

enum archive_log { ARCHIVE_MAPS, ARCHIVE_HEAP, ARCHIVE_PAGES, ARCHIVE_LOGS };

struct archive_log_info {
	const char *name, *header;
};
extern const struct archive_log_info archive_logs[ARCHIVE_LOGS];

/* Of so many blocks of a file one has everything. */
#define ARCHIVE_ALL_EVERY 64

/* Longer texts are cut; no path or name of a function has that length. */
#define ARCHIVE_TEXT_MAX 65536

/*
 * Larger numbers are damage. The sums of what is allowed fit into 63 bits, also if sizes are
 * converted to bytes.
 */
#define ARCHIVE_TIME_MAX (INT64_C(1) << 53)		/* microseconds: 285 years */
#define ARCHIVE_VALUE_MAX (UINT64_C(1) << 62)		/* and of sums of sites */
#define ARCHIVE_KB_MAX (UINT64_C(1) << 52)		/* and of sums of mappings */

/* The words in the first line of a block of maps.log. */
#define ARCHIVE_WORD_ALL "all"
#define ARCHIVE_WORD_FROZEN "frozen"
#define ARCHIVE_WORD_ENDED "ended"
#define ARCHIVE_WORD_HEAP "heap"
#define ARCHIVE_WORD_PAGES "pages"

/* What a site is found by. */
static inline uint64_t archive_site_key(const struct site *s)
{
	return (uint64_t)s->stack << 1 | s->mapped;
}

#define ARCHIVE_SITE_VALUES 8
void archive_site_values(int64_t values[ARCHIVE_SITE_VALUES], const struct site *s);

/* What was written of the inspection; numbers from there on are new. */
struct archive_written {
	size_t modules, frames, stacks;
};

/* Append a block: what differs between two snapshots (before NULL: everything). */
void archive_encode_maps(struct buf *b, size_t number, const struct inspection *x,
			 const struct snapshot *before, const struct snapshot *s);
void archive_encode_heap(struct buf *b, size_t number, const struct inspection *x,
			 const struct archive_written *written, const struct snapshot *before,
			 const struct snapshot *s);
void archive_encode_pages(struct buf *b, size_t number, const struct snapshot *before,
			  const struct snapshot *s);

/* A line of process.log without its newline; the values in the first line of a snapshot. */
void archive_encode_values(struct buf *b, const struct process_values *v);
bool archive_decode_values(struct cursor *c, struct process_values *v);

/* What both sides demand of a block and of what is new in an inspection. */
bool archive_valid_block(enum archive_log log, const struct inspection *x,
			 const struct snapshot *s);
bool archive_valid_stacks(const struct inspection *x, const struct archive_written *from);
bool archive_valid_values(const struct process_values *v);

/*
 * Read the next block: s, which is the snapshot of the block before it as far as this log has
 * it, becomes that of this block. Modules, frames and stacks are added to x.
 * 1, 0: the file ended, within the block or before it, -EINVAL: the block is damaged, or another
 * negative errno. Unless it is 1, s is not a snapshot any more.
 */
struct archive_decoder {
	struct feed *feed;
	struct inspection *x;
	bool known;		/* x has its modules, frames and stacks already */
	size_t number;		/* of the snapshot */
	bool all;		/* the block has everything */
	bool begun;		/* the file ended within a block */
};
int archive_decode(struct archive_decoder *d, enum archive_log log, struct snapshot *s);

#endif
