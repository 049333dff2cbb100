/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_SETTINGS_H
#define BUILDBEAT_LAUNCH_SETTINGS_H

#include "base/word_list.h"

#include <stdbool.h>
#include <stdint.h>

/* What to record, and how: the options of record and the keys of buildbeat.yaml. */
struct settings {
	const char *config;	/* the file with the remaining settings; NULL: search it */
	const char *output;	/* directory of recordings */
	int access;		/* STORE_ACCESS_ */
	struct word_list redact;	/* patterns; empty: the built-in ones */
	const char *name;	/* of the recording; NULL: the time */
	int64_t interval_ms;
	bool per_core;
	bool all_interfaces;
	bool task_io;
	bool instructions;
	bool task_memory;
	bool task_files;
	bool task_cache;
	bool processes;
	bool traceparent;
	bool log;
	int compress;		/* COMPRESS_ */
	int layout;		/* LAYOUT_IS_ */
	const char *plugin;	/* NULL: the installed one */
	const char *otlp;	/* URL of a collector; NULL: nothing is sent */
	const char *trace;	/* a file for the trace, or NULL */
	bool git;
	struct word_list source;	/* empty: the working directory */
	struct word_list inspect;	/* rules of inspect/rule.h */
	int64_t repeat;		/* runs of a set; 0: one recording that is no set */
	const char *prepare;	/* shell command before each of them, or NULL */
	const char *serve;	/* live pages while the build runs, and where, "": anywhere; or NULL */
	int64_t stay_us;	/* and so long after it; -1: the default of serving.h */
	bool summary, quiet;	/* print a summary at the end, or none; neither: on a terminal and
				   in CI */
};

enum { COMPRESS_NONE, COMPRESS_ZSTD };
enum { LAYOUT_IS_OURS, LAYOUT_IS_OE, LAYOUT_IS_BOTH };

#endif
