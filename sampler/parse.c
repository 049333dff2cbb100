/* SPDX-License-Identifier: MIT */
#include "sampler/parse.h"

#include "base/minmax.h"

#include <string.h>

static bool blank_number(struct cursor *c, uint64_t *n)
{
	cursor_blanks(c);
	return cursor_u64(c, n);
}

bool parse_line(struct cursor *c, struct cursor *line)
{
	struct slice s;
	bool complete;

	if (!cursor_line(c, &s, &complete))
		return false;
	cursor_init(line, s.p, s.len);
	return true;
}

static bool match_key(const struct cursor *from, struct want *w)
{
	struct cursor c = *from;

	if (!cursor_literal(&c, w->key))
		return false;
	if (!cursor_byte(&c, ':') && !(c.p < c.end && *c.p == ' '))
		return false;
	w->found = blank_number(&c, &w->value);
	return w->found;
}

static bool match_in_place(const struct root_text *t, struct want *w)
{
	struct cursor c;

	w->found = false;
	if (w->at >= t->len || (w->at && t->data[w->at - 1] != '\n'))
		return false;
	cursor_init(&c, t->data + w->at, t->len - w->at);
	return match_key(&c, w);
}

size_t parse_keyed(const struct root_text *t, struct want *want, size_t n)
{
	struct cursor c, line;
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += match_in_place(t, &want[i]);
	root_text_cursor(t, &c);
	while (found < n && parse_line(&c, &line)) {
		if (cursor_at_end(&line))
			continue;
		for (size_t i = 0; i < n; i++) {
			if (want[i].found || want[i].key[0] != *line.p || !match_key(&line, &want[i]))
				continue;
			want[i].at = (size_t)(line.p - t->data);
			found++;
			break;
		}
	}
	return found;
}

/* user nice system idle iowait irq softirq steal: 10 ms each */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, CPU_TIMES };

/* Old kernels have fewer of them, but at least the first four. */
static bool read_cpu(struct cursor *line, uint64_t v[CPU_TIMES])
{
	size_t n = 0;

	memset(v, 0, CPU_TIMES * sizeof *v);
	while (n < CPU_TIMES && blank_number(line, &v[n]))
		n++;
	return n > IDLE;
}

bool parse_stat(const struct root_text *t, struct parse_stat_values *f)
{
	uint64_t v[CPU_TIMES];
	struct want runs[] = { { .key = "procs_running" }, { .key = "procs_blocked" } };
	struct cursor c, line;

	root_text_cursor(t, &c);
	if (!parse_line(&c, &line) || !cursor_literal(&line, "cpu ") || !read_cpu(&line, v))
		return false;
	parse_keyed(t, runs, 2);
	*f = (struct parse_stat_values){ .user = v[USER], .system = v[SYSTEM], .iowait = v[IOWAIT],
		.irq = v[IRQ] + v[SOFTIRQ], .steal = v[STEAL], .nice = v[NICE],
		.running = runs[0].value, .blocked = runs[1].value };
	return true;
}

size_t parse_cores(const struct root_text *text, struct roster *r, struct table *t)
{
	struct cursor c, line;
	struct slice name;
	size_t n = 0;

	root_text_cursor(text, &c);
	while (parse_line(&c, &line)) {
		struct roster_entry *e;
		uint64_t v[CPU_TIMES], busy;

		if (!cursor_word(&line, &name, GROUP_NAME_MAX - 1) || name.len < 3 ||
		    memcmp(name.p, "cpu", 3))
			break;
		if (name.len == 3 || !read_cpu(&line, v))
			continue;
		busy = v[USER] + v[NICE] + v[SYSTEM] + v[IRQ] + v[SOFTIRQ];
		e = roster_find(r, n, name);
		if (e)
			roster_count(e, t, &busy, 1);
		n++;
	}
	return n;
}

bool parse_loadavg(const struct root_text *t, uint64_t *load)
{
	struct cursor c;
	uint64_t whole, part;
	const char *start;

	root_text_cursor(t, &c);
	if (!cursor_u64(&c, &whole) || !cursor_byte(&c, '.'))
		return false;
	start = c.p;
	if (!cursor_u64(&c, &part) || c.p - start != 2 || whole > UINT32_MAX)
		return false;
	*load = whole * 100 + part;
	return true;
}

static bool read_total(struct cursor *line, uint64_t *total)
{
	struct slice word;

	for (;;) {
		cursor_blanks(line);
		if (cursor_literal(line, "total="))
			return cursor_u64(line, total);
		if (!cursor_word(line, &word, 64))
			return false;
	}
}

bool parse_pressure(const struct root_text *t, struct parse_stalls *p)
{
	struct cursor c, line;

	*p = (struct parse_stalls){ 0 };
	root_text_cursor(t, &c);
	while (parse_line(&c, &line)) {
		if (cursor_literal(&line, "some "))
			p->has_some = read_total(&line, &p->some_us);
		else if (cursor_literal(&line, "full "))
			p->has_full = read_total(&line, &p->full_us);
	}
	return p->has_some || p->has_full;
}

static bool skip_words(struct cursor *c, size_t n)
{
	struct slice word;

	while (n--) {
		cursor_blanks(c);
		if (!cursor_word(c, &word, 64))
			return false;
	}
	return true;
}

static void copy_name(const struct root_text *t, const char *paren, char name[16])
{
	const char *first = memchr(t->data, '(', (size_t)(paren - t->data));
	size_t n = first ? (size_t)(paren - first - 1) : 0;

	n = MIN(n, 15);
	memcpy(name, first ? first + 1 : paren, n);
	name[n] = '\0';
}

#define KERNEL_THREAD 0x00200000	/* PF_KTHREAD */

bool parse_pid_stat(const struct root_text *t, struct pid_stat *s)
{
	const char *paren = memrchr(t->data, ')', t->len);
	uint64_t parent, flags, ticks[4];
	struct cursor c;

	/* ") R " and the number of the parent: the fields after the name, which can contain any
	 * byte */
	if (!t->len || !paren || t->data + t->len - paren < 5)
		return false;
	cursor_init(&c, paren + 4, (size_t)(t->data + t->len - paren - 4));
	*s = (struct pid_stat){ .state = paren[2] };
	if (!cursor_u64(&c, &parent) || parent > INT32_MAX || !skip_words(&c, 4) ||
	    !blank_number(&c, &flags) || !blank_number(&c, &s->minor_faults) ||
	    !skip_words(&c, 1) || !blank_number(&c, &s->major_faults) || !skip_words(&c, 1))
		return false;
	s->kernel = flags & KERNEL_THREAD;
	s->parent = (int32_t)parent;
	copy_name(t, paren, s->name);
	for (size_t i = 0; i < 4; i++) {	/* utime stime cutime cstime */
		if (!blank_number(&c, &ticks[i]))
			return false;
		s->cpu_ticks += ticks[i];
	}
	s->user_ticks = ticks[0];
	s->system_ticks = ticks[1];
	return skip_words(&c, 2) && blank_number(&c, &s->threads) && skip_words(&c, 1) &&
	       blank_number(&c, &s->start_ticks) && skip_words(&c, 1) &&
	       blank_number(&c, &s->rss_pages);
}

bool parse_pid_sched(const struct root_text *t, struct pid_sched *s)
{
	struct cursor c;

	root_text_cursor(t, &c);
	return cursor_u64(&c, &s->run_ns) && blank_number(&c, &s->wait_ns) && blank_number(&c, &s->runs);
}

bool parse_pid_numbers(const struct root_text *t, struct pid_numbers *p)
{
	struct want parent = { .key = "PPid" };
	struct cursor c, line;
	uint64_t n;

	*p = (struct pid_numbers){ 0 };
	if (!parse_keyed(t, &parent, 1) || parent.value > INT32_MAX)
		return false;
	p->parent = (int32_t)parent.value;
	root_text_cursor(t, &c);
	while (!p->n && parse_line(&c, &line)) {
		if (!cursor_literal(&line, "NSpid:"))
			continue;
		while (p->n < PID_NUMBERS_MAX && blank_number(&line, &n) && n <= INT32_MAX)
			p->number[p->n++] = (int32_t)n;
	}
	return p->n;
}
