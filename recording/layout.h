/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_LAYOUT_H
#define BUILDBEAT_RECORDING_LAYOUT_H

/* The files of a recording and the words they share. */

#define LAYOUT_BASE "buildstats"	/* directory of recordings, below the build's cwd */
#define LAYOUT_LATEST "latest"		/* symbolic link in it to the newest */

#define LAYOUT_BUILD "build"
#define LAYOUT_TASKS "tasks.log"
#define LAYOUT_TASKS_PREFIX "tasks"	/* tasks-ID.log: one a writer, on NFS */
#define LAYOUT_PROC_TASKS "proc_tasks.log"
#define LAYOUT_OE "oe"		/* a directory: the same in OpenEmbedded's layout */
#define LAYOUT_PROCESSES "processes.log"
#define LAYOUT_RESULTS "results.log"	/* see results.h */
#define LAYOUT_TALLY "tally.log"	/* see tally_log.h */
#define LAYOUT_TALLY_PREFIX "tally"	/* tally-ID.log: one a writer, on NFS */
#define LAYOUT_TALLY_IMAGE ".mem"	/* tally-ID.mem: the memory of a host; see tally_image.h */
#define LAYOUT_ORIGINAL_NAME "original"	/* the files of another tool from which it was imported */
#define LAYOUT_ORIGINAL LAYOUT_ORIGINAL_NAME ".log"
#define LAYOUT_LOST "lost.log"		/* counts of what could not be written; see lost.h */
#define LAYOUT_ZSTD_SUFFIX ".zst"
#define LAYOUT_TICKET "buildbeat.mk"	/* what MAKEFILES names; see store.h */

#define LAYOUT_PIDSPACE "pid_namespace"	/* a key of build: see pidspace.h */
#define LAYOUT_SUSPENDED "suspended"	/* a key of build: from and until, in microseconds */
#define LAYOUT_ASLEEP "machine_suspended_us"	/* a key of build, which no time contains */
#define LAYOUT_UNACCOUNTED "unaccounted"	/* what proof.h found at the end of the build */
#define LAYOUT_COUNTED "counted"	/* what the counters of tasks count: "instructions"; "page-faults" if tried so */
#define LAYOUT_INSTRUCTIONS "instructions"	/* the count of the build */
#define LAYOUT_WARNING "warning"	/* a key of build: what reading its source gave */
#define LAYOUT_TRACEPARENT "traceparent"	/* what the build runs in; see identity.h */
#define LAYOUT_IMPORTED "imported"	/* and whose format that had */

#define LAYOUT_SET "set"		/* in a directory of several runs of one build; see analyse/runs.h */
#define LAYOUT_SET_NAME "buildbeat set "

#define LAYOUT_BUILD_HEADER "buildbeat build 1\n"

#endif
