/* SPDX-License-Identifier: MIT */
#include "inspect/run.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "inspect/archive_files.h"
#include "inspect/archive_list.h"
#include "inspect/freeze.h"
#include "inspect/heap_image.h"
#include "inspect/look.h"
#include "inspect/uncounted.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define COMMAND_MAX 65536
#define NOTES_MAX 10		/* messages about modules */

/* Between snapshots if nobody chose an interval: a hundredth of the time so far, so that a short
 * process has many and a long one not too many. */
#define SOONEST_NS INT64_C(100000000)
#define LATEST_NS INT64_C(60000000000)

/* Between readings of the process' values. */
#define VALUES_LATEST_NS INT64_C(1000000000)

/* Reading a page costs about 40 ns, slow machines included. */
#define GUESS_NS_PER_KB 40

struct inspector {
	const struct run_settings *s;
	struct run_result *result;
	struct inspection in;
	struct look look;
	struct snapshot snap;
	struct heap_image *heap;
	char heap_name[NAME_MAX + 1];	/* of the last program that the process executed */
	const char *uncounted;		/* why it has none */
	struct heap_image_state heap_state;
	struct inspect_archive *archive;
	struct budget own, *budget;
	bool delays;		/* the budget decides when, not only the interval */
	bool said_unfrozen;
	dev_t program_dev;	/* its file; 0 and 0: unknown */
	ino_t program_ino;
	int64_t begun_ns;	/* of the last snapshot */
	int64_t took_us;	/* that one; -1: there was none */
	int64_t values_ns;	/* the last values */
	uint64_t rss_kb;	/* at the last snapshot */
	uint64_t rss_now_kb;
};

/* Progress */

__attribute__((format(printf, 3, 4)))
static void tell(struct inspector *u, unsigned percent, const char *format, ...)
{
	char message[600];
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof message, format, ap);
	va_end(ap);
	if (u->archive)
		inspect_archive_add_progress(u->archive, percent, message);
	if (u->s->told)
		u->s->told(u->s->context, percent, message);
}

/* 80 % are for the snapshots. */
static unsigned percent_of(const struct inspector *u)
{
	int64_t count = u->s->rule->count;
	unsigned percent = count ? (unsigned)(80 * u->result->n_snapshots / (uint64_t)count) : 0;

	return percent ? percent : 1;
}

static void tell_snapshot(struct inspector *u)
{
	const struct snapshot *s = &u->snap;
	char of[32] = "", heap[64] = "";

	if (u->s->rule->count)
		snprintf(of, sizeof of, " of %lld", (long long)u->s->rule->count);
	if (s->has_heap)
		snprintf(heap, sizeof heap, ", %zu sites of allocations", s->n_sites);
	tell(u, percent_of(u), "snapshot %zu%s: %zu mappings, %llu MiB%s, in %.1f ms",
	     u->result->n_snapshots, of, s->n,
	     (unsigned long long)snapshot_sum_kb(s, MAPPING_RSS) >> 10, heap,
	     (double)s->took_us / 1000);
}

/* Beginning */

static void begin_heap(struct inspector *u, struct error *err)
{
	char name[NAME_MAX + 1];

	struct heap_image *heap;

	if (u->s->heap_dir < 0 ||
	    heap_image_find(name, u->s->heap_dir, u->look.pid, u->look.start_ticks) ||
	    (u->heap && !strcmp(name, u->heap_name)) ||
	    heap_image_open(&heap, u->s->heap_dir, name, &u->in, err))
		return;
	heap_image_close(u->heap);
	u->heap = heap;
	snprintf(u->heap_name, sizeof u->heap_name, "%s", name);
}

/* While it runs: later nobody knows why it has no image. */
static void see_heap(struct inspector *u)
{
	if (u->s->rule->heap && !u->heap)
		u->uncounted = uncounted_process(u->look.dir_fd);
}

static const char *command_of(struct inspector *u)
{
	struct buf b = BUF_INIT;
	char path[64];
	char *text;

	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)u->look.pid);
	readfile_at(&b, AT_FDCWD, path, COMMAND_MAX);
	while (b.len && !b.data[b.len - 1])
		b.len--;
	for (size_t i = 0; i < b.len; i++) {
		if (!b.data[i])
			b.data[i] = ' ';
	}
	text = arena_text(u->in.arena, b.len ? b.data : "", b.len);
	buf_release(&b);
	return text;
}

static const char *keep_text(struct inspector *u, const char *text)
{
	return arena_text(u->in.arena, text, strlen(text));
}

static int describe(struct inspector *u)
{
	struct inspection *in = &u->in;
	struct utsname name;

	if (uname(&name))
		return -errno;
	in->host = keep_text(u, name.nodename);
	in->machine = keep_text(u, name.machine);
	in->task = u->s->task;
	in->why = u->s->why;
	in->end = in->uncounted = "";
	in->heap = u->s->rule->heap;
	in->start_us = clock_wall_ns() / 1000;
	in->start_ns = clock_mono_ns();
	return in->host && in->machine && in->command && in->program ? 0 : -ENOMEM;
}

/* The file of the program; false: it is as before, or cannot be seen. A process that executes another
 * program has its file first, then its name, then its command, on a busy machine much later: until there is
 * a command, the name can be that of the program before. */
static bool see_program(struct inspector *u)
{
	struct stat st;

	if (fstatat(u->look.dir_fd, "exe", &st, 0) ||
	    (st.st_dev == u->program_dev && st.st_ino == u->program_ino))
		return false;
	u->program_dev = st.st_dev;
	u->program_ino = st.st_ino;
	return true;
}

static int create(struct inspector *u, struct error *err)
{
	int r = describe(u);

	if (r)
		return error_sys(err, r, NULL, NULL);
	r = inspect_archive_create(&u->archive, u->s->base, u->s->path, &u->in, u->s->access, err);
	if (!r)
		snprintf(u->result->path, sizeof u->result->path, "%s",
			 inspect_archive_path(u->archive));
	return r;
}

static int prepare_run(struct inspector *u, const struct run_settings *s, struct run_result *result)
{
	*result = (struct run_result){ .n_snapshots = 0 };
	*u = (struct inspector){ .s = s, .result = result, .took_us = -1,
		.look = { .pid_fd = -1, .dir_fd = -1, .memory_fd = -1 } };
	u->in.arena = u->in.names.arena = arena_new();
	u->budget = s->budget ? s->budget : &u->own;
	u->delays = s->budget || !s->rule->interval_us;
	budget_init(&u->own, 100);
	return u->in.arena ? 0 : -ENOMEM;
}

static int begin_inspection(struct inspector *u, int32_t pid, uint64_t start_ticks,
			    struct error *err)
{
	struct process_values unused;
	int r = look_open(&u->look, pid, start_ticks, &u->in.names, err);

	if (r)
		return r;
	u->in.pid = u->look.pid;
	u->in.start_ticks = u->look.start_ticks;
	see_program(u);
	u->in.command = command_of(u);
	look_read_values(&u->look, &unused, NULL);
	u->in.program = keep_text(u, u->look.name);
	begin_heap(u, NULL);
	see_heap(u);
	return create(u, err);
}

/* Snapshots */

static int64_t expected_us(const struct inspector *u)
{
	return u->took_us >= 0 ? u->took_us : (int64_t)(u->rss_now_kb * GUESS_NS_PER_KB / 1000);
}

static bool freeze(struct inspector *u, struct freeze *f)
{
	struct error why = { 0 };

	if (!u->s->rule->freeze)
		return false;
	if (!freeze_begin(f, u->look.pid, u->look.pid_fd, expected_us(u), &why))
		return true;
	if (!u->said_unfrozen)
		tell(u, percent_of(u), "%s", why.message);
	u->said_unfrozen = true;
	return false;
}

/* Of a heap the image has the modules. */
static int add_modules(struct inspector *u)
{
	const struct module *found;
	size_t n;
	int r = u->heap ? 0 : look_modules(&u->look, &u->snap, &found, &n);

	if (r || u->heap)
		return r;
	for (size_t i = u->in.n_modules; i < n; i++) {
		struct module *m = array_add(&u->in.module, &u->in.n_modules, sizeof *m);

		if (!m)
			return -ENOMEM;
		*m = found[i];
	}
	return 0;
}

static int read_heap(struct inspector *u, struct error *err)
{
	if (*u->look.name)
		begin_heap(u, err);
	return u->heap ? heap_image_read(u->heap, &u->in, &u->snap, &u->heap_state, err) : 0;
}

/* 0, -ESRCH: the process has ended, or another negative errno with err. */
static int read_process(struct inspector *u, struct error *err)
{
	int64_t from_ns = clock_mono_ns();
	struct freeze f;
	bool frozen = freeze(u, &f);
	int r = look_read(&u->look, &u->snap, u->s->rule->pages, err);

	if (!r)
		r = read_heap(u, err);
	if (frozen)
		frozen = freeze_end(&f);
	if (r)
		return r;
	u->snap.frozen = frozen;
	u->snap.time_us = (from_ns - u->in.start_ns) / 1000;
	u->snap.took_us = (clock_mono_ns() - from_ns) / 1000;
	u->took_us = u->snap.took_us;
	u->rss_kb = u->rss_now_kb = u->snap.process.rss_kb;
	return 0;
}

/* A shell that executes the compiler, say, has the compiler's name from then on. */
static int follow_program(struct inspector *u, struct error *err)
{
	bool executed = see_program(u);
	struct process_values unused;
	const char *command;
	int r;

	if (!executed && *u->in.command)
		return 0;
	command = command_of(u);
	if ((!executed && command && !*command) || look_read_values(&u->look, &unused, NULL))
		return 0;
	see_heap(u);
	u->in.program = keep_text(u, u->look.name);
	u->in.command = command;
	r = u->in.program && u->in.command ? inspect_archive_set_program(u->archive) : -ENOMEM;
	if (r)
		return error_sys(err, r, u->result->path, NULL);
	snprintf(u->result->path, sizeof u->result->path, "%s", inspect_archive_path(u->archive));
	tell(u, percent_of(u), "it executed %s", u->in.program);
	return 0;
}

static int keep_snapshot(struct inspector *u, struct error *err)
{
	int r = inspect_archive_add_snapshot(u->archive, &u->snap);

	if (r)
		return error_sys(err, r, u->result->path, "cannot write the snapshot");
	u->result->n_snapshots++;
	tell_snapshot(u);
	return 0;
}

static int take_snapshot(struct inspector *u, struct error *err)
{
	int64_t used = budget_begin();
	int r;

	u->begun_ns = clock_mono_ns();
	r = read_process(u, err);
	if (!r)
		r = add_modules(u);
	if (!r)
		r = follow_program(u, err);
	if (!r)
		r = keep_snapshot(u, err);
	budget_pay(u->budget, used, clock_mono_ns());
	return r;
}

/* What was left when the process ended. */
static int take_last(struct inspector *u, struct error *err)
{
	int r;

	snapshot_clear(&u->snap);
	u->snap.ended = true;
	u->snap.time_us = (clock_mono_ns() - u->in.start_ns) / 1000;
	r = read_heap(u, err);
	if (r || !u->heap)
		return r;
	if (u->snap.time_us < 0)
		u->snap.time_us = 0;
	return keep_snapshot(u, err);
}

/* Waiting */

static bool has_changed(const struct inspector *u)
{
	uint64_t tenth = u->rss_kb / 10;

	return u->rss_now_kb > u->rss_kb + tenth || u->rss_now_kb + tenth < u->rss_kb;
}

static int64_t due_ns(const struct inspector *u, int64_t now_ns)
{
	int64_t age_ns = now_ns - u->in.start_ns, due_ns = u->begun_ns;

	if (u->s->rule->interval_us)
		due_ns += u->s->rule->interval_us * 1000;
	else if (has_changed(u))
		due_ns += SOONEST_NS;
	else
		due_ns += MAX(SOONEST_NS, MIN(age_ns / 100, LATEST_NS));
	return u->delays ? MAX(due_ns, budget_next_ns(u->budget)) : due_ns;
}

static void read_values(struct inspector *u, int64_t now_ns)
{
	int64_t used = budget_begin();
	struct process_values v;

	u->values_ns = now_ns;
	if (look_read_values(&u->look, &v, NULL))
		return;
	u->rss_now_kb = v.rss_kb;
	inspect_archive_add_values(u->archive, (now_ns - u->in.start_ns) / 1000, &v);
	budget_pay(u->budget, used, now_ns);
}

static int64_t values_due_ns(const struct inspector *u, int64_t now_ns)
{
	int64_t age_ns = now_ns - u->in.start_ns;
	int64_t period = MAX(SOONEST_NS, MIN(age_ns / 100, VALUES_LATEST_NS));

	return u->delays ? MAX(u->values_ns + period, budget_next_ns(u->budget)) :
	       u->values_ns + period;
}

enum awaited { AWAITED_SNAPSHOT, AWAITED_END, AWAITED_STOP };

/* Until the next snapshot is due, the process ends or the caller stops us. */
static enum awaited await_snapshot(struct inspector *u)
{
	for (;;) {
		struct pollfd fd[2] = {
			{ .fd = u->look.pid_fd, .events = POLLIN },
			{ .fd = u->s->stop_fd, .events = POLLIN },
		};
		int64_t now_ns = clock_mono_ns(), left_ns;

		if (now_ns >= values_due_ns(u, now_ns))
			read_values(u, now_ns);
		left_ns = MIN(due_ns(u, now_ns), values_due_ns(u, now_ns)) - now_ns;
		if (left_ns > VALUES_LATEST_NS && u->look.pid_fd < 0)
			left_ns = VALUES_LATEST_NS;
		poll(fd, 2, left_ns <= 0 ? 0 : (int)(MIN(left_ns, LATEST_NS) / 1000000) + 1);
		/* the end of a build's last process ends the build too */
		if (fd[0].revents || (u->look.pid_fd < 0 && look_ended(&u->look)))
			return AWAITED_END;
		if (fd[1].revents)
			return AWAITED_STOP;
		if (clock_mono_ns() >= due_ns(u, now_ns))
			return AWAITED_SNAPSHOT;
	}
}

/* 0: end says how, or a negative errno with err. */
static int take_all(struct inspector *u, struct error *err)
{
	int64_t count = u->s->rule->count;
	enum awaited what = AWAITED_SNAPSHOT;
	int r = 0;

	while (what == AWAITED_SNAPSHOT) {
		r = take_snapshot(u, err);
		if (r == -ESRCH)
			what = AWAITED_END;
		else if (r)
			return r;
		if (count && u->result->n_snapshots >= (uint64_t)count)
			return 0;
		if (what == AWAITED_SNAPSHOT)
			what = await_snapshot(u);
	}
	if (what == AWAITED_STOP) {
		u->result->end = RUN_STOPPED;
		return 0;
	}
	u->result->end = count ? RUN_DIED : RUN_COMPLETE;
	return take_last(u, err);
}

/* Ending */

/* Why names are missing, a line a module. */
static void tell_notes(struct inspector *u, struct symbolize_result *result)
{
	struct cursor c;
	struct slice line;
	unsigned n = 0;

	cursor_init(&c, result->notes.data, result->notes.len);
	while (n++ < NOTES_MAX && cursor_until(&c, '\n', &line))
		tell(u, 99, "%.*s", (int)line.len, line.p);
	if (!cursor_at_end(&c))
		tell(u, 99, "more modules have no names");
}

static void name_frames(struct inspector *u)
{
	struct symbolize_result result = { .notes = BUF_INIT };
	struct error err = { 0 };
	int r;

	if (!u->s->symbols || !u->in.n_frames)
		return;
	tell(u, 90, "symbols of %zu addresses", u->in.n_frames);
	r = symbolize(&u->in, u->s->symbols, &result, &err);
	tell_notes(u, &result);
	if (!r)
		r = inspect_archive_set_symbols(u->result->path, &u->in, &err);
	if (r)
		tell(u, 99, "no symbols: %s%s%s", err.path, *err.path ? ": " : "", err.message);
	else
		tell(u, 99, "%zu symbols (%u %%)", result.named, u->in.named_percent);
	buf_release(&result.notes);
}

static void say_what_heap_lacks(struct inspector *u)
{
	if (u->s->rule->heap && !u->heap) {
		u->in.uncounted = u->uncounted ? u->uncounted : "its heap was not found";
		u->in.heap = HEAP_OFF;
		tell(u, percent_of(u), "no allocations: %s", u->in.uncounted);
	}
	if (u->heap_state.other_malloc)
		tell(u, percent_of(u), "the program has its own malloc(): only mappings are counted");
	if (u->heap_state.error)
		tell(u, percent_of(u), "allocations are missing: %s", strerror(u->heap_state.error));
}

/* The words of the end, for the archive and as the last progress. */
static void word_end(const struct inspector *u, int r, const struct error *err, char *text,
		     size_t size)
{
	if (r)
		snprintf(text, size, "Failed with code %d: %s%s%s", -r, err->path,
			 *err->path ? ": " : "", err->message);
	else if (u->result->end == RUN_STOPPED)
		snprintf(text, size, "The inspection was stopped.");
	else if (u->result->end == RUN_DIED || !u->s->rule->count)
		snprintf(text, size, "Process %d died.", (int)u->in.pid);
	else
		snprintf(text, size, u->result->n_snapshots == 1 ? "%zu snapshot was taken." :
			 "%zu snapshots were taken.", u->result->n_snapshots);
}

static void release_inspector(struct inspector *u)
{
	heap_image_close(u->heap);
	look_close(&u->look);
	snapshot_release(&u->snap);
	free_all(u->in.module, u->in.frame, u->in.stack, u->in.frame_name);
	name_table_release(&u->in.names);
	arena_free(u->in.arena);
}

static int finish(struct inspector *u, int r, struct error *err)
{
	struct error why = { 0 };
	char end[sizeof err->path + sizeof err->message + 40];
	int closed;

	if (u->archive && (!r || u->in.n_frames)) {
		say_what_heap_lacks(u);
		name_frames(u);
	}
	word_end(u, r, err, end, sizeof end);
	tell(u, 100, "%s", end);
	closed = inspect_archive_end(u->archive, end, &why);
	if (!r && closed) {
		*err = why;
		r = closed;
	}
	/* nothing was taken */
	if (r && *u->result->path && !u->result->n_snapshots &&
	    !inspect_archive_delete(u->result->path, NULL)) {
		rmdir(u->s->base);
		u->result->path[0] = '\0';
	}
	release_inspector(u);
	return r;
}

int run_inspection(struct run_result *result, int32_t pid, uint64_t start_ticks,
		   const struct run_settings *settings, struct error *err)
{
	struct inspector u;
	struct error why = { 0 };
	int r = prepare_run(&u, settings, result);

	r = r ? error_sys(&why, r, NULL, NULL) : begin_inspection(&u, pid, start_ticks, &why);
	if (!r) {
		tell(&u, 1, "process %d (%s)", (int)pid, u.look.name);
		r = take_all(&u, &why);
	}
	r = finish(&u, r, &why);
	if (r && err)
		*err = why;
	return r;
}

int run_from_image(struct run_result *result, const char *name,
		   const struct run_settings *settings, struct error *err)
{
	struct inspector u;
	struct error why = { 0 };
	int r = prepare_run(&u, settings, result);

	if (!r)
		r = heap_image_open(&u.heap, settings->heap_dir, name, &u.in, &why);
	if (!r)
		r = heap_image_read(u.heap, &u.in, &u.snap, &u.heap_state, &why);
	if (!r && settings->rule->rss_kb && u.heap_state.peak_bytes >> 10 <= settings->rule->rss_kb) {
		release_inspector(&u);
		return -ENODATA;
	}
	if (!r) {
		u.in.pid = heap_image_pid(u.heap);
		u.in.start_ticks = heap_image_start_ticks(u.heap);
		u.in.program = u.in.command = keep_text(&u, heap_image_program(u.heap));
		r = create(&u, &why);
	}
	if (!r) {
		tell(&u, 1, "process %d (%s), which has ended", (int)u.in.pid, u.in.program);
		r = take_last(&u, &why);
	}
	if (r && !*why.message)
		error_sys(&why, r, name, NULL);
	r = finish(&u, r, &why);
	if (r && err)
		*err = why;
	return r;
}
