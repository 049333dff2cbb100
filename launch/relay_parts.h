/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_RELAY_PARTS_H
#define BUILDBEAT_LAUNCH_RELAY_PARTS_H

#include "launch/relay.h"
#include "recording/output_writer.h"

/*
 * Large pieces are worth a tee(), and a thread that logs them while the relay reads and writes the next ones.
 * Small ones are logged at once, because to wake a thread costs more than to log a few lines.
 */
#define RELAY_LARGE 16384

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
	bool tees;		/* that is a pipe */
	ssize_t last_read;	/* bytes */
	size_t teed;		/* of what is read next, the original output has these bytes */
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
	bool threaded;		/* a thread logs: then the writer and the sources are its own, unless relay_log_settle() */
	struct output_source *waiting[RELAY_PIECES];	/* where the pieces come from that wait for it */
};

int64_t relay_now_us(const struct relay_worker *w);

/* Where the next RELAY_BUFFER + 1 bytes are read. Waits while all pieces of the page wait for the log. */
char *relay_space(struct relay_worker *w);

/* read() from a pipe to there. The original output may have a part of it already. */
ssize_t relay_read(struct relay_worker *w, int fd);

/* Write a part of what was read there to the original output, then to the log. False: the output has no reader. */
bool relay_put(struct relay_worker *w, struct output_source *from, size_t begin, size_t end, int64_t from_us,
	       int64_t to_us);

/* The log of a relay. If an earlier one was killed, the pieces that waited for its log are logged. */
void relay_log_begin(struct relay_worker *w, const struct store *store, bool shared);
/* Log the piece that the earlier one had read last, after it was written to the original output. */
void relay_log_rest(struct relay_worker *w);
/* Log the piece that was read last: at once, or from now on. */
void relay_log_add(struct relay_worker *w, struct output_source *from);
/* Do pieces wait for the log? Otherwise the caller may use the writer and the sources. */
bool relay_log_is_busy(const struct relay_worker *w);
/* Wait until none does. */
void relay_log_settle(struct relay_worker *w);
/* The caller has used the writer: the page gets its errors. */
void relay_log_note(struct relay_worker *w);

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
