/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "base/array.h"
#include "base/index.h"
#include "base/minmax.h"
#include "base/name_table.h"
#include "base/protobuf.h"
#include "base/utf8.h"
#include "trace/perfetto_fields.h"
#include "trace/sink.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Perfetto's own format: a sequence of packets. Names, categories and short texts are defined
 * by the first packet that has them, and are numbers afterwards. So all packets are one sequence
 * that needs its state. Times count microseconds on a clock of this sequence, which begins with
 * the recording; the first packet says what time that was.
 *
 * A slice has a packet for its begin and one for its end. Ends of slices that were written whole
 * wait until the next slice of the track, as packets of a track come in the order of time.
 */

#define SEQUENCE 1
#define INTERN_MAX 40		/* longer texts are written as they are: few come twice */

/* A track with slices that were written whole. */
struct open_track {
	uint64_t uuid;
	size_t n_open;
	int64_t *end_us;	/* of those that wait, the innermost last */
};

struct perfetto {
	struct arena *arena;
	struct name_table names, categories, arg_names, strings;
	struct index tracks;	/* uuid -> index */
	size_t n_tracks;
	struct open_track *track;
	uint32_t n_counters;
	struct buf interned;	/* what the current packet defines */
	struct buf event;	/* its TrackEvent */
	struct buf text;
};

/* Small numbers for small pairs: they are written in every event. Those of counters are even. */
static uint64_t pair(uint64_t a, uint64_t b)
{
	return (a + b) * (a + b + 1) / 2 + b;
}

static uint64_t process_uuid(const struct sink *s, uint32_t pid)
{
	return 2 * pair((uint64_t)s->first_pid + pid, 0) + 1;
}

static uint64_t track_uuid(const struct sink *s, uint32_t pid, uint32_t tid)
{
	return 2 * pair((uint64_t)s->first_pid + pid, (uint64_t)tid + 1) + 1;
}

static uint64_t counter_uuid(uint32_t counter)
{
	return 2 * ((uint64_t)counter + 1);
}

static void add_text(struct sink *s, struct buf *out, unsigned field, const char *text, size_t len)
{
	struct perfetto *p = s->state;

	text = utf8_repaired(&p->text, text, &len);
	protobuf_bytes(out, field, text, len);
}

/* The number of a text. A new one is defined in the current packet. */
static uint64_t intern(struct sink *s, struct name_table *t, unsigned field, const char *text,
		       size_t len)
{
	struct perfetto *p = s->state;
	size_t n = t->n, begin;
	uint32_t at = 0;

	t->arena = p->arena;
	if (!p->arena || name_table_add(t, (struct slice){ text, len }, &at)) {
		s->out.error = -ENOMEM;
		return 0;
	}
	if (t->n > n) {
		begin = protobuf_begin(&p->interned, field);
		protobuf_varint(&p->interned, INTERNED_IID, (uint64_t)at + 1);
		add_text(s, &p->interned, INTERNED_TEXT, text, len);
		protobuf_end(&p->interned, begin);
	}
	return (uint64_t)at + 1;
}

/* Packets */

static void add_clock(struct sink *s, unsigned id, int64_t ns, unsigned unit_ns)
{
	size_t clock = protobuf_begin(&s->out, SNAPSHOT_CLOCKS);

	protobuf_varint(&s->out, CLOCK_ID, id);
	protobuf_varint(&s->out, CLOCK_TIMESTAMP, (uint64_t)ns);
	if (unit_ns)
		protobuf_varint(&s->out, CLOCK_UNIT_NS, unit_ns);
	protobuf_end(&s->out, clock);
}

/* What other clocks showed when ours was 0. Viewers need the time since boot, which was not
 * recorded: it differs from ours by the time in which the machine was suspended. */
static void add_clocks(struct sink *s, const struct sink_start *start)
{
	size_t snapshot = protobuf_begin(&s->out, PACKET_CLOCK_SNAPSHOT);

	add_clock(s, CLOCK_OF_SEQUENCE, 0, 1000);
	add_clock(s, CLOCK_OF_BOOTTIME, MAX(start->mono_ns, 0), 0);
	if (start->mono_ns > 0)
		add_clock(s, CLOCK_OF_MONOTONIC, start->mono_ns, 0);
	if (start->wall_ns > 0)
		add_clock(s, CLOCK_OF_REALTIME, start->wall_ns, 0);
	protobuf_varint(&s->out, SNAPSHOT_PRIMARY_CLOCK, CLOCK_OF_BOOTTIME);
	protobuf_end(&s->out, snapshot);
}

static void perfetto_begin(struct sink *s, const struct sink_start *start)
{
	struct perfetto *p = s->state;
	size_t packet = protobuf_begin(&s->out, TRACE_PACKET), defaults;

	p->arena = arena_new();
	if (!p->arena)
		s->out.error = -ENOMEM;
	add_clocks(s, start);
	protobuf_varint(&s->out, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_varint(&s->out, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
	protobuf_varint(&s->out, PACKET_FIRST_ON_SEQUENCE, 1);
	defaults = protobuf_begin(&s->out, PACKET_DEFAULTS);
	protobuf_varint(&s->out, DEFAULTS_TIMESTAMP_CLOCK_ID, CLOCK_OF_SEQUENCE);
	protobuf_end(&s->out, defaults);
	protobuf_end(&s->out, packet);
}

/* Start the event of the next packet. */
static struct buf *begin_event(struct sink *s, unsigned type, uint64_t uuid)
{
	struct perfetto *p = s->state;

	buf_clear(&p->event);
	buf_clear(&p->interned);
	protobuf_varint(&p->event, EVENT_TYPE, type);
	protobuf_varint(&p->event, EVENT_TRACK_UUID, uuid);
	return &p->event;
}

static void end_event(struct sink *s, int64_t us)
{
	struct perfetto *p = s->state;
	size_t packet = protobuf_begin(&s->out, TRACE_PACKET);
	int64_t at = s->offset_us + us;

	protobuf_varint(&s->out, PACKET_TIMESTAMP, at > 0 ? (uint64_t)at : 0);
	protobuf_varint(&s->out, PACKET_SEQUENCE_ID, SEQUENCE);
	protobuf_varint(&s->out, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	if (p->interned.len)
		protobuf_bytes(&s->out, PACKET_INTERNED_DATA, p->interned.data, p->interned.len);
	protobuf_bytes(&s->out, PACKET_TRACK_EVENT, p->event.data, p->event.len);
	protobuf_end(&s->out, packet);
	if (buf_error(&p->interned) || buf_error(&p->event) || buf_error(&p->text))
		s->out.error = -ENOMEM;
}

/* Descriptors */

static size_t begin_track(struct sink *s, uint64_t uuid, size_t *packet)
{
	size_t track;

	*packet = protobuf_begin(&s->out, TRACE_PACKET);
	protobuf_varint(&s->out, PACKET_SEQUENCE_ID, SEQUENCE);
	track = protobuf_begin(&s->out, PACKET_TRACK_DESCRIPTOR);
	protobuf_varint(&s->out, TRACK_UUID, uuid);
	return track;
}

static void end_track(struct sink *s, size_t track, size_t packet)
{
	protobuf_end(&s->out, track);
	protobuf_end(&s->out, packet);
}

/* The machine is a group of tracks and no process: number 0 would be that of the idle task. */
static void perfetto_process(struct sink *s, uint32_t pid, const char *name, const char *label,
			     int order)
{
	size_t packet, track = begin_track(s, process_uuid(s, pid), &packet), process;

	protobuf_varint(&s->out, TRACK_CHILD_ORDERING, CHILDREN_EXPLICIT);
	if (pid == SINK_MACHINE) {
		add_text(s, &s->out, TRACK_NAME, name, strlen(name));
		if (label && *label)
			add_text(s, &s->out, TRACK_DESCRIPTION, label, strlen(label));
		end_track(s, track, packet);
		return;
	}
	protobuf_varint(&s->out, TRACK_PROCESS_ORDERING, PROCESSES_EXPLICIT);
	process = protobuf_begin(&s->out, TRACK_PROCESS);
	protobuf_varint(&s->out, PROCESS_PID, (uint64_t)s->first_pid + pid);
	add_text(s, &s->out, PROCESS_NAME, name, strlen(name));
	protobuf_varint(&s->out, PROCESS_SORT_INDEX, (uint64_t)order);
	if (label && *label)
		add_text(s, &s->out, PROCESS_LABELS, label, strlen(label));
	protobuf_end(&s->out, process);
	end_track(s, track, packet);
}

static void perfetto_track(struct sink *s, uint32_t pid, uint32_t tid, const char *name, int order)
{
	size_t packet, track = begin_track(s, track_uuid(s, pid, tid), &packet);

	protobuf_varint(&s->out, TRACK_PARENT_UUID, process_uuid(s, pid));
	add_text(s, &s->out, TRACK_NAME, name, strlen(name));
	protobuf_varint(&s->out, TRACK_SIBLING_RANK, (uint64_t)order);
	end_track(s, track, packet);
}

/* Slices */

static struct open_track *find_track(struct sink *s, uint64_t uuid)
{
	struct perfetto *p = s->state;
	struct open_track *added;
	uint32_t at;

	if (index_find(&p->tracks, uuid, 0, &at))
		return &p->track[at];
	added = array_add(&p->track, &p->n_tracks, sizeof *added);
	if (!added || index_put(&p->tracks, uuid, 0, (uint32_t)(p->n_tracks - 1))) {
		s->out.error = -ENOMEM;
		p->n_tracks -= added != NULL;
		return NULL;
	}
	*added = (struct open_track){ .uuid = uuid };
	return added;
}

static void end_slice(struct sink *s, struct open_track *t)
{
	begin_event(s, TYPE_SLICE_END, t->uuid);
	end_event(s, t->end_us[--t->n_open]);
}

static void end_slices_before(struct sink *s, struct open_track *t, int64_t us)
{
	while (t->n_open && t->end_us[t->n_open - 1] <= us)
		end_slice(s, t);
}

static void add_args(struct sink *s, struct buf *event, const struct sink_arg *arg, size_t n)
{
	struct perfetto *p = s->state;

	for (size_t i = 0; i < n; i++) {
		const struct sink_arg *a = &arg[i];
		uint64_t name = intern(s, &p->arg_names, INTERNED_ANNOTATION_NAMES, a->name,
				       strlen(a->name));
		uint64_t text = 0;
		size_t begin;

		if (a->text && a->len <= INTERN_MAX)
			text = intern(s, &p->strings, INTERNED_ANNOTATION_STRINGS, a->text, a->len);
		begin = protobuf_begin(event, EVENT_ANNOTATIONS);
		protobuf_varint(event, ANNOTATION_NAME_IID, name);
		if (text)
			protobuf_varint(event, ANNOTATION_STRING_IID, text);
		else if (a->text)
			add_text(s, event, ANNOTATION_STRING, a->text, a->len);
		else
			protobuf_varint(event, a->id ? ANNOTATION_POINTER : ANNOTATION_INT,
					(uint64_t)a->number);
		protobuf_end(event, begin);
	}
}

static void add_name(struct sink *s, struct buf *event, const char *name)
{
	struct perfetto *p = s->state;

	protobuf_varint(event, EVENT_NAME_IID,
			intern(s, &p->names, INTERNED_NAMES, name, strlen(name)));
}

static void add_category(struct sink *s, struct buf *event, const char *category)
{
	struct perfetto *p = s->state;

	protobuf_varint(event, EVENT_CATEGORY_IIDS,
			intern(s, &p->categories, INTERNED_CATEGORIES, category, strlen(category)));
}

static void perfetto_slice_begin(struct sink *s, const struct sink_slice *slice)
{
	struct buf *event = begin_event(s, TYPE_SLICE_BEGIN,
					track_uuid(s, slice->pid, slice->tid));

	add_name(s, event, slice->name);
	if (slice->category)
		add_category(s, event, slice->category);
	add_args(s, event, slice->arg, slice->n_args);
	for (size_t i = 0; i < slice->n_from; i++)
		protobuf_fixed64(event, EVENT_FLOW_IDS, slice->from[i].id);
	for (size_t i = 0; i < slice->n_to; i++)
		protobuf_fixed64(event, EVENT_TERMINATING_FLOW_IDS, slice->to[i].id);
	end_event(s, slice->begin_us);
}

static void perfetto_slice_end(struct sink *s, uint32_t pid, uint32_t tid, int64_t us,
			       const struct sink_arg *arg, size_t n_args)
{
	struct buf *event = begin_event(s, TYPE_SLICE_END, track_uuid(s, pid, tid));

	add_args(s, event, arg, n_args);
	end_event(s, us);
}

static void perfetto_slice(struct sink *s, const struct sink_slice *slice)
{
	struct open_track *t = find_track(s, track_uuid(s, slice->pid, slice->tid));
	int64_t *end_us;

	if (!t)
		return;
	end_slices_before(s, t, slice->begin_us);
	perfetto_slice_begin(s, slice);
	end_us = array_add(&t->end_us, &t->n_open, sizeof *end_us);
	if (end_us)
		*end_us = slice->end_us;
	else
		s->out.error = -ENOMEM;
}

/* A slice that began cannot have further arrows: an instant event inside it has them. */
static void perfetto_flow_begin(struct sink *s, struct sink_flow flow, uint32_t pid, uint32_t tid)
{
	static const char *const names[] = {
		[SINK_CHILD] = "child", [SINK_DEPENDENCY] = "dependency", [SINK_FILE] = "file",
	};
	struct buf *event = begin_event(s, TYPE_INSTANT, track_uuid(s, pid, tid));

	add_name(s, event, names[flow.kind]);
	add_category(s, event, "flow");
	protobuf_fixed64(event, EVENT_FLOW_IDS, flow.id);
	end_event(s, flow.us);
}

static void perfetto_instant(struct sink *s, uint32_t pid, uint32_t tid, int64_t us,
			     const char *name, const struct sink_arg *arg, size_t n_args)
{
	struct buf *event = begin_event(s, TYPE_INSTANT, track_uuid(s, pid, tid));

	add_name(s, event, name);
	add_args(s, event, arg, n_args);
	end_event(s, us);
}

/* Counters */

static uint32_t perfetto_counter(struct sink *s, uint32_t pid, const char *name, const char *unit)
{
	struct perfetto *p = s->state;
	size_t packet, track = begin_track(s, counter_uuid(p->n_counters), &packet), counter;

	protobuf_varint(&s->out, TRACK_PARENT_UUID, process_uuid(s, pid));
	add_text(s, &s->out, TRACK_NAME, name, strlen(name));
	protobuf_varint(&s->out, TRACK_SIBLING_RANK, SINK_SPANS_TID + 1 + p->n_counters);
	counter = protobuf_begin(&s->out, TRACK_COUNTER);
	add_text(s, &s->out, COUNTER_UNIT_NAME, unit, strlen(unit));
	protobuf_end(&s->out, counter);
	end_track(s, track, packet);
	return p->n_counters++;
}

static void perfetto_value(struct sink *s, uint32_t counter, int64_t us, double value)
{
	struct buf *event = begin_event(s, TYPE_COUNTER, counter_uuid(counter));

	if (!isfinite(value))
		return;
	if (value == trunc(value) && fabs(value) < 1e18)
		protobuf_varint(event, EVENT_COUNTER_VALUE, (uint64_t)(int64_t)value);
	else
		protobuf_double(event, EVENT_DOUBLE_COUNTER_VALUE, value);
	end_event(s, us);
}

static void perfetto_end(struct sink *s)
{
	struct perfetto *p = s->state;

	for (size_t i = 0; i < p->n_tracks; i++) {
		while (p->track[i].n_open)
			end_slice(s, &p->track[i]);
	}
}

static void perfetto_release(struct sink *s)
{
	struct perfetto *p = s->state;

	for (size_t i = 0; i < p->n_tracks; i++)
		free(p->track[i].end_us);
	free(p->track);
	name_table_release(&p->names);
	name_table_release(&p->categories);
	name_table_release(&p->arg_names);
	name_table_release(&p->strings);
	index_release(&p->tracks);
	buf_release(&p->interned);
	buf_release(&p->event);
	buf_release(&p->text);
	arena_free(p->arena);
}

const struct sink_ops sink_perfetto = {
	.state_size = sizeof(struct perfetto),
	.begin = perfetto_begin, .process = perfetto_process, .track = perfetto_track,
	.slice = perfetto_slice, .slice_begin = perfetto_slice_begin,
	.slice_end = perfetto_slice_end, .flow_begin = perfetto_flow_begin, .instant = perfetto_instant,
	.counter = perfetto_counter, .value = perfetto_value,
	.end = perfetto_end, .release = perfetto_release,
};
