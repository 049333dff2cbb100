/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_IMAGE_H
#define BUILDBEAT_HEAP_IMAGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The image: a file that an inspected process shares with whoever reads it, and which survives
 * the process however that ends. It has what the process allocated, by call stack.
 *
 * The file is a head of HEAP_IMAGE_HEAD bytes, and chunks of HEAP_IMAGE_CHUNK bytes. Each chunk
 * is part of one table; head.chunk[] has which. The chunks of a table, in the order of the file,
 * are the table. Modules and stacks are only ever appended: they are complete before their
 * number in the head grows. The values of sites and of ranges change: their sequence is odd while
 * they do. Numbers are those of the machine. The blocks of a chunk are allocated before it is
 * written to, because on a full disk that would otherwise end the process.
 *
 * A reader reads the head first, then the chunks. The file is not trusted: it may be of any size
 * and have any content.
 *
 * Its name is PID-START.N.heap: the process, its start in ticks since the machine started, and a
 * number from 0, which grows with each program that the process executes.
 */
#define HEAP_IMAGE_MAGIC "bbheap1\n"
#define HEAP_IMAGE_CHUNK ((size_t)128 << 10)
#define HEAP_IMAGE_CHUNKS 8192
#define HEAP_IMAGE_HEAD ((size_t)16 << 10)
#define HEAP_IMAGE_NAME_MAX 64
#define HEAP_IMAGE_NAME "%d-%llu.%u.heap"	/* int, unsigned long long, unsigned */

enum heap_table {
	HEAP_TABLE_NONE, HEAP_TABLE_MODULES, HEAP_TABLE_STACKS, HEAP_TABLE_SITES, HEAP_TABLE_RANGES,
	HEAP_TABLES
};

enum heap_flag {
	HEAP_ENDED = 1,		/* the process reached its end: it did not die from a signal */
	HEAP_FORKED = 2,	/* the process has the memory of another one, which is not in here:
				   only what it allocated since the fork */
	HEAP_OTHER_MALLOC = 4,	/* the program has its own malloc(): only mappings are counted */
};

/* What is counted of events has this unit: an estimate is not a whole number. */
#define HEAP_UNIT 1024

#define HEAP_NONE UINT32_MAX

/* What is unmapped after so many generations is not told apart any more. */
#define HEAP_MODULES_MAX 65536
#define HEAP_GENERATIONS_MAX 65535

struct heap_head {
	char magic[8];
	uint32_t flags;		/* enum heap_flag */
	int32_t pid, parent;
	int32_t error;		/* errno that prevented growth, 0: none. Afterwards, what has no
				   site yet is counted in site 0 */
	uint64_t start_ticks;	/* of the process, since the machine started */
	int64_t start_ns, end_ns;	/* of the image, CLOCK_MONOTONIC; 0: not ended */
	uint64_t period;	/* mean bytes between samples, 0: every allocation */
	uint32_t n_modules, n_stacks, n_sites, n_ranges;
	uint32_t generation;	/* grows when code was unmapped */
	uint32_t unused;
	uint64_t epoch;		/* grows with each new peak */
	uint64_t live_bytes;	/* estimate: all sites */
	uint64_t peak_bytes;	/* the largest live_bytes */
	uint64_t events;	/* allocations that were recorded */
	uint64_t lost;		/* events that could not be recorded */
	char program[256];	/* its file name */
	char reserved[3704];
	uint8_t chunk[HEAP_IMAGE_CHUNKS];	/* enum heap_table */
};

/* A file that is mapped as code, and was during some generations. */
struct heap_module {
	uint64_t start, end;	/* addresses of the process */
	uint64_t bias;		/* address minus the address in the file's symbol table */
	uint32_t born;		/* the first generation that has it */
	uint32_t died;		/* the first one that has not, HEAP_NONE: it is there still */
	uint8_t build_id_len;
	uint8_t build_id[20];
	char path[971];		/* NUL-terminated, "" if it is too long */
};

/* A call, and what called it: numbers of stacks are those of their innermost call. */
struct heap_stack {
	uint64_t address;	/* of the call; its upper 16 bits: the generation's lower 16 */
	uint32_t parent;	/* number of the calling stack, less than its own; HEAP_NONE */
	uint32_t site;		/* its first site, HEAP_NONE. Only the process uses it */
};
#define HEAP_ADDRESS_BITS 48

/*
 * The allocations of one stack by malloc() and its family, or by mmap().
 * allocations, frees and temporary are in 1/HEAP_UNIT.
 */
struct heap_site {
	uint32_t sequence;
	uint32_t stack;		/* HEAP_NONE: unknown */
	uint32_t mapped;	/* 1: by mmap() */
	uint32_t next;		/* another site of the stack, HEAP_NONE. Only the process uses it */
	uint64_t epoch;		/* of the last change */
	uint64_t at_peak;	/* live_bytes before the first change in that epoch. Without a
				   change since the peak, live_bytes are those at the peak */
	uint64_t allocations, frees;
	uint64_t allocated;	/* bytes */
	uint64_t live_bytes;
	uint64_t temporary;	/* freed before the thread allocated again */
	uint64_t variance;	/* of live_bytes, in KiB squared */
};

/* A part of an anonymous mapping that belongs to a site. In no order. */
struct heap_range {
	uint32_t sequence;
	uint32_t site;
	uint64_t start, end;	/* end 0: none; then start is only for the process: the number of
				   the next such range plus 1 */
};

/* Items of a table in one chunk. */
#define HEAP_MODULES_PER_CHUNK (HEAP_IMAGE_CHUNK / sizeof(struct heap_module))
#define HEAP_STACKS_PER_CHUNK (HEAP_IMAGE_CHUNK / sizeof(struct heap_stack))
#define HEAP_SITES_PER_CHUNK (HEAP_IMAGE_CHUNK / sizeof(struct heap_site))
#define HEAP_RANGES_PER_CHUNK (HEAP_IMAGE_CHUNK / sizeof(struct heap_range))

#endif
