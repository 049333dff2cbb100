/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 5, 0)))
static void fill_error(struct error *err, const char *path, unsigned line, unsigned column,
		       const char *format, va_list ap)
{
	if (!err)
		return;
	snprintf(err->path, sizeof err->path, "%s", path ? path : "");
	err->line = line;
	err->column = column;
	vsnprintf(err->message, sizeof err->message, format, ap);
}

int error_set(struct error *err, int code, const char *path, unsigned line,
	      unsigned column, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fill_error(err, path, line, column, format, ap);
	va_end(ap);
	return code;
}

int error_say(struct error *err, int code, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fill_error(err, NULL, 0, 0, format, ap);
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
