/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_NOTICE_H
#define BUILDBEAT_LAUNCH_NOTICE_H

#include "base/error.h"

/* Messages of the commands on standard error, one line per call. */

/* "buildbeat: message". */
void notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "buildbeat: path:line:column: message", or as much of it as err has. */
void notice_error(const struct error *err);

#endif
