/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LAUNCH_NOTICE_H
#define BUILDBEAT_LAUNCH_NOTICE_H

#include "base/error.h"

/* What the commands say on standard error, one line a call. */

/* "buildbeat: message". */
void notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "buildbeat: path:line:column: message", without what err does not know. */
void notice_error(const struct error *err);

#endif
