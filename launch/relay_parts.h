/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RELAY_PARTS_H
#define BUILDBEAT_LAUNCH_RELAY_PARTS_H

#include "launch/relay.h"
#include "recording/output_writer.h"

/* For relay*.c: the process of one relay. shared: another one writes to the log too. */
_Noreturn void relay_process(struct relay_output *o, const struct store *store, int control_fd,
			     bool shared);

enum relay_step { STEP_ON, STEP_END, STEP_BROKEN };

struct relay_worker {
	struct relay_output *o;
	struct relay_page *page;
	int64_t start_ns;	/* of the recording */
	int control_fd;		/* -1: the launcher has ended, or said what it had to */
	int signal_fd;		/* -1: the output is no terminal */
	int out_fd;
	bool ended;		/* no process has the other end of o->in_fd any more */
	bool ending;		/* the command has ended */
	uint32_t left;		/* then: more than this was not written before its end */
	int64_t from_us;	/* the input was empty then */
	int64_t busy_ns;	/* of the last read */
	struct relay_tty tty;
	unsigned since_followed;	/* reads since its size and modes were followed */
	struct output_writer writer;
	int64_t flushed_us;	/* when unfinished lines were looked at */
	int pipes_fd[2];	/* of relay_pipes_begin() */
	struct output_source own;	/* what comes from o->in_fd */
};

int64_t relay_now_us(const struct relay_worker *w);

/* Write a part of the page to the original output, then to the log. False: the output has no reader. */
bool relay_put(struct relay_worker *w, struct output_source *from, size_t begin, size_t end, int64_t from_us,
	       int64_t to_us);

/* Relay everything that o->in_fd has now, which is a pipe. */
enum relay_step relay_read_own(struct relay_worker *w);

/* The pipes of the pool, in the relay's process. The caller polls the two descriptors: the first is readable if a
 * pipe is, the second if a make has a question. They are -1 without a pool. */
void relay_pipes_begin(struct relay_worker *w, int fd[2]);
enum relay_step relay_pipes_read(struct relay_worker *w);
enum relay_step relay_pipes_answer(struct relay_worker *w);
/* Relay everything that they have now. */
enum relay_step relay_pipes_read_all(struct relay_worker *w);
/* Wait for a time, unless a make has a question. */
void relay_pipes_nap(int64_t ns);
/* Does a process have one of these pipes open? */
bool relay_pipes_in_use(void);
/* Log the unfinished lines of ended tasks, before further output of their make is logged. */
void relay_pipes_end_lines(struct relay_worker *w);
/* Log unfinished lines whose last byte is older than this. */
void relay_pipes_flush(struct relay_worker *w, int64_t before_us);

#endif
