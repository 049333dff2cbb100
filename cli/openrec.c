/* SPDX-License-Identifier: MIT */
#include "cli/openrec.h"

#include "analyse/listing.h"
#include "cli/configfile.h"
#include "cli/options.h"
#include "convert/convert.h"
#include "convert/ninja/join.h"

#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>

struct base {
	const char *dir;
};

static const struct option base_options[] = {
	{ .name = "output", .kind = OPTION_PATH, .argument = "DIR",
	  .offset = offsetof(struct base, dir), .config = true },
	{ 0 }
};

int openrec_base(struct args *args, const char **base, const char *config, struct error *err)
{
	struct base found = { 0 };
	int r = configfile_apply(args, base_options, &found, config, err);

	*base = found.dir;
	return r;
}

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

static int read_own(struct recording *rec, const char *path, enum openrec_part part,
		    struct error *err)
{
	const struct recording_options how = { .formats = &convert_formats,
		.sums_only = part == OPENREC_SUMS, .add_lines = ninja_join_unnamed };

	return recording_read_as(rec, path, &how, err);
}

int openrec(struct recording *rec, struct buf *path, enum openrec_part part,
	    const char *base, const char *what, struct error *err)
{
	struct error unused;
	int r;

	if (is_file(what)) {
		buf_adds(path, what);
		return buf_error(path) ? error_sys(err, buf_error(path), what, NULL) :
		       read_foreign(rec, what, err);
	}
	r = listing_find(path, base, what, &convert_formats, err);
	if (r)
		return r;
	if (!recording_is_here(path->data, &convert_formats) && converter_of(path->data, &unused))
		return read_foreign(rec, path->data, err);
	return read_own(rec, path->data, part, err);
}
