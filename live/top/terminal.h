/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TOP_TERMINAL_H
#define BUILDBEAT_LIVE_TOP_TERMINAL_H

#include "live/top/screen.h"

/* Show the model on the terminal until the user quits, reading it once a second. control: processes
 * can be ended. 0 or a negative errno with err. */
int terminal_run(struct top_model *m, bool control, struct error *err);

#endif
