/* SPDX-License-Identifier: MIT */
#include "recording/recording_series.h"

#include "recording/reader.h"
#include "recording/writer.h"

int recording_series_write(struct buf *text, const struct series *s)
{
	struct out o = { .b = *text, .fd = -1 };

	write_series(&o, s);
	*text = o.b;
	return o.error ? o.error : buf_error(text);
}

int recording_series_read(struct recording *rec, const char *name, struct buf *text)
{
	struct reader r = { .rec = rec };

	if (buf_reserve(text, 1))
		return buf_error(text);
	return reader_series(&r, name, name, text->data, text->len);
}
