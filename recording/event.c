/* SPDX-License-Identifier: MIT */
#include "recording/event.h"

#include "command/redact.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Longest escaped form of each text; the command gets what is left. */
#define NAME_MAX_LEN 1000
#define WORD_MAX_LEN 120
#define PATH_MAX_LEN 1000

/*
 * Most of a line are numbers, and a host waits while it is written. So a series of them gets its
 * room at once, from buf_begin(). These functions return where the next one writes.
 */
#define NUMBER_MAX (1 + BUF_NUMBER_MAX)

static char *put_number(char *p, int64_t n)
{
	*p++ = '\t';
	if ((uint64_t)n > 9)
		return n < 0 ? p : buf_put_unsigned(p, (uint64_t)n);
	*p++ = (char)('0' + n);
	return p;
}

/* The word, at most WORD_LEN bytes, the time and the id of the instance or of its task. */
#define WORD_LEN 8

static void add_head(struct buf *b, const char *word, int64_t t, const char *inst, uint64_t seq)
{
	char *p = buf_begin(b, WORD_LEN + 3 * NUMBER_MAX + strlen(inst));

	if (!p)
		return;
	p = stpcpy(p, word);
	*p++ = '\t';
	p = buf_put_number(p, t);
	*p++ = '\t';
	p = stpcpy(p, inst);
	if (seq) {
		*p++ = '.';
		p = buf_put_unsigned(p, seq);
	}
	buf_end(b, p);
}

static void add_number(struct buf *b, int64_t n)
{
	char *p = buf_begin(b, NUMBER_MAX);

	if (p)
		buf_end(b, put_number(p, n));
}

static char *put_pid(char *p, const struct event_task *e)
{
	if (e->pid < 0 || !e->inner)
		return put_number(p, e->pid);
	*p++ = '\t';
	return buf_put_number(stpcpy(p, EVENT_INNER), e->pid);
}

static bool add_text(struct buf *b, const char *text, size_t max)
{
	buf_addc(b, '\t');
	return !text || redact_field(b, text, strlen(text), max);
}

/* The last text of a line that began at start: it may fill the line up. */
static bool add_last_text(struct buf *b, size_t start, const char *text)
{
	return add_text(b, text, EVENT_MAX - 2 - (b->len - start));
}

/* Empty fields at the end go, the newline comes. */
static void finish_line(struct buf *b)
{
	while (b->len && b->data[b->len - 1] == '\t')
		b->len--;
	buf_addc(b, '\n');
}

void event_instance_id(char id[INSTANCE_ID_MAX], int32_t pid, int64_t time_us)
{
	static const char digit[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	uint64_t n = (uint64_t)(uint32_t)pid * 1296 + (uint64_t)time_us / EVENT_INSTANCE_STEP_US % 1296;
	char text[16];
	size_t at = sizeof text;

	do {
		text[--at] = digit[n % 36];
		n /= 36;
	} while (n);
	memcpy(id, text + at, sizeof text - at);
	id[sizeof text - at] = '\0';
}

void event_end_init(struct event_end *e, int32_t status)
{
	*e = (struct event_end){ status, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
		.instructions = -1 };
}

static int64_t us(struct timeval tv)
{
	return (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
}

void event_end_rusage(struct event_end *e, const struct rusage *usage)
{
	e->user_us = us(usage->ru_utime);
	e->system_us = us(usage->ru_stime);
	e->max_rss_kb = usage->ru_maxrss;
	e->minor_faults = usage->ru_minflt;
	e->major_faults = usage->ru_majflt;
	e->in_blocks = usage->ru_inblock;
	e->out_blocks = usage->ru_oublock;
	e->voluntary_switches = usage->ru_nvcsw;
	e->involuntary_switches = usage->ru_nivcsw;
}

void event_children_between(struct event_children *c, const struct rusage *before,
			    const struct rusage *now)
{
	c->user_us = us(now->ru_utime) - us(before->ru_utime);
	c->system_us = us(now->ru_stime) - us(before->ru_stime);
}

void event_add_open(struct buf *b, int64_t t, const char *inst, const struct event_open *e)
{
	size_t start = b->len;

	add_head(b, "open", t, inst, 0);
	add_number(b, e->pid);
	add_number(b, e->level);
	add_text(b, e->ancestors, WORD_MAX_LEN);
	add_text(b, e->tool, WORD_MAX_LEN);
	add_text(b, e->version, WORD_MAX_LEN);
	add_text(b, e->cwd, PATH_MAX_LEN);
	add_last_text(b, start, e->command);
	finish_line(b);
}

void event_add_used(struct buf *b, int64_t t, const char *inst, const struct event_end *e)
{
	add_head(b, "used", t, inst, 0);
	event_add_values(b, e);
	finish_line(b);
}

void event_add_close(struct buf *b, int64_t t, const char *inst, uint64_t last,
		     const struct event_children *children)
{
	add_head(b, "close", t, inst, 0);
	add_number(b, last ? (int64_t)last : -1);
	if (children) {
		add_number(b, children->user_us);
		add_number(b, children->system_us);
		add_number(b, children->reaped);
	}
	finish_line(b);
}

void event_add_queue(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     const struct event_task *e)
{
	add_head(b, "queue", t, inst, seq);
	add_text(b, e->kind, WORD_MAX_LEN);
	add_text(b, e->name, NAME_MAX_LEN);
	add_text(b, e->key, NAME_MAX_LEN);
	finish_line(b);
}

bool event_add_start(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     const struct event_task *e)
{
	size_t start = b->len;
	bool whole;
	char *p;

	add_head(b, "start", t, inst, seq);
	p = buf_begin(b, sizeof EVENT_INNER + 2 * NUMBER_MAX);
	if (p)
		buf_end(b, put_number(put_pid(p, e), e->slot));
	add_text(b, e->kind, WORD_MAX_LEN);
	add_text(b, e->name, NAME_MAX_LEN);
	add_text(b, e->key, NAME_MAX_LEN);
	whole = add_last_text(b, start, e->command);
	finish_line(b);
	return whole;
}

void event_add_pid(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		   const struct event_task *e)
{
	char *p;

	add_head(b, "pid", t, inst, seq);
	p = buf_begin(b, sizeof EVENT_INNER + NUMBER_MAX);
	if (p)
		buf_end(b, put_pid(p, e));
	finish_line(b);
}

#define VALUES_MAX (12 * NUMBER_MAX)

static char *put_values(char *p, const struct event_end *e)
{
	p = put_number(p, e->user_us);
	p = put_number(p, e->system_us);
	p = put_number(p, e->max_rss_kb);
	p = put_number(p, e->minor_faults);
	p = put_number(p, e->major_faults);
	p = put_number(p, e->in_blocks);
	p = put_number(p, e->out_blocks);
	p = put_number(p, e->voluntary_switches);
	p = put_number(p, e->involuntary_switches);
	p = put_number(p, e->rchar);
	p = put_number(p, e->wchar);
	return put_number(p, e->max_rss_at_most_kb);
}

void event_add_values(struct buf *b, const struct event_end *e)
{
	char *p = buf_begin(b, VALUES_MAX);

	if (p)
		buf_end(b, put_values(p, e));
}

void event_add_ended(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     enum event_kind kind, const struct event_end *e)
{
	char *p;

	add_head(b, kind == EVENT_DONE ? "done" : kind == EVENT_FAIL ? "fail" :
		 kind == EVENT_KILL ? "kill" : "gone", t, inst, seq);
	p = buf_begin(b, VALUES_MAX + 6 * NUMBER_MAX);
	if (p) {
		p = put_values(put_number(p, e->status), e);
		p = put_number(p, e->setup_us > 0 ? e->setup_us : -1);
		p = put_number(p, e->setup_user_us > 0 ? e->setup_user_us : -1);
		p = put_number(p, e->setup_system_us > 0 ? e->setup_system_us : -1);
		p = put_number(p, e->at_most ? 1 : -1);
		buf_end(b, put_number(p, e->instructions));
	}
	finish_line(b);
}

void event_add_end(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		   const struct event_end *e)
{
	struct event_end ended = *e;
	enum event_kind kind = EVENT_DONE;

	ended.status = -1;
	if (e->status >= 0 && WIFSIGNALED(e->status)) {
		kind = EVENT_KILL;
		ended.status = WTERMSIG(e->status);
	} else if (e->status >= 0) {
		ended.status = WEXITSTATUS(e->status);
		kind = ended.status ? EVENT_FAIL : EVENT_DONE;
	}
	event_add_ended(b, t, inst, seq, kind, &ended);
}

/* As many of the names as fit into the line that begins at start. */
static size_t add_names(struct buf *b, size_t start, const char *const *names, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		size_t size = redact_field_size(names[i], strlen(names[i]), NAME_MAX_LEN);

		if (b->len - start + 1 + size > EVENT_MAX - 2)
			break;
		add_text(b, names[i], NAME_MAX_LEN);
	}
	finish_line(b);
	return i;
}

static size_t add_list(struct buf *b, const char *kind, int64_t t, const char *inst, uint64_t seq,
		       const char *const *names, size_t n)
{
	size_t start = b->len;

	add_head(b, kind, t, inst, seq);
	return add_names(b, start, names, n);
}

size_t event_add_after(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		       const char *const *names, size_t n)
{
	return add_list(b, "after", t, inst, seq, names, n);
}

size_t event_add_out(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     const char *const *names, size_t n)
{
	return add_list(b, "out", t, inst, seq, names, n);
}

size_t event_add_group(struct buf *b, int64_t t, const char *inst, const char *name,
		       const char *const *names, size_t n)
{
	size_t start = b->len;

	add_head(b, "group", t, inst, 0);
	add_text(b, name, NAME_MAX_LEN);
	return add_names(b, start, names, n);
}

void event_add_name(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		    const char *name, const char *key, const char *kind)
{
	add_head(b, "name", t, inst, seq);
	add_text(b, name, NAME_MAX_LEN);
	add_text(b, key, NAME_MAX_LEN);
	add_text(b, kind, WORD_MAX_LEN);
	finish_line(b);
}

void event_add_place(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		     const struct event_place *p)
{
	bool has_pool = p->pool && *p->pool;

	add_head(b, "place", t, inst, seq);
	add_text(b, p->file, PATH_MAX_LEN);
	add_number(b, p->line);
	add_text(b, has_pool ? p->pool : "", WORD_MAX_LEN);
	add_number(b, has_pool ? p->depth : -1);
	finish_line(b);
}

void event_add_span(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		    const struct event_span *e)
{
	add_head(b, "begin", t, inst, seq);
	add_number(b, (int64_t)e->number);
	add_text(b, e->name, NAME_MAX_LEN);
	add_number(b, e->parent);
	add_number(b, e->thread);
	add_number(b, e->copy > 1 ? (int64_t)e->copy : -1);
	add_text(b, e->place, PATH_MAX_LEN);
	finish_line(b);
}

void event_add_span_begin(struct buf *b, int64_t t, const char *inst, uint64_t seq,
			  uint64_t span, const char *name)
{
	const struct event_span e = { .number = span, .name = name, .parent = -1, .thread = -1 };

	event_add_span(b, t, inst, seq, &e);
}

void event_add_span_end(struct buf *b, int64_t t, const char *inst, uint64_t seq,
			uint64_t span)
{
	event_add_span_end_by(b, t, inst, seq, span, -1);
}

void event_add_span_end_by(struct buf *b, int64_t t, const char *inst, uint64_t seq,
			   uint64_t span, int32_t thread)
{
	add_head(b, "end", t, inst, seq);
	add_number(b, (int64_t)span);
	add_number(b, thread);
	finish_line(b);
}

void event_add_span_end_named(struct buf *b, int64_t t, const char *inst, const char *name)
{
	add_head(b, "end", t, inst, 0);
	add_number(b, -1);
	add_number(b, -1);
	add_text(b, name, NAME_MAX_LEN);
	finish_line(b);
}

void event_add_note(struct buf *b, int64_t t, const char *inst, uint64_t seq,
		    const char *text)
{
	size_t start = b->len;

	add_head(b, "note", t, inst, seq);
	add_last_text(b, start, text);
	finish_line(b);
}
