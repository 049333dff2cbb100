/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RELAY_H
#define BUILDBEAT_LAUNCH_RELAY_H

#include "base/error.h"
#include "launch/relay_pool.h"
#include "launch/relay_tty.h"
#include "recording/output_log.h"
#include "recording/store.h"

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
 * Makes give their processes pipes of their own, relay_pool.h.
 */
#define RELAY_BUFFER 131072

/* Shared by the launcher and the successive relays of one output. */
struct relay_page {
	uint64_t bytes;		/* read from the command */
	uint64_t log_lost;	/* bytes that are missing in the log */
	int log_error;
	uint64_t out_lost;	/* bytes that the original output did not take */
	int out_error;
	uint32_t len, done;	/* of data: read, and written to the original output */
	char data[RELAY_BUFFER + 1];
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

struct relay_result {
	uint64_t bytes;		/* read */
	uint64_t log_lost, out_lost;	/* bytes */
	int log_error, out_error;	/* the first of each, negative errno */
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

#endif
