/* SPDX-License-Identifier: MIT */
#include "render/facts.h"

#include <string.h>

void facts_begin(struct facts *f, struct buf *out, const struct style *style)
{
	*f = (struct facts){ .out = out, .style = style, .part = BUF_PART_OF(out) };
}

void facts_release(struct facts *f)
{
	buf_release(&f->part);
}

void fact_part(struct facts *f)
{
	if (f->part.len && f->part.data[f->part.len - 1])
		buf_addc(&f->part, '\0');
}

static void add_label(struct facts *f, const char *label)
{
	text_tone(f->out, f->style, TONE_FAINT);
	buf_adds(f->out, label);
	text_tone(f->out, f->style, TONE_PLAIN);
	text_add_blanks(f->out, FACT_INDENT - strlen(label));
}

void fact_end(struct facts *f, const char *label, enum tone tone)
{
	unsigned width = f->style->width;
	size_t at = FACT_INDENT;

	fact_part(f);
	if (!f->part.len)
		return;
	add_label(f, label);
	text_tone(f->out, f->style, tone);
	for (const char *p = f->part.data; p < f->part.data + f->part.len; p += strlen(p) + 1) {
		size_t n = text_columns(p, strlen(p));

		if (p != f->part.data) {
			buf_addc(f->out, ',');
			if (width && at + 2 + n + 1 > width) {
				buf_addc(f->out, '\n');
				text_add_blanks(f->out, FACT_INDENT);
				at = FACT_INDENT;
			} else {
				buf_addc(f->out, ' ');
				at += 2;
			}
		}
		buf_adds(f->out, p);
		at += n;
	}
	text_tone(f->out, f->style, TONE_PLAIN);
	buf_addc(f->out, '\n');
	buf_clear(&f->part);
}
