#include "formats.h"

#include <errno.h>

/* The directory of a build by bitbake is what recording_read() knows, too. */

static bool recognise(const struct convert_file *file)
{
	struct recording rec = RECORDING_INIT;
	bool is_oe = file->is_dir && recording_is_here(file->path) &&
		     !recording_read_build(&rec, file->path, NULL, NULL) &&
		     rec.format == FORMAT_OE;

	recording_release(&rec);
	return is_oe;
}

static int read_dir(struct recording *rec, const char *const *path, size_t n, struct error *err)
{
	int r;

	if (n != 1)
		return error_set(err, -EINVAL, path[1], 0, 0, "oe: one directory at a time");
	r = recording_read(rec, path[0], NULL, err);
	if (!r && rec->format != FORMAT_OE)
		r = error_set(err, -EINVAL, path[0], 0, 0,
			      "not a buildstats directory of OpenEmbedded");
	if (r)
		recording_release(rec);
	return r;
}

const struct converter converter_oe = {
	.name = "oe",
	.what = "a buildstats directory of OpenEmbedded",
	.recognise = recognise,
	.read = read_dir,
};
