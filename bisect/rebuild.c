/* SPDX-License-Identifier: MIT */
#include "bisect/rebuild.h"

#include "analyse/values.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/outdir.h"
#include "base/text.h"
#include "bisect/tool.h"
#include "convert/convert.h"
#include "launch/notice.h"
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#define SELF "/proc/self/exe"

/* Newlines are escaped. */
static void add_line(struct buf *b, const char *key, const char *text)
{
	buf_addf(b, "%s: ", key);
	for (; *text; text++) {
		if (*text == '\n' || *text == '\\')
			buf_addc(b, '\\');
		buf_addc(b, *text == '\n' ? 'n' : *text);
	}
	buf_addc(b, '\n');
}

void rebuild_add_head(struct buf *head, const struct rebuild *b, const char *good,
		      const char *bad, size_t most)
{
	buf_adds(head, "buildbeat bisect 1\n");
	add_line(head, "source", b->checkout->source);
	add_line(head, "directory", b->checkout->prefix);
	add_line(head, "good", good);
	add_line(head, "bad", bad);
	if (!b->n_tasks)
		add_line(head, "total", "");
	for (size_t i = 0; i < b->n_tasks; i++)
		add_line(head, "task", b->task[i]);
	add_line(head, "metric", metric_word[b->metric]);
	buf_addf(head, "runs: %zu\n", most);
	if (b->prepare)
		add_line(head, "prepare", b->prepare);
	for (char **word = b->build; *word; word++)
		add_line(head, "build", *word);
	buf_addc(head, '\n');
}

/* Returns NULL when out of memory, where asprintf() leaves the pointer undefined. */
__attribute__((format(printf, 1, 2)))
static char *path_of(const char *format, ...)
{
	va_list args;
	char *path;
	int n;

	va_start(args, format);
	n = vasprintf(&path, format, args);
	va_end(args);
	return n < 0 ? NULL : path;
}

/* "COMMIT VALUE" or "COMMIT - WHY". */
static int read_run(struct rebuild *b, struct slice line)
{
	struct known_run *grown = array_grow(b->run, b->n_known, sizeof *grown);
	struct arena *texts = b->checkout->texts;
	struct known_run known = { 0 };
	struct slice id;
	struct cursor c;

	if (!grown)
		return -ENOMEM;
	b->run = grown;
	cursor_init(&c, line.p, line.len);
	if (!cursor_word(&c, &id, line.len) || !cursor_byte(&c, ' '))
		return -EINVAL;
	known.id = arena_text(texts, id.p, id.len);
	if (!known.id)
		return -ENOMEM;
	if (cursor_literal(&c, "- ")) {
		known.why = arena_text(texts, c.p, (size_t)(c.end - c.p));
		if (!known.why)
			return -ENOMEM;
	} else if (!cursor_i64(&c, &known.value) || !cursor_at_end(&c)) {
		return -EINVAL;
	}
	grown[b->n_known++] = known;
	return 0;
}

/* A truncated last line is removed. */
static int read_runs(struct rebuild *b, const char *path, const struct buf *text,
		     struct error *err)
{
	size_t head = strlen(b->head), whole = head;
	struct slice line;
	struct cursor c;
	bool complete;
	int r = 0;

	if (text->len < head || memcmp(text->data, b->head, head))
		return error_set(err, -EEXIST, path, 0, 0,
				 "a different bisection is in progress here: finish it with its original "
				 "command, or remove its directory");
	cursor_init(&c, text->data + head, text->len - head);
	while (!r && cursor_line(&c, &line, &complete) && complete) {
		r = read_run(b, line);
		whole = (size_t)(c.p - text->data);
	}
	if (r)
		return r == -EINVAL ? error_set(err, r, path, 0, 0,
						"not a line about a build: %.*s", (int)line.len,
			line.p) :
		       error_sys(err, r, path, NULL);
	return ftruncate(b->fd, (off_t)whole) ? error_sys(err, -errno, path, "cannot write") : 0;
}

static int write_line(struct rebuild *b, const char *text, size_t len, const char *path,
		      struct error *err)
{
	int r = file_write_all(b->fd, text, len);

	return r ? error_sys(err, r, path, "cannot write") : 0;
}

static int open_runs(struct rebuild *b, const char *path, struct error *err)
{
	struct buf text = BUF_INIT;
	int r = file_make_parents(path, err);

	if (r)
		return r;
	b->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (b->fd < 0)
		return error_sys(err, -errno, path, "cannot write");
	if (flock(b->fd, LOCK_EX | LOCK_NB))
		return error_set(err, -EBUSY, path, 0, 0, "another buildbeat runs this bisection");
	r = tool_read(&text, b->fd);
	if (r)
		error_sys(err, r, path, "cannot read");
	else if (text.len)
		r = read_runs(b, path, &text, err);
	else
		r = write_line(b, b->head, strlen(b->head), path, err);
	buf_release(&text);
	return r;
}

int rebuild_open(struct rebuild *b, struct error *err)
{
	char *runs = path_of("%s/runs", b->directory), *tree = path_of("%s/tree", b->directory);
	int r;

	b->fd = -1;
	b->n = b->n_known = 0;
	b->run = NULL;
	if (!runs || !tree)
		r = error_sys(err, -ENOMEM, b->directory, NULL);
	else
		r = open_runs(b, runs, err);
	r = r ? r : checkout_clone(b->checkout, tree, err);
	free_all(runs, tree);
	return r;
}

void rebuild_forget(struct rebuild *b)
{
	char *runs = path_of("%s/runs", b->directory);

	if (runs)
		unlink(runs);
	free(runs);
}

void rebuild_close(struct rebuild *b)
{
	file_close(b->fd);
	free(b->run);
}

struct one {
	struct rebuild *b;
	char *recordings, *recording, *log, *place;	/* paths */
	char name[32];
	int log_fd;
};

static void one_release(struct one *o)
{
	file_close(o->log_fd);
	free_all(o->recordings, o->recording, o->log, o->place);
}

/* A recording of the same name is left from a killed build. */
static int one_init(struct one *o, struct rebuild *b, const char *id, struct error *err)
{
	int r;

	*o = (struct one){ .b = b, .log_fd = -1 };
	snprintf(o->name, sizeof o->name, "%04zu-%.10s", b->n + 1, id);
	o->recordings = path_of("%s/%s", b->directory, "recordings");
	o->place = path_of("%s/%s", b->checkout->tree, b->checkout->prefix);
	o->recording = o->recordings ? path_of("%s/%s", o->recordings, o->name) : NULL;
	o->log = o->recordings ? path_of("%s/%s.log", o->recordings, o->name) : NULL;
	if (!o->place || !o->recording || !o->log)
		return error_sys(err, -ENOMEM, b->directory, NULL);
	r = file_make_parents(o->log, err);
	if (r)
		return r;
	outdir_discard(o->recording);
	o->log_fd = open(o->log, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
	return o->log_fd < 0 ? error_sys(err, -errno, o->log, "cannot write") : 0;
}

static int run_prepare(struct one *o, int *status)
{
	static char shell[] = "/bin/sh", option[] = "-c";
	char *argv[] = { shell, option, (char *)o->b->prepare, NULL };
	struct tool t = { .argv = argv, .directory = o->place, .log_fd = o->log_fd };

	return tool_run(&t, status);
}

/* Recording runs in a process of its own. */
static int run_build(struct one *o, int *status)
{
	static const char *const options[] = {
		SELF, "record", "--no-git", NULL, "--compress=none",
		"--layout=buildbeat", "--config", NULL, "--output", NULL, "--name", NULL, "--",
	};
	size_t n_options = ARRAY_SIZE(options), n = 0;
	struct tool t = { .directory = o->place, .log_fd = o->log_fd };
	const char **argv;
	int r;

	while (o->b->build[n])
		n++;
	argv = array_new(n_options + n + 1, sizeof *argv);
	if (!argv)
		return -ENOMEM;
	memcpy(argv, options, sizeof options);
	argv[3] = o->b->metric == METRIC_INSTRUCTIONS ? "--instructions" : "--task-io";
	argv[7] = o->b->config ? o->b->config : "/dev/null";
	argv[9] = o->recordings;
	argv[11] = o->name;
	memcpy(argv + n_options, o->b->build, (n + 1) * sizeof *argv);
	t.argv = (char *const *)argv;
	r = tool_run(&t, status);
	free(argv);
	return r;
}

/* *reason is not changed on success. Returns 0 or -ENOMEM. */
static int explain_failed(struct one *o, const char **reason, const char *what, int status)
{
	char why[64];

	if (!status)
		return 0;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof why, "%s was killed by signal %d", what, WTERMSIG(status));
	else
		snprintf(why, sizeof why, "%s failed with exit status %d", what,
			 WEXITSTATUS(status));
	*reason = arena_text(o->b->checkout->texts, why, strlen(why));
	return *reason ? 0 : -ENOMEM;
}

/* The row of the task, n_tasks if there is none. */
static size_t find_task(const struct rebuild *b, const struct values *f)
{
	size_t row = f->n_tasks;

	for (size_t i = 0; row == f->n_tasks && i < b->n_tasks; i++)
		row = values_find(f, b->task[i]);
	return row;
}

static double value_of(const struct rebuild *b, const struct values *f)
{
	size_t i = find_task(b, f);

	if (!b->n_tasks)
		return metric_total(f->total, b->metric);
	return i < f->n_tasks ? values_get(f, i, b->metric) : NAN;
}

/* Suggests the most similar name of a task. Returns 0 or -ENOMEM. */
static int explain_missing(struct one *o, const char **why, const struct values *f)
{
	const struct rebuild *b = o->b;
	struct buf text = BUF_INIT;
	const char **names = array_new_zero(f->n_tasks, sizeof *names), *near = NULL;

	for (size_t i = 0; names && i < f->n_tasks; i++)
		names[i] = f->task[i].name;
	if (b->n_tasks && find_task(b, f) == f->n_tasks) {
		near = names ? nearest_word(b->task[0], names) : NULL;
		buf_adds(&text, "no such task");
		if (near) {
			buf_adds(&text, "; did you mean '");
			text_add_name(&text, near, 0);
			buf_adds(&text, "'?");
		}
	} else {
		buf_addf(&text, "no %s recorded", metric_info[b->metric].title);
	}
	*why = names && !buf_error(&text) ?
	       arena_text(b->checkout->texts, buf_str(&text), text.len) : NULL;
	buf_release(&text);
	free(names);
	return *why ? 0 : -ENOMEM;
}

static int read_value(struct one *o, double *value, const char **why, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct values f = VALUES_INIT;
	int r = recording_read_sums(&rec, o->recording, &convert_formats, err);

	if (!r)
		r = recording_whole(&rec, err);
	if (!r && (r = values_make(&f, &rec)))
		error_sys(err, r, o->recording, NULL);
	if (!r) {
		*value = value_of(o->b, &f);
		if (isnan(*value) && (r = explain_missing(o, why, &f)))
			error_sys(err, r, o->recording, NULL);
	}
	values_release(&f);
	recording_release(&rec);
	return r;
}

static int build(struct one *o, const char *id, double *value, const char **why,
		 struct error *err)
{
	struct rebuild *b = o->b;
	int r = checkout_switch(b->checkout, id, err);

	if (r)
		return r;
	if (b->prepare) {
		r = run_prepare(o, &b->checkout->status);
		if (!r)
			r = explain_failed(o, why, "the preparation", b->checkout->status);
	}
	if (!r && !*why) {
		r = run_build(o, &b->checkout->status);
		if (!r)
			r = explain_failed(o, why, "the build", b->checkout->status);
	}
	if (r)
		return error_sys(err, r, o->log, "the build");
	return *why ? 0 : read_value(o, value, why, err);
}

static int keep_result(struct rebuild *b, const char *id, double value, const char *why,
		       struct error *err)
{
	struct buf line = BUF_INIT;
	int r;

	if (why)
		buf_addf(&line, "%s - %s\n", id, why);
	else
		buf_addf(&line, "%s %lld\n", id, (long long)value);
	r = buf_error(&line) ? error_sys(err, buf_error(&line), b->directory, NULL) :
	    write_line(b, line.data, line.len, b->directory, err);
	buf_release(&line);
	return r;
}

int rebuild_measure(struct rebuild *b, const char *id, double *value, const char **why,
		    struct error *err)
{
	struct one o;
	int r;

	if (b->n < b->n_known) {
		const struct known_run *known = &b->run[b->n++];

		if (strcmp(known->id, id))
			return error_set(err, -EEXIST, b->directory, 0, 0,
					 "this bisection was started with other settings; remove the "
					 "directory");
		*value = (double)known->value;
		*why = known->why;
		return 0;
	}
	r = one_init(&o, b, id, err);
	if (r)
		goto out;
	r = build(&o, id, value, why, err);
	if (r)
		goto out;
	r = keep_result(b, id, *value, *why, err);
out:
	one_release(&o);
	b->n += !r;
	return r;
}
