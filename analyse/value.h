/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_VALUE_H
#define BUILDBEAT_ANALYSE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cost;
struct task;

enum unit {
	UNIT_US,
	UNIT_KB,
	UNIT_BYTES,
	UNIT_COUNT,
	UNIT_STATUS,
};

/*
 * The values of a task, of a target and of a group of tasks. Sort keys, columns and keys of all
 * outputs are rows of this table: a further value is a further row.
 *
 *	.title	column of a table
 *	.name	in sentences
 *	.list	title of a list that is sorted by it
 *	.key	in JSON
 *	.of	the value, -1: not known
 *	.counts	instead: as wait4() counted it for a task and the tasks of a make inside it
 *	.joined	that of several tasks; by default the sum
 *	.stays	columns with a smaller number are dropped earlier from a narrow table; 0: only tables
 *		that are sorted by the value have the column
 *	.quiet	a table has no column if all values are 0
 *	.sampled	it can be a lower bound, and which bit of cost_bounds() says so
 *	.needs	it is known only if the build was recorded so
 */
enum value_sampled { VALUE_NOT_SAMPLED, VALUE_LAST_SAMPLE, VALUE_SEEN_DELAY };
#define VALUE_TIMES(_) \
	_(VALUE_START, "start", .title = "start", .name = "start", .list = "In order of start", \
	  .key = "start_us", .unit = UNIT_US, .of = start_of, .joined = VALUE_FIRST) \
	_(VALUE_WALL, "wall", .title = "wall", .name = "wall time", .list = "Slowest", \
	  .key = "wall_us", .unit = UNIT_US, .of = wall_of, .stays = 5) \
	_(VALUE_QUEUE, "queue", .title = "waited", .name = "time in the queue", .list = "Waited longest", \
	  .key = "queue_us", .unit = UNIT_US, .of = queue_of)
#define VALUE_COSTS(_) \
	_(VALUE_CPU, "cpu", .title = "CPU", .name = "CPU time", .list = "Most CPU", \
	  .key = "cpu_us", .unit = UNIT_US, .of = cpu_of, .stays = 3, .sampled = VALUE_LAST_SAMPLE) \
	_(VALUE_DELAY, "delay", .title = "delay", .name = "run-queue delay", .list = "Longest run-queue delay", \
	  .key = "delay_us", .unit = UNIT_US, .of = delay_of, .sampled = VALUE_SEEN_DELAY) \
	_(VALUE_MEMORY, "memory", .title = "memory", .name = "memory", .list = "Most memory", \
	  .key = "memory_kb", .unit = UNIT_KB, .of = memory_of, .joined = VALUE_LARGEST, .stays = 4) \
	_(VALUE_IO, "io", .title = "disk", .name = "bytes read and written", .list = "Most disk I/O", \
	  .key = "io_bytes", .unit = UNIT_BYTES, .of = io_of, .stays = 2, .quiet = true, .sampled = VALUE_LAST_SAMPLE) \
	_(VALUE_READ, "read", .title = "read", .name = "bytes read", .list = "Most bytes read", \
	  .key = "disk_read_bytes", .unit = UNIT_BYTES, .of = read_of, .sampled = VALUE_LAST_SAMPLE) \
	_(VALUE_WRITTEN, "written", .title = "written", .name = "bytes written", .list = "Most bytes written", \
	  .key = "disk_written_bytes", .unit = UNIT_BYTES, .of = written_of, .sampled = VALUE_LAST_SAMPLE) \
	_(VALUE_FILES, "files", .title = "files", .name = "size of files", .list = "Largest files", \
	  .key = "files_bytes", .unit = UNIT_BYTES, .of = files_of, .stays = 1, .quiet = true, \
	  .needs = "record --task-files")
#define VALUE_COUNTS(_) \
	_(VALUE_FAULTS, "faults", .title = "faults", .name = "page faults", .list = "Most page faults", \
	  .key = "page_faults", .unit = UNIT_COUNT, .counts = faults_of, .sampled = VALUE_LAST_SAMPLE) \
	_(VALUE_SWITCHES, "switches", .title = "forced", .name = "forced context switches", \
	  .list = "Most forced context switches", .key = "forced_switches", .unit = UNIT_COUNT, \
	  .counts = switches_of, .sampled = VALUE_LAST_SAMPLE) \
	_(VALUE_INSTRUCTIONS, "instructions", .title = "instr.", .name = "user instructions", \
	  .list = "Most user instructions", .key = "instructions", .unit = UNIT_COUNT, \
	  .counts = instructions_of, .stays = 1, .quiet = true, .needs = "record --instructions")
#define VALUE_ROWS(_) VALUE_TIMES(_) VALUE_COSTS(_) VALUE_COUNTS(_)

#define VALUE_ID(id, ...) id,
enum value { VALUE_ROWS(VALUE_ID) VALUES, VALUE_NAME = VALUES, VALUE_SORTS, VALUE_COUNTED = VALUE_FAULTS };
#undef VALUE_ID
#define VALUES_COUNTED (VALUES - VALUE_COUNTED)

/* "start, wall, ", for the help of options. */
#define VALUE_WORD_TEXT(id, word, ...) word ", "
#define VALUE_WORDS VALUE_ROWS(VALUE_WORD_TEXT)

enum value_joined { VALUE_SUM, VALUE_LARGEST, VALUE_FIRST };

struct value_info {
	const char *word, *title, *name, *list, *key, *needs;
	enum unit unit;
	enum value_joined joined;
	int64_t (*of)(const struct cost *c);
	int64_t (*counts)(const struct task *t);
	uint8_t stays, sampled;
	bool quiet;
};

/* Of each value and of VALUE_NAME, the name of a task, which has only words. */
extern const struct value_info value_info[VALUE_SORTS];

/* The words of value_info; ends with NULL. */
extern const char *const value_word[VALUE_SORTS + 1];

/* In the unit of the value; -1: not known. */
int64_t value_get(enum value v, const struct cost *c);

/* What people see may be a bound: the number to show. */
enum value_bound { VALUE_EXACT, VALUE_AT_MOST, VALUE_AT_LEAST };
enum value_bound value_shown(int64_t *n, enum value v, const struct cost *c);

/* Is n a lower bound, if it is from a cost with these cost_bounds()? */
bool value_is_at_least(enum value v, int64_t n, unsigned bounds);

/* "1.2 s", "412 MiB", "17"; "-" if it is not known. */
void value_add(struct buf *b, enum value v, int64_t n);

/* Negative: a comes before b in a list: the largest value first, the earliest start first, unknown values last.
 * An upper bound does not count. VALUE_NAME: 0. */
int value_order(enum value v, const struct cost *a, const struct cost *b);

/* The columns of a table. */
struct value_columns {
	unsigned n;
	uint8_t column[VALUES];	/* enum value */
};

/* Those of a table of these tasks, sorted by `key`. */
void value_columns(struct value_columns *c, enum value key, const struct cost *total);

/* Which column a narrow table drops first: that with the largest number, which is not 0. */
uint8_t value_drop(enum value v);

#endif
