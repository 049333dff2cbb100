/* SPDX-License-Identifier: MIT */
#include "render/inspect/inspect_parts.h"

#include "inspect/call_names.h"

#include <math.h>
#include <string.h>

#define NAME_LEAST 30		/* columns that a name has at least */

static void add_right(struct buf *out, const char *text, size_t columns)
{
	size_t n = text_columns(text, strlen(text));

	text_add_blanks(out, n < columns ? columns - n : 0);
	buf_adds(out, text);
	text_add_blanks(out, 2);
}

void inspect_head(struct buf *out, const char *text, size_t columns)
{
	add_right(out, text, columns);
}

void inspect_bytes(struct buf *out, int64_t bytes)
{
	char memory[32];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	text_add_bytes(&b, bytes);
	add_right(out, buf_str(&b), INSPECT_BYTES_COLUMNS);
}

void inspect_growth(struct buf *out, int64_t bytes)
{
	char memory[32];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	if (bytes)
		buf_addc(&b, bytes < 0 ? '-' : '+');
	text_add_bytes(&b, bytes < 0 ? -bytes : bytes);
	add_right(out, buf_str(&b), INSPECT_BYTES_COLUMNS + 1);
}

void inspect_error(struct buf *out, double variance)
{
	char memory[40];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	if (variance > 0) {
		buf_adds(&b, "+-");
		text_add_bytes(&b, (int64_t)sqrt(variance));
	}
	add_right(out, buf_str(&b), INSPECT_BYTES_COLUMNS + 2);
}

void inspect_count(struct buf *out, int64_t n, size_t columns)
{
	char memory[32];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	buf_addi(&b, n);
	add_right(out, buf_str(&b), columns);
}

void inspect_share(struct buf *out, int64_t part, int64_t whole)
{
	char memory[32];
	struct buf b;

	buf_init_fixed(&b, memory, sizeof memory);
	text_add_percent(&b, whole ? (double)part / (double)whole : 0);
	add_right(out, buf_str(&b), 6);
}

size_t inspect_fitting(const struct style *style, const size_t *columns, size_t n)
{
	size_t fit = 0, taken = NAME_LEAST;

	for (; fit < n && (!style->width || taken + columns[fit] <= style->width); fit++)
		taken += columns[fit];
	return fit;
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

void inspect_name(struct buf *out, const struct style *style, size_t taken, size_t indent,
		  const char *name)
{
	size_t left = style->width > taken + indent ? style->width - taken - indent : 0;

	text_add_blanks(out, indent);
	text_add_name(out, name, !style->width ? 0 : left > 12 ? left : 12);
	buf_addc(out, '\n');
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
