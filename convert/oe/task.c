/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/minmax.h"
#include "convert/oe/oe_parts.h"

#include "command/kind.h"

#include <errno.h>
#include <string.h>

#define TICK_US 10000		/* times are rounded to this */
#define RUNS_MAX 256		/* in one file */
#define NO_END INT64_MIN	/* until oe_finish_tasks(), as tasks may end before 0 */

/* Values of OE_STATE (see oe.h), with an exit status or a signal in the lower bits. */
enum { EXITED = 1 << 16, KILLED = 2 << 16, GONE = 3 << 16, UNFINISHED = 4 << 16, FAILED = 5 << 16,
       AT_MOST = 1 << 20 };

#define STATE_NUMBER 0xffff

/* One file. */
struct task_file {
	struct oe *o;
	const char *recipe;
	struct oe_name name;
	size_t first_task;	/* of this file, in the recording */
	unsigned expected;	/* field: it is tried first */
	bool open;		/* a record was begun */
	bool damaged;
	int64_t value[OE_SETUP + 1];	/* of that record, -1: missing */
};

/* Names */

/* Each kind has one text. */
static const char *kind_text(const struct oe *o, uint32_t names, const char *kind)
{
	for (size_t i = 0; i < names; i++) {
		if (!strcmp(o->name[i].kind, kind))
			return o->name[i].kind;
	}
	return kind;
}

static int find_name(struct oe *o, const char *text, struct oe_name *out)
{
	size_t len = strlen(text), n = o->names.n;
	struct oe_name *grown;
	uint32_t at;

	o->names.arena = o->r->rec->arena;
	if (name_table_add(&o->names, (struct slice){ text, len }, &at))
		return -ENOMEM;
	if (at == n) {
		grown = array_grow(o->name, n, sizeof *grown);
		if (!grown)
			return -ENOMEM;
		o->name = grown;
		grown[at] = (struct oe_name){ o->names.name[at].p,
					      kind_text(o, at, kind_of_oe_task(text, len)) };
	}
	*out = o->name[at];
	return 0;
}

/* Starts */

static int add_task(struct task_file *f, int64_t start_us)
{
	struct recording *rec = f->o->r->rec;
	struct task *t = array_add(&rec->task, &rec->n_tasks, sizeof *t);

	if (!t)
		return -ENOMEM;
	*t = (struct task){ .seq = rec->n_tasks, .pool = NO_INDEX, .line = -1, .file = "", .program = "",
		.name = f->name.text, .kind = f->name.kind,
		.key = f->recipe, .queued_us = -1, .start_us = start_us, .end_us = NO_END,
		.pid = -1, .slot = -1, .state = TASK_UNFINISHED, .status = -1, .user_us = -1,
		.system_us = -1, .max_rss_kb = -1, .max_rss_at_most_kb = -1, .minor_faults = -1,
		.major_faults = -1, .in_blocks = -1, .out_blocks = -1, .voluntary_switches = -1,
		.involuntary_switches = -1, .rchar = -1, .wchar = -1, .peak_ms = -1, .files_bytes = -1,
		.instructions = -1, .delay_us = -1 };
	return 0;
}

static int begin_task(struct task_file *f, int64_t wall_us)
{
	int64_t start_us;

	if (f->o->r->rec->n_tasks - f->first_task >= RUNS_MAX ||
	    !oe_time(f->o, wall_us, &start_us)) {
		f->damaged = true;
		return 0;
	}
	if (start_us < f->o->earliest_us)
		f->o->earliest_us = start_us;
	return add_task(f, start_us);
}

/* Ends */

static void clear_record(struct task_file *f)
{
	for (size_t i = 0; i <= OE_SETUP; i++)
		f->value[i] = -1;
	f->open = false;
}

/* The task of a record: the unfinished task of the file that began at this time, otherwise the
 * oldest unfinished one. */
static struct task *find_started(const struct task_file *f, int64_t start_us)
{
	struct recording *rec = f->o->r->rec;
	struct task *found = NULL;

	for (size_t i = f->first_task; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];
		int64_t off = t->start_us - start_us;

		if (t->state != TASK_UNFINISHED || t->end_us != NO_END)
			continue;
		if (!found)
			found = t;
		if (off >= -2 * TICK_US && off <= 2 * TICK_US)
			return t;
	}
	return found;
}

static int64_t both(const struct task_file *f, enum oe_field a, enum oe_field b)
{
	return f->value[a] < 0 || f->value[b] < 0 ? -1 : f->value[a] + f->value[b];
}

static int32_t small(int64_t n)
{
	return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}

static int32_t both_small(const struct task_file *f, enum oe_field a, enum oe_field b)
{
	return small(both(f, a, b));
}

/* Old releases write only ticks of 10 ms from /proc. */
static int64_t cpu_us(const struct task_file *f, enum oe_field self, enum oe_field child,
		      enum oe_field ticks, enum oe_field child_ticks)
{
	int64_t us = both(f, self, child);

	if (us >= 0)
		return us;
	us = both(f, ticks, child_ticks);
	return us > OE_LARGEST / TICK_US ? -1 : us < 0 ? -1 : us * TICK_US;
}

static int64_t blocks(const struct task_file *f, enum oe_field bytes, enum oe_field self,
		      enum oe_field child)
{
	return f->value[bytes] >= 0 ? f->value[bytes] / 512 : both(f, self, child);
}

/* In a file that we wrote: its own process did nothing else. */
static void fill_setup(const struct task_file *f, struct task *t)
{
	t->setup_us = small(f->value[OE_SETUP]);
	t->setup_user_us = small(f->value[OE_SELF_UTIME]);
	t->setup_system_us = small(f->value[OE_SELF_STIME]);
	t->user_us -= f->value[OE_SELF_UTIME];
	t->system_us -= f->value[OE_SELF_STIME];
}

static void fill_usage(const struct task_file *f, struct task *t)
{
	t->user_us = cpu_us(f, OE_SELF_UTIME, OE_CHILD_UTIME, OE_UTIME, OE_CUTIME);
	t->system_us = cpu_us(f, OE_SELF_STIME, OE_CHILD_STIME, OE_STIME, OE_CSTIME);
	if (f->value[OE_SETUP] > 0 && t->user_us >= 0 && t->system_us >= 0)
		fill_setup(f, t);
	t->max_rss_kb = MAX(f->value[OE_SELF_MAXRSS], f->value[OE_CHILD_MAXRSS]);
	if (!t->max_rss_kb)	/* we write 0 if it is not known */
		t->max_rss_kb = -1;
	t->minor_faults = both_small(f, OE_SELF_MINFLT, OE_CHILD_MINFLT);
	t->major_faults = both_small(f, OE_SELF_MAJFLT, OE_CHILD_MAJFLT);
	t->in_blocks = blocks(f, OE_IO_READ, OE_SELF_INBLOCK, OE_CHILD_INBLOCK);
	t->out_blocks = blocks(f, OE_IO_WRITTEN, OE_SELF_OUBLOCK, OE_CHILD_OUBLOCK);
	t->voluntary_switches = both_small(f, OE_SELF_NVCSW, OE_CHILD_NVCSW);
	t->involuntary_switches = both_small(f, OE_SELF_NIVCSW, OE_CHILD_NIVCSW);
	t->rchar = f->value[OE_IO_RCHAR];
	t->wchar = f->value[OE_IO_WCHAR];
}

static void fill_state(struct task *t, int64_t value)
{
	int64_t state = value & ~(int64_t)(STATE_NUMBER | AT_MOST);

	t->end_at_most = value & AT_MOST;
	t->state = state == EXITED || state == FAILED ? TASK_FAILED : state == KILLED ? TASK_KILLED : TASK_UNFINISHED;
	if (state == EXITED || state == KILLED)
		t->status = (int32_t)(value & STATE_NUMBER);
	if (state == UNFINISHED)
		t->end_us = NO_END;
}

static void fill_end(struct task_file *f, struct task *t, int64_t end_us)
{
	if (end_us < t->start_us) {
		oe_count(&f->o->backwards, f->recipe, f->name.text);
		end_us = t->start_us;
	}
	t->end_us = end_us;
	if (f->value[OE_STATE] >= 0) {
		fill_state(t, f->value[OE_STATE]);
		return;
	}
	if (f->value[OE_STATUS] < 0)
		return;
	t->state = f->value[OE_STATUS] == OE_PASSED ? TASK_DONE : TASK_FAILED;
	t->status = t->state == TASK_DONE ? 0 : -1;
}

/* A truncated record has at least the elapsed time, which comes first. */
static int end_record(struct task_file *f)
{
	int64_t elapsed_us = f->value[OE_ELAPSED], end_us = 0;
	struct task *t;
	bool ended;
	int r = 0;

	if (!f->open)
		return 0;
	ended = f->value[OE_ENDED] >= 0 && oe_time(f->o, f->value[OE_ENDED], &end_us);
	if (!ended || f->value[OE_STATUS] < 0)
		f->damaged = true;
	t = find_started(f, ended && elapsed_us >= 0 ? end_us - elapsed_us : INT64_MIN / 2);
	if (!t && ended) {
		/* Its start is missing, or it failed before it. */
		elapsed_us = MAX(elapsed_us, 0);
		r = begin_task(f, f->value[OE_ENDED] - elapsed_us);
		t = r ? NULL : find_started(f, end_us - elapsed_us);
	}
	if (t && (ended || elapsed_us >= 0)) {
		if (f->value[OE_STATE] != UNFINISHED)
			fill_usage(f, t);
		fill_end(f, t, ended ? end_us : t->start_us + elapsed_us);
	}
	clear_record(f);
	return r;
}

/* Lines */

static bool find_field(struct task_file *f, const char *p, size_t len, enum oe_field *out)
{
	unsigned at = f->expected;

	for (unsigned i = 0; i < OE_FIELDS; i++, at = at + 1 < OE_FIELDS ? at + 1 : 0) {
		if (len < oe_lines[at].len || memcmp(p, oe_lines[at].key, oe_lines[at].len))
			continue;
		f->expected = at + 1 < OE_FIELDS ? at + 1 : 0;
		*out = (enum oe_field)at;
		return true;
	}
	return false;
}

static bool read_state(struct cursor *c, int64_t *state)
{
	static const struct { const char *word; int64_t state; } words[] = {
		{ "exited ", EXITED }, { "killed ", KILLED },
	};
	int64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (cursor_literal(c, words[i].word)) {
			if (!cursor_i64(c, &n) || n < 1 || n > STATE_NUMBER)
				return false;
			*state = words[i].state | n | (cursor_literal(c, OE_AT_MOST) ? AT_MOST : 0);
			return true;
		}
	}
	*state = cursor_literal(c, "gone") ? GONE :
		 cursor_literal(c, "failed" OE_AT_MOST) ? FAILED | AT_MOST : UNFINISHED;
	return *state != UNFINISHED || cursor_literal(c, "unfinished");
}

static bool read_value(struct cursor *c, enum oe_field field, int64_t *n)
{
	if (field == OE_STATE)
		return read_state(c, n);
	if (field == OE_STATUS) {
		*n = cursor_literal(c, "PASSED") ? OE_PASSED : OE_FAILED;
		return *n == OE_PASSED || cursor_literal(c, "FAILED");
	}
	if (oe_lines[field].decimal ? !oe_millionths(c, n) : !cursor_i64(c, n))
		return false;
	return *n >= 0 && *n <= OE_LARGEST;
}

/* "RECIPE: TASK" begins a record. */
static bool is_title(const struct task_file *f, struct slice line)
{
	struct cursor c;

	cursor_init(&c, line.p, line.len);
	return cursor_literal(&c, f->recipe) && cursor_literal(&c, ": ") &&
	       cursor_literal(&c, f->name.text);
}

static int read_line(struct task_file *f, struct slice line)
{
	enum oe_field field;
	struct cursor c;
	int64_t n;
	int r = 0;

	if (f->expected == OE_ELAPSED && is_title(f, line))
		return end_record(f);
	if (!find_field(f, line.p, line.len, &field)) {
		f->expected = OE_ELAPSED;
		return is_title(f, line) ? end_record(f) : 0;
	}
	if (field == OE_EVENT)
		return end_record(f);
	cursor_init(&c, line.p + oe_lines[field].len, line.len - oe_lines[field].len);
	if (!read_value(&c, field, &n)) {
		/* An elapsed time is negative if the clock was set. */
		f->damaged |= field != OE_ELAPSED;
		return 0;
	}
	if (field == OE_STARTED) {
		r = end_record(f);
		return r ? r : begin_task(f, n);
	}
	f->value[field] = n;
	f->open = true;
	return field == OE_ENDED ? end_record(f) : 0;
}

static int read_lines(struct task_file *f, const char *text, size_t len)
{
	struct slice line;
	struct cursor c;
	int r = 0;

	cursor_init(&c, text, len);
	while (cursor_until(&c, '\n', &line)) {
		if (c.p[-1] == '\n')
			r = read_line(f, line);
		else
			f->damaged = true;
		if (r)
			return r;
	}
	return end_record(f);
}

/* Most files have the usual form. */
static int read_form(struct task_file *f, const struct oe_form *form)
{
	bool ended = false;
	int r = begin_task(f, form->value[OE_STARTED]);

	for (size_t i = 0; i <= OE_ENDED; i++)
		ended |= form->text[i].len > 0;
	if (r || !ended)
		return r;
	memcpy(f->value, form->value, (OE_ENDED + 1) * sizeof *f->value);
	f->value[OE_STATE] = f->value[OE_SETUP] = -1;
	f->open = true;
	return end_record(f);
}

/* The file may end anywhere. A task that failed before it started has no start in it. */
static bool is_of_task(const char *name, struct slice text)
{
	static const char start[] = "Event: TaskStarted";
	size_t n = text.len < sizeof start - 1 ? text.len : sizeof start - 1;

	if (strncmp(name, "do_", 3))
		return n == sizeof start - 1 && !memcmp(text.p, start, n);
	return !memcmp(text.p, start, n) || slice_starts(text, "Status: FAILED");
}

int oe_task_file(struct oe *o, const char *recipe, const char *name,
		 const char *text, size_t len)
{
	struct task_file f = {
		.o = o, .recipe = recipe, .first_task = o->r->rec->n_tasks, .expected = OE_EVENT,
		.damaged = !len || len > OE_TASK_FILE_MAX,
	};
	struct oe_form form;
	bool usual;
	int r;

	if (!is_of_task(name, (struct slice){ text, len })) {
		oe_count(&o->foreign, recipe, name);
		return 0;
	}
	if (find_name(o, name, &f.name))
		return -ENOMEM;
	usual = oe_form_parse(&form, slice_of(recipe), slice_of(f.name.text), text, len);
	if (o->kept && usual)
		oe_keep_task(o->kept, name, &form);
	else if (o->kept)
		oe_keep_file(o->kept, name, text, len);
	clear_record(&f);
	r = usual ? read_form(&f, &form) : read_lines(&f, text, len);
	if (!r && (f.damaged || o->r->rec->n_tasks == f.first_task))
		oe_count(&o->damaged, recipe, name);
	return r;
}

/* Afterwards */

static bool is_setscene(const struct task *t)
{
	return slice_ends(slice_of(t->name), "_setscene");
}

/*
 * A setscene task that fails writes no end. BitBake starts no task of the recipe itself before it
 * knows how its setscene tasks ended: the first one that starts later is a bound.
 */
static void finish_setscene(struct recording *rec, struct task *t, size_t first)
{
	const struct task *next = NULL;

	for (size_t i = first; i < rec->n_tasks; i++) {
		const struct task *other = &rec->task[i];

		if (other->start_us >= t->start_us && !is_setscene(other) &&
		    (!next || other->start_us < next->start_us))
			next = other;
	}
	if (next) {
		t->state = TASK_FAILED;
		t->end_us = next->start_us;
		t->end_at_most = true;
	}
}

void oe_finish_recipe(struct oe *o, size_t first)
{
	struct recording *rec = o->r->rec;

	for (size_t i = first; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];

		if (t->state == TASK_UNFINISHED && t->end_us == NO_END && is_setscene(t))
			finish_setscene(rec, t, first);
	}
}

static int warn(struct oe *o)
{
	int r = 0;

	if (o->damaged.n)
		r = reader_warn(o->r, "%u task files are damaged, the first is %s",
				    o->damaged.n, o->damaged.first);
	if (!r && o->backwards.n)
		r = reader_warn(o->r, "%u tasks end before they start, the first is %s: the "
				    "clock was set back; their duration is 0",
				    o->backwards.n, o->backwards.first);
	if (!r && o->foreign.n)
		r = reader_warn(o->r, "%u files that are not bitbake's left out, the first "
				    "is %s", o->foreign.n, o->foreign.first);
	return r;
}

/* The earliest task begins at 0. */
int oe_finish_tasks(struct oe *o)
{
	struct recording *rec = o->r->rec;
	int64_t by_us = -o->earliest_us;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		struct task *t = &rec->task[i];

		t->start_us += by_us;
		t->end_us = t->end_us == NO_END ? -1 : t->end_us + by_us;
		reader_saw(o->r, t->start_us);
		reader_saw(o->r, t->end_us);
		if (t->state == TASK_UNFINISHED && t->end_us < 0 && strcmp(t->kind, "setscene"))
			oe_count(&o->unended, t->key, t->name);
	}
	if (o->zero_wall_us >= 0)
		o->zero_wall_us -= by_us;
	o->earliest_us = 0;
	return warn(o);
}
