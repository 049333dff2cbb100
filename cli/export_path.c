/* SPDX-License-Identifier: MIT */
#include "cli/export_path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

int export_default_path(struct buf *out, const char *recording, const char *suffix,
			struct error *err)
{
	char real[PATH_MAX];
	const char *slash = realpath(recording, real) ? strrchr(real, '/') : NULL;

	if (!slash)
		return error_sys(err, -errno, recording, NULL);
	buf_addf(out, "%s.%s", slash[1] ? slash + 1 : "build", suffix);
	return buf_error(out) ? error_sys(err, buf_error(out), recording, NULL) : 0;
}

int export_exists(const char *path, struct error *err)
{
	return error_set(err, -EEXIST, path, 0, 0, "already exists: delete it, or write to another "
			 "path with --output");
}
