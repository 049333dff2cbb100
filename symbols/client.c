/* SPDX-License-Identifier: MIT */
#include "symbols/client.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/field.h"
#include "base/file.h"
#include "base/hex.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_TEXT_MAX 16384	/* of a path, escaped */
#define LINE_MAX_BYTES 65536	/* of an answer */
#define OUTPUT_MAX (UINT64_C(1) << 30)
#define LOOK_MS 100		/* at the stop flag */

/* One run of the program. */
struct run {
	const struct symbols_request *q;
	bool *leave_out;	/* by module: it has its answers, or the program failed on it */
	uint32_t *number;	/* of the addresses that were sent: that in the request */
	size_t n_sent;
	struct buf request;
	size_t written;
	struct buf answer;	/* what was read and not parsed */
	uint64_t read;
	pid_t pid;
	struct pollfd to, from;	/* fd -1: closed */
	size_t module;		/* on which it works, SIZE_MAX: none */
	bool ended;		/* it said so */
	size_t address;		/* whose functions are collected */
	size_t n_functions;
	struct symbols_function function[SYMBOLS_FUNCTIONS_MAX];
	struct buf texts[2 * SYMBOLS_FUNCTIONS_MAX];	/* theirs */
};

static void close_pipe(struct pollfd *p)
{
	file_close(p->fd);
	p->fd = -1;
}

/* Request */

static void add_path_line(struct buf *b, const char *key, const char *path)
{
	buf_adds(b, key);
	field_add(b, path, strlen(path), PATH_TEXT_MAX);
	buf_addc(b, '\n');
}

static void add_module(struct run *run, size_t i)
{
	const struct symbols_module *m = &run->q->module[i];
	const char *id = m->build_id && *m->build_id ? m->build_id : "-";

	buf_addf(&run->request, "module %.*s", (int)strcspn(id, " \n"), id);
	add_path_line(&run->request, " ", m->path);
	for (size_t j = 0; j < ARRAY_SIZE(m->other); j++) {
		if (m->other[j])
			add_path_line(&run->request, "try ", m->other[j]);
	}
}

static int make_request(struct run *run)
{
	const struct symbols_request *q = run->q;
	size_t at = 0;

	buf_clear(&run->request);
	run->written = run->n_sent = 0;
	for (size_t i = 0; i < q->n_modules; i++) {
		add_module(run, i);
		for (; at < q->n && q->address[at].module == i; at++) {
			if (run->leave_out[i])
				continue;
			run->number[run->n_sent++] = (uint32_t)at;
			buf_addf(&run->request, "%c %" PRIx64 "\n",
				 q->address[at].returns ? 'r' : 'a', q->address[at].address);
		}
	}
	return at < q->n ? -EINVAL : buf_error(&run->request);
}

/* The program */

static int make_pipe(int fd[2])
{
	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	/* not one of the first three, which the program gets anew */
	fd[0] = file_move_up(fd[0]);
	fd[1] = file_move_up(fd[1]);
	return fd[0] <= STDERR_FILENO || fd[1] <= STDERR_FILENO ? -EMFILE : 0;
}

static int spawn_with(struct run *run, char **argv, int in, int out)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t set;
	int r = 0;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigaddset(&set, SIGPIPE);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	r = posix_spawn_file_actions_adddup2(&actions, in, 0);
	if (r)
		goto out;
	r = posix_spawn_file_actions_adddup2(&actions, out, 1);
	if (r)
		goto out;
	r = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (r)
		goto out;
	r = posix_spawn(&run->pid, run->q->program, &actions, &attr, argv, environ);
out:
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static int spawn(struct run *run, int in, int out)
{
	const struct symbols_request *q = run->q;
	char **argv = calloc(2 * q->n_dirs + 3, sizeof *argv);
	static char names_only[] = "-n", directory[] = "-d";
	size_t n = 0;
	int r;

	if (!argv)
		return -ENOMEM;
	argv[n++] = (char *)q->program;
	if (q->names_only)
		argv[n++] = names_only;
	for (size_t i = 0; i < q->n_dirs; i++) {
		argv[n++] = directory;
		argv[n++] = (char *)q->dirs[i];
	}
	r = spawn_with(run, argv, in, out);
	free(argv);
	return r;
}

static int start_program(struct run *run)
{
	int in[2] = { -1, -1 }, out[2] = { -1, -1 };
	int r = make_pipe(in);

	if (r)
		goto out;
	r = make_pipe(out);
	if (r)
		goto out;
	r = spawn(run, in[0], out[1]);
	if (r)
		goto out;
	if (fcntl(in[1], F_SETFL, O_NONBLOCK) || fcntl(out[0], F_SETFL, O_NONBLOCK))
		r = -errno;
out:
	file_close(in[0]);
	file_close(out[1]);
	run->to = (struct pollfd){ .fd = in[1], .events = POLLOUT };
	run->from = (struct pollfd){ .fd = out[0], .events = POLLIN };
	run->module = SIZE_MAX;
	run->ended = false;
	run->n_functions = 0;
	buf_clear(&run->answer);
	return r;
}

static void stop(struct run *run)
{
	close_pipe(&run->to);
	close_pipe(&run->from);
	if (run->pid <= 0)
		return;
	kill(run->pid, SIGKILL);
	while (waitpid(run->pid, NULL, 0) < 0 && errno == EINTR)
		;
	run->pid = 0;
}

/* Answers */

static int give_functions(struct run *run)
{
	size_t n = run->n_functions;

	run->n_functions = 0;
	return n ? run->q->named(run->q->context, run->address, run->function, n) : 0;
}

static const char *keep_text(struct buf *b, struct slice text)
{
	buf_clear(b);
	buf_add(b, text.p, text.len);
	if (b->data)
		buf_cut(b, field_decode(b->data, b->len, NULL));
	return buf_str(b);
}

static int add_function(struct run *run, struct cursor *c)
{
	struct symbols_function *f = &run->function[run->n_functions];
	struct buf *text = &run->texts[2 * run->n_functions];
	struct slice name, source = { 0 };
	uint64_t line;

	if (run->n_functions == SYMBOLS_FUNCTIONS_MAX || !cursor_until(c, '\t', &name) ||
	    !cursor_until(c, '\t', &source) || !cursor_u64(c, &line) || !cursor_at_end(c))
		return -EPROTO;
	*f = (struct symbols_function){ keep_text(&text[0], name), keep_text(&text[1], source),
					(unsigned)line };
	run->n_functions++;
	return buf_error(&text[0]) ? buf_error(&text[0]) : buf_error(&text[1]);
}

static int take_module(struct run *run, struct cursor *c, bool debug)
{
	uint64_t module;

	if (!cursor_u64(c, &module) || module >= run->q->n_modules)
		return -EPROTO;
	if (debug && run->module != SIZE_MAX && run->module < module)
		run->leave_out[run->module] = true;
	run->module = (size_t)module;
	return 0;
}

static bool take_address(struct run *run, struct cursor *c)
{
	uint64_t sent;

	if (!cursor_u64(c, &sent) || sent >= run->n_sent)
		return false;
	run->address = run->number[sent];
	return true;
}

static int take_answer(struct run *run, struct slice line)
{
	struct cursor c;
	uint64_t at;
	char kind = line.len ? *line.p : '\0';
	int r = kind == 'i' && run->n_functions ? 0 : give_functions(run);
	struct buf text = BUF_INIT;

	if (r || run->ended)
		return r ? r : -EPROTO;
	cursor_init(&c, line.p, line.len);
	if (kind == 'e' && line.len == 1) {
		run->ended = true;
		return 0;
	}
	if (!cursor_byte(&c, kind) || !cursor_byte(&c, ' '))
		return -EPROTO;
	switch (kind) {
	case 'm': case 'd':
		return take_module(run, &c, kind == 'd');
	case 'n':
		return take_address(run, &c) && cursor_byte(&c, '\t') ? add_function(run, &c) : -EPROTO;
	case 'i':
		return run->n_functions ? add_function(run, &c) : -EPROTO;
	case 'u':
		return take_address(run, &c) && cursor_byte(&c, '\t') && hex_u64(&c, &at) &&
		       cursor_at_end(&c) ?
			run->q->unnamed(run->q->context, run->address, at) : -EPROTO;
	case '?':
		return take_address(run, &c) ? 0 : -EPROTO;
	case 'w':
		if (run->module == SIZE_MAX)
			return -EPROTO;
		run->q->note(run->q->context, run->module,
			     keep_text(&text, (struct slice){ c.p, (size_t)(c.end - c.p) }));
		buf_release(&text);
		return 0;
	}
	return -EPROTO;
}

/* Parse the complete lines. */
static int take_answers(struct run *run)
{
	struct cursor c;
	struct slice line;
	bool complete;
	size_t done = 0;
	int r = buf_error(&run->answer);

	cursor_init(&c, run->answer.data, run->answer.len);
	while (!r && cursor_line(&c, &line, &complete) && complete) {
		r = take_answer(run, line);
		done = (size_t)(c.p - run->answer.data);
	}
	if (done) {
		memmove(run->answer.data, run->answer.data + done, run->answer.len - done);
		buf_cut(&run->answer, run->answer.len - done);
	}
	return !r && run->answer.len > LINE_MAX_BYTES ? -EPROTO : r;
}

static int read_answers(struct run *run)
{
	char block[65536];
	ssize_t n = read(run->from.fd, block, sizeof block);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -EPROTO;
	if (n == 0) {
		close_pipe(&run->from);
		return 0;
	}
	run->read += (uint64_t)n;
	buf_add(&run->answer, block, (size_t)n);
	return run->read > OUTPUT_MAX ? -EPROTO : take_answers(run);
}

static void write_request(struct run *run)
{
	size_t left = run->request.len - run->written;
	ssize_t n = left ? file_write_quietly(run->to.fd, run->request.data + run->written, left) : 0;

	if (n > 0)
		run->written += (size_t)n;
	/* it ended before it read everything: its answers say how far it came */
	if (run->written == run->request.len || (n < 0 && errno != EINTR && errno != EAGAIN))
		close_pipe(&run->to);
}

/* 0 once it closed its output; -EPROTO if it has to be killed. */
static int converse(struct run *run, int64_t silence_ns)
{
	const struct symbols_request *q = run->q;
	int64_t heard_ns = clock_mono_ns();
	int r = 0, last;

	while (!r && run->from.fd >= 0) {
		struct pollfd pipe[2] = { run->from, run->to };
		int n = poll(pipe, 2, LOOK_MS);
		int64_t now_ns = clock_mono_ns();

		if (q->stop && *q->stop)
			r = -ECANCELED;
		else if (now_ns > q->deadline_ns)
			r = -ETIME;
		if (!r && n > 0 && pipe[1].revents)
			write_request(run);
		if (!r && n > 0 && pipe[0].revents)
			r = read_answers(run);
		if (n > 0)
			heard_ns = now_ns;
		else if (!r && run->module != SIZE_MAX && now_ns - heard_ns > silence_ns)
			r = -EPROTO;
	}
	if (r == -EPROTO)	/* it is broken */
		run->n_functions = 0;
	last = give_functions(run);
	return r ? r : last;
}

/* Leave out what need not be asked again. False: it failed on no module. */
static bool learn(struct run *run)
{
	if (run->module == SIZE_MAX || run->leave_out[run->module])
		return false;
	run->leave_out[run->module] = true;
	run->q->note(run->q->context, run->module, "buildbeat-symbols failed on this file");
	return true;
}

static int ask_program(struct run *run, struct error *err)
{
	int64_t silence_ns = (run->q->deadline_ns - clock_mono_ns()) / 3;
	int r = 0;

	for (unsigned i = 0; i <= SYMBOLS_FAILURES_MAX; i++) {
		r = make_request(run);
		if (!r && !run->n_sent)
			return 0;
		if (!r) {
			r = start_program(run);
			if (r)
				error_sys(err, r, run->q->program, "cannot run");
		}
		if (!r)
			r = converse(run, silence_ns);
		stop(run);
		if (!r && run->ended)
			return 0;
		if ((r && r != -EPROTO) || !learn(run))
			break;
	}
	return r && r != -EPROTO ? r :
		error_set(err, -EIO, run->q->program, 0, 0, "the program failed");
}

int symbols_ask(const struct symbols_request *q, struct error *err)
{
	struct run run = { .q = q, .to = { .fd = -1 }, .from = { .fd = -1 } };
	int r = q->n < UINT32_MAX ? 0 : -E2BIG;

	run.leave_out = array_new_zero(q->n_modules, sizeof *run.leave_out);
	run.number = array_new_zero(q->n, sizeof *run.number);
	if (!run.leave_out || !run.number)
		r = -ENOMEM;
	if (!r)
		r = ask_program(&run, err);
	free(run.leave_out);
	free(run.number);
	buf_release(&run.request);
	buf_release(&run.answer);
	for (size_t i = 0; i < ARRAY_SIZE(run.texts); i++)
		buf_release(&run.texts[i]);
	return r;
}
