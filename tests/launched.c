/* SPDX-License-Identifier: MIT */
#include "tests/launched.h"

#include "convert/convert.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

void launched_read(struct recording *rec, const char *name)
{
	struct error err = { 0 };
	const char *path = support_path("%s/stats/%s", support_tmpdir(), name);

	*rec = (struct recording)RECORDING_INIT;
	ck_assert_msg(!recording_read(rec, path, &convert_formats, &err), "%s: %s", err.path,
		      err.message);
}

void launched_said(const struct run *r, const char *part)
{
	ck_assert_msg(strstr(r->err.data, part) != NULL, "'%s' is not in: %s", part,
		      r->err.data);
	ck_assert_ptr_eq(strchr(r->err.data, '\n'), r->err.data + r->err.len - 1);
}

TCase *launched_case(const char *name)
{
	TCase *t = tcase_create(name);

	/* a job in the background of a script has them ignored */
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	unsetenv("MAKEFLAGS");
	unsetenv("MFLAGS");
	unsetenv("MAKELEVEL");
	unsetenv("MAKEFILES");
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	tcase_set_timeout(t, 120);
	return t;
}
