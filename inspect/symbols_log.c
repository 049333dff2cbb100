/* SPDX-License-Identifier: MIT */
#include "inspect/symbols_log.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/field.h"

#include <errno.h>

#define HEADER "buildbeat inspection symbols 1"
#define TEXT_MAX 8192		/* of a name, escaped */

/* Writing */

static void add_name(struct buf *out, const struct inspection *in, const struct frame_name *f)
{
	struct slice function = in->names.name[f->function];

	buf_adds(out, "n ");
	field_add(out, function.p, function.len, TEXT_MAX);
	buf_addc(out, '\t');
	if (f->source != INSPECTION_NONE)
		field_add(out, in->names.name[f->source].p, in->names.name[f->source].len, TEXT_MAX);
	buf_addf(out, "\t%u\t", f->line);
	if (f->inlined_in == INSPECTION_NONE)
		buf_addc(out, '-');
	else
		buf_addu(out, f->inlined_in);
	buf_addc(out, '\n');
}

void symbols_log_write(struct buf *out, const struct inspection *in)
{
	buf_adds(out, HEADER "\n");
	for (size_t i = 0; i < in->n_frame_names; i++)
		add_name(out, in, &in->frame_name[i]);
	for (size_t i = 0; i < in->n_frames; i++) {
		if (in->frame[i].name != INSPECTION_NONE)
			buf_addf(out, "f %zu %u\n", i, in->frame[i].name);
	}
	buf_addf(out, "p %u\n", in->named_percent);
}

/* Reading */

static int add_text(struct inspection *in, struct buf *copy, struct slice text, uint32_t *number)
{
	buf_clear(copy);
	buf_add(copy, text.p, text.len);
	if (buf_error(copy))
		return buf_error(copy);
	if (copy->data)
		buf_cut(copy, field_decode(copy->data, copy->len, NULL));
	return name_table_add(&in->names, (struct slice){ buf_str(copy), copy->len }, number);
}

static int read_name(struct inspection *in, struct buf *copy, struct cursor *c)
{
	struct frame_name f = { .source = INSPECTION_NONE, .inlined_in = INSPECTION_NONE }, *new;
	struct slice function, source, inlined;
	uint64_t line, outer;
	int r;

	if (!cursor_until(c, '\t', &function) || !cursor_until(c, '\t', &source) ||
	    !cursor_u64(c, &line) || line > UINT32_MAX || !cursor_byte(c, '\t') ||
	    !cursor_until(c, '\0', &inlined) || !cursor_at_end(c))
		return -EINVAL;
	if (!slice_is(inlined, "-")) {
		if (!cursor_slice_u64(inlined, &outer) || outer >= in->n_frame_names)
			return -EINVAL;
		f.inlined_in = (uint32_t)outer;
	}
	f.line = (uint32_t)line;
	r = add_text(in, copy, function, &f.function);
	if (!r && source.len)
		r = add_text(in, copy, source, &f.source);
	if (r)
		return r;
	new = array_add(&in->frame_name, &in->n_frame_names, sizeof *new);
	if (!new)
		return -ENOMEM;
	*new = f;
	return 0;
}

static int read_frame(struct inspection *in, struct cursor *c)
{
	uint64_t frame, name;

	if (!cursor_u64(c, &frame) || !cursor_byte(c, ' ') || !cursor_u64(c, &name) ||
	    !cursor_at_end(c) || name >= in->n_frame_names)
		return -EINVAL;
	if (frame < in->n_frames)
		in->frame[frame].name = (uint32_t)name;
	return 0;
}

static int read_line(struct inspection *in, struct buf *copy, struct slice line)
{
	struct cursor c;
	uint64_t percent;

	cursor_init(&c, line.p, line.len);
	if (cursor_literal(&c, "n "))
		return read_name(in, copy, &c);
	if (cursor_literal(&c, "f "))
		return read_frame(in, &c);
	if (!cursor_literal(&c, "p ") || !cursor_u64(&c, &percent) || !cursor_at_end(&c) ||
	    percent > 100)
		return -EINVAL;
	in->named_percent = (unsigned)percent;
	return 0;
}

int symbols_log_read(struct inspection *in, const char *text, size_t len, const char *path,
		     struct error *err)
{
	struct buf copy = BUF_INIT;
	struct cursor c;
	struct slice line;
	bool complete;
	int r = 0;

	in->n_frame_names = 0;
	in->named_percent = 0;
	for (size_t i = 0; i < in->n_frames; i++)
		in->frame[i].name = INSPECTION_NONE;
	cursor_init(&c, text, len);
	if (!cursor_line(&c, &line, &complete) || !complete || !slice_is(line, HEADER))
		return error_set(err, -EINVAL, path, 1, 0, "the first line is not '%s'", HEADER);
	while (!r && cursor_line(&c, &line, &complete) && complete)
		r = read_line(in, &copy, line);
	buf_release(&copy);
	if (r == -EINVAL)
		return error_set(err, r, path, c.line, 0, "expected a name, a frame or the percentage");
	return r ? error_sys(err, r, path, "cannot read") : 0;
}
