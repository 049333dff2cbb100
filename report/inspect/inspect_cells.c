/* SPDX-License-Identifier: MIT */
#include "report/inspect/inspect_parts.h"

#include "base/minmax.h"
#include "inspect/call_names.h"

#include <math.h>

void inspect_growth(struct doc *d, int64_t bytes)
{
	struct buf *b = doc_text(d, (double)bytes);

	if (bytes)
		buf_addc(b, bytes < 0 ? '-' : '+');
	text_add_bytes(b, bytes < 0 ? -bytes : bytes);
}

void inspect_error(struct doc *d, double variance)
{
	struct buf *b = doc_text(d, sqrt(MAX(variance, 0)));

	if (variance > 0) {
		buf_adds(b, "+-");
		text_add_bytes(b, (int64_t)sqrt(variance));
	}
}

void inspect_share(struct doc *d, int64_t part, int64_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;

	text_add_percent(doc_text(d, share), share);
}

void inspect_time(struct buf *out, int64_t us)
{
	buf_addf(out, "%.1f s", (double)us / 1e6);
}

void inspect_call(struct buf *out, const struct inspect_view *v, const struct call *call)
{
	if (call->function == CLASSES_NONE) {
		buf_adds(out, "(no call stack)");
		return;
	}
	call_names_short(out, calls_function(&v->calls, call->function));
	if (call->source >= v->in->names.n || !v->in->names.name[call->source].len)
		return;
	buf_adds(out, "  ");
	buf_adds(out, v->in->names.name[call->source].p);
	if (call->line)
		buf_addf(out, ":%u", (unsigned)call->line);
}

struct maps_wish inspect_maps_wish(const struct inspect_view *v,
				   const struct inspect_show_options *o)
{
	return (struct maps_wish){
		.names = &v->in->names, .file = v->wish.file ? &v->file : NULL,
		.permissions = v->wish.permissions ? &v->permissions : NULL,
		.address_given = o->address_given, .address = o->address,
	};
}
