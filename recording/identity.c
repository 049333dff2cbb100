/* SPDX-License-Identifier: MIT */
#include "recording/identity.h"

#include "base/hash.h"
#include "base/hex.h"
#include "base/readfile.h"
#include "recording/layout.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define VERSION_LEN 2
#define TRACE_LEN 32
#define ID_LEN 16
#define TRACEPARENT_LEN 55	/* of version 00 */
#define TRACESTATE_MAX 512

/* The finaliser of MurmurHash3: each bit of the result depends on each of n. */
static uint64_t mix_bits(uint64_t n)
{
	n = (n ^ n >> 33) * UINT64_C(0xff51afd7ed558ccd);
	n = (n ^ n >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
	return n ^ n >> 33;
}

static uint64_t mix_in(uint64_t h, uint64_t n)
{
	return mix_bits(h ^ mix_bits(n + UINT64_C(0x9e3779b97f4a7c15)));
}

static uint64_t not_zero(uint64_t h)
{
	return h ? h : 1;
}

static void put_hex(char *out, uint64_t n)
{
	for (int i = ID_LEN; i-- > 0; n >>= 4)
		out[i] = hex_digit((unsigned)n);
}

void identity_hex(char out[IDENTITY_HEX_SIZE], uint64_t id)
{
	put_hex(out, id);
	out[ID_LEN] = '\0';
}

/* The ids depend on the trace id, so two builds in one trace need more than that. */
static void set_seed(struct identity *id, uint64_t start)
{
	id->seed = mix_in(hash_fnv64(id->trace, TRACE_LEN), start);
}

/* The trace */

/* cold: once a process, so optimised for size. */

/* What a recording has written of itself before its first task. */
struct origin {
	int64_t wall_ns, mono_ns;
	struct slice traceparent, command, host;
};

static bool is_one(struct slice key, const char *name)
{
	return key.len == strlen(name) && !memcmp(key.p, name, key.len);
}

static void set_once(struct slice *to, struct slice value)
{
	if (!to->p)
		*to = value;
}

static __attribute__((cold)) void take_line(struct origin *o, struct slice key, struct slice value)
{
	if (is_one(key, "start_wall_ns") && o->wall_ns < 0)
		cursor_slice_i64(value, &o->wall_ns);
	else if (is_one(key, "start_mono_ns") && o->mono_ns < 0)
		cursor_slice_i64(value, &o->mono_ns);
	else if (is_one(key, LAYOUT_TRACEPARENT))
		set_once(&o->traceparent, value);
	else if (is_one(key, "command"))
		set_once(&o->command, value);
	else if (is_one(key, "host"))
		set_once(&o->host, value);
}

/* Recordings of other tools may have a start in whole seconds, or none. */
static __attribute__((cold)) void derive(struct identity *id, const struct origin *o)
{
	uint64_t start = mix_in(mix_in(1, (uint64_t)o->wall_ns), (uint64_t)o->mono_ns);

	if (o->mono_ns < 0) {
		start = mix_in(start, hash_fnv64(o->command.p, o->command.len));
		start = mix_in(start, hash_fnv64(o->host.p, o->host.len));
	}
	*id = (struct identity){ .flags = 1 };
	if (!o->traceparent.p || !identity_parse(id, o->traceparent)) {
		put_hex(id->trace, not_zero(mix_in(start, 1)));
		put_hex(id->trace + ID_LEN, not_zero(mix_in(start, 2)));
	}
	set_seed(id, start);
}

void identity_of(struct identity *id, const struct recording *rec)
{
	struct origin o = { .wall_ns = -1, .mono_ns = -1 };

	for (size_t i = 0; i < rec->n_build; i++)
		take_line(&o, slice_of(rec->build[i].key), slice_of(rec->build[i].value));
	derive(id, &o);
}

__attribute__((cold)) bool identity_of_build(struct identity *id, const char *build, size_t len)
{
	struct origin o = { .wall_ns = -1, .mono_ns = -1 };
	struct slice line, key;
	struct cursor c;
	bool whole;

	cursor_init(&c, build, len);
	while (cursor_line(&c, &line, &whole) && whole) {
		struct cursor l;

		cursor_init(&l, line.p, line.len);
		if (cursor_until(&l, ':', &key) && cursor_byte(&l, ' '))
			take_line(&o, key, (struct slice){ l.p, (size_t)(l.end - l.p) });
	}
	derive(id, &o);
	return o.mono_ns >= 0;
}

__attribute__((cold)) bool identity_of_path(struct identity *id, const char *path)
{
	char file[PATH_MAX + sizeof "/" LAYOUT_BUILD], text[4096];
	struct buf b;
	ssize_t n;

	buf_init_fixed(&b, file, sizeof file);
	buf_adds(&b, path);
	buf_adds(&b, "/" LAYOUT_BUILD);
	n = readfile_start(AT_FDCWD, buf_str(&b), text, sizeof text);
	return n > 0 && identity_of_build(id, text, (size_t)n);
}

/* W3C's header */

/* n digits in lower case. */
static __attribute__((cold)) bool hex_field(struct cursor *c, size_t n, struct slice *out)
{
	*out = (struct slice){ c->p, n };
	if ((size_t)(c->end - c->p) < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (hex_value(c->p[i]) < 0 || (c->p[i] >= 'A' && c->p[i] <= 'F'))
			return false;
	}
	c->p += n;
	return true;
}

static bool is_zero(struct slice digits)
{
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.p[i] != '0')
			return false;
	}
	return true;
}

__attribute__((cold)) bool identity_parse(struct identity *id, struct slice traceparent)
{
	struct slice version, trace, parent, flags;
	struct cursor c;

	cursor_init(&c, traceparent.p, traceparent.len);
	if (!hex_field(&c, VERSION_LEN, &version) || !cursor_byte(&c, '-') ||
	    !hex_field(&c, TRACE_LEN, &trace) || !cursor_byte(&c, '-') ||
	    !hex_field(&c, ID_LEN, &parent) || !cursor_byte(&c, '-') ||
	    !hex_field(&c, 2, &flags))
		return false;
	if (is_one(version, "ff") || is_zero(trace) || is_zero(parent) ||
	    (!cursor_at_end(&c) && (is_zero(version) || *c.p != '-')))
		return false;
	memcpy(id->trace, trace.p, TRACE_LEN);
	id->trace[TRACE_LEN] = '\0';
	id->flags = (uint8_t)hex_byte(flags.p);
	id->parent = 0;
	for (size_t i = 0; i < ID_LEN; i++)
		id->parent = id->parent << 4 | (unsigned)hex_value(parent.p[i]);
	return true;
}

__attribute__((cold)) void identity_traceparent(char out[IDENTITY_TRACEPARENT_SIZE], const struct identity *id,
			  uint64_t parent)
{
	memcpy(out, "00-", 3);
	memcpy(out + 3, id->trace, TRACE_LEN);
	out[35] = '-';
	put_hex(out + 36, parent);
	out[52] = '-';
	out[53] = '0';
	out[54] = hex_digit(id->flags & 1);	/* all others of version 00 are 0 */
	out[TRACEPARENT_LEN] = '\0';
}

bool identity_is_tracestate(struct slice text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] < ' ' || text.p[i] > '~')
			return false;
	}
	return text.len && text.len <= TRACESTATE_MAX;
}

/* The ids */

uint64_t identity_hash(const struct identity *id, const char *inst, uint64_t task, uint64_t span)
{
	uint64_t h = hash_fnv64_more(id->seed, inst, strlen(inst));

	return not_zero(mix_in(mix_in(h, task), span));
}

uint64_t identity_build(const struct identity *id)
{
	return identity_hash(id, "", 0, 0);
}

uint64_t identity_instance(const struct identity *id, const struct recording *rec, uint32_t at)
{
	return identity_hash(id, rec->instance[at].id, 0, 0);
}

uint64_t identity_task(const struct identity *id, const struct recording *rec, uint32_t at)
{
	const struct task *t = &rec->task[at];

	return identity_hash(id, rec->instance[t->instance].id, t->seq, 0);
}

uint64_t identity_span(const struct identity *id, const struct recording *rec, uint32_t at)
{
	const struct span *s = &rec->span[at];

	return identity_hash(id, rec->instance[s->instance].id, s->seq, s->number);
}

uint64_t identity_instance_parent(const struct identity *id, const struct recording *rec,
				  uint32_t at)
{
	const struct instance *i = &rec->instance[at];

	return i->parent_span != NO_INDEX ? identity_span(id, rec, i->parent_span) :
	       i->parent_task != NO_INDEX ? identity_task(id, rec, i->parent_task) :
	       identity_build(id);
}

uint64_t identity_task_parent(const struct identity *id, const struct recording *rec, uint32_t at)
{
	if (rec->task_span && rec->task_span[at] != NO_INDEX)
		return identity_span(id, rec, rec->task_span[at]);
	return identity_instance(id, rec, rec->task[at].instance);
}

uint64_t identity_span_parent(const struct identity *id, const struct recording *rec, uint32_t at)
{
	const struct span *s = &rec->span[at];

	if (s->parent != NO_INDEX)
		return identity_span(id, rec, s->parent);
	if (s->task != NO_INDEX)
		return identity_task(id, rec, s->task);
	at = recording_span_instance(rec, s);
	return at == NO_INDEX ? identity_build(id) : identity_instance(id, rec, at);
}

/* Stacks */

/* Does it end in # and a number? */
static bool has_number(const char *name)
{
	size_t len = strlen(name), n = len;

	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n && n < len && name[n - 1] == '#';
}

static void add_name(struct buf *b, const char *name, uint32_t copy)
{
	buf_adds(b, name);
	if (copy > 1 || has_number(name))
		buf_addf(b, "#%u", copy ? copy : 1);
}

void identity_add(struct buf *b, enum identity_kind kind, char before, uint64_t id,
		  const char *name, uint32_t copy)
{
	char hex[IDENTITY_HEX_SIZE];

	if (before)
		buf_addc(b, before);
	identity_hex(hex, id);
	if (kind == IDENTITY_COMBINED)
		buf_addc(b, '(');
	if (kind != IDENTITY_NAMES)
		buf_add(b, hex, IDENTITY_SHORT);
	if (kind == IDENTITY_COMBINED)
		buf_adds(b, " \"");
	if (kind != IDENTITY_IDS)
		add_name(b, name, copy);
	if (kind == IDENTITY_COMBINED)
		buf_adds(b, "\")");
}

/* The tasks around it first. Their depth is bounded, as the recording may be a hostile one. */
#define DEPTH_MAX 64

static void add_task(struct buf *b, const struct identity *id, const struct recording *rec,
		     uint32_t task, enum identity_kind kind)
{
	uint32_t around[DEPTH_MAX];
	size_t n = 0;

	for (; task != NO_INDEX && n < DEPTH_MAX; n++) {
		around[n] = task;
		task = rec->instance[rec->task[task].instance].parent_task;
	}
	for (size_t i = n; i-- > 0;)
		identity_add(b, kind, i + 1 < n ? '$' : 0, identity_task(id, rec, around[i]),
			     rec->task[around[i]].name, 1);
}

static void add_span(struct buf *b, const struct identity *id, const struct recording *rec,
		     uint32_t span, enum identity_kind kind)
{
	bool first = b->len == 0, outermost = true;
	uint32_t around[DEPTH_MAX];
	size_t n = 0;

	for (; span != NO_INDEX && n < DEPTH_MAX; n++) {
		around[n] = span;
		span = rec->span[span].parent;
	}
	for (size_t i = n; i-- > 0; outermost = false)
		identity_add(b, kind, outermost ? (first ? 0 : '$') : '.',
			     identity_span(id, rec, around[i]), rec->span[around[i]].name,
			     rec->span[around[i]].copy);
}

void identity_add_stack(struct buf *b, const struct identity *id, const struct recording *rec,
			uint32_t task, uint32_t span, enum identity_kind kind)
{
	struct buf stack = BUF_PART_OF(b);

	if (span != NO_INDEX)
		task = rec->span[span].task;
	add_task(&stack, id, rec, task, kind);
	if (span != NO_INDEX)
		add_span(&stack, id, rec, span, kind);
	buf_add(b, stack.data, stack.len);
	buf_release(&stack);
}
