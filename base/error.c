/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *path, unsigned line,
	      unsigned column, const char *format, ...)
{
	va_list ap;

	if (!err)
		return code;
	snprintf(err->path, sizeof err->path, "%s", path ? path : "");
	err->line = line;
	err->column = column;
	va_start(ap, format);
	vsnprintf(err->message, sizeof err->message, format, ap);
	va_end(ap);
	return code;
}

int error_sys(struct error *err, int code, const char *path, const char *what)
{
	if (what)
		return error_set(err, code, path, 0, 0, "%s: %s", what,
				 strerror(-code));
	return error_set(err, code, path, 0, 0, "%s", strerror(-code));
}
