/* SPDX-License-Identifier: MIT */
#include "cli/diff_input.h"

#include "archive/archive.h"
#include "cli/openrec.h"

#include <errno.h>
#include <stdlib.h>

static int read_recording(struct values *f, const char *base, const char *what,
			  struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct buf path = BUF_INIT;
	int r = openrec(&rec, &path, OPENREC_SUMS, base, what, err);

	if (!r)
		r = recording_whole(&rec, err);
	if (!r && (r = values_make(f, &rec)))
		error_sys(err, r, what, NULL);
	recording_release(&rec);
	buf_release(&path);
	return r;
}

int diff_input_read(struct diff_input *b, const char *const *what, size_t n, const char *base,
		struct archive *archive, struct error *err)
{
	int r = 0;

	*b = (struct diff_input)DIFF_INPUT_INIT;
	b->values = calloc(n + 1, sizeof *b->values);
	if (!b->values)
		return error_sys(err, -ENOMEM, NULL, NULL);
	for (size_t i = 0; !r && i < n; i++) {
		r = archive ? archive_values(archive, what[i], &b->values[i], err) :
		    read_recording(&b->values[i], base, what[i], err);
		b->n++;
	}
	return r;
}

void diff_input_release(struct diff_input *b)
{
	for (size_t i = 0; i < b->n; i++)
		values_release(&b->values[i]);
	free(b->values);
	*b = (struct diff_input)DIFF_INPUT_INIT;
}
