/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/cursor.h"
#include "base/field.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/readfile.h"
#include "symbols/demangle.h"
#include "symbols/stack.h"
#include "symbols/symbol_cache.h"
#include "symbols/symbolizer.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * buildbeat-symbols [-cn] [-d DIRECTORY]... [FILE ADDRESS...]: names of code addresses. With a
 * FILE it prints what is at its addresses. Without one it answers requests from standard input;
 * symbols/client.h describes both. With --stack it prints the call stacks of a process. The only
 * program that uses libelf, libdw and libiberty.
 */

#define REQUEST_MAX 268435456	/* bytes */
#define OTHERS_MAX 4
#define STACK_S 20
#define DATA_MAX (UINT64_C(4) << 30)	/* memory, so that a broken file cannot take all */
#define SOURCE_MAX 4096

struct wanted {
	uint64_t address;
	bool returns;
};

struct module {
	struct symbolizer s;
	size_t first, n;	/* of its addresses */
	size_t n_others;
	const char *other[OTHERS_MAX];
};

struct request {
	struct buf text;
	size_t n_modules;
	struct module *module;
	size_t n;
	struct wanted *wanted;
	size_t n_dirs;
	const char **dir;
	int cache_fd;
	bool names_only;
	int64_t stack_pid;	/* 0: no stack is wanted */
	const char *sources;
	struct buf out;
};

static const char usage[] =
	"usage: buildbeat-symbols [-cn] [-d DIRECTORY]... [FILE ADDRESS...]\n"
	"       buildbeat-symbols --stack PID [--sources DIR]\n"
	"\n"
	"Print the functions at addresses of FILE, in hexadecimal, as in its symbol table.\n"
	"Without FILE, answer the requests from standard input.\n"
	"With --stack, print the call stacks of a process as JSON.\n"
	"\n"
	"  -c            do not use the cache\n"
	"  -d DIRECTORY  look for files and debug information in DIRECTORY too\n"
	"  -n            names only: no source files, no inlined functions\n"
	"  --stack PID   stop each thread of a process for a moment and print its calls\n"
	"  --sources DIR with lines of the sources below DIR\n";

static bool parse_address(struct slice s, uint64_t *address)
{
	*address = 0;
	if (slice_starts(s, "0x"))
		s = (struct slice){ s.p + 2, s.len - 2 };
	for (size_t i = 0; i < s.len; i++) {
		if (hex_value(s.p[i]) < 0)
			return false;
		*address = *address << 4 | (uint64_t)hex_value(s.p[i]);
	}
	return s.len > 0 && s.len <= 16;
}

/* The rest of a line as a text, in place. */
static char *decode(struct slice s)
{
	char *text = (char *)s.p;

	text[field_decode(text, s.len, NULL)] = '\0';
	return text;
}

static int add_module(struct request *q, const char *build_id, const char *path)
{
	struct module *new = array_add(&q->module, &q->n_modules, sizeof *new);

	if (!new)
		return -ENOMEM;
	*new = (struct module){ .first = q->n };
	new->s.files.file.fd = new->s.files.debug.fd = -1;
	new->s.files.path = path;
	new->s.files.build_id = build_id;
	return 0;
}

static int add_address(struct request *q, uint64_t address, bool returns)
{
	struct wanted *new = array_add(&q->wanted, &q->n, sizeof *new);

	if (!new)
		return -ENOMEM;
	*new = (struct wanted){ address, returns };
	q->module[q->n_modules - 1].n++;
	return 0;
}

/* Its newline is overwritten: texts end there. */
static int parse_line(struct request *q, struct slice line)
{
	struct cursor c;
	struct slice word, id;
	uint64_t address;
	struct module *last = q->n_modules ? &q->module[q->n_modules - 1] : NULL;

	cursor_init(&c, line.p, line.len);
	if (!cursor_until(&c, ' ', &word))
		return -EINVAL;
	if (slice_is(word, "module") && cursor_until(&c, ' ', &id) && id.len) {
		((char *)id.p)[id.len] = '\0';
		return add_module(q, slice_is(id, "-") ? "" : id.p,
				  decode((struct slice){ c.p, (size_t)(c.end - c.p) }));
	}
	if (!last)
		return -EINVAL;
	if (slice_is(word, "try")) {
		if (last->n_others < OTHERS_MAX)
			last->other[last->n_others++] =
				decode((struct slice){ c.p, (size_t)(c.end - c.p) });
		return 0;
	}
	if ((slice_is(word, "a") || slice_is(word, "r")) &&
	    parse_address((struct slice){ c.p, (size_t)(c.end - c.p) }, &address))
		return add_address(q, address, *word.p == 'r');
	return -EINVAL;
}

static int read_request(struct request *q, unsigned *line_number)
{
	struct cursor c;
	struct slice line;
	bool complete;
	int r = readfile_fd(&q->text, STDIN_FILENO, REQUEST_MAX);

	cursor_init(&c, q->text.data, q->text.len);
	while (!r && cursor_line(&c, &line, &complete) && complete)
		r = parse_line(q, line);
	*line_number = c.line;
	return r;
}

static void flush(struct request *q)
{
	size_t done = 0;

	while (done < q->out.len) {
		ssize_t n = write(STDOUT_FILENO, q->out.data + done, q->out.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			exit(1);
		done += (size_t)n;
	}
	buf_clear(&q->out);
}

static void add_function(struct request *q, const struct symbolizer_frame *frame)
{
	struct buf name = BUF_INIT;

	demangle_add(&name, frame->name ? frame->name : "??");
	field_add(&q->out, buf_str(&name), name.len, 2 * DEMANGLE_MAX);
	buf_release(&name);
	buf_addc(&q->out, '\t');
	if (frame->source)
		field_add(&q->out, frame->source, strlen(frame->source), SOURCE_MAX);
	buf_addf(&q->out, "\t%u\n", frame->line);
}

static void answer(struct request *q, struct module *m, bool debug)
{
	struct symbolizer_frame frame[DEBUG_FRAMES_MAX];

	for (size_t i = m->first; i < m->first + m->n; i++) {
		const struct wanted *w = &q->wanted[i];
		uint64_t start;
		size_t n = symbolizer_find(&m->s, w->address - w->returns, debug, frame, &start);

		if (n)
			buf_addf(&q->out, "n %zu\t", i);
		else if (start)
			buf_addf(&q->out, "u %zu\t%" PRIx64 "\n", i, start);
		else
			buf_addf(&q->out, "? %zu\n", i);
		for (size_t j = 0; j < n; j++) {
			buf_adds(&q->out, j ? "i " : "");
			add_function(q, &frame[j]);
		}
		if (q->out.len > 4096)
			flush(q);
	}
}

/* Whoever reads this knows on which module we failed. */
static void begin_module(struct request *q, char kind, size_t i)
{
	buf_addf(&q->out, "%c %zu\n", kind, i);
	flush(q);
}

static int open_module(struct request *q, struct module *m)
{
	m->s.files.n_dirs = q->n_dirs;
	m->s.files.dir = q->dir;
	m->s.files.n_others = m->n_others;
	m->s.files.other = m->other;
	return symbolizer_open(&m->s, q->cache_fd);
}

static int answer_all(struct request *q)
{
	int r = 0;

	for (size_t i = 0; i < q->n_modules && !r; i++) {
		struct module *m = &q->module[i];

		if (!m->n)
			continue;
		begin_module(q, 'm', i);
		r = open_module(q, m);
		if (!r)
			answer(q, m, false);
		if (m->s.files.note.len)
			buf_addf(&q->out, "w %s\n", buf_str(&m->s.files.note));
	}
	if (r)
		goto out;
	for (size_t i = 0; i < q->n_modules && !q->names_only; i++) {
		if (!q->module[i].n)
			continue;
		begin_module(q, 'd', i);
		if (symbolizer_has_debug(&q->module[i].s))
			answer(q, &q->module[i], true);
	}
	buf_adds(&q->out, "e\n");
	r = buf_error(&q->out);
out:
	flush(q);
	return r;
}

/* For people: what is at the addresses of one file. */
static int print(struct request *q, char **argument)
{
	struct symbolizer_frame frame[DEBUG_FRAMES_MAX];
	struct module *m;
	char path[PATH_MAX];
	int r = file_absolute(path, *argument);

	r = r ? r : add_module(q, "", path);
	if (r) {
		fprintf(stderr, "buildbeat-symbols: %s: %s\n", *argument, strerror(-r));
		return 1;
	}
	for (argument++; *argument && !r; argument++) {
		uint64_t address;

		if (!parse_address(slice_of(*argument), &address)) {
			fprintf(stderr, "buildbeat-symbols: '%s' is no address\n", *argument);
			return 2;
		}
		r = add_address(q, address, false);
	}
	m = q->module;
	r = r ? r : open_module(q, m);
	for (size_t i = 0; i < q->n && !r; i++) {
		uint64_t start;
		size_t n = symbolizer_find(&m->s, q->wanted[i].address, !q->names_only, frame, &start);

		buf_addf(&q->out, "0x%" PRIx64, q->wanted[i].address);
		if (!n && start)
			buf_addf(&q->out, "\tfunction at 0x%" PRIx64 "\n", start);
		else if (!n)
			buf_adds(&q->out, "\t?\n");
		for (size_t j = 0; j < n; j++) {
			buf_addc(&q->out, '\t');
			demangle_add(&q->out, frame[j].name ? frame[j].name : "?");
			if (frame[j].source)
				buf_addf(&q->out, "\t%s:%u", frame[j].source, frame[j].line);
			buf_addc(&q->out, '\n');
		}
	}
	if (m->s.files.note.len)
		fprintf(stderr, "buildbeat-symbols: %s: %s\n", m->s.files.path,
			buf_str(&m->s.files.note));
	if (r || buf_error(&q->out)) {
		fprintf(stderr, "buildbeat-symbols: out of memory\n");
		return 1;
	}
	flush(q);
	r = m->s.files.file.elf || m->s.files.debug.elf ? 0 : 1;
	return r;
}

/* It reads files that anybody may have made: a crash leaves no core. */
static void be_careful(void)
{
	struct rlimit limit = { 0, 0 };

	setrlimit(RLIMIT_CORE, &limit);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__	/* which need far more */
	limit = (struct rlimit){ DATA_MAX, DATA_MAX };
	setrlimit(RLIMIT_DATA, &limit);
#endif
	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int parse_options(struct request *q, int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "stack", required_argument, NULL, 't' }, { "sources", required_argument, NULL, 's' },
		{ 0 }
	};
	int option;

	while ((option = getopt_long(argc, argv, "+cd:hn", long_options, NULL)) != -1) {
		const char **dir;

		switch (option) {
		case 'c':
			q->cache_fd = -1;
			break;
		case 'd':
			dir = array_add(&q->dir, &q->n_dirs, sizeof *dir);
			if (!dir)
				return -ENOMEM;
			*dir = optarg;
			break;
		case 'n':
			q->names_only = true;
			break;
		case 's':
			q->sources = optarg;
			break;
		case 't':
			if (!cursor_slice_i64(slice_of(optarg), &q->stack_pid) ||
			    q->stack_pid < 1 || q->stack_pid > INT32_MAX) {
				fprintf(stderr, "buildbeat-symbols: '%s' is no process\n", optarg);
				exit(2);
			}
			break;
		default:
			fputs(usage, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (q->cache_fd != -1)
		q->cache_fd = symbol_cache_open();
	return 0;
}

/* What another program asks. It must not outlive that program. */
static int serve(struct request *q)
{
	unsigned line = 0;
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	r = read_request(q, &line);
	if (r == -EINVAL)
		fprintf(stderr, "buildbeat-symbols: standard input:%u: not a request\n", line);
	r = r ? r : answer_all(q);
	return r == -EINVAL ? 2 : r ? 1 : 0;
}

/* Whatever it takes: the kernel lets the process run on when we end. */
static int print_stack(struct request *q)
{
	struct error err = { .message = "" };
	int r;

	alarm(STACK_S);
	r = stack_write(&q->out, (int32_t)q->stack_pid, q->sources, q->cache_fd, &err);
	if (r) {
		fprintf(stderr, "buildbeat-symbols: %s\n", err.message);
		return 1;
	}
	flush(q);
	return 0;
}

static void release_request(struct request *q)
{
	for (size_t i = 0; i < q->n_modules; i++)
		symbolizer_close(&q->module[i].s);
	file_close(q->cache_fd);
	buf_release(&q->text);
	buf_release(&q->out);
	free_all(q->module, q->wanted, q->dir);
}

int main(int argc, char **argv)
{
	struct request q = { .cache_fd = -2 };
	int status = 1;

	be_careful();
	if (!parse_options(&q, argc, argv))
		status = q.stack_pid ? print_stack(&q) :
			 optind < argc ? print(&q, argv + optind) : serve(&q);
	release_request(&q);
	return status;
}
