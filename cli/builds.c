/* SPDX-License-Identifier: MIT */
#include "cli/builds.h"

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

int builds_read(struct builds *b, const char *const *what, size_t n, const char *base,
		struct archive *archive, struct error *err)
{
	int r = 0;

	*b = (struct builds)BUILDS_INIT;
	b->figures = calloc(n + 1, sizeof *b->figures);
	if (!b->figures)
		return error_sys(err, -ENOMEM, NULL, NULL);
	for (size_t i = 0; !r && i < n; i++) {
		r = archive ? archive_values(archive, what[i], &b->figures[i], err) :
		    read_recording(&b->figures[i], base, what[i], err);
		b->n++;
	}
	return r;
}

void builds_release(struct builds *b)
{
	for (size_t i = 0; i < b->n; i++)
		values_release(&b->figures[i]);
	free(b->figures);
	*b = (struct builds)BUILDS_INIT;
}
