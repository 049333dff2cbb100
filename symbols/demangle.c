/* SPDX-License-Identifier: MIT */
#include "symbols/demangle.h"

#include "base/minmax.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#define PLT "@plt"

/* The only file that uses libiberty. Some short names become very long texts: the callback leaves
 * the demangler, which has no memory from malloc(), as soon as the text is long enough. */
struct output {
	char text[DEMANGLE_MAX];
	size_t len;
	jmp_buf enough;
};

static void take_text(const char *text, size_t len, void *context)
{
	struct output *o = context;
	size_t room = sizeof o->text - o->len;

	memcpy(o->text + o->len, text, MIN(len, room));
	o->len += MIN(len, room);
	if (len > room)
		longjmp(o->enough, 1);
}

static bool demangle(struct output *o, const char *name)
{
	int options = DMGL_PARAMS | DMGL_ANSI;

	o->len = 0;
	if (setjmp(o->enough))
		return true;
	if (rust_demangle_callback(name, options, take_text, o))
		return true;
	o->len = 0;
	if (cplus_demangle_v3_callback(name, options, take_text, o))
		return true;
	return false;
}

void demangle_add(struct buf *out, const char *name)
{
	size_t len = strlen(name), end = len;
	char copy[2 * DEMANGLE_MAX];
	struct output o;
	bool cut;

	if (len >= sizeof PLT && !strcmp(name + len - strlen(PLT), PLT))
		end -= strlen(PLT);
	if (*name != '_' || end >= sizeof copy) {
		buf_add(out, name, MIN(len, DEMANGLE_MAX));
		buf_adds(out, len > DEMANGLE_MAX ? "..." : "");
		return;
	}
	memcpy(copy, name, end);
	copy[end] = '\0';
	if (!demangle(&o, copy)) {
		o.len = MIN(end, DEMANGLE_MAX);
		memcpy(o.text, name, o.len);
	}
	cut = o.len == sizeof o.text;
	buf_add(out, o.text, o.len);
	buf_adds(out, cut ? "..." : "");
	buf_adds(out, name + end);
}
