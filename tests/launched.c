/* SPDX-License-Identifier: MIT */
#include "tests/launched.h"
#include "tests/recorded.h"

#include "convert/convert.h"

#include <string.h>

void launched_read(struct recording *rec, const char *name)
{
	const char *path = support_path("%s/stats/%s", support_tmpdir(), name);

	*rec = (struct recording)RECORDING_INIT;
	recorded_open(rec, path, &convert_formats);
}

void launched_reported(const struct run *r, const char *part)
{
	ck_assert_msg(strstr(r->err.data, part) != NULL, "'%s' is not in: %s", part,
		      r->err.data);
	ck_assert_ptr_eq(strchr(r->err.data, '\n'), r->err.data + r->err.len - 1);
}

void launched_expect(int status, const char *out, const char *part, const char *format, ...)
{
	struct run r;
	va_list ap;

	va_start(ap, format);
	support_run_v(&r, support_tmpdir(), format, ap);
	va_end(ap);
	if (status != ANY_STATUS)
		ck_assert_int_eq(r.status, status);
	if (out)
		ck_assert_str_eq(r.out.data, out);
	launched_reported(&r, part);
}
