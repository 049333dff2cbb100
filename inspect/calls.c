/* SPDX-License-Identifier: MIT */
#include "inspect/calls.h"

#include "base/array.h"
#include "base/minmax.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Virtual numbers behind those of names. */
static uint32_t unnamed_number(const struct calls *c, size_t module)
{
	return (uint32_t)(c->in->names.n + module);
}

static int add_unnamed(struct calls *c, size_t module)
{
	const struct inspection *in = c->in;
	struct buf *text = &c->unnamed[module];

	if (module < in->n_modules && in->module[module].file < in->names.n) {
		const char *path = in->names.name[in->module[module].file].p;
		const char *last = strrchr(path, '/');

		buf_adds(text, last ? last + 1 : path);
		buf_addc(text, '!');
	}
	buf_addc(text, '?');
	return buf_error(text);
}

int calls_init(struct calls *c, const struct inspection *in)
{
	int r = 0;

	*c = (struct calls){ .in = in, .unnamed = array_new_zero(in->n_modules + 1, sizeof *c->unnamed) };
	if (!c->unnamed)
		return -ENOMEM;
	for (size_t i = 0; i <= in->n_modules && !r; i++)
		r = add_unnamed(c, i);
	return r;
}

void calls_release(struct calls *c)
{
	for (size_t i = 0; c->unnamed && i <= c->in->n_modules; i++)
		buf_release(&c->unnamed[i]);
	free(c->call);
	free(c->unnamed);
	*c = (struct calls){ 0 };
}

const char *calls_function(const struct calls *c, uint32_t function)
{
	return function < c->in->names.n ? c->in->names.name[function].p :
	       c->unnamed[function - c->in->names.n].data;
}

static int add_call(struct calls *c, struct call added)
{
	struct call *call = array_make_room(c->call, &c->cap, c->n, sizeof *call);

	if (!call)
		return -ENOMEM;
	c->call = call;
	call[c->n++] = added;
	return 0;
}

/* Adds a frame and what is inlined there. A number goes to earlier names only: the loop ends. */
static int add_frame(struct calls *c, const struct frame *frame)
{
	const struct inspection *in = c->in;
	uint32_t name = frame->name, last = INSPECTION_NONE;
	size_t module = MIN(frame->module, in->n_modules);

	if (name >= in->n_frame_names)
		return add_call(c, (struct call){ unnamed_number(c, module), INSPECTION_NONE, 0,
						  frame->module });
	for (; name < in->n_frame_names && name < last; name = in->frame_name[name].inlined_in) {
		const struct frame_name *f = &in->frame_name[name];

		last = name;
		if (add_call(c, (struct call){ f->function, f->source, f->line, frame->module }))
			return -ENOMEM;
	}
	return 0;
}

int calls_read(struct calls *c, uint32_t stack)
{
	const struct inspection *in = c->in;
	uint32_t last = INSPECTION_NONE;

	c->n = 0;
	for (; stack < in->n_stacks && stack < last; stack = in->stack[stack].parent) {
		last = stack;
		if (in->stack[stack].frame < in->n_frames &&
		    add_frame(c, &in->frame[in->stack[stack].frame]))
			return -ENOMEM;
	}
	return 0;
}

bool calls_fit(const struct calls *c, const struct pattern *filter)
{
	bool yes = !filter || (!c->n && pattern_fits(filter, ""));

	for (size_t i = 0; i < c->n && !yes; i++)
		yes = pattern_fits(filter, calls_function(c, c->call[i].function));
	return yes;
}
