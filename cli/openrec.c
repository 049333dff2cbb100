/* SPDX-License-Identifier: MIT */
#include "cli/openrec.h"

#include "analyse/listing.h"
#include "base/buf.h"
#include "base/heap.h"
#include "convert/convert.h"

#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>

struct base {
	const char *dir;
};

#define OPTIONS struct base
const struct option openrec_keys[] = {
	{ OPT_KEY(OPTION_PATH, const char *, "output", dir) },
	{ 0 }
};

static bool is_file(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && !S_ISDIR(st.st_mode);
}

int openrec(struct recording *rec, int how, const char *base, const char *what,
	    struct error *err)
{
	const struct recording_options options = { .sums_only = how & OPENREC_SUMS,
						   .waits = how & OPENREC_WAITS };
	struct buf path = BUF_INIT;
	int r;

	heap_expect_much();
	if (is_file(what)) {
		r = converter_read_any(rec, what, &options, err);
	} else {
		r = listing_find(&path, base, what, &convert_formats, err);
		if (!r)
			r = converter_read_any(rec, path.data, &options, err);
	}
	if (!r && how & OPENREC_WHOLE)
		r = recording_whole(rec, err);
	buf_release(&path);
	return r;
}
