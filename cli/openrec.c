/* SPDX-License-Identifier: MIT */
#include "cli/openrec.h"

#include "analyse/listing.h"
#include "base/buf.h"
#include "base/heap.h"
#include "convert/convert.h"
#include "convert/ninja/join.h"

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

static int read_foreign(struct recording *rec, const char *path, struct error *err)
{
	const struct converter *c = converter_of(path, err);

	return c ? converter_read(c, rec, &path, 1, err) : -EINVAL;
}

int openrec(struct recording *rec, int how, const char *base, const char *what,
	    struct error *err)
{
	const struct recording_options options = { .formats = &convert_formats,
		.sums_only = how & OPENREC_SUMS, .waits = how & OPENREC_WAITS,
		.add_lines = ninja_join_unnamed };
	struct buf path = BUF_INIT;
	struct error unused;
	int r = 0;

	heap_expect_much();
	if (is_file(what)) {
		r = read_foreign(rec, what, err);
	} else {
		r = listing_find(&path, base, what, &convert_formats, err);
		if (!r && !recording_is_here(path.data, &convert_formats) &&
		    converter_of(path.data, &unused))
			r = read_foreign(rec, path.data, err);
		else if (!r)
			r = recording_read_as(rec, path.data, &options, err);
	}
	if (!r && how & OPENREC_WHOLE)
		r = recording_whole(rec, err);
	buf_release(&path);
	return r;
}
