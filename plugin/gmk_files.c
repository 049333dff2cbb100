/* SPDX-License-Identifier: MIT */
#include "plugin/gmk_files.h"

#include "base/buf.h"
#include "plugin/procs.h"
#include "recording/event.h"

#include <string.h>
#include <sys/mman.h>

#define DEPTH_MAX 64		/* of targets without a task behind each other */
#define NAMES_AT_ONCE 128
#define MARKS_FIRST 512		/* a power of two: a page */
#define WAITS_SLOTS 64		/* a power of two */

/* The beginnings of make's structs. */
struct make_dep {
	const struct make_dep *next;
	const char *name;	/* NULL: that of its file */
	const struct make_file *file[2];	/* the first one since 4.2, the second before */
	/* Since 4.4 the second one is the prerequisite that --shuffle put here, and this follows: */
	const char *stem;
	unsigned flags : 8, changed : 1, ignore_mtime : 1, static_pattern : 1, second : 1,
		 ignore_automatic : 1, is_explicit : 1;
	unsigned wait_here : 1;		/* not looked at before those in front of it are made */
};

struct make_file {
	const char *name, *hname, *vpath;
	const struct make_dep *deps;
	const struct gmk_commands *commands;
	const char *stem;
	const struct make_dep *also_make;	/* made by the same run of its recipe */
	const struct make_file *prev;		/* the next rule with double colons */
	const struct make_file *last, *renamed;
	const void *variables, *pattern_variables;
	const struct make_file *parent;
	const struct make_file *double_colon;	/* the first rule, of one with double colons */
};

/* The beginning of make's struct variable. */
struct make_variable {
	const char *name, *value;
};

/* Weak: other tools than make must be able to load this object, too. */
const struct make_variable *lookup_variable(const char *name, size_t len) __attribute__((weak));
const struct make_file *lookup_file(const char *name) __attribute__((weak));
extern const char *version_string __attribute__((weak));
extern const void *current_variable_set_list __attribute__((weak));
extern int not_parallel __attribute__((weak));

/* What is known of a target, in the low bits of its address. */
#define RAN 1u			/* a process of its recipe started */
#define LEADS 2u		/* there are such behind it, and it was written */
#define SEEN 4u			/* it was looked at, or is being looked at */
#define BITS 7u

/* In .data, whose page ld.so has touched anyway: every make uses it. */
static __attribute__((section(".data"))) struct {
	bool known;
	bool told_serial;
	unsigned dep_file;	/* which of make_dep.file it is */
	const struct make_file *current, *last;	/* asked for; whose process started */
	struct store *store;
	uintptr_t *mark;	/* a table with open addressing */
	size_t n, size;
	bool waits;		/* make_dep.wait_here is there */
} files;

/* Targets that were looked at lately: do some of their prerequisites wait for others? */
static struct waiting {
	const struct make_file *file;
	bool any;
	unsigned written;	/* of the groups of these others */
} waiting[WAITS_SLOTS];

static char wait_names[EVENT_MAX / 4];	/* of the groups for which the current target waits */
static uintptr_t first_marks[MARKS_FIRST];

/* Versions of make whose structs are known: "4.0" to "4.4.1", but not remake's "4.3+dbg". */
void gmk_files_begin(void)
{
	const char *v = &version_string && lookup_file && lookup_variable ? version_string : "";
	size_t len = 0;

	while ((v[len] >= '0' && v[len] <= '9') || v[len] == '.')
		len++;
	files.known = v[0] == '4' && v[1] == '.' && v[2] >= '0' && v[2] <= '4' && !v[len] && len <= 5;
	files.dep_file = files.known && v[2] < '2';
	files.waits = files.known && v[2] == '4';
	files.mark = first_marks;
	files.size = MARKS_FIRST;
}

const char *gmk_files_version(void)
{
	return files.known ? version_string : NULL;
}

const char *gmk_files_variable(const char *name)
{
	const struct make_variable *v = files.known ? lookup_variable(name, strlen(name)) : NULL;

	return v ? v->value : NULL;
}

static void add_value(struct buf *b, const char *name)
{
	const char *value = gmk_files_variable(name);

	if (value)
		buf_adds(b, value);
}

void gmk_files_add_prerequisites(struct buf *b)
{
	if (files.current && !files.current->deps)
		return;
	add_value(b, "^");
	buf_addc(b, ' ');
	add_value(b, "|");
}

/* The variables that are in use show which of several rules with double colons runs, and that it
 * is the archive of this name and not one of its members. */
static const struct make_file *find_file(const char *target)
{
	const struct make_file *f = files.known && *target ? lookup_file(target) : NULL;

	if (!f || !f->hname || strcmp(f->hname, target))
		return NULL;
	while (f && &current_variable_set_list && f->variables != current_variable_set_list)
		f = f->prev;
	return f;
}

const struct gmk_commands *gmk_files_recipe(const char *target)
{
	files.current = find_file(target);
	return files.current ? files.current->commands : NULL;
}

/* Marks */

static uintptr_t *slot_of(uintptr_t *mark, size_t size, const struct make_file *f)
{
	uint64_t hash = ((uintptr_t)f >> 4) * 0x9e3779b97f4a7c15;

	for (size_t at = hash >> 32 & (size - 1);; at = (at + 1) & (size - 1)) {
		if (!mark[at] || (mark[at] & ~(uintptr_t)BITS) == (uintptr_t)f)
			return &mark[at];
	}
}

/* Rarely: each time the table is half full. If there is no memory, it becomes fuller, and then new
 * targets are not marked. */
static void make_room(void)
{
	size_t size = 2 * files.size;
	uintptr_t *more;

	if (files.n < files.size / 2)
		return;
	more = mmap(NULL, size * sizeof *more, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (more == MAP_FAILED)
		return;
	for (size_t i = 0; i < files.size; i++) {
		const struct make_file *f = (const struct make_file *)(files.mark[i] & ~(uintptr_t)BITS);

		if (f)
			*slot_of(more, size, f) = files.mark[i];
	}
	if (files.mark != first_marks)
		munmap(files.mark, files.size * sizeof *files.mark);
	files.mark = more;
	files.size = size;
}

static unsigned marks_of(const struct make_file *f)
{
	return (unsigned)(*slot_of(files.mark, files.size, f) & BITS);
}

static void add_mark(const struct make_file *f, unsigned bit)
{
	uintptr_t *slot;

	make_room();
	slot = slot_of(files.mark, files.size, f);
	if (!*slot && files.n++ >= files.size / 4 * 3) {
		files.n--;
		return;
	}
	*slot = (*slot ? *slot : (uintptr_t)f) | bit;
}

/* Names and lines */

static const struct make_file *file_of(const struct make_dep *d)
{
	const struct make_file *f = d->file[files.dep_file];

	while (f && f->renamed)
		f = f->renamed;
	return f;
}

static const char *name_of(const struct make_dep *d, const struct make_file *f)
{
	return d->name ? d->name : f->name;
}

static void write_names(const struct make_file *of, const char *const *names, size_t n)
{
	struct buf b;

	for (size_t done = 0; done < n;) {
		procs_begin_line(&b);
		done += event_add_group(&b, store_now_us(files.store), files.store->inst, of->name,
					names + done, n - done);
		procs_end_line(&b);
	}
}

static bool leads(const struct make_file *f, unsigned depth);

/* The prerequisites that lead to tasks. */
static void write_group(const struct make_file *f, unsigned depth)
{
	const char *names[NAMES_AT_ONCE];
	size_t n = 0;

	for (const struct make_file *e = f; e; e = e->prev) {
		for (const struct make_dep *d = e->deps; d; d = d->next) {
			const struct make_file *other = file_of(d);

			if (!other || !leads(other, depth + 1))
				continue;
			names[n++] = name_of(d, other);
			if (n == NAMES_AT_ONCE) {
				write_names(f, names, n);
				n = 0;
			}
		}
	}
	write_names(f, names, n);
}

/* Did a task run for it, or for something behind it? */
static bool leads(const struct make_file *f, unsigned depth)
{
	unsigned marks = marks_of(f);
	bool any = false;

	if ((marks & RAN) && !f->double_colon)
		return true;
	if ((marks & SEEN) || depth == DEPTH_MAX)
		return marks & (RAN | LEADS);
	if (!f->deps && !f->prev)
		return marks & (RAN | LEADS);
	add_mark(f, SEEN);
	for (const struct make_file *e = f; e; e = e->prev) {
		for (const struct make_dep *d = e->deps; d; d = d->next) {
			const struct make_file *other = file_of(d);

			any |= other && leads(other, depth + 1);
		}
	}
	if (any) {
		write_group(f, depth);
		add_mark(f, LEADS);
	}
	return any || (marks & RAN);
}

/* What the same run of the recipe makes stands for its target. */
static void write_also_made(const struct make_file *f)
{
	for (const struct make_dep *d = f->also_make; d; d = d->next) {
		const struct make_file *other = file_of(d);

		if (!other || other == f || (marks_of(other) & (RAN | SEEN)))
			continue;
		add_mark(other, SEEN | LEADS);
		write_names(other, &f->name, 1);
	}
}

/* Waits between prerequisites: .WAIT, or all those of a target that .NOTPARALLEL names */

static const struct make_dep *shuffled(const struct make_dep *d)
{
	return d->file[1] ? (const struct make_dep *)(const void *)d->file[1] : d;
}

static struct waiting *waiting_of(const struct make_file *f)
{
	struct waiting *w = &waiting[((uintptr_t)f >> 4) * 0x9e3779b97f4a7c15 >> 40 & (WAITS_SLOTS - 1)];

	if (w->file == f)
		return w;
	*w = (struct waiting){ .file = f };
	for (const struct make_dep *d = f->deps; d && !w->any; d = d->next)
		w->any = shuffled(d)->wait_here;
	return w;
}

static const char *wait_name(char *name, size_t size, unsigned wait, const struct make_file *f)
{
	struct buf b;

	buf_init_fixed(&b, name, size);
	buf_addf(&b, EVENT_WAIT_PREFIX "%u:%s", wait, f->name);
	return buf_error(&b) || strpbrk(name, " \t\n") ? NULL : name;
}

/* A group of what comes before a wait: the prerequisites since the wait before it, and that. */
static void write_wait(const struct make_file *f, const struct make_dep *from,
		       const struct make_dep *until, unsigned wait)
{
	char name[EVENT_MAX / 8], before[EVENT_MAX / 8];
	const struct make_file group = { .name = wait_name(name, sizeof name, wait, f) };
	const char *names[NAMES_AT_ONCE];
	size_t n = 0;

	if (!group.name)
		return;
	if (wait > 1)
		names[n++] = wait_name(before, sizeof before, wait - 1, f);
	for (const struct make_dep *d = from; d != until; d = d->next) {
		const struct make_file *other = file_of(shuffled(d));

		if (!other || !leads(other, 1))
			continue;
		names[n++] = name_of(shuffled(d), other);
		if (n == NAMES_AT_ONCE) {
			write_names(&group, names, n);
			n = 0;
		}
	}
	write_names(&group, names, n);
}

/* The last wait in front of a prerequisite of f, 0: none. What comes before it is written. */
static unsigned find_wait(struct waiting *w, const struct make_file *f,
			  const struct make_file *child)
{
	const struct make_dep *from = f->deps;
	unsigned wait = 0;

	for (const struct make_dep *d = f->deps; d; d = d->next) {
		if (shuffled(d)->wait_here) {
			if (++wait > w->written) {
				write_wait(f, from, d, wait);
				w->written = wait;
			}
			from = d;
		}
		if (file_of(shuffled(d)) == child)
			return wait;
	}
	return 0;
}

/* Of the current target and of those for which make makes it. */
static void find_waits(const struct make_file *f)
{
	struct buf b;

	wait_names[0] = '\0';
	buf_init_fixed(&b, wait_names, sizeof wait_names);
	for (unsigned depth = 0; files.waits && depth < DEPTH_MAX; depth++) {
		const struct make_file *child = f->double_colon ? f->double_colon : f;
		char name[EVENT_MAX / 8];
		struct waiting *w;
		unsigned wait;

		f = child->parent;
		if (!f || f == child)
			break;
		w = waiting_of(f);
		wait = w->any ? find_wait(w, f, child) : 0;
		if (wait && wait_name(name, sizeof name, wait, f) && b.len + strlen(name) + 2 < sizeof wait_names)
			buf_addf(&b, " %s", name);
	}
	buf_str(&b);
}

const char *gmk_files_waits(void)
{
	return files.current ? wait_names : "";
}

static void tell_serial(void)
{
	struct buf b;

	files.told_serial = true;
	procs_begin_line(&b);
	event_add_note(&b, store_now_us(files.store), files.store->inst, 0, EVENT_NOTE_SERIAL);
	procs_end_line(&b);
}

void gmk_files_run(struct store *s)
{
	const struct make_file *f = files.current;

	if (!f || f == files.last)
		return;
	files.store = s;
	files.last = f;
	if (&not_parallel && not_parallel && !files.told_serial)
		tell_serial();
	add_mark(f->double_colon ? f->double_colon : f, RAN);
	for (const struct make_dep *d = f->deps; d; d = d->next) {
		const struct make_file *other = file_of(d);

		if (other && (other->deps || other->prev))
			leads(other, 0);
	}
	if (f->also_make)
		write_also_made(f);
	find_waits(f);
}
