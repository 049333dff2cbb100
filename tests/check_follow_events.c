/* SPDX-License-Identifier: MIT */
/* One log of tasks, read by all who read one: the reader of whole recordings, the present state of a
 * build, and its live trace. They have the same tasks, whole and cut anywhere. */
#include "live/now.h"
#include "recording/follow.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "trace/live.h"

#include "base/array.h"

#define BUILD "buildbeat build 1\nbuildbeat: 0.1\ncores: 4\n"
#define HEADER "buildbeat tasks 1\n"
#define EXPORT TOP_BUILDDIR "/buildbeat export --to chrome "

/* Tasks as lines of text, sorted */

struct lines {
	size_t n;
	char **line;
};

__attribute__((format(printf, 2, 3)))
static void add_line(struct lines *l, const char *format, ...)
{
	char **added = array_add(&l->line, &l->n, sizeof *added);
	va_list ap;

	ck_assert(added != NULL);
	va_start(ap, format);
	ck_assert_int_ge(vasprintf(added, format, ap), 0);
	va_end(ap);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_lines(struct lines *l)
{
	if (l->n)
		qsort(l->line, l->n, sizeof *l->line, by_text);
}

static void release_lines(struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->line[i]);
	free(l->line);
	*l = (struct lines){ 0 };
}

static void same_lines(struct lines *a, struct lines *b, const char *who, const char *log)
{
	sort_lines(a);
	sort_lines(b);
	for (size_t i = 0; i < a->n || i < b->n; i++) {
		const char *x = i < a->n ? a->line[i] : "", *y = i < b->n ? b->line[i] : "";

		ck_assert_msg(!strcmp(x, y), "reader: %s\n%s: %s\n%s", x, who, y, log);
	}
	release_lines(a);
	release_lines(b);
}

static const char *const states[] = {
	[TASK_QUEUED] = "queued", [TASK_UNFINISHED] = "unfinished", [TASK_DONE] = "done",
	[TASK_FAILED] = "failed", [TASK_KILLED] = "killed",
};

/* The trace: a sink that keeps the slices of tasks */

struct open_slice {
	uint32_t pid, tid;
	int64_t begin_us;
	char *name, *kind;
	bool is_task;
};

struct track {
	uint32_t pid, tid;
	int64_t newest_us;
};

struct kept {
	size_t n, n_tracks;
	struct open_slice *open;
	struct track *track;
	struct lines ended;
};

static void keep_start(struct sink *s, const struct sink_start *start)
{
	(void)s;
	(void)start;
}

static void keep_process(struct sink *s, uint32_t pid, const char *name, const char *label, int order)
{
	(void)s, (void)pid, (void)name, (void)label, (void)order;
}

static void keep_track(struct sink *s, uint32_t pid, uint32_t tid, const char *name, int order)
{
	(void)s, (void)pid, (void)tid, (void)name, (void)order;
}

/* Viewers need the times of a track in order. */
static void goes_on(struct kept *k, uint32_t pid, uint32_t tid, int64_t us)
{
	struct track *added;
	size_t i = 0;

	while (i < k->n_tracks && (k->track[i].pid != pid || k->track[i].tid != tid))
		i++;
	if (i == k->n_tracks) {
		added = array_add(&k->track, &k->n_tracks, sizeof *added);
		*added = (struct track){ pid, tid, us };
	}
	ck_assert_int_ge(us, k->track[i].newest_us);
	k->track[i].newest_us = us;
}

static void keep_begin(struct sink *s, const struct sink_slice *slice)
{
	struct kept *k = s->state;
	struct open_slice *added = array_add(&k->open, &k->n, sizeof *added);

	*added = (struct open_slice){ slice->pid, slice->tid, slice->begin_us, strdup(slice->name),
		strdup(slice->category), strcmp(slice->category, "instance") &&
		strcmp(slice->category, "span") };
	if (added->is_task)
		goes_on(k, slice->pid, slice->tid, slice->begin_us);
}

static void replace(char **to, const struct sink_arg *arg, const char *name)
{
	if (strcmp(arg->name, name))
		return;
	free(*to);
	*to = strndup(arg->text, arg->len);
}

/* The innermost slice of the track ends. */
static void keep_end(struct sink *s, uint32_t pid, uint32_t tid, int64_t us, const struct sink_arg *arg,
		     size_t n_args)
{
	struct kept *k = s->state;
	size_t at = k->n;
	struct open_slice o;

	while (at > 0 && (k->open[at - 1].pid != pid || k->open[at - 1].tid != tid))
		at--;
	ck_assert_uint_gt(at, 0);
	o = k->open[at - 1];
	memmove(&k->open[at - 1], &k->open[at], (k->n-- - at) * sizeof o);
	if (o.is_task)
		goes_on(k, pid, tid, us);
	for (size_t i = 0; i < n_args; i++) {
		replace(&o.name, &arg[i], "name");
		replace(&o.kind, &arg[i], "kind");
	}
	if (o.is_task)
		add_line(&k->ended, "%u %lld-%lld %s %s %.*s", pid - 1, (long long)o.begin_us,
			 (long long)us, o.name, o.kind, (int)arg[0].len, arg[0].text);
	free(o.name);
	free(o.kind);
}

static void keep_flow(struct sink *s, struct sink_flow flow, uint32_t pid, uint32_t tid)
{
	(void)s, (void)flow, (void)pid, (void)tid;
}

static void keep_instant(struct sink *s, uint32_t pid, uint32_t tid, int64_t us, const char *name,
			 const struct sink_arg *arg, size_t n_args)
{
	(void)s, (void)pid, (void)tid, (void)us, (void)name, (void)arg, (void)n_args;
}

static uint32_t keep_counter(struct sink *s, uint32_t pid, const char *name, const char *unit)
{
	(void)s, (void)pid, (void)name, (void)unit;
	return 0;
}

/* Only "running tasks" is counted here: never less than none. */
static void keep_value(struct sink *s, uint32_t counter, int64_t us, double value)
{
	(void)s, (void)counter, (void)us;
	ck_assert(value >= 0 && value < 1000);
}

static void keep_whole(struct sink *s)
{
	struct kept *k = s->state;

	ck_assert_uint_eq(k->n, 0);
}

static void keep_release(struct sink *s)
{
	struct kept *k = s->state;

	release_lines(&k->ended);
	free(k->open);
	free(k->track);
}

static const struct sink_ops keep = {
	.state_size = sizeof(struct kept), .begin = keep_start, .process = keep_process,
	.track = keep_track, .slice_begin = keep_begin, .slice_end = keep_end,
	.flow_begin = keep_flow, .instant = keep_instant, .counter = keep_counter,
	.value = keep_value, .end = keep_whole, .release = keep_release,
};

static int never(void *context, struct buf *out)
{
	(void)context, (void)out;
	ck_abort();
	return 0;
}

/* The three */

struct followers {
	struct sink sink;
	struct live *live;
	struct now *now;
	struct growing *of_live, *of_now;
};

static void begin(struct followers *f, const char *dir)
{
	struct error err = { 0 };

	ck_assert_int_eq(sink_init(&f->sink, &keep), 0);
	ck_assert_int_eq(live_new(&f->live, &f->sink, never, NULL), 0);
	ck_assert_int_eq(now_new(&f->now), 0);
	ck_assert_int_eq(growing_open(&f->of_live, dir, NULL, &live_growing, f->live, &err), 0);
	ck_assert_int_eq(growing_open(&f->of_now, dir, NULL, &now_growing, f->now, &err), 0);
}

static void more(struct followers *f)
{
	struct error err = { 0 };

	ck_assert_int_ge(growing_read(f->of_live, &err), 0);
	live_settle(f->live);
	ck_assert_int_ge(growing_read(f->of_now, &err), 0);
}

static void end(struct followers *f)
{
	growing_close(f->of_live);
	growing_close(f->of_now);
	live_free(f->live);
	now_free(f->now);
	sink_release(&f->sink);
}

/* What runs or has failed: its instance and number, start, name, kind. */
static void add_task(struct lines *l, const struct recording *rec, const struct task *t)
{
	add_line(l, "%s.%llu %lld %s %s %s", rec->instance[t->instance].id, (unsigned long long)t->seq,
		 (long long)t->start_us, follow_name(t), t->start_us < 0 ? "" : t->kind, rec->instance[t->instance].tool);
}

static void same_now(const struct now *n, const struct recording *rec, const char *log)
{
	uint64_t count[TASK_KILLED + 1] = { 0 };
	struct lines read = { 0 }, now = { 0 };

	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		count[t->state]++;
		if (follow_runs(rec, t) || t->state == TASK_FAILED || t->state == TASK_KILLED)
			add_task(&read, rec, t);
	}
	for (size_t i = 0; i < n->n_tasks; i++)
		add_task(&now, n->rec, &n->rec->task[n->task[i]]);
	for (size_t i = 0; i < n->n_failures; i++)
		add_task(&now, n->rec, &n->rec->task[n->failure[i]]);
	same_lines(&read, &now, "now", log);
	ck_assert_msg(n->n_queued == count[TASK_QUEUED] && n->n_done == count[TASK_DONE] &&
		      n->n_failed == count[TASK_FAILED] && n->n_killed == count[TASK_KILLED] &&
		      n->n_unfinished == count[TASK_UNFINISHED], "%s", log);
	ck_assert_int_eq(n->last_us, rec->last_us);
}

static void read_recording(struct recording *rec, const char *dir)
{
	recorded_open(rec, dir, NULL);
}

static void now_agrees(const struct followers *f, const char *dir, const char *log)
{
	RELEASED(recording, rec);

	read_recording(&rec, dir);
	same_now(f->now, &rec, log);
}

/* Ends the trace. */
static void trace_agrees(struct followers *f, const char *dir, const char *log)
{
	struct lines read = { 0 };
	RELEASED(recording, rec);

	read_recording(&rec, dir);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		if (t->start_us >= 0)
			add_line(&read, "%u %lld-%lld %s %s %s", t->instance, (long long)t->start_us,
				 (long long)recording_task_end_us(&rec, t), follow_name(t), t->kind,
				 states[t->state]);
	}
	ck_assert_int_eq(live_end(f->live, 0), 0);
	same_lines(&read, &((struct kept *)f->sink.state)->ended, "trace", log);
}

static const char *new_dir(void)
{
	static char dir[4096];

	snprintf(dir, sizeof dir, "%s/rec", support_tmpdir());
	mkdir(dir, 0700);
	support_writes(support_path("%s/build", dir), BUILD);
	return dir;
}

static void write_log(const char *dir, const char *name, const char *text, size_t len)
{
	support_write(support_path("%s/%s", dir, name), text, len);
}

/* The first len bytes of the log, read at once. */
static void agree(const char *dir, const char *log, size_t len)
{
	struct followers f;

	write_log(dir, "tasks.log", log, len);
	begin(&f, dir);
	more(&f);
	now_agrees(&f, dir, log);
	trace_agrees(&f, dir, log);
	end(&f);
}

/* Cut after each line and inside it. */
static void agree_everywhere(const char *dir, const char *log)
{
	size_t line = strlen(HEADER), len = strlen(log);

	for (const char *eol; line < len; line = (size_t)(eol + 1 - log)) {
		eol = strchr(log + line, '\n');
		agree(dir, log, line);
		agree(dir, log, line + (size_t)(eol - (log + line)) / 2);
	}
	agree(dir, log, len);
}

/* The same followers all the time: a name that comes in a later reading is an argument of the slice. */
static void agree_growing(const char *dir, const char *log)
{
	size_t line = strlen(HEADER), len = strlen(log);
	struct followers f;

	write_log(dir, "tasks.log", log, line);
	begin(&f, dir);
	for (const char *eol; line < len; line = (size_t)(eol + 1 - log)) {
		eol = strchr(log + line, '\n');
		write_log(dir, "tasks.log", log, (size_t)(eol + 1 - log));
		more(&f);
		now_agrees(&f, dir, log);
	}
	trace_agrees(&f, dir, log);
	end(&f);
}

/* Known logs */

static const struct {
	const char *log;
	const char *tasks[4];
} known[] = {
	{ "open\t0\tm\t10\t0\t10\tbitbake\n"		/* tasks of bitbake have no kinds */
	  "start\t100000\tm.1\t11\t0\t\tdo_compile\ndone\t900000\tm.1\n"
	  "done\t1900000\tm.2\nstart\t1000000\tm.2\t12\t0\t\tdo_install\n"
	  "start\t2000000\tm.3\t13\t0\nname\t2100000\tm.3\tlate-name\t\tlink\n"
	  "start\t2200000\tm.3\t13\t0\ndone\t3000000\tm.3\t0\nclose\t5000000\tm\t3\n",
	  { "0 100000-900000 do_compile compile done", "0 1000000-1900000 do_install install done",
	    "0 2000000-3000000 late-name link done" } },
	{ "start\t5\ta.1\t1\t0\t\t\t\tcc -c x.c -o x.o\nqueue\t1\ta.1\t\tx.o!\n"	/* no first line */
	  "start\t7\ta.2\t2\t0\t\t\t\tcc -c y.c -o y.o\nend\t9\ta.2\t4\nfail\t20\ta.2\t3\n"
	  "gone\t21\ta.1\ndone\t22\ta.1\n",
	  { "0 5-21 x.o! compile unfinished", "0 7-20 y.o compile failed" } },
	{ "open\t0\tm\t10\t0\t10\tmake\nname\t1\tm.1\tn\t\tlink\nstart\t2\tm.1\t5\t0\tother\tother\n"
	  "start\t3\tm.2\t6\t0\nclose\t10\tm\nstart\t20\tm.3\t7\t0\t\tlate\n",	/* goes on */
	  { "0 2-20 n link unfinished", "0 3-20 other other unfinished", "0 20-20 late other unfinished" } },
};

TEST_EACH(known_logs, known)
{
	const char *log = support_path(HEADER "%s", known[_i].log), *dir = new_dir();
	char *copy = strdup(log);
	struct lines expected = { 0 };
	struct followers f;

	write_log(dir, "tasks.log", copy, strlen(copy));
	begin(&f, dir);
	more(&f);
	ck_assert_int_eq(live_end(f.live, 0), 0);
	for (size_t i = 0; i < ARRAY_SIZE(known[_i].tasks) && known[_i].tasks[i]; i++)
		add_line(&expected, "%s", known[_i].tasks[i]);
	same_lines(&expected, &((struct kept *)f.sink.state)->ended, "trace", copy);
	end(&f);
	agree_everywhere(dir, copy);
	agree_growing(dir, copy);
	free(copy);
}

/* What users see: slices of tasks with the same times, names, kinds and values. */
TEST_EACH(exported, known)
{
	const char *dir = new_dir();

	write_log(dir, "tasks.log", support_path(HEADER "%s", known[_i].log),
		  strlen(HEADER) + strlen(known[_i].log));
	support_expect(support_tmpdir(), 0, NULL, "", 
		       EXPORT "-o w.json rec && " EXPORT "--follow -o f.json rec && "
		       "python3 -B " TOP_SRCDIR "/tests/live.py agree w.json f.json");
}

/* Random logs */

#define INSTANCES 3
#define TASKS 4			/* of each */

struct entry {
	int64_t at;		/* its place in the log */
	bool other_file;
	char *text;
};

struct made {
	uint64_t seed;
	size_t n;
	struct entry *entry;
};

static bool chance(struct made *m, unsigned percent)
{
	return random_below(&m->seed, 100) < percent;
}

/* A line is written a little later or earlier than its time. */
__attribute__((format(printf, 3, 4)))
static void add(struct made *m, int64_t us, const char *format, ...)
{
	struct entry *added = array_add(&m->entry, &m->n, sizeof *added);
	va_list ap;

	*added = (struct entry){ .at = us + (chance(m, 30) ? (int64_t)random_below(&m->seed, 4000) - 2000 : 0),
				 .other_file = chance(m, 15) };
	va_start(ap, format);
	ck_assert_int_ge(vasprintf(&added->text, format, ap), 0);
	va_end(ap);
}

static const char *pick(struct made *m, const char *const *from, size_t n)
{
	return from[random_below(&m->seed, n)];
}

static const char *const kinds[] = { "", "", "compile", "link" };
static const char *const task_names[] = { "", "do_compile", "lib/a.o", "t\\tab" };
static const char *const commands[] = { "", "cc -c a.c -o a.o", "ld -o prog a.o", "\\\\x" };
static const char *const ends[] = { "done", "done", "fail", "kill", "gone" };

#define PICK(m, from) pick(m, from, ARRAY_SIZE(from))

static void make_task(struct made *m, int i, int k, int64_t us)
{
	int64_t end_us = us + (int64_t)random_below(&m->seed, 6000);

	if (chance(m, 60))
		add(m, us - 100, "queue\t%lld\ti%d.%d\t%s\t%s\tkey", (long long)us - 100, i, k,
		    PICK(m, kinds), PICK(m, task_names));
	if (chance(m, 90))
		add(m, us, "start\t%lld\ti%d.%d\t%d\t%d\t%s\t%s\t\t%s", (long long)us, i, k, 100 * i + k,
		    k % 3, PICK(m, kinds), PICK(m, task_names), PICK(m, commands));
	if (chance(m, 10))
		add(m, us + 300, "start\t%lld\ti%d.%d\t7\t0\tlink\tagain", (long long)us + 300, i, k);
	if (chance(m, 40))
		add(m, us + 100, "name\t%lld\ti%d.%d\t%s\t%s\t%s", (long long)us + 100, i, k,
		    PICK(m, task_names), chance(m, 50) ? "other" : "", PICK(m, kinds));
	if (chance(m, 20))
		add(m, us + 50, "pid\t%lld\ti%d.%d\t%d", (long long)us + 50, i, k, 50 + k);
	if (chance(m, 20))
		add(m, us + 50, "after\t%lld\ti%d.%d\ta.o\tb.o", (long long)us + 50, i, k);
	if (chance(m, 20))
		add(m, us + 60, "begin\t%lld\ti%d.%d\t4\tpart", (long long)us + 60, i, k);
	if (chance(m, 80))
		add(m, end_us, "%s\t%lld\ti%d.%d\t1\t5\t6\t7", PICK(m, ends), (long long)end_us, i, k);
	if (chance(m, 10))
		add(m, end_us + 10, "fail\t%lld\ti%d.%d\t9", (long long)end_us + 10, i, k);
}

static void make_instance(struct made *m, int i)
{
	static const char *const tools[] = { "make", "bitbake", "ninja" };
	int64_t us = 1000 + 2000 * i, close_us = us + 20000;

	if (chance(m, 90))
		add(m, us - 500, "open\t%lld\ti%d\t%d\t0\t%d,%d\t%s", (long long)us - 500, i, i,
		    i, i ? 101 : 1, PICK(m, tools));
	if (chance(m, 10))	/* another process with its id */
		add(m, us + 9000, "open\t%lld\ti%d\t%d\t0\t1\tmake", (long long)us + 9000, i, i);
	for (int k = 1; k <= TASKS; k++)
		make_task(m, i, k, us + (int64_t)random_below(&m->seed, 15000));
	if (chance(m, 30))
		add(m, us, "group\t%lld\ti%d\tall\tx\ty", (long long)us, i);
	if (chance(m, 30))
		add(m, us, "note\t%lld\ti%d.1\ttext", (long long)us, i);
	if (chance(m, 20))
		add(m, us, "later\t%lld\ti%d.1\ttext", (long long)us, i);
	if (chance(m, 10))
		add(m, us, "damage\\");
	if (chance(m, 70))
		add(m, close_us, "close\t%lld\ti%d\t%d", (long long)close_us, i, TASKS);
}

static int by_place(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->other_file != y->other_file)
		return x->other_file ? -1 : 1;
	return x->at != y->at ? array_order(x->at, y->at) : strcmp(x->text, y->text);
}

/* The position of the first line with one of these words about the task of a line. */
static size_t first_line(const struct made *m, const char *of, const char *const *word, size_t n)
{
	const char *id = strchr(strchr(of, '\t') + 1, '\t');
	size_t len = strcspn(id + 1, "\t") + 1;

	for (size_t i = 0; i < m->n; i++) {
		const char *text = m->entry[i].text, *at = strchr(text, '\t');

		at = at ? strchr(at + 1, '\t') : NULL;
		for (size_t k = 0; at && k < n; k++) {
			if (!strncmp(text, word[k], strlen(word[k])) && !strncmp(at, id, len) &&
			    (!at[len] || at[len] == '\t'))
				return i;
		}
	}
	return m->n;
}

/* No trace can show a name that comes when its slice has ended. */
static bool is_too_late(const struct made *m, size_t at)
{
	static const char *const start[] = { "start\t" }, *const ended[] = { "done\t", "fail\t", "kill\t", "gone\t" };
	const char *text = m->entry[at].text;

	return (!strncmp(text, "name\t", 5) || !strncmp(text, "queue\t", 6)) &&
	       first_line(m, text, start, 1) < at &&
	       first_line(m, text, ended, ARRAY_SIZE(ended)) < at;
}

/* Its lines in order; those of the other file come first, as that file is read first. */
static void make(struct made *m, struct buf *log, struct buf *other, uint64_t seed, bool two_files)
{
	*m = (struct made){ .seed = seed };
	for (int i = 0; i < INSTANCES; i++)
		make_instance(m, i);
	for (size_t i = 0; i < m->n; i++)
		m->entry[i].other_file &= two_files;
	qsort(m->entry, m->n, sizeof *m->entry, by_place);
	buf_adds(log, HEADER);
	buf_adds(other, HEADER);
	for (size_t i = 0; i < m->n; i++) {
		if (!is_too_late(m, i))
			buf_addf(m->entry[i].other_file ? other : log, "%s\n", m->entry[i].text);
	}
	for (size_t i = 0; i < m->n; i++)
		free(m->entry[i].text);
	free(m->entry);
}

TEST_LOOP(random_logs, 20)
{
	RELEASED(buf, log = BUF_INIT, other = BUF_INIT);
	const char *dir = new_dir();
	struct made m;

	make(&m, &log, &other, (uint64_t)_i, _i % 2);
	if (_i % 2)
		write_log(dir, "tasks-other.log", other.data, other.len);
	if (_i < 6)
		agree_everywhere(dir, buf_str(&log));
	agree_growing(dir, buf_str(&log));
}

/* A task that was forgotten: a second start is damage, its spans and notes are those of its instance,
 * and other lines are left out. */

struct forgetful {
	struct follow follow;
	unsigned n_spans, n_ends, n_notes, n_others;
};

static int forget_ended(void *context, uint32_t task, enum follow_change what, struct slice command)
{
	struct forgetful *f = context;

	(void)command;
	if (what == FOLLOW_ENDED)
		follow_forget(&f->follow, task);
	return 0;
}

static int count_span(void *context, const struct span *s, int64_t parent)
{
	(void)parent;
	((struct forgetful *)context)->n_spans += s->task == NO_INDEX;
	return 0;
}

static int count_end(void *context, const struct span_end *e)
{
	((struct forgetful *)context)->n_ends += e->task == NO_INDEX;
	return 0;
}

static int count_note(void *context, const struct note *n)
{
	((struct forgetful *)context)->n_notes += n->task == NO_INDEX;
	return 0;
}

static int count_other(void *context, uint32_t instance, uint32_t task, struct event *e)
{
	(void)instance;
	(void)task;
	(void)e;
	((struct forgetful *)context)->n_others++;
	return 0;
}

static const struct { const char *line; int result; } after_end[] = {
	{ "open\t0\ta\t10\t0\t10\tmake", 0 }, { "start\t1\ta.1\t11\t0\t\tx", 0 }, { "done\t2\ta.1\t0", 0 },
	{ "begin\t3\ta.1\t1\tspan", 0 }, { "end\t4\ta.1\t1", 0 }, { "note\t5\ta.1\tword", 0 },
	{ "name\t6\ta.1\ty\tk\tlink", 0 }, { "after\t6\ta.1\tz", 0 }, { "out\t6\ta.1\tz", 0 },
	{ "pid\t6\ta.1\t7", 0 }, { "place\t6\ta.1\tMakefile\t3", 0 }, { "queue\t6\ta.1\t\tx", 0 },
	{ "done\t7\ta.1\t0", 0 }, { "start\t8\ta.1\t11\t0\t\tx", -EBADMSG },
};

TEST(lines_of_forgotten_tasks)
{
	static const struct follow_to to = {
		.changed = forget_ended, .span = count_span, .span_end = count_end, .note = count_note,
		.other = count_other,
	};
	struct forgetful f = { 0 };
	RELEASED(recording, rec);

	ck_assert_int_eq(follow_growing(&f.follow, &rec, &to, &f), 0);
	for (size_t i = 0; i < ARRAY_SIZE(after_end); i++) {
		struct event e;

		ck_assert_int_eq(event_parse(slice_of(after_end[i].line), &e), EVENT_PARSED);
		ck_assert_msg(follow_line(&f.follow, &e) == after_end[i].result, "%s", after_end[i].line);
	}
	ck_assert(f.n_spans == 1 && f.n_ends == 1 && f.n_notes == 1 && !f.n_others);
	follow_release(&f.follow);
}

TEST_MAIN(follow_events);
