/* SPDX-License-Identifier: MIT */
#include "convert/formats.h"
#include "convert/oe/oe.h"
#include "convert/oe/write.h"

#include <errno.h>
#include <unistd.h>

static const struct recording_formats oe_formats = { .foreign = &oe_foreign };

static bool is_oe(const char *path)
{
	return recording_is_here(path, &oe_formats) && !recording_is_here(path, NULL);
}

static bool recognise(const struct convert_file *file)
{
	return file->is_dir && is_oe(file->path);
}

static int read_dir(struct recording *rec, const char *const *path, size_t n, struct error *err)
{
	int r;

	if (access(path[0], F_OK))
		return error_sys(err, -errno, path[0], NULL);
	if (n != 1)
		return error_set(err, -EINVAL, path[1], 0, 0, "oe: one directory at a time");
	if (!is_oe(path[0]))
		return error_set(err, -EINVAL, path[0], 0, 0,
				 "not a buildstats directory of OpenEmbedded");
	r = recording_read(rec, path[0], &oe_formats, err);
	if (r)
		recording_release(rec);
	return r;
}

const struct converter converter_oe = {
	.name = "oe",
	.what = "a buildstats directory of OpenEmbedded",
	.recognise = recognise,
	.read = read_dir,
	.write = oe_write,
};
