/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_OPENRERUN_H
#define BUILDBEAT_CLI_OPENRERUN_H

#include "rerun/forecast.h"

/* A recording, read and ready to be replayed. */
struct openrerun {
	struct recording recording;
	struct summary summary;
	struct chain chain;
	struct rerun rerun;
};

/* The operand REC of a command, as openrec() does. 0 or a negative errno with err. Always release. */
int openrerun(struct openrerun *o, int how, const char *base, const char *what, struct error *err);
void openrerun_release(struct openrerun *o);

#endif
