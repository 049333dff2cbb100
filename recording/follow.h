/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RECORDING_FOLLOW_H
#define BUILDBEAT_RECORDING_FOLLOW_H

#include "base/buf.h"
#include "base/cursor.h"
#include "base/index.h"
#include "base/name_table.h"
#include "recording/event.h"
#include "recording/recording.h"

/*
 * The interpreter of tasks.log (event.h): it gets one line after the other, and keeps what is known
 * of each instance and task in a struct recording. Only it knows which line counts when several say
 * different things. The reader of whole recordings and those of recordings that grow use it, so that
 * they agree.
 *
 * Hosts write lines in any order: a task may end before it starts, and get its name at any time.
 * Lines of one task can be in several files. An instance whose first line is lost or comes later is
 * made up until then.
 */

enum follow_change {
	FOLLOW_NEW,		/* a line has its number for the first time; before the others */
	FOLLOW_QUEUED,
	FOLLOW_STARTED,		/* it may have ended already */
	FOLLOW_NAMED,		/* by a line of its own, or a queue line after the start */
	FOLLOW_ENDED,		/* it may not have started yet */
};

/* The end of a span, whose task is that of its line. */
struct span_end {
	uint32_t instance, task;
	uint64_t seq;		/* the number of its task as it was written, 0: none */
	int64_t time_us;
	int64_t number;		/* -1: the end of a span by its name */
	const char *name;	/* NULL: not by its name; "": any */
	int32_t thread;		/* if it is not the one that began it; or -1 */
};

/* Who is called after a line changed something, with indices of the recording. Each function may be
 * NULL, and returns 0 or a negative errno, -EBADMSG for a damaged line. */
struct follow_to {
	int (*opened)(void *context, uint32_t instance);
	/* last: the number of its last task, -1 if that is not known */
	int (*closed)(void *context, uint32_t instance, int64_t last);
	/* It went on, because its exec() failed; before the start of its task. */
	int (*reopened)(void *context, uint32_t instance);
	/* command: escaped, of a start; otherwise empty */
	int (*changed)(void *context, uint32_t task, enum follow_change what, struct slice command);
	/* The task hosts a build tool, as became known now. Only if tasks are forgotten. */
	int (*hosts)(void *context, uint32_t task, uint32_t instance);
	/* parent: as in event.h */
	int (*span)(void *context, const struct span *s, int64_t parent);
	int (*span_end)(void *context, const struct span_end *e);
	int (*note)(void *context, const struct note *n);
	/* Any other line; task is NO_INDEX in one of the instance. */
	int (*other)(void *context, uint32_t instance, uint32_t task, struct event *e);
};

struct follow_instance;

#define FOLLOW_RECENT 64	/* a power of two */
#define FOLLOW_TEXTS 6

struct follow {
	struct recording *rec;	/* its instances, its tasks and the newest time are of this */
	const struct follow_to *to;
	void *context;
	bool no_kinds;		/* do not find kinds and programs in commands */
	bool no_values;		/* leave out the values of a task's end */
	uint64_t place;		/* of the line, for task.command */
	bool no_memory;		/* for a text */
	/* Private to follow*.c: */
	size_t task_cap;	/* of rec->task */
	struct index instances;	/* newest instance of an id */
	struct index tasks;	/* by instance and number: those not in follow_instance.task */
	struct follow_instance *instance;	/* of each of rec->instance */
	struct recent_instance {	/* those of the tasks that run now, by their key */
		uint64_t key[2];
		uint32_t instance;
	} recent[FOLLOW_RECENT], last;
	struct name_table kinds;	/* and other texts that many tasks have */
	const char *last_kind, *last_kind_text;	/* kind.h's and the one of `kinds` */
	const char *last_program;	/* of `kinds` */
	size_t last_program_len;
	char compiler[64];	/* of the last command that began with one and only compiled */
	size_t compiler_len;
	const char *compiler_kind, *compiler_program;
	struct buf scratch;
	/* Only if tasks are forgotten: */
	bool forgets;
	struct buf text[FOLLOW_TEXTS];	/* of the line */
	size_t n_free;
	uint32_t *free_task;	/* unused ones of rec->task */
	struct index pids;	/* newest running task of a process */
	size_t n_orphans;
	uint32_t *orphan;	/* open instances without a host */
};

/* rec, which the caller releases, has an arena; context is that of the functions of to. */
void follow_init(struct follow *f, struct recording *rec, const struct follow_to *to, void *context);
void follow_release(struct follow *f);

/*
 * To follow a recording that grows. rec becomes an empty recording, or -ENOMEM; follow_release()
 * releases it. The caller forgets tasks, so memory is needed for the others and four bytes for each
 * forgotten one. Tasks without a recorded name get one from their command when they start. An
 * instance has its command, version and directory only while `opened` is called. Texts of spans and
 * notes are valid as long. Hosts are known: see follow_host().
 */
int follow_growing(struct follow *f, struct recording *rec, const struct follow_to *to, void *context);

/* Interpret one line. 0, -EBADMSG if it must be left out, or another negative errno. */
int follow_line(struct follow *f, struct event *e);

/* A task that has started and ended is not needed any more: its index will be that of another one,
 * and further lines about it are left out. */
void follow_forget(struct follow *f, uint32_t task);

/* Is this index that of a task that was not forgotten? */
static inline bool follow_is_used(const struct follow *f, uint32_t task)
{
	return f->rec->task[task].seq > 0;
}

/* The task of an instance (NO_INDEX: of none) with a number; NO_INDEX: there is none, or it was
 * forgotten. */
uint32_t follow_task(const struct follow *f, uint32_t instance, uint64_t seq);

/* The task in which an instance runs: its instance, NO_INDEX if there is none, and its number. */
uint32_t follow_host(const struct follow *f, uint32_t instance, uint64_t *seq);

/* What to show as the name of a task that may have none. */
static inline const char *follow_name(const struct task *t)
{
	return *t->name || t->start_us < 0 ? t->name : t->kind;
}

/* Does it run? */
static inline bool follow_runs(const struct recording *rec, const struct task *t)
{
	return t->start_us >= 0 && t->end_us < 0 && rec->instance[t->instance].close_us < 0;
}

/* Does the writer of the instance give its tasks all numbers in order, and end with a line
 * "close"? */
bool follow_has_all_numbers(const struct instance *i);

#define FOLLOW_NUMBER_MAX 1000000000	/* a higher number of a task is damage */

/* The rest is for the reader. */

/* A new instance, the newest one of its id. 0 or -ENOMEM. */
int follow_add_instance(struct follow *f, struct slice id, int64_t time_us);

/* The same by the id of the instance. */
uint32_t follow_find_task(struct follow *f, struct slice inst, uint64_t seq);

/* A text that many tasks have, from an escaped field; and the kind that a command shows, with its
 * program. Out of memory sets f->no_memory. */
const char *follow_common(struct follow *f, struct slice field);
const char *follow_kind_of_command(struct follow *f, struct slice field, const char **program);

/* Name a task after its command, if that shows a name. */
void follow_name_by_command(struct follow *f, struct task *t, const char *command, size_t len);

/* Is it the tool of instances that only write spans? */
bool follow_is_script(const char *tool);

/* Where instances run. A host may stamp a task's start only once its process runs already. */
#define FOLLOW_SLACK_US 100000

/* Set the task around an instance if it can be that. */
void follow_set_parent(struct recording *rec, uint32_t instance, uint32_t task);

/* "=INST.SEQ": the writer knew the task, but not the processes. */
uint32_t follow_named_parent(struct follow *f, const char *ancestors);

/* The next pid of "1,2,3". */
bool follow_next_pid(struct cursor *c, int32_t *pid);

/* Private to follow*.c. */

#define FOLLOW_FORGOTTEN (NO_INDEX - 1)

/* The tasks of one instance by their number: hosts count from 1, so nearly all are in an array of at
 * most twice the number of tasks. The others are in follow.tasks. */
struct follow_instance {
	uint32_t *task;		/* NO_INDEX: none */
	size_t n;
	size_t n_tasks;
	uint64_t host_seq;	/* see follow_host() */
	uint32_t host;
	bool made_up;		/* its first line was not read yet */
	bool is_oe;		/* kinds are those of names of tasks */
};

/* The instance of a line, a new one if needed; and the task: FOLLOW_FORGOTTEN is possible. 0 or
 * -ENOMEM. */
int follow_instance_of(struct follow *f, const struct event *e, uint32_t *at);
int follow_task_of(struct follow *f, uint32_t instance, uint64_t seq, uint32_t *at);

/* Look for the hosts of instances without one, among the tasks that run. 0, or what `hosts`
 * returned. */
int follow_find_hosts(struct follow *f);
int follow_new_orphan(struct follow *f, uint32_t instance);
int follow_put_pid(struct follow *f, uint32_t task);

#endif
