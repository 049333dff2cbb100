/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_INSPECT_INSPECTION_H
#define BUILDBEAT_INSPECT_INSPECTION_H

#include "inspect/snapshot.h"

/*
 * The inspection of one process: all that its archive keeps. Snapshots are not all in memory;
 * archive.h reads them one at a time.
 */

#define INSPECTION_NONE UINT32_MAX

/* A file that was mapped as code, by which addresses are named on any machine. */
struct module {
	uint64_t start, end;	/* addresses of the process */
	uint64_t bias;		/* address minus the address in the file's symbol table */
	uint32_t file;		/* number in names: its path */
	char build_id[41];	/* hexadecimal, "" without one */
};

/* A function, or one that was inlined into it. */
struct frame_name {
	uint32_t function;	/* number in names: demangled, or "module!0x1234" */
	uint32_t source;	/* number in names: the source file, INSPECTION_NONE */
	uint32_t line;		/* 0: unknown */
	uint32_t inlined_in;	/* number of the frame name that it was inlined into, else
				   INSPECTION_NONE */
};

/* A code address, which several stacks have. */
struct frame {
	uint64_t address;
	uint32_t module;	/* INSPECTION_NONE: in no module */
	uint32_t name;		/* number of its innermost frame name, INSPECTION_NONE before the
				   symbols were read */
};

/* A call stack: the innermost call and what called it. */
struct stack {
	uint32_t parent;	/* number of the calling stack, INSPECTION_NONE: outermost */
	uint32_t frame;
};

enum heap_mode { HEAP_OFF, HEAP_SAMPLED, HEAP_EXACT };

struct inspection {
	struct arena *arena;
	struct name_table names;
	/* of the process */
	const char *host, *machine, *command, *program;	/* program: its name */
	int32_t pid;
	uint64_t start_ticks;	/* of the process, since the machine started */
	int64_t start_us;	/* of the inspection, since 1970 */
	int64_t start_ns;	/* of the inspection, CLOCK_MONOTONIC */
	const char *task;	/* id of its task in the recording, "" */
	const char *why;	/* what started the inspection */
	const char *end;	/* why it ended, "" while it runs or if it was killed */
	enum heap_mode heap;
	uint64_t heap_period;	/* mean bytes between samples, 0: exact */
	const char *uncounted;	/* why the heap was not counted although it should be, "" */
	size_t n_modules;
	struct module *module;	/* as they were found; those that were unloaded may overlap others */
	size_t n_frames;
	struct frame *frame;
	size_t n_stacks;
	struct stack *stack;	/* parents before their children */
	size_t n_frame_names;
	struct frame_name *frame_name;
	unsigned named_percent;	/* of the frames, that have the name of a function */
	size_t n_snapshots;
};

#endif
