/* SPDX-License-Identifier: MIT */
/* The spans of the C ABI. */
#include "plugin/api.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#define PLACE_MAX 512

int32_t api_pid(const struct buildbeat_session *s)
{
	return s->forks ? getpid() : s->store.pid;
}

/* The identity of the recording, which costs reading `build`, so only when it is asked for. Several
 * threads may read it at once, and find the same. */
static __attribute__((cold)) bool identify(struct buildbeat_session *s, struct identity *id)
{
	struct api_session *o = api_session_of(s);
	int none = 0;

	if (atomic_load(&o->identified) == 2) {
		*id = o->identity;
		return true;
	}
	if (!identity_of_path(id, s->store.path))
		return false;
	if (atomic_compare_exchange_strong(&o->identified, &none, 1)) {
		o->identity = *id;
		atomic_store(&o->identified, 2);
	}
	return true;
}

/* Stacks */

struct stack {
	struct span_open span[SPAN_DEPTH_MAX];
	size_t n;
	struct span_task task;
};

static __attribute__((cold, noinline)) void take_stack(struct stack *stack, struct buildbeat_session *s)
{
	struct api_session *o = api_session_of(s);
	int32_t pid = api_pid(s);

	stack->n = span_table_stack(&o->spans, pid, span_thread(pid), stack->span, &stack->task);
}

static __attribute__((cold, noinline)) void add_stack(struct buf *b, const struct stack *stack, const struct buildbeat_session *s,
		      const struct identity *id, enum identity_kind kind)
{
	uint64_t task = stack->task.task;

	if (!stack->n)
		return;
	if (task)
		identity_add(b, kind, 0, identity_hash(id, s->store.inst, task, 0),
			     stack->task.name, 1);
	for (size_t i = 0; i < stack->n; i++)
		identity_add(b, kind, i ? '.' : task ? '$' : 0,
			     identity_hash(id, s->store.inst, task, stack->span[i].span),
			     stack->span[i].name, stack->span[i].copy);
}

#define STACK_SIZE (SPAN_DEPTH_MAX * (SPAN_NAME_SIZE + 32))

__attribute__((cold)) size_t api_spans_stack(struct buildbeat_session *s, int32_t kind, char *out, size_t size)
{
	char text[STACK_SIZE];
	struct api_guest guest;
	struct stack stack;
	struct identity id;
	struct buf b;

	if (out && size)
		out[0] = '\0';
	if (!api_enter(s, &guest))
		return 0;
	buf_init_fixed(&b, text, sizeof text);
	take_stack(&stack, s);
	if (stack.n && kind >= BUILDBEAT_STACK_IDS && kind <= BUILDBEAT_STACK_COMBINED &&
	    identify(s, &id))
		add_stack(&b, &stack, s, &id, (enum identity_kind)kind);
	if (out && size) {
		size_t len = b.len < size ? b.len : size - 1;

		memcpy(out, text, len);
		out[len] = '\0';
	}
	api_leave(s, &guest);
	return b.len;
}

__attribute__((cold)) size_t api_spans_traceparent(struct buildbeat_session *s, uint64_t task, char *out, size_t size)
{
	struct api_guest guest;
	struct identity id;
	struct stack stack;
	uint64_t span = 0;
	bool known;

	if (out && size)
		out[0] = '\0';
	if (!out || size < IDENTITY_TRACEPARENT_SIZE || !api_enter(s, &guest))
		return 0;
	take_stack(&stack, s);
	if (stack.n && stack.task.task == task)
		span = stack.span[stack.n - 1].span;
	known = identify(s, &id);
	if (known)
		identity_traceparent(out, &id, identity_hash(&id, s->store.inst, task, span));
	api_leave(s, &guest);
	return known ? IDENTITY_TRACEPARENT_SIZE - 1 : 0;
}

/* Watching */

__attribute__((cold)) void api_spans_watch(struct buildbeat_session *s,
		     void (*event)(const struct buildbeat_span_event *event, void *data),
		     void *data)
{
	struct api_session *o = api_session_of(s);
	struct api_guest guest;

	if (!api_enter(s, &guest))
		return;
	span_table_set_watch(&o->spans, api_pid(s), (struct span_watch){ event, data });
	o->watched = event != NULL;
	api_leave(s, &guest);
}

static __attribute__((cold, noinline)) void
tell(struct buildbeat_session *s, const struct stack *stack, struct buildbeat_span_event *event)
{
	struct api_session *o = api_session_of(s);
	struct span_watch watch = span_table_watch(&o->spans, api_pid(s));
	char text[STACK_SIZE];
	struct identity id;
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	if (identify(s, &id))
		add_stack(&b, stack, s, &id, IDENTITY_COMBINED);
	event->size = sizeof *event;
	event->stack = buf_str(&b);
	if (watch.event)
		watch.event(event, watch.data);
}

static int64_t ns_of(const struct buildbeat_session *s, int64_t us)
{
	return s->store.start_ns + us * 1000;
}

/* The stack is that of before the span was removed, so it ends with the span unless others in it
 * were still open. */
static __attribute__((cold, noinline)) void
tell_end(struct buildbeat_session *s, struct stack *stack, const struct span_open *span, int64_t t)
{
	struct buildbeat_span_event event = {
		.task = span->task, .span = span->span, .name = span->name,
		.begin_ns = ns_of(s, span->begin_us), .end_ns = ns_of(s, t),
	};

	while (stack->n && stack->span[stack->n - 1].span != span->span)
		stack->n--;
	tell(s, stack, &event);
}

static __attribute__((cold, noinline)) void tell_begin(struct buildbeat_session *s,
						       const struct span_open *span)
{
	struct buildbeat_span_event event = {
		.task = span->task, .span = span->span, .name = span->name,
		.begin_ns = ns_of(s, span->begin_us), .end_ns = -1,
	};
	struct stack stack;

	take_stack(&stack, s);
	tell(s, &stack, &event);
}

/* Beginning and ending */

/* "FILE:LINE FUNCTION", or "OBJECT+0xOFFSET" of the caller. */
static __attribute__((cold, noinline)) void add_place(struct buf *b, const struct buildbeat_span *span,
						      const void *caller)
{
	Dl_info info;

	if (span->file) {
		buf_addf(b, "%s:%d", span->file, span->line);
		if (span->function)
			buf_addf(b, " %s", span->function);
	} else if (dladdr(caller, &info) && info.dli_fname) {
		buf_addf(b, "%s+%#llx", info.dli_fname,
			 (unsigned long long)((uintptr_t)caller - (uintptr_t)info.dli_fbase));
	}
}

static __attribute__((noinline)) uint64_t begin_span(struct buildbeat_session *s,
						     const struct buildbeat_span *span,
						     const void *caller)
{
	struct api_session *o = api_session_of(s);
	const char *name = span->name ? span->name : span->function ? span->function : "";
	struct event_span e = { .name = name, .parent = -1 };
	struct span_open open;
	struct api_line line;
	char place[PLACE_MAX];
	struct buf b;
	int32_t pid;
	bool added;

	if (!api_begin_line(&line, s))
		return 0;
	pid = api_pid(s);
	e.number = ++s->last_span;
	e.thread = span_thread(pid);
	open = (struct span_open){ .span = e.number, .task = span->task, .parent = span->parent,
		.begin_us = line.t, .thread = e.thread };
	added = span_table_add(&o->spans, pid, &open, name);
	if (added || span->parent)
		e.parent = (int64_t)open.parent;
	if (added)
		e.copy = open.copy;
	if (o->places) {
		buf_init_fixed(&b, place, sizeof place);
		add_place(&b, span, caller);
		e.place = buf_str(&b);
	}
	event_add_span(&line.buf, line.t, s->store.inst, span->task, &e);
	store_append(&s->store, &line.buf);
	if (o->watched)
		tell_begin(s, &open);
	api_leave(s, &line.guest);
	return e.number;
}

uint64_t api_spans_begin(struct buildbeat_session *s, uint64_t task, const char *name)
{
	const struct buildbeat_span span = { .name = name, .task = task };

	return begin_span(s, &span, __builtin_return_address(0));
}

uint64_t api_spans_open(struct buildbeat_session *s, const struct buildbeat_span *given)
{
	struct buildbeat_span span = { 0 };

	if (!api_take(&span, sizeof span, given))
		return 0;
	return begin_span(s, &span, __builtin_return_address(0));
}

void api_spans_end(struct buildbeat_session *s, uint64_t task, uint64_t span)
{
	struct api_session *o = api_session_of(s);
	int32_t pid, thread;
	struct stack stack = { .n = 0 };
	struct span_open open;
	struct api_line line;
	bool found;

	if (!span || !api_begin_line(&line, s))
		return;
	pid = api_pid(s);
	thread = span_thread(pid);
	if (o->watched)
		take_stack(&stack, s);
	found = span_table_remove(&o->spans, pid, task, span, &open);
	event_add_span_end_by(&line.buf, line.t, s->store.inst, task, span,
			      found && open.thread == thread ? -1 : thread);
	store_append(&s->store, &line.buf);
	if (found && o->watched)
		tell_end(s, &stack, &open, line.t);
	api_leave(s, &line.guest);
}

__attribute__((cold)) int32_t api_spans_places(struct buildbeat_session *s, int32_t on)
{
	struct api_guest guest;
	bool were;

	if (!api_enter(s, &guest))
		return 0;
	were = atomic_exchange(&api_session_of(s)->places, on != 0);
	api_leave(s, &guest);
	return were;
}
