/* SPDX-License-Identifier: MIT */
#include "base/minmax.h"
#include "live/top/screen.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "recording/follow.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NARROW 60		/* columns: with fewer, only the most important ones are shown */
#define LOW 18			/* lines: with fewer, meters share a line */
#define ONCE_WIDTH 100
#define CORES_MAX 16		/* with a meter each */

static struct buf *add_line(struct top_screen *s, enum top_tone tone)
{
	struct top_line *l = array_add(&s->line, &s->n, sizeof *l);

	if (!l)
		return &s->lost;
	*l = (struct top_line){ .tone = tone, .row = -1 };
	return &l->text;
}

static void clear(struct top_screen *s)
{
	for (size_t i = 0; i < s->n; i++)
		buf_release(&s->line[i].text);
	buf_release(&s->lost);
	s->n = 0;
	free(s->line);
	s->line = NULL;
}

void top_screen_release(struct top_screen *s)
{
	clear(s);
}

/* Text of ours, cut at the width. */
static void put(struct buf *b, const char *text, size_t width)
{
	size_t n = strlen(text);

	buf_add(b, text, MIN(n, width));
}

/* Fill up to this column. */
static void pad(struct buf *b, size_t from, size_t columns)
{
	size_t have = text_columns(b->data ? b->data + from : "", b->len - from);

	if (have < columns)
		text_add_blanks(b, columns - have);
}

static void put_right(struct buf *b, const char *text, size_t columns)
{
	size_t n = strlen(text);

	if (n < columns)
		text_add_blanks(b, columns - n);
	buf_adds(b, text);
}

/* The build */

static void add_state(struct buf *b, const struct top_model *m)
{
	const struct now *n = m->now;
	int64_t elapsed = now_elapsed_us(n, clock_mono_ns());

	if (m->deleted) {
		buf_adds(b, "The recording was deleted");
		return;
	}
	if (!m->ended) {
		buf_adds(b, now_is_suspended(n) ? "Suspended after " :
			 n->n_failed + n->n_killed ? "Running, with failures, for " : "Running for ");
		text_add_time(b, elapsed);
		return;
	}
	if (!n->ended) {
		buf_adds(b, "Unfinished: nothing was recorded after ");
		text_add_time(b, n->last_us);
		return;
	}
	buf_adds(b, !n->exit_status ? "Finished after " : n->signal > 0 || n->exit_status > 0 ? "Failed after " :
		 "Ended after ");
	text_add_time(b, n->end_us);
	if (n->signal > 0)
		buf_addf(b, ", killed by signal %d", n->signal);
	else if (n->exit_status > 0)
		buf_addf(b, ", exit status %d", n->exit_status);
}

static enum top_tone state_tone(const struct top_model *m)
{
	const struct now *n = m->now;

	if (m->deleted || n->n_failed + n->n_killed || (m->ended && n->exit_status))
		return TOP_BAD;
	return TOP_GOOD;
}

static void add_bar(struct top_screen *s, double share, unsigned width)
{
	unsigned room = width > 12 ? width - 8 : 4, full = (unsigned)(share * room);
	struct buf *b = add_line(s, TOP_METER);

	buf_addc(b, '[');
	for (unsigned i = 0; i < room; i++)
		buf_addc(b, i < full ? '#' : '.');
	buf_addf(b, "] %3.0f %%", share * 100);
}

static void add_build(struct top_screen *s, const struct top_model *m, unsigned width, bool low)
{
	const struct now *n = m->now;
	struct remaining_estimate left = top_model_left(m);
	struct buf text = { 0 }, *b = add_line(s, TOP_TITLE);

	text_add_name(b, *n->title || m->mirror ? n->title : m->path, width);
	add_state(&text, m);
	put(add_line(s, state_tone(m)), buf_str(&text), width);
	if (*m->trouble)
		text_add_name(add_line(s, TOP_BAD), m->trouble, width);
	buf_clear(&text);
	if (!m->ended && m->help.elapsed_us) {
		remaining_words(&text, &left);
		put(add_line(s, TOP_PLAIN), buf_str(&text), width);
		if (left.builds && !low)
			add_bar(s, left.done_share, width);
		buf_clear(&text);
	} else if (!m->ended) {
		put(add_line(s, TOP_PLAIN), "reading earlier builds ...", width);
	}
	if (m->progress.total >= 0 && !m->ended) {
		buf_addf(&text, "%lld of %lld tasks, as %s counts them", (long long)m->progress.done, (long long)m->progress.total,
			 n->tool);
		text_add_name(add_line(s, TOP_PLAIN), buf_str(&text), width);
		buf_clear(&text);
	}
	if (!m->ended && *m->help.idle)
		text_add_name(add_line(s, TOP_BAD), m->help.idle, width);
	buf_addf(&text, "Tasks: %llu failed, %llu %s, %llu done, %llu queued",
		 (unsigned long long)(n->n_failed + n->n_killed),
		 (unsigned long long)(m->ended ? n->n_unfinished : n->n_running), m->ended ? "unfinished" : "running",
		 (unsigned long long)n->n_done, (unsigned long long)n->n_queued);
	put(add_line(s, TOP_PLAIN), buf_str(&text), width);
	buf_release(&text);
}

/* The machine */

static void add_meter(struct buf *b, const char *name, double share, const char *value, unsigned width)
{
	size_t used = strlen(name) + strlen(value) + 3, room = width > used ? width - used : 0;
	size_t full = share > 0 ? (size_t)(fmin(1, share) * (double)room + 0.5) : 0;

	buf_adds(b, name);
	buf_addc(b, '[');
	for (size_t i = 0; i < room; i++)
		buf_addc(b, i < full ? '|' : ' ');
	buf_addc(b, ' ');
	buf_adds(b, value);
	buf_addc(b, ']');
}

struct meters {
	struct top_screen *s;
	unsigned width, columns, n;
	struct buf *line;
};

static void next_meter(struct meters *m, const char *name, double share, const char *value)
{
	if (m->n++ % m->columns == 0)
		m->line = add_line(m->s, TOP_METER);
	else
		buf_adds(m->line, "  ");
	add_meter(m->line, name, share, value, (m->width - 2 * (m->columns - 1)) / m->columns);
}

static double busy(const struct machine_cpu *c)
{
	return c->permille[MACHINE_IDLE] < 0 ? -1 :
		1 - (c->permille[MACHINE_IDLE] + c->permille[MACHINE_IOWAIT]) / 1000.0;
}

static void add_cpus(struct meters *meters, const struct whole_machine *w, bool each)
{
	char name[16], value[16];
	size_t from = each && w->n_cpus > 2 ? 1 : 0, to = each && w->n_cpus > 2 ? w->n_cpus : 1;

	for (size_t i = from; i < to && i < w->n_cpus; i++) {
		double share = busy(&w->cpu[i]);

		if (i)
			snprintf(name, sizeof name, "%3d", (int)w->cpu[i].number);
		else
			snprintf(name, sizeof name, "CPU");
		snprintf(value, sizeof value, share < 0 ? "-" : "%.0f %%", 100 * share);
		next_meter(meters, name, share, value);
	}
}

static void add_memory(struct meters *meters, const struct machine_memory *w)
{
	uint64_t used = w->total > w->available ? w->total - w->available : 0;
	struct buf value = { 0 };

	text_add_bytes(&value, (int64_t)used * 1024);
	buf_adds(&value, " of ");
	text_add_bytes(&value, (int64_t)w->total * 1024);
	next_meter(meters, "Mem", w->total ? (double)used / (double)w->total : 0, buf_str(&value));
	buf_release(&value);
}

static void add_disks(struct meters *meters, const struct whole_machine *w)
{
	int64_t read = 0, written = 0;
	struct buf value = { 0 };
	int32_t most = 0;

	for (size_t i = 0; i < w->n_disks; i++) {
		read += MAX(w->disk[i].read_kb_s, 0);
		written += MAX(w->disk[i].written_kb_s, 0);
		most = MAX(w->disk[i].busy_permille, most);
	}
	text_add_bytes(&value, (read + written) * 1024);
	buf_adds(&value, "/s");
	next_meter(meters, "Dsk", most / 1000.0, buf_str(&value));
	buf_release(&value);
}

static void add_pressure(struct meters *meters, const struct whole_machine *w)
{
	static const struct { enum machine_pressure which; const char *name; } shown[] = {
		{ MACHINE_CPU_SOME, "Wait for CPU " }, { MACHINE_MEMORY_SOME, "Wait for mem " },
		{ MACHINE_IO_SOME, "Wait for disk" },
	};
	char value[16];

	for (size_t i = 0; w->has_pressure && i < ARRAY_SIZE(shown); i++) {
		int32_t permille = w->pressure_permille[shown[i].which];

		snprintf(value, sizeof value, permille < 0 ? "-" : "%.0f %%", permille / 10.0);
		next_meter(meters, shown[i].name, permille / 1000.0, value);
	}
}

static void add_machine(struct top_screen *s, const struct top_model *m, unsigned width, unsigned height)
{
	struct meters meters = { .s = s, .width = width };
	bool low = height && height < LOW;

	if (m->ended && !m->all)
		return;
	meters.columns = width < 30 ? 1 : width >= 120 && !low ? 4 : 2;
	add_cpus(&meters, &m->machine, !low && m->machine.n_cpus <= CORES_MAX + 1);
	add_memory(&meters, &m->machine.memory);
	if (low)
		return;
	add_disks(&meters, &m->machine);
	if (width >= NARROW)
		add_pressure(&meters, &m->machine);
}

/* Failures */

static void add_how(struct buf *b, const struct task *t)
{
	if (t->state == TASK_KILLED && t->status > 0)
		buf_addf(b, "killed by signal %d: ", t->status);
	else if (t->state == TASK_FAILED && t->status > 0)
		buf_addf(b, "exit status %d: ", t->status);
	else
		buf_adds(b, "failed: ");
}

static void add_failures(struct top_screen *s, const struct top_model *m, unsigned width, size_t most)
{
	const struct now *n = m->now;
	size_t shown = 0;

	for (size_t i = 0; i < n->n_failures && shown < most; i++) {
		const struct task *t = &n->rec->task[n->failure[i]];
		char id[NOW_ID_MAX];
		struct buf *b;

		if (t->hosts && n->n_failures > 1)
			continue;
		b = add_line(s, TOP_BAD);
		add_how(b, t);
		if (width > b->len)
			text_add_name(b, follow_name(t), width - b->len);
		shown++;
		now_id(id, n, t);
		for (int l = 0; most > 1 && l < TOP_LOG_LINES && !strcmp(id, m->help.failed); l++) {
			if (!*m->help.line[l])
				continue;
			b = add_line(s, TOP_FAINT);
			buf_adds(b, "  ");
			text_add_name(b, m->help.line[l], width > 4 ? width - 2 : width);
		}
	}
	if (shown && n->n_failed + n->n_killed > shown)
		buf_addf(add_line(s, TOP_BAD), "and %llu more",
			 (unsigned long long)(n->n_failed + n->n_killed - shown));
}

/* The list */

/* A value by which rows are sorted and that has no column otherwise; VALUES: none. */
static enum value further(const struct top_view *v)
{
	int by = v->order.sort;

	return by >= VALUES || by == VALUE_CPU || by == VALUE_MEMORY || by == VALUE_WALL || v->width < NARROW ? VALUES :
	       (enum value)by;
}

static void add_head(struct top_screen *s, const struct top_view *v)
{
	struct buf *b = add_line(s, TOP_HEAD), text = { 0 };
	size_t name = v->width < NARROW ? 0 : 24;

	buf_adds(&text, "    PID S  CPU%  ");
	if (v->width >= NARROW)
		buf_adds(&text, "  Memory     Time ");
	if (further(v) < VALUES) {
		put_right(&text, value_info[further(v)].title, 8);
		buf_addc(&text, ' ');
	}
	if (v->threads)
		buf_adds(&text, " Thr ");
	if (name) {
		buf_adds(&text, "Task");
		text_add_blanks(&text, name - 4 + 1);
	}
	buf_adds(&text, v->width < NARROW ? "Task or command" : "Command");
	put(b, buf_str(&text), v->width);
	buf_release(&text);
}

static bool is_tagged(const struct top_view *v, const struct top_row *r)
{
	for (size_t i = 0; r->process && i < v->n_tagged; i++) {
		if (v->tagged[i].pid == r->process->process->pid &&
		    v->tagged[i].start_ticks == r->process->process->start_ticks)
			return true;
	}
	return false;
}

static void add_numbers(struct buf *b, const struct top_row *r, const struct top_view *v)
{
	const struct listed *p = r->process ? r->process->process : NULL;
	struct buf text = { 0 };

	if (p)
		buf_addf(b, "%7d %c %5.1f  ", (int)p->pid, p->state >= '!' && p->state <= '~' ? p->state : '?',
			 (double)p->cpu_permille / 10);
	else
		buf_adds(b, "      - -     -  ");
	if (v->width >= NARROW) {
		if (p)
			text_add_bytes(&text, (int64_t)p->rss_kb * 1024);
		put_right(b, p ? buf_str(&text) : "-", 8);
		buf_clear(&text);
		text_add_time(&text, r->age_us);
		put_right(b, buf_str(&text), 9);
		buf_addc(b, ' ');
	}
	if (further(v) < VALUES) {
		buf_clear(&text);
		value_add(&text, further(v), top_value(r, further(v)));
		put_right(b, buf_str(&text), 8);
		buf_addc(b, ' ');
	}
	if (v->threads)
		buf_addf(b, "%4llu ", p ? (unsigned long long)p->threads : 0ULL);
	buf_release(&text);
}

static void add_row(struct top_screen *s, const struct top_row *r, const struct top_view *v, size_t at)
{
	bool narrow = v->width < NARROW, tagged = is_tagged(v, r);
	struct buf *b = add_line(s, v->height && at == v->selected ? TOP_SELECTED : tagged ? TOP_TAGGED : TOP_PLAIN);
	const char *what = r->process ? *r->process->words ? r->process->words : r->process->process->name :
		"(no process is known)";
	size_t used, indent = r->depth > 10 ? 20 : 2 * r->depth;

	if (s->n)
		s->line[s->n - 1].row = (int)at;
	add_numbers(b, r, v);
	if (tagged && b->len)
		b->data[0] = '*';
	if (narrow && *r->task) {
		what = r->task;
	} else if (!narrow) {
		size_t from = b->len;

		text_add_name(b, r->task, 24);
		pad(b, from, 25);
	}
	used = text_columns(b->data, b->len);
	if (v->order.tree && indent && used + indent + 8 < v->width) {
		text_add_blanks(b, indent - 2);
		buf_adds(b, "`-");
		used += indent;
	}
	if (used < v->width)
		text_add_name(b, what, v->width - used);
}

static void scroll(struct top_view *v, size_t page, size_t n)
{
	if (n && v->selected >= n)
		v->selected = n - 1;
	if (!n)
		v->selected = 0;
	if (v->selected < v->first)
		v->first = v->selected;
	if (page && v->selected >= v->first + page)
		v->first = v->selected - page + 1;
	if (v->first + page > n)
		v->first = n > page ? n - page : 0;
}

static void add_list(struct top_screen *s, const struct top_model *m, const struct top_rows *rows,
		     struct top_view *v, size_t room)
{
	size_t page = v->height ? room : rows->n;

	s->page = page;
	scroll(v, page, rows->n);
	for (size_t i = v->first; i < rows->n && i < v->first + page; i++)
		add_row(s, &rows->row[i], v, i);
	if (!rows->n && page) {
		const char *why = *v->order.filter ? "No row matches the filter." : m->deleted || m->ended ?
			"" : m->now->n_running ? "" : "No task runs.";

		if (*why)
			put(add_line(s, TOP_FAINT), why, v->width);
	}
}

static void add_keys(struct top_screen *s, const struct top_view *v)
{
	struct buf *b = add_line(s, TOP_KEYS);

	if (v->prompt)
		text_add_name(b, v->prompt, v->width);
	else if (v->width < NARROW)
		put(b, "1Help 3Find 4Filter 6Sort 10Quit", v->width);
	else
		put(b, v->control ? "F1Help F3Search F4Filter F5Tree F6Sort F9Kill F10Quit" :
		    "F1Help F3Search F4Filter F5Tree F6Sort F10Quit", v->width);
}

static int made(const struct top_screen *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (buf_error(&s->line[i].text))
			return -ENOMEM;
	}
	return s->lost.len ? -ENOMEM : 0;
}

int top_screen_make(struct top_screen *s, const struct top_model *m, const struct top_rows *rows,
		    struct top_view *v)
{
	bool low = v->height && v->height < LOW, list = !m->ended || m->all;
	size_t limit;

	clear(s);
	if (!v->width)
		v->width = ONCE_WIDTH;
	add_build(s, m, v->width, low);
	add_machine(s, m, v->width, v->height);
	add_failures(s, m, v->width, !v->height || m->ended ? NOW_FAILED_MAX : low ? 1 : 3);
	/* the list has at least a third */
	limit = v->height ? list ? v->height - v->height / 3 - 1 : v->height - 1 : s->n;
	while (s->n > limit)
		buf_release(&s->line[--s->n].text);
	if (list) {
		add_head(s, v);
		add_list(s, m, rows, v, v->height > s->n + 1 ? v->height - s->n - 1 : 0);
	}
	while (v->height && s->n + 1 < v->height && s->n < 1000)
		add_line(s, TOP_PLAIN);
	if (v->height)
		add_keys(s, v);
	return made(s);
}

int top_screen_help(struct top_screen *s, const struct top_view *v)
{
	static const char *const text[] = {
		"Keys",
		"Up Down PgUp PgDn Home End   move",
		"F3 /   search; n: the next one     F4 \\   filter, empty: all",
		"F5 t   tree, or a plain list       F6 < >   sort by another column",
		"P M T   sort by CPU, memory, time  I   reverse the order",
		"H   number of threads              K   all processes of the machine",
		"Space   tag a process; U: untag all",
		"F9 k   send SIGTERM (with --allow-control)",
		"F10 q   quit                       F1 h ?   this help",
		"",
		"Columns: state R runs, S sleeps, D waits for a disk, Z ended.",
		"CPU: 100 % is one processor. Meters: what the whole machine uses.",
		"Wait for ...: share of time in which some task waited for it.",
		"Remaining time: from earlier recordings; true in 80 % of cases.",
	};

	clear(s);
	for (size_t i = 0; i < ARRAY_SIZE(text) && s->n + 1 < v->height; i++)
		put(add_line(s, i ? TOP_PLAIN : TOP_TITLE), text[i], v->width);
	while (s->n + 1 < v->height)
		add_line(s, TOP_PLAIN);
	put(add_line(s, TOP_KEYS), "Press any key to return", v->width);
	return made(s);
}
