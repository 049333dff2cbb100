/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/json.h"
#include "trace/sink.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Chrome's trace format in its form as an array: one event a line, and a comma before each but the
 * first. So a trace that ends after any line lacks only the closing bracket, which viewers add.
 * Members whose order matters to no reader come in an order that is quick to write.
 */

struct counter {
	char *begin;		/* an event up to its value */
	size_t len;
};

struct chrome {
	bool any;		/* events */
	size_t n_counters;
	struct counter *counter;
};

/* Room for the parts of an event that are not texts. */
#define EVENT_ROOM 256
#define ARG_ROOM 64

#define PUT(to, literal) put(to, literal, sizeof literal - 1)

static inline char *put(char *to, const char *text, size_t len)
{
	memcpy(to, text, len);
	return to + len;
}

static char *put_text(char *to, const char *text)
{
	return json_put_text(to, text, strlen(text));
}

/* Where an event may be written that takes `room` bytes at most; NULL if out of memory. */
static char *begin_event(struct sink *s, size_t room)
{
	struct chrome *c = s->state;
	char *to = buf_begin(&s->out, room);

	if (to && c->any)
		to = PUT(to, ",\n");
	c->any |= to != NULL;
	return to;
}

/* Threads are numbered from 1: viewers take 0 for no number and use that of the process. */
static char *put_place(char *to, const struct sink *s, char phase, uint32_t pid, uint32_t tid)
{
	to = PUT(to, "{\"ph\":\"");
	*to++ = phase;
	to = PUT(to, "\",\"pid\":");
	to = buf_put_number(to, (int64_t)s->first_pid + pid);
	to = PUT(to, ",\"tid\":");
	return buf_put_number(to, (int64_t)tid + 1);
}

static char *put_time(char *to, const struct sink *s, int64_t us)
{
	to = PUT(to, ",\"ts\":");
	return buf_put_number(to, s->offset_us + us);
}

static size_t args_room(const struct sink_arg *arg, size_t n)
{
	size_t room = 0;

	for (size_t i = 0; i < n; i++) {
		room += JSON_TEXT_ROOM(strlen(arg[i].name)) + ARG_ROOM;
		if (arg[i].text)
			room += JSON_TEXT_ROOM(arg[i].len);
	}
	return room;
}

static char *put_args(char *to, const struct sink_arg *arg, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	if (!n)
		return to;
	to = PUT(to, ",\"args\":{");
	for (size_t i = 0; i < n; i++) {
		*to++ = '"';
		to = put_text(to, arg[i].name);
		to = PUT(to, "\":");
		if (!arg[i].text && !arg[i].id) {
			to = buf_put_number(to, arg[i].number);
		} else {
			*to++ = '"';
			for (int k = 60; arg[i].id && k >= 0; k -= 4)
				*to++ = digits[(uint64_t)arg[i].number >> k & 15];
			if (!arg[i].id)
				to = json_put_text(to, arg[i].text, arg[i].len);
			*to++ = '"';
		}
		*to++ = ',';
	}
	to[-1] = '}';
	return to;
}

static void chrome_begin(struct sink *s, const struct sink_start *start)
{
	(void)start;
	buf_adds(&s->out, "[\n");
}

/* A name, or an order if name is NULL. */
static void add_meta(struct sink *s, const char *what, const char *key, uint32_t pid, uint32_t tid,
		     const char *name, int order)
{
	char *to = begin_event(s, EVENT_ROOM + (name ? JSON_TEXT_ROOM(strlen(name)) : 0));

	if (!to)
		return;
	to = put_place(to, s, 'M', pid, tid);
	to = PUT(to, ",\"name\":\"");
	to = put(to, what, strlen(what));
	to = PUT(to, "\",\"args\":{\"");
	to = put(to, key, strlen(key));
	to = PUT(to, "\":");
	if (name) {
		*to++ = '"';
		to = put_text(to, name);
		*to++ = '"';
	} else {
		to = buf_put_number(to, order);
	}
	buf_end(&s->out, PUT(to, "}}"));
}

static void chrome_process(struct sink *s, uint32_t pid, const char *name, const char *label,
			   int order)
{
	add_meta(s, "process_name", "name", pid, 0, name, 0);
	add_meta(s, "process_sort_index", "sort_index", pid, 0, NULL, order + (int)s->first_pid);
	if (label && *label)
		add_meta(s, "process_labels", "labels", pid, 0, label, 0);
}

static void chrome_track(struct sink *s, uint32_t pid, uint32_t tid, const char *name, int order)
{
	add_meta(s, "thread_name", "name", pid, tid, name, 0);
	add_meta(s, "thread_sort_index", "sort_index", pid, tid, NULL, order);
}

static void add_flow(struct sink *s, char phase, struct sink_flow flow, uint32_t pid, uint32_t tid)
{
	static const char *const tail[] = {
		[SINK_CHILD] = ",\"cat\":\"flow\",\"name\":\"child\"",
		[SINK_DEPENDENCY] = ",\"cat\":\"flow\",\"name\":\"dependency\"",
		[SINK_FILE] = ",\"cat\":\"flow\",\"name\":\"file\"",
	};
	char *to = begin_event(s, EVENT_ROOM);

	if (!to)
		return;
	to = put_place(to, s, phase, pid, tid);
	to = put_time(to, s, flow.us);
	to = PUT(to, ",\"id\":");
	to = buf_put_number(to, (int64_t)flow.id);
	to = put(to, tail[flow.kind], strlen(tail[flow.kind]));
	/* an arrow ends at the slice around this moment, not at the next one */
	if (phase == 'f')
		to = PUT(to, ",\"bp\":\"e\"");
	*to++ = '}';
	buf_end(&s->out, to);
}

static void add_slice(struct sink *s, const struct sink_slice *slice, char phase)
{
	size_t name = strlen(slice->name), category = slice->category ? strlen(slice->category) : 0;
	char *to = begin_event(s, EVENT_ROOM + JSON_TEXT_ROOM(name) + JSON_TEXT_ROOM(category) +
			       args_room(slice->arg, slice->n_args));

	if (!to)
		return;
	to = put_place(to, s, phase, slice->pid, slice->tid);
	to = put_time(to, s, slice->begin_us);
	if (phase == 'X') {
		to = PUT(to, ",\"dur\":");
		to = buf_put_number(to, slice->end_us - slice->begin_us);
	}
	to = PUT(to, ",\"name\":\"");
	to = json_put_text(to, slice->name, name);
	if (category) {
		to = PUT(to, "\",\"cat\":\"");
		to = json_put_text(to, slice->category, category);
	}
	*to++ = '"';
	to = put_args(to, slice->arg, slice->n_args);
	*to++ = '}';
	buf_end(&s->out, to);
	for (size_t i = 0; i < slice->n_to; i++)
		add_flow(s, 'f', slice->to[i], slice->pid, slice->tid);
	for (size_t i = 0; i < slice->n_from; i++)
		add_flow(s, 's', slice->from[i], slice->pid, slice->tid);
}

static void chrome_slice(struct sink *s, const struct sink_slice *slice)
{
	add_slice(s, slice, 'X');
}

static void chrome_slice_begin(struct sink *s, const struct sink_slice *slice)
{
	add_slice(s, slice, 'B');
}

static void chrome_slice_end(struct sink *s, uint32_t pid, uint32_t tid, int64_t us,
			     const struct sink_arg *arg, size_t n_args)
{
	char *to = begin_event(s, EVENT_ROOM + args_room(arg, n_args));

	if (!to)
		return;
	to = put_time(put_place(to, s, 'E', pid, tid), s, us);
	to = put_args(to, arg, n_args);
	*to++ = '}';
	buf_end(&s->out, to);
}

static void chrome_flow_begin(struct sink *s, struct sink_flow flow, uint32_t pid, uint32_t tid)
{
	add_flow(s, 's', flow, pid, tid);
}

static void chrome_instant(struct sink *s, uint32_t pid, uint32_t tid, int64_t us,
			   const char *name, const struct sink_arg *arg, size_t n_args)
{
	char *to = begin_event(s, EVENT_ROOM + JSON_TEXT_ROOM(strlen(name)) + args_room(arg, n_args));

	if (!to)
		return;
	to = put_time(put_place(to, s, 'i', pid, tid), s, us);
	to = PUT(to, ",\"s\":\"t\",\"name\":\"");
	to = put_text(to, name);
	*to++ = '"';
	to = put_args(to, arg, n_args);
	*to++ = '}';
	buf_end(&s->out, to);
}

/* Counters */

static uint32_t chrome_counter(struct sink *s, uint32_t pid, const char *name, const char *unit)
{
	struct chrome *c = s->state;
	struct counter *added = array_add(&c->counter, &c->n_counters, sizeof *added);
	size_t room = EVENT_ROOM + JSON_TEXT_ROOM(strlen(name)) + JSON_TEXT_ROOM(strlen(unit));
	char *to = added ? malloc(room) : NULL;

	if (added)
		*added = (struct counter){ .begin = to };
	if (!to) {
		s->out.error = -ENOMEM;
		return 0;
	}
	to = put_place(to, s, 'C', pid, 0);
	to = PUT(to, ",\"name\":\"");
	to = put_text(to, name);
	to = PUT(to, "\",\"args\":{\"");
	to = put_text(to, unit);
	to = PUT(to, "\":");
	added->len = (size_t)(to - added->begin);
	return (uint32_t)(c->n_counters - 1);
}

/* At most three decimals; larger numbers than those of our samples have as many digits as they
 * need. */
static char *put_real(char *to, double value)
{
	double thousandths = round(value * 1000);
	int64_t n;

	if (fabs(thousandths) > 9e18)
		return to + snprintf(to, 32, "%.15e", value);
	n = (int64_t)thousandths;
	if (n < 0)
		*to++ = '-';
	n = n < 0 ? -n : n;
	to = buf_put_number(to, n / 1000);
	if (!(n % 1000))
		return to;
	*to++ = '.';
	for (int64_t scale = 100, rest = n % 1000; rest; rest %= scale, scale /= 10)
		*to++ = (char)('0' + rest / scale);
	return to;
}

static void chrome_value(struct sink *s, uint32_t number, int64_t us, double value)
{
	const struct chrome *c = s->state;
	const struct counter *counter = &c->counter[number];
	char *to;

	if (number >= c->n_counters || !counter->begin || !isfinite(value))
		return;
	to = begin_event(s, EVENT_ROOM + counter->len);
	if (!to)
		return;
	to = put(to, counter->begin, counter->len);
	to = put_real(to, value);
	*to++ = '}';
	to = put_time(to, s, us);
	*to++ = '}';
	buf_end(&s->out, to);
}

/* No line break after it: one viewer reads nothing behind the end of the array. */
static void chrome_end(struct sink *s)
{
	buf_adds(&s->out, "\n]");
}

static void chrome_release(struct sink *s)
{
	struct chrome *c = s->state;

	for (size_t i = 0; i < c->n_counters; i++)
		free(c->counter[i].begin);
	free(c->counter);
}

const struct sink_ops sink_chrome = {
	.state_size = sizeof(struct chrome),
	.begin = chrome_begin, .process = chrome_process, .track = chrome_track,
	.slice = chrome_slice, .slice_begin = chrome_slice_begin, .slice_end = chrome_slice_end,
	.flow_begin = chrome_flow_begin, .instant = chrome_instant,
	.counter = chrome_counter, .value = chrome_value,
	.end = chrome_end, .release = chrome_release,
};
