/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_EVENT_H
#define BUILDBEAT_RECORDING_EVENT_H

#include "base/buf.h"
#include "base/cursor.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The lines of tasks.log, written. Each function appends exactly one line of
 * one kind, newline included, of at most EVENT_MAX bytes. So one O_APPEND write() of it is
 * never mixed with that of another process. The format in
 * words is buildbeat-recording(5); the reader is follow.h.
 *
 * Times are microseconds since the recording's start. Texts may be NULL (empty)
 * and hold any byte; secrets in them are replaced, see redact.h. A value that is not
 * known is -1, written as an empty field; empty fields at the end of a line are left out.
 */

#define EVENT_MAX 4096
#define TASKS_HEADER "buildbeat tasks 1\n"

/* An instance: one process that appends events. Opaque, unique in a recording,
 * made from pid and time in steps of EVENT_INSTANCE_STEP_US; neither tab nor dot in it. */
#define INSTANCE_ID_MAX 16
#define EVENT_INSTANCE_STEP_US 10

void event_instance_id(char id[INSTANCE_ID_MAX], int32_t pid, int64_t time_us);

/* Before a number of a process that is that of another PID namespace. */
#define EVENT_INNER "ns:"

/* The words that begin a line. */
enum event_kind {
	EVENT_OPEN, EVENT_CLOSE, EVENT_QUEUE, EVENT_START, EVENT_PID, EVENT_DONE,
	EVENT_FAIL, EVENT_KILL, EVENT_GONE, EVENT_AFTER, EVENT_BEGIN, EVENT_END, EVENT_NOTE,
	EVENT_NAME, EVENT_OUT, EVENT_PLACE, EVENT_USED, EVENT_GROUP,
};

struct event_open {
	int32_t pid;
	int32_t level;		/* the host's own nesting depth (MAKELEVEL), or -1 */
	const char *ancestors;	/* own pid, parent's, ... comma separated */
	const char *tool;	/* make, remake, buildbeat task, bitbake, ... */
	const char *version;	/* of the tool */
	const char *cwd;
	const char *command;	/* how the host was called */
};

struct event_task {
	int32_t pid;		/* or -1 */
	bool inner;		/* pid is that of another PID namespace than the recording's */
	int32_t slot;		/* the worker that runs it, if the host has workers, or -1 */
	const char *kind;	/* compile, link, ... if the host knows it, or NULL */
	const char *name;
	const char *key;	/* rule, recipe, multiconfig, ... */
	const char *command;
};

struct event_end {
	int32_t status;		/* wait(2) status, or -1 when unknown */
	int64_t user_us, system_us;
	int64_t max_rss_kb;	/* the largest process, not the sum */
	int64_t minor_faults, major_faults;
	int64_t in_blocks, out_blocks;	/* of 512 bytes */
	int64_t voluntary_switches, involuntary_switches;
	int64_t rchar, wchar;	/* bytes through read() and write(), where asked */
	int64_t max_rss_at_most_kb;	/* if max_rss_kb is not known, see peak.h */
	/* What its process did before the task started, which no other value contains, such as
	 * parsing a recipe; 0: nothing, or unknown. */
	int64_t setup_us, setup_user_us, setup_system_us;
	int64_t instructions;	/* in user mode, of all its processes, where asked */
	bool at_most;		/* it ended at this time at the latest */
};

struct rusage;

/* Set all values to unknown; set those of wait4(). The caller may set others afterwards. */
void event_end_init(struct event_end *e, int32_t status);
void event_end_rusage(struct event_end *e, const struct rusage *usage);

/* The values after the status, each after a tab: user time to wchar, and the upper bound of the
 * memory if it is known. */
void event_add_values(struct buf *b, const struct event_end *e);

void event_add_open(struct buf *b, int64_t t, const char *inst, const struct event_open *e);
/* "used": what the processes of an instance used that are no children of the one that records the
 * build, such as those of a server. Of e, only the values of event_end_rusage() count. */
void event_add_used(struct buf *b, int64_t t, const char *inst, const struct event_end *e);

/* The processes that the instance's process started and waited for while it was open. */
struct event_children {
	int64_t user_us, system_us;	/* of RUSAGE_CHILDREN; -1: unknown */
	int64_t reaped;			/* -1: unknown */
};

/* Their CPU time, of two values of RUSAGE_CHILDREN. */
void event_children_between(struct event_children *c, const struct rusage *before,
			    const struct rusage *now);

/* last: the instance gave its tasks all numbers from 1 to this one and wrote a line of each;
 * 0: unknown. children: NULL if they are unknown, or if some of them are no tasks. */
void event_add_close(struct buf *b, int64_t t, const char *inst, uint64_t last,
		     const struct event_children *children);

void event_add_queue(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     const struct event_task *e);
/* False if the command in the line differs from the task's: it was cut, or secrets were
 * replaced. */
bool event_add_start(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     const struct event_task *e);
/* "pid": the task's process became known after its start. Only pid and inner of e count. */
void event_add_pid(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		   const struct event_task *e);
/* "done", "fail" or "kill", by the status. */
void event_add_end(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		   const struct event_end *e);

/* The same with the given word: EVENT_DONE, EVENT_FAIL, EVENT_KILL, or EVENT_GONE for a task
 * that ended in an unknown way. status is that of the line, as the reader returns it: an exit
 * status or a signal, -1 when not known. */
void event_add_ended(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     enum event_kind kind, const struct event_end *e);

/*
 * "after": names of the tasks (targets) that this one waited for. Writes as many of the n names as
 * fit into one line and returns their number, at least one if n is not 0. The caller calls again
 * for the rest.
 */
size_t event_add_after(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		       const char *const *names, size_t n);

/* "out": the other files that the task made, in the same way. */
size_t event_add_out(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     const char *const *names, size_t n);

/*
 * "group": a target of the instance for which it runs no task, such as one without a recipe. The
 * names are the targets that tasks wait for because of it, written in the same way. The name of the
 * target is repeated in each line. A name that begins with EVENT_WAIT_PREFIX stands for what make
 * makes before the targets behind a .WAIT.
 */
#define EVENT_WAIT_PREFIX ".WAIT:"
size_t event_add_group(struct buf *b, int64_t t, const char *inst, const char *name,
		       const char *const *names, size_t n);

/*
 * "name": the name, key or kind of the task became known later and replaces the earlier one. NULL
 * or empty: unchanged. Any process may write it.
 */
void event_add_name(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		    const char *name, const char *key, const char *kind);

/*
 * "place": where the rule of a task is, and the pool that limits how many tasks run at once. The
 * first line of a task that has a value counts.
 */
struct event_place {
	const char *file;	/* NULL or empty: not known */
	int32_t line;		/* or -1 */
	const char *pool;	/* NULL or empty: none */
	int64_t depth;		/* of the pool */
};
void event_add_place(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     const struct event_place *p);

struct event_span {
	uint64_t number;	/* unique with instance and task */
	const char *name;
	int64_t parent;		/* number of the span around it, of the same task; 0: none,
				   -1: unknown */
	int32_t thread;		/* that began it, -1: unknown */
	uint32_t copy;		/* among simultaneous spans of this name, from 1; 0: unknown */
	const char *place;	/* where it was begun, or NULL */
};

/* Spans of a task, or of the instance if seq is 0. */
void event_add_span(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		    const struct event_span *e);
/* The same with a number and a name alone. */
void event_add_span_begin(struct buf *b, int64_t t, const char *inst, uint64_t seq,
			  uint64_t span, const char *name);
void event_add_span_end(struct buf *b, int64_t t, const char *inst, uint64_t seq,
			uint64_t span);
/* thread: another one than that which began it. */
void event_add_span_end_by(struct buf *b, int64_t t, const char *inst, uint64_t seq,
			   uint64_t span, int32_t thread);
/* The end of the last span of a script with this name (NULL: any), by a process whose instance
 * this is. */
void event_add_span_end_named(struct buf *b, int64_t t, const char *inst, const char *name);

/* The tool of instances that only write spans: alone, of a span around a command; and of the
 * processes that begin or end a span of the process that started them. */
#define EVENT_SPAN_TOOL "buildbeat span"
#define EVENT_SPAN_BEGIN_TOOL "buildbeat span begin"
#define EVENT_SPAN_END_TOOL "buildbeat span end"

/* Notes of an instance and of a task, about what a make with --output-sync prints; see
 * buildbeat-recording(5). */
#define EVENT_NOTE_COLLECTS "output-sync"
#define EVENT_NOTE_DIRECT "output-direct"
/* Of an instance: since then each of its processes has pipes of its own for its standard output, its
 * standard error or both. And of a task that has none. */
#define EVENT_NOTE_PIPE_OUT "output-pipe 1"
#define EVENT_NOTE_PIPE_ERR "output-pipe 2"
#define EVENT_NOTE_PIPES "output-pipe 12"
#define EVENT_NOTE_NO_PIPE "output-shared"
/* Of an instance: it runs one task at a time, as .NOTPARALLEL says. */
#define EVENT_NOTE_SERIAL "notparallel"
/* Of an instance: how many of its tasks have ended, as it counts them: "progress: 120 of 363". The newest
 * counts, and it is no note for people. */
#define EVENT_NOTE_PROGRESS "progress: "
void event_add_note(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		    const char *text);

/* Reading one line back (without its newline). */

/* Times beyond ten years are damage, but are parsed. */
#define EVENT_TIME_MAX_US 315360000000000

/* The run-queue delay of threads that lived for wall_us. -1 if it is more than so many threads can
 * wait at once: damage. A process begins to wait a little before its task is recorded. */
#define EVENT_THREADS_MAX 4096
#define EVENT_DELAY_SLACK_US 100000

static inline int64_t event_sane_delay(int64_t delay_us, int64_t wall_us)
{
	return delay_us / EVENT_THREADS_MAX > wall_us + EVENT_DELAY_SLACK_US ? -1 : delay_us;
}

struct event {
	enum event_kind kind;
	int64_t time_us;
	struct slice inst;
	uint64_t seq;		/* 0: the line is about the instance */
	struct cursor rest;	/* the fields after the id, still escaped */
};

enum event_parsed {
	EVENT_PARSED,
	EVENT_UNKNOWN,		/* well formed, but with a word of a later version */
	EVENT_DAMAGED,
};

enum event_parsed event_parse(struct slice line, struct event *e);

/* The next field; an empty slice where the line has ended. */
struct slice event_field(struct event *e);

/* The next field as a number, -1 when it is empty, absent or not a number. */
int64_t event_number(struct event *e);

/* The next field as the process of a task, -1 as above. inner: it is the number in another PID
 * namespace, which says nothing to readers. */
int32_t event_pid(struct event *e, bool *inner);

/* event_number() for the next count fields. */
void event_numbers(struct event *e, int64_t *n, size_t count);

#endif
