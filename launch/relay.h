/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RELAY_H
#define BUILDBEAT_LAUNCH_RELAY_H

#include "base/error.h"
#include "launch/relay_pool.h"
#include "launch/relay_tty.h"
#include "recording/output_log.h"
#include "recording/store.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Keeps the build's output in the recording. The command writes to a pipe, or to a
 * pseudoterminal if its output is a terminal. For each of the two a process, the relay, writes
 * everything to the original output and then to the log. If standard output and standard error
 * are the same, they stay the same.
 *
 * The command stays in our session with our terminal as its controlling one, so the terminal's
 * signals, job control and the keyboard need no relay. The pseudoterminal is only what the output
 * looks like: its size and modes are those of the terminal, and modes that a program sets on
 * its output are set on the terminal. The relay takes back what the pseudoterminal
 * adds to the bytes, so the terminal and the log get what the command wrote.
 *
 * Without a reader of the original output, the relay closes the command's pipe: writers see what
 * they would have seen. The launcher holds the pipe too, so a relay that was killed does not break
 * it: another one continues. A relay whose launcher was killed goes on alone. After the build the
 * relay of a pipe that some process still holds goes on without the log.
 *
 * What is read waits in pieces for the original output and the log, in memory that the launcher shares: if a
 * relay is killed, the next one writes and logs them. It reports what it cannot know: what the killed one was
 * just reading, writing or logging, and its unfinished lines.
 *
 * Makes give their processes pipes of their own, relay_pool.h.
 */
#define RELAY_BUFFER 131072
#define RELAY_PIECES 8		/* a power of two */

/* What one read() returned. */
struct relay_piece {
	uint32_t begin, len;	/* of data: from begin to len; len is 0: nothing, or all of it is logged */
	uint32_t done;		/* written to the original output up to here */
	int64_t from_us, to_us;
	char inst[INSTANCE_ID_MAX];	/* as in struct output_source */
	uint64_t task;
	char data[RELAY_BUFFER + 1];
};

/*
 * Shared by the launcher and the successive relays of one output. The pieces are a ring: those from
 * first to next - 1 were written to the original output and wait for the log, and piece next is
 * read, written, and logged at once if it is small. The numbers only grow.
 */
struct relay_page {
	uint64_t bytes;		/* read from the command */
	uint64_t log_lost;	/* bytes that are missing in the log */
	int log_error;
	uint64_t out_lost;	/* bytes that the original output did not take */
	int out_error;
	uint32_t torn;		/* relays that were killed during a read() or write() */
	_Atomic bool reading;	/* the relay is in read() */
	_Atomic bool writing;	/* and in write() to the original output */
	_Atomic uint32_t first, next;
	_Atomic uint32_t logging;	/* pieces from first to logging - 1 are being logged */
	uint64_t held;		/* bytes of unfinished lines, which only the relay has */
	struct relay_piece piece[RELAY_PIECES];
};

struct relay_output {
	enum output_stream stream;
	int out_fd;		/* the original output: ours, 1 or 2 */
	int in_fd;		/* where the command's output is read; -1: this is not relayed */
	int command_fd;		/* the other end, for the command; -1 once it has it */
	bool terminal;
	struct relay_pool pool;	/* of pipes for the processes of makes; not of a terminal */
	struct relay_tty tty;	/* as it was opened */
	pid_t pid;		/* of the relay, 0: it has ended */
	int control_fd;		/* connected with it */
	struct relay_page *page;
};

struct relay {
	const struct store *store;
	struct relay_output output[2];
	unsigned n;		/* 0: nothing is relayed */
};

#define RELAY_KILLED (-EOWNERDEAD)	/* a log_error: a relay was killed while it logged */

struct relay_result {
	uint64_t bytes;		/* read */
	uint64_t log_lost, out_lost;	/* bytes */
	int log_error, out_error;	/* the first of each, negative errno */
	uint32_t torn;		/* killed relays whose last read() or write() may be lost or repeated */
};

/* Begin. 0, also if neither output is open, or a negative errno with err: then nothing is
 * relayed. ticket: where makes find the pool; may be empty. */
int relay_begin(struct relay *r, const struct store *store, const char *ticket, struct error *err);

/* In the new process of the command: give it the outputs. */
void relay_enter(const struct relay *r);

/* In the launcher, once the command's process exists. */
void relay_entered(struct relay *r);

/* A child has ended or sent SIGCHLD: replace a relay that was killed. */
void relay_tend(struct relay *r);

/* The command has ended: wait until everything that was written before was relayed. */
void relay_end(struct relay *r, struct relay_result *result);

/* Print a line for each loss: those of a killed relay and of the original output. */
void relay_print(const struct relay_result *result);

#endif
